// What the tests against the reference share: the three programs, the content of their databases, and the
// check that a program reads it.
//
// The native shell is build/native/bin/sqlite3mc, or $SQLITE3MC_SHELL.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import Database from 'better-sqlite3-multiple-ciphers';
import sqlite3InitModule from '../../js/node.js';

const SHELL = process.env.SQLITE3MC_SHELL ?? fileURLToPath(new URL('../../build/native/bin/sqlite3mc', import.meta.url));
assert.ok(fs.existsSync(SHELL), `${SHELL} is missing: npm run build makes it`);

export const sqlite3 = await sqlite3InitModule();
export const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sqlite3mc-oracle-'));
after(() => fs.rmSync(directory, { recursive: true }));

let files = 0;
export const newFile = () => path.join(directory, `${++files}.db`);

/** Copy a database and what stands beside it. @param {string} from @param {string} to */
export function copyDatabase(from, to) {
  for (const suffix of ['', '-journal', '-wal']) {
    if (fs.existsSync(from + suffix)) fs.copyFileSync(from + suffix, to + suffix);
  }
}

// ---- the three programs: SQL in one connection, the values of the last statement as text

/**
 * @typedef {object} Step what is done with an open connection
 * @property {string} [sql]
 * @property {string} [copyTo] the files of the database are copied there while it is open
 * @property {number} [reserve] reserved bytes to ask for
 */

/** @param {unknown[][]} rows */
const asText = (rows) => rows.map((row) => row.map((value) => String(value)).join('|')).join('\n');

/** @type {Record<string, (file: string, steps: Step[]) => string>} */
export const programs = {
  reference(file, steps) {
    const db = new Database(file);
    let rows = [];
    try {
      for (const { sql, copyTo } of steps) {
        if (copyTo) copyDatabase(file, copyTo);
        if (sql?.startsWith('SELECT')) rows = db.prepare(sql).raw().all();
        else if (sql) db.exec(sql);
      }
    } finally {
      db.close();
    }
    return asText(rows);
  },

  wasm(file, steps) {
    const { capi, wasm, oo1 } = sqlite3;
    const db = new oo1.DB(file);
    let rows = [];
    try {
      for (const { sql, copyTo, reserve } of steps) {
        if (copyTo) copyDatabase(file, copyTo);
        if (reserve !== undefined) {
          const p = wasm.alloc(4);
          wasm.poke(p, reserve, 'i32');
          assert.equal(capi.sqlite3_file_control(db.pointer, 'main', capi.SQLITE_FCNTL_RESERVE_BYTES, p), 0);
          wasm.dealloc(p);
        }
        if (sql?.startsWith('SELECT')) rows = db.exec({ sql, rowMode: 'array', returnValue: 'resultRows' });
        else if (sql) db.exec(sql);
      }
    } finally {
      db.close();
    }
    return asText(rows);
  },

  shell(file, steps) {
    const script = steps.map(({ sql, copyTo, reserve }) => {
      const copies = ['', '-journal', '-wal'].map((s) => `.system test ! -e ${file}${s} || cp ${file}${s} ${copyTo}${s}`);
      return [
        ...(copyTo ? copies : []),
        ...(reserve === undefined ? [] : [`.filectrl reserve_bytes ${reserve}`]),
        ...(sql ? [`.output ${sql.startsWith('SELECT') ? 'stdout' : '/dev/null'}`, `${sql};`] : []),
      ].join('\n');
    });
    const { status, stdout, stderr } = spawnSync(SHELL, ['-batch', '-bail', '-noheader', '-list', file], {
      input: `${script.join('\n')}\n`,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    assert.equal(`${status} ${stderr}`, '0 ');
    return stdout.trimEnd();
  },
};

// ---- content

export const ROWS = 60;
const rowName = (/** @type {number} */ id) => `row-${id}${id % 3 ? '' : '-äß€😀'}`;
const rowHex = (/** @type {number} */ id) =>
  Buffer.from(Array.from({ length: 20 + ((id * 37) % 300) }, (_, j) => (id * 31 + j * 7) & 255)).toString('hex').toUpperCase();

export const insertRows = (/** @type {number} */ from, /** @type {number} */ to) => {
  const values = [];
  for (let id = from; id <= to; id++) values.push(`(${id}, '${rowName(id)}', x'${rowHex(id)}')`);
  return `INSERT INTO t VALUES ${values.join(', ')}`;
};
export const wantedRows = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, i) => `${i + 1}|${rowName(i + 1)}|${rowHex(i + 1)}`).join('\n');

export const CREATE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, data BLOB); CREATE INDEX i ON t(name)';
export const SELECT = 'SELECT id, name, hex(data) FROM t ORDER BY id';
export const CHECK = 'SELECT group_concat(integrity_check) FROM pragma_integrity_check';

/** All rows, as they should be. @param {string} program @param {string} file @param {string} open @param {number} count */
export function checkRows(program, file, open, count) {
  assert.equal(programs[program](file, [{ sql: open }, { sql: SELECT }]), wantedRows(count));
  assert.equal(programs[program](file, [{ sql: open }, { sql: CHECK }]), 'ok');
}

export const OURS = ['wasm', 'shell'];
