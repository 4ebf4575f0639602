// The client of SQLite's own worker (types: built-worker1.d.ts). Apart from built.js: the worker needs that
// one, and must not come to import what starts the worker.
export { default as promiser } from '../dist/sqlite3-worker1-promiser.mjs';
