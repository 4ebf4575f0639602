/**
 * opfs-sahpool: one worker has a pool open at a time, and nothing that goes wrong costs a database.
 */
import { expect, open, startWorker, test } from './harness.mjs';

const BUSY = 5;
const CANTOPEN = 14;

const install = async ({ sqlite3 }, options) => {
  globalThis.thePool = await sqlite3.installOpfsSAHPoolVfs({ verbosity: 0, ...options });
};
const write = ({ sqlite3 }, value) => {
  void sqlite3;
  const db = new globalThis.thePool.OpfsSAHPoolDb({ filename: '/a.db', key: 'k' });
  db.exec('CREATE TABLE IF NOT EXISTS t(a)');
  db.exec({ sql: 'INSERT INTO t VALUES(?)', bind: [value] });
  const all = db.selectValues('SELECT a FROM t ORDER BY rowid');
  db.close();
  return all;
};

test.beforeEach(async ({ page, plain }) => open(page, plain));

test('C55 a second worker gets SQLITE_BUSY, the first goes on, and the second can follow it', async ({ page }) => {
  const first = await startWorker(page);
  const second = await startWorker(page);
  await first.run(install, { name: 'shared' });
  expect(await first.run(write, 1)).toEqual([1]);
  const code = await second.run(
    async ({ codeOf, sqlite3 }) => codeOf(() => sqlite3.installOpfsSAHPoolVfs({ name: 'shared', verbosity: 0 })),
  );
  expect(code).toBe(BUSY);
  expect(await first.run(write, 2)).toEqual([1, 2]);
  await first.run(() => void globalThis.thePool.pauseVfs());
  await second.run(install, { name: 'shared' });
  expect(await second.run(write, 3)).toEqual([1, 2, 3]);
  // and back
  await second.run(() => void globalThis.thePool.pauseVfs());
  await first.run(() => globalThis.thePool.unpauseVfs().then(() => {}));
  expect(await first.run(write, 4)).toEqual([1, 2, 3, 4]);
});

test('C55 when one file cannot be opened, starting fails and deletes nothing, and the next start works', async ({ page }) => {
  const first = await startWorker(page);
  await first.run(install, { name: 'flaky' });
  expect(await first.run(write, 'kept')).toEqual(['kept']);
  await first.terminate();

  const second = await startWorker(page);
  const code = await second.run(async ({ codeOf, sqlite3 }) => {
    const prototype = FileSystemFileHandle.prototype;
    const real = prototype.createSyncAccessHandle;
    const start = () => sqlite3.installOpfsSAHPoolVfs({ name: 'flaky', verbosity: 0 });
    let failing = 0;
    prototype.createSyncAccessHandle = async function () {
      // The first call is SQLite's look at the API. Of the pool's files the second fails at once, the others open late.
      if (++failing === 3) throw new DOMException('for the test', 'UnknownError');
      if (failing > 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return real.call(this);
    };
    let code;
    do {
      failing = 0;
      code = await codeOf(start);
    } while (code === sqlite3.capi.SQLITE_BUSY); // the first worker's handles are still being closed
    prototype.createSyncAccessHandle = real;
    return code;
  });
  expect(code).toBe(CANTOPEN);
  const third = await startWorker(page);
  await third.run(install, { name: 'flaky' });
  expect(await third.run(write, 'more')).toEqual(['kept', 'more']);
});

test('two pools in one worker are two storages', async ({ page }) => {
  const worker = await startWorker(page);
  const result = await worker.run(async ({ sqlite3 }) => {
    const names = [];
    for (const name of ['one', 'two']) {
      const pool = await sqlite3.installOpfsSAHPoolVfs({ name });
      const db = new pool.OpfsSAHPoolDb({ filename: '/a.db', key: name });
      db.exec(`CREATE TABLE ${name}(a)`);
      db.close();
    }
    for (const name of ['one', 'two']) {
      const db = new sqlite3.oo1.DB({ filename: `file:/a.db?vfs=${name}`, key: name });
      names.push(db.dbVfsName(), db.selectValue('SELECT name FROM sqlite_schema'));
      db.close();
    }
    return names;
  });
  expect(result).toEqual(['multipleciphers-one', 'one', 'multipleciphers-two', 'two']);
});

test('a pool that is removed can be made again under the same name', async ({ page }) => {
  const worker = await startWorker(page);
  for (const value of ['first life', 'second life']) {
    await worker.run(install, { name: 'again' });
    expect(await worker.run(write, value)).toEqual([value]);
    await worker.run(() => globalThis.thePool.removeVfs().then(() => {}));
  }
  const list = await worker.run(({ sqlite3 }) => sqlite3.capi.sqlite3_js_vfs_list());
  expect(list.filter((name) => name.includes('again'))).toEqual([]);
});

test('a full pool: importDb() by chunks makes room for its temporary file, and takes it back', async ({ page }) => {
  const worker = await startWorker(page);
  const result = await worker.run(async ({ sqlite3, pieces }) => {
    const pool = await sqlite3.installOpfsSAHPoolVfs({ name: 'full', initialCapacity: 2 });
    for (const name of ['/a.db', '/b.db']) {
      const db = new pool.OpfsSAHPoolDb({ filename: name });
      db.exec('PRAGMA journal_mode=memory; CREATE TABLE t(a)');
      db.close();
    }
    const bytes = pool.exportFile('/a.db');
    const size = await pool.importDb('/b.db', pieces(bytes, [1000]));
    return [size === bytes.length, pool.getCapacity(), pool.getFileNames().sort()];
  });
  expect(result).toEqual([true, 2, ['/a.db', '/b.db']]);
});

test('two connections of one worker lock each other out, and do not take a live journal for a hot one', async ({ page }) => {
  const worker = await startWorker(page);
  await worker.run(install, { name: 'locks' });
  const result = await worker.run(async ({ codeOf }) => {
    const connect = () => new globalThis.thePool.OpfsSAHPoolDb({ filename: '/a.db', key: 'k' });
    const [a, b] = [connect(), connect()];
    const result = {};
    a.exec('CREATE TABLE t(a); INSERT INTO t VALUES(1)');
    result.shared = [a.selectValue('SELECT a FROM t'), b.selectValue('SELECT a FROM t')];
    a.exec('BEGIN; UPDATE t SET a=2');
    result.reading = b.selectValue('SELECT a FROM t');
    result.writing = await codeOf(() => b.exec('UPDATE t SET a=3'));
    a.exec('PRAGMA cache_size=2; PRAGMA cache_spill=1; INSERT INTO t SELECT zeroblob(30000)'); // takes the exclusive lock
    result.readingSpilled = await codeOf(() => b.selectValue('SELECT a FROM t'));
    a.exec('COMMIT');
    b.exec('UPDATE t SET a=a+1 WHERE a=2');
    result.end = [a.selectValue('SELECT a FROM t'), a.selectValue('SELECT count(*) FROM t'), b.selectValue('PRAGMA integrity_check')];
    const reader = b.prepare('SELECT a FROM t');
    reader.step();
    result.committing = await codeOf(() => a.exec('DELETE FROM t'));
    reader.finalize();
    result.after = await codeOf(() => a.exec('DELETE FROM t'));
    return result;
  });
  expect(result).toEqual({
    shared: [1, 1],
    reading: 1,
    writing: BUSY,
    readingSpilled: BUSY,
    end: [3, 2, 'ok'],
    committing: BUSY,
    after: 0,
  });
});
