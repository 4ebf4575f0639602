/**
 * A SQLite VFS in JavaScript memory, for the benchmark of whole databases: the same code for every
 * package that has SQLite's official WASM API, so that none is helped or held back by its storage. It
 * counts the reads and writes, which shows that a measured query really went through the file.
 *
 * One connection per database: locks are granted to anyone. There is no WAL.
 */

/** @typedef {{ blocks: Uint8Array[], size: number }} MemoryFile a growing file gets more blocks and is never copied */

const BLOCK = 4096;
const BLOCKS_AT_ONCE = 256;

/** @param {MemoryFile} file */
function grow({ blocks }) {
  const memory = new ArrayBuffer(BLOCK * BLOCKS_AT_ONCE);
  for (let i = 0; i < BLOCKS_AT_ONCE; i++) blocks.push(new Uint8Array(memory, i * BLOCK, BLOCK));
}

/**
 * Copies between a file and the heap. A whole block is copied without making an object.
 * @param {MemoryFile} file
 * @param {number} start in the file
 * @param {number} n
 * @param {Uint8Array} heap
 * @param {number} address in the heap
 */
function copyOut({ blocks }, start, n, heap, address) {
  for (const end = start + n; start < end; ) {
    const at = start % BLOCK;
    const length = Math.min(end - start, BLOCK - at);
    const block = blocks[(start - at) / BLOCK];
    heap.set(length === BLOCK ? block : block.subarray(at, at + length), address);
    start += length;
    address += length;
  }
}

/** @type {typeof copyOut} */
function copyIn({ blocks }, start, n, heap, address) {
  for (const end = start + n; start < end; ) {
    const at = start % BLOCK;
    const length = Math.min(end - start, BLOCK - at);
    blocks[(start - at) / BLOCK].set(heap.subarray(address, address + length), at);
    start += length;
    address += length;
  }
}

/** @param {MemoryFile} file @returns {Buffer} all of it */
export function contents(file) {
  return Buffer.concat(file.blocks).subarray(0, file.size);
}

/**
 * Makes a file with this content.
 * @param {{ files: Map<string, MemoryFile> }} memory @param {string} name @param {Buffer} bytes
 */
export function setContents({ files }, name, bytes) {
  /** @type {MemoryFile} */
  const file = { blocks: [], size: bytes.length };
  while (file.blocks.length * BLOCK < bytes.length) grow(file);
  for (let at = 0; at < bytes.length; at += BLOCK) file.blocks[at / BLOCK].set(bytes.subarray(at, at + BLOCK));
  files.set(name, file);
}

/**
 * @param {any} sqlite3 the API's namespace object
 * @param {string} name of the VFS
 * @returns {{ files: Map<string, MemoryFile>, calls: { reads: number, writes: number } }}
 */
export function installMemoryVfs(sqlite3, name) {
  const { capi, wasm } = sqlite3;
  /** @type {Map<string, MemoryFile>} */
  const files = new Map();
  /** @type {Map<number, MemoryFile>} by address of the sqlite3_file */
  const opened = new Map();
  const calls = { reads: 0, writes: 0 };
  let temporary = 0;

  /** @param {number} address of a sqlite3_file */
  const fileAt = (address) => /** @type {MemoryFile} */ (opened.get(address));

  /** @type {Record<string, (...args: any[]) => number>} */
  const ioMethods = {
    xClose: (file) => (opened.delete(file), 0),
    xRead(file, target, n, offset) {
      calls.reads++;
      const it = fileAt(file);
      const start = Number(offset);
      const there = Math.max(0, Math.min(n, it.size - start));
      const heap = wasm.heap8u();
      copyOut(it, start, there, heap, target);
      if (there === n) return 0;
      heap.fill(0, target + there, target + n);
      return capi.SQLITE_IOERR_SHORT_READ;
    },
    xWrite(file, source, n, offset) {
      calls.writes++;
      const it = fileAt(file);
      const start = Number(offset);
      while (it.blocks.length * BLOCK < start + n) grow(it);
      copyIn(it, start, n, wasm.heap8u(), source);
      it.size = Math.max(it.size, start + n);
      return 0;
    },
    xTruncate(file, size) {
      const it = fileAt(file);
      const start = Number(size);
      if (start >= it.size) return 0;
      // What is written behind the end later must find zeros before it.
      const first = Math.ceil(start / BLOCK);
      if (start % BLOCK) it.blocks[first - 1].fill(0, start % BLOCK);
      it.blocks.length = first;
      it.size = start;
      return 0;
    },
    xSync: () => 0,
    xFileSize: (file, out) => (wasm.poke(out, BigInt(fileAt(file).size), 'i64'), 0),
    xLock: () => 0,
    xUnlock: () => 0,
    xCheckReservedLock: (_file, out) => (wasm.poke(out, 0, 'i32'), 0),
    xFileControl: () => capi.SQLITE_NOTFOUND,
    xSectorSize: () => 4096,
    xDeviceCharacteristics: () => capi.SQLITE_IOCAP_POWERSAFE_OVERWRITE,
  };
  const io = new capi.sqlite3_io_methods();
  io.$iVersion = 1;

  /** @type {Record<string, (...args: any[]) => number>} */
  const vfsMethods = {
    xOpen(_vfs, zName, pFile, flags, pOutFlags) {
      const path = zName ? wasm.cstrToJs(zName) : `temporary ${temporary++}`;
      let it = files.get(path);
      if (!it) {
        if (!(flags & capi.SQLITE_OPEN_CREATE)) return capi.SQLITE_CANTOPEN;
        it = { blocks: [], size: 0 };
        files.set(path, it);
      }
      opened.set(pFile, it);
      const file = new capi.sqlite3_file(pFile);
      file.$pMethods = io.pointer;
      file.dispose();
      if (pOutFlags) wasm.poke(pOutFlags, flags, 'i32');
      return 0;
    },
    xDelete: (_vfs, zName) => (files.delete(wasm.cstrToJs(zName)), 0),
    xAccess: (_vfs, zName, _flags, out) => (wasm.poke(out, files.has(wasm.cstrToJs(zName)) ? 1 : 0, 'i32'), 0),
    xFullPathname: (_vfs, zName, size, out) => (wasm.cstrncpy(out, zName, size) < size ? 0 : capi.SQLITE_CANTOPEN),
    xGetLastError: () => 0,
    xCurrentTime: (_vfs, out) => (wasm.poke(out, 2440587.5 + Date.now() / 86400000, 'double'), 0),
    xCurrentTimeInt64: (_vfs, out) => (wasm.poke(out, BigInt(210866760000000 + Date.now()), 'i64'), 0),
  };
  const vfs = new capi.sqlite3_vfs();
  vfs.$iVersion = 2;
  vfs.$szOsFile = capi.sqlite3_file.structInfo.sizeof;
  vfs.$mxPathname = 512;
  // Nonces are made of what the default VFS gives.
  const usual = new capi.sqlite3_vfs(capi.sqlite3_vfs_find(null));
  vfs.$xRandomness = usual.$xRandomness;
  vfs.$xSleep = usual.$xSleep;
  usual.dispose();

  sqlite3.vfs.installVfs({
    io: { struct: io, methods: ioMethods },
    vfs: { struct: vfs, methods: vfsMethods, name },
  });
  return { files, calls };
}
