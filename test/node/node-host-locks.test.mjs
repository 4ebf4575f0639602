/** The VFS "node": several processes, threads and modules on one file (C56). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { createNodeHost } from '../../js/node-host.js';
import { LockFiles } from '../../js/node-lock.js';
import { Peer, makeSqlite, sleep, temporaryDirectory } from './node-host-harness.mjs';

const lib = await makeSqlite();
const { capi } = lib;

const FILL = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);
  WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 500)
    INSERT INTO t SELECT i, randomblob(1000) FROM c`;

/** @param {import('node:test').TestContext} t */
function filled(t) {
  const file = path.join(temporaryDirectory(t), 'test.db');
  lib.open(file).exec(FILL).close();
  return file;
}

/**
 * @param {string} file
 * @param {string} sql
 * @param {number} [timeout]
 */
function tryExec(file, sql, timeout = 0) {
  const db = lib.open(file);
  try {
    capi.sqlite3_busy_timeout(db, timeout);
    return lib.code(() => db.exec(sql));
  } finally {
    db.close();
  }
}

const lockFiles = (/** @type {string} */ file) =>
  fs.readdirSync(path.dirname(file)).filter((name) => name.includes('-lock'));

/** @param {string} line */
const open = (line) => `void (v.db = lib.open(${JSON.stringify(line)}), lib.capi.sqlite3_busy_timeout(v.db, 0))`;
const exec = (/** @type {string} */ sql) => `lib.code(() => v.db.exec(${JSON.stringify(sql)}))`;

/** Lock files as another thread (or machine) would use them. @param {object} [host] */
function strangers(host) {
  const { pid } = process;
  return new LockFiles({ fs, os, process: { pid, kill: process.kill }, platform: 'test', sleep: blockFor, ...host });
}

/** @param {number} ms */
function blockFor(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const linux = fs.existsSync('/proc/thread-self');

// --- Two processes ---

test('C56: two live processes exclude each other, and the busy timeout waits for the other', async (t) => {
  const file = filled(t);
  const other = new Peer(t);
  await other.run(open(file));
  assert.equal(await other.run(exec('BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1')), 0);
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 2'), capi.SQLITE_BUSY);
  assert.equal(tryExec(file, 'SELECT * FROM t'), capi.SQLITE_BUSY);

  const commit = other.run(`new Promise((r) => setTimeout(r, 300)).then(() => ${exec('COMMIT')})`);
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 2', 20_000), 0);
  assert.equal(await commit, 0);
  assert.equal(await other.run(`v.db.selectValue('SELECT count(*) FROM t')`), 498);
  await other.end();
});

test('an idle process hands the database over without being asked, and takes it back', async (t) => {
  const file = filled(t);
  const other = new Peer(t);
  await other.run(open(file));
  for (let i = 0; i < 5; i++) {
    assert.equal(await other.run(`(lib.capi.sqlite3_busy_timeout(v.db, 20000), ${exec('DELETE FROM t WHERE id % 10 = 0')})`), 0);
    assert.equal(tryExec(file, 'DELETE FROM t WHERE id % 10 = 1', 20_000), 0);
  }
  while (lockFiles(file).length > 0) await sleep(10);
  await other.end();
});

test('a process that never rests lets others in between its transactions', async (t) => {
  const file = filled(t);
  lib.open(file).exec('CREATE TABLE flag(a)').close();
  const other = new Peer(t);
  await other.run(open(file));
  // Ends when it sees the row; with nobody let in, after a million transactions.
  const loop = other.run(`(() => {
    lib.capi.sqlite3_busy_timeout(v.db, 20000);
    v.db.exec('PRAGMA synchronous = off');
    let n = 0;
    while (n < 1e6 && v.db.selectValue('SELECT count(*) FROM flag') === 0) { v.db.exec('UPDATE t SET b = 1 WHERE id = 1'); n++; }
    return n;
  })()`);
  while (lockFiles(file).length === 0) await sleep(1);
  assert.equal(tryExec(file, 'INSERT INTO flag VALUES (1)', 60_000), 0);
  assert.ok((await loop) < 1e6);
  await other.end();
});

test('in WAL mode the first process keeps the database until its connection closes', async (t) => {
  const file = filled(t);
  lib.open(file).exec('PRAGMA journal_mode = wal').close();
  const other = new Peer(t);
  await other.run(open(file));
  assert.equal(await other.run(exec('INSERT INTO t VALUES (1000, 1)')), 0);
  await sleep(100);
  assert.equal(tryExec(file, 'SELECT * FROM t'), capi.SQLITE_BUSY);
  await other.run('void v.db.close()');
  assert.equal(tryExec(file, 'SELECT * FROM t'), 0);
  await other.end();
});

test('the lock file goes when the process exits with open connections', async (t) => {
  const file = filled(t);
  const other = new Peer(t);
  await other.run(open(file));
  await other.run(exec('BEGIN IMMEDIATE'));
  assert.deepEqual(lockFiles(file), ['test.db-lock']);
  await other.end();
  assert.deepEqual(lockFiles(file), []);
});

for (const mode of ['delete', 'truncate', 'persist', 'wal']) {
  test(`C56: a process killed in mid-transaction (${mode}): the next one recovers its lock and its journal`, async (t) => {
    const file = filled(t);
    const sum = "SELECT count(*) || '/' || total(length(b)) || hex(max(b)) FROM t";
    const first = lib.open(file);
    const before = first.selectValue(sum);
    first.close();
    const other = new Peer(t);
    await other.run(open(file));
    await other.run(exec(`PRAGMA journal_mode = ${mode}; PRAGMA cache_size = 5`));
    assert.equal(await other.run(exec('BEGIN; DELETE FROM t WHERE id > 400; UPDATE t SET b = randomblob(999)')), 0);
    await other.kill();
    assert.deepEqual(lockFiles(file), ['test.db-lock']);
    const db = lib.open(file);
    assert.equal(db.selectValue(sum), before);
    assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
    db.close();
    assert.deepEqual(lockFiles(file), []);
  });
}

test('many processes count together through stale locks and kills: no update is lost', async (t) => {
  const file = filled(t);
  lib.open(file).exec('CREATE TABLE n(a); INSERT INTO n VALUES (0)').close();
  const count = async (/** @type {Peer} */ peer, /** @type {number} */ times) => {
    await peer.run(open(file));
    return peer.run(`(async () => {
      lib.capi.sqlite3_busy_timeout(v.db, 60000);
      v.db.exec('PRAGMA synchronous = off');
      for (let i = 0; i < ${times}; i++) {
        v.db.exec('BEGIN IMMEDIATE; UPDATE n SET a = a + 1; COMMIT');
        if (i % 10 === 0) await new Promise((r) => setTimeout(r, 1));
      }
      return ${times};
    })()`);
  };
  for (let round = 0; round < 2; round++) {
    // One that dies with the lock, then three that find the corpse at once.
    const victim = new Peer(t);
    await victim.run(open(file));
    await victim.run(exec('BEGIN IMMEDIATE; UPDATE n SET a = -1'));
    const peers = [new Peer(t), new Peer(t), new Peer(t)];
    await Promise.all(peers.map((peer) => peer.run('1')));
    await victim.kill();
    const done = await Promise.all(peers.map((peer) => count(peer, 40)));
    assert.deepEqual(done, [40, 40, 40]);
    await Promise.all(peers.map((peer) => peer.end()));
  }
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT a FROM n'), 240);
  db.close();
  assert.deepEqual(lockFiles(file), []);
  assert.deepEqual(
    fs.readdirSync(path.dirname(file)).filter((name) => name.startsWith('.')),
    [],
  );
});

// --- Threads and modules of one process ---

const workerCode = `
  import { parentPort, workerData } from 'node:worker_threads';
  const { makeSqlite } = await import(workerData.harness);
  const lib = await makeSqlite();
  const db = lib.open(workerData.file);
  db.exec('PRAGMA cache_size = 5; BEGIN IMMEDIATE; UPDATE t SET b = 1');
  parentPort.postMessage('locked');
  setInterval(() => {}, 1000);
`;

test('a worker thread is another owner; terminated in mid-transaction, it is recovered', async (t) => {
  const file = filled(t);
  const harness = new URL('node-host-harness.mjs', import.meta.url).href;
  const url = new URL(`data:text/javascript,${encodeURIComponent(workerCode)}`);
  const worker = new Worker(url, { workerData: { file, harness } });
  t.after(() => worker.terminate());
  await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject));
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), capi.SQLITE_BUSY);
  await worker.terminate();
  if (!linux) return; // elsewhere a thread can't be told from its process: that takes the lease
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT count(*) FROM t WHERE length(b) = 1000'), 500);
  assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
  db.close();
});

test('two modules in one thread: an idle one gives way at once, a busy one excludes', async (t) => {
  const file = filled(t);
  const second = await makeSqlite();
  const a = lib.open(file);
  const b = second.open(file);
  for (let i = 0; i < 3; i++) {
    a.exec('UPDATE t SET b = 1 WHERE id = 1');
    b.exec('UPDATE t SET b = 2 WHERE id = 1');
    assert.equal(a.selectValue('SELECT b FROM t WHERE id = 1'), 2);
  }
  a.exec('BEGIN IMMEDIATE');
  assert.equal(
    second.code(() => b.exec('DELETE FROM t')),
    capi.SQLITE_BUSY,
  );
  a.exec('COMMIT');
  b.exec('DELETE FROM t WHERE id = 1');
  a.close();
  b.close();
  assert.deepEqual(lockFiles(file), []);
});

test('LOCK_TIMEOUT waits for the other process inside the lock call', async (t) => {
  const file = filled(t);
  const other = new Peer(t);
  await other.run(open(file));
  await other.run(exec('BEGIN IMMEDIATE'));
  const db = lib.open(file);
  const commit = other.run(`new Promise((r) => setTimeout(r, 200)).then(() => ${exec('COMMIT')})`);
  lib.control(db, capi.SQLITE_FCNTL_LOCK_TIMEOUT, 20_000);
  db.exec('DELETE FROM t WHERE id = 1');
  assert.equal(await commit, 0);
  db.close();
  await other.end();
});

// --- Who is dead ---

const line = (/** @type {Partial<import('../../js/node-lock.js').Owner>} */ owner) => {
  const { pid, tid, start, space, token } = { ...ownIdentity(), token: '0123456789abcdef', ...owner };
  return `sqlite3mc-lock 1 ${pid} ${tid} ${start} ${space} ${token}\n`;
};

/** What this thread writes into its lock files. */
function ownIdentity() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'node-host-'));
  const host = createNodeHost();
  const file = path.join(directory, 'x');
  const fd = host.open(file, 3, null);
  host.identity(fd, file, new Uint8Array(16), 0);
  const lock = host.lockOpen(fd);
  assert.equal(host.lockTake(lock), 0);
  const [, , pid, tid, start, space, token] = fs.readFileSync(`${file}-lock`, 'latin1').trim().split(' ');
  host.lockClose(lock);
  host.close(fd);
  fs.rmSync(directory, { recursive: true });
  return { pid: Number(pid), tid: Number(tid), start, space, token };
}

/** @type {[string, () => string, Date | null, boolean][]} */
const corpses = [
  ['a process id that nobody has', () => line({ pid: 2 ** 22 + 1, tid: 2 ** 22 + 1 }), null, true],
  ['a recycled process id: the process is younger than the lock', () => line({ start: linux ? '1' : '0' }), null, linux],
  ['a thread that has ended in a process that lives', () => line({ tid: 2 ** 22 + 1 }), null, linux],
  ['the same process, alive', () => line({}), null, false],
  ['another machine or container, alive a moment ago', () => line({ space: 'linux:elsewhere:1' }), null, false],
  ['another machine, last sign of life before this one was started', () => line({ space: 'linux:elsewhere:1' }), new Date(0), true],
  ['an empty file, just made', () => '', null, false],
  ['an empty file from before the machine was started', () => '', new Date(0), true],
  ['half a line, just written', () => line({}).slice(0, 30), null, false],
  ['something else, from long ago', () => 'hello\n', new Date(0), true],
];
for (const [name, content, time, dead] of corpses) {
  test(`a lock file of ${name}: ${dead ? 'recovered' : 'BUSY, and left alone'}`, (t) => {
    const file = filled(t);
    fs.writeFileSync(`${file}-lock`, content());
    if (time) fs.utimesSync(`${file}-lock`, time, time);
    assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), dead ? 0 : capi.SQLITE_BUSY);
    assert.equal(fs.existsSync(`${file}-lock`), !dead);
    if (!dead) assert.ok(fs.readFileSync(`${file}-lock`, 'latin1').startsWith(content()));
  });
}

test('a zombie is dead', { skip: !linux && 'needs /proc' }, async (t) => {
  const file = filled(t);
  // sh does not wait for its child, so that stays a zombie as long as sh lives.
  const shell = new Peer(t, { command: ['sh', '-c', '"$@" & echo $! >"$0.pid"; exec sleep 600', file] });
  while (!fs.existsSync(`${file}.pid`) || !fs.readFileSync(`${file}.pid`, 'latin1').trim()) await sleep(5);
  const pid = Number(fs.readFileSync(`${file}.pid`, 'latin1'));
  const { space } = ownIdentity();
  const stat = () => fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '').split(' ');
  process.kill(pid, 'SIGKILL');
  while (stat()[0] !== 'Z') await sleep(5);
  fs.writeFileSync(`${file}-lock`, line({ pid, tid: pid, start: stat()[19], space }));
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), 0);
  await shell.kill();
});

test('an owner elsewhere without a sign of life is watched, then replaced; with one, it is left', (t) => {
  const file = filled(t);
  fs.writeFileSync(`${file}-lock`, line({ space: 'linux:elsewhere:1' }));
  const past = (/** @type {number} */ ms) => fs.utimesSync(`${file}-lock`, new Date(), new Date(Date.now() - ms));
  const uptime = () => 1e6;
  /** @type {number[]} */
  let slept = [];
  const watcher = strangers({ os: { hostname: os.hostname, uptime }, sleep: (/** @type {number} */ ms) => slept.push(ms) });
  const handle = watcher.open(file);

  past(20_000);
  assert.equal(watcher.take(handle), false);
  assert.deepEqual(slept, []);

  past(40_000);
  assert.equal(watcher.take(handle), true);
  assert.equal(slept.reduce((a, b) => a + b), 3000);
  watcher.close(handle);

  slept = [];
  fs.writeFileSync(`${file}-lock`, line({ space: 'linux:elsewhere:1' }));
  past(40_000);
  const beaten = strangers({
    os: { hostname: os.hostname, uptime },
    sleep: (/** @type {number} */ ms) => slept.push(ms) === 20 && past(0),
  });
  assert.equal(beaten.take(beaten.open(file)), false);
  assert.equal(slept.length, 20);
  fs.unlinkSync(`${file}-lock`);
});

test('a lock file that may not be read is judged by its time', (t) => {
  const file = filled(t);
  fs.writeFileSync(`${file}-lock`, line({}));
  const denied = strangers({
    fs: {
      ...fs,
      openSync(/** @type {string} */ name, /** @type {any} */ flags, /** @type {any} */ mode) {
        if (flags !== 'wx') throw Object.assign(new Error(), { code: 'EACCES' });
        return fs.openSync(name, flags, mode);
      },
    },
  });
  const handle = denied.open(file);
  assert.equal(denied.take(handle), false);
  fs.utimesSync(`${file}-lock`, 0, 0);
  assert.equal(denied.take(handle), true);
  denied.close(handle);
});

test('a lock path that is a link, a pipe or a directory is nobody to follow, wait for or write to', (t) => {
  const file = filled(t);
  const target = `${file}-target`;
  fs.writeFileSync(target, 'precious');
  const plant = [
    () => fs.symlinkSync(target, `${file}-lock`),
    () => fs.mkdirSync(`${file}-lock`),
    () => spawnSync('mkfifo', [`${file}-lock`]),
  ];
  for (const make of plant) {
    make();
    assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), capi.SQLITE_BUSY);
    assert.ok(fs.lstatSync(`${file}-lock`));
    fs.rmSync(`${file}-lock`, { recursive: true });
  }
  assert.equal(fs.readFileSync(target, 'latin1'), 'precious');
});

test('with /proc hidden (hidepid), a process of another user counts as alive', (t) => {
  const file = filled(t);
  fs.writeFileSync(`${file}-lock`, line({ pid: 999, tid: 999 }));
  const signal = (/** @type {string} */ code) => ({
    platform: 'linux',
    process: {
      pid: process.pid,
      kill() {
        if (code) throw Object.assign(new Error(), { code });
      },
    },
    fs: {
      ...fs,
      readFileSync(/** @type {string} */ name, /** @type {any} */ encoding) {
        if (name.startsWith('/proc/999/')) throw Object.assign(new Error(), { code: 'ENOENT' });
        return fs.readFileSync(name, encoding);
      },
    },
  });
  const other = strangers(signal('EPERM'));
  assert.equal(other.take(other.open(file)), false);
  const gone = strangers(signal('ESRCH'));
  const handle = gone.open(file);
  assert.equal(gone.take(handle), linux);
  if (linux) gone.close(handle);
});

test('without /proc, a process that exists is alive as long as its lease, one that does not is dead', (t) => {
  const file = filled(t);
  const first = strangers({ platform: 'darwin' });
  const handle = first.open(file);
  assert.equal(first.take(handle), true);
  const text = fs.readFileSync(`${file}-lock`, 'latin1');
  assert.match(text, new RegExp(`^sqlite3mc-lock 1 ${process.pid} 0 \\d+ darwin-host:\\S+ [0-9a-f]{16}\\n$`));
  first.close(handle);

  fs.writeFileSync(`${file}-lock`, text);
  const second = strangers({ platform: 'darwin', sleep() {} });
  const again = second.open(file);
  assert.equal(second.take(again), false);
  const dead = strangers({
    platform: 'darwin',
    process: {
      pid: 1,
      kill() {
        throw Object.assign(new Error(), { code: 'ESRCH' });
      },
    },
  });
  const third = dead.open(file);
  assert.equal(dead.take(third), true);
  dead.close(third);
});

test('on Windows a file that is being deleted is waited for, a directory that may not be changed is not', (t) => {
  const file = filled(t);
  let denials = 3;
  const windows = strangers({
    platform: 'win32',
    sleep() {},
    fs: {
      ...fs,
      openSync(/** @type {string} */ name, /** @type {any} */ flags, /** @type {any} */ mode) {
        if (flags === 'wx' && denials-- > 0) throw Object.assign(new Error(), { code: 'EPERM' });
        return fs.openSync(name, flags, mode);
      },
    },
  });
  const handle = windows.open(file);
  assert.equal(windows.take(handle), true);
  windows.close(handle);
  denials = Infinity;
  assert.throws(() => windows.take(windows.open(file)), { code: 'EPERM' });
});

test('on a full disk the lock is held by an empty file', async (t) => {
  const file = filled(t);
  const full = await makeSqlite(
    createNodeHost({
      fs: {
        writeSync(...args) {
          if (typeof args[1] === 'string') throw Object.assign(new Error(), { code: 'ENOSPC' });
          return /** @type {any} */ (fs.writeSync)(...args);
        },
      },
    }),
  );
  const db = full.open(file);
  db.exec('BEGIN IMMEDIATE');
  assert.equal(fs.statSync(`${file}-lock`).size, 0);
  assert.equal(tryExec(file, 'SELECT * FROM t'), capi.SQLITE_BUSY);
  db.exec('COMMIT');
  db.close();
  assert.deepEqual(lockFiles(file), []);
});

// --- Recovery by several at once ---

test('two contenders that found the same dead owner: the slower one does not remove the new lock', (t) => {
  const file = filled(t);
  const corpse = () => fs.writeFileSync(`${file}-lock`, line({ pid: 2 ** 22 + 1, tid: 2 ** 22 + 1 }));
  // Let the fast one do all of its work before each call of the slow one, one call after the other.
  for (let n = 1; ; n++) {
    corpse();
    let calls = 0;
    const fast = strangers({ platform: 'linux' });
    const fastHandle = fast.open(file);
    let fastHas = false;
    let slowIsTaking = true;
    /** @type {any} */
    const slowFs = { ...fs };
    for (const name of /** @type {const} */ (['openSync', 'readSync', 'fstatSync', 'unlinkSync', 'readFileSync', 'statSync'])) {
      slowFs[name] = (/** @type {any[]} */ ...args) => {
        if (slowIsTaking && ++calls === n) fastHas = fast.take(fastHandle);
        return /** @type {any} */ (fs)[name](...args);
      };
    }
    const slow = strangers({ platform: 'linux', fs: slowFs });
    // Not siblings: as if in another process.
    const map = /** @type {any} */ (globalThis)[Symbol.for('sqlite3mc-wasm.lock-files')];
    const get = map.get;
    map.get = () => undefined;
    const slowHandle = slow.open(file);
    const slowHas = slow.take(slowHandle);
    slowIsTaking = false;
    map.get = get;
    assert.equal(Number(fastHas) + Number(slowHas), 1, `owners, call ${n}`);
    assert.equal(fs.existsSync(`${file}-lock`), true);
    fast.close(fastHandle);
    slow.close(slowHandle);
    assert.deepEqual(lockFiles(file), [], `call ${n}`);
    assert.deepEqual(
      fs.readdirSync(path.dirname(file)).filter((name) => name.startsWith('.')),
      [],
    );
    if (calls < n) {
      assert.ok(n > 10);
      break;
    }
  }
});

test('a contender that died while it recovered a lock is recovered in turn', (t) => {
  const file = filled(t);
  const dead = { pid: 2 ** 22 + 1, tid: 2 ** 22 + 1 };
  fs.writeFileSync(`${file}-lock`, line(dead));
  const guard = path.join(path.dirname(file), '.sqlite3mc-lock-');
  fs.writeFileSync(`${guard}0123456789abcdef`, line({ ...dead, token: 'aaaaaaaaaaaaaaaa' }));
  fs.writeFileSync(`${guard}aaaaaaaaaaaaaaaa`, line({ ...dead, token: 'bbbbbbbbbbbbbbbb' }));
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), 0);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['test.db']);

  // While it lives, the lock is its own.
  fs.writeFileSync(`${file}-lock`, line(dead));
  fs.writeFileSync(`${guard}0123456789abcdef`, line({ token: 'cccccccccccccccc' }));
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 1'), capi.SQLITE_BUSY);
});

// --- Losing and keeping it ---

test('an owner gives a sign of life each second', async (t) => {
  const file = filled(t);
  const db = lib.open(file);
  db.exec('BEGIN IMMEDIATE');
  fs.utimesSync(`${file}-lock`, 0, 0);
  while (fs.statSync(`${file}-lock`).mtimeMs === 0) await sleep(10);
  // Without the event loop, between two writes.
  fs.utimesSync(`${file}-lock`, 0, 0);
  blockFor(1500);
  db.exec('PRAGMA cache_size = 2; UPDATE t SET b = randomblob(1000)');
  assert.notEqual(fs.statSync(`${file}-lock`).mtimeMs, 0);
  db.exec('ROLLBACK');
  db.close();
});

for (const mode of ['delete', 'wal']) {
  test(`an owner whose lock was taken away in use (${mode}) fails instead of writing`, (t) => {
    const file = filled(t);
    const elsewhere = filled(t);
    lib.open(file).exec(`PRAGMA journal_mode = ${mode}`).close();
    const db = lib.open(file);
    const other = lib.open(elsewhere);
    db.exec('BEGIN IMMEDIATE; UPDATE t SET b = 1 WHERE id = 1');
    fs.renameSync(`${file}-lock`, `${file}-away`);
    fs.writeFileSync(`${file}-lock`, line({ space: 'linux:elsewhere:1' }));
    const before = fs.readFileSync(file);
    blockFor(1100);
    assert.equal(lib.code(() => db.exec('UPDATE t SET b = 2; COMMIT')) & 0xff, capi.SQLITE_IOERR);
    other.exec('DELETE FROM t WHERE id = 1');
    // With a rollback journal every lock is gone now, and it is an ordinary contender. In WAL mode it
    // would go on with its wal-index, so it has to close first.
    const next = lib.code(() => db.exec('SELECT * FROM t'));
    assert.equal(next & 0xff, mode === 'wal' ? capi.SQLITE_IOERR : capi.SQLITE_BUSY);
    db.close();
    other.close();
    assert.deepEqual(fs.readFileSync(file), before);
    assert.ok(fs.readFileSync(`${file}-lock`, 'latin1').includes('elsewhere'), 'the other lock is left');
    fs.unlinkSync(`${file}-lock`);
    const again = lib.open(file);
    assert.equal(again.selectValue('SELECT count(*) FROM t WHERE length(b) = 1000'), 500);
    again.close();
  });
}

test('to close does not remove a lock file that is another\'s', (t) => {
  const file = filled(t);
  const db = lib.open(file);
  db.exec('BEGIN IMMEDIATE');
  fs.renameSync(`${file}-lock`, `${file}-away`);
  fs.writeFileSync(`${file}-lock`, line({ space: 'linux:elsewhere:1' }));
  db.close();
  assert.ok(fs.readFileSync(`${file}-lock`, 'latin1').includes('elsewhere'));
});

test('a lock that is taken away while it is idle is simply taken again later', (t) => {
  const file = filled(t);
  const db = lib.open(file);
  db.exec('UPDATE t SET b = 1 WHERE id = 1');
  fs.unlinkSync(`${file}-lock`);
  blockFor(1100);
  db.exec('UPDATE t SET b = 2 WHERE id = 1');
  db.close();
  assert.deepEqual(lockFiles(file), []);
});

test('a lock file that could not be removed is no obstacle for the same thread', async (t) => {
  const file = filled(t);
  let broken = true;
  const host = createNodeHost({
    fs: {
      unlinkSync(name) {
        if (broken && String(name).endsWith('-lock')) throw Object.assign(new Error(), { code: 'EIO' });
        fs.unlinkSync(name);
      },
    },
  });
  const first = await makeSqlite(host);
  first.open(file).exec('DELETE FROM t WHERE id = 1').close();
  assert.deepEqual(lockFiles(file), ['test.db-lock']);
  broken = false;
  first.open(file).exec('DELETE FROM t WHERE id = 2').close();
  assert.deepEqual(lockFiles(file), []);
  broken = true;
  first.open(file).exec('DELETE FROM t WHERE id = 3').close();
  broken = false;
  assert.equal(tryExec(file, 'DELETE FROM t WHERE id = 4'), 0);
  assert.deepEqual(lockFiles(file), []);
});

// --- Where no lock file can be made ---

/** @param {string} directory @param {string} code */
function readOnlyHost(directory, code) {
  const deny = () => {
    throw Object.assign(new Error(), { code });
  };
  const inside = (/** @type {any} */ name) => path.dirname(String(name)) === directory;
  return createNodeHost({
    fs: {
      openSync(name, flags, mode) {
        const creates = typeof flags === 'string' ? flags.startsWith('w') : Number(flags) & fs.constants.O_CREAT;
        const writes = code === 'EROFS' && typeof flags === 'number' && flags & fs.constants.O_RDWR;
        if (inside(name) && (writes || (creates && !fs.existsSync(name)))) deny();
        return fs.openSync(name, flags, mode);
      },
      unlinkSync: (name) => (inside(name) ? deny() : fs.unlinkSync(name)),
    },
  });
}

for (const code of ['EACCES', 'EROFS', 'EPERM']) {
  test(`C56: a directory that may not be changed (${code}): reading works, writing is an error, a new file CANTOPEN`, async (t) => {
    const file = filled(t);
    const reader = await makeSqlite(readOnlyHost(path.dirname(file), code));
    const db = reader.open(file);
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    assert.equal(reader.code(() => db.exec('DELETE FROM t')) & 0xff, capi.SQLITE_READONLY);
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    assert.equal(
      reader.code(() => reader.open(`${file}-new`)),
      capi.SQLITE_CANTOPEN,
    );
    db.exec('PRAGMA journal_mode = memory');
    assert.equal(reader.code(() => db.exec('DELETE FROM t')) & 0xff, capi.SQLITE_READONLY, 'without a journal too');
    // Who may make the lock file excludes it all the same; the file of a dead owner does not.
    const owner = lib.open(file);
    owner.exec('BEGIN IMMEDIATE');
    assert.equal(
      reader.code(() => db.selectValue('SELECT count(*) FROM t')),
      capi.SQLITE_BUSY,
    );
    owner.exec('COMMIT');
    owner.close();
    fs.writeFileSync(`${file}-lock`, line({ pid: 2 ** 22 + 1, tid: 2 ** 22 + 1 }));
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    db.close();
  });

  test(`C56: a WAL in a directory that may not be changed (${code}) is read, and not written`, async (t) => {
    const file = filled(t);
    const db = lib.open(file);
    db.exec('PRAGMA journal_mode = wal; DELETE FROM t WHERE id = 1');
    const copy = path.join(temporaryDirectory(t), 'copy.db');
    for (const suffix of ['', '-wal']) fs.copyFileSync(file + suffix, copy + suffix);
    db.close();
    const reader = await makeSqlite(readOnlyHost(path.dirname(copy), code));
    const before = ['', '-wal'].map((suffix) => fs.readFileSync(copy + suffix));
    const other = reader.open(copy);
    assert.equal(other.selectValue('SELECT count(*) FROM t'), 499);
    assert.equal(reader.code(() => other.exec('DELETE FROM t')) & 0xff, capi.SQLITE_READONLY);
    assert.equal(reader.code(() => other.exec('PRAGMA wal_checkpoint')) & 0xff, capi.SQLITE_READONLY);
    other.close();
    assert.deepEqual(
      ['', '-wal'].map((suffix) => fs.readFileSync(copy + suffix)),
      before,
    );
  });
}

test('C56: the same without privileges, on a real read-only directory', async (t) => {
  const file = filled(t);
  const directory = path.dirname(file);
  const other = new Peer(t);
  await other.run('1');
  fs.chmodSync(directory, 0o555);
  if (process.geteuid?.() === 0) await other.run('(process.setegid(65534), process.seteuid(65534))');
  await other.run(open(file));
  assert.equal(await other.run(`v.db.selectValue('SELECT count(*) FROM t')`), 500);
  assert.equal((await other.run(exec('DELETE FROM t'))) & 0xff, capi.SQLITE_READONLY);
  assert.equal(await other.run(`lib.code(() => lib.open(${JSON.stringify(`${file}-new`)}))`), capi.SQLITE_CANTOPEN);
  await other.end();
  fs.chmodSync(directory, 0o755);
});

test('immutable=1 makes no lock file', (t) => {
  const file = filled(t);
  const db = lib.open(`file:${file}?immutable=1`, 'r');
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  assert.deepEqual(lockFiles(file), []);
  db.close();
});
