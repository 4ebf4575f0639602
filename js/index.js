/**
 * sqlite3mc-wasm in browsers: the official SQLite API (https://sqlite.org/wasm), with encryption.
 */
import { promiser } from './built-worker1.js';

export { default } from './init.js';
export * from './types.js';

/**
 * Starts SQLite in a worker of its own; resolves to a function that sends it messages.
 * @type {import('./types.js').Worker1Promiser}
 */
export const sqlite3Worker1Promiser = promiser;
