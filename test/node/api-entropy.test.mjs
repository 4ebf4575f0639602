/**
 * Without entropy nothing is encrypted, and nothing is written in plaintext instead: SQLite reports an
 * error, and the module goes on working.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { afterEach, test } from 'node:test';

import { SQLITE_OK, codeOf, newFile, sqlite3InitModule, withDb } from './api-harness.mjs';

const own = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(globalThis, 'crypto'));
const real = globalThis.crypto;
const setCrypto = (/** @type {unknown} */ value) => Object.defineProperty(globalThis, 'crypto', { value, configurable: true });
afterEach(() => Object.defineProperty(globalThis, 'crypto', own));

/** @type {Record<string, unknown>} */
const SOURCES = {
  'no crypto object': undefined,
  'crypto without getRandomValues': {},
  'one that throws': {
    getRandomValues() {
      throw new Error('no entropy today');
    },
  },
  'one that does nothing': { getRandomValues: (/** @type {Uint8Array} */ array) => array },
  'one that answers with something else': { getRandomValues: (/** @type {Uint8Array} */ array) => real.getRandomValues(new Uint8Array(array.length)) },
  'one that answers with nothing': { getRandomValues: (/** @type {Uint8Array} */ array) => void real.getRandomValues(array) },
  'one that stops halfway': {
    getRandomValues(/** @type {Uint8Array} */ array) {
      real.getRandomValues(array.subarray(0, array.length >> 1));
      return array;
    },
  },
  'one that gives zeros': { getRandomValues: (/** @type {Uint8Array} */ array) => array.fill(0) },
};

for (const [name, source] of Object.entries(SOURCES)) {
  test(`entropy source: ${name}`, async () => {
    const sqlite3 = await sqlite3InitModule();
    const options = { filename: newFile(), key: 'k', kdf_iter: 1 };
    const fill = (/** @type {any} */ db) => db.exec("CREATE TABLE t(a); INSERT INTO t VALUES('plaintext')");

    setCrypto(source);
    for (let i = 0; i < 2; i++) {
      assert.notEqual(codeOf(() => withDb(sqlite3, options, fill)), SQLITE_OK);
      const written = fs.existsSync(options.filename) ? fs.readFileSync(options.filename, 'latin1') : '';
      assert.doesNotMatch(written, /SQLite format 3|plaintext/);
    }
    // What needs no entropy goes on.
    assert.equal(withDb(sqlite3, {}, (db) => db.selectValue('SELECT 6*7')), 42);

    Object.defineProperty(globalThis, 'crypto', own);
    withDb(sqlite3, options, fill);
    assert.equal(withDb(sqlite3, options, (db) => db.selectValue('SELECT a FROM t')), 'plaintext');

    // A rekey without entropy fails and leaves the old key.
    setCrypto(source);
    const next = await sqlite3InitModule();
    withDb(next, options, (db) => {
      assert.equal(db.selectValue('SELECT a FROM t'), 'plaintext');
      assert.notEqual(next.capi.sqlite3_rekey(db, 'other'), SQLITE_OK);
    });
    assert.equal(withDb(next, options, (db) => db.selectValue('SELECT a FROM t')), 'plaintext');
  });
}

test('getRandomValues is never asked for more than it gives at once', async () => {
  /** @type {number[]} */
  const sizes = [];
  setCrypto({
    getRandomValues(/** @type {Uint8Array} */ array) {
      sizes.push(array.length);
      return real.getRandomValues(array);
    },
  });
  const sqlite3 = await sqlite3InitModule();
  withDb(sqlite3, { filename: newFile(), key: 'k', kdf_iter: 1 }, (db) => db.exec('CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(10000000)'));
  assert.ok(sizes.length > 0);
  assert.ok(Math.max(...sizes) <= 65536, `${Math.max(...sizes)} bytes`);
});
