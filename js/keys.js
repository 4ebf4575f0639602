/**
 * The key options of the DB classes, and the C functions that set keys.
 *
 * A key never becomes SQL text. A string is encoded straight into wasm memory, bytes are copied there;
 * that copy is wiped as soon as the C function returns.
 */

/**
 * What a DB constructor's option object may hold besides SQLite's own `filename`, `flags` and `vfs`. At
 * most one of the three keys; an empty one means none.
 * @typedef {object} KeyOptions
 * @property {string | Uint8Array | ArrayBuffer} [key] passphrase (a string counts as its UTF-8 bytes) or
 *   one of the raw key forms
 * @property {string | Uint8Array | ArrayBuffer} [textkey] the same
 * @property {string | Uint8Array | ArrayBuffer} [hexkey] the same in hexadecimal digits; bytes are taken
 *   as they are
 * @property {boolean} [wipeKey] fill the key's byte array with zeros once SQLite has the key
 * @property {string} [cipher] name of the cipher scheme, as for PRAGMA cipher
 * @property {string | Uint8Array} [cipher_salt] 16 bytes, or 32 hexadecimal digits
 * @property {number | boolean} [legacy] this one and the next ones: parameters of the cipher (docs/ciphers.md)
 * @property {number} [legacy_page_size]
 * @property {number} [kdf_iter]
 * @property {number} [fast_kdf_iter]
 * @property {number | boolean} [hmac_use]
 * @property {number} [hmac_pgno]
 * @property {number} [hmac_salt_mask]
 * @property {number} [kdf_algorithm]
 * @property {number} [hmac_algorithm]
 * @property {number | boolean} [hmac_algorithm_compat]
 * @property {number} [tcost]
 * @property {number} [mcost] in KiB
 * @property {number} [pcost]
 * @property {number | string} [algorithm] number or name
 * @property {number} [plaintext_header_size] in bytes
 * @property {number | boolean} [hmac_check]
 * @property {number | boolean} [mc_legacy_wal]
 */

const KEYS = /** @type {const} */ (['key', 'textkey', 'hexkey']);

// In the order in which they are set: `legacy` may change the others.
const PARAMETERS = [
  'legacy',
  'legacy_page_size',
  'kdf_iter',
  'fast_kdf_iter',
  'hmac_use',
  'hmac_pgno',
  'hmac_salt_mask',
  'kdf_algorithm',
  'hmac_algorithm',
  'hmac_algorithm_compat',
  'tcost',
  'mcost',
  'pcost',
  'algorithm',
  'plaintext_header_size',
  'cipher_salt',
  'hmac_check',
  'mc_legacy_wal',
];

const OPTIONS = [...KEYS, 'wipeKey', 'cipher', ...PARAMETERS];

/**
 * A key on its way to wasm memory: the room it may need, and what writes it there.
 * @typedef {object} KeySource
 * @property {number} room in bytes
 * @property {(target: Uint8Array) => number} write returns the number of bytes written
 * @property {Uint8Array} [bytes] the caller's array, if the key came as bytes
 */

/**
 * @param {unknown} value
 * @returns {Uint8Array | undefined}
 */
function asBytes(value) {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

/**
 * @param {Uint8Array} bytes
 * @returns {KeySource}
 */
const bytesSource = (bytes) => ({
  room: bytes.length,
  write: (target) => (target.set(bytes), bytes.length),
  bytes,
});

/**
 * @param {string} text
 * @returns {KeySource}
 */
const textSource = (text) => ({
  room: 3 * text.length, // UTF-8 of one UTF-16 code unit
  write: (target) => new TextEncoder().encodeInto(text, target).written,
});

/**
 * @param {string} digits
 * @returns {KeySource}
 */
const hexSource = (digits) => ({
  room: digits.length / 2,
  write(target) {
    for (let i = 0; i < target.length; i++) target[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
    return target.length;
  },
});

/**
 * @param {any} sqlite3 the API's namespace object; gets its key functions and options here
 */
export function installKeys(sqlite3) {
  const { capi, wasm, SQLite3Error } = sqlite3;
  const { dbCtorHelper } = sqlite3.oo1.DB;

  /** @param {string[]} text */
  const misuse = (...text) => SQLite3Error.toss(capi.SQLITE_MISUSE, ...text);

  /**
   * The one key among a constructor's options.
   * @param {Record<string, any>} options
   * @returns {KeySource | undefined}
   */
  function keyOf(options) {
    const given = KEYS.filter((name) => {
      const value = options[name];
      if (value === undefined || value === null || value === '') return false;
      const bytes = asBytes(value);
      if (!bytes && typeof value !== 'string') misuse(`${name}: expected a string, Uint8Array or ArrayBuffer.`);
      return bytes?.length !== 0;
    });
    if (given.length > 1) misuse(`Only one of ${KEYS.join(', ')} can be given.`);
    const name = given[0];
    if (!name) return undefined;
    const value = options[name];
    const bytes = asBytes(value);
    if (bytes) return bytesSource(bytes);
    if (name === 'hexkey') {
      if (value.length % 2 || !/^[0-9a-f]*$/i.test(value)) {
        SQLite3Error.toss(capi.SQLITE_ERROR, 'hexkey: not an even number of hexadecimal digits.');
      }
      return hexSource(value);
    }
    // A lone surrogate has no UTF-8: all of them would become the same replacement character.
    if (/\p{Surrogate}/u.test(value)) misuse(`${name}: the string has a lone surrogate.`);
    return textSource(value);
  }

  /**
   * The PRAGMA statements for cipher and parameters. They hold no secret.
   * @param {Record<string, any>} options
   * @returns {{name: string, sql: string}[]}
   */
  function pragmasOf(options) {
    return ['cipher', ...PARAMETERS]
      .filter((name) => options[name] !== undefined && options[name] !== null)
      .map((name) => {
        let value = options[name];
        if (name === 'cipher_salt' && asBytes(value)) {
          value = Array.from(/** @type {Uint8Array} */ (asBytes(value)), (b) => b.toString(16).padStart(2, '0')).join('');
        }
        if (typeof value === 'boolean') value = Number(value);
        if (typeof value === 'string' ? !/^[\w-]+$/.test(value) : !Number.isSafeInteger(value)) misuse(`${name}: not a valid value.`);
        return { name, sql: `PRAGMA ${name}='${value}'` };
      });
  }

  /**
   * Calls `use` with the address and the size of the key in wasm memory.
   * @param {KeySource} source
   * @param {(address: number, size: number) => number} use
   */
  function withKey(source, use) {
    const address = wasm.alloc(source.room || 1);
    try {
      return use(address, source.write(wasm.heap8u().subarray(address, address + source.room)));
    } finally {
      wasm.heap8u().fill(0, address, address + source.room); // memory may have grown: not the view from above
      wasm.dealloc(address);
    }
  }

  // Constructors look at their arguments first: a bad option must not leave an empty file behind.
  const normalizeArgs = dbCtorHelper.normalizeArgs;
  dbCtorHelper.normalizeArgs = function (/** @type {any[]} */ ...args) {
    const options = normalizeArgs.apply(this, args);
    keyOf(options);
    pragmasOf(options);
    return options;
  };

  // The worker API passes these on from its "open" message.
  dbCtorHelper.keyOptions = (/** @type {Record<string, any>} */ options) =>
    Object.fromEntries(OPTIONS.filter((name) => name in options).map((name) => [name, options[name]]));

  /**
   * Called right after a database was opened, before anything reads it. Throws: the constructor closes
   * the database.
   * @param {any} db
   * @param {Record<string, any>} options
   */
  dbCtorHelper.applyKeyOptions = (db, options) => {
    for (const { name, sql } of pragmasOf(options)) {
      // A parameter that the scheme does not have gives no row.
      if (db.selectValue(sql) === undefined) SQLite3Error.toss(capi.SQLITE_ERROR, `${name}: the cipher has no such parameter.`);
    }
    const source = keyOf(options);
    if (!source) return;
    try {
      db.checkRc(withKey(source, (address, size) => wasm.exports.sqlite3_key_v2(db.pointer, 0, address, size)));
    } finally {
      if (options.wipeKey) source.bytes?.fill(0);
    }
  };

  /**
   * capi.sqlite3_key() and its three relatives: as in C, but the key may also be a string or bytes, whose
   * size is then known: `size` may be left out, or limits it.
   * @param {string} name
   * @param {boolean} hasSchema
   */
  function bindKeyFunction(name, hasSchema) {
    return (/** @type {any[]} */ ...args) => {
      const db = wasm.xWrap.testConvertArg('sqlite3*', args.shift());
      const schema = hasSchema ? args.shift() : null;
      const [key, size = -1] = args;
      const scope = wasm.scopedAllocPush();
      try {
        const zSchema = typeof schema === 'string' ? wasm.scopedAllocCString(schema) : (schema ?? 0);
        const call = (/** @type {number} */ address, /** @type {number} */ n) =>
          hasSchema ? wasm.exports[name](db, zSchema, address, n) : wasm.exports[name](db, address, n);
        const bytes = asBytes(key);
        if (!bytes && typeof key !== 'string') return call(key ?? 0, key ? size : 0);
        return withKey(bytes ? bytesSource(bytes) : textSource(key), (address, n) => call(address, size < 0 ? n : Math.min(n, size)));
      } finally {
        wasm.scopedAllocPop(scope);
      }
    };
  }
  capi.sqlite3_key = bindKeyFunction('sqlite3_key', false);
  capi.sqlite3_key_v2 = bindKeyFunction('sqlite3_key_v2', true);
  capi.sqlite3_rekey = bindKeyFunction('sqlite3_rekey', false);
  capi.sqlite3_rekey_v2 = bindKeyFunction('sqlite3_rekey_v2', true);
  capi.sqlite3_activate_see = wasm.xWrap('sqlite3_activate_see', undefined, ['string']);
}
