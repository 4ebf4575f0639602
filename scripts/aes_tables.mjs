#!/usr/bin/env node
/**
 * Writes the tables of the vector-permute AES: node scripts/aes_tables.mjs OUT.h
 *
 * SubBytes is an inversion in GF(2^8) and a linear map. M. Hamburg ("Accelerating AES with Vector Permute
 * Instructions", CHES 2009) inverts with look-ups of 16 entries, which one instruction does on 16 bytes at once.
 *
 * Let K be the subfield of 16 elements, z an element with z + z^16 = 1, n = z^17, a = 1 / n. Each x is
 * i z + j z^16 with i, j in K; let k = i + j. Its norm is N = i j + n k^2, and 1 / x = (j z + i z^16) / N. With
 *
 *     p = 1 / (1/i + a/k) + j     q = 1 / (1/j + a/k) + i
 *
 * it follows that p = a N / (k + a i) and q = a N / (k + a j); so 1/p + 1/q = k / N, i/N = 1/p + k / (a N),
 * j/N = 1/q + k / (a N), and
 *
 *     1 / x = (1/p) (z^16 + 1/a) + (1/q) (z + 1/a).
 *
 * So the byte is kept as 16 i + k; five look-ups lead to p and q, and each linear image of 1/x costs two more,
 * one by p and one by q. 1/0 is infinite, 0x80 in the tables: a look-up at an index from 128 gives zero, which
 * is what 1/infinity has to be, and infinite plus anything stays infinite, in the instructions of every machine.
 * No other index is above 15. Twice infinite, for x = 0 alone, adds up to 0, which the next look-up makes infinite.
 *
 * The maps that follow are folded into the last look-ups: the affine map of SubBytes, the factors of
 * MixColumns, and the way back to 16 i + k, or, for decryption, to the same of what the inverse affine map
 * makes of the byte. The constant of the affine map goes into the round keys.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const INFINITE = 0x80;
const bytes = [...Array(256).keys()];
const nibbles = bytes.slice(0, 16);

/** @param {number} a @param {number} b the product in GF(2^8), mod x^8 + x^4 + x^3 + x + 1 */
function times(a, b) {
  let product = 0;
  for (; b; b >>= 1, a = a & 0x80 ? (a << 1) ^ 0x11b : a << 1) if (b & 1) product ^= a;
  return product;
}

/** @param {number} a @param {number} n */
const power = (a, n) => Array(n).fill(a).reduce(times, 1);

/** @param {number} a */
const inverse = (a) => power(a, 254);

const z = bytes.find((x) => (x ^ power(x, 16)) === 1) ?? 0;
const zz = power(z, 16);
const a = inverse(times(z, zz));

// Four bits for an element of K: its coordinates to a basis.
const K = bytes.filter((x) => power(x, 16) === x);
const basis = [1, K.find((x) => x > 1 && power(x, 3) !== 1) ?? 0];
basis.push(power(basis[1], 2), power(basis[1], 3));
const element = nibbles.map((c) => basis.reduce((sum, b, bit) => (c & (1 << bit) ? sum ^ b : sum), 0));
const code = (/** @type {number} */ x) => element.indexOf(x);

// The byte 16 i + k for i z + j z^16.
const pack = Array(256).fill(0);
for (const i of nibbles) for (const k of nibbles) pack[times(element[i], z) ^ times(element[i] ^ element[k], zz)] = (i << 4) | k;

/** The linear part of the affine map of SubBytes. @param {number} x */
function affine(x) {
  const rotated = (/** @type {number} */ n) => (x << n) | (x >> (8 - n));
  return (x ^ rotated(1) ^ rotated(2) ^ rotated(3) ^ rotated(4)) & 0xff;
}

const backward = Array(256).fill(0); // of the linear part
for (const x of bytes) backward[affine(x)] = x;

/** @typedef {(x: number) => number} Map */
/** A linear image of 1 / x as look-ups by p and q. @type {(name: string, image: Map) => Record<string, number[]>} */
const finish = (name, image) => {
  const by = (/** @type {number} */ factor) => nibbles.map((c) => (c ? image(times(inverse(element[c]), factor ^ inverse(a))) : 0));
  return { [`${name}_p`]: by(zz), [`${name}_q`]: by(z) };
};
/** A linear map of bytes as look-ups by both nibbles. @type {(name: string, image: Map) => Record<string, number[]>} */
const halves = (name, image) => ({
  [`${name}_low`]: nibbles.map(image),
  [`${name}_high`]: nibbles.map((c) => image(c << 4)),
});
/** Where each byte comes from; byte r + 4 c is in row r, column c. @type {(from: (r: number, c: number) => [number, number]) => number[]} */
const permutation = (from) =>
  nibbles.map((p) => {
    const [r, c] = from(p % 4, p >> 2);
    return (r & 3) + 4 * (c & 3);
  });
/** @type {Map} */
const toEncrypt = (x) => pack[x];
/** @type {Map} */
const toDecrypt = (x) => pack[backward[x]];
/** @type {(value: number) => number[]} */
const everywhere = (value) => Array(16).fill(value);

/** @type {Record<string, number[]>} */
const tables = {
  inverse: nibbles.map((c) => (c ? code(inverse(element[c])) : INFINITE)),
  a_over: nibbles.map((c) => (c ? code(times(a, inverse(element[c]))) : INFINITE)),
  ...finish('enc_1', (x) => toEncrypt(affine(x))),
  ...finish('enc_2', (x) => toEncrypt(times(2, affine(x)))),
  ...finish('enc_3', (x) => toEncrypt(times(3, affine(x)))),
  ...finish('enc_last', affine),
  ...finish('dec_9', (x) => toDecrypt(times(9, x))),
  ...finish('dec_b', (x) => toDecrypt(times(11, x))),
  ...finish('dec_d', (x) => toDecrypt(times(13, x))),
  ...finish('dec_e', (x) => toDecrypt(times(14, x))),
  ...finish('dec_last', (x) => x),
  ...halves('enter_enc', toEncrypt),
  ...halves('enter_dec', toDecrypt),
  ...halves('leave_enc', (x) => pack.indexOf(x)),
  ...halves('times_2', (x) => times(2, x)),
  ...halves('times_4', (x) => times(4, x)),
  constant: everywhere(0x63),
  constant_enc: everywhere(toEncrypt(0x63)),
  constant_dec: everywhere(toDecrypt(0x63)),
  // ShiftRows, alone and with steps down the rows; two_down is a step of two that ShiftRows or its inverse follows.
  rows: permutation((r, c) => [r, c + r]),
  rows_down: permutation((r, c) => [r + 1, c + r + 1]),
  rows_down_2: permutation((r, c) => [r + 2, c + r + 2]),
  rows_down_3: permutation((r, c) => [r + 3, c + r + 3]),
  rows_back: permutation((r, c) => [r, c - r]),
  rows_back_down: permutation((r, c) => [r + 1, c - r - 1]),
  two_down: permutation((r, c) => [r + 2, c + 2]),
  down: permutation((r, c) => [r + 1, c]),
};

const lines = Object.entries(tables).map(([name, values]) =>
  `TABLE(${name}, ${values.map((v) => `0x${v.toString(16).padStart(2, '0')}`).join(', ')})`);

const out = process.argv[2];
if (!out) {
  console.error('usage: node scripts/aes_tables.mjs OUT.h');
  process.exit(2);
}
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `/* Written by scripts/aes_tables.mjs, which says what they mean. */\n${lines.join('\n')}\n`);
