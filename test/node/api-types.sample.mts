// Compiled by api-types.test.mjs, never run.
import sqlite3InitModule, { type DB, type DbOptions, type InitOptions, type SAHPool, type Sqlite3 } from 'sqlite3mc-wasm';
// What browsers get under that name.
import browserInit, { sqlite3Worker1Promiser } from '../../dist/types/index.js';

const options: InitOptions = { variant: 'simd', locateFile: (file, directory) => directory + file, print: console.log };
const sqlite3: Sqlite3 = await sqlite3InitModule(options);
const { capi, oo1, wasm } = sqlite3;

const withBytes: DbOptions = { filename: 'a.db', key: new Uint8Array(32), wipeKey: true, cipher: 'chacha20', kdf_iter: 64007 };
const db: DB = new oo1.DB(withBytes);
new oo1.DB('a.db', 'c', 'node');
new oo1.DB();
const value: number = db.selectValue('SELECT ?', [1]);
const rows: { [column: string]: unknown }[] = db.selectObjects('SELECT 1 AS a');
db.exec({ sql: 'SELECT 1', rowMode: 'object', callback: (row) => console.log(row) });
const sum: number = db.transaction((inside) => inside.selectValue('SELECT 1') + value);
db.checkRc(capi.sqlite3_rekey(db, 'new') || capi.sqlite3_key_v2(db, 'main', new Uint8Array(1), 1));
const code: number = capi.SQLITE_NOTADB;
const version: string = capi.sqlite3_libversion();
const heap: Uint8Array = wasm.heap8u();
const variant: 'relaxed' | 'simd' | 'nosimd' | undefined = sqlite3.mc.variant;
try {
  db.close();
} catch (error) {
  if (error instanceof sqlite3.SQLite3Error && error.resultCode === capi.SQLITE_BUSY) console.log(error.message);
}

const pool: SAHPool | undefined = await sqlite3.installOpfsSAHPoolVfs?.({ name: 'vault' });
if (pool) {
  const size: number = pool.importDb('/a.db', pool.exportFile('/b.db'));
  const streamed: Promise<number> = pool.importDb('/a.db', async () => undefined);
  new pool.OpfsSAHPoolDb({ filename: '/a.db', hexkey: '00' }).close();
  console.log(size, streamed);
}
const imported: Promise<number> | undefined = oo1.OpfsDb?.importDb('/a.db', new ArrayBuffer(512));
const inBrowser: Sqlite3 = await browserInit({ wasmBinary: new Uint8Array(0) });
const send = await sqlite3Worker1Promiser();
await send('open', { filename: 'file:/a.db?vfs=opfs', key: 'k' });
console.log(inBrowser, rows, sum, code, version, heap, variant, imported);

// @ts-expect-error: a key is text or bytes
new oo1.DB({ key: 5 });
// @ts-expect-error: no such variant
await sqlite3InitModule({ variant: 'fast' });
// @ts-expect-error: read-only
sqlite3.mc.variant = 'simd';
