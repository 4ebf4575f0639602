// What the scripts share: places, child processes, and one printed line for each step.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const BUILD = path.join(ROOT, 'build');
export const ENV_JSON = path.join(BUILD, 'env.json');

/** What is downloaded or built once for all checkouts of a user. */
export const CACHE = path.resolve(
  process.env.SQLITE3MC_CACHE ||
    path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'sqlite3mc-wasm'),
);

export const JOBS = String(process.env.SQLITE3MC_JOBS || os.availableParallelism?.() || os.cpus().length || 1);

export const PRESETS = {
  native: ['native', 'native-clang', 'native-asan'],
  cross: ['native-aarch64'],
  dist: ['wasm', 'wasm-relaxed', 'wasm-nosimd'],
  wasm: ['wasm', 'wasm-relaxed', 'wasm-simd128', 'wasm-nosimd'],
};

/**
 * What scripts/setup.mjs found.
 * @typedef {{emcc: string, emccVersion: string, sqliteSrc: string, chromium: string | null,
 *   firefox: string | null, node26: string | null}} Environment
 * @returns {Environment}
 */
export function readEnvironment() {
  return JSON.parse(fs.readFileSync(ENV_JSON, 'utf8'));
}

/** A failure that its message explains: printed without a stack. */
export class Failure extends Error {}

/**
 * The file that a command name stands for, or null.
 * @param {string} name
 */
export function which(name) {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(dir, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (dir && fs.statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return null;
}

/**
 * Run a command for its output.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 * @returns {string | null} standard output, or null if it failed
 */
export function output(command, args, options = {}) {
  const child = spawnSync(command, args, { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return child.status === 0 ? String(child.stdout) : null;
}

/**
 * Run a command to its end and keep what it prints.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, echo?: boolean}} [options] echo: show it too
 * @returns {Promise<{code: number, text: string}>} code 127: the command is not there
 */
export function run(command, args, { cwd = ROOT, env = process.env, echo = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        chunks.push(chunk);
        if (echo) process.stdout.write(chunk);
      });
    }
    const text = () => Buffer.concat(chunks).toString();
    child.on('error', (error) => resolve({ code: 127, text: `${command}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, text: text() }));
  });
}

/**
 * Like run(), but a failure is a Failure that shows the end of the output.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, echo?: boolean}} [options]
 */
export async function mustRun(command, args, options = {}) {
  const { code, text } = await run(command, args, options);
  if (code === 0) return text;
  const lines = options.echo ? [] : text.trimEnd().split('\n').slice(-40);
  throw new Failure([...lines, `${[path.basename(command), ...args].join(' ').slice(0, 200)}: exit code ${code}`].join('\n'));
}

/** Where steps are reported. @type {{stream: NodeJS.WritableStream}} */
export const progress = { stream: process.stdout };

/**
 * Print the name of a step, do it, then print how long it took and what came of it.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {(result: T) => string} [describe]
 */
export async function step(name, work, describe = () => '') {
  const start = performance.now();
  progress.stream.write(`  ${name.padEnd(38)} `);
  try {
    const result = await work();
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
    progress.stream.write(`${seconds} s  ${describe(result)}`.trimEnd() + '\n');
    return result;
  } catch (error) {
    progress.stream.write(' failed\n');
    throw error;
  }
}

/**
 * Run a script's main function: a Failure ends it with its message and exit code 1.
 * @param {() => Promise<void>} main
 */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
