#!/usr/bin/env node
/**
 * How fast are the page kernels? Prints ratios, measured side by side in one process.
 *
 *   node bench/kernel.mjs [--json] [--seconds=N] [--build=DIR]
 *
 * A page is `size` bytes: data, 16 bytes nonce, 16 bytes tag. Decrypting one is one block of ChaCha20 for
 * its one-time key, and the page kernel; libsodium and OpenSSL do their AEAD on as many bytes, which is
 * the same work. Every variant has its turn in each round: a few passes over 256 KiB, each of them a
 * slice, after one that brings the buffer into the cache and is not counted. What counts is the slice
 * that is faster than all but 3 % of them, because neighbours on the machine only ever make one slower.
 *
 * The modules are made by the CMake target kernel_bench of the presets wasm, wasm-relaxed, wasm-nosimd.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(HERE);
const SIZES = [65536, 4096];
const WHAT = { encrypt: 0, decrypt: 1, separateEncrypt: 2, separateDecrypt: 3, chacha20: 4, poly1305: 5, copy: 6 };

/** The bar that this project set itself, on Node 26: [what, page size, at least]. */
const GOALS = /** @type {const} */ ([
  ['fused, relaxed SIMD, decrypt / libsodium raw', 65536, 3.0],
  ['fused, relaxed SIMD, decrypt / libsodium raw', 4096, 2.8],
  ['fused, SIMD128, decrypt / libsodium raw', 65536, 2.75],
  ['best unfused, decrypt / libsodium raw', 65536, 2.1],
  ['ChaCha20 alone / libsodium raw', 65536, 3.2],
  ['fused, decrypt / best unfused', 65536, 1.4],
  ['fused, decrypt / ChaCha20 alone', 65536, 0.9],
  ['copy of a page / decrypting it', 4096, -0.03],
]);

/** Slices of one variant in a round. */
const SLICES = 4;

/**
 * A variant runs one pass over `bytes` bytes and says how many nanoseconds it took. `before` makes its
 * input, as decrypting needs pages that are encrypted; without it, a pass is its own input.
 * @typedef {(size: number) => number | Promise<number>} Pass
 * @typedef {{ name: string, before: Pass, pass: Pass, slices: Record<number, number[]> }} Variant
 */

/**
 * @param {() => number} work answers 0 if all went well
 * @returns {number} nanoseconds
 */
export function timed(work) {
  const start = process.hrtime.bigint();
  const rc = work();
  const ns = Number(process.hrtime.bigint() - start);
  if (rc !== 0) throw new Error('a tag was wrong in the benchmark');
  return ns;
}

/**
 * @param {string} file of the target kernel_bench
 * @returns {Record<string, (...args: number[]) => number>} its exports
 */
export function instantiate(file) {
  if (!fs.existsSync(file)) {
    const preset = path.basename(path.dirname(file));
    throw new Error(`${file} is missing: cmake --build --preset ${preset} --target kernel_bench`);
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)), {});
  const all = /** @type {Record<string, (...args: number[]) => number>} */ (/** @type {unknown} */ (exports));
  all._initialize?.();
  return all;
}

/** @param {string} file */
function loadModule(file) {
  const { bench_bytes, bench_run } = instantiate(file);
  return { bytes: bench_bytes(), run: bench_run };
}

/** libsodium.js: its wrapper as people call it, and the module inside. */
export async function libsodiumModules() {
  const require = createRequire(import.meta.url);
  const wrapperPath = require.resolve('libsodium-wrappers-sumo');
  const sodium = require(wrapperPath);
  await sodium.ready;
  const raw = createRequire(wrapperPath)('libsodium-sumo');
  await raw.ready;
  return { sodium, module: raw.libsodium ?? raw };
}

/**
 * libsodium.js at its best: its own heap, no copies, no checks in JavaScript; and its wrapper.
 * @param {number} bytes
 */
async function libsodium(bytes) {
  const { sodium, module } = await libsodiumModules();
  const pages = module._malloc(bytes);
  const tags = module._malloc(16 * (bytes / 512));
  const length = module._malloc(8);
  const nonce = module._malloc(12);
  const key = module._malloc(32);
  /** @param {number} size @param {boolean} decrypt */
  const rawPass = (size, decrypt) => {
    let rc = 0;
    for (let i = 0; i < bytes / size; i++) {
      const page = pages + i * size;
      const tag = tags + 16 * i;
      rc |= decrypt
        ? module._crypto_aead_chacha20poly1305_ietf_decrypt_detached(page, null, page, size - 32, 0, tag, null, 0, 0, nonce, key)
        : module._crypto_aead_chacha20poly1305_ietf_encrypt_detached(page, tag, length, page, size - 32, 0, null, 0, null, nonce, key);
    }
    return rc;
  };
  const wrapperKey = new Uint8Array(32);
  const wrapperNonce = new Uint8Array(12);
  /** @type {Record<number, { ciphertext: Uint8Array, mac: Uint8Array }>} */
  const sealed = {};
  /** @param {number} size @param {boolean} decrypt */
  const wrapperPass = (size, decrypt) => {
    const plain = new Uint8Array(size - 32);
    for (let i = 0; i < bytes / size; i++) {
      if (decrypt) {
        const { ciphertext, mac } = sealed[size];
        sodium.crypto_aead_chacha20poly1305_ietf_decrypt_detached(null, ciphertext, mac, null, wrapperNonce, wrapperKey);
      } else {
        sealed[size] = sodium.crypto_aead_chacha20poly1305_ietf_encrypt_detached(plain, null, null, wrapperNonce, wrapperKey);
      }
    }
    return 0;
  };
  return { rawPass, wrapperPass };
}

/**
 * OpenSSL in a process of its own, which measures itself. undefined: no compiler or no headers here.
 * @param {Record<string, string>} environment
 * @param {string} program
 */
function openssl(environment, program) {
  const child = spawn(program, { env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** @param {number} size @param {boolean} decrypt */
    async pass(size, decrypt) {
      child.stdin.write(`${size} ${decrypt ? 1 : 0}\n`);
      const ns = Number((await lines.next()).value);
      if (!(ns > 0)) throw new Error('OpenSSL failed in the benchmark');
      return ns;
    },
    end: () => child.stdin.end(),
  };
}

/** @param {string} directory */
function buildOpenssl(directory) {
  const program = path.join(directory, 'kernel_openssl');
  const source = path.join(HERE, 'kernel_openssl.c');
  const done = spawnSync('cc', ['-O2', '-o', program, source, '-lcrypto'], { stdio: 'ignore' });
  return done.status === 0 ? program : undefined;
}

/** @param {number[]} slices */
export function fastest(slices) {
  const sorted = [...slices].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.03)];
}

/**
 * @param {Variant} variant
 * @param {number} size
 */
async function turn({ before, pass, slices }, size) {
  await before(size);
  if (pass !== before) await pass(size);
  for (let i = 0; i < SLICES; i++) {
    if (pass !== before) await before(size);
    (slices[size] ??= []).push(await pass(size));
  }
}

/**
 * @param {string} build directory of the presets' build directories
 * @param {number} seconds
 */
export async function measure(build, seconds) {
  const relaxed = loadModule(path.join(build, 'wasm-relaxed', 'kernel_bench.wasm'));
  const simd = loadModule(path.join(build, 'wasm', 'kernel_bench.wasm'));
  const scalar = loadModule(path.join(build, 'wasm-nosimd', 'kernel_bench.wasm'));
  const { bytes } = relaxed;
  const sodium = await libsodium(bytes);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'kernel-bench-'));
  const program = buildOpenssl(scratch);
  if (!program) console.error('OpenSSL is left out: it needs cc and its headers (apt-get install gcc libssl-dev).');
  const full = program ? openssl({}, program) : undefined;
  const noAvx = program ? openssl({ OPENSSL_ia32cap: '~0x1000000000000000:0' }, program) : undefined;

  /** @type {(name: string, pass: Pass) => Variant} */
  const single = (name, pass) => ({ name, before: pass, pass, slices: {} });
  /** @type {(name: string, pass: (size: number, decrypt: boolean) => number | Promise<number>) => Variant[]} */
  const both = (name, pass) => {
    const encrypt = (/** @type {number} */ size) => pass(size, false);
    const decrypt = (/** @type {number} */ size) => pass(size, true);
    return [
      single(`${name}, encrypt`, encrypt),
      { name: `${name}, decrypt`, before: encrypt, pass: decrypt, slices: {} },
    ];
  };
  /** @type {(module: typeof relaxed, what: number) => (size: number) => number} */
  const run = (module, what) => (size) => timed(() => module.run(0, what, size));
  /** @type {(module: typeof relaxed) => (size: number, decrypt: boolean) => number} */
  const fused = (module) => (size, decrypt) => run(module, decrypt ? WHAT.decrypt : WHAT.encrypt)(size);
  /** @type {(module: typeof relaxed) => (size: number, decrypt: boolean) => number} */
  const separate = (module) => (size, decrypt) => run(module, decrypt ? WHAT.separateDecrypt : WHAT.separateEncrypt)(size);
  const variants = [
    ...both('fused, relaxed SIMD', fused(relaxed)),
    ...both('fused, SIMD128', fused(simd)),
    ...both('separate, relaxed SIMD', separate(relaxed)),
    ...both('separate, SIMD128', separate(simd)),
    ...both('scalar', fused(scalar)),
    single('ChaCha20 alone, relaxed SIMD', run(relaxed, WHAT.chacha20)),
    single('ChaCha20 alone, SIMD128', run(simd, WHAT.chacha20)),
    single('Poly1305 alone', run(relaxed, WHAT.poly1305)),
    single('copy of a page', run(relaxed, WHAT.copy)),
    ...both('libsodium raw', (size, decrypt) => timed(() => sodium.rawPass(size, decrypt))),
    ...both('libsodium wrapper', (size, decrypt) => timed(() => sodium.wrapperPass(size, decrypt))),
    ...(full && noAvx ? [...both('OpenSSL native', full.pass), ...both('OpenSSL native without AVX', noAvx.pass)] : []),
  ];

  /** @type {Record<number, Record<string, number>>} GB/s by page size and variant */
  const speeds = {};
  try {
    // The engine compiles for speed only what has run for a while, in the background.
    for (let i = 0; i < 2; i++) {
      for (let k = 0; k < 15; k++) for (const v of variants) for (const size of SIZES) await turn(v, size);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    for (const v of variants) for (const size of SIZES) v.slices[size] = [];
    const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
    while (process.hrtime.bigint() < end) for (const size of SIZES) for (const v of variants) await turn(v, size);
    for (const size of SIZES) {
      speeds[size] = Object.fromEntries(variants.map((v) => [v.name, bytes / fastest(v.slices[size])]));
    }
  } finally {
    full?.end();
    noAvx?.end();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  return { node: process.version, cpu: os.cpus()[0]?.model ?? '', speeds, goals: ratios(speeds) };
}

/** @param {Record<number, Record<string, number>>} speeds */
function ratios(speeds) {
  return GOALS.map(([what, size, goal]) => {
    const v = speeds[size];
    const best = (/** @type {string} */ pattern) =>
      Math.max(...Object.keys(v).filter((name) => new RegExp(pattern).test(name)).map((name) => v[name]));
    const [top, bottom] = what.split(' / ');
    /** @type {Record<string, number>} */
    const named = {
      'best unfused, decrypt': best('^separate.*decrypt'),
      'best unfused': best('^separate.*decrypt'),
      'fused, decrypt': best('^fused.*decrypt'),
      'ChaCha20 alone': best('^ChaCha20 alone'),
      'libsodium raw': v['libsodium raw, decrypt'],
      'decrypting it': v['fused, relaxed SIMD, decrypt'],
    };
    const [a, b] = [top, bottom].map((name) => v[name] ?? named[name]);
    // A goal below zero is an upper bound, of times instead of speeds.
    const ratio = goal < 0 ? b / a : a / b;
    return { what, size, ratio, goal: Math.abs(goal), met: goal < 0 ? ratio <= -goal : ratio >= goal };
  });
}

/** @param {Awaited<ReturnType<typeof measure>>} result */
export function report({ node, cpu, speeds, goals }) {
  const lines = [`page kernels: Node ${node}, ${cpu}, fastest 3 % of slices`];
  const width = Math.max(...Object.values(speeds).flatMap((v) => Object.keys(v).map((name) => name.length)));
  lines.push(`${''.padEnd(width)}${SIZES.map((size) => `${size / 1024} KiB pages`.padStart(22)).join('')}`);
  lines.push(`${''.padEnd(width)}${SIZES.map(() => 'GB/s   x libsodium'.padStart(22)).join('')}`);
  for (const name of Object.keys(speeds[SIZES[0]])) {
    const columns = SIZES.map((size) => {
      const v = speeds[size];
      const base = v[`libsodium raw, ${/encrypt/.test(name) ? 'encrypt' : 'decrypt'}`];
      return `${v[name].toFixed(3)}${(v[name] / base).toFixed(2).padStart(10)}`.padStart(22);
    });
    lines.push(`${name.padEnd(width)}${columns.join('')}`);
  }
  lines.push('');
  for (const { what, size, ratio, goal, met } of goals) {
    const bound = what.startsWith('copy') ? '<=' : '>=';
    lines.push(`${`${what}, ${size / 1024} KiB`.padEnd(60)}${ratio.toFixed(3).padStart(8)}   goal ${bound} ${goal}${met ? '' : '   not met'}`);
  }
  return lines.join('\n');
}

/** The numbers that are quoted are those of Node 26, which the set-up installs beside the caller's Node. */
export function runOnNode26(/** @type {string} */ script) {
  const environment = path.join(ROOT, 'build', 'env.json');
  if (process.versions.node.startsWith('26.') || !fs.existsSync(environment)) return false;
  const { node26 } = JSON.parse(fs.readFileSync(environment, 'utf8'));
  if (!node26 || !fs.existsSync(node26)) return false;
  execFileSync(node26, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !runOnNode26(fileURLToPath(import.meta.url))) {
  const option = (/** @type {string} */ name, /** @type {string} */ fallback) =>
    process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback;
  const result = await measure(option('build', path.join(ROOT, 'build')), Number(option('seconds', '40')));
  console.log(process.argv.includes('--json') ? JSON.stringify(result, null, 2) : report(result));
}
