/**
 * The C functions of wasm/sqlite3mc.h about settings and files, with the signatures that they have in C. A
 * database is given as DB object or as pointer, a callback as function or 0; out parameters are addresses.
 */

/** @typedef {import('./types.js').Handle} Handle */
/** @typedef {import('./types.js').Address} Address */

/**
 * Names and values of schemes and settings; see wasm/sqlite3mc.h for results and errors.
 * @typedef {object} SettingFunctions
 * @property {() => string} sqlite3mc_version
 * @property {() => number} sqlite3mc_cipher_count
 * @property {(name: string) => number} sqlite3mc_cipher_index
 * @property {(cipher: number) => string} sqlite3mc_cipher_name
 * @property {(db: Handle | null, option: string, value: number) => number} sqlite3mc_config value -1: read
 * @property {(db: Handle | null, cipher: string, parameter: string, value: number) => number} sqlite3mc_config_cipher
 * @property {(db: Handle, schema: string | null, name: string) => Address} sqlite3mc_codec_data to be freed by
 *   capi.sqlite3_free()
 */

/**
 * @callback PageCallback
 * @param {Address} arg
 * @param {number} page from 1, as a signed number; `>>> 0` makes it unsigned
 * @param {number} frame of the WAL; 0: the main file
 * @param {number} status one of capi.SQLITE3MC_PAGE_...
 * @param {number} item the how-many-eth this is
 * @param {number} total of how many
 * @returns {number} 0 to go on
 */

/**
 * @callback ProgressCallback
 * @param {Address} arg
 * @param {number} done pages
 * @param {number} total pages
 * @returns {number} 0 to go on; otherwise nothing is changed, and the result is capi.SQLITE_INTERRUPT
 */

/**
 * @typedef {object} FileFunctions
 * @property {(db: Handle, callback: ProgressCallback | 0, arg: Address) => number} sqlite3mc_progress called by each
 *   rekey of this connection from now on, until it is closed or another is given; 0: none
 * @property {(db: Handle, schema: string | null, callback: PageCallback | 0, arg: Address, bad: Address) => number} sqlite3mc_verify
 *   bad: 0, or where the number of bad pages goes (64 bits)
 * @property {(db: Handle, schema: string | null, key: Address, size: number,
 *   callback: ((arg: Address, done: number, total: number) => number) | 0, arg: Address, found: Address) => number} sqlite3mc_identify
 *   found: where the address of the answer goes, which is to be freed by capi.sqlite3_free()
 */

const STATUS = ['OK', 'BAD', 'UNCHECKED', 'HOLE', 'LOCK', 'SHORT'];

/**
 * @param {any} sqlite3 the API's namespace object; its capi gets the functions
 */
export function installFunctions(sqlite3) {
  const { capi, wasm } = sqlite3;
  const { FuncPtrAdapter } = wasm.xWrap;
  // It warns applications off; this is a part of the API.
  FuncPtrAdapter.warnOnUse = false;
  const callback = (/** @type {string} */ name, /** @type {string} */ signature) =>
    new FuncPtrAdapter({ name, signature, bindScope: 'transient' });
  const progress = new FuncPtrAdapter({
    name: 'xProgress',
    signature: 'i(pjj)',
    bindScope: 'context',
    contextKey: (/** @type {any[]} */ argv) => argv[0],
    callProxy: (/** @type {ProgressCallback} */ fn) => (/** @type {Address} */ arg, /** @type {bigint} */ done, /** @type {bigint} */ total) =>
      fn(arg, Number(done), Number(total)),
  });
  /** @type {[string, string, any[]][]} */
  const functions = [
    ['sqlite3mc_version', 'string', []],
    ['sqlite3mc_cipher_count', 'int', []],
    ['sqlite3mc_cipher_index', 'int', ['string']],
    ['sqlite3mc_cipher_name', 'string', ['int']],
    ['sqlite3mc_config', 'int', ['sqlite3*', 'string', 'int']],
    ['sqlite3mc_config_cipher', 'int', ['sqlite3*', 'string', 'string', 'int']],
    ['sqlite3mc_codec_data', '*', ['sqlite3*', 'string', 'string']],
    ['sqlite3mc_progress', 'int', ['sqlite3*', progress, '*']],
    ['sqlite3mc_verify', 'int', ['sqlite3*', 'string', callback('xPage', 'i(piiiii)'), '*', '*']],
    ['sqlite3mc_identify', 'int', ['sqlite3*', 'string', '*', 'int', callback('xProgress', 'i(pii)'), '*', '**']],
  ];
  for (const [name, result, parameters] of functions) capi[name] = wasm.xWrap(name, result, parameters);
  FuncPtrAdapter.warnOnUse = true;
  // What SQLite's API does for its own callbacks: the entry in the function table goes with the connection.
  const { sqlite3_close_v2: close } = capi;
  capi.sqlite3_close_v2 = (/** @type {any} */ db) => {
    if (db) capi.sqlite3mc_progress(db, 0, 0);
    return close(db);
  };
  STATUS.forEach((status, i) => (capi[`SQLITE3MC_PAGE_${status}`] = i));
}
