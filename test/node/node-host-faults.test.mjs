/**
 * The VFS "node" on a file system that fails: every call of every function once, in turn. Whatever
 * fails, SQLite gets an error code, nothing is thrown through WebAssembly, and the database opens
 * afterwards with the rows of the last commit that was reported, or of the one that was under way.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { createNodeHost } from '../../js/node-host.js';
import { makeSqlite, temporaryDirectory } from './node-host-harness.mjs';

const FUNCTIONS = /** @type {const} */ ([
  'openSync',
  'closeSync',
  'readSync',
  'writeSync',
  'ftruncateSync',
  'fdatasyncSync',
  'fsyncSync',
  'unlinkSync',
  'statSync',
  'fstatSync',
  'lstatSync',
  'fchmodSync',
  'fchownSync',
]);

/** A `node:fs` in which call number `at` of the functions in `among` fails, and from then on `more` others. */
class Faults {
  at = Infinity;
  more = 0;
  code = 'EIO';
  calls = 0;
  /** @type {Set<string>} */
  among = new Set(FUNCTIONS);
  /** @type {any} */
  fs = {};

  constructor() {
    for (const name of FUNCTIONS) {
      this.fs[name] = (/** @type {any[]} */ ...args) => {
        if (this.among.has(name)) {
          const call = ++this.calls - this.at;
          if (call >= 0 && call <= this.more) {
            // The call of a writer that meets the end of the disk is short before it fails.
            if (name === 'writeSync' && typeof args[1] !== 'string' && call === 0 && args[3] > 100) {
              return fs.writeSync(args[0], args[1], args[2], 100, args[4]);
            }
            throw Object.assign(new Error(`${this.code}: ${name}`), { code: this.code });
          }
        }
        // Nobody pulls the plug here: syncs need not be real.
        return name.endsWith('syncSync') ? undefined : /** @type {any} */ (fs)[name](...args);
      };
    }
  }

  /** @param {number} at */
  arm(at, more = 0) {
    this.calls = 0;
    this.at = at;
    this.more = more;
  }

  disarm() {
    this.at = Infinity;
  }
}

const faults = new Faults();
const faulty = await makeSqlite(createNodeHost({ fs: faults.fs }));
const sound = await makeSqlite(createNodeHost({ fs: { fdatasyncSync() {}, fsyncSync() {} } }));
const { capi } = sound;

/**
 * A database of rows that all have the same version, in `mode`.
 * @param {string} file
 * @param {string} mode
 */
function prepare(file, mode) {
  const db = sound.open(file);
  db.exec(`
    PRAGMA page_size = 1024;
    PRAGMA journal_mode = ${mode};
    CREATE TABLE t(id INTEGER PRIMARY KEY, version, b);
    WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 12)
      INSERT INTO t SELECT i, 0, randomblob(600) FROM c`);
  db.close();
}

/**
 * Two transactions that spill their cache. Every error must be SQLite's.
 * @param {string} file
 * @param {string} mode
 * @returns {{ codes: number[], committed: number }} the last version that was reported as committed
 */
function work(file, mode) {
  const codes = [];
  let committed = 0;
  let db;
  try {
    const code = faulty.code(() => (db = faulty.open(file)));
    codes.push(code);
    if (!db) return { codes, committed };
    codes.push(faulty.code(() => db.exec(`PRAGMA cache_size = 2; PRAGMA journal_mode = ${mode}`)));
    for (const version of [1, 2]) {
      const rc = faulty.code(() => db.exec(`UPDATE t SET version = ${version}, b = randomblob(600)`));
      codes.push(rc);
      if (rc === 0) committed = version;
      else if (!capi.sqlite3_get_autocommit(db)) faulty.code(() => db.exec('ROLLBACK'));
      codes.push(faulty.code(() => db.selectValue('SELECT count(*) FROM t')));
    }
  } finally {
    db?.close();
  }
  return { codes, committed };
}

/**
 * @param {string} file
 * @param {number} committed
 * @param {string} what
 */
function verify(file, committed, what) {
  const db = sound.open(file);
  capi.sqlite3_busy_timeout(db, 5000);
  assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok', what);
  const versions = db.selectValues('SELECT DISTINCT version FROM t');
  assert.equal(versions.length, 1, what);
  assert.ok(versions[0] >= committed, `${what}: version ${versions[0]}, reported ${committed}`);
  assert.equal(db.selectValue('SELECT count(*) FROM t'), 12, what);
  db.close();
}

const known = new Set([0, capi.SQLITE_IOERR, capi.SQLITE_CANTOPEN, capi.SQLITE_FULL, capi.SQLITE_BUSY, capi.SQLITE_READONLY]);

for (const mode of ['delete', 'truncate', 'persist', 'wal']) {
  for (const [code, more, functions] of /** @type {[string, number, string[]][]} */ ([
    ['EIO', 0, [...FUNCTIONS]],
    ['EIO', 3, ['readSync', 'writeSync', 'ftruncateSync', 'fdatasyncSync', 'fsyncSync', 'unlinkSync']],
    ['ENOSPC', 20, ['writeSync']],
    ['EACCES', 0, ['openSync', 'unlinkSync', 'statSync']],
  ])) {
    test(`${mode}: ${code} at each call (${more ? `and ${more} more` : 'once'}) of ${functions.length} functions`, (t) => {
      const directory = temporaryDirectory(t);
      const template = path.join(directory, 'template.db');
      const file = path.join(directory, 'test.db');
      prepare(template, mode);
      faults.among = new Set(functions);
      faults.code = code;
      let failures = 0;
      for (let at = 1; ; at++) {
        const what = `${mode}, ${code} at call ${at}`;
        for (const suffix of ['-journal', '-wal']) fs.rmSync(file + suffix, { force: true });
        fs.copyFileSync(template, file);
        faults.arm(at, more);
        const { codes, committed } = work(file, mode);
        const done = faults.calls < at;
        faults.disarm();
        for (const rc of codes) assert.ok(known.has(rc & 0xff), `${what}: code ${rc}`);
        if (codes.some((rc) => rc !== 0)) failures++;
        verify(file, committed, what);
        assert.deepEqual(
          fs.readdirSync(path.dirname(file)).filter((name) => name.includes('-lock')),
          [],
          what,
        );
        if (done) {
          assert.equal(committed, 2);
          assert.ok(codes.every((rc) => rc === 0));
          assert.ok(at > 5);
          break;
        }
      }
      assert.ok(failures > 5, `${failures} failures`);
    });
  }
}

test('a journal that cannot be looked at is an error, not "no journal"', async (t) => {
  const file = path.join(temporaryDirectory(t), 'test.db');
  prepare(file, 'delete');
  const writer = sound.open(file);
  writer.exec('PRAGMA cache_size = 2; BEGIN; UPDATE t SET version = 9, b = randomblob(600)');
  const copy = `${file}-copy.db`;
  for (const suffix of ['', '-journal']) fs.copyFileSync(file + suffix, copy + suffix);
  writer.close();

  let broken = true;
  const host = createNodeHost({
    fs: {
      statSync: /** @type {any} */ (
        (/** @type {string} */ name, /** @type {any} */ options) => {
          if (broken && name === `${copy}-journal`) throw Object.assign(new Error(), { code: 'EIO' });
          return fs.statSync(name, options);
        }
      ),
      // Of what can't be looked at, existsSync says that it is not there.
      existsSync: (name) => !(broken && name === `${copy}-journal`) && fs.existsSync(name),
    },
  });
  const blind = await makeSqlite(host);
  const db = blind.open(copy, 'w');
  assert.equal(
    blind.code(() => db.selectValue('SELECT version FROM t')),
    capi.SQLITE_IOERR_ACCESS,
  );
  broken = false;
  assert.deepEqual(db.selectValues('SELECT DISTINCT version FROM t'), [0]);
  db.close();
});
