#!/usr/bin/env node
/**
 * Writes the known answers of test/vectors/ as a C header for cryptotest: node scripts/vectors.mjs OUT.h
 *
 * An algorithm of those files that has no line in TABLES is an error. The worked page examples name a page of a
 * fixture; its bytes are taken from test/fixtures/.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (/** @type {string} */ name) => fs.readFileSync(path.join(ROOT, 'test', name));

/** @typedef {Record<string, string | number>} Vector */

/**
 * Algorithm -> C type and its fields, in the order of the struct in native/cryptotest.h. Byte strings stay
 * hex: C limits the length of a literal, not what is made of it.
 * @type {Record<string, { type: string, fields: string[] }>}
 */
const TABLES = {
  chacha20: { type: 'stream_vector', fields: ['key', 'nonce', 'counter', 'pt', 'ct'] },
  poly1305: { type: 'mac_vector', fields: ['key', 'msg', 'tag'] },
  'chacha20-poly1305': { type: 'aead_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag'] },
  sha256: { type: 'hash_vector', fields: ['msg', 'digest'] },
  'hmac-sha256': { type: 'mac_vector', fields: ['key', 'msg', 'tag'] },
  'pbkdf2-hmac-sha256': { type: 'kdf_vector', fields: ['password', 'salt', 'iterations', 'dk'] },
  'aes-128-ecb': { type: 'ecb_vector', fields: ['key', 'pt', 'ct'] },
  'aes-192-ecb': { type: 'ecb_vector', fields: ['key', 'pt', 'ct'] },
  'aes-256-ecb': { type: 'ecb_vector', fields: ['key', 'pt', 'ct'] },
  'aes-128-ctr': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-256-ctr': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-128-cbc': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-256-cbc': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-128-cbc-cs3': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-256-cbc-cs3': { type: 'cbc_vector', fields: ['key', 'iv', 'pt', 'ct'] },
  'aes-128-gcm': { type: 'aead_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag'] },
  'aes-256-gcm': { type: 'aead_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag'] },
  'aes-128-xts': { type: 'xts_vector', fields: ['key1', 'key2', 'data_unit_le', 'pt', 'ct'] },
  'aes-256-xts': { type: 'xts_vector', fields: ['key1', 'key2', 'data_unit_le', 'pt', 'ct'] },
  'aegis-128l': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  'aegis-128x2': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  'aegis-128x4': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  'aegis-256': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  'aegis-256x2': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  'aegis-256x4': { type: 'aegis_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag256', 'stream80'] },
  md5: { type: 'hash_vector', fields: ['msg', 'digest'] },
  sha1: { type: 'hash_vector', fields: ['msg', 'digest'] },
  sha512: { type: 'hash_vector', fields: ['msg', 'digest'] },
  'hmac-sha1': { type: 'mac_vector', fields: ['key', 'msg', 'tag'] },
  'hmac-sha512': { type: 'mac_vector', fields: ['key', 'msg', 'tag'] },
  'pbkdf2-hmac-sha1': { type: 'kdf_vector', fields: ['password', 'salt', 'iterations', 'dk'] },
  'pbkdf2-hmac-sha512': { type: 'kdf_vector', fields: ['password', 'salt', 'iterations', 'dk'] },
  rc4: { type: 'rc4_vector', fields: ['key', 'pt', 'ct'] },
  'ascon-128': { type: 'aead_vector', fields: ['key', 'nonce', 'aad', 'pt', 'ct', 'tag'] },
  'ascon-hash': { type: 'hash_vector', fields: ['msg', 'digest'] },
  blake2b: { type: 'mac_vector', fields: ['key', 'msg', 'digest'] },
  argon2id: { type: 'argon2id_vector', fields: ['password', 'salt', 'secret', 'ad', 't', 'm_kib', 'p', 'dk'] },
  'page IV generator': { type: 'page_iv_vector', fields: ['page', 'iv'] },
  'ascon-pbkdf2': { type: 'kdf_vector', fields: ['password', 'salt', 'iterations', 'dk'] },
};

/** @type {{ vectors: Vector[] }} */
const general = JSON.parse(read('vectors/vectors.json').toString());
/** @type {{ vectors: Vector[] }} */
const rfc = JSON.parse(read('vectors/rfc.json').toString());
const examples = JSON.parse(read('vectors/page-examples.json').toString());

/** What the parameters of formats.md 4.1 are where an example does not say: [kdf_iter, algorithm] by `legacy`. */
const SQLCIPHER = { 0: [256000, 2], 1: [4000, 0], 2: [4000, 0], 3: [64000, 0], 4: [256000, 2] };
const PBKDF2 = ['pbkdf2-hmac-sha1', 'pbkdf2-hmac-sha256', 'pbkdf2-hmac-sha512'];
const ITERATIONS = { normal: 64007, legacy: 12345 };

/**
 * The key derivations of whole files as vectors of their algorithms.
 * @type {Record<string, (p: any, e: any) => Vector[]>}
 */
const DERIVATIONS = {
  chacha20: (p) => [{ alg: 'pbkdf2-hmac-sha256', iterations: p.kdf_iter ?? (p.legacy ? ITERATIONS.legacy : ITERATIONS.normal) }],
  ascon128: (p) => [{ alg: 'ascon-pbkdf2', iterations: p.kdf_iter ?? ITERATIONS.normal }],
  aegis: (p) => [{ alg: 'argon2id', t: p.tcost ?? 2, m_kib: p.mcost ?? 19456, p: p.pcost ?? 1 }],
  sqlcipher: (p, e) => {
    const [iterations, algorithm] = SQLCIPHER[/** @type {0} */ (p.legacy ?? 0)];
    const alg = PBKDF2[p.kdf_algorithm ?? algorithm];
    const mac = { alg, password: e.key, salt: e.hmac_salt, iterations: 2, dk: e.hmac_key };
    return [{ alg, iterations }, ...(e.hmac_key ? [mac] : [])];
  },
};
/** @type {Vector[]} */
const kdf = examples.kdf.flatMap((/** @type {any} */ e) =>
  (DERIVATIONS[e.cipher]?.(e.params, e) ?? []).map((v) => ({
    id: `${e.cipher} ${JSON.stringify(e.params)}`,
    password: Buffer.from(e.password).toString('hex'),
    salt: e.salt,
    dk: e.key,
    ...v,
  })),
);
/** Those that are no vector of one algorithm. */
const fileKeys = examples.kdf
  .filter((/** @type {any} */ e) => ['aes128cbc', 'aes256cbc', 'rc4'].includes(e.cipher))
  .map((/** @type {any} */ e) => `    {${[e.cipher, e.password, e.key].map((x) => JSON.stringify(x)).join(', ')}},`);

/** The algorithm without a remark that follows it: " (RFC 8439 AEAD)", " v1.2". */
const name = (/** @type {Vector} */ v) => String(v.alg).replace(/ (\(.*\)|v[\d.]+)$/, '');
// The last page of examples.page_iv was computed without the wrap at 32 bits that the format has.
const ivs = examples.page_iv.filter((/** @type {any} */ e) => e.page < 0x7fffffff).map((/** @type {any} */ e) => ({ alg: 'page IV generator', id: `page ${e.page}`, ...e }));
const all = [...general.vectors, ...rfc.vectors, ...kdf, ...ivs];
for (const v of all) {
  if (!TABLES[name(v)]) throw new Error(`${v.alg}, ${v.id}: no table has this algorithm, so no test would see the vector`);
}

/** @param {string | number} value */
const literal = (value) => (typeof value === 'number' ? `${value}u` : JSON.stringify(value));

const tables = Object.entries(TABLES).map(([alg, { type, fields }]) => {
  const rows = all
    .filter((v) => name(v) === alg)
    .map((v) => `    {${[v.id, ...fields.map((field) => v[field] ?? '')].map(literal).join(', ')}},`);
  return `static const ${type} ${alg.replace(/[- ]/g, '_').toLowerCase()}_vectors[] = {\n${rows.join('\n')}\n};\n`;
});

const pages = examples.pages
  .filter((/** @type {any} */ e) => e.cipher === 'chacha20')
  .map((/** @type {any} */ e) => {
    const file = read(`fixtures/${e.file}`);
    const page = file.subarray((e.page - 1) * e.page_size, e.page * e.page_size);
    // The fixture must be the file that the example was taken from.
    if (!page.toString('hex').startsWith(e.stored_first48)) throw new Error(`${e.file} is not the file of page-examples.json`);
    const row = [
      JSON.stringify(`${e.file} page ${e.page}`), `${e.page}u`, `${e.page_size}u`, `${e.encrypted_from_offset}u`,
      ...[e.key, e.nonce].map(literal), `${e.counter}u`,
      ...[e.otk, e.tag, e.plain_first48, e.plain_last16_of_usable, e.plain_usable_sha256].map(literal),
    ];
    const bytes = [...page].join(',').replace(/(.{1,118}),/g, '$1,\n     ');
    return `    {${row.join(', ')},\n     {${bytes}}},`;
  });

const header = `/* Written by scripts/vectors.mjs from test/vectors/: change those files, not this one. */

${tables.join('\n')}
static const file_key file_keys[] = {
${fileKeys.join('\n')}
};

static const page_example page_examples[] = {
${pages.join('\n')}
};
`;

const out = process.argv[2];
if (!out) {
  console.error('usage: node scripts/vectors.mjs OUT.h');
  process.exit(2);
}
fs.mkdirSync(path.dirname(out), { recursive: true });
fs.writeFileSync(out, header);
