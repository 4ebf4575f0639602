// Live both ways against the reference, SQLite3 Multiple Ciphers as better-sqlite3-multiple-ciphers: what
// it writes is read and changed by this package, in the WebAssembly module under Node and in the native
// shell, and what they write is read and changed by it. Whole files, hot journals, hot WALs, rekeys.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { CREATE, OURS, ROWS, checkRows, insertRows, newFile, programs } from './oracle-harness.mjs';
const R32 = '54686973206973206d792076657279207365637265742070617373776f72642e';
const SALT = '2b7e151628aed2a6abf7158809cf4f3c';
const RAW = Buffer.from('raw:').toString('hex');

/**
 * How a database is opened (SQL that ends with the key) and, once, shaped when it is new.
 * @type {{name: string, open: string, shape?: string, reserve?: number}[]}
 */
const CASES = [
  { name: 'default', open: "PRAGMA key='correct horse battery staple'" },
  { name: 'plain', open: 'PRAGMA cache_size=100' },
  ...[512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].map((n) => ({
    name: `page size ${n}`,
    open: "PRAGMA kdf_iter=1; PRAGMA key='k'",
    shape: `PRAGMA page_size=${n}`,
  })),
  ...[512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].map((n) => ({
    name: `legacy, page size ${n}`,
    open: `PRAGMA legacy=1; PRAGMA legacy_page_size=${n}; PRAGMA key='k'`,
  })),
  { name: 'kdf_iter 1000', open: "PRAGMA cipher='chacha20'; PRAGMA kdf_iter=1000; PRAGMA key='k'" },
  { name: 'kdf_iter 1', open: "PRAGMA kdf_iter=1; PRAGMA key='k'" },
  { name: 'raw: hex', open: `PRAGMA key='raw:${R32}'` },
  { name: 'raw: hex and salt', open: `PRAGMA key='raw:${R32}${SALT}'` },
  { name: "x'hex'", open: `PRAGMA key="x'${R32}'"` },
  { name: "x'hex and salt'", open: `PRAGMA key="x'${R32}${SALT}'"` },
  { name: "X'hex'", open: `PRAGMA key="X'${R32.toUpperCase()}'"` },
  { name: 'raw: binary', open: `PRAGMA hexkey='${RAW}${R32}'` },
  { name: 'raw: binary and salt', open: `PRAGMA hexkey='${RAW}${R32}${SALT}'` },
  { name: 'a password that looks like a raw key', open: `PRAGMA kdf_iter=1; PRAGMA key='raw:${R32}0'` },
  { name: 'UTF-8 key', open: "PRAGMA kdf_iter=1; PRAGMA key='Pässwörd-Ключ-鍵-🔑'" },
  { name: 'binary key', open: "PRAGMA kdf_iter=1; PRAGMA hexkey='00ff10807f0a0d'" },
  { name: 'key with quotes', open: `PRAGMA kdf_iter=1; PRAGMA key='it''s "k"; --'` },
  { name: 'salt from outside', open: `PRAGMA kdf_iter=1; PRAGMA cipher_salt='${SALT}'; PRAGMA key='k'` },
  ...[1, 16, 24, 32, 100].map((n) => ({
    name: `plaintext header of ${n}`,
    open: `PRAGMA kdf_iter=1; PRAGMA plaintext_header_size=${n}; PRAGMA cipher_salt='${SALT}'; PRAGMA key='k'`,
  })),
  {
    name: 'plaintext header, salt in the raw key',
    open: `PRAGMA plaintext_header_size=32; PRAGMA key='raw:${R32}${SALT}'`,
  },
  {
    name: 'plaintext header, legacy',
    open: `PRAGMA legacy=1; PRAGMA plaintext_header_size=32; PRAGMA cipher_salt='${SALT}'; PRAGMA key='k'`,
  },
  { name: 'auto_vacuum FULL', open: "PRAGMA kdf_iter=1; PRAGMA key='k'", shape: 'PRAGMA auto_vacuum=FULL' },
  { name: 'auto_vacuum INCREMENTAL', open: "PRAGMA kdf_iter=1; PRAGMA key='k'", shape: 'PRAGMA auto_vacuum=INCREMENTAL' },
  { name: 'UTF-16le', open: "PRAGMA kdf_iter=1; PRAGMA key='k'", shape: "PRAGMA encoding='UTF-16le'" },
  { name: 'UTF-16be', open: "PRAGMA kdf_iter=1; PRAGMA key='k'", shape: "PRAGMA encoding='UTF-16be'" },
  { name: 'WAL mode', open: "PRAGMA kdf_iter=1; PRAGMA key='k'", shape: 'PRAGMA journal_mode=WAL' },
];

describe('files made by the reference open here, and files made here open there', () => {
  for (const { name, open, shape } of CASES) {
    for (const ours of OURS) {
      for (const [maker, reader] of [['reference', ours], [ours, 'reference']]) {
        test(`${name}: ${maker} to ${reader}`, () => {
          const file = newFile();
          programs[maker](file, [
            { sql: open },
            ...(shape ? [{ sql: shape }] : []),
            { sql: CREATE },
            { sql: insertRows(1, ROWS) },
          ]);
          checkRows(reader, file, open, ROWS);
          // the reader changes it, and the maker reads it again
          programs[reader](file, [
            { sql: open },
            { sql: `DELETE FROM t WHERE id > ${ROWS / 2}` },
            { sql: 'VACUUM' },
            { sql: insertRows(ROWS / 2 + 1, ROWS + 20) },
          ]);
          checkRows(maker, file, open, ROWS + 20);
        });
      }
    }
  }
});

describe('reserved bytes beyond those of the scheme', () => {
  for (const ours of OURS) {
    for (const reserve of [33, 60, 255]) {
      test(`${reserve}: ${ours} to reference and back`, () => {
        const file = newFile();
        const open = "PRAGMA kdf_iter=1; PRAGMA key='k'";
        programs[ours](file, [{ sql: open }, { reserve }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
        assert.equal(fs.readFileSync(file)[20], reserve);
        checkRows('reference', file, open, ROWS);
        programs.reference(file, [{ sql: open }, { sql: insertRows(ROWS + 1, ROWS + 20) }, { sql: 'VACUUM' }]);
        assert.equal(fs.readFileSync(file)[20], reserve);
        checkRows(ours, file, open, ROWS + 20);
      });
    }
  }
});

const HOT = [
  {
    name: 'hot journal',
    beforeRows: 'PRAGMA page_size=1024; PRAGMA journal_mode=DELETE',
    dirty: "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(2000)",
    suffix: '-journal',
  },
  {
    name: 'hot journal of 4096-byte pages',
    beforeRows: 'PRAGMA journal_mode=DELETE',
    dirty: "PRAGMA cache_size=2; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(9000)",
    suffix: '-journal',
  },
  {
    name: 'hot WAL',
    beforeRows: 'PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0',
    dirty: 'BEGIN; DELETE FROM t WHERE id > 5',
    suffix: '-wal',
  },
  {
    name: 'hot WAL with pages that spilled twice',
    beforeRows: 'PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5',
    dirty:
      "BEGIN; UPDATE t SET name = name || 'x'; UPDATE t SET name = substr(name, 1, length(name) - 1); COMMIT; BEGIN; DELETE FROM t",
    suffix: '-wal',
  },
];

describe('hot files, copied while the database is open', () => {
  for (const { name, beforeRows, dirty, suffix } of HOT) {
    for (const open of [`PRAGMA key='raw:${R32}'`, "PRAGMA kdf_iter=1; PRAGMA key='k'"]) {
      for (const ours of OURS) {
        for (const [maker, reader] of [['reference', ours], [ours, 'reference']]) {
          test(`${name}, ${open.includes('raw') ? 'raw key' : 'password'}: ${maker} to ${reader}`, () => {
            const copy = newFile();
            programs[maker](newFile(), [
              { sql: open },
              { sql: beforeRows },
              { sql: CREATE },
              { sql: insertRows(1, ROWS) },
              { sql: dirty },
              { copyTo: copy },
              { sql: 'ROLLBACK' },
            ]);
            assert.ok(fs.statSync(copy + suffix).size > 4000);
            checkRows(reader, copy, open, ROWS);
            checkRows(maker, copy, open, ROWS);
          });
        }
      }
    }
  }
});

const REKEYS = [
  { name: 'plain to key', from: 'PRAGMA cache_size=100', set: 'PRAGMA kdf_iter=7', rekey: "'new'", to: "PRAGMA kdf_iter=7; PRAGMA key='new'" },
  { name: 'key to key', from: "PRAGMA kdf_iter=3; PRAGMA key='old'", set: 'PRAGMA kdf_iter=7', rekey: "'new'", to: "PRAGMA kdf_iter=7; PRAGMA key='new'" },
  { name: 'raw to raw', from: `PRAGMA key='raw:${R32}'`, set: 'PRAGMA kdf_iter=7', rekey: `"x'${R32.replace('5', '6')}'"`, to: `PRAGMA key="x'${R32.replace('5', '6')}'"` },
  { name: 'key to legacy', from: "PRAGMA kdf_iter=3; PRAGMA key='old'", set: 'PRAGMA legacy=1; PRAGMA legacy_page_size=4096', rekey: "'new'", to: "PRAGMA legacy=1; PRAGMA legacy_page_size=4096; PRAGMA key='new'" },
  { name: 'key to plain', from: "PRAGMA kdf_iter=3; PRAGMA key='old'", set: 'PRAGMA kdf_iter=7', rekey: "''", to: 'PRAGMA cache_size=100' },
];

describe('rekeyed files', () => {
  for (const { name, from, set, rekey, to } of REKEYS) {
    for (const ours of OURS) {
      for (const mode of ['DELETE', 'WAL']) {
        for (const [maker, reader] of [['reference', ours], [ours, 'reference']]) {
          if (mode === 'WAL' && maker === 'reference') continue; // it refuses
          test(`${name}, ${mode}: made by ${reader}, rekeyed by ${maker}, read by ${reader}`, () => {
            const file = newFile();
            programs[reader](file, [{ sql: from }, { sql: 'PRAGMA page_size=4096' }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
            programs[maker](file, [
              { sql: from },
              { sql: `PRAGMA journal_mode=${mode}` },
              { sql: insertRows(ROWS + 1, ROWS + 20) },
              { sql: set },
              { sql: `PRAGMA rekey=${rekey}` },
              { sql: insertRows(ROWS + 21, ROWS + 25) },
            ]);
            checkRows(reader, file, to, ROWS + 25);
            assert.throws(() => checkRows(reader, file, from, ROWS + 25), /not a database|NOTADB|plain database/);
            checkRows(maker, file, to, ROWS + 25);
          });
        }
      }
    }
  }
});

describe('copies', () => {
  for (const ours of OURS) {
    test(`VACUUM INTO and ATTACH of ${ours} are read by the reference`, () => {
      const copy = newFile();
      const attached = newFile();
      const other = newFile();
      const open = "PRAGMA kdf_iter=1; PRAGMA key='k'";
      programs[ours](newFile(), [
        { sql: open },
        { sql: CREATE },
        { sql: insertRows(1, ROWS) },
        { sql: `VACUUM INTO '${copy}'` },
        { sql: `ATTACH '${attached}' AS a` },
        { sql: 'CREATE TABLE a.t AS SELECT * FROM main.t' },
        { sql: `ATTACH 'file:${other}?cipher=chacha20&kdf_iter=2' AS o KEY 'o'` },
        { sql: 'CREATE TABLE o.t AS SELECT * FROM main.t' },
      ]);
      checkRows('reference', copy, open, ROWS);
      checkRows('reference', attached, open, ROWS);
      checkRows('reference', other, "PRAGMA kdf_iter=2; PRAGMA key='o'", ROWS);
    });
  }
});
