// Makes ready what the builds and tests need: compilers, Emscripten, SQLite's source, npm packages and
// browsers. Everything is cached and checked, so a second run takes no time.
//
//   node scripts/setup.mjs [--for=start|test|bench] [--full] [--check]
//
// --for    only what that needs; default: test, which needs everything
// --full   with that, also what `npm run test:full` needs
// --check  install and download nothing, only say what is missing
//
// As root on Debian what is missing is installed; elsewhere each missing thing gets one line that says how
// to get it. Downloads are made in a temporary directory of the cache and renamed when they are complete
// and verified: a run that was killed leaves nothing that the next one takes as good.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, CACHE, ENV_JSON, Failure, JOBS, ROOT, mustRun, output, run, runMain, step, which } from './lib.mjs';
import { lock } from './lock.mjs';
import { verifySqliteSource } from './sqlite-manifest.mjs';

const SQLITE = {
  version: '3.53.4',
  // SHA3-256 of the Fossil manifest: the hash in SQLITE_SOURCE_ID.
  manifest: 'bf7c7f30031888f4e796e429ab3978879485813aaca6f641c7b33e4e09459bcc',
  zip: 'https://sqlite.org/2026/sqlite-src-3530400.zip',
  directory: path.join(CACHE, 'sqlite-src'),
};
const EMSCRIPTEN = {
  minimum: [4, 0],
  published: '6.0.5', // what the published files are built with
  rootfs: path.join(CACHE, 'emscripten-rootfs'),
  wrapper: path.join(CACHE, 'emcc'),
  suite: 'forky', // the Debian release that has it
};
const CMAKE_MINIMUM = [3, 22];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const VERIFIED = '.sqlite3mc-verified';

const { values: options } = parseArgs({
  options: { for: { type: 'string', default: 'test' }, full: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
});
const purpose = options.for ?? 'test';

const isRoot = process.getuid?.() === 0;
const mayInstall = isRoot && !options.check && which('apt-get') !== null;
const temporary = path.join(CACHE, `tmp-${process.pid}`);

/** What is missing and cannot be had: one line each. @type {string[]} */
const problems = [];

/** @param {string} text @returns {number[]} the first version number in a text */
const parseVersion = (text) => (/\d+(\.\d+)+/.exec(text)?.[0] ?? '0').split('.').map(Number);

/** @param {number[]} version @param {number[]} minimum */
function atLeast(version, minimum) {
  for (let i = 0; i < minimum.length; i++) {
    if ((version[i] ?? 0) !== minimum[i]) return (version[i] ?? 0) > minimum[i];
  }
  return true;
}

/** @param {string} name */
const temporaryDirectory = (name) => {
  const directory = path.join(temporary, name);
  fs.mkdirSync(directory, { recursive: true });
  return directory;
};

/**
 * Remove a directory tree, but nothing that is mounted in it.
 * @param {string} directory
 */
async function removeTree(directory) {
  if (process.platform === 'linux') await mustRun('rm', ['-rf', '--one-file-system', directory]);
  else fs.rmSync(directory, { recursive: true, force: true });
}

/** @param {string} file @param {string} content @param {number} [mode] */
function writeIfChanged(file, content, mode = 0o644) {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === content) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.${process.pid}`, content, { mode });
  fs.renameSync(`${file}.${process.pid}`, file);
}

// -----------------------------------------------------------------------------------------------------
// Programs of the system

const firstOf = (/** @type {string[]} */ ...names) => names.map(which).find((file) => file !== null) ?? null;
const findChromium = () => process.env.CHROMIUM || firstOf('chromium', 'chromium-browser', 'google-chrome');
const findFirefox = () => process.env.FIREFOX || firstOf('firefox-esr', 'firefox');

/** A C compiler without the C library's headers is of no use. @param {string} cc */
const compiles = (cc) => {
  const file = which(cc);
  return file !== null && output(file, ['-E', '-include', 'stdio.h', '-x', 'c', '/dev/null']) !== null;
};

const cmakeIsNewEnough = () => {
  const cmake = which('cmake');
  return cmake !== null && atLeast(parseVersion(output(cmake, ['--version']) ?? ''), CMAKE_MINIMUM);
};

/** The sanitizer library is a package of its own in Debian, named after clang's version. */
const clangMajor = () => parseVersion(output('clang', ['--version']) ?? '')[0];
const hasSanitizer = () => {
  const directory = output('clang', ['--print-runtime-dir'])?.trim();
  // Up to clang 14 the directory that is printed is not always the one that is used.
  const machine = process.arch === 'x64' ? 'x86_64' : process.arch === 'arm64' ? 'aarch64' : process.arch;
  const archive = `libclang_rt.asan-${machine}.a`;
  const file = output('clang', [`-print-file-name=${archive}`])?.trim() ?? archive;
  return fs.existsSync(file) || (directory !== undefined && fs.existsSync(path.join(directory, 'libclang_rt.asan.a')));
};

const hasTclHeader = () => ['tcl.h', 'tcl8.6/tcl.h', 'tcl/tcl.h'].some((file) => fs.existsSync(path.join('/usr/include', file)));

/**
 * @typedef {{name: string, found: () => boolean, packages: () => string[]}} Tool
 * @returns {Tool[]}
 */
function neededTools() {
  const program = (/** @type {string} */ command, /** @type {string[]} */ ...packages) => ({
    name: command,
    found: () => which(command) !== null,
    packages: () => (packages.length ? packages : [command]),
  });
  /** @type {Tool[]} */
  const tools = [
    { name: 'a C compiler (gcc)', found: () => compiles('cc') || compiles('gcc'), packages: () => ['gcc', 'libc6-dev'] },
    program('make'),
    { name: `cmake ${CMAKE_MINIMUM.join('.')} or newer`, found: cmakeIsNewEnough, packages: () => ['cmake'] },
  ];
  if (purpose === 'test') {
    tools.push(
      { name: 'gcc', found: () => compiles('gcc'), packages: () => ['gcc', 'libc6-dev'] },
      program('g++'),
      program('python3'),
      program('clang'),
      {
        name: "clang's sanitizer library",
        found: hasSanitizer,
        packages: () => [`libclang-rt-${clangMajor() || 14}-dev`],
      },
      program('clang-format'),
      program('clang-tidy'),
      program('valgrind'),
      program('sqlcipher'),
      {
        name: 'gcc for AArch64',
        found: () => compiles('aarch64-linux-gnu-gcc'),
        packages: () => ['gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'],
      },
      program('qemu-aarch64', 'qemu-user'),
      { name: 'Chromium', found: () => findChromium() !== null, packages: () => ['chromium'] },
      { name: 'Firefox', found: () => findFirefox() !== null, packages: () => ['firefox-esr'] },
    );
  }
  if (purpose === 'test' && options.full) {
    tools.push({
      name: "the headers of Tcl and zlib, for SQLite's own tests",
      found: () => fs.existsSync('/usr/include/zlib.h') && hasTclHeader(),
      packages: () => ['tcl-dev', 'zlib1g-dev'],
    });
  }
  return tools;
}

let aptUpdated = false;

/**
 * @param {string[]} packages
 * @returns {Promise<string | null>} what went wrong, or null
 */
async function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  if (!aptUpdated) await run('apt-get', ['update', '-qq'], { env });
  aptUpdated = true;
  const { code, text } = await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
  if (code === 0) return null;
  return text.split('\n').find((line) => line.startsWith('E: ')) ?? 'apt-get failed';
}

/** @param {Tool[]} tools */
async function setUpTools(tools) {
  let missing = tools.filter((tool) => !tool.found());
  let reason = '';
  if (missing.length && mayInstall) {
    const packages = [...new Set(missing.flatMap((tool) => tool.packages()))];
    await step(`installing ${packages.length} system packages`, async () => {
      reason = (await aptInstall(packages)) ?? '';
    });
    missing = missing.filter((tool) => !tool.found());
  }
  for (const tool of missing) {
    const command = `apt-get install ${tool.packages().join(' ')}`;
    const why = reason ? ` (${reason})` : '';
    problems.push(`${tool.name} is missing: install it and put it on PATH (Debian, as root: ${command})${why}`);
  }
}

/**
 * A program that one step needs. It is installed if that is possible.
 * @param {string} command
 * @param {string} what for which thing
 */
async function needProgram(command, what) {
  if (which(command)) return true;
  const packages = { xz: 'xz-utils', unshare: 'util-linux' };
  const reason = mayInstall ? await aptInstall([/** @type {any} */ (packages)[command] ?? command]) : null;
  if (which(command)) return true;
  problems.push(`${what} needs ${command}, which is missing${reason ? ` (${reason})` : ''}`);
  return false;
}

/** The Debian mirror that this machine uses, or null. */
function debianMirror() {
  const args = ['indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian', 'Label: Debian'];
  return output('apt-get', args)?.split('\n').find(Boolean) ?? null;
}

// -----------------------------------------------------------------------------------------------------
// Emscripten

const HOW_TO_GET_EMSCRIPTEN =
  `install ${EMSCRIPTEN.published} with emsdk ("emsdk install ${EMSCRIPTEN.published}", "emsdk activate ` +
  `${EMSCRIPTEN.published}") and put it on PATH or set EMCC=/path/to/emcc`;

/** @param {string} emcc @returns {string | null} its version */
function emccVersion(emcc) {
  const text = output(emcc, ['--version']);
  return text === null ? null : parseVersion(text.split('\n')[0]).join('.');
}

/** @param {string} version */
const newEnough = (version) => atLeast(parseVersion(version), EMSCRIPTEN.minimum);

/**
 * @typedef {{emcc: string, version: string}} Emscripten
 * @returns {Promise<Emscripten | null>}
 */
async function setUpEmscripten() {
  const minimum = EMSCRIPTEN.minimum.join('.');
  const chosen = process.env.EMCC;
  if (chosen) {
    const version = emccVersion(chosen);
    if (version && newEnough(version)) return { emcc: path.resolve(chosen), version };
    problems.push(
      version
        ? `EMCC=${chosen} is Emscripten ${version}, too old: ${minimum} or newer is needed; ${HOW_TO_GET_EMSCRIPTEN}`
        : `EMCC=${chosen} does not run; ${HOW_TO_GET_EMSCRIPTEN}`,
    );
    return null;
  }
  let old = '';
  const emsdk = process.env.EMSDK && path.join(process.env.EMSDK, 'upstream', 'emscripten', 'emcc');
  for (const emcc of [which('emcc'), emsdk, EMSCRIPTEN.wrapper]) {
    if (!emcc || !fs.existsSync(emcc)) continue;
    if (emcc === EMSCRIPTEN.wrapper) {
      if (!fs.existsSync(EMSCRIPTEN.rootfs)) continue;
      installWrapper(CACHE);
    }
    const version = emccVersion(emcc);
    if (version && newEnough(version)) return { emcc, version };
    if (version) old = `${emcc} is Emscripten ${version}, too old`;
  }
  if (mayInstall && (await makeRootfs())) {
    const version = emccVersion(EMSCRIPTEN.wrapper);
    if (version && newEnough(version)) return { emcc: EMSCRIPTEN.wrapper, version };
    const { text } = await run(EMSCRIPTEN.wrapper, ['--version']);
    problems.push(`Emscripten in ${EMSCRIPTEN.rootfs} does not run (${text.trim()}); ${HOW_TO_GET_EMSCRIPTEN}`);
    return null;
  }
  if (old) problems.push(`${old}: ${minimum} or newer is needed; ${HOW_TO_GET_EMSCRIPTEN}`);
  else problems.push(`Emscripten ${minimum} or newer is missing: ${HOW_TO_GET_EMSCRIPTEN}`);
  return null;
}

/** @param {string} directory */
function installWrapper(directory) {
  const source = fs.readFileSync(path.join(ROOT, 'scripts', 'emcc-in-rootfs.sh'), 'utf8');
  writeIfChanged(path.join(directory, 'emcc'), source, 0o755);
}

/** Unpack a Debian that has Emscripten into the cache. @returns {Promise<boolean>} */
async function makeRootfs() {
  if (!debianMirror()) {
    await run('apt-get', ['update', '-qq']);
    aptUpdated = true;
  }
  const mirror = debianMirror();
  if (!mirror) return false;
  for (const program of ['mmdebstrap', 'mount', 'unshare']) {
    if (!(await needProgram(program, 'Emscripten'))) return false;
  }
  return step(`Emscripten (Debian ${EMSCRIPTEN.suite})`, async () => {
    const rootfs = path.join(temporaryDirectory('emscripten'), 'emscripten-rootfs');
    const apt = ['APT::Install-Recommends "false"', 'Acquire::Languages "none"', 'Acquire::Check-Valid-Until "false"'];
    const unneeded = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    const { code, text } = await run('mmdebstrap', [
      ...['--variant=apt', '--include=emscripten', ...apt.map((option) => `--aptopt=${option}`), ...unneeded],
      ...[EMSCRIPTEN.suite, rootfs, mirror],
    ]);
    if (code !== 0) {
      const reason = text.split('\n').find((line) => /^E: /.test(line)) ?? `exit code ${code}`;
      problems.push(`Emscripten could not be unpacked from the Debian mirror (mmdebstrap: ${reason})`);
      return false;
    }
    if (fs.existsSync(EMSCRIPTEN.rootfs)) await removeTree(EMSCRIPTEN.rootfs);
    await removeTree(path.join(CACHE, 'emscripten-cache')); // libraries that another version built
    installWrapper(CACHE);
    fs.renameSync(rootfs, EMSCRIPTEN.rootfs);
    return true;
  });
}

// -----------------------------------------------------------------------------------------------------
// SQLite's source

/** @returns {boolean} whether the cached tree is complete and verified */
function sqliteIsReady() {
  const marker = path.join(SQLITE.directory, VERIFIED);
  return fs.existsSync(marker) && fs.readFileSync(marker, 'utf8').trim() === SQLITE.manifest;
}

/** Each returns the archive, or a reason why not. @type {[string, () => Promise<{archive?: string, reason?: string}>][]} */
const SQLITE_SOURCES = [
  ['SQLITE3MC_SQLITE_ARCHIVE', async () => {
    const archive = process.env.SQLITE3MC_SQLITE_ARCHIVE;
    if (!archive) return { reason: 'not set' };
    return fs.existsSync(archive) ? { archive: path.resolve(archive) } : { reason: `${archive} does not exist` };
  }],
  ['Debian source package', fetchDebianSource],
  ['sqlite.org', fetchSqliteOrg],
];

/** The source package by an apt state of its own: nothing of the system's is changed, no root is needed. */
async function fetchDebianSource() {
  const mirror = which('apt-get') && fs.existsSync(KEYRING) ? debianMirror() : null;
  if (!mirror) return { reason: 'not a Debian machine' };
  const directory = temporaryDirectory('apt');
  for (const name of ['lists/partial', 'archives/partial']) fs.mkdirSync(path.join(directory, name), { recursive: true });
  const sources = path.join(directory, 'debian.sources');
  fs.writeFileSync(
    sources,
    `Types: deb-src\nURIs: ${mirror}\nSuites: ${EMSCRIPTEN.suite}\nComponents: main\nSigned-By: ${KEYRING}\n`,
  );
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': path.join(directory, 'lists'),
    'Dir::Cache': directory,
    'Acquire::Check-Valid-Until': 'false',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '', // the private directories are ours alone
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const update = await run('apt-get', [...args, 'update', '-qq'], { cwd: directory });
  const source = await run('apt-get', [...args, 'source', '--download-only', '-qq', 'sqlite3'], { cwd: directory });
  const archive = fs.readdirSync(directory).find((name) => name.startsWith(`sqlite3_${SQLITE.version}.orig.tar.`));
  if (archive) return { archive: path.join(directory, archive) };
  const error = `${update.text}${source.text}`.split('\n').find((line) => /^[EW]: /.test(line));
  return { reason: error ?? `${EMSCRIPTEN.suite} has another version` };
}

async function fetchSqliteOrg() {
  const archive = path.join(temporaryDirectory('zip'), 'sqlite-src.zip');
  // curl knows the machine's proxy and certificates; Node's fetch does not.
  if (which('curl')) {
    const { code, text } = await run('curl', ['-fsSL', '--connect-timeout', '20', '-o', archive, SQLITE.zip]);
    return code === 0 ? { archive } : { reason: text.trim().split('\n').pop() ?? 'curl failed' };
  }
  try {
    const response = await fetch(SQLITE.zip, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok) return { reason: `HTTP status ${response.status}` };
    fs.writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
    return { archive };
  } catch (error) {
    return { reason: String(/** @type {any} */ (error).cause?.message ?? error) };
  }
}

/** @param {string} archive @returns {Promise<string | null>} the unpacked source tree */
async function unpack(archive) {
  const directory = temporaryDirectory(`unpacked-${path.basename(archive)}`);
  const zip = archive.endsWith('.zip');
  if (!(await needProgram(zip ? 'unzip' : 'xz', "SQLite's source"))) return null;
  if (zip) await mustRun('unzip', ['-q', archive, '-d', directory]);
  else await mustRun('tar', ['-xf', archive, '-C', directory]);
  const tops = fs.readdirSync(directory).map((name) => path.join(directory, name));
  return [directory, ...tops].find((dir) => fs.existsSync(path.join(dir, 'manifest'))) ?? null;
}

async function setUpSqlite() {
  if (sqliteIsReady()) return;
  if (options.check) {
    problems.push(`SQLite ${SQLITE.version}'s source is not in ${CACHE}: run \`node scripts/setup.mjs\``);
    return;
  }
  /** @type {string[]} */
  const reasons = [];
  await step(`SQLite ${SQLITE.version} source`, async () => {
    for (const [name, get] of SQLITE_SOURCES) {
      const { archive, reason } = await get();
      const tree = archive && (await unpack(archive));
      const wrong = tree ? verifySqliteSource(tree, SQLITE.manifest) : (reason ?? 'it is no source tree of SQLite');
      if (!tree || wrong) {
        if (reason !== 'not set') reasons.push(`${name}: ${wrong}`);
        continue;
      }
      await mustRun('sh', ['./configure', '--disable-tcl'], { cwd: tree });
      await mustRun('make', ['-j', JOBS, 'sqlite3.c', 'shell.c'], { cwd: tree });
      fs.writeFileSync(path.join(tree, VERIFIED), `${SQLITE.manifest}\n`);
      if (fs.existsSync(SQLITE.directory)) await removeTree(SQLITE.directory);
      fs.renameSync(tree, SQLITE.directory);
      return name;
    }
    return null;
  }, (name) => (name ? `from ${name}, verified` : 'not found'));
  if (!sqliteIsReady()) {
    problems.push(
      `SQLite ${SQLITE.version}'s source could not be had (${reasons.join('; ')}): download ${SQLITE.zip} elsewhere ` +
        'and set SQLITE3MC_SQLITE_ARCHIVE=/path/to/it',
    );
  }
}

// -----------------------------------------------------------------------------------------------------
// npm packages

/**
 * Install a directory's packages as its lock file says. Their install scripts do not run.
 * @param {string} directory
 * @param {string} name
 */
async function setUpPackages(directory, name) {
  const lockFile = fs.readFileSync(path.join(directory, 'package-lock.json'));
  const hash = createHash('sha256').update(lockFile).digest('hex');
  const marker = path.join(directory, 'node_modules', '.sqlite3mc-lock'); // npm ci removes it when it starts
  if (fs.existsSync(marker) && fs.readFileSync(marker, 'utf8') === hash) return;
  if (options.check) {
    problems.push(`${name} are not installed: run \`node scripts/setup.mjs\``);
    return;
  }
  await step(name, async () => {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { code, text } = await run('npm', args, { cwd: directory });
    if (code === 0) fs.writeFileSync(marker, hash);
    else problems.push(`${name} could not be installed (npm ci: ${text.trim().split('\n')[0]})`);
  });
}

/**
 * The reference implementation that tests compare with is a native addon. It is compiled once for each
 * version of Node, not once for each checkout.
 */
async function setUpOracle() {
  const name = 'better-sqlite3-multiple-ciphers';
  const directory = path.join(ROOT, 'node_modules', name);
  if (!fs.existsSync(directory)) return; // the packages could not be installed: said already
  const { version } = JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));
  const kind = `${version}-node${process.versions.modules}-${process.platform}-${process.arch}`;
  const cached = path.join(CACHE, name, `${kind}.node`);
  const installed = path.join(directory, 'build', 'Release', 'better_sqlite3.node');
  const same = () => fs.existsSync(installed) && fs.statSync(installed).size === fs.statSync(cached).size;
  if (fs.existsSync(cached) && same()) return;
  if (options.check) {
    problems.push(`${name} is not compiled: run \`node scripts/setup.mjs\``);
    return;
  }
  await step(`${name} ${version}`, async () => {
    if (!fs.existsSync(cached)) {
      const error = await compileAddon(directory);
      if (error) {
        problems.push(`${name} could not be compiled (${error})`);
        return;
      }
      copyFile(installed, cached);
    } else {
      copyFile(cached, installed);
    }
  });
}

/** @param {string} from @param {string} to */
function copyFile(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, `${to}.${process.pid}`);
  fs.renameSync(`${to}.${process.pid}`, to);
}

/** @param {string} directory @returns {Promise<string | null>} what went wrong, or null */
async function compileAddon(directory) {
  const npm = which('npm');
  const gyp = npm && path.join(path.dirname(fs.realpathSync(npm)), '..', 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  if (!gyp || !fs.existsSync(gyp)) return 'npm has no node-gyp';
  // The headers of this Node, if they are installed beside it; else node-gyp downloads them.
  const prefix = path.resolve(process.execPath, '..', '..');
  const nodedir =
    process.env.npm_config_nodedir || (fs.existsSync(path.join(prefix, 'include', 'node', 'node.h')) ? prefix : '');
  const args = [gyp, 'rebuild', '--release', '-j', JOBS, ...(nodedir ? [`--nodedir=${nodedir}`] : [])];
  const { code, text } = await run(process.execPath, args, { cwd: directory });
  if (code === 0) return null;
  return text.split('\n').find((line) => /error/i.test(line) && !/gyp ERR! stack/.test(line))?.trim() ?? 'node-gyp failed';
}

// -----------------------------------------------------------------------------------------------------

runMain(async () => {
  if (!['start', 'test', 'bench'].includes(purpose)) throw new Failure(`--for=${purpose}: give start, test or bench.`);
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new Failure(`This is Node ${process.versions.node}: 20 or newer is needed.`);
  }
  fs.mkdirSync(CACHE, { recursive: true });
  const unlock = await lock(CACHE, () => console.log('  waiting for another set-up to finish'));
  try {
    if (!options.check) {
      for (const name of fs.readdirSync(CACHE)) {
        if (name.startsWith('tmp-')) await removeTree(path.join(CACHE, name)); // of a run that was killed
      }
    }
    await setUpTools(neededTools());
    const emscripten = await setUpEmscripten();
    if (compiles('cc') || compiles('gcc')) await setUpSqlite();
    if (purpose !== 'start') {
      await setUpPackages(ROOT, 'npm packages');
      await setUpPackages(path.join(ROOT, 'scripts', 'runtimes'), 'newer Node releases');
    }
    if (purpose === 'test') await setUpOracle();
    if (problems.length) throw new Failure(problems.map((problem) => `setup: ${problem}`).join('\n'));
    if (!emscripten || options.check) return;

    const node26 = path.join(ROOT, 'scripts', 'runtimes', 'node_modules', 'node26', 'bin', 'node');
    /** @type {import('./lib.mjs').Environment} */
    const environment = {
      emcc: emscripten.emcc,
      emccVersion: emscripten.version,
      sqliteSrc: SQLITE.directory,
      chromium: findChromium(),
      firefox: findFirefox(),
      node26: fs.existsSync(node26) ? node26 : null,
    };
    fs.mkdirSync(BUILD, { recursive: true });
    writeIfChanged(ENV_JSON, `${JSON.stringify(environment, null, 2)}\n`);
    const same = emscripten.version === EMSCRIPTEN.published;
    const note = same ? 'as the published files' : `the published files are built with ${EMSCRIPTEN.published}`;
    console.log(`  Emscripten ${emscripten.version} (${note}), SQLite ${SQLITE.version}, Node ${process.versions.node}`);
  } finally {
    if (fs.existsSync(temporary)) await removeTree(temporary);
    unlock();
  }
});
