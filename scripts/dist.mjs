// Copies one wasm build's products to dist/, and checks that all builds there fit one glue.
//
//   node scripts/dist.mjs <build>/out <name>     after a link: dist/<name>.wasm, the glue and SQLite's JavaScript
//   node scripts/dist.mjs --check                all three modules are there, were linked with the glue in
//                                                dist/, and import the same functions; and no file
//                                                there has a path of this machine in it
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import { CACHE, ROOT } from './lib.mjs';

const DIST = path.join(ROOT, 'dist');
const GLUE = 'sqlite3mc-core.mjs';
const MODULES = ['sqlite3mc', 'sqlite3mc-relaxed', 'sqlite3mc-nosimd'];
// Which glue each module was linked with: <module>: sha256. Not published.
const RECORD = path.join(DIST, '.glue.json');

/** @param {string | Buffer} content */
const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/**
 * The glue as it is published. Under Node it imports a module of Node's, which bundlers for browsers would
 * look for; this form they leave alone.
 * @param {string} file
 */
const readGlue = (file) =>
  fs
    .readFileSync(file, 'utf8')
    .replace(/\bimport\("(?:node:)?module"\)/g, 'import(/* webpackIgnore: true */ /* @vite-ignore */ ["node", "module"].join(":"))');

/** @returns {Record<string, string>} */
function readRecord() {
  return fs.existsSync(RECORD) ? JSON.parse(fs.readFileSync(RECORD, 'utf8')) : {};
}

/**
 * Replace a file in one step: another process may be reading it.
 * @param {string} to
 * @param {string | Buffer} content
 */
function put(to, content) {
  const temporary = `${to}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, content);
  fs.renameSync(temporary, to);
}

/**
 * @param {string} out
 * @param {string} name
 */
function install(out, name) {
  fs.mkdirSync(DIST, { recursive: true });
  const glue = readGlue(path.join(out, 'sqlite3mc.mjs'));
  put(path.join(DIST, `${name}.wasm`), fs.readFileSync(path.join(out, 'sqlite3mc.wasm')));
  put(path.join(DIST, GLUE), glue);
  for (const file of fs.readdirSync(out)) {
    if (/^sqlite3-.*\.m?js$/.test(file)) put(path.join(DIST, file), fs.readFileSync(path.join(out, file)));
  }
  const record = { ...readRecord(), [name]: sha256(glue) };
  put(RECORD, `${JSON.stringify(record, null, 2)}\n`);
}

function check() {
  // Node 20 validates relaxed SIMD only with this flag.
  if (process.version.startsWith('v20.')) v8.setFlagsFromString('--experimental-wasm-relaxed-simd');
  const problems = [];
  const glue = fs.existsSync(path.join(DIST, GLUE)) ? sha256(fs.readFileSync(path.join(DIST, GLUE))) : 'missing';
  const record = readRecord();
  /** @type {string | undefined} */
  let imports;
  for (const name of MODULES) {
    const file = path.join(DIST, `${name}.wasm`);
    if (!fs.existsSync(file)) {
      problems.push(`dist/${name}.wasm is missing`);
      continue;
    }
    if (record[name] !== glue) problems.push(`dist/${name}.wasm was linked with another glue than dist/${GLUE}`);
    const module = new WebAssembly.Module(fs.readFileSync(file));
    const list = WebAssembly.Module.imports(module)
      .map((entry) => `${entry.module}.${entry.name} (${entry.kind})`)
      .sort()
      .join(', ');
    imports ??= list;
    if (list !== imports) problems.push(`dist/${name}.wasm imports ${list}; the others import ${imports}`);
  }
  for (const file of fs.readdirSync(DIST).filter((name) => /^[^.].*\.(wasm|m?js)$/.test(name))) {
    const content = fs.readFileSync(path.join(DIST, file));
    for (const place of [ROOT, CACHE]) {
      if (content.includes(place)) problems.push(`dist/${file} has the path ${place} in it`);
    }
  }
  if (problems.length) {
    console.error(problems.join('\n'));
    process.exit(1);
  }
}

const [first, second] = process.argv.slice(2);
if (first === '--check') check();
else if (first && second) install(first, second);
else {
  console.error('usage: dist.mjs <build>/out <name> | --check');
  process.exit(2);
}
