/**
 * The worker of a test: starts SQLite, then runs the functions that the test sends (as source text) one
 * after another. They get `tools`, which stays the same object.
 */
import sqlite3InitModule from '/js/index.js';

const sqlite3 = await sqlite3InitModule();
let pool;

const tools = {
  sqlite3,

  /** The pool of these tests; waits for a worker that had it open and was killed. */
  async pool() {
    while (!pool) {
      try {
        pool = await sqlite3.installOpfsSAHPoolVfs({ name: 'vault', initialCapacity: 8, verbosity: 0 });
      } catch (error) {
        if (error.resultCode !== sqlite3.capi.SQLITE_BUSY) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    return pool;
  },

  /**
   * A database in one kind of storage: 'opfs', 'opfs-wl' or 'opfs-sahpool'.
   * @param {string} kind
   * @param {Record<string, unknown>} options
   */
  async open(kind, options) {
    if (kind === 'opfs') return new sqlite3.oo1.OpfsDb(options);
    if (kind === 'opfs-wl') return new sqlite3.oo1.OpfsWlDb(options);
    return new (await tools.pool()).OpfsSAHPoolDb(options);
  },

  /**
   * Result code of what `fn` throws, 0 if it does not.
   * @param {() => unknown} fn
   */
  async codeOf(fn) {
    try {
      await fn();
      return 0;
    } catch (error) {
      return error.resultCode ?? String(error);
    }
  },

  /** importDb() of a kind of storage. */
  async importDb(kind, name, source) {
    if (kind === 'opfs-sahpool') return (await tools.pool()).importDb(name, source);
    return (kind === 'opfs' ? sqlite3.oo1.OpfsDb : sqlite3.oo1.OpfsWlDb).importDb(name, source);
  },

  /** The bytes of one database file, as importDb() would take them. */
  async exportDb(kind, name) {
    if (kind === 'opfs-sahpool') return (await tools.pool()).exportFile(name);
    const root = await navigator.storage.getDirectory();
    return new Uint8Array(await (await (await root.getFileHandle(name.slice(1))).getFile()).arrayBuffer());
  },

  /** A callback that hands bytes out in pieces of these sizes, over and over. */
  pieces(bytes, sizes) {
    let at = 0;
    let i = 0;
    return async () => {
      if (at >= bytes.length) return undefined;
      const piece = bytes.slice(at, at + sizes[i++ % sizes.length]);
      at += piece.length;
      return i % 2 ? piece : piece.buffer;
    };
  },

  /**
   * Every file in OPFS, read without SQLite. The pool lets go of its files for that.
   * @returns {Promise<Map<string, Uint8Array>>}
   */
  async rawFiles() {
    pool?.pauseVfs();
    const files = new Map();
    const walk = async (directory, path) => {
      for await (const [name, handle] of directory) {
        if (handle.kind === 'directory') await walk(handle, `${path}${name}/`);
        else files.set(path + name, new Uint8Array(await (await handle.getFile()).arrayBuffer()));
      }
    };
    await walk(await navigator.storage.getDirectory(), '/');
    await pool?.unpauseVfs();
    return files;
  },

  /**
   * Which of these texts occur in any file of OPFS.
   * @param {string[]} texts
   */
  async textsInStorage(texts) {
    const all = [...(await tools.rawFiles()).values()].map((bytes) => new TextDecoder('latin1').decode(bytes));
    return texts.filter((text) => all.some((content) => content.includes(text)));
  },
};

onmessage = async ({ data: { id, source, args } }) => {
  try {
    const run = (0, eval)(`(${source})`);
    postMessage({ id, result: await run(tools, ...args) });
  } catch (error) {
    postMessage({ id, error: { name: error.name, message: error.message, code: error.resultCode, stack: error.stack } });
  }
};
postMessage({ id: 0 });
