/**
 * The JavaScript half of the SQLite VFS "node": files of this machine, for wasm/host/vfs_node.c.
 *
 * `createNodeHost()` makes the object that has to be `Module.mcHost` before the module's
 * `sqlite3mc_node_vfs_register()` is called. Its methods are called from WebAssembly, as
 * wasm/host/node_host.h describes them, and never throw: an error is the negative of an errno, with
 * Linux's numbers on every platform.
 */

import nodeFs, { constants } from 'node:fs';
import nodeOs from 'node:os';
import nodePath from 'node:path';
import { performance } from 'node:perf_hooks';
import nodeProcess from 'node:process';

import { LockFiles } from './node-lock.js';
import { ProcLocks } from './node-proc-locks.js';

const EIO = 5;
const EISDIR = 21;
const ESTALE = 116;

/** What an `error.code` is in Linux's numbers. Everything else is EIO. @type {Record<string, number>} */
const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  EIO: 5,
  EBADF: 9,
  EACCES: 13,
  EBUSY: 16,
  EEXIST: 17,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSPC: 28,
  EROFS: 30,
  ENAMETOOLONG: 36,
  ELOOP: 40,
  ENOTSUP: 95,
  EDQUOT: 122,
};

/** Flags of `open`: node_host.h. */
const OPEN_WRITE = 1;
const OPEN_CREATE = 2;
const OPEN_EXCLUSIVE = 4;
const OPEN_TEMPORARY = 8;

/** Flag of `access`. */
const ACCESS_WRITE = 1;
/** How `nativeLocks` may look, and what is recent, in milliseconds. */
const LOOK_NOW = 0;
const LOOK_RECENT = 1;
const RECENT = 100;
/** Errors that are an answer to the question. */
const NO_ENTRY = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);
const NO_WRITE = new Set([...NO_ENTRY, 'EACCES', 'EPERM', 'EROFS']);

const MAX_LINKS = 100;
/** How often a run of reads looks at the clock for the lock files' sake. */
const READS_PER_BEAT = 64;

/** @typedef {{ name: string, dev: bigint, ino: bigint }} DatabaseFile */

/** @param {any} error */
function errnoOf(error) {
  return -(ERRNO[error?.code] ?? EIO);
}

/**
 * Wait without running anything else of this thread.
 * @param {number} ms
 */
function sleepFor(ms) {
  if (!(ms > 0)) return;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  } catch {
    // A thread that must not block, such as a window's in Electron.
    const end = performance.now() + ms;
    while (performance.now() < end);
  }
}

/**
 * @param {object} [options]  all for tests: by default the real machine
 * @param {Partial<typeof import('node:fs')>} [options.fs]  replaces functions of node:fs
 * @param {Partial<typeof import('node:os')>} [options.os]
 * @param {Pick<NodeJS.Process, 'pid' | 'kill' | 'geteuid' | 'cwd'>} [options.process]
 * @param {typeof import('node:path')} [options.path]
 * @param {string} [options.platform]
 */
export function createNodeHost(options = {}) {
  /** @type {typeof import('node:fs')} */
  const fs = options.fs ? { ...nodeFs, ...options.fs } : nodeFs;
  const os = { tmpdir: nodeOs.tmpdir, hostname: nodeOs.hostname, uptime: nodeOs.uptime, ...options.os };
  const process = options.process ?? nodeProcess;
  const path = options.path ?? nodePath;
  const platform = options.platform ?? nodeProcess.platform;
  const windows = platform === 'win32';
  const noFollow = windows ? 0 : (constants.O_NOFOLLOW ?? 0);
  const locks = new LockFiles({ fs, os, process, platform, sleep: sleepFor });
  const procLocks = platform === 'linux' ? new ProcLocks(fs) : null;

  /** What each open file was opened as. @type {Map<number, string>} */
  const names = new Map();
  /** Database files. @type {Map<number, DatabaseFile>} */
  const databases = new Map();
  /** The last look at native locks, by handle. @type {Map<number, { file: DatabaseFile, bits: number, time: number }>} */
  const looks = new Map();
  /** Temporary files that can't be unlinked while they are open. @type {Map<number, string>} */
  const unlinkAtClose = new Map();
  /** Descriptors that have to stay open for now, see `close`. @type {Map<number, DatabaseFile>} */
  const parked = new Map();
  let reads = 0;

  /** @param {() => void} act */
  function attempt(act) {
    try {
      act();
      return 0;
    } catch (error) {
      return errnoOf(error);
    }
  }

  /**
   * Before a file is changed: was the database that it belongs to taken away by another owner?
   * @param {string | undefined} name
   */
  function isLost(name) {
    locks.beatIfDue();
    return locks.lost && name !== undefined && locks.hasLost(name);
  }

  /** @param {number} fd */
  function closeQuietly(fd) {
    try {
      fs.closeSync(fd);
    } catch {
      // It is closed all the same.
    }
  }

  function closeParked() {
    for (const [fd, file] of parked) {
      if (procLocks?.has(process.pid, file)) continue;
      parked.delete(fd);
      closeQuietly(fd);
    }
  }

  /**
   * Open, but not as 0, 1 or 2: what is meant for standard output would go into the database.
   * @param {string} name
   * @param {number} flags
   * @param {number} mode
   */
  function openAboveStandard(name, flags, mode) {
    let fd = fs.openSync(name, flags, mode);
    while (fd <= 2) {
      fs.closeSync(fd);
      // An exclusive create has made the file already.
      flags &= ~constants.O_EXCL;
      fs.openSync(windows ? '\\\\.\\nul' : '/dev/null', 'r');
      fd = fs.openSync(name, flags, mode);
    }
    return fd;
  }

  /**
   * Walk along `name` from the directory `from`. Each link is followed where it stands, so that `..` after
   * it means the parent of its target.
   * @param {string} from
   * @param {string} name
   * @param {{ links: number }} count
   * @returns {string}
   */
  function walk(from, name, count) {
    let full = from;
    for (const part of name.split(path.sep)) {
      if (part === '' || part === '.') continue;
      const next = path.join(full, part);
      if (part !== '..' && fs.lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink()) {
        if (++count.links > MAX_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
        const target = fs.readlinkSync(next);
        full = path.isAbsolute(target) ? fromRoot(target, count) : walk(full, target, count);
      } else {
        full = next;
      }
    }
    return full;
  }

  /**
   * @param {string} name  absolute
   * @param {{ links: number }} count
   */
  function fromRoot(name, count) {
    const { root } = path.parse(name);
    return walk(root, name.slice(root.length), count);
  }

  return {
    /**
     * @param {string} name
     * @param {number} flags
     * @param {string | null} like
     */
    open(name, flags, like) {
      try {
        if (parked.size > 0) closeParked();
        const create = (flags & OPEN_CREATE) !== 0;
        let mode = flags & OPEN_TEMPORARY ? 0o600 : 0o644;
        const model = create && like !== null ? fs.statSync(like, { throwIfNoEntry: false }) : undefined;
        if (model) mode = model.mode & 0o777;
        const fd = openAboveStandard(
          name,
          (flags & OPEN_WRITE ? constants.O_RDWR : constants.O_RDONLY) |
            (create ? constants.O_CREAT : 0) |
            (flags & OPEN_EXCLUSIVE ? constants.O_EXCL : 0) |
            noFollow,
          mode,
        );
        try {
          if (model) {
            const stat = fs.fstatSync(fd);
            if (stat.size === 0 && (stat.mode & 0o777) !== mode) fs.fchmodSync(fd, mode);
            // Else a journal of root's would shut out the owner of the database.
            if (process.geteuid?.() === 0) fs.fchownSync(fd, model.uid, model.gid);
          }
          if (flags & OPEN_TEMPORARY) {
            if (windows) unlinkAtClose.set(fd, name);
            else fs.unlinkSync(name);
          }
        } catch (error) {
          closeQuietly(fd);
          throw error;
        }
        names.set(fd, name);
        return fd;
      } catch (error) {
        return errnoOf(error);
      }
    },

    /**
     * POSIX drops all locks that a process has on a file when any descriptor of it is closed. If a native
     * SQLite in this process has one, the descriptor stays open until it has none.
     * @param {number} fd
     */
    close(fd) {
      try {
        const file = databases.get(fd);
        databases.delete(fd);
        names.delete(fd);
        if (file && procLocks?.has(process.pid, file)) {
          parked.set(fd, file);
          return 0;
        }
        if (parked.size > 0) closeParked();
        fs.closeSync(fd);
        const name = unlinkAtClose.get(fd);
        if (name !== undefined) {
          unlinkAtClose.delete(fd);
          fs.unlinkSync(name);
        }
        return 0;
      } catch (error) {
        return errnoOf(error);
      }
    },

    /**
     * @param {number} fd
     * @param {string} name
     * @param {Uint8Array} heap
     * @param {number} out
     */
    identity(fd, name, heap, out) {
      try {
        const stat = fs.fstatSync(fd, { bigint: true });
        if (stat.isDirectory()) return -EISDIR;
        const view = new DataView(heap.buffer, out, 16);
        view.setBigUint64(0, BigInt.asUintN(64, stat.dev), true);
        view.setBigUint64(8, BigInt.asUintN(64, stat.ino), true);
        databases.set(fd, { name, dev: stat.dev, ino: stat.ino });
        return 0;
      } catch (error) {
        return errnoOf(error);
      }
    },

    /** @param {number} fd */
    moved(fd) {
      try {
        const file = databases.get(fd);
        const stat = file && fs.statSync(file.name, { bigint: true, throwIfNoEntry: false });
        return stat?.ino === file?.ino && stat?.dev === file?.dev ? 0 : 1;
      } catch {
        return 1;
      }
    },

    /**
     * @param {number} fd
     * @param {Uint8Array} heap
     * @param {number} start
     * @param {number} length
     * @param {number} position
     */
    read(fd, heap, start, length, position) {
      if ((++reads & (READS_PER_BEAT - 1)) === 0) locks.beatIfDue();
      if (locks.lost && isLost(names.get(fd))) return -ESTALE;
      let done = 0;
      for (;;) {
        try {
          const n = fs.readSync(fd, heap, start + done, length - done, position + done);
          done += n;
          if (done === length || !(n > 0)) return done;
        } catch (error) {
          if (error?.code !== 'EINTR') return errnoOf(error);
        }
      }
    },

    /**
     * @param {number} fd
     * @param {Uint8Array} heap
     * @param {number} start
     * @param {number} length
     * @param {number} position
     */
    write(fd, heap, start, length, position) {
      if (isLost(names.get(fd))) return -ESTALE;
      let done = 0;
      for (;;) {
        try {
          const n = fs.writeSync(fd, heap, start + done, length - done, position + done);
          // A count that can't be: as if nothing had been written.
          if (!(n > 0 && n <= length - done)) return done;
          done += n;
          if (done === length) return done;
        } catch (error) {
          if (error?.code !== 'EINTR') return errnoOf(error);
        }
      }
    },

    /**
     * @param {number} fd
     * @param {number} size
     */
    truncate(fd, size) {
      if (isLost(names.get(fd))) return -ESTALE;
      return attempt(() => fs.ftruncateSync(fd, size));
    },

    /** @param {number} fd */
    size(fd) {
      try {
        return fs.fstatSync(fd).size;
      } catch (error) {
        return errnoOf(error);
      }
    },

    /** @param {number} fd */
    sync(fd) {
      return attempt(() => fs.fdatasyncSync(fd));
    },

    /** @param {string} name */
    unlink(name) {
      if (isLost(name)) return -ESTALE;
      return attempt(() => fs.unlinkSync(name));
    },

    /** @param {string} name */
    syncDirectory(name) {
      if (windows) return 0;
      let fd;
      try {
        fd = fs.openSync(path.dirname(name), constants.O_RDONLY);
      } catch {
        return 0; // One that may be searched and changed, but not read.
      }
      try {
        fs.fsyncSync(fd);
        return 0;
      } catch (error) {
        // A file system without it.
        return error?.code === 'EINVAL' || error?.code === 'ENOTSUP' ? 0 : errnoOf(error);
      } finally {
        closeQuietly(fd);
      }
    },

    /**
     * @param {string} name
     * @param {number} what
     */
    access(name, what) {
      try {
        if (what === ACCESS_WRITE) {
          fs.accessSync(name, constants.R_OK | constants.W_OK);
          return 1;
        }
        // Not existsSync: it would say of a hot journal that can't be looked at that it is not there.
        const stat = fs.statSync(name, { throwIfNoEntry: false });
        return stat && (stat.size > 0 || !stat.isFile()) ? 1 : 0;
      } catch (error) {
        const no = what === ACCESS_WRITE ? NO_WRITE : NO_ENTRY;
        return no.has(error?.code) ? 0 : errnoOf(error);
      }
    },

    /** @param {string} name */
    fullPath(name) {
      try {
        const count = { links: 0 };
        const absolute = windows ? path.resolve(name.replace(/^\/(?=[A-Za-z]:)/, '')) : name;
        const full = path.isAbsolute(absolute) ? fromRoot(absolute, count) : walk(process.cwd(), absolute, count);
        return { path: full, links: count.links > 0 };
      } catch (error) {
        return errnoOf(error);
      }
    },

    tempDirectory() {
      try {
        return os.tmpdir();
      } catch (error) {
        return errnoOf(error);
      }
    },

    /** @param {number} fd */
    lockOpen(fd) {
      const file = databases.get(fd);
      if (!file) return -EIO;
      const handle = locks.open(file.name);
      looks.set(handle, { file, bits: 0, time: -Infinity });
      return handle;
    },

    /** @param {number} handle */
    lockTake(handle) {
      try {
        return locks.take(handle) ? 0 : 1;
      } catch (error) {
        return errnoOf(error);
      }
    },

    /** @param {number} handle */
    lockRest(handle) {
      try {
        locks.rest(handle);
      } catch {
        // Then it rests later.
      }
    },

    /** @param {number} handle */
    lockClose(handle) {
      looks.delete(handle);
      locks.close(handle);
    },

    /**
     * @param {number} handle
     * @param {number} how
     */
    nativeLocks(handle, how) {
      const look = looks.get(handle);
      if (!procLocks || !look) return 0;
      try {
        const shm = `${look.file.name}-shm`;
        const now = performance.now();
        const recent = how !== LOOK_NOW && look.bits === 0 && now - look.time < RECENT;
        if (recent && (how === LOOK_RECENT || !fs.existsSync(shm))) return 0;
        look.bits = procLocks.native(look.file, shm);
        look.time = now;
        return look.bits;
      } catch {
        return 0;
      }
    },

    /** @param {number} microseconds */
    sleep(microseconds) {
      sleepFor(microseconds / 1000);
    },

    now() {
      return Date.now();
    },
  };
}
