/**
 * Locks that programs with fcntl hold on a file, as Linux lists them in /proc/locks. Native SQLite
 * locks bytes of the database file from 2^30 on, and of the -shm file.
 *
 * The list has the locks of this process namespace: not those of another container or machine. It is a
 * look, no lock: a native program that comes after the look is not kept out.
 */

import { constants } from 'node:fs';

const PENDING = 0x40000000;
const RESERVED = PENDING + 1;
const SHARED_FIRST = PENDING + 2;
const SHARED_LAST = SHARED_FIRST + 509;

/** The bits of the answer: node_host.h. */
const READ_LOCK = 1;
const RESERVED_LOCK = 2;
const PENDING_LOCK = 4;
const EXCLUSIVE_LOCK = 8;
const WAL_LOCK = 16;

/** The kernel gives whole lines, as many as fit into a page. A line has less than half of one. */
const PAGE = 4096;
const SURELY_LAST = PAGE / 2;

const LINE = /^\d+: (?:POSIX|OFDLCK) +\S+ +(READ|WRITE) +(-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) (\d+) (\d+|EOF)$/gm;

/** @typedef {{ dev: bigint, ino: bigint }} FileId */
/** @typedef {{ write: boolean, pid: number, first: number, last: number }} FcntlLock */

/** @param {bigint} dev as stat gives it */
const majorOf = (dev) => ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
/** @param {bigint} dev */
const minorOf = (dev) => (dev & 0xffn) | ((dev >> 12n) & ~0xffn);

export class ProcLocks {
  #fs;
  #fd = -1;
  #buffer = Buffer.allocUnsafeSlow(16384);

  /** @param {typeof import('node:fs')} fs */
  constructor(fs) {
    this.#fs = fs;
  }

  /**
   * What native SQLite holds on a database, as bits.
   * @param {FileId} file
   * @param {string} shm  path of the -shm file
   */
  native(file, shm) {
    const list = this.#read();
    let bits = 0;
    for (const { write, first, last } of this.#on(list, file)) {
      if (last < PENDING || first > SHARED_LAST) continue;
      if (!write) {
        if (last >= SHARED_FIRST) bits |= READ_LOCK;
        continue;
      }
      if (first <= PENDING) bits |= PENDING_LOCK;
      if (first <= RESERVED && last >= RESERVED) bits |= RESERVED_LOCK;
      if (last >= SHARED_FIRST) bits |= EXCLUSIVE_LOCK;
    }
    if (bits & READ_LOCK && this.#isLocked(list, shm)) bits |= WAL_LOCK;
    return bits;
  }

  /**
   * Has the process any fcntl lock on the file?
   * @param {number} pid
   * @param {FileId} file
   */
  has(pid, file) {
    return this.#on(this.#read(), file).some((lock) => lock.pid === pid);
  }

  /**
   * @param {Buffer} list
   * @param {string} shm
   */
  #isLocked(list, shm) {
    try {
      const stat = this.#fs.statSync(shm, { bigint: true, throwIfNoEntry: false });
      return stat !== undefined && this.#on(list, stat).length > 0;
    } catch {
      return true; // It is there, and can't be looked at.
    }
  }

  /** The list. Empty where there is none. */
  #read() {
    const fs = this.#fs;
    if (this.#fd < 0) {
      try {
        this.#fd = fs.openSync('/proc/locks', constants.O_RDONLY);
      } catch {
        return this.#buffer.subarray(0, 0);
      }
    }
    let length = 0;
    for (;;) {
      if (this.#buffer.length - length < PAGE) this.#buffer = Buffer.concat([this.#buffer, Buffer.alloc(length)]);
      const n = fs.readSync(this.#fd, this.#buffer, length, this.#buffer.length - length, length);
      length += n;
      if (n < SURELY_LAST) return this.#buffer.subarray(0, length);
    }
  }

  /**
   * @param {Buffer} list
   * @param {FileId} file
   * @returns {FcntlLock[]}
   */
  #on(list, { dev, ino }) {
    /** @type {FcntlLock[]} */
    const found = [];
    if (list.indexOf(`:${ino} `, 0, 'latin1') < 0) return found;
    for (const [, kind, pid, major, minor, inode, first, last] of list.toString('latin1').matchAll(LINE)) {
      if (BigInt(inode) !== ino) continue;
      if (BigInt(`0x${major}`) !== majorOf(dev)) continue;
      if (BigInt(`0x${minor}`) !== minorOf(dev) && !this.#mayHaveOpen(Number(pid), { dev, ino })) continue;
      found.push({
        write: kind === 'WRITE',
        pid: Number(pid),
        first: Number(first),
        last: last === 'EOF' ? Infinity : Number(last),
      });
    }
    return found;
  }

  /**
   * Overlay and subvolume file systems (major number 0) show another minor number here than stat does.
   * Then it matters whether the holder of the lock has this very file open.
   * @param {number} pid
   * @param {FileId} file
   */
  #mayHaveOpen(pid, { dev, ino }) {
    if (majorOf(dev) !== 0n) return false;
    try {
      return this.#fs.readdirSync(`/proc/${pid}/fd`).some((name) => {
        const stat = this.#fs.statSync(`/proc/${pid}/fd/${name}`, { bigint: true, throwIfNoEntry: false });
        return stat?.dev === dev && stat.ino === ino;
      });
    } catch {
      return true;
    }
  }
}
