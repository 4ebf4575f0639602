/**
 * Lock files: which module instance may use a database file.
 *
 * Node has no advisory locks, so a database `d` is owned by whoever made the file `d-lock`, exclusively.
 * Its one line names the owner: process, thread, when that thread started, a random token. An owner that
 * is dead is found out and replaced; nobody else's lock file is ever touched:
 *
 * - On Linux a thread is known exactly: /proc has its start time, and a reboot or another container shows
 *   in the boot id and the process namespace.
 * - Where that can't tell (another system, another container or machine, a file without content), the
 *   owner is dead when its process is known to be gone, or when it has given no sign of life: each second
 *   it sets the file's time. After LEASE without one, a contender watches for WATCH more; then the owner
 *   is dead. An owner that was asleep so long finds out before its next write, and fails.
 *
 * Two contenders that find the same dead owner must not both remove "its" file: the second would remove
 * the first one's new lock. So a dead owner's file is removed only under another lock of the same kind,
 * `.sqlite3mc-lock-<token of the dead>`, after a second look. Whoever has it is alone with that corpse. If
 * it dies in turn, its lock is recovered in the same way.
 *
 * An owner without work keeps the file for IDLE, as its next transaction may be near, and then removes
 * it. A contender leaves a mark (one byte more in the file); an owner that never rests looks for one
 * every SLICE, between two transactions, and steps back for YIELD.
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import nodePath from 'node:path';
import { performance } from 'node:perf_hooks';
import nodeProcess from 'node:process';
import { clearTimeout, setTimeout } from 'node:timers'; // not the globals, which test frameworks stop
import { threadId } from 'node:worker_threads';

// Milliseconds.
const IDLE = 25;
const SLICE = 50;
const YIELD = 30;
const BEAT = 1000;
const LEASE = 30_000;
const WATCH = 3000;

const MAGIC = 'sqlite3mc-lock';
/** Not ours to read, or no regular file. */
const UNREADABLE = new Set(['EACCES', 'EPERM', 'ELOOP', 'EISDIR', 'ESPIPE']);
/** For what others have put there: follow no link, wait for no pipe. */
const CAREFUL = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Recoveries within recoveries: each needs one more process that died at the wrong moment. */
const MAX_DEPTH = 8;

/**
 * The lock sets of this thread that have files, by token. A contender in the same thread can't wait
 * for the owner's timer, so it asks the owner. In a global, as this file may be loaded twice.
 * @type {Map<string, LockFiles>}
 */
const ofThisThread = (/** @type {any} */ (globalThis)[Symbol.for('sqlite3mc-wasm.lock-files')] ??= exitingMap());

function exitingMap() {
  /** @type {Map<string, LockFiles>} */
  const map = new Map();
  nodeProcess.on('exit', () => {
    for (const files of map.values()) files.releaseAll();
  });
  return map;
}

/**
 * @typedef {object} Owner what a lock file says
 * @property {number} pid
 * @property {number} tid
 * @property {string} start   when the thread started, in the terms of `space`
 * @property {string} space   where pid, tid and start mean something
 * @property {string} token
 */

/**
 * @typedef {object} Sight  a lock file that another owner made
 * @property {Owner | null} owner   null: the file says nothing
 * @property {bigint} ino
 * @property {number} time          last sign of life, milliseconds since 1970
 * @property {boolean} marked       a contender has been here
 */

/**
 * @typedef {object} Lock
 * @property {string} path      of the lock file
 * @property {string} database
 * @property {number} fd        -1: not held
 * @property {bigint} ino
 * @property {number} size      of what was written
 * @property {number} looked    performance.now() when a mark was last looked for
 * @property {number} restingSince   performance.now() since when no connection needs it; 0: one does
 * @property {number} yieldUntil
 * @property {boolean} lost     another owner has taken it away while a connection was using it
 */

/** The fields of /proc/<pid>/task/<tid>/stat that matter. @param {string} text */
function parseStat(text) {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], start: fields[19] };
}

/** @param {string} text @returns {Owner | null} */
function parseOwner(text) {
  const line = /^sqlite3mc-lock 1 (\d+) (\d+) (\S+) (\S+) ([0-9a-f]{16})\n/.exec(text);
  return line && { pid: Number(line[1]), tid: Number(line[2]), start: line[3], space: line[4], token: line[5] };
}

/** The lock files that one module instance holds. */
export class LockFiles {
  #fs;
  #os;
  #process;
  #platform;
  #sleep;
  #token = randomBytes(8).toString('hex');
  /** @type {Owner | null} */
  #self = null;
  /** @type {Lock[]} by handle; handle 0 is never given */
  #locks = [];
  #held = 0;
  #lost = 0;
  /** A lock file of this instance could not be removed. */
  #left = false;
  #lastBeat = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #beatTimer;
  /** @type {NodeJS.Timeout | undefined} */
  #idleTimer;

  /**
   * @param {object} host
   * @param {typeof import('node:fs')} host.fs
   * @param {Pick<typeof import('node:os'), 'hostname' | 'uptime'>} host.os
   * @param {Pick<NodeJS.Process, 'pid' | 'kill' | 'geteuid'>} host.process
   * @param {string} host.platform
   * @param {(ms: number) => void} host.sleep
   */
  constructor({ fs, os, process, platform, sleep }) {
    this.#fs = fs;
    this.#os = os;
    this.#process = process;
    this.#platform = platform;
    this.#sleep = sleep;
  }

  // --- What the host calls for the VFS. All of it may throw what `fs` throws. ---

  /**
   * A handle for the lock file of a database. Touches no file.
   * @param {string} database
   */
  open(database) {
    let handle = 1;
    while (this.#locks[handle]) handle++;
    this.#locks[handle] = {
      path: `${database}-lock`,
      database,
      fd: -1,
      ino: 0n,
      size: 0,
      looked: 0,
      restingSince: 0,
      yieldUntil: 0,
      lost: false,
    };
    return handle;
  }

  /**
   * True: this instance is the owner now. False: another one is.
   * @param {number} handle
   */
  take(handle) {
    this.beatIfDue();
    const lock = this.#locks[handle];
    if (lock.fd < 0) {
      const wait = lock.yieldUntil - performance.now();
      if (wait > 0) this.#sleep(wait);
      lock.yieldUntil = 0;
      if (!this.#acquire(lock, 0)) return false;
      lock.looked = performance.now();
      this.#started();
    }
    lock.restingSince = 0;
    return true;
  }

  /**
   * No connection needs the lock for now.
   * @param {number} handle
   */
  rest(handle) {
    const lock = this.#locks[handle];
    this.#forgive(lock);
    if (lock.fd < 0) return;
    const now = performance.now();
    lock.restingSince = now;
    this.#idleTimer ??= this.#timer(IDLE, () => this.#releaseIdle());
    if (now - lock.looked < SLICE) return;
    lock.looked = now;
    if (this.#fs.fstatSync(lock.fd).size > lock.size) {
      this.#release(lock);
      lock.yieldUntil = now + YIELD;
    }
  }

  /** @param {number} handle */
  close(handle) {
    const lock = this.#locks[handle];
    delete this.#locks[handle];
    this.#forgive(lock);
    this.#abandon(lock);
  }

  /** Has any database been taken away while a connection was using it? */
  get lost() {
    return this.#lost > 0;
  }

  /**
   * Is this file a database that was taken away, or beside one? Nothing must be done with it any more.
   * @param {string} name
   */
  hasLost(name) {
    return this.#locks.some(
      (lock) => lock?.lost && (name === lock.database || name.startsWith(`${lock.database}-`)),
    );
  }

  /** To be called often: gives the sign of life if it is due, and finds out whether a lock is lost. */
  beatIfDue() {
    if (this.#held > 0 && performance.now() - this.#lastBeat > BEAT) this.#beat();
  }

  /**
   * There is a lock file of this instance, and another instance in this thread wants the lock; or this
   * one does, for a new database with the name of the old.
   * @param {string} path
   * @returns {boolean} false: it is in use
   */
  giveWay(path) {
    const lock = this.#locks.find((each) => each?.path === path && each.fd >= 0);
    if (!lock) {
      this.#fs.unlinkSync(path); // It could not be removed when it was given up.
    } else if (lock.restingSince === 0) {
      return false;
    } else {
      this.#release(lock);
    }
    return true;
  }

  releaseAll() {
    for (const lock of this.#locks) {
      if (lock) this.#abandon(lock);
    }
  }

  // --- Taking and giving up ---

  /**
   * @param {Lock} lock
   * @param {number} depth
   * @returns {boolean} false: another owner has it
   */
  #acquire(lock, depth) {
    // A round that does not end it means that a file which was in the way is gone.
    for (let round = 0; round < 16; round++) {
      if (this.#create(lock)) return true;
      const sight = this.#look(lock.path);
      if (!sight) continue;
      const token = sight.owner?.token ?? '';
      const sibling = token === this.#token ? this : ofThisThread.get(token);
      if (sibling) {
        if (!sibling.giveWay(lock.path)) return false;
      } else if (!this.#isDead(sight, lock.path)) {
        if (!sight.marked) this.#mark(lock.path);
        return false;
      } else if (depth === MAX_DEPTH || !this.#removeDead(lock, sight, depth)) {
        return false;
      }
    }
    return false;
  }

  /**
   * Make the lock file.
   * @param {Lock} lock
   * @returns {boolean} false: there is one
   */
  #create(lock) {
    const fs = this.#fs;
    const like = fs.statSync(lock.database, { throwIfNoEntry: false });
    const mode = like ? like.mode & 0o666 : 0o644;
    const fd = this.#createFile(lock.path, mode);
    if (fd === null) return false;
    try {
      const made = fs.fstatSync(fd, { bigint: true });
      lock.ino = made.ino;
      // Who may use the database may read its lock file.
      if (like) {
        if ((Number(made.mode) & 0o777) !== mode) fs.fchmodSync(fd, mode);
        if (this.#process.geteuid?.() === 0) fs.fchownSync(fd, like.uid, like.gid);
      }
      lock.size = 0;
      this.#quietly(() => (lock.size = this.#write(fd)));
    } catch (error) {
      this.#quietly(() => fs.closeSync(fd));
      this.#quietly(() => fs.unlinkSync(lock.path));
      throw error;
    }
    lock.fd = fd;
    return true;
  }

  /**
   * @param {string} path
   * @param {number} mode
   */
  #createFile(path, mode) {
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#fs.openSync(path, 'wx', mode);
      } catch (error) {
        if (error.code === 'EEXIST') return null;
        // Windows says so for a moment when a file of this name is being deleted.
        if (error.code !== 'EPERM' || this.#platform !== 'win32' || attempt === 5) throw error;
        this.#sleep(2);
      }
    }
  }

  /**
   * Where this fails, as on a full disk, the file stays empty: then only its time tells that its owner lives.
   * @param {number} fd
   */
  #write(fd) {
    const { pid, tid, start, space, token } = this.#identity();
    return this.#fs.writeSync(fd, `${MAGIC} 1 ${pid} ${tid} ${start} ${space} ${token}\n`, 0);
  }

  /**
   * No connection builds any more on what it knew when the lock was lost.
   * @param {Lock} lock
   */
  #forgive(lock) {
    if (lock.lost) this.#lost--;
    lock.lost = false;
  }

  /**
   * The file before its descriptor: if it can't be removed, the lock is still ours.
   * @param {Lock} lock
   */
  #release(lock) {
    if (lock.fd < 0) return;
    if (this.#isOurs(lock)) this.#fs.unlinkSync(lock.path);
    this.#closed(lock);
  }

  /**
   * As #release(), but whatever happens nothing is held afterwards.
   * @param {Lock} lock
   */
  #abandon(lock) {
    this.#quietly(() => this.#release(lock));
    if (lock.fd < 0) return;
    this.#left = true;
    this.#closed(lock);
  }

  /** @param {Lock} lock */
  #closed(lock) {
    this.#quietly(() => this.#fs.closeSync(lock.fd));
    lock.fd = -1;
    this.#ended();
  }

  /** @param {Lock} lock */
  #isOurs(lock) {
    return this.#fs.lstatSync(lock.path, { bigint: true, throwIfNoEntry: false })?.ino === lock.ino;
  }

  // --- Judging others ---

  /**
   * What the lock file says; null if it is gone.
   * @param {string} path
   * @returns {Sight | null}
   */
  #look(path) {
    const fs = this.#fs;
    try {
      const fd = fs.openSync(path, constants.O_RDONLY | CAREFUL);
      try {
        const { ino, mtimeMs } = fs.fstatSync(fd, { bigint: true });
        const buffer = Buffer.alloc(1024);
        const text = buffer.toString('latin1', 0, fs.readSync(fd, buffer, 0, buffer.length, 0));
        const end = text.indexOf('\n');
        return { owner: parseOwner(text), ino, time: Number(mtimeMs), marked: end >= 0 && text.length > end + 1 };
      } finally {
        fs.closeSync(fd);
      }
    } catch (error) {
      if (error.code === 'ENOENT') return null;
      if (!UNREADABLE.has(error.code)) throw error;
    }
    const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat ? { owner: null, ino: stat.ino, time: Number(stat.mtimeMs), marked: true } : null;
  }

  /**
   * @param {Sight} sight
   * @param {string} path
   */
  #isDead(sight, path) {
    const { owner } = sight;
    const self = this.#identity();
    if (owner?.space === self.space) {
      const verdict = self.space.startsWith('linux:') ? this.#isDeadLinux(owner) : this.#isDeadElsewhere(owner);
      if (verdict !== null) return verdict;
    }
    return this.#leaseIsOver(sight, path);
  }

  /**
   * @param {Owner} owner
   * @returns {boolean | null} null: can't be known
   */
  #isDeadLinux({ pid, tid, start }) {
    try {
      const stat = parseStat(this.#fs.readFileSync(`/proc/${pid}/task/${tid}/stat`, 'latin1'));
      return stat.start !== start || /[ZXx]/.test(stat.state);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') return null;
      // With the mount option hidepid another user's process is not in /proc.
      return this.#signal(pid) === 'EPERM' ? null : true;
    }
  }

  /**
   * @param {Owner} owner
   * @returns {boolean | null}
   */
  #isDeadElsewhere({ pid }) {
    return this.#signal(pid) === 'ESRCH' ? true : null;
  }

  /** @param {number} pid */
  #signal(pid) {
    try {
      this.#process.kill(pid, 0);
      return '';
    } catch (error) {
      return error.code;
    }
  }

  /**
   * @param {Sight} sight
   * @param {string} path
   */
  #leaseIsOver(sight, path) {
    if (Math.abs(Date.now() - sight.time) < LEASE) return false;
    // From before this machine was started: there is nobody to watch for.
    if (sight.time < Date.now() - this.#os.uptime() * 1000) return true;
    for (let waited = 0; waited < WATCH; waited += 100) {
      this.#sleep(100);
      const again = this.#look(path);
      if (!again || again.ino !== sight.ino || again.time !== sight.time) return false;
    }
    return true;
  }

  /**
   * Remove the file of an owner that was found dead, if nothing has happened to it since.
   * @param {Lock} lock
   * @param {Sight} sight
   * @param {number} depth
   * @returns {boolean} false: another contender is at it
   */
  #removeDead(lock, sight, depth) {
    const name = `.${MAGIC}-${sight.owner ? sight.owner.token : `i${sight.ino}`}`;
    const guard = { ...lock, path: nodePath.join(nodePath.dirname(lock.path), name), fd: -1 };
    if (!this.#acquire(guard, depth + 1)) return false;
    try {
      const again = this.#look(lock.path);
      if (again?.ino === sight.ino && again.time === sight.time && again.owner?.token === sight.owner?.token) {
        this.#fs.unlinkSync(lock.path);
      }
    } finally {
      this.#quietly(() => this.#fs.unlinkSync(guard.path));
      this.#quietly(() => this.#fs.closeSync(guard.fd));
    }
    return true;
  }

  /**
   * Tell the owner that somebody waits. A courtesy: it may fail, and it never makes a file.
   * @param {string} path
   */
  #mark(path) {
    this.#quietly(() => {
      const fd = this.#fs.openSync(path, constants.O_WRONLY | constants.O_APPEND | CAREFUL);
      this.#quietly(() => this.#fs.writeSync(fd, '\n'));
      this.#fs.closeSync(fd);
    });
  }

  /** @returns {Owner} */
  #identity() {
    this.#self ??= { ...(this.#identityLinux() ?? this.#identityElsewhere()), token: this.#token };
    return this.#self;
  }

  #identityLinux() {
    const fs = this.#fs;
    if (this.#platform !== 'linux') return null;
    try {
      // Synchronous calls run on the calling thread: this link names it, in a worker too.
      const [pid, , tid] = fs.readlinkSync('/proc/thread-self').split('/');
      const { start } = parseStat(fs.readFileSync(`/proc/${pid}/task/${tid}/stat`, 'latin1'));
      const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
      const namespace = /\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'));
      if (!start || !boot || !namespace || Number(pid) !== this.#process.pid) return null;
      return { pid: Number(pid), tid: Number(tid), start, space: `linux:${boot}:${namespace[0]}` };
    } catch {
      return null;
    }
  }

  #identityElsewhere() {
    return {
      pid: this.#process.pid,
      tid: threadId,
      start: String(Math.round(performance.timeOrigin)),
      space: `${this.#platform}-host:${encodeURIComponent(this.#os.hostname())}`,
    };
  }

  // --- Signs of life and other timers, which never keep the process alive and never throw ---

  #started() {
    if (this.#held++ > 0) return;
    this.#lastBeat = performance.now();
    ofThisThread.set(this.#token, this);
    this.#scheduleBeat();
  }

  #ended() {
    if (--this.#held > 0) return;
    if (!this.#left) ofThisThread.delete(this.#token);
    clearTimeout(this.#beatTimer);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #scheduleBeat() {
    this.#beatTimer = this.#timer(BEAT, () => {
      this.#scheduleBeat();
      this.#beat();
    });
  }

  #beat() {
    this.#lastBeat = performance.now();
    const now = Date.now() / 1000;
    for (const lock of this.#locks) {
      if (lock && lock.fd >= 0) this.#quietly(() => this.#beatLock(lock, now));
    }
  }

  /**
   * @param {Lock} lock
   * @param {number} now seconds
   */
  #beatLock(lock, now) {
    if (this.#isOurs(lock)) {
      this.#fs.futimesSync(lock.fd, now, now);
      return;
    }
    if (lock.restingSince === 0) {
      lock.lost = true;
      this.#lost++;
    }
    this.#closed(lock);
  }

  #releaseIdle() {
    this.#idleTimer = undefined;
    const now = performance.now();
    let again = false;
    for (const lock of this.#locks) {
      if (!lock || lock.fd < 0 || lock.restingSince === 0) continue;
      if (now - lock.restingSince >= IDLE * 0.8) this.#quietly(() => this.#release(lock));
      again ||= lock.fd >= 0;
    }
    if (again) this.#idleTimer = this.#timer(IDLE, () => this.#releaseIdle());
  }

  /**
   * @param {number} ms
   * @param {() => void} callback
   */
  #timer(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref?.();
    return timer;
  }

  /** @param {() => void} act */
  #quietly(act) {
    try {
      act();
    } catch {
      // Nobody is there who could be told; what is left undone is found by the next contender.
    }
  }
}
