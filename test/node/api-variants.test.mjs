/**
 * The three .wasm files do the same: each opens what the others wrote, and with the same random numbers
 * they write the same bytes.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, test } from 'node:test';
import v8 from 'node:v8';

import { newFile, sqlite3InitModule, withDb } from './api-harness.mjs';

// Node 20 has relaxed SIMD behind a flag.
if (process.version.startsWith('v20.')) v8.setFlagsFromString('--experimental-wasm-relaxed-simd');

const VARIANTS = /** @type {const} */ (['relaxed', 'simd', 'nosimd']);
const KEY = `x'${'3c'.repeat(32)}'`;

const own = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(globalThis, 'crypto'));
after(() => Object.defineProperty(globalThis, 'crypto', own));

/** A getRandomValues that gives every module the same numbers (an LCG's high bytes). */
function repeatable() {
  let state = 1;
  Object.defineProperty(globalThis, 'crypto', {
    configurable: true,
    value: {
      getRandomValues(/** @type {Uint8Array} */ array) {
        for (let i = 0; i < array.length; i++) array[i] = (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 24;
        return array;
      },
    },
  });
}

/** @param {any} db @param {number} pageSize */
function fill(db, pageSize) {
  db.exec(`PRAGMA page_size=${pageSize}; CREATE TABLE t(a INTEGER PRIMARY KEY, b)`);
  db.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO t SELECT i, 'row ' || i || hex(zeroblob(i)) FROM n");
}

for (const pageSize of [512, 4096, 65536]) {
  test(`pages of ${pageSize} bytes: the variants write the same bytes and read each other's files`, async () => {
    /** @type {[string, Buffer][]} */
    const files = [];
    for (const variant of VARIANTS) {
      repeatable();
      const sqlite3 = await sqlite3InitModule({ variant });
      assert.equal(sqlite3.mc.variant, variant);
      for (const key of [KEY, 'a passphrase']) {
        const filename = newFile(`${variant}.db`);
        withDb(sqlite3, { filename, key }, (db) => fill(db, pageSize));
        files.push([filename, fs.readFileSync(filename)]);
      }
    }
    for (const i of [0, 1]) {
      const [first, ...others] = files.filter((_, n) => n % 2 === i).map(([, bytes]) => bytes);
      for (const other of others) assert.ok(first.equals(other), 'the same random numbers give the same file');
    }
    assert.ok(!files[0][1].equals(files[1][1]));
    Object.defineProperty(globalThis, 'crypto', own);
    for (const variant of VARIANTS) {
      const sqlite3 = await sqlite3InitModule({ variant });
      for (const [n, [filename]] of files.entries()) {
        withDb(sqlite3, { filename, key: n % 2 ? 'a passphrase' : KEY }, (db) => {
          assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok');
          assert.equal(db.selectValue('SELECT count(*) + sum(length(b)) FROM t'), 254392);
        });
      }
    }
  });
}
