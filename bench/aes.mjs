#!/usr/bin/env node
/**
 * How fast are AES-CBC and AEGIS? Prints MB/s, measured side by side in one process.
 *
 *   node bench/aes.mjs [--json] [--seconds=N] [--build=DIR]
 *
 * A page is 4096 bytes and costs what it costs in the codec: for AES-CBC the expansion of its key, for AEGIS the key
 * stream that gives its key and nonce. As in bench/kernel.mjs, each variant has its turn in each round, and what
 * counts is the slice that is faster than all but 3 % of them.
 *
 * Pages that the codec writes one after the other are encrypted four at a time ("encrypt four").
 *
 * The modules are those of bench/kernel.mjs. Beside them: AEGIS-256 of libsodium.js, without the key stream, in the
 * same engine; and AES-CBC of the OpenSSL inside Node, which is native and has the instructions for AES.
 */
import crypto from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastest, instantiate, libsodiumModules, runOnNode26, timed } from './kernel.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = 4096;
const PAGES = 32; // in a slice
const SLICES = 4; // of a variant in a round
const TAG = 32;

const PRESETS = { 'ours, relaxed SIMD': 'wasm-relaxed', 'ours, SIMD128': 'wasm', 'ours, no SIMD': 'wasm-nosimd' };
const SODIUM = 'libsodium.js';
const OPENSSL = 'OpenSSL, native';
const COLUMNS = [...Object.keys(PRESETS), SODIUM, OPENSSL];

/** Names of aegis.h's variants, from 1. */
const AEGIS = ['AEGIS-128L', 'AEGIS-128X2', 'AEGIS-128X4', 'AEGIS-256', 'AEGIS-256X2', 'AEGIS-256X4'];

/** `before` encrypts again what run() decrypts. @typedef {{ what: string, who: string, before: () => void, run: () => number, slices: number[] }} Variant */

/** @type {(name: string, who: string, pass: (decrypt: boolean) => number) => Variant[]} */
const both = (name, who, pass) => [
  { what: `${name}, encrypt`, who, before: () => undefined, run: () => pass(false), slices: [] },
  { what: `${name}, decrypt`, who, before: () => void pass(false), run: () => pass(true), slices: [] },
];

/** @param {string} who @param {Record<string, (...args: number[]) => number>} module */
const ours = (who, { aes_run, aegis_run }) => [
  ...[128, 256].flatMap((bits) => [
    ...both(`AES-${bits}-CBC`, who, (decrypt) => aes_run(Number(decrypt), bits / 8)),
    { what: `AES-${bits}-CBC, encrypt four`, who, before: () => undefined, run: () => aes_run(2, bits / 8), slices: [] },
  ]),
  ...AEGIS.flatMap((name, i) => both(name, who, (decrypt) => aegis_run(Number(decrypt), i + 1))),
];

async function libsodium() {
  const { module } = await libsodiumModules();
  const pages = module._malloc(PAGES * PAGE);
  const key = module._malloc(32);
  const nonce = module._malloc(32);
  const length = module._malloc(8);
  const text = PAGE - TAG - 32;
  return both('AEGIS-256', SODIUM, (decrypt) => {
    let rc = 0;
    for (let page = pages; page < pages + PAGES * PAGE; page += PAGE) {
      rc |= decrypt
        ? module._crypto_aead_aegis256_decrypt_detached(null, page, page, text, 0, page + text, null, 0, 0, nonce, key)
        : module._crypto_aead_aegis256_encrypt_detached(page, page + text, length, page, text, 0, null, 0, 0, null, nonce, key);
    }
    return rc;
  });
}

function openssl() {
  const page = new Uint8Array(PAGE);
  return [128, 256].flatMap((bits) =>
    both(`AES-${bits}-CBC`, OPENSSL, (decrypt) => {
      const key = page.subarray(0, bits / 8);
      for (let i = 0; i < PAGES; i++) {
        const cipher = (decrypt ? crypto.createDecipheriv : crypto.createCipheriv)(`aes-${bits}-cbc`, key, page.subarray(0, 16));
        cipher.setAutoPadding(false).update(page);
        cipher.final();
      }
      return 0;
    }),
  );
}

/** @param {Variant} variant */
function turn({ before, run, slices }) {
  before();
  run();
  for (let i = 0; i < SLICES; i++) {
    before();
    slices.push(timed(run));
  }
}

/**
 * @param {string} build directory of the presets' build directories
 * @param {number} seconds
 */
export async function measure(build, seconds) {
  const modules = Object.entries(PRESETS).flatMap(([who, preset]) => ours(who, instantiate(path.join(build, preset, 'kernel_bench.wasm'))));
  const variants = [...modules, ...(await libsodium()), ...openssl()];
  for (let i = 0; i < 30; i++) for (const v of variants) turn(v);
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const v of variants) v.slices = [];
  const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
  while (process.hrtime.bigint() < end) for (const v of variants) turn(v);

  /** @type {Record<string, Record<string, number>>} MB/s by work and variant */
  const results = {};
  for (const { what, who, slices } of variants) (results[what] ??= {})[who] = (PAGE * PAGES * 1e3) / fastest(slices);
  return { node: process.version, cpu: os.cpus()[0]?.model ?? '', results };
}

/** @param {Awaited<ReturnType<typeof measure>>} result */
export function report({ node, cpu, results }) {
  const lines = [`AES-CBC and AEGIS, pages of ${PAGE} bytes, MB/s: Node ${node}, ${cpu}, fastest 3 % of slices`];
  const width = 28;
  lines.push(`${''.padEnd(width)}${COLUMNS.map((name) => name.padStart(20)).join('')}${'x libsodium'.padStart(13)}`);
  for (const [what, by] of Object.entries(results)) {
    const cells = COLUMNS.map((who) => (by[who] ? by[who].toFixed(0) : '').padStart(20));
    const ratio = by[SODIUM] ? (by[COLUMNS[0]] / by[SODIUM]).toFixed(2) : '';
    lines.push(`${what.padEnd(width)}${cells.join('')}${ratio.padStart(13)}`);
  }
  return lines.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !runOnNode26(process.argv[1])) {
  const option = (/** @type {string} */ name, /** @type {string} */ fallback) =>
    process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback;
  const result = await measure(option('build', path.join(ROOT, 'build')), Number(option('seconds', '20')));
  console.log(process.argv.includes('--json') ? JSON.stringify(result, null, 2) : report(result));
}
