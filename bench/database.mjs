/**
 * Benchmark of whole databases: this package, the plain official package and the WebAssembly build of the
 * reference, side by side in one process.
 *
 *   node bench/database.mjs [--quick] [--json] [--scheme=chacha20] [--megabytes=66] [--rounds=15] [--page-size=4096] [--cpu]
 *
 * --cpu counts the processor time of the thread instead of the time on the clock: on a busy machine the
 * better measure of all that does not wait for a disk.
 *
 * Every engine has its turn in each round, and each round begins with another one. Times are medians of
 * the rounds; a ratio is the median of the ratios within the rounds, so that a neighbour on the machine
 * who slows down some rounds changes it little.
 *
 * All in-memory databases lie in one and the same VFS (memory-vfs.mjs). What it holds is looked at: an
 * encrypted database must show reserved bytes and none of the text that was inserted. The pager's cache
 * is the usual 2 MB, and the scan must have read each page from the VFS.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bestVariant } from '../js/loader.js';
import { contents, installMemoryVfs } from './memory-vfs.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const PASSWORD = 'correct horse battery staple';
const SLICES = 20; // transactions in which the database is made
const POINTS = 2000; // point reads in a round
const CACHE_KIB = 2000;

const OFFICIAL = 'official package, plain';
const REFERENCE = '@evolu/sqlite-wasm, encrypted';
const OURS = 'ours, encrypted, relaxed SIMD';

/**
 * Bytes that a scheme takes from each page, and the bar that this project set itself: the rows of a scan a
 * second, ours / the reference's.
 * @type {Record<string, { reserved: number, goal: number }>}
 */
export const SCHEMES = {
  chacha20: { reserved: 32, goal: 2.4 },
  aes256cbc: { reserved: 0, goal: 1.35 },
  sqlcipher: { reserved: 80, goal: 1.4 },
  aegis: { reserved: 64, goal: 1.8 },
  ascon128: { reserved: 32, goal: 1.2 },
};

/** The rows are 100 to 900 bytes long, and their text is taken from here. */
const TEXT = new TextEncoder().encode('PLAINTEXT '.repeat(8192));
const MARK = 'PLAINTEXT';
const ROW_BYTES = 563; // a row with its share of its page

const INSERT = `
  INSERT INTO t(id, n, body)
    WITH RECURSIVE k(i) AS (VALUES(?1) UNION ALL SELECT i + 1 FROM k WHERE i < ?2)
    SELECT i, i * 37 % 1000, substr(?3, 1 + i * 31 % 60000, 100 + i * 7919 % 801) FROM k`;
const SCAN = 'SELECT count(*), sum(n), sum(length(body)) FROM t';
const POINT = 'SELECT n FROM t WHERE id = ?1';

/**
 * @typedef {'insert' | 'scan' | 'point' | 'open'} Work
 * @typedef {object} Engine
 * @property {string} name
 * @property {() => Promise<any>} load gives SQLite's API
 * @property {boolean} encrypted
 * @property {boolean} [onDisk] in a real file, not in memory
 * @property {any} [sqlite3]
 * @property {any} [db]
 * @property {ReturnType<typeof installMemoryVfs>} [memory]
 * @property {string} [file]
 * @property {Record<Work, number[]>} ms of each round
 */

/** @returns {Engine[]} those that this Node can run: older ones have no relaxed SIMD */
function engines() {
  // A glance of the packages at localStorage would make Node 26 print a warning.
  Object.defineProperty(globalThis, 'localStorage', { value: undefined, configurable: true });
  const quiet = { print() {}, printErr() {} };
  /** @param {string} name @param {object} [options] */
  const load = (name, options) => async () => (await import(name)).default({ ...quiet, ...options });
  const ours = pathToFileURL(path.join(ROOT, 'js', 'node.js')).href;
  /** @type {(name: string, load: Engine['load'], encrypted: boolean, onDisk?: boolean) => Engine} */
  const engine = (name, load, encrypted, onDisk = false) => ({
    name,
    load,
    encrypted,
    onDisk,
    ms: { insert: [], scan: [], point: [], open: [] },
  });
  return [
    engine(OFFICIAL, load('@sqlite.org/sqlite-wasm'), false),
    engine(REFERENCE, load('@evolu/sqlite-wasm'), true),
    engine('ours, plain', load(ours), false),
    engine(OURS, load(ours, { variant: 'relaxed' }), true),
    engine('ours, encrypted, SIMD128', load(ours, { variant: 'simd' }), true),
    engine('ours, encrypted, no SIMD', load(ours, { variant: 'nosimd' }), true),
    engine('ours, plain, real file', load(ours), false, true),
    engine('ours, encrypted, relaxed SIMD, real file', load(ours, { variant: 'relaxed' }), true, true),
  ].filter(({ name }) => bestVariant() === 'relaxed' || !name.includes('relaxed'));
}

/**
 * @param {Engine} engine
 * @param {string} scheme
 * @returns {any} a connection; settings that are not stored in the file are made
 */
function open(engine, scheme) {
  const { sqlite3, encrypted, file } = engine;
  const vfs = `${encrypted ? 'multipleciphers-' : ''}${engine.onDisk ? 'node' : 'bench-memory'}`;
  const db = new sqlite3.oo1.DB({ filename: file, flags: 'c', vfs });
  // Not by an option of the constructor: the reference takes its own `textkey` for no key at all.
  if (encrypted) db.exec(`PRAGMA cipher='${scheme}'; PRAGMA key='${PASSWORD}'`);
  db.exec(`PRAGMA cache_size=-${CACHE_KIB}`);
  return db;
}

/** Milliseconds on the clock. */
const wallTime = () => Number(process.hrtime.bigint()) / 1e6;

/** Milliseconds that this thread has run; Node 24 and newer know. */
function cpuTime() {
  const { user, system } = /** @type {any} */ (process).threadCpuUsage();
  return (user + system) / 1e3;
}

/** @param {Engine} engine @param {number} first id @param {number} last id */
function insert({ db }, first, last) {
  const statement = db.prepare(INSERT);
  statement.bind([first, last, TEXT]).step();
  statement.finalize();
}

/** @param {Engine} engine @returns {number[]} the one row */
function scan({ db }) {
  const statement = db.prepare(SCAN);
  statement.step();
  const row = statement.get([]);
  statement.finalize();
  return row;
}

/** @param {Engine} engine @param {number[]} ids @returns {number} */
function readPoints({ db }, ids) {
  const statement = db.prepare(POINT);
  let sum = 0;
  for (const id of ids) {
    statement.bind(id).step();
    sum += statement.getInt(0);
    statement.reset();
  }
  statement.finalize();
  return sum;
}

/** @param {Engine} engine @param {string} scheme */
function openAndClose(engine, scheme) {
  const db = open(engine, scheme);
  db.selectValue('SELECT count(*) FROM sqlite_schema');
  db.close();
}

/** @param {Engine} engine @returns {Buffer} what is stored */
function stored({ memory, file }) {
  if (!memory) return fs.readFileSync(/** @type {string} */ (file));
  return contents(/** @type {import('./memory-vfs.mjs').MemoryFile} */ (memory.files.get(/** @type {string} */ (file))));
}

/** @param {Engine} engine @param {boolean} good @param {string} what */
function must({ name }, good, what) {
  if (!good) throw new Error(`${name}: ${what}`);
}

/**
 * Is the stored database what it has to be: of that size, and encrypted or not?
 * @param {Engine} engine @param {number} pageSize @param {number} reserved
 * @returns {number} pages
 */
function examine(engine, pageSize, reserved) {
  const bytes = stored(engine);
  const pages = engine.db.selectValue('PRAGMA page_count');
  must(engine, bytes.length === pages * pageSize, 'the stored database has another size');
  must(engine, bytes[20] === (engine.encrypted ? reserved : 0), `${bytes[20]} reserved bytes in a page`);
  must(engine, bytes.includes(MARK) !== engine.encrypted, engine.encrypted ? 'the storage shows plaintext' : 'no plaintext in the storage');
  return pages;
}

/** Page sized bytes of a file that pass through the cache: all of them, or the scan measures the cache. */
const tooSmall = (/** @type {number} */ bytes) => bytes < 4 * 1024 * CACHE_KIB;

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {{ scheme: string, megabytes: number, rounds: number, pageSize: number, cpu: boolean }} options
 */
export async function measure({ scheme, megabytes, rounds, pageSize, cpu }) {
  const { reserved } = SCHEMES[scheme];
  const now = cpu ? cpuTime : wallTime;
  if (tooSmall(megabytes * 1e6)) throw new Error('--megabytes: give more, or the database fits into the cache');
  const all = engines();
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'database-bench-'));
  const perSlice = Math.round((megabytes * 1e6) / ROW_BYTES / SLICES);
  const rows = perSlice * SLICES;
  const ids = Array.from({ length: POINTS }, (_, i) => 1 + ((i * 48271 + 11) * 69621) % rows);

  /** @type {(work: Work, round: number, run: (engine: Engine) => void) => void} */
  const turn = (work, round, run) => {
    for (let i = 0; i < all.length; i++) {
      const engine = all[(i + round) % all.length];
      const start = now();
      run(engine);
      engine.ms[work].push(now() - start);
    }
  };
  // V8 compiles for speed in the background what has run for a while.
  const rest = () => new Promise((resolve) => setTimeout(resolve, 300));

  try {
    for (const [i, engine] of all.entries()) {
      engine.sqlite3 = await engine.load();
      if (engine.onDisk) {
        engine.file = path.join(directory, `${i}.db`);
      } else {
        engine.memory = installMemoryVfs(engine.sqlite3, 'bench-memory');
        engine.file = '/bench.db';
      }
      engine.db = open(engine, scheme);
      engine.db.exec(`PRAGMA page_size=${pageSize}; CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, body BLOB)`);
    }

    for (let i = 0; i < 2; i++) {
      for (const engine of all) {
        insert(engine, 1, perSlice);
        engine.db.exec('DELETE FROM t; VACUUM');
      }
      await rest();
    }
    for (let i = 0; i < SLICES; i++) turn('insert', i, (engine) => insert(engine, 1 + i * perSlice, (i + 1) * perSlice));
    const pages = all.map((engine) => examine(engine, pageSize, reserved));

    const expected = scan(all[0]).join();
    const points = readPoints(all[0], ids);
    for (const [i, engine] of all.entries()) {
      const before = engine.memory?.calls.reads ?? 0;
      must(engine, scan(engine).join() === expected, 'the scan has another result');
      // The root page and what the cache still holds of the leaves may be spared.
      const reads = (engine.memory?.calls.reads ?? Infinity) - before;
      must(engine, reads >= pages[i] - (1024 * CACHE_KIB) / pageSize, 'the scan did not read the file');
      must(engine, readPoints(engine, ids) === points, 'the point reads have another result');
      openAndClose(engine, scheme);
    }
    await rest();
    for (let round = 0; round < rounds; round++) {
      turn('scan', round, (engine) => scan(engine));
      turn('point', round, (engine) => readPoints(engine, ids));
      turn('open', round, (engine) => openAndClose(engine, scheme));
    }
    return summary(all, { scheme, pages, pageSize, rows, rounds, perSlice, cpu });
  } finally {
    for (const engine of all) engine.db?.close();
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {Engine[]} all
 * @param {{ scheme: string, pages: number[], pageSize: number, rows: number, rounds: number, perSlice: number, cpu: boolean }} run
 */
function summary(all, { scheme, pages, pageSize, rows, rounds, perSlice, cpu }) {
  const find = (/** @type {string} */ name) => /** @type {Engine} */ (all.find((engine) => engine.name === name));
  /** How many times as fast as another engine. */
  const times = (/** @type {Engine} */ engine, /** @type {string} */ other, /** @type {Work} */ work) =>
    median(engine.ms[work].map((ms, round) => find(other).ms[work][round] / ms));
  /** @type {Record<Work, [rows: number, part: number]>} rows of one round, and what part of the database they are */
  const amount = { insert: [perSlice, 1 / SLICES], scan: [rows, 1], point: [POINTS, 0], open: [0, 0] };
  const results = all.map((engine, i) => {
    /** @param {Work} work */
    const of = (work) => {
      const ms = median(engine.ms[work]);
      const [n, part] = amount[work];
      return {
        ms,
        ...(n ? { rowsPerSecond: (n / ms) * 1e3 } : {}),
        ...(part ? { megabytesPerSecond: (pages[i] * pageSize * part) / ms / 1e3 } : {}),
        timesReference: times(engine, REFERENCE, work),
        timesOfficial: times(engine, OFFICIAL, work),
      };
    };
    return {
      engine: engine.name,
      sqlite: engine.sqlite3.version.libVersion,
      megabytes: (pages[i] * pageSize) / 1e6,
      insert: of('insert'),
      scan: of('scan'),
      point: of('point'),
      open: of('open'),
    };
  });
  const goals = find(OURS)
    ? [{ what: `scan: ${OURS} / ${REFERENCE}`, ratio: times(find(OURS), REFERENCE, 'scan'), goal: SCHEMES[scheme].goal }]
    : [];
  return {
    scheme,
    node: process.version,
    cpu: os.cpus()[0]?.model ?? '',
    clock: cpu ? 'processor time' : 'time',
    pageSize,
    rows,
    rounds,
    rowsPerTransaction: perSlice,
    results,
    goals: goals.map((it) => ({ ...it, met: it.ratio >= it.goal })),
  };
}

/** @param {Awaited<ReturnType<typeof measure>>} result */
export function report({ scheme, node, cpu, clock, pageSize, rows, rounds, rowsPerTransaction, results, goals }) {
  /** @type {Record<Work, string>} */
  const titles = {
    scan: 'Scan of the whole table',
    insert: `Insert, ${rowsPerTransaction} rows a transaction`,
    point: `${POINTS} rows by key, a transaction each`,
    open: 'Open, with the password if encrypted; first query; close',
  };
  const size = Math.round(Math.max(...results.map(({ megabytes }) => megabytes)));
  const lines = [
    `whole databases, ${scheme}: Node ${node}, ${cpu}, ${clock}, medians of ${rounds} rounds (insert: ${SLICES})`,
    `${rows} rows in ${size} MB, pages of ${pageSize} bytes, cache of ${CACHE_KIB} KiB; in memory unless "real file"`,
  ];
  const width = Math.max(...results.map(({ engine }) => engine.length));
  for (const work of /** @type {const} */ (['scan', 'insert', 'point', 'open'])) {
    lines.push('', titles[work]);
    lines.push(`${''.padEnd(width)}${['ms', 'MB/s', 'krows/s', 'x evolu', 'x official'].map((head) => head.padStart(12)).join('')}`);
    for (const row of results) {
      const { ms, megabytesPerSecond: mb, rowsPerSecond: n, timesReference, timesOfficial } = row[work];
      const cells = [ms.toFixed(2), mb ? mb.toFixed(0) : '', n ? (n / 1e3).toFixed(0) : '', timesReference.toFixed(2), timesOfficial.toFixed(2)];
      lines.push(`${row.engine.padEnd(width)}${cells.map((cell) => cell.padStart(12)).join('')}`);
    }
  }
  lines.push('');
  for (const { what, ratio, goal, met } of goals) {
    lines.push(`${what}   ${ratio.toFixed(2)}   goal >= ${goal}${met ? '' : '   not met'}`);
  }
  return lines.join('\n');
}

/** @param {string[]} argv */
export function options(argv) {
  const quick = argv.includes('--quick');
  /** @param {string} name @param {number} fallback */
  const number = (name, fallback) => {
    const text = argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
    const value = Number(text ?? fallback);
    if (!(value > 0)) throw new Error(`--${name}: expected a number, not "${text}"`);
    return value;
  };
  const scheme = argv.find((arg) => arg.startsWith('--scheme='))?.slice(9) ?? 'chacha20';
  if (!(scheme in SCHEMES)) throw new Error(`--scheme: give ${Object.keys(SCHEMES).join(', ')}`);
  return { scheme, megabytes: number('megabytes', quick ? 16 : 66), rounds: number('rounds', quick ? 3 : 15), pageSize: number('page-size', 4096), cpu: argv.includes('--cpu') };
}

/** The numbers that are quoted are those of Node 26, which the set-up installs beside the caller's Node. */
function runOnNode26() {
  const environment = path.join(ROOT, 'build', 'env.json');
  if (process.versions.node.startsWith('26.') || !fs.existsSync(environment)) return false;
  const { node26 } = JSON.parse(fs.readFileSync(environment, 'utf8'));
  if (!node26 || !fs.existsSync(node26)) return false;
  const child = spawnSync(node26, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = child.status ?? 1;
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !runOnNode26()) {
  const result = await measure(options(process.argv));
  console.log(process.argv.includes('--json') ? JSON.stringify(result, null, 2) : report(result));
}
