// One set-up at a time for each cache directory. The lock is a listening socket: the kernel takes it back
// however its owner ends, so there is no stale lock to judge.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** @param {string} directory */
function address(directory) {
  const name = `sqlite3mc-${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`; // abstract: no file
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return path.join(os.tmpdir(), `${name}.sock`);
}

/**
 * @param {string} where
 * @returns {Promise<net.Server | null>} null: another process has it
 */
function listen(where) {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(where, () => resolve(server));
  });
}

/**
 * A socket file may outlive its owner: then nobody answers.
 * @param {string} where
 * @returns {Promise<boolean>}
 */
function answers(where) {
  return new Promise((resolve) => {
    const socket = net.connect(where, () => resolve(true)).on('error', () => resolve(false));
    socket.unref();
  });
}

/**
 * Wait for the lock on a directory.
 * @param {string} directory
 * @param {() => void} onWait called once if another process has it
 * @returns {Promise<() => void>} gives the lock back
 */
export async function lock(directory, onWait) {
  const where = address(directory);
  for (let first = true; ; first = false) {
    const server = await listen(where);
    if (server) return () => server.close();
    if (where.startsWith('/') && !(await answers(where))) fs.rmSync(where, { force: true });
    if (first) onWait();
    await sleep(250);
  }
}
