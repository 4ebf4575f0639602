/**
 * Puts every database under the encrypting VFS. `multipleciphers-X` reads and writes through the VFS X;
 * it is made when a database is first opened in it. SQLite's own JavaScript knows X only, so here
 *   - opening with X opens with `multipleciphers-X`, and a VFS made the default is made so by that name;
 *   - what is kept by the address of X (code to run after opening) is found from a database in
 *     `multipleciphers-X`;
 *   - unregistering X takes `multipleciphers-X` along, which would be left pointing to freed memory.
 */

const PREFIX = 'multipleciphers-';

// Storage that a page codec cannot sit on: memory, and kvvfs, which reads the database header itself.
// Setting a key there is refused by the C code.
const UNWRAPPED = new Set(['memdb', 'kvvfs']);

/** @param {any} sqlite3 the API's namespace object */
export function installVfsShims(sqlite3) {
  const { capi, wasm } = sqlite3;
  const { dbCtorHelper } = sqlite3.oo1.DB;

  /** @param {any} value a JS string, the address of a C string, or neither */
  const text = (value) => (typeof value === 'string' ? value : value && wasm.isPtr(value) ? wasm.cstrToJs(value) : value);

  /** @type {(name: string, makeDefault: number) => number} */
  const createShim = wasm.xWrap('sqlite3mc_vfs_create', 'int', ['string', 'int']);

  /**
   * The name under which to open what was to be opened in the VFS of this name. One that does not exist
   * stays as it is: SQLite's message then names what was asked for.
   * @param {string} name
   */
  function shimName(name) {
    if (name.startsWith(PREFIX) || UNWRAPPED.has(name) || createShim(name, 0) === capi.SQLITE_NOTFOUND) return name;
    return PREFIX + name;
  }

  /**
   * The same in the `vfs` parameter of a URI file name, which beats the argument.
   * @param {string} filename
   */
  function shimUri(filename) {
    if (!filename.startsWith('file:')) return filename;
    return filename.replace(/^([^?#]*\?)([^#]*)/, (_, path, query) =>
      path + query.replace(/(^|&)vfs=([^&]*)/g, (/** @type {string[]} */ ...m) => `${m[1]}vfs=${shimName(m[2])}`),
    );
  }

  const { sqlite3_open, sqlite3_open_v2, sqlite3_vfs_register, sqlite3_vfs_unregister, sqlite3_js_db_uses_vfs } = capi;

  /** @param {any} filename */
  function wrapFilename(filename) {
    const name = text(filename);
    const uri = typeof name === 'string' ? shimUri(name) : name;
    return uri === name ? filename : uri;
  }

  capi.sqlite3_open = (/** @type {any} */ filename, /** @type {number} */ ppDb) => sqlite3_open(wrapFilename(filename), ppDb);

  capi.sqlite3_open_v2 = (/** @type {any} */ filename, /** @type {number} */ ppDb, /** @type {number} */ flags, /** @type {any} */ vfs) => {
    const name = text(vfs);
    return sqlite3_open_v2(wrapFilename(filename), ppDb, flags, name ? shimName(name) : vfs);
  };

  /**
   * @param {any} vfs capi.sqlite3_vfs object, name or address
   * @returns {string}
   */
  function nameOf(vfs) {
    if (typeof vfs === 'string') return vfs;
    const struct = vfs instanceof capi.sqlite3_vfs ? vfs : new capi.sqlite3_vfs(vfs);
    const name = wasm.cstrToJs(struct.$zName);
    if (struct !== vfs) struct.dispose();
    return name;
  }

  capi.sqlite3_vfs_register = (/** @type {any} */ vfs, /** @type {number} */ makeDefault) => {
    const name = nameOf(vfs);
    const wrapped = name.startsWith(PREFIX) || UNWRAPPED.has(name);
    const rc = sqlite3_vfs_register(vfs, wrapped ? makeDefault : 0);
    if (rc || wrapped || !makeDefault) return rc;
    return createShim(name, 1);
  };

  capi.sqlite3_vfs_unregister = (/** @type {any} */ vfs) => {
    const shim = vfs ? PREFIX + nameOf(vfs) : '';
    if (shim && capi.sqlite3_vfs_find(shim)) wasm.xCallWrapped('sqlite3mc_vfs_destroy', undefined, ['string'], shim);
    return sqlite3_vfs_unregister(vfs);
  };

  capi.sqlite3_js_db_uses_vfs = (/** @type {any} */ db, /** @type {any} */ vfs, /** @type {any} */ schema = 0) => {
    const name = text(vfs);
    return sqlite3_js_db_uses_vfs(db, vfs, schema) || (!!name && sqlite3_js_db_uses_vfs(db, PREFIX + name, schema));
  };

  // cmake/patches.cmake has the constructors call this between opening and the VFS's post-open code. The
  // result is the VFS by whose address that code is looked up.
  dbCtorHelper.afterOpen = (/** @type {any} */ db, /** @type {Record<string, any>} */ options) => {
    dbCtorHelper.applyKeyOptions(db, options);
    const name = nameOf(capi.sqlite3_js_db_vfs(db.pointer));
    return name.startsWith(PREFIX) ? capi.sqlite3_vfs_find(name.slice(PREFIX.length)) : 0;
  };
}
