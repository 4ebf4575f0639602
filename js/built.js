// What the build made of Emscripten's and SQLite's sources (types: built.d.ts).
export { default as glue } from '../dist/sqlite3mc-core.mjs';
export { default as bootstrap } from '../dist/sqlite3-api.mjs';
