/**
 * importDb() for OPFS that takes encrypted databases too, and leaves the old database alone until the new
 * one is there in full. SQLite's own looks for the plain header text and writes to the target at once.
 */

const MAGIC = new TextEncoder().encode('SQLite format 3\0');
const HEAD = 512; // bytes looked at: the smallest page
const BLOCK = 65536;

/** @typedef {Uint8Array | ArrayBuffer} Bytes */
/** @typedef {() => Bytes | undefined | Promise<Bytes | undefined>} ChunkCallback the next piece, undefined at the end */

/**
 * Where an import is written to.
 * @typedef {object} Target
 * @property {(bytes: Uint8Array, offset: number) => void} write throws unless all bytes were written
 */

/** @param {any} sqlite3 the API's namespace object */
export function installImport(sqlite3) {
  const { capi, wasm, SQLite3Error } = sqlite3;

  /** @type {(code: number, message: string) => never} */
  const toss = (code, message) => {
    throw new SQLite3Error(code, message);
  };

  /**
   * An error of the browser as one of SQLite's. SQLITE_BUSY: another connection, worker or tab has the file
   * open. SQLITE_CANTOPEN: there is no OPFS here, or it fails.
   * @param {string} what
   * @param {any} error
   */
  function typed(what, error) {
    if (error instanceof SQLite3Error) return error;
    const code = error?.name === 'NoModificationAllowedError' ? capi.SQLITE_BUSY : capi.SQLITE_CANTOPEN;
    return Object.assign(new SQLite3Error(code, `${what}:`, error?.message ?? error), { cause: error });
  }

  /**
   * What the first page says about a database. Throws if it is none.
   *
   * A plain database begins with a known text. Of an encrypted one nothing is certain but that it looks
   * random, so about half of its bytes are above 127: with less than an eighth, it is text, zeros or markup.
   * @param {Uint8Array} head HEAD bytes
   * @returns {{minimum: number, unit: number, wal: boolean}} the size is at least `minimum` and a multiple
   *   of `unit`; `wal`: certainly a plain database in WAL mode
   */
  function examine(head) {
    const view = new DataView(head.buffer, head.byteOffset);
    // Bytes 16 to 23 are in plaintext in nearly all encrypted databases: page size and three constants.
    const pageSize = view.getUint16(16) === 1 ? 65536 : view.getUint16(16);
    const known = pageSize >= 512 && !(pageSize & (pageSize - 1)) && head[21] === 64 && head[22] === 32 && head[23] === 32;
    const unit = known ? pageSize : 512;
    if (MAGIC.some((byte, i) => head[i] !== byte)) {
      if (head.filter((byte) => byte > 127).length < HEAD / 8) toss(capi.SQLITE_NOTADB, 'The input is not a database.');
      return { minimum: unit, unit, wal: false };
    }
    // An encrypted database may have a plaintext header, which its page 1 authenticates. Such a header shows
    // at least 16 reserved bytes, or ends before the 20 bytes that are zero in a plain one.
    if (head[20] >= 16 || head.subarray(72, 92).some((byte) => byte !== 0)) return { minimum: unit, unit, wal: false };
    // The page count is valid if the change counter has the value that was stored along with it.
    const pages = view.getUint32(24) === view.getUint32(92) ? view.getUint32(28) : 1;
    return { minimum: pages * unit, unit, wal: head[18] === 2 || head[19] === 2 };
  }

  /**
   * Throws unless a database that begins with `head` can have this size.
   * @param {number} size
   * @param {Uint8Array} head
   * @returns {boolean} whether it is certainly a plain database in WAL mode
   */
  function checkDatabase(size, head) {
    const { minimum, unit, wal } = size < HEAD ? { minimum: HEAD, unit: 1, wal: false } : examine(head);
    if (size < minimum || size % unit) toss(capi.SQLITE_NOTADB, `The input ends too early: ${size} bytes.`);
    return wal;
  }

  /**
   * The storage has no shared memory, which WAL mode needs: a plain database leaves that mode. (In an
   * encrypted one that takes the key.)
   * @param {Target} target
   */
  const leaveWal = (target) => target.write(Uint8Array.of(1, 1), 18);

  /**
   * @param {unknown} chunk
   * @returns {Uint8Array}
   */
  function bytesOf(chunk) {
    if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
    return chunk instanceof Uint8Array ? chunk : toss(capi.SQLITE_MISUSE, 'importDb(): expected a Uint8Array or ArrayBuffer.');
  }

  /**
   * @param {Target} target
   * @param {Uint8Array} bytes
   */
  function writeAll(target, bytes) {
    const wal = checkDatabase(bytes.length, bytes.subarray(0, HEAD));
    target.write(bytes, 0);
    if (wal) leaveWal(target);
    return bytes.length;
  }

  /**
   * @param {Target} target
   * @param {ChunkCallback} next
   */
  async function writeChunks(target, next) {
    const head = new Uint8Array(HEAD);
    let size = 0;
    for (let chunk; (chunk = await next()) !== undefined; ) {
      const bytes = bytesOf(chunk);
      if (size < HEAD) {
        head.set(bytes.subarray(0, HEAD - size), size);
        if (size + bytes.length >= HEAD) examine(head); // no use in reading on
      }
      target.write(bytes, size);
      size += bytes.length;
    }
    if (checkDatabase(size, head)) leaveWal(target);
    return size;
  }

  // -------------------------------------------------------------------------------------------------
  // opfs, opfs-wl: each database is a file of its own in OPFS

  /**
   * @param {FileSystemFileHandle} file
   * @param {(target: Target) => number | Promise<number>} write
   */
  async function writeFile(file, write) {
    const handle = await /** @type {any} */ (file).createSyncAccessHandle();
    try {
      const size = await write({
        write(bytes, offset) {
          let written = 0;
          try {
            written = handle.write(bytes, { at: offset });
          } catch (/** @type {any} */ error) {
            if (error.name !== 'QuotaExceededError') throw error;
          }
          if (written !== bytes.length) toss(capi.SQLITE_FULL, 'importDb(): the storage is full.');
        },
      });
      handle.flush();
      return size;
    } finally {
      handle.close();
    }
  }

  /**
   * OpfsDb.importDb(), OpfsWlDb.importDb(). The new file takes the old one's place in one step.
   * @param {string} filename
   * @param {Bytes | ChunkCallback} source
   * @returns {Promise<number>} size in bytes
   */
  async function importToOpfs(filename, source) {
    const path = new URL(filename, 'file://localhost/').pathname.split('/').filter((part) => part);
    const name = path.pop() ?? toss(capi.SQLITE_MISUSE, 'importDb(): no file name.');
    let directory = await navigator.storage.getDirectory();
    for (const part of path) directory = await directory.getDirectoryHandle(part, { create: true });
    const temporary = `${name}.import-${crypto.randomUUID()}`;
    const file = await directory.getFileHandle(temporary, { create: true });
    try {
      const size = await writeFile(file, (target) =>
        typeof source === 'function' ? writeChunks(target, source) : writeAll(target, bytesOf(source)),
      );
      await replaceFile(directory, name, file).catch((error) => {
        throw typed('importDb()', error);
      });
      return size;
    } catch (error) {
      await directory.removeEntry(temporary).catch(() => {});
      throw error;
    }
  }

  /**
   * A journal of the old database must not be played back into the new one, and must be there if the old
   * one stays. Throws a NoModificationAllowedError if a connection has a lock on the old one.
   * @param {FileSystemDirectoryHandle} directory
   * @param {string} name
   * @param {FileSystemFileHandle} file takes the place of the file of that name
   */
  async function replaceFile(directory, name, file) {
    /** @type {(name: string) => Promise<any>} */
    const find = (name) =>
      directory.getFileHandle(name).catch((error) => {
        if (error.name !== 'NotFoundError') throw error;
      });
    const lock = await (await find(name))?.createSyncAccessHandle();
    /** @type {[any, string][]} */
    const journals = [];
    try {
      for (const suffix of ['-journal', '-wal']) {
        const journal = await find(name + suffix);
        if (!journal) continue;
        await journal.move(directory, `${file.name}${suffix}`);
        journals.push([journal, name + suffix]);
      }
      lock?.close();
      await /** @type {any} */ (file).move(directory, name);
    } catch (error) {
      lock?.close();
      for (const [journal, oldName] of journals) await journal.move(directory, oldName);
      throw error;
    }
    for (const [journal] of journals) await directory.removeEntry(journal.name);
  }

  // -------------------------------------------------------------------------------------------------
  // opfs-sahpool: through the pool's VFS, which alone knows its files

  /**
   * Opens a file of a pool by the methods of its sqlite3_vfs.
   * @param {string} vfsName
   * @param {string} filename
   * @param {number} flags SQLITE_OPEN_...
   */
  function openPoolFile(vfsName, filename, flags) {
    const vfs = new capi.sqlite3_vfs(capi.sqlite3_vfs_find(vfsName));
    const file = new capi.sqlite3_file();
    const zName = wasm.allocCString(filename);
    const buffer = wasm.alloc(BLOCK);
    const release = () => {
      wasm.dealloc(buffer);
      wasm.dealloc(zName);
      file.dispose();
      vfs.dispose();
    };
    /** @type {(rc: number) => void} */
    const check = (rc) => {
      if (rc) toss(rc, `importDb(): ${capi.sqlite3_js_rc_str(rc)} from ${vfsName}.`);
    };
    try {
      check(wasm.functionEntry(vfs.$xOpen)(vfs.pointer, zName, file.pointer, flags, buffer));
    } catch (error) {
      release();
      throw error;
    }
    const io = new capi.sqlite3_io_methods(file.$pMethods);
    /** @type {(name: string, ...args: any[]) => number} */
    const call = (name, ...args) => wasm.functionEntry(io['$' + name])(file.pointer, ...args);
    return {
      /** @type {Target['write']} */
      write(bytes, offset) {
        for (let at = 0; at < bytes.length; at += BLOCK) {
          const block = bytes.subarray(at, at + BLOCK);
          wasm.heap8u().set(block, buffer);
          check(call('xWrite', buffer, block.length, BigInt(offset + at)));
        }
      },
      /**
       * Copies the first `size` bytes.
       * @param {Target} target
       * @param {number} size
       */
      copyTo(target, size) {
        for (let at = 0; at < size; at += BLOCK) {
          const length = Math.min(BLOCK, size - at);
          check(call('xRead', buffer, length, BigInt(at)));
          target.write(wasm.heap8u().slice(buffer, buffer + length), at);
        }
      },
      /** Throws SQLITE_BUSY if a connection has a lock. */
      lock() {
        check(call('xLock', capi.SQLITE_LOCK_SHARED));
        check(call('xLock', capi.SQLITE_LOCK_EXCLUSIVE));
      },
      truncate: (/** @type {number} */ size) => check(call('xTruncate', BigInt(size))),
      sync: () => check(call('xSync', capi.SQLITE_SYNC_NORMAL)),
      close() {
        call('xClose');
        io.dispose();
        release();
      },
    };
  }

  /**
   * importDb() of a pool.
   * @param {any} pool
   */
  function poolImport(pool) {
    const pathOf = (/** @type {string} */ name) => new URL(name, 'file://localhost/').pathname;
    const flags = capi.SQLITE_OPEN_CREATE | capi.SQLITE_OPEN_READWRITE;

    /**
     * @param {string} path
     * @param {(target: Target) => void} write
     */
    function replace(path, write) {
      const file = openPoolFile(pool.vfsName, path, flags | capi.SQLITE_OPEN_MAIN_DB);
      let broken = false;
      try {
        file.lock();
        // A journal of the old database must not be played back into the new one.
        for (const suffix of ['-journal', '-wal']) pool.unlink(path + suffix);
        broken = true;
        file.truncate(0);
        write(file);
        file.sync();
        broken = false;
      } finally {
        file.close();
        if (broken) pool.unlink(path);
      }
    }

    /**
     * The pieces are gathered in a temporary file of the pool: a stream may end too early.
     * @param {string} path
     * @param {ChunkCallback} next
     */
    async function importChunks(path, next) {
      const extra = pool.getFileCount() >= pool.getCapacity();
      if (extra) await pool.addCapacity(1);
      try {
        const file = openPoolFile(
          pool.vfsName,
          `${path}.import-${crypto.randomUUID()}`,
          flags | capi.SQLITE_OPEN_TRANSIENT_DB | capi.SQLITE_OPEN_DELETEONCLOSE,
        );
        try {
          const size = await writeChunks(file, next);
          replace(path, (target) => file.copyTo(target, size));
          return size;
        } finally {
          file.close();
        }
      } finally {
        if (extra) await pool.reduceCapacity(1);
      }
    }

    return (/** @type {string} */ name, /** @type {Bytes | ChunkCallback} */ source) => {
      if (typeof source === 'function') return importChunks(pathOf(name), source);
      const bytes = bytesOf(source);
      checkDatabase(bytes.length, bytes.subarray(0, HEAD)); // before the old database goes
      replace(pathOf(name), (target) => writeAll(target, bytes));
      return bytes.length;
    };
  }

  if (sqlite3.oo1.OpfsDb) sqlite3.oo1.OpfsDb.importDb = importToOpfs;
  if (sqlite3.oo1.OpfsWlDb) sqlite3.oo1.OpfsWlDb.importDb = importToOpfs;

  const { installOpfsSAHPoolVfs } = sqlite3;
  if (!installOpfsSAHPoolVfs) return;
  const seen = new WeakSet();
  sqlite3.installOpfsSAHPoolVfs = async (/** @type {object} */ options) => {
    /** @type {any} */
    let pool;
    try {
      // A start that failed has left everything as it was: the next call may try again.
      pool = await installOpfsSAHPoolVfs({ forceReinitIfPreviouslyFailed: true, ...options });
    } catch (error) {
      throw typed('opfs-sahpool', error);
    }
    if (!seen.has(pool)) {
      seen.add(pool);
      pool.importDb = poolImport(pool);
    }
    return pool;
  };
}
