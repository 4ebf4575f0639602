/**
 * The official API in browsers: what is there without COOP/COEP, on the main thread, and in SQLite's own
 * worker.
 */
import { expect, open, startWorker, test } from './harness.mjs';

const ERROR = 1;
const NOTADB = 26;

test('C54 storage that is not there is an error, not a database in memory', async ({ page, plain }) => {
  await open(page, plain);
  const worker = await startWorker(page);
  const result = await worker.run(async ({ sqlite3, codeOf }) => ({
    classes: [typeof sqlite3.oo1.OpfsDb, typeof sqlite3.oo1.OpfsWlDb],
    opfs: await codeOf(() => new sqlite3.oo1.DB({ filename: '/a.db', vfs: 'opfs', key: 'k' })),
    shim: await codeOf(() => new sqlite3.oo1.DB({ filename: '/a.db', vfs: 'multipleciphers-opfs' })),
    uri: await codeOf(() => new sqlite3.oo1.DB('file:/a.db?vfs=opfs')),
    none: await codeOf(() => new sqlite3.oo1.DB({ filename: '/a.db', vfs: 'no-such-vfs' })),
  }));
  expect(result).toEqual({ classes: ['undefined', 'undefined'], opfs: ERROR, shim: ERROR, uri: ERROR, none: ERROR });
});

test('the code that opfs runs after opening runs under the encrypting VFS, after the key is set', async ({ page, isolated }) => {
  await open(page, isolated);
  const worker = await startWorker(page);
  const result = await worker.run(async ({ open, sqlite3 }) => {
    const timeouts = [];
    for (const options of [{ key: 'k' }, { key: 'k' }, {}]) {
      const db = await open('opfs', { filename: options.key ? '/keyed.db' : '/plain.db', ...options });
      timeouts.push(db.selectValue('PRAGMA busy_timeout'));
      db.exec('PRAGMA user_version=1');
      db.close();
    }
    // A callback that reads the file, as an application may set one.
    const seen = [];
    sqlite3.oo1.DB.dbCtorHelper.setVfsPostOpenCallback(sqlite3.capi.sqlite3_vfs_find('opfs'), (db) => {
      seen.push(db.selectValue('PRAGMA user_version'));
    });
    (await open('opfs', { filename: '/keyed.db', key: 'k' })).close();
    return { timeouts, seen };
  });
  expect(result).toEqual({ timeouts: [10000, 10000, 10000], seen: [1] });
});

test('two workers wait for each other on opfs', async ({ page, isolated }) => {
  await open(page, isolated);
  const workers = [await startWorker(page), await startWorker(page)];
  const fill = async ({ open }, id) => {
    const db = await open('opfs', { filename: '/both.db', key: 'k' });
    db.exec('CREATE TABLE IF NOT EXISTS t(a)');
    for (let i = 0; i < 5; i++) db.exec({ sql: 'INSERT INTO t VALUES(?)', bind: [id] });
    db.close();
  };
  await workers[0].run(fill, 0); // with a salt in the file, both derive the same key
  await Promise.all(workers.map((worker, id) => worker.run(fill, id)));
  const counts = await workers[0].run(async ({ open }) => {
    const db = await open('opfs', { filename: '/both.db', key: 'k' });
    const rows = db.selectArrays('SELECT a, count(*) FROM t GROUP BY a');
    db.close();
    return rows;
  });
  expect(counts).toEqual([
    [0, 10],
    [1, 5],
  ]);
});

test('kvvfs works as ever, and refuses a key', async ({ page, plain }) => {
  await open(page, plain);
  const result = await page.evaluate(async () => {
    const { default: sqlite3InitModule } = await import('/js/index.js');
    const sqlite3 = await sqlite3InitModule();
    const db = new sqlite3.oo1.JsStorageDb('local');
    db.exec('CREATE TABLE t(a); INSERT INTO t VALUES(7)');
    const value = db.selectValue('SELECT a FROM t');
    db.close();
    let code = 0;
    try {
      new sqlite3.oo1.JsStorageDb({ filename: 'session', key: 'k' });
    } catch (error) {
      code = error.resultCode;
    }
    return { value, code };
  });
  expect(result).toEqual({ value: 7, code: ERROR });
});

test('the page itself may start the module: memory only, and two are independent', async ({ page, plain }) => {
  await open(page, plain);
  const result = await page.evaluate(async () => {
    const { default: sqlite3InitModule } = await import('/js/index.js');
    const located = [];
    const locateFile = (file, directory) => (located.push(file), directory + file);
    const all = await Promise.all([
      sqlite3InitModule({ locateFile }),
      sqlite3InitModule({ locateFile, variant: 'nosimd' }),
      sqlite3InitModule({ wasmBinary: await (await fetch('/dist/sqlite3mc.wasm')).arrayBuffer() }),
    ]);
    for (const [i, sqlite3] of all.entries()) {
      const db = new sqlite3.oo1.DB({ filename: '/memory-file-system.db', key: `key ${i}` });
      db.exec(`CREATE TABLE t${i}(a)`);
      db.close();
    }
    const names = all.map((sqlite3, i) => {
      const db = new sqlite3.oo1.DB({ filename: '/memory-file-system.db', key: `key ${i}` });
      const name = db.selectValue('SELECT name FROM sqlite_schema');
      db.close();
      return name;
    });
    return { located, names, variants: all.map((sqlite3) => sqlite3.mc.variant) };
  });
  expect(result.names).toEqual(['t0', 't1', 't2']);
  expect(result.located.sort()).toEqual(['sqlite3mc-nosimd.wasm', 'sqlite3mc-relaxed.wasm']);
  expect(result.variants).toEqual(['relaxed', 'nosimd', undefined]);
});

test("SQLite's worker API takes key options", async ({ page, isolated }) => {
  await open(page, isolated);
  const result = await page.evaluate(async () => {
    const { sqlite3Worker1Promiser } = await import('/js/index.js');
    const promiser = await sqlite3Worker1Promiser();
    const read = async (options) => {
      try {
        const { dbId } = await promiser('open', { filename: 'file:/worker1.db?vfs=opfs', ...options });
        const { result } = await promiser('exec', { dbId, sql: 'SELECT a FROM t', rowMode: 'array', resultRows: [] });
        await promiser('close', { dbId });
        return result.resultRows;
      } catch (message) {
        return message.result?.resultCode ?? message.result?.errorClass ?? String(message);
      }
    };
    const { dbId, result } = await promiser('open', { filename: 'file:/worker1.db?vfs=opfs', key: new Uint8Array([1, 2, 3]) });
    await promiser('exec', { dbId, sql: "CREATE TABLE t(a); INSERT INTO t VALUES('w')" });
    await promiser('close', { dbId });
    return { vfs: result.vfs, right: await read({ hexkey: '010203' }), wrong: await read({ key: 'x' }), none: await read({}) };
  });
  expect(result).toEqual({ vfs: 'multipleciphers-opfs', right: [['w']], wrong: 'SQLite3Error', none: 'SQLite3Error' });
  void NOTADB;
});
