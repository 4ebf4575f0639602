// The same for Node: SQLite's API without the browsers' storage (types: built-node.d.ts).
export { default as glue } from '../dist/sqlite3mc-core.mjs';
export { default as bootstrap } from '../dist/sqlite3-api-node.mjs';
