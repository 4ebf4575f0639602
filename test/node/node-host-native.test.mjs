/**
 * The VFS "node" beside native SQLite (better-sqlite3, a plain database) on one file. Linux: its locks are
 * read from /proc/locks.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3-multiple-ciphers';

import { ProcLocks } from '../../js/node-proc-locks.js';
import { makeSqlite, sleep, temporaryDirectory } from './node-host-harness.mjs';

const lib = await makeSqlite();
const { capi } = lib;

const FILL = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);
  WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 500)
    INSERT INTO t SELECT i, randomblob(1000) FROM c`;

/**
 * @param {import('node:test').TestContext} t
 * @param {string} [mode]
 */
function filled(t, mode = 'delete') {
  const file = path.join(temporaryDirectory(t), 'test.db');
  lib.open(file).exec(`PRAGMA journal_mode = ${mode}`).exec(FILL).close();
  return file;
}

/**
 * @param {import('node:test').TestContext} t
 * @param {string} file
 */
function openNative(t, file) {
  const db = new Database(file, { timeout: 0 });
  t.after(() => db.close());
  return db;
}

/**
 * Our result code for one statement on a new connection.
 * @param {string} file
 * @param {string} sql
 */
function ours(file, sql) {
  const db = lib.open(file);
  try {
    return lib.code(() => db.exec(sql));
  } finally {
    db.close();
  }
}

/** What a native connection holds on a file, as ProcLocks sees it. @param {string} file */
function nativeBits(file) {
  const { dev, ino } = fs.statSync(file, { bigint: true });
  return new ProcLocks(fs).native({ dev, ino }, `${file}-shm`);
}

test('native SQLite and this VFS read and write one file in turn', (t) => {
  const file = filled(t);
  const native = openNative(t, file);
  const db = lib.open(file);
  for (let i = 0; i < 5; i++) {
    native.exec('UPDATE t SET b = 1 WHERE id = 1');
    assert.equal(db.selectValue('SELECT b FROM t WHERE id = 1'), 1);
    db.exec('UPDATE t SET b = 2 WHERE id = 1');
    assert.equal(native.prepare('SELECT b FROM t WHERE id = 1').pluck().get(), 2);
  }
  db.close();
  assert.equal(native.pragma('integrity_check', { simple: true }), 'ok');
});

/** Let no look at the native locks grow old. @param {import('node:test').TestContext} t */
function stopClock(t) {
  const now = performance.now();
  t.mock.method(performance, 'now', () => now);
}

for (const mode of ['delete', 'truncate', 'persist']) {
  test(`a native writer (${mode}): writing is BUSY, its journal is not taken for a hot one, reading sees the old rows`, (t) => {
    const file = filled(t);
    const native = openNative(t, file);
    native.pragma(`journal_mode = ${mode}`);
    // Then the header of its journal is complete before it has more than RESERVED.
    native.pragma('synchronous = off');
    stopClock(t);
    const db = lib.open(file);
    db.exec('UPDATE t SET b = 1 WHERE id = 1');
    native.exec('BEGIN IMMEDIATE; UPDATE t SET b = zeroblob(1000)');
    assert.ok(fs.statSync(`${file}-journal`).size > 0);
    assert.equal(
      lib.code(() => db.exec('UPDATE t SET b = 2')),
      capi.SQLITE_BUSY,
    );
    assert.equal(db.selectValue('SELECT b FROM t WHERE id = 1'), 1);
    assert.equal(ours(file, 'DELETE FROM t'), capi.SQLITE_BUSY);
    native.exec('COMMIT');
    assert.equal(db.selectValue('SELECT count(*) FROM t WHERE b = zeroblob(1000)'), 500);
    db.exec('DELETE FROM t WHERE id = 1');
    db.close();
    assert.equal(native.pragma('integrity_check', { simple: true }), 'ok');
    assert.equal(native.prepare('SELECT count(*) FROM t').pluck().get(), 499);
  });

  test(`a native writer that has spilled its cache into the database (${mode}): BUSY, and its rollback is right`, (t) => {
    const file = filled(t);
    const native = openNative(t, file);
    native.pragma(`journal_mode = ${mode}`);
    native.pragma('cache_size = 5');
    stopClock(t);
    const db = lib.open(file);
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    native.exec('BEGIN IMMEDIATE; UPDATE t SET b = zeroblob(1000)');
    assert.equal(nativeBits(file) & 8, 8);
    for (const sql of ['SELECT count(*) FROM t', 'DELETE FROM t']) {
      assert.equal(
        lib.code(() => db.exec(sql)),
        capi.SQLITE_BUSY,
        sql,
      );
      assert.equal(ours(file, sql), capi.SQLITE_BUSY, sql);
    }
    native.exec('ROLLBACK');
    assert.equal(db.selectValue('SELECT count(*) FROM t WHERE b <> zeroblob(1000)'), 500);
    assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
    db.close();
  });
}

test('a native reader: a commit is BUSY until it has finished', (t) => {
  const file = filled(t);
  stopClock(t);
  const native = openNative(t, file);
  native.exec('BEGIN');
  assert.equal(native.prepare('SELECT count(*) FROM t').pluck().get(), 500);
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  db.exec('BEGIN; DELETE FROM t WHERE id = 1');
  assert.equal(
    lib.code(() => db.exec('COMMIT')),
    capi.SQLITE_BUSY,
  );
  native.exec('COMMIT');
  db.exec('COMMIT');
  db.close();
  assert.equal(native.prepare('SELECT count(*) FROM t').pluck().get(), 499);
});

test('a native exclusive lock without a journal: BUSY for a new connection', (t) => {
  const file = filled(t);
  const native = openNative(t, file);
  native.exec('BEGIN EXCLUSIVE');
  assert.equal(ours(file, 'SELECT count(*) FROM t'), capi.SQLITE_BUSY);
  native.exec('COMMIT');
  assert.equal(ours(file, 'SELECT count(*) FROM t'), 0);
});

test('the busy timeout waits for a native writer in another process', async (t) => {
  const file = filled(t);
  const code = `
    const db = new (require(${JSON.stringify(fileURLToPath(import.meta.resolve('better-sqlite3-multiple-ciphers')))}))(${JSON.stringify(file)});
    db.exec('BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1');
    console.log('locked');
    setTimeout(() => { db.exec('COMMIT'); db.close(); }, 300);`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.equal(ours(file, 'DELETE FROM t WHERE id = 2'), capi.SQLITE_BUSY);
  const db = lib.open(file);
  capi.sqlite3_busy_timeout(db, 20_000);
  db.exec('DELETE FROM t WHERE id = 2');
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 498);
  db.close();
});

test('a native writer killed in mid-transaction: its hot journal is played back', async (t) => {
  const file = filled(t);
  const code = `
    const db = new (require(${JSON.stringify(fileURLToPath(import.meta.resolve('better-sqlite3-multiple-ciphers')))}))(${JSON.stringify(file)});
    db.exec('PRAGMA cache_size = 5; BEGIN IMMEDIATE; UPDATE t SET b = zeroblob(1000)');
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.equal(ours(file, 'SELECT count(*) FROM t'), capi.SQLITE_BUSY);
  const exited = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGKILL');
  await exited;
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT count(*) FROM t WHERE b <> zeroblob(1000)'), 500);
  assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
  db.close();
});

test('a native connection in WAL mode: BUSY until it is closed; its WAL is read after that', (t) => {
  const file = filled(t, 'wal');
  const native = new Database(file, { timeout: 0 });
  assert.equal(native.prepare('SELECT count(*) FROM t').pluck().get(), 500);
  assert.equal(nativeBits(file) & 16, 16);
  assert.equal(ours(file, 'SELECT count(*) FROM t'), capi.SQLITE_BUSY);
  assert.equal(ours(file, 'DELETE FROM t'), capi.SQLITE_BUSY);
  native.exec('DELETE FROM t WHERE id = 1');
  native.close();
  assert.equal(ours(file, 'DELETE FROM t WHERE id = 2'), 0);
  const again = openNative(t, file);
  assert.equal(again.prepare('SELECT count(*) FROM t').pluck().get(), 498);
  assert.equal(again.pragma('integrity_check', { simple: true }), 'ok');
});

test('a native connection that turns the database to WAL mode between two reads here: BUSY', (t) => {
  const file = filled(t);
  stopClock(t);
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  const native = new Database(file, { timeout: 0 });
  native.pragma('journal_mode = wal');
  native.exec('DELETE FROM t WHERE id = 1');
  assert.equal(
    lib.code(() => db.selectValue('SELECT count(*) FROM t')),
    capi.SQLITE_BUSY,
  );
  native.close();
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 499);
  db.close();
});

test('a native connection that comes to a WAL in use here: writing and checkpoints stop', (t) => {
  const file = filled(t, 'wal');
  stopClock(t);
  const db = lib.open(file);
  db.exec('DELETE FROM t WHERE id = 1');
  const native = new Database(file, { timeout: 0 });
  assert.equal(native.prepare('SELECT count(*) FROM t').pluck().get(), 499);
  assert.equal(
    lib.code(() => db.exec('DELETE FROM t WHERE id = 2')),
    capi.SQLITE_BUSY,
  );
  assert.deepEqual(db.selectArray('PRAGMA wal_checkpoint'), [1, -1, -1]);
  native.close();
  db.close();
  assert.equal(ours(file, 'PRAGMA integrity_check'), 0);
});

test('to close a file here does not drop the locks of a native connection in the same process', async (t) => {
  const file = filled(t);
  const native = openNative(t, file);
  native.exec('BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1');
  const before = nativeBits(file);
  assert.equal(before & 2, 2);
  for (let i = 0; i < 3; i++) assert.equal(ours(file, 'DELETE FROM t'), capi.SQLITE_BUSY);
  assert.equal(nativeBits(file), before);
  native.exec('COMMIT');
  // The descriptors that were kept are closed with the next one.
  const open = () =>
    fs.readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`) === file;
      } catch {
        return false;
      }
    }).length;
  assert.equal(open(), 4);
  assert.equal(ours(file, 'SELECT 1 FROM t'), 0);
  await sleep(0);
  assert.equal(open(), 1);
});

test('locks are read from a list of any length, whatever else is in it', () => {
  const noise = Array.from(
    { length: 2000 },
    (_, i) => `${i + 2}: POSIX  ADVISORY  WRITE ${i} 08:01:${100000 + i} 1073741826 1073742335\n`,
  ).join('');
  const id = { dev: 0x801n, ino: 77n };
  /** @param {string} list */
  const look = (list) => {
    const bytes = Buffer.from(list);
    const locks = new ProcLocks(
      /** @type {any} */ ({
        openSync: () => 99,
        // As the kernel: whole lines, at most a page at once.
        readSync(/** @type {number} */ _fd, /** @type {Buffer} */ buffer, /** @type {number} */ at, /** @type {number} */ n, /** @type {number} */ from) {
          const page = bytes.subarray(from, from + Math.min(n, 4096));
          const whole = page.subarray(0, page.lastIndexOf(10) + 1);
          return whole.copy(buffer, at);
        },
        statSync: () => ({ dev: 0x801n, ino: 78n }),
        readdirSync: () => [],
      }),
    );
    return { bits: locks.native(id, 'x-shm'), mine: locks.has(4242, id) };
  };
  const lock = (/** @type {string} */ rest) => `1: POSIX  ADVISORY  ${rest}\n`;
  assert.deepEqual(look(noise), { bits: 0, mine: false });
  assert.deepEqual(look(''), { bits: 0, mine: false });
  assert.deepEqual(look(noise + lock('READ  4242 08:01:77 1073741826 1073742335')), { bits: 1, mine: true });
  assert.deepEqual(look(lock('WRITE 1 08:01:77 1073741825 1073741825') + noise), { bits: 2, mine: false });
  assert.deepEqual(look(noise + lock('WRITE 1 08:01:77 1073741824 1073742335')), { bits: 14, mine: false });
  assert.deepEqual(look(noise + lock('WRITE 1 08:01:77 0 EOF')), { bits: 14, mine: false });
  assert.deepEqual(look(lock('WRITE 1 08:01:77 0 100')), { bits: 0, mine: false });
  assert.deepEqual(look(lock('WRITE 1 08:02:77 0 EOF')), { bits: 0, mine: false });
  assert.deepEqual(look('1: FLOCK  ADVISORY  WRITE 1 08:01:77 0 EOF\n'), { bits: 0, mine: false });
  assert.deepEqual(look('1: -> POSIX  ADVISORY  WRITE 1 08:01:77 0 EOF\n'), { bits: 0, mine: false });
  assert.deepEqual(look('1: OFDLCK ADVISORY  WRITE -1 08:01:77 1073741825 1073741825\n'), { bits: 2, mine: false });
  const shm = '2: POSIX  ADVISORY  READ  1 08:01:78 128 128\n';
  assert.deepEqual(look(lock('READ  1 08:01:77 1073741826 1073742335') + shm), { bits: 17, mine: false });
});
