/**
 * sqlite3mc-wasm in browsers: the official SQLite API (https://sqlite.org/wasm), with encryption.
 */
export { default } from './init.js';
export { default as sqlite3Worker1Promiser } from '../dist/sqlite3-worker1-promiser.mjs';
