/**
 * Starting the module in Node: what the options do, and what comes out.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { bestVariant } from '../../js/loader.js';
import { SQLITE_ERROR, SQLITE_NOTADB, codeOf, newFile, sqlite3InitModule, withDb } from './api-harness.mjs';

const wasmUrl = (/** @type {string} */ name) => new URL(`../../dist/${name}.wasm`, import.meta.url);

test('C57 two modules in one realm have the same API and nothing else in common', async () => {
  const [a, b] = await Promise.all([sqlite3InitModule(), sqlite3InitModule()]);
  const c = await sqlite3InitModule();
  for (const other of [b, c]) {
    assert.notEqual(a, other);
    assert.notEqual(a.wasm.memory.buffer, other.wasm.memory.buffer);
    assert.notEqual(a.oo1.DB, other.oo1.DB);
    for (const name of [undefined, 'capi', 'wasm', 'oo1', 'mc']) {
      const [mine, theirs] = [a, other].map((sqlite3) => Object.keys(name ? /** @type {any} */ (sqlite3)[name] : sqlite3).sort());
      assert.deepEqual(theirs, mine, name ?? 'sqlite3');
    }
  }
  const filename = '/only-here.db';
  withDb(a, { filename, vfs: 'unix-none' }, (db) => db.exec('CREATE TABLE t(a)'));
  assert.equal(withDb(b, { filename, vfs: 'unix-none' }, (db) => db.selectValue('SELECT count(*) FROM sqlite_schema')), 0);
  for (const name of ['sqlite3ApiBootstrap', 'sqlite3ApiConfig', 'sqlite3InitModule', 'sqlite3InitModuleState', 'sqlite3Worker1Promiser']) {
    assert.ok(!(name in globalThis), `${name} is left in the global scope`);
  }
});

test('C53 locateFile, wasmBinary, instantiateWasm and the print functions count in every start', async () => {
  for (let i = 0; i < 2; i++) {
    /** @type {string[][]} */
    const located = [];
    const a = await sqlite3InitModule({
      variant: 'simd',
      locateFile: (file, directory) => (located.push([file, directory]), directory + file),
    });
    assert.deepEqual(located, [['sqlite3mc.wasm', new URL('.', wasmUrl('x')).href]]);
    assert.equal(a.mc.variant, 'simd');

    const b = await sqlite3InitModule({ wasmBinary: fs.readFileSync(wasmUrl('sqlite3mc-nosimd')), locateFile: () => 'no such file' });
    assert.equal(b.mc.variant, undefined);
    assert.equal(withDb(b, {}, (db) => db.selectValue('SELECT 1')), 1);

    let calls = 0;
    const c = await sqlite3InitModule({
      instantiateWasm(imports, done) {
        calls++;
        const module = new WebAssembly.Module(fs.readFileSync(wasmUrl('sqlite3mc')));
        done(new WebAssembly.Instance(module, imports), module);
        return {};
      },
    });
    assert.equal(calls, 1);
    assert.equal(withDb(c, {}, (db) => db.selectValue('SELECT 1')), 1);
  }
});

test('print and printErr get what the module writes to its standard streams, in every start', async () => {
  for (let i = 0; i < 2; i++) {
    /** @type {string[]} */
    const printed = [];
    const { capi } = await sqlite3InitModule({ print: (text) => printed.push(`out ${text}`), printErr: (text) => printed.push(`err ${text}`) });
    for (const stream of ['stdout', 'stderr']) {
      capi.sqlite3_js_posix_create_file(`/dev/${stream}`, new TextEncoder().encode(`to ${stream} ${i}\n`));
    }
    assert.deepEqual(printed, [`out to stdout ${i}`, `err to stderr ${i}`]);
  }
});

test('a start that cannot load the module fails, and the next one works', async () => {
  await assert.rejects(sqlite3InitModule({ locateFile: () => 'file:///no/such/file.wasm', printErr() {} }));
  await assert.rejects(sqlite3InitModule({ wasmBinary: new Uint8Array([1, 2, 3]), printErr() {} }));
  await assert.rejects(sqlite3InitModule({ instantiateWasm: async () => Promise.reject(new Error('of the caller')) }), /of the caller/);
  await assert.rejects(
    sqlite3InitModule({
      instantiateWasm() {
        throw new Error('thrown at once');
      },
    }),
    /thrown at once/,
  );
  // @ts-expect-error: no such variant
  await assert.rejects(sqlite3InitModule({ variant: 'fast' }), TypeError);
  assert.equal(typeof (await sqlite3InitModule()).oo1.DB, 'function');
});

test('the loader takes what the engine accepts', async (t) => {
  const { mc } = await sqlite3InitModule();
  assert.equal(mc.variant, bestVariant());
  assert.equal(mc.variant, Number(process.versions.node.split('.')[0]) >= 22 ? 'relaxed' : 'simd');
  assert.match(mc.version, /^sqlite3mc-wasm \d+\.\d+\.\d+/);
  // An engine that refuses one feature after the other.
  const accepted = (/** @type {Uint8Array} */ bytes) => bytes.includes(0xfd);
  const answers = { relaxed: [true], simd: [false, true], nosimd: [false, false] };
  for (const [variant, list] of Object.entries(answers)) {
    const answer = [...list];
    const mock = t.mock.method(WebAssembly, 'validate', (/** @type {Uint8Array} */ bytes) => (assert.ok(accepted(bytes)), answer.shift()));
    assert.equal(bestVariant(), variant);
    mock.mock.restore();
  }
});

test('new DB(path) opens the real file, under the encrypting VFS', async () => {
  const sqlite3 = await sqlite3InitModule();
  const filename = newFile();
  withDb(sqlite3, { filename }, (db) => {
    db.exec("CREATE TABLE t(a); INSERT INTO t VALUES('plain')");
    assert.equal(db.dbVfsName(), 'multipleciphers-node');
  });
  assert.equal(fs.readFileSync(filename, 'latin1').slice(0, 15), 'SQLite format 3');
  withDb(sqlite3, { filename, flags: 'r' }, (db) => assert.equal(db.selectValue('SELECT a FROM t'), 'plain'));
  assert.equal(sqlite3.capi.sqlite3_js_vfs_list()[0], 'multipleciphers-node');
});

test('C12 the encrypting VFS goes over every VFS that is named, and over one that is made the default', async () => {
  const sqlite3 = await sqlite3InitModule();
  const { capi, wasm } = sqlite3;
  const vfsOf = (/** @type {object} */ options) => withDb(sqlite3, options, (db) => db.dbVfsName());
  const filename = newFile();
  assert.equal(vfsOf({ filename, vfs: 'node', key: 'k' }), 'multipleciphers-node');
  assert.equal(vfsOf({ filename, vfs: 'multipleciphers-node', key: 'k' }), 'multipleciphers-node');
  assert.equal(vfsOf({ filename: `file:${filename}?vfs=node`, key: 'k' }), 'multipleciphers-node');
  assert.equal(vfsOf({ filename: `file:${filename}?mode=rwc&vfs=node#x`, key: 'k' }), 'multipleciphers-node');
  assert.equal(vfsOf({ filename: '/m.db', vfs: 'unix-none', key: 'k' }), 'multipleciphers-unix-none');
  assert.equal(vfsOf({ filename: '/m.db', vfs: 'memdb' }), 'memdb');
  assert.equal(codeOf(() => vfsOf({ filename: '/m.db', vfs: 'memdb', key: 'k' })), SQLITE_ERROR);
  assert.throws(() => vfsOf({ filename, vfs: 'opfs' }), { resultCode: SQLITE_ERROR, message: /no such vfs: opfs/ });
  assert.throws(() => vfsOf({ filename: `file:${filename}?vfs=opfs` }), { resultCode: SQLITE_ERROR, message: /no such vfs: opfs/ });

  // A program's own VFS, here a copy of another one under a new name.
  const vfs = new capi.sqlite3_vfs();
  const model = new capi.sqlite3_vfs(capi.sqlite3_vfs_find('unix-none'));
  wasm.heap8u().copyWithin(vfs.pointer, model.pointer, model.pointer + capi.sqlite3_vfs.structInfo.sizeof);
  vfs.$zName = wasm.allocCString('mine');
  vfs.registerVfs(true);
  assert.equal(vfsOf({ filename: '/mine.db', key: 'k' }), 'multipleciphers-mine');
  assert.ok(capi.sqlite3_js_db_uses_vfs(0, 'mine'));
  assert.equal(capi.sqlite3_vfs_unregister(vfs), 0);
  assert.ok(!capi.sqlite3_js_vfs_list().some((/** @type {string} */ name) => name.includes('mine')));
  assert.equal(vfsOf({ filename, key: 'k' }), 'multipleciphers-node');
});

test('the C-style functions open under the encrypting VFS too', async () => {
  const { capi, wasm } = await sqlite3InitModule();
  const filename = newFile();
  const open = (/** @type {(pp: number) => number} */ how) => {
    const stack = wasm.pstack.pointer;
    const pp = wasm.pstack.allocPtr();
    assert.equal(how(pp), 0);
    const db = wasm.peekPtr(pp);
    wasm.pstack.restore(stack);
    return db;
  };
  const flags = capi.SQLITE_OPEN_CREATE | capi.SQLITE_OPEN_READWRITE;
  let db = open((pp) => capi.sqlite3_open_v2(filename, pp, flags, 'node'));
  assert.equal(capi.sqlite3_key_v2(db, 'main', 'secret'), 0);
  assert.equal(capi.sqlite3_exec(db, 'CREATE TABLE t(a)', 0, 0, 0), 0);
  assert.equal(capi.sqlite3_close_v2(db), 0);
  for (const key of ['secret', new TextEncoder().encode('secret'), new TextEncoder().encode('secret').buffer]) {
    db = open((pp) => capi.sqlite3_open(`file:${filename}?vfs=node`, pp));
    assert.equal(capi.sqlite3_key(db, key), 0);
    assert.equal(capi.sqlite3_exec(db, 'SELECT * FROM t', 0, 0, 0), 0);
    assert.equal(capi.sqlite3_close_v2(db), 0);
  }
  // By address, as C programs do, with a size that is less than the text.
  const zName = wasm.allocCString(filename);
  const zKey = wasm.allocCString('secret and more');
  db = open((pp) => capi.sqlite3_open_v2(zName, pp, flags, 0));
  assert.equal(capi.sqlite3_key(db, zKey, 6), 0);
  assert.equal(capi.sqlite3_exec(db, 'SELECT * FROM t', 0, 0, 0), 0);
  assert.equal(capi.sqlite3_key(db, 'secret and more', 6), 0);
  assert.equal(capi.sqlite3_exec(db, 'SELECT * FROM t', 0, 0, 0), 0);
  assert.equal(capi.sqlite3_key(db, 'wrong'), 0);
  assert.equal(capi.sqlite3_exec(db, 'SELECT * FROM t', 0, 0, 0), SQLITE_NOTADB);
  assert.equal(capi.sqlite3_close_v2(db), 0);
  wasm.dealloc(zName);
  wasm.dealloc(zKey);
});

test('C47 the modules import what docs/wasm-imports.md names, and nothing else', () => {
  const text = fs.readFileSync(fileURLToPath(new URL('../../docs/wasm-imports.md', import.meta.url)), 'utf8');
  const documented = [...text.matchAll(/^\| `(\w+)\.(\w+)` \|/gm)].map(([, module, name]) => `${module}.${name}`).sort();
  for (const name of ['sqlite3mc', 'sqlite3mc-nosimd', ...(bestVariant() === 'relaxed' ? ['sqlite3mc-relaxed'] : [])]) {
    const module = new WebAssembly.Module(fs.readFileSync(wasmUrl(name)));
    const imports = WebAssembly.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`);
    assert.deepEqual(imports.sort(), documented, name);
    assert.ok(WebAssembly.Module.imports(module).every(({ kind }) => kind === 'function' || kind === 'memory'));
  }
});
