/** The VFS "node" with one module: what it does with files. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { createNodeHost } from '../../js/node-host.js';
import { makeSqlite, makeUnregistered, temporaryDirectory } from './node-host-harness.mjs';

const lib = await makeSqlite();
const { capi, wasm } = lib;

const FILL = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);
  WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 500)
    INSERT INTO t SELECT i, randomblob(1000) FROM c`;

/** @param {import('node:test').TestContext} t */
const newFile = (t) => path.join(temporaryDirectory(t), 'test.db');

/** @param {string} file */
function assertSound(file, rows = 500) {
  const db = lib.open(file);
  try {
    assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
    assert.equal(db.selectValue('SELECT count(*) FROM t'), rows);
  } finally {
    db.close();
  }
}

/** The files beside each other that a copy of a database in use consists of. */
function copyAll(/** @type {string} */ from, /** @type {string} */ to) {
  for (const suffix of ['', '-journal', '-wal']) {
    if (fs.existsSync(from + suffix)) fs.copyFileSync(from + suffix, to + suffix);
  }
}

test('without Module.mcHost, as in a browser, registering fails and the module lives on', async () => {
  const bare = await makeUnregistered();
  assert.equal(bare.wasm.exports.sqlite3mc_node_vfs_register(1), capi.SQLITE_NOTFOUND);
  assert.equal(bare.capi.sqlite3_vfs_find('node'), 0);
  const db = new bare.sqlite3.oo1.DB(':memory:');
  assert.equal(db.selectValue('SELECT 6 * 7'), 42);
  db.close();
});

test('when Module.mcHost is taken away later, every call is an error', async (t) => {
  const file = newFile(t);
  const host = createNodeHost();
  const gone = await makeSqlite(host);
  const db = gone.open(file);
  db.exec(FILL);
  gone.core.mcHost = undefined;
  assert.equal(gone.code(() => gone.open(file)) & 0xff, capi.SQLITE_CANTOPEN);
  assert.equal(gone.code(() => db.exec('DELETE FROM t')) & 0xff, capi.SQLITE_IOERR);
  gone.core.mcHost = host;
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  db.close();
});

test('a database is made, closed and read again, and no side file is left', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec(FILL);
  db.close();
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['test.db']);
  assertSound(file);
});

test('a missing database: CANTOPEN', (t) => {
  const file = newFile(t);
  assert.equal(lib.code(() => lib.open(file, 'w')), capi.SQLITE_CANTOPEN);
  assert.equal(lib.code(() => lib.open(path.join(file, 'no', 'directory.db'))), capi.SQLITE_CANTOPEN);
  assert.equal(fs.existsSync(file), false);
});

test('a directory is no database: CANTOPEN', (t) => {
  const directory = temporaryDirectory(t);
  assert.equal(lib.code(() => lib.open(directory)) & 0xff, capi.SQLITE_CANTOPEN);
  assert.equal(lib.code(() => lib.open(directory, 'r')), capi.SQLITE_CANTOPEN_ISDIR);
});

test('a hot journal is played back', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec(FILL);
  db.exec('PRAGMA cache_size = 5; BEGIN; UPDATE t SET b = randomblob(1000)');
  const copy = `${file}-copy.db`;
  copyAll(file, copy);
  db.close();
  assert.ok(fs.statSync(`${copy}-journal`).size > 0);

  const other = lib.open(copy);
  assert.equal(other.selectValue('PRAGMA integrity_check'), 'ok');
  assert.equal(fs.existsSync(`${copy}-journal`), false);
  const sum = 'SELECT count(*) || hex(min(b)) || hex(max(b)) FROM t';
  const original = lib.open(file);
  assert.equal(other.selectValue(sum), original.selectValue(sum));
  original.close();
  other.close();
});

for (const flags of ['r', 'c']) {
  test(`a hot journal and a file that may only be read (opened "${flags}"): READONLY_ROLLBACK, nothing changed`, async (t) => {
    const file = newFile(t);
    const db = lib.open(file);
    db.exec(FILL);
    db.exec('PRAGMA cache_size = 5; BEGIN; UPDATE t SET b = zeroblob(1000)');
    const copy = `${file}-copy.db`;
    copyAll(file, copy);
    db.close();

    const { openSync } = fs;
    const readOnly = createNodeHost({
      fs: {
        openSync(name, flags, mode) {
          if (name === copy && typeof flags === 'number' && flags & fs.constants.O_RDWR) throw systemError('EACCES');
          return openSync(name, flags, mode);
        },
      },
    });
    const reader = await makeSqlite(readOnly);
    const before = fs.readFileSync(copy);
    const other = reader.open(copy, flags);
    assert.equal(
      reader.code(() => other.selectValue('SELECT count(*) FROM t')),
      capi.SQLITE_READONLY_ROLLBACK,
    );
    other.close();
    assert.deepEqual(fs.readFileSync(copy), before);
    assert.ok(fs.existsSync(`${copy}-journal`));
    assertSound(copy);
  });
}

test('two connections in WAL mode: a reader keeps its snapshot, a second writer is BUSY', (t) => {
  const file = newFile(t);
  const a = lib.open(file);
  a.exec(FILL);
  assert.equal(a.selectValue('PRAGMA journal_mode = wal'), 'wal');
  const b = lib.open(file);
  b.exec('BEGIN');
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 500);
  a.exec('DELETE FROM t WHERE id > 100');
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 500);
  assert.equal(a.selectValue('SELECT count(*) FROM t'), 100);
  a.exec('BEGIN IMMEDIATE');
  b.exec('COMMIT');
  assert.equal(
    lib.code(() => b.exec('DELETE FROM t')),
    capi.SQLITE_BUSY,
  );
  a.exec('COMMIT');
  b.exec('DELETE FROM t WHERE id > 50');
  assert.equal(a.selectValue('SELECT count(*) FROM t'), 50);
  assert.deepEqual(fs.readdirSync(path.dirname(file)).sort(), ['test.db', 'test.db-lock', 'test.db-wal']);
  a.close();
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 50);
  b.close();
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['test.db']);
  assertSound(file, 50);
});

test('a WAL of many frames (several wal-index regions) is checkpointed and read', (t) => {
  const file = newFile(t);
  const a = lib.open(file);
  a.exec('PRAGMA page_size = 512; PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = off');
  a.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)');
  a.exec('WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 12000) INSERT INTO t SELECT i, zeroblob(400) FROM c');
  assert.ok(fs.statSync(`${file}-wal`).size > 9000 * 536);
  const b = lib.open(file);
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 12000);
  assert.deepEqual(a.selectArray('PRAGMA wal_checkpoint(truncate)'), [0, 0, 0]);
  assert.equal(b.selectValue('PRAGMA integrity_check'), 'ok');
  b.close();
  a.close();
  assertSound(file, 12000);
});

test('a WAL that was left behind is read without locking_mode, and committed rows appear', (t) => {
  const file = newFile(t);
  const a = lib.open(file);
  a.exec('PRAGMA journal_mode = wal');
  a.exec(FILL);
  const copy = `${file}-copy.db`;
  copyAll(file, copy);
  a.close();
  const b = lib.open(copy);
  assert.equal(b.selectValue('PRAGMA journal_mode'), 'wal');
  b.close();
  assertSound(copy);
});

test('the memory of the wal-index is freed when its last connection closes', (t) => {
  const file = newFile(t);
  const round = () => {
    const a = lib.open(file);
    const b = lib.open(file);
    a.exec('PRAGMA journal_mode = wal; CREATE TABLE IF NOT EXISTS t(a)');
    for (let i = 0; i < 20; i++) a.exec('INSERT INTO t VALUES (randomblob(5000))');
    b.selectValue('SELECT count(*) FROM t');
    a.close();
    b.close();
    return wasm.exports.sqlite3_memory_used();
  };
  round();
  const used = round();
  assert.equal(round(), used);
  assert.equal(round(), used);
});

test('WAL with locking_mode=exclusive uses no shared wal-index', (t) => {
  const file = newFile(t);
  const a = lib.open(file);
  a.exec('PRAGMA locking_mode = exclusive; PRAGMA journal_mode = wal');
  a.exec(FILL);
  const b = lib.open(file);
  assert.equal(
    lib.code(() => b.selectValue('SELECT 1 FROM t')),
    capi.SQLITE_BUSY,
  );
  a.close();
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 500);
  b.close();
});

test('rollback journal, two connections: shared readers, one writer, BUSY in between', (t) => {
  const file = newFile(t);
  const a = lib.open(file);
  const b = lib.open(file);
  a.exec(FILL);
  a.exec('BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1');
  assert.equal(lib.control(a, capi.SQLITE_FCNTL_LOCKSTATE).value, capi.SQLITE_LOCK_RESERVED);
  assert.equal(
    lib.code(() => b.exec('BEGIN IMMEDIATE')),
    capi.SQLITE_BUSY,
  );
  b.exec('BEGIN');
  assert.equal(b.selectValue('SELECT count(*) FROM t'), 500);
  assert.equal(
    lib.code(() => a.exec('COMMIT')),
    capi.SQLITE_BUSY,
    'a reader is there',
  );
  assert.equal(lib.control(a, capi.SQLITE_FCNTL_LOCKSTATE).value, capi.SQLITE_LOCK_PENDING);
  const c = lib.open(file);
  assert.equal(
    lib.code(() => c.selectValue('SELECT count(*) FROM t')),
    capi.SQLITE_BUSY,
    'no new reader while a writer waits',
  );
  b.exec('COMMIT');
  a.exec('COMMIT');
  assert.equal(c.selectValue('SELECT count(*) FROM t'), 499);
  for (const db of [a, b, c]) db.close();
});

test('two paths to one file share its locks', (t) => {
  const file = newFile(t);
  const hard = path.join(path.dirname(file), 'hard.db');
  const soft = path.join(path.dirname(file), 'soft.db');
  const a = lib.open(file);
  a.exec(FILL);
  fs.linkSync(file, hard);
  fs.symlinkSync(file, soft);
  a.exec('BEGIN IMMEDIATE');
  for (const name of [hard, soft]) {
    const b = lib.open(name);
    assert.equal(
      lib.code(() => b.exec('BEGIN IMMEDIATE')),
      capi.SQLITE_BUSY,
      name,
    );
    b.close();
  }
  a.exec('COMMIT');
  a.close();
});

test('symbolic links are resolved: the journal lies beside the real file', (t) => {
  const directory = temporaryDirectory(t);
  fs.mkdirSync(path.join(directory, 'real', 'deep'), { recursive: true });
  fs.mkdirSync(path.join(directory, 'links'));
  fs.symlinkSync('../real/deep', path.join(directory, 'links', 'to-deep'));
  fs.symlinkSync('deep/../there.db', path.join(directory, 'real', 'chain.db'));
  fs.symlinkSync('../real/chain.db', path.join(directory, 'links', 'a.db'));
  // A dangling link: the file is made where it points to.
  const db = lib.open(path.join(directory, 'links', 'a.db'));
  db.exec('CREATE TABLE t(a); BEGIN; INSERT INTO t VALUES (1)');
  assert.deepEqual(fs.readdirSync(path.join(directory, 'real')).sort(), [
    'chain.db',
    'deep',
    'there.db',
    'there.db-journal',
    'there.db-lock',
  ]);
  db.exec('COMMIT');
  db.close();
  // `..` after a link means the parent of its target.
  const again = lib.open(path.join(directory, 'links') + '/to-deep/../there.db', 'w');
  assert.equal(again.selectValue('SELECT a FROM t'), 1);
  again.close();
});

test('SQLITE_OPEN_NOFOLLOW refuses a path with a link, and a loop of links ends', (t) => {
  const file = newFile(t);
  lib.open(file).close();
  const link = `${file}-link`;
  fs.symlinkSync(file, link);
  fs.symlinkSync(`${file}-loop`, `${file}-loop`);
  const open = (/** @type {string} */ name, /** @type {number} */ flags) => {
    const pp = wasm.alloc(8);
    const rc = capi.sqlite3_open_v2(name, pp, flags, 'node');
    const pDb = wasm.peekPtr(pp);
    const extended = capi.sqlite3_extended_errcode(pDb);
    capi.sqlite3_close_v2(pDb);
    wasm.dealloc(pp);
    return rc && extended;
  };
  const flags = capi.SQLITE_OPEN_READWRITE | 0x01000000; // SQLITE_OPEN_NOFOLLOW
  assert.equal(open(file, flags), 0);
  assert.equal(open(link, flags), capi.SQLITE_CANTOPEN_SYMLINK);
  assert.equal(open(link, capi.SQLITE_OPEN_READWRITE), 0);
  assert.equal(open(`${file}-loop`, capi.SQLITE_OPEN_READWRITE) & 0xff, capi.SQLITE_CANTOPEN);
});

test('a relative path is taken from the current directory, and stays right when that changes', (t) => {
  const file = newFile(t);
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(path.dirname(file));
  const db = lib.open('./x/../test.db');
  process.chdir(before);
  db.exec(FILL);
  assert.equal(db.dbFilename(), file);
  db.close();
  assertSound(file);
});

test('unicode names, names with spaces and signs, and names as long as they may be', (t) => {
  const directory = temporaryDirectory(t);
  const names = ['Größe 数据 🗝.db', 'a b%20c#d?e&f=g\'h"i.db', '-journal', 'x'.repeat(247), '€'.repeat(82)];
  for (const name of names) {
    const file = path.join(directory, name);
    for (const mode of ['delete', 'wal']) {
      const db = lib.open(file);
      assert.equal(db.selectValue(`PRAGMA journal_mode = ${mode}`), mode);
      db.exec('CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)');
      db.close();
    }
    assert.ok(fs.statSync(file).size > 0, name);
  }
  assert.deepEqual(fs.readdirSync(directory).sort(), names.sort());
  // Too long for the lock file, so for a journal too: CANTOPEN when something is to be written.
  const db = lib.open(path.join(directory, 'y'.repeat(255)));
  assert.equal(lib.code(() => db.exec('CREATE TABLE t(a)')) & 0xff, capi.SQLITE_READONLY);
  db.close();
  assert.equal(lib.code(() => lib.open(path.join(directory, 'z'.repeat(256)))) & 0xff, capi.SQLITE_CANTOPEN);
});

test('paths of 4000 bytes work; longer than the system allows: CANTOPEN', (t) => {
  const directory = temporaryDirectory(t);
  let deep = directory;
  while (deep.length < 3800) deep = path.join(deep, 'd'.repeat(100));
  deep = path.join(deep, 'e'.repeat(3970 - deep.length - 1));
  fs.mkdirSync(deep, { recursive: true });
  const file = path.join(deep, 'very-long-file-name-1234567890');
  const db = lib.open(file);
  db.exec('PRAGMA journal_mode = wal');
  db.exec(FILL);
  db.close();
  assertSound(file);
  assert.equal(lib.code(() => lib.open(path.join(deep, 'f'.repeat(200)))) & 0xff, capi.SQLITE_CANTOPEN);
  assert.equal(lib.code(() => lib.open(`/${'g/'.repeat(3000)}`)) & 0xff, capi.SQLITE_CANTOPEN);
});

test('offsets beyond 2^31 and 2^32 are exact (sparse file of 5 GB)', (t) => {
  const file = newFile(t);
  let db = lib.open(file);
  db.exec('PRAGMA page_size = 65536; CREATE TABLE t(id INTEGER PRIMARY KEY, b)');
  db.close();
  // As if the database had 80,000 pages, of which only those up to now are used.
  const pages = 80_000;
  const fd = fs.openSync(file, 'r+');
  fs.ftruncateSync(fd, pages * 65536);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(pages);
  fs.writeSync(fd, count, 0, 4, 28);
  fs.closeSync(fd);

  db = lib.open(file);
  for (let id = 0; id < 20; id++) db.exec({ sql: 'INSERT INTO t VALUES (?, ?)', bind: [id, `${id}`.repeat(40000)] });
  db.close();
  assert.ok(fs.statSync(file).size > pages * 65536 + 10 * 65536);
  db = lib.open(file);
  for (let id = 0; id < 20; id++) {
    assert.equal(db.selectValue('SELECT b FROM t WHERE id = ?', [id]), `${id}`.repeat(40000));
  }
  db.close();
});

test('a database that was renamed or unlinked while open is still read, but not written', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec(FILL);
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_HAS_MOVED).value, 0);
  fs.renameSync(file, `${file}-away`);
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_HAS_MOVED).value, 1);
  assert.equal(
    lib.code(() => db.exec('DELETE FROM t')),
    capi.SQLITE_READONLY_DBMOVED,
  );
  fs.unlinkSync(`${file}-away`);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);

  // A new database of the same name is another one, and is usable.
  const next = lib.open(file);
  next.exec('CREATE TABLE t(a); INSERT INTO t VALUES (1)');
  assert.equal(next.selectValue('SELECT count(*) FROM t'), 1);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  db.close();
  next.close();
  assertSound(file, 1);
});

test('journal and WAL have the mode of the database, temporary files 0600 and no name', (t) => {
  const file = newFile(t);
  lib.open(file).exec(FILL).close();
  const mode = (/** @type {string} */ suffix) => fs.statSync(file + suffix).mode & 0o777;
  for (const wanted of [0o600, 0o664, 0o666]) {
    fs.chmodSync(file, wanted);
    const db = lib.open(file);
    db.exec('BEGIN; DELETE FROM t WHERE id = 1');
    assert.equal(mode('-journal'), wanted);
    assert.equal(mode('-lock'), wanted);
    db.exec('ROLLBACK; PRAGMA journal_mode = wal; DELETE FROM t WHERE id = 2');
    assert.equal(mode('-wal'), wanted);
    db.exec('PRAGMA journal_mode = delete');
    db.close();
  }
});

test("root's journals, WALs and lock files belong to the owner of the database", (t) => {
  const file = newFile(t);
  lib.open(file).exec(FILL).close();
  // Who is not root owns the file already.
  const owner = process.geteuid?.() === 0 ? 65534 : fs.statSync(file).uid;
  fs.chownSync(file, owner, fs.statSync(file).gid);
  const db = lib.open(file);
  db.exec('BEGIN; DELETE FROM t WHERE id = 1');
  assert.equal(fs.statSync(`${file}-journal`).uid, owner);
  assert.equal(fs.statSync(`${file}-lock`).uid, owner);
  db.exec('ROLLBACK; PRAGMA journal_mode = wal; DELETE FROM t WHERE id = 2');
  assert.equal(fs.statSync(`${file}-wal`).uid, owner);
  db.close();
});

test('modeof gives a new database the mode of another file', (t) => {
  const file = newFile(t);
  fs.writeFileSync(`${file}-like`, '');
  fs.chmodSync(`${file}-like`, 0o640);
  const db = lib.open(`file:${file}?modeof=${file}-like`);
  db.exec(FILL);
  db.close();
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
});

test('a temporary file is made exclusively, private, and is gone at once', (t) => {
  const directory = temporaryDirectory(t);
  /** @type {{ name: string, flags: number, mode: number }[]} */
  const opened = [];
  const host = createNodeHost({
    os: { tmpdir: () => directory },
    fs: {
      openSync(name, flags, mode) {
        opened.push({ name: String(name), flags: Number(flags), mode: Number(mode) });
        return fs.openSync(name, flags, mode);
      },
    },
  });
  const flags = 1 | 2 | 4 | 8;
  const fd = host.open(path.join(host.tempDirectory(), 'temporary'), flags, null);
  assert.ok(fd > 2);
  assert.equal(opened[0].mode, 0o600);
  assert.ok(opened[0].flags & fs.constants.O_EXCL);
  assert.deepEqual(fs.readdirSync(directory), []);
  assert.equal(host.write(fd, new Uint8Array([1, 2, 3]), 0, 3, 0), 3);
  assert.equal(host.size(fd), 3);
  assert.equal(host.close(fd), 0);
});

test('SQLITE_FCNTL: names, errno, modes, chunk size, size hint, lock timeout', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec(FILL);
  const text = (/** @type {number} */ op) => {
    const { rc, pointer } = lib.control(db, op);
    assert.equal(rc, 0);
    const value = wasm.cstrToJs(pointer);
    wasm.exports.sqlite3_free(pointer);
    return value;
  };
  assert.equal(text(capi.SQLITE_FCNTL_VFSNAME), 'node');
  assert.match(text(capi.SQLITE_FCNTL_TEMPFILENAME), /\/sqlite3mc_[0-9a-f]{32}$/);
  assert.notEqual(text(capi.SQLITE_FCNTL_TEMPFILENAME), text(capi.SQLITE_FCNTL_TEMPFILENAME));
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_LAST_ERRNO).rc, 0);

  for (const [op, initial] of [
    [capi.SQLITE_FCNTL_POWERSAFE_OVERWRITE, 1],
    [capi.SQLITE_FCNTL_PERSIST_WAL, 0],
  ]) {
    assert.equal(lib.control(db, op, -1).value, initial);
    lib.control(db, op, 1 - initial);
    assert.equal(lib.control(db, op, -1).value, 1 - initial);
    lib.control(db, op, initial);
  }
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_LOCK_TIMEOUT, 10).value, 0);
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_LOCK_TIMEOUT, 0).value, 10);
  assert.equal(lib.control(db, capi.SQLITE_FCNTL_EXTERNAL_READER, 1).value, 0);
  assert.equal(lib.control(db, 9999).rc, capi.SQLITE_NOTFOUND);

  lib.control(db, capi.SQLITE_FCNTL_CHUNK_SIZE, 1 << 20);
  db.exec('INSERT INTO t VALUES (1000, randomblob(50000))');
  assert.equal(fs.statSync(file).size % (1 << 20), 0);
  db.exec('DELETE FROM t; VACUUM');
  assert.equal(fs.statSync(file).size, 1 << 20);
  assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
  db.close();
});

test('PERSIST_WAL keeps the WAL file when the last connection closes', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec('PRAGMA journal_mode = wal');
  lib.control(db, capi.SQLITE_FCNTL_PERSIST_WAL, 1);
  db.exec(FILL);
  db.close();
  assert.ok(fs.existsSync(`${file}-wal`));
  assertSound(file);
});

test('the directory is synced after a journal or database is made, and after one is deleted', async (t) => {
  const file = newFile(t);
  const directory = path.dirname(file);
  /** @type {string[]} */
  const log = [];
  /** @type {Map<number, string>} */
  const names = new Map();
  const host = createNodeHost({
    fs: {
      openSync(name, flags, mode) {
        const fd = fs.openSync(name, flags, mode);
        names.set(fd, path.basename(String(name)));
        return fd;
      },
      fdatasyncSync(fd) {
        log.push(`sync ${names.get(fd)}`);
        fs.fdatasyncSync(fd);
      },
      fsyncSync(fd) {
        log.push(`sync directory ${names.get(fd)}`);
        fs.fsyncSync(fd);
      },
      unlinkSync(name) {
        if (String(name) === `${file}-journal`) log.push('unlink test.db-journal');
        fs.unlinkSync(name);
      },
    },
  });
  const logging = await makeSqlite(host);
  const db = logging.open(file);
  db.exec('PRAGMA synchronous = extra; CREATE TABLE t(a)');
  const base = path.basename(directory);
  assert.deepEqual(log, [
    'sync test.db-journal',
    `sync directory ${base}`,
    'sync test.db-journal',
    'sync test.db',
    `sync directory ${base}`,
    'unlink test.db-journal',
    `sync directory ${base}`,
  ]);
  log.length = 0;
  db.exec('INSERT INTO t VALUES (1)');
  assert.ok(!log.slice(0, -1).includes('sync test.db,' + `sync directory ${base}`));
  assert.equal(log.filter((line) => line === 'sync test.db').length, 1);
  db.close();
});

for (const [code, result] of /** @type {const} */ ([
  ['EIO', 'SQLITE_IOERR_DIR_FSYNC'],
  ['EINVAL', 'SQLITE_OK'],
])) {
  test(`a directory whose fsync fails with ${code}: ${result}`, async (t) => {
    const file = newFile(t);
    const host = createNodeHost({
      fs: {
        fsyncSync() {
          throw systemError(code);
        },
      },
    });
    const failing = await makeSqlite(host);
    const db = failing.open(file);
    assert.equal(
      failing.code(() => db.exec('CREATE TABLE t(a)')),
      capi[result],
    );
    db.close();
  });
}

test('empty journal and WAL files count as none', (t) => {
  const file = newFile(t);
  lib.open(file).exec(FILL).close();
  for (const suffix of ['-journal', '-wal']) fs.writeFileSync(file + suffix, '');
  const db = lib.open(file);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
  assert.equal(db.selectValue('PRAGMA journal_mode'), 'delete');
  db.close();
});

test('a full disk: FULL, the transaction is rolled back, and the rows are as before', async (t) => {
  for (const mode of ['delete', 'wal']) {
    const file = newFile(t);
    lib.open(file).exec(`PRAGMA journal_mode = ${mode}`).exec(FILL).close();
    let space = Infinity;
    const host = createNodeHost({
      fs: {
        writeSync(fd, buffer, offset, length, position) {
          if (typeof buffer === 'string') return fs.writeSync(fd, buffer, offset);
          // As a disk does: the write that meets the end is short, the next one fails.
          if (space === 0) throw systemError('ENOSPC');
          const n = Math.min(space, Number(length));
          space -= n;
          return fs.writeSync(fd, buffer, Number(offset), n, position);
        },
      },
    });
    const small = await makeSqlite(host);
    for (const bytes of [0, 100, 5000, 30000, 100_000, 300_000]) {
      const db = small.open(file);
      db.exec('PRAGMA cache_size = 10');
      space = bytes;
      assert.equal(
        small.code(() => db.exec('UPDATE t SET b = randomblob(1001); UPDATE t SET b = randomblob(1002)')),
        capi.SQLITE_FULL,
      );
      space = Infinity;
      assert.equal(db.selectValue('SELECT count(*) FROM t WHERE length(b) = 1000'), 500, `${mode} ${bytes}`);
      assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
      db.close();
    }
  }
});

for (const [code, result] of /** @type {const} */ ([
  ['EDQUOT', 'SQLITE_FULL'],
  ['EFBIG', 'SQLITE_FULL'],
  ['EIO', 'SQLITE_IOERR_WRITE'],
  ['EROFS', 'SQLITE_IOERR_WRITE'],
])) {
  test(`a write that fails with ${code}: ${result}`, async (t) => {
    const file = newFile(t);
    let broken = false;
    const host = createNodeHost({
      fs: {
        writeSync(...args) {
          if (broken && typeof args[1] !== 'string') throw systemError(code);
          return /** @type {any} */ (fs.writeSync)(...args);
        },
      },
    });
    const failing = await makeSqlite(host);
    const db = failing.open(file);
    db.exec(FILL);
    broken = true;
    assert.equal(
      failing.code(() => db.exec('DELETE FROM t')),
      capi[result],
    );
    broken = false;
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    db.close();
  });
}

test('writeSync counts that cannot be are a full disk (C63)', async (t) => {
  for (const count of [0, -8, 0xfffffff8, NaN, undefined]) {
    const file = newFile(t);
    let odd = false;
    const host = createNodeHost({
      fs: {
        writeSync(...args) {
          if (odd && typeof args[1] !== 'string') return /** @type {number} */ (count);
          return /** @type {any} */ (fs.writeSync)(...args);
        },
      },
    });
    const odder = await makeSqlite(host);
    const db = odder.open(file);
    db.exec(FILL);
    odd = true;
    assert.equal(
      odder.code(() => db.exec('DELETE FROM t')),
      capi.SQLITE_FULL,
    );
    odd = false;
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 500);
    db.close();
  }
});

test('interrupted and partial reads and writes are continued', async (t) => {
  const file = newFile(t);
  let calls = 0;
  /** @param {any} real @returns {any} */
  const hiccup = (real) =>
    function (/** @type {any[]} */ fd, buffer, offset, length, position) {
      if (typeof buffer === 'string') return real(fd, buffer, offset);
      if (++calls % 3 === 0) throw systemError('EINTR');
      return real(fd, buffer, offset, Math.min(length, 1000), position);
    };
  const slow = await makeSqlite(createNodeHost({ fs: { readSync: hiccup(fs.readSync), writeSync: hiccup(fs.writeSync) } }));
  const db = slow.open(file);
  db.exec('PRAGMA cache_size = 10');
  db.exec(FILL);
  assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
  assert.equal(db.selectValue('SELECT count(*) FROM t WHERE length(b) = 1000'), 500);
  db.close();
  assertSound(file);
});

test('a read past the end fills the rest with zeros: IOERR_SHORT_READ', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec('PRAGMA page_size = 512; CREATE TABLE t(a)');
  const pFile = lib.control(db, capi.SQLITE_FCNTL_FILE_POINTER).pointer;
  const methods = new capi.sqlite3_io_methods(new capi.sqlite3_file(pFile).$pMethods);
  const xRead = wasm.functionEntry(methods.$xRead);
  const buffer = wasm.alloc(100);
  const read = (/** @type {number} */ offset) => {
    wasm.heap8u().fill(0xaa, buffer, buffer + 100);
    const rc = xRead(pFile, buffer, 100, BigInt(offset));
    return { rc, bytes: Buffer.from(wasm.heap8u().slice(buffer, buffer + 100)) };
  };
  const size = fs.statSync(file).size;
  assert.deepEqual(read(size - 100), { rc: 0, bytes: fs.readFileSync(file).subarray(-100) });
  const part = Buffer.concat([fs.readFileSync(file).subarray(-30), Buffer.alloc(70)]);
  assert.deepEqual(read(size - 30), { rc: capi.SQLITE_IOERR_SHORT_READ, bytes: part });
  assert.deepEqual(read(size), { rc: capi.SQLITE_IOERR_SHORT_READ, bytes: Buffer.alloc(100) });
  assert.deepEqual(read(2 ** 40), { rc: capi.SQLITE_IOERR_SHORT_READ, bytes: Buffer.alloc(100) });
  wasm.dealloc(buffer);
  db.close();
});

test('a file shorter than its page count: IOERR_SHORT_READ is a damaged database, not a crash', (t) => {
  const file = newFile(t);
  lib.open(file).exec(FILL).close();
  fs.truncateSync(file, fs.statSync(file).size - 4096 * 20 - 100);
  const db = lib.open(file);
  assert.equal(lib.code(() => db.selectValue('SELECT sum(length(b)) FROM t')) & 0xff, capi.SQLITE_CORRUPT);
  db.close();
});

test('memory that grows during a query does not disturb reads', (t) => {
  const file = newFile(t);
  const db = lib.open(file);
  db.exec('CREATE TABLE t(b); INSERT INTO t VALUES (randomblob(30000000))');
  const size = () => wasm.heap8u().length;
  const tail = db.selectValue('SELECT hex(substr(b, 29999900)) FROM t');
  db.close();
  const again = lib.open(file);
  const before = size();
  const row = again.selectArray('SELECT length(randomblob(90000000)), hex(substr(b, 29999900)) FROM t');
  assert.deepEqual(row, [90000000, tail]);
  assert.ok(size() > before);
  again.close();
});

test('the host sleeps as long as it is told to, and the clock is the real one', (t) => {
  const db = lib.open(newFile(t));
  const seconds = db.selectValue("SELECT unixepoch('now', 'subsec')");
  assert.ok(Math.abs(seconds - Date.now() / 1000) < 60);
  db.close();
  const start = performance.now();
  createNodeHost().sleep(30_000);
  assert.ok(performance.now() - start >= 29);
});

test('a database never becomes standard input, output or error', () => {
  // As if they had been closed: the system gives the lowest free number.
  /** @type {string[]} */
  const table = [];
  const host = createNodeHost({
    fs: {
      openSync(name) {
        let fd = 0;
        while (table[fd]) fd++;
        table[fd] = String(name);
        return fd;
      },
      closeSync: (fd) => void (table[fd] = ''),
    },
  });
  assert.equal(host.open('/test.db', 3, null), 3);
  assert.deepEqual(table, ['/dev/null', '/dev/null', '/dev/null', '/test.db']);
});

test('paths and temporary files as on Windows', () => {
  /** @type {string[]} */
  const log = [];
  const host = createNodeHost({
    platform: 'win32',
    path: path.win32,
    fs: {
      lstatSync: /** @type {any} */ (() => undefined),
      openSync: (name) => (log.push(`open ${name}`), 7),
      closeSync: (fd) => void log.push(`close ${fd}`),
      unlinkSync: (name) => void log.push(`unlink ${name}`),
    },
  });
  assert.deepEqual(host.fullPath('/C:/data/../a b.db'), { path: 'C:\\a b.db', links: false });
  assert.deepEqual(host.fullPath('C:\\data\\x.db'), { path: 'C:\\data\\x.db', links: false });
  assert.equal(host.syncDirectory('C:\\data\\x.db'), 0);
  const fd = host.open('C:\\t', 1 | 2 | 4 | 8, null);
  assert.equal(host.close(fd), 0);
  assert.deepEqual(log, ['open C:\\t', 'close 7', 'unlink C:\\t']);
});

/** @param {string} code */
function systemError(code) {
  return Object.assign(new Error(`${code}: made by a test`), { code });
}
