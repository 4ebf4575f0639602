/**
 * For the tests of the VFS "node": a module of its own with any host object, on plain SQLite (no
 * encrypting VFS on top), and programs that run in other processes and threads.
 *
 * The module is the one in dist/, or in the directory $SQLITE3MC_DIST.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';

import { createNodeHost } from '../../js/node-host.js';

const dist = process.env.SQLITE3MC_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const load = async (/** @type {string} */ name) => (await import(pathToFileURL(path.join(dist, name)).href)).default;
const [glue, bootstrap] = await Promise.all(['sqlite3mc-core.mjs', 'sqlite3-api-node.mjs'].map(load));
const wasmBinary = fs.readFileSync(path.join(dist, 'sqlite3mc.wasm'));

/**
 * A new module whose default VFS is "node" on this host.
 * @param {any} [host]
 */
export async function makeSqlite(host = createNodeHost()) {
  const lib = await makeUnregistered(host);
  assert.equal(lib.wasm.exports.sqlite3mc_node_vfs_register(1), 0);
  return lib;
}

/**
 * A new module without the VFS "node".
 * @param {any} [host]
 */
export async function makeUnregistered(host) {
  const core = await glue({ wasmBinary, mcHost: host, printErr() {} });
  const info = { debugModule() {}, isWorker: false, location: undefined, urlParams: new URLSearchParams() };
  const sqlite3 = await bootstrap(info, core, false);
  sqlite3.config.warn = sqlite3.config.error = () => {};
  return new Sqlite(sqlite3, core);
}

/** The little of the API that these tests need. */
export class Sqlite {
  /**
   * @param {any} sqlite3
   * @param {any} core Emscripten's module object
   */
  constructor(sqlite3, core) {
    this.sqlite3 = sqlite3;
    this.core = core;
    this.capi = sqlite3.capi;
    this.wasm = sqlite3.wasm;
  }

  /**
   * @param {string} filename
   * @param {string} [flags]  as oo1.DB's
   */
  open(filename, flags = 'c') {
    return new this.sqlite3.oo1.DB({ filename, flags, vfs: 'node' });
  }

  /**
   * The SQLite result code (extended) of `act`, 0 if it does not throw.
   * @param {() => unknown} act
   */
  code(act) {
    try {
      act();
      return 0;
    } catch (error) {
      if (error.resultCode === undefined) throw error;
      return error.resultCode;
    }
  }

  /**
   * sqlite3_file_control() with an int as argument.
   * @param {any} db
   * @param {number} op
   * @param {number} [value]
   */
  control(db, op, value = 0) {
    const p = this.wasm.alloc(8);
    try {
      this.wasm.poke32(p, value);
      const rc = this.capi.sqlite3_file_control(db, 'main', op, p);
      return { rc, value: this.wasm.peek32(p), pointer: this.wasm.peekPtr(p) };
    } finally {
      this.wasm.dealloc(p);
    }
  }
}

/**
 * A directory that goes away at the end of the test.
 * @param {import('node:test').TestContext} t
 */
export function temporaryDirectory(t) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'node-host-')));
  t.after(() => {
    fs.chmodSync(directory, 0o700);
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  });
  return directory;
}

/** Milliseconds asleep. @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Another Node process with a module of its own. It runs one line of JavaScript at a time (`lib` is a
 * Sqlite, variables are kept on `v`), and answers what the line evaluates to, or the SQLite error code.
 */
export class Peer {
  /**
   * @param {import('node:test').TestContext} t
   * @param {object} [options]
   * @param {string[]} [options.command] what runs node, if it is not node itself
   */
  constructor(t, { command = [] } = {}) {
    const [program, ...args] = [...command, process.execPath, fileURLToPath(new URL('node-host-peer.mjs', import.meta.url))];
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exited = new Promise((resolve) => this.child.on('exit', (code, signal) => resolve(signal ?? code)));
    /** @type {((line: string) => void)[]} */
    this.waiting = [];
    let text = '';
    this.child.stdout.on('data', (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) this.waiting.shift()?.(text.slice(0, end));
    });
    this.exited.then((how) => this.waiting.forEach((answer) => answer(JSON.stringify({ exited: how }))));
    t.after(() => this.kill());
  }

  get pid() {
    return this.child.pid;
  }

  /**
   * @param {string} line
   * @returns {Promise<any>}
   */
  async run(line) {
    const answer = new Promise((resolve) => this.waiting.push(resolve));
    this.child.stdin.write(`${JSON.stringify(line)}\n`);
    const { value, error, exited } = JSON.parse(await answer);
    if (exited !== undefined) throw new Error(`the other process has ended (${exited})`);
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** As `kill -9`. */
  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async end() {
    this.child.stdin.end();
    await this.exited;
  }
}
