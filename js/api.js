import { installFunctions } from './functions.js';
import { installImport } from './import.js';
import { installKeys } from './keys.js';
import { loadCore } from './loader.js';
import { installVfsShims } from './vfs.js';

/** @typedef {import('./types.js').Sqlite3} Sqlite3 */

/**
 * SQLite's JavaScript API over a new WebAssembly module, with the parts of this package put in.
 * @param {(options: object) => Promise<any>} glue default export of dist/sqlite3mc-core.mjs
 * @param {(...args: any[]) => Promise<any>} bootstrap default export of dist/sqlite3-api.mjs or its Node form
 * @param {import('./loader.js').InitOptions & {mcHost?: object}} [options] mcHost: see node-host.js
 * @returns {Promise<Sqlite3>}
 */
export async function start(glue, bootstrap, options) {
  const { core, variant } = await loadCore(glue, options);
  // What SQLite's own loader would tell about the script that it is in.
  const scriptInfo = {
    debugModule() {},
    isWorker: 'WorkerGlobalScope' in globalThis,
    location: globalThis.location,
    urlParams: new URLSearchParams(globalThis.location?.search ?? ''),
  };
  const sqlite3 = await bootstrap(scriptInfo, core, false);
  installKeys(sqlite3);
  installFunctions(sqlite3);
  installVfsShims(sqlite3);
  installImport(sqlite3);
  sqlite3.mc = Object.freeze({
    version: sqlite3.wasm.cstrToJs(sqlite3.wasm.exports.sqlite3mc_version()),
    variant,
  });
  return sqlite3;
}
