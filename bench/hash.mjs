#!/usr/bin/env node
/**
 * How fast are hashes, Ascon and key derivations? Prints speeds and ratios, measured side by side in one process.
 *
 *   node bench/hash.mjs [--json] [--seconds=N] [--build=DIR]
 *
 * A page is 4096 bytes. Under HMAC, 4 bytes for its number come after it; under Ascon-128, its one-time key by
 * Ascon-Hash before. A derivation is timed in short slices, PBKDF2 with 1000 iterations, Argon2id in full, and
 * told as the milliseconds that opening a file of the scheme takes. As in bench/kernel.mjs, each variant has its
 * turn in each round, and what counts is the slice that is faster than all but 3 % of them.
 *
 * The modules are those of bench/kernel.mjs. Beside them: libsodium.js in the same engine, and the OpenSSL inside
 * Node, which is native and has the instructions for SHA-256.
 */
import crypto from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastest, instantiate, libsodiumModules, runOnNode26, timed } from './kernel.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = 4096;
const PAGES = 32; // in a slice
const ITERATIONS = 1000; // in a slice
const SLICES = 4; // of a variant in a round
const ARGON2ID = { t: 2, m: 19456 };

const OURS = 'ours, SIMD128';
const NO_SIMD = 'ours, no SIMD';
const SODIUM = 'libsodium.js';
const OPENSSL = 'OpenSSL, native';
const COLUMNS = [OURS, NO_SIMD, SODIUM, OPENSSL];

/**
 * Pages: MB/s. Derivations: milliseconds for so many iterations, or passes over so much memory.
 * @type {Record<string, { pages: true } | { iterations: number } | { whole: true }>}
 */
const WORK = {
  'HMAC-SHA1, pages': { pages: true },
  'HMAC-SHA256, pages': { pages: true },
  'HMAC-SHA512, pages': { pages: true },
  'Ascon-128, pages encrypted': { pages: true },
  'Ascon-128, pages decrypted': { pages: true },
  'PBKDF2-HMAC-SHA1, 64000': { iterations: 64000 },
  'PBKDF2-HMAC-SHA256, 64007': { iterations: 64007 },
  'PBKDF2-HMAC-SHA512, 256000': { iterations: 256000 },
  'PBKDF2 on Ascon, 64007': { iterations: 64007 },
  'Argon2id, t 2, m 19456 KiB': { whole: true },
};

/** @typedef {{ what: string, who: string, before: () => void, run: () => number, slices: number[] }} Variant */

/**
 * @param {string} who
 * @param {Record<string, (...args: number[]) => number>} module
 * @returns {[string, string, () => number, (() => void)?][]}
 */
const ours = (who, { hash_run, hash_pbkdf2, hash_ascon_pbkdf2, hash_argon2id }) => [
  ['HMAC-SHA1, pages', who, () => hash_run(0)],
  ['HMAC-SHA256, pages', who, () => hash_run(1)],
  ['HMAC-SHA512, pages', who, () => hash_run(2)],
  ['Ascon-128, pages encrypted', who, () => hash_run(3)],
  ['Ascon-128, pages decrypted', who, () => hash_run(4), () => void hash_run(3)],
  ['PBKDF2-HMAC-SHA1, 64000', who, () => hash_pbkdf2(0, ITERATIONS)],
  ['PBKDF2-HMAC-SHA256, 64007', who, () => hash_pbkdf2(1, ITERATIONS)],
  ['PBKDF2-HMAC-SHA512, 256000', who, () => hash_pbkdf2(2, ITERATIONS)],
  ['PBKDF2 on Ascon, 64007', who, () => hash_ascon_pbkdf2(ITERATIONS)],
  ['Argon2id, t 2, m 19456 KiB', who, () => hash_argon2id(ARGON2ID.t, ARGON2ID.m)],
];

/** @returns {Promise<[string, string, () => number][]>} */
async function libsodium() {
  const { module } = await libsodiumModules();
  const page = module._malloc(PAGE);
  const state = module._malloc(1024);
  const key = module._malloc(32);
  const out = module._malloc(64);
  /** @param {string} hash */
  const hmac = (hash) => () => {
    let rc = 0;
    for (let i = 0; i < PAGES; i++) {
      rc |= module[`_crypto_auth_hmac${hash}_init`](state, key, 32);
      rc |= module[`_crypto_auth_hmac${hash}_update`](state, page, PAGE, 0);
      rc |= module[`_crypto_auth_hmac${hash}_update`](state, key, 4, 0);
      rc |= module[`_crypto_auth_hmac${hash}_final`](state, out);
    }
    return rc;
  };
  const argon2id = () => module._crypto_pwhash(out, 32, 0, page, 16, 0, key, ARGON2ID.t, 0, ARGON2ID.m * 1024, 2);
  return [
    ['HMAC-SHA256, pages', SODIUM, hmac('sha256')],
    ['HMAC-SHA512, pages', SODIUM, hmac('sha512')],
    ['Argon2id, t 2, m 19456 KiB', SODIUM, argon2id],
  ];
}

/** @returns {[string, string, () => number][]} */
function openssl() {
  const page = new Uint8Array(PAGE);
  const key = page.subarray(0, 32);
  const number = page.subarray(0, 4);
  /** @param {string} hash */
  const hmac = (hash) => () => {
    for (let i = 0; i < PAGES; i++) crypto.createHmac(hash, key).update(page).update(number).digest();
    return 0;
  };
  const pbkdf2 = (/** @type {string} */ hash) => () => {
    crypto.pbkdf2Sync(key.subarray(0, 16), key.subarray(16), ITERATIONS, 32, hash);
    return 0;
  };
  return [
    ['HMAC-SHA1, pages', OPENSSL, hmac('sha1')],
    ['HMAC-SHA256, pages', OPENSSL, hmac('sha256')],
    ['HMAC-SHA512, pages', OPENSSL, hmac('sha512')],
    ['PBKDF2-HMAC-SHA1, 64000', OPENSSL, pbkdf2('sha1')],
    ['PBKDF2-HMAC-SHA256, 64007', OPENSSL, pbkdf2('sha256')],
    ['PBKDF2-HMAC-SHA512, 256000', OPENSSL, pbkdf2('sha512')],
  ];
}

/** @param {Variant} variant @param {number} slices */
function turn({ before, run, slices: kept }, slices) {
  before();
  run();
  for (let i = 0; i < slices; i++) {
    before();
    kept.push(timed(run));
  }
}

/**
 * @param {string} build directory of the presets' build directories
 * @param {number} seconds
 */
export async function measure(build, seconds) {
  const module = (/** @type {string} */ preset) => instantiate(path.join(build, preset, 'kernel_bench.wasm'));
  const simd = module('wasm');
  const all = [...ours(OURS, simd), ...ours(NO_SIMD, module('wasm-nosimd')), ...(await libsodium()), ...openssl()];
  /** @type {Variant[]} */
  const variants = all.map(([what, who, run, before = () => undefined]) => ({ what, who, run, before, slices: [] }));
  // Derivations in full take too long to be warmed up often.
  for (let i = 0; i < 100; i++) for (const v of variants) if (i < 4 || !('whole' in WORK[v.what])) turn(v, 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const v of variants) v.slices = [];
  const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
  while (process.hrtime.bigint() < end) for (const v of variants) turn(v, 'whole' in WORK[v.what] ? 1 : SLICES);

  /** @type {Record<string, Record<string, number>>} by work and variant */
  const results = {};
  for (const { what, who, slices } of variants) {
    const ns = fastest(slices);
    const work = WORK[what];
    (results[what] ??= {})[who] =
      'pages' in work ? (PAGE * PAGES * 1e3) / ns : ('iterations' in work ? work.iterations / ITERATIONS : 1) * (ns / 1e6);
  }
  return { node: process.version, cpu: os.cpus()[0]?.model ?? '', results };
}

/** @param {Awaited<ReturnType<typeof measure>>} result */
export function report({ node, cpu, results }) {
  const lines = [`hashes and key derivations: Node ${node}, ${cpu}, fastest 3 % of slices`];
  const width = 38;
  lines.push(`${''.padEnd(width)}${COLUMNS.map((name) => name.padStart(17)).join('')}${'x libsodium'.padStart(13)}`);
  for (const [what, by] of Object.entries(results)) {
    const pages = 'pages' in WORK[what];
    const cells = COLUMNS.map((who) => (by[who] ? by[who].toFixed(pages ? 0 : 1) : '').padStart(17));
    const ratio = by[SODIUM] ? (pages ? by[OURS] / by[SODIUM] : by[SODIUM] / by[OURS]).toFixed(2) : '';
    lines.push(`${`${what}, ${pages ? 'MB/s' : 'ms'}`.padEnd(width)}${cells.join('')}${ratio.padStart(13)}`);
  }
  return lines.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !runOnNode26(process.argv[1])) {
  const option = (/** @type {string} */ name, /** @type {string} */ fallback) =>
    process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback;
  const result = await measure(option('build', path.join(ROOT, 'build')), Number(option('seconds', '20')));
  console.log(process.argv.includes('--json') ? JSON.stringify(result, null, 2) : report(result));
}
