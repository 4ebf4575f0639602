/**
 * For the tests of the package's Node entry: a directory of their own, and short forms.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

import sqlite3InitModule from '../../js/node.js';

export { sqlite3InitModule };

export const SQLITE_OK = 0;
export const SQLITE_ERROR = 1;
export const SQLITE_MISUSE = 21;
export const SQLITE_NOTADB = 26;

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sqlite3mc-api-'));
after(() => fs.rmSync(directory, { recursive: true, force: true }));

let count = 0;

/** A file name that no test has used. */
export const newFile = (/** @type {string} */ name = 'test.db') => path.join(directory, `${++count}-${name}`);

/**
 * Opens, runs, closes.
 * @template T
 * @param {any} sqlite3
 * @param {object} options
 * @param {(db: any) => T} body
 * @returns {T}
 */
export function withDb(sqlite3, options, body) {
  const db = new sqlite3.oo1.DB(options);
  try {
    return body(db);
  } finally {
    db.close();
  }
}

/**
 * Result code of what `fn` throws, 0 if it does not.
 * @param {() => unknown} fn
 */
export function codeOf(fn) {
  try {
    fn();
    return SQLITE_OK;
  } catch (/** @type {any} */ error) {
    if (error.resultCode === undefined) throw error;
    return error.resultCode;
  }
}
