import { start } from './api.js';
import { bootstrap, glue } from './built.js';

/**
 * Starts SQLite in a browser: a new module, independent of those made before.
 * @param {import('./loader.js').InitOptions} [options]
 */
export default function sqlite3InitModule(options) {
  return start(glue, bootstrap, options);
}
