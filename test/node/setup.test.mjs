// scripts/setup.mjs on machines that lack something: one line for each missing thing, which says what to
// do, and exit code 1. The machines are made of a PATH with only some programs, and of stand-ins for emcc.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lock } from '../../scripts/lock.mjs';
import { verifySqliteSource } from '../../scripts/sqlite-manifest.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** @type {string} */
let directory;
/** A copy of the scripts, which every user can read and which has no build directory. @type {string} */
let setup;
before(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sqlite3mc-setup-'));
  fs.chmodSync(directory, 0o755);
  const scripts = path.join(directory, 'checkout', 'scripts');
  fs.mkdirSync(scripts, { recursive: true });
  for (const name of fs.readdirSync(path.join(ROOT, 'scripts'))) {
    if (/\.(mjs|sh)$/.test(name)) fs.copyFileSync(path.join(ROOT, 'scripts', name), path.join(scripts, name));
  }
  setup = path.join(scripts, 'setup.mjs');
});
after(() => fs.rmSync(directory, { recursive: true, force: true }));

/** @param {string} name @returns {string} a new directory that every user can write to */
function newDirectory(name) {
  const made = fs.mkdtempSync(path.join(directory, `${name}-`));
  fs.chmodSync(made, 0o777);
  return made;
}

/** @param {string} name @returns {string} */
const programPath = (name) => execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim();

/**
 * A directory of programs: real ones by name, and shell scripts.
 * @param {string[]} real
 * @param {Record<string, string>} [scripts]
 */
function programs(real, scripts = {}) {
  const bin = newDirectory('bin');
  for (const name of real) fs.symlinkSync(fs.realpathSync(programPath(name)), path.join(bin, name));
  for (const [name, text] of Object.entries(scripts)) fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return bin;
}

const BASICS = ['sh', 'rm', 'tar'];
const COMPILERS = ['cc', 'gcc', 'make', 'cmake'];

/** @param {string} version */
const fakeEmcc = (version) =>
  `echo "emcc (Emscripten gcc/clang-like replacement + linker emulating GNU ld) ${version} (0123abc)"`;

/** Can every user run this file? @param {string} file */
function isPublic(file) {
  for (let at = file; at !== path.dirname(at); at = path.dirname(at)) {
    if (!(fs.statSync(at).mode & 1)) return false;
  }
  return true;
}

/** Whom set-up runs as: root hands the work to nobody. */
const user = process.getuid?.() === 0 && isPublic(fs.realpathSync(process.execPath)) ? { uid: 65534, gid: 65534 } : {};

/**
 * Run set-up as a user who may not install anything.
 * @param {{bin: string, env?: Record<string, string>, args?: string[], cache?: string}} machine
 */
function setUp({ bin, env = {}, args = ['--for=start', '--check'], cache = newDirectory('cache') }) {
  const child = spawnSync(process.execPath, [setup, ...args], {
    cwd: directory,
    env: { PATH: bin, HOME: cache, SQLITE3MC_CACHE: cache, ...env },
    encoding: 'utf8',
    ...user,
  });
  const problems = child.stderr.split('\n').filter((line) => line.startsWith('setup: '));
  return { code: child.status, problems, all: child.stdout + child.stderr };
}

/**
 * @param {string[]} problems
 * @param {RegExp[]} wanted one for each line, in any order
 */
function assertProblems(problems, ...wanted) {
  assert.equal(problems.length, wanted.length, problems.join('\n'));
  for (const pattern of wanted) assert.equal(problems.filter((line) => pattern.test(line)).length, 1, `${pattern}\n${problems.join('\n')}`);
}

test('each missing program has a line that says how to get it', () => {
  const { code, problems } = setUp({ bin: programs(BASICS) });
  assert.equal(code, 1);
  assertProblems(
    problems,
    /C compiler.*missing.*apt-get install gcc libc6-dev/,
    /make is missing.*apt-get install make/,
    /cmake 3\.22 or newer is missing.*apt-get install cmake/,
    /Emscripten 4\.0 or newer is missing.*emsdk.*EMCC/,
  );
});

test('another user than root does not try to install packages', () => {
  const bin = programs(BASICS, { 'apt-get': 'echo called > "$HOME/apt-get-was-called"; exit 100' });
  const cache = newDirectory('cache');
  const { code, problems } = setUp({ bin, cache, args: user.uid || process.getuid?.() ? ['--for=start'] : undefined });
  assert.equal(code, 1);
  assert.equal(problems.length, 4);
  assert.deepEqual(fs.readdirSync(cache), []);
});

test('a cmake that is too old counts as missing', () => {
  const bin = programs([...BASICS, 'cc', 'make'], { cmake: 'echo "cmake version 3.18.4"', emcc: fakeEmcc('4.0.10') });
  const { code, problems } = setUp({ bin });
  assert.equal(code, 1);
  assertProblems(problems, /cmake 3\.22 or newer is missing/, /SQLite .* source/);
});

test('C59 an emcc older than the minimum is refused with one line that says what to do', () => {
  const bin = programs([...BASICS, ...COMPILERS], { emcc: fakeEmcc('3.1.6') });
  for (const env of [{}, { EMCC: path.join(bin, 'emcc') }]) {
    const { code, problems } = setUp({ bin, env });
    assert.equal(code, 1);
    assertProblems(problems, /Emscripten 3\.1\.6, too old: 4\.0 or newer is needed; install \d+\.\d+\.\d+ with emsdk/, /SQLite .* source/);
  }
});

test('C59 the oldest emcc that is new enough is taken, from PATH, from EMCC and from an activated emsdk', () => {
  const emsdk = newDirectory('emsdk');
  const inside = path.join(emsdk, 'upstream', 'emscripten');
  fs.mkdirSync(inside, { recursive: true });
  fs.writeFileSync(path.join(inside, 'emcc'), `#!/bin/sh\n${fakeEmcc('5.0.0')}\n`, { mode: 0o755 });
  const withEmcc = programs([...BASICS, ...COMPILERS], { emcc: fakeEmcc('4.0.0') });
  const withOld = programs([...BASICS, ...COMPILERS], { emcc: fakeEmcc('3.1.74') });
  const machines = [
    { bin: withEmcc },
    { bin: withOld, env: { EMCC: path.join(withEmcc, 'emcc') } },
    { bin: withOld, env: { EMSDK: emsdk } },
  ];
  for (const machine of machines) assertProblems(setUp(machine).problems, /SQLite .* source is not in/);
});

test('an EMCC that does not run is named', () => {
  const bin = programs([...BASICS, ...COMPILERS], { emcc: fakeEmcc('6.0.5'), broken: 'exit 1' });
  const { code, problems } = setUp({ bin, env: { EMCC: path.join(bin, 'broken') } });
  assert.equal(code, 1);
  assertProblems(problems, /EMCC=.*broken does not run/, /SQLite .* source/);
});

test('without network the source of SQLite has a line with the ways that were tried and the way out', () => {
  const bin = programs([...BASICS, ...COMPILERS], {
    emcc: fakeEmcc('6.0.5'),
    curl: 'echo "curl: (6) Could not resolve host" >&2; exit 6',
  });
  const cache = newDirectory('cache');
  const { code, problems } = setUp({ bin, cache, args: ['--for=start'] });
  assert.equal(code, 1);
  assertProblems(problems, /Debian source package: .*sqlite\.org: curl: \(6\).*SQLITE3MC_SQLITE_ARCHIVE/);
  assert.deepEqual(fs.readdirSync(cache), []);
});

test('an archive that is not the pinned source is refused and nothing of it stays', () => {
  const source = newDirectory('source');
  const tree = path.join(source, 'sqlite');
  fs.mkdirSync(tree);
  fs.writeFileSync(path.join(tree, 'manifest'), 'C another\nF configure 0000000000000000000000000000000000000000\n');
  fs.writeFileSync(path.join(tree, 'configure'), 'touch "$HOME/was-run"\n');
  const archive = path.join(source, 'sqlite.tar.xz');
  execFileSync('tar', ['-cJf', archive, '-C', source, 'sqlite']);
  const bin = programs([...BASICS, ...COMPILERS, 'xz'], { emcc: fakeEmcc('6.0.5'), curl: 'exit 6' });
  const cache = newDirectory('cache');
  const { code, problems } = setUp({ bin, cache, args: ['--for=start'], env: { SQLITE3MC_SQLITE_ARCHIVE: archive } });
  assert.equal(code, 1);
  assertProblems(problems, /SQLITE3MC_SQLITE_ARCHIVE: its manifest has the hash/);
  assert.deepEqual(fs.readdirSync(cache), []);
});

test('what a killed run left behind is removed, not used', () => {
  const cache = newDirectory('cache');
  fs.mkdirSync(path.join(cache, 'tmp-4711', 'sqlite-src'), { recursive: true });
  fs.mkdirSync(path.join(cache, 'sqlite-src')); // complete by its name, but without the mark
  fs.chmodSync(path.join(cache, 'tmp-4711'), 0o777);
  fs.chmodSync(path.join(cache, 'tmp-4711', 'sqlite-src'), 0o777);
  const bin = programs([...BASICS, ...COMPILERS], { emcc: fakeEmcc('6.0.5'), curl: 'exit 6' });
  const { code, problems } = setUp({ bin, cache, args: ['--for=start'] });
  assert.equal(code, 1);
  assertProblems(problems, /SQLite .* source could not be had/);
  assert.deepEqual(fs.readdirSync(cache), ['sqlite-src']);
});

test('every changed or missing file of a source tree is found', () => {
  const { sqliteSrc } = JSON.parse(fs.readFileSync(path.join(ROOT, 'build', 'env.json'), 'utf8'));
  const pin = fs.readFileSync(path.join(sqliteSrc, 'manifest.uuid'), 'utf8').trim();
  assert.equal(verifySqliteSource(sqliteSrc, pin), null);
  assert.match(verifySqliteSource(sqliteSrc, pin.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))) ?? '', /manifest has the hash/);

  const copy = newDirectory('copy');
  fs.cpSync(sqliteSrc, copy, { recursive: true });
  const file = path.join(copy, 'src', 'pager.c');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('a', 'b'));
  assert.match(verifySqliteSource(copy, pin) ?? '', /src\/pager\.c is not the original/);
  fs.rmSync(file);
  assert.match(verifySqliteSource(copy, pin) ?? '', /no file src\/pager\.c/);
  fs.writeFileSync(file, text);
  fs.rmSync(path.join(copy, 'manifest'));
  assert.match(verifySqliteSource(copy, pin) ?? '', /no file "manifest"/);
});

test('two runs at once: the second waits until the first has ended, however it ended', async () => {
  const cache = newDirectory('cache');
  const holder = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { lock } = await import(${JSON.stringify(path.join(ROOT, 'scripts', 'lock.mjs'))});
       await lock(${JSON.stringify(cache)}, () => {});
       console.log('locked');
       setInterval(() => {}, 1000);`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  let waited = false;
  const unlock = await lock(cache, () => {
    waited = true;
    holder.kill('SIGKILL');
  });
  assert.equal(waited, true);
  unlock();
  const again = await lock(cache, () => assert.fail('The lock was not given back.'));
  again();
});
