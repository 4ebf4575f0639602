/**
 * sqlite3mc-wasm in Node: the official SQLite API (https://sqlite.org/wasm), with encryption, on real files.
 */
import { start } from './api.js';
import { bootstrap, glue } from './built-node.js';
import { createNodeHost } from './node-host.js';

export * from './types.js';

/**
 * Starts SQLite: a new module, independent of those made before. Its default VFS is the file system.
 * @param {import('./loader.js').InitOptions} [options]
 */
export default async function sqlite3InitModule(options) {
  const sqlite3 = await start(glue, bootstrap, { ...options, mcHost: createNodeHost() });
  const { wasm, SQLite3Error } = sqlite3;
  const rc =
    wasm.exports.sqlite3mc_node_vfs_register(0) || wasm.xCallWrapped('sqlite3mc_vfs_create', 'int', ['string', 'int'], 'node', 1);
  if (rc) throw new SQLite3Error(rc, 'The file system VFS cannot be registered.');
  return sqlite3;
}
