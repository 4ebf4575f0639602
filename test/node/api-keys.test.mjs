/**
 * The key options of oo1.DB. The derivation has one round here (`kdf_iter: 1`) where it is not the matter.
 */
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import fs from 'node:fs';
import { test } from 'node:test';

import { SQLITE_ERROR, SQLITE_MISUSE, SQLITE_NOTADB, SQLITE_OK, codeOf, newFile, sqlite3InitModule, withDb } from './api-harness.mjs';

const sqlite3 = await sqlite3InitModule();
const { capi, wasm } = sqlite3;
const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);
const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString('hex');
const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "''")}'`;

const create = (/** @type {object} */ options) =>
  withDb(sqlite3, options, (db) => db.exec('CREATE TABLE t(a); INSERT INTO t VALUES(42)'));
const read = (/** @type {object} */ options) => withDb(sqlite3, options, (db) => db.selectValue('SELECT a FROM t'));

test('C06 C07 a passphrase is the same key as string, bytes, hexkey, textkey and in SQL', () => {
  const passphrases = ['123465', '0x12', '1e3', "it's", 'say "hi"', 'a;b--c', '\u{1F511} emoji', 'trailing space ', '  ', 'null\0inside', 'ÄÖ\u0301'];
  /** @type {[string, (passphrase: string) => object][]} */
  const options = [
    ['key', (key) => ({ key })],
    ['key bytes', (key) => ({ key: utf8(key) })],
    ['key buffer', (key) => ({ key: utf8(key).buffer })],
    ['hexkey', (key) => ({ hexkey: hex(utf8(key)) })],
    ['hexkey upper case', (key) => ({ hexkey: hex(utf8(key)).toUpperCase() })],
    ['hexkey bytes', (key) => ({ hexkey: utf8(key) })],
    ['textkey', (key) => ({ textkey: key })],
    ['textkey bytes', (key) => ({ textkey: utf8(key) })],
  ];
  /** @type {[string, (passphrase: string) => string][]} */
  const pragmas = [
    ['PRAGMA key', (key) => `PRAGMA key=${quoted(key)}`],
    ['PRAGMA textkey', (key) => `PRAGMA textkey=${quoted(key)}`],
    ['PRAGMA hexkey', (key) => `PRAGMA hexkey='${hex(utf8(key))}'`],
  ];
  let files = 0;
  for (const passphrase of passphrases) {
    // SQL text ends at a zero character.
    const sql = passphrase.includes('\0') ? pragmas.filter(([name]) => name === 'PRAGMA hexkey') : pragmas;
    /** @type {[string, (filename: string, use: (db: any) => void) => void][]} */
    const ways = [
      ...options.map(([name, form]) => /** @type {any} */ ([name, (/** @type {string} */ filename, /** @type {any} */ use) =>
        withDb(sqlite3, { filename, vfs: 'unix-none', kdf_iter: 1, ...form(passphrase) }, use)])),
      ...sql.map(([name, form]) => /** @type {any} */ ([name, (/** @type {string} */ filename, /** @type {any} */ use) =>
        withDb(sqlite3, { filename, vfs: 'unix-none' }, (db) => use(db.exec(`PRAGMA kdf_iter=1; ${form(passphrase)}`)))])),
    ];
    for (const [by, make] of ways) {
      const filename = `/passphrase-${files++}.db`;
      make(filename, (db) => db.exec('CREATE TABLE t(a); INSERT INTO t VALUES(42)'));
      for (const [name, open] of ways) open(filename, (db) => assert.equal(db.selectValue('SELECT a FROM t'), 42, `${passphrase}: ${by}, read by ${name}`));
      for (const key of [`${passphrase}x`, '']) {
        assert.equal(codeOf(() => read({ filename, vfs: 'unix-none', kdf_iter: 1, key })), SQLITE_NOTADB);
      }
    }
  }
});

test('raw keys come through every form', () => {
  const raw = `x'${'0f'.repeat(32)}'`;
  const filename = newFile();
  create({ filename, key: raw });
  for (const options of [{ key: utf8(raw) }, { textkey: raw }, { hexkey: hex(utf8(raw)) }, { key: `raw:${'0f'.repeat(32)}` }]) {
    assert.equal(read({ filename, ...options }), 42);
  }
  const binary = new Uint8Array(36).fill(15);
  binary.set(utf8('raw:'));
  assert.equal(read({ filename, key: binary }), 42);
});

test('a wrong key shows at the first access, as NOTADB; the right one helps on the same connection', () => {
  const filename = newFile();
  create({ filename, key: 'right', kdf_iter: 1 });
  withDb(sqlite3, { filename, key: 'wrong', kdf_iter: 1 }, (db) => {
    for (let i = 0; i < 2; i++) assert.equal(codeOf(() => db.selectValue('SELECT a FROM t')), SQLITE_NOTADB);
    assert.equal(capi.sqlite3_key(db, 'right'), SQLITE_OK);
    assert.equal(db.selectValue('SELECT a FROM t'), 42);
  });
  withDb(sqlite3, { filename }, (db) => assert.equal(codeOf(() => db.selectValue('SELECT a FROM t')), SQLITE_NOTADB));
});

test('at most one key; wrong types and malformed values are errors that leave no file behind', () => {
  const filename = newFile();
  const cases = [
    [{ key: 'a', hexkey: '61' }, SQLITE_MISUSE],
    [{ key: 'a', textkey: 'a' }, SQLITE_MISUSE],
    [{ key: utf8('a'), textkey: 'a', hexkey: '61' }, SQLITE_MISUSE],
    ...[5, 0, true, false, {}, [], [1, 2], new Uint16Array(2), new DataView(new ArrayBuffer(2)), () => 'a', Symbol('a'), 5n].flatMap((value) =>
      ['key', 'textkey', 'hexkey'].map((name) => [{ [name]: value }, SQLITE_MISUSE]),
    ),
    [{ key: 'lone \ud800 surrogate' }, SQLITE_MISUSE],
    [{ textkey: '\udc00' }, SQLITE_MISUSE],
    [{ hexkey: 'abc' }, SQLITE_ERROR],
    [{ hexkey: 'zz' }, SQLITE_ERROR],
    [{ hexkey: '0x12' }, SQLITE_ERROR],
    [{ hexkey: '61 ' }, SQLITE_ERROR],
    [{ cipher: "x'; DROP TABLE t" }, SQLITE_MISUSE],
    [{ cipher: 3.5 }, SQLITE_MISUSE],
    [{ kdf_iter: '1 000' }, SQLITE_MISUSE],
    [{ kdf_iter: NaN }, SQLITE_MISUSE],
    [{ kdf_iter: {} }, SQLITE_MISUSE],
  ];
  for (const [options, code] of /** @type {[object, number][]} */ (cases)) {
    assert.equal(codeOf(() => create({ filename, ...options })), code, Object.keys(options).join());
    assert.ok(!fs.existsSync(filename), Object.keys(options).join());
  }
});

test('no message about a key holds the key', () => {
  for (const options of [{ key: 'secret', hexkey: '736563726574' }, { hexkey: 'secret' }, { key: 'secret\ud800' }, { filename: ':memory:', key: 'secret' }]) {
    assert.throws(
      () => create({ filename: newFile(), ...options }),
      (/** @type {Error} */ error) => !/secret|736563/.test(String(error.stack)),
    );
  }
});

test('an empty key, null and undefined mean none', () => {
  for (const nothing of ['', null, undefined, new Uint8Array(0), new ArrayBuffer(0)]) {
    for (const name of ['key', 'textkey', 'hexkey']) {
      const filename = newFile();
      create({ filename, [name]: nothing });
      assert.equal(fs.readFileSync(filename, 'latin1').slice(0, 15), 'SQLite format 3');
    }
  }
  const filename = newFile();
  create({ filename, key: '', textkey: 'a', hexkey: null, kdf_iter: 1 });
  assert.equal(read({ filename, key: 'a', kdf_iter: 1 }), 42);
});

test('C13 a key on a database in memory is an error', () => {
  for (const filename of [':memory:', '', 'file::memory:', 'file:x?mode=memory', 'file:/x?vfs=memdb']) {
    assert.equal(codeOf(() => create({ filename, key: 'k' })), SQLITE_ERROR, filename);
    assert.equal(codeOf(() => create({ filename })), SQLITE_OK, filename);
  }
  withDb(sqlite3, {}, (db) => assert.equal(capi.sqlite3_rekey(db, 'k'), SQLITE_ERROR));
});

test('a constructor that throws closes its database', () => {
  const stack = wasm.pstack.pointer;
  const used = () => {
    const [current, high] = wasm.pstack.allocChunks(2, 8);
    try {
      assert.equal(capi.sqlite3_status64(capi.SQLITE_STATUS_MEMORY_USED, current, high, 0), 0);
      return Number(wasm.peek64(current));
    } finally {
      wasm.pstack.restore(stack);
    }
  };
  const fail = (/** @type {object} */ options) => assert.notEqual(codeOf(() => create(options)), SQLITE_OK);
  const filename = newFile();
  for (const options of [{ filename: ':memory:', key: 'k' }, { filename, cipher: 'no_such_cipher' }, { filename, kdf_iter: 0 }, { filename, key: 'k', hmac_use: 1, plaintext_header_size: 1000 }]) {
    fail(options);
    const before = used();
    for (let i = 0; i < 3; i++) fail(options);
    assert.equal(used(), before, JSON.stringify(options));
  }
});

test('wipeKey wipes the caller’s bytes once SQLite has the key, and no others', () => {
  for (const name of ['key', 'textkey', 'hexkey']) {
    const wiped = utf8('to be wiped');
    const kept = utf8('to be wiped');
    const buffer = utf8('to be wiped').buffer;
    const whole = utf8('<<to be wiped>>');
    const filename = newFile();
    create({ filename, [name]: wiped, wipeKey: true, kdf_iter: 1 });
    assert.deepEqual(wiped, new Uint8Array(11));
    assert.equal(read({ filename, [name]: kept, kdf_iter: 1 }), 42);
    assert.equal(read({ filename, [name]: kept, wipeKey: false, kdf_iter: 1 }), 42);
    assert.deepEqual(kept, utf8('to be wiped'));
    assert.equal(read({ filename, [name]: whole.subarray(2, 13), wipeKey: true, kdf_iter: 1 }), 42);
    assert.equal(Buffer.from(whole).toString(), `<<${'\0'.repeat(11)}>>`);
    assert.equal(read({ filename, [name]: buffer, wipeKey: true, kdf_iter: 1 }), 42);
    assert.deepEqual(new Uint8Array(buffer), new Uint8Array(11));
  }
  // Refused, and wiped all the same; a file that cannot be opened leaves the key for another try.
  const refused = utf8('refused');
  assert.equal(codeOf(() => create({ filename: ':memory:', key: refused, wipeKey: true })), SQLITE_ERROR);
  assert.deepEqual(refused, new Uint8Array(7));
  const again = utf8('again');
  assert.notEqual(codeOf(() => create({ filename: newFile('no/such/directory/x.db'), key: again, wipeKey: true })), SQLITE_OK);
  assert.deepEqual(again, utf8('again'));
});

test('C07 a key is in no SQL that is traced', (t) => {
  /** @type {string[]} */
  const lines = [];
  for (const name of /** @type {const} */ (['log', 'debug', 'warn', 'error'])) {
    t.mock.method(console, name, (/** @type {unknown[]} */ ...args) => lines.push(args.join(' ')));
  }
  const options = { filename: newFile(), flags: 'ct', key: 'traced secret', cipher: 'chacha20', kdf_iter: 1 };
  withDb(sqlite3, options, (db) => {
    db.exec('CREATE TABLE t(a)');
    assert.equal(capi.sqlite3_rekey(db, 'another secret'), SQLITE_OK);
  });
  assert.ok(lines.some((line) => line.includes('CREATE TABLE t(a)')));
  assert.ok(!lines.some((line) => /secret|736563726574/.test(line)));
});

test('cipher and parameters as options', () => {
  const salt = '00112233445566778899aabbccddeeff';
  const header = (/** @type {string} */ filename) => fs.readFileSync(filename).subarray(0, 100);
  const key = 'k';

  const iterations = newFile();
  create({ filename: iterations, key, cipher: 'ChaCha20', kdf_iter: 1000 });
  assert.equal(read({ filename: iterations, key, kdf_iter: 1000 }), 42);
  assert.equal(codeOf(() => read({ filename: iterations, key })), SQLITE_NOTADB);

  const legacy = newFile();
  create({ filename: legacy, key, cipher: 'chacha20', legacy: true, legacy_page_size: 1024 });
  assert.notEqual(header(legacy).subarray(16, 24).toString('hex').slice(10), '402020');
  assert.equal(read({ filename: legacy, key, cipher: 'chacha20', legacy: 1, legacy_page_size: 1024 }), 42);
  assert.equal(codeOf(() => read({ filename: legacy, key })), SQLITE_NOTADB);

  const plain = newFile();
  create({ filename: plain, key, plaintext_header_size: 32, cipher_salt: salt, kdf_iter: 1 });
  assert.equal(header(plain).toString('latin1').slice(0, 15), 'SQLite format 3');
  const asBytes = Buffer.from(salt, 'hex');
  assert.equal(read({ filename: plain, key, plaintext_header_size: 32, cipher_salt: new Uint8Array(asBytes), kdf_iter: 1 }), 42);
  assert.equal(codeOf(() => read({ filename: plain, key, kdf_iter: 1 })), SQLITE_NOTADB);

  const filename = newFile();
  create({ filename, key, cipher_salt: salt, kdf_iter: 1, hmac_check: true, mc_legacy_wal: false });
  assert.equal(header(filename).subarray(0, 16).toString('hex'), salt);

  for (const options of [{ cipher: 'no_such_cipher' }, { kdf_iter: 0 }, { legacy_page_size: 1000 }, { cipher_salt: '0011' }, { plaintext_header_size: 101 }]) {
    assert.equal(codeOf(() => create({ filename: newFile(), key, ...options })), SQLITE_ERROR, JSON.stringify(options));
  }
});

test('cipher options without a key serve a PRAGMA key that comes later', () => {
  const filename = newFile();
  create({ filename, key: 'later', kdf_iter: 77 });
  withDb(sqlite3, { filename, kdf_iter: 77 }, (db) => {
    db.exec("PRAGMA key='later'");
    assert.equal(db.selectValue('SELECT a FROM t'), 42);
  });
});

test('the key is set before code that a VFS wants to run after opening', () => {
  const filename = newFile();
  create({ filename, key: 'k', kdf_iter: 1 });
  /** @type {number[]} */
  const seen = [];
  const vfs = capi.sqlite3_vfs_find('node');
  sqlite3.oo1.DB.dbCtorHelper.setVfsPostOpenCallback(vfs, (/** @type {any} */ db) => seen.push(db.selectValue('SELECT a FROM t')));
  try {
    assert.equal(read({ filename, key: 'k', kdf_iter: 1 }), 42);
    assert.deepEqual(seen, [42]);
    assert.equal(codeOf(() => new sqlite3.oo1.DB({ filename, key: 'x', kdf_iter: 1 })), SQLITE_NOTADB);
  } finally {
    sqlite3.oo1.DB.dbCtorHelper.setVfsPostOpenCallback(vfs, () => {});
  }
});

test('C24 WAL mode with a key: rows are there after reopening, and nothing is in plaintext', () => {
  const filename = newFile();
  const marker = 'marker in the WAL';
  const db = new sqlite3.oo1.DB({ filename, key: 'k', kdf_iter: 1 });
  assert.equal(db.selectValue('PRAGMA journal_mode=wal'), 'wal');
  db.exec(`CREATE TABLE t(a); INSERT INTO t VALUES('${marker}')`);
  assert.equal(read({ filename, key: 'k', kdf_iter: 1 }), marker);
  for (const file of [filename, `${filename}-wal`]) {
    const text = fs.readFileSync(file, 'latin1');
    assert.ok(text.length === 0 || !/marker|SQLite format 3|CREATE/.test(text), file);
  }
  assert.ok(fs.statSync(`${filename}-wal`).size > 0);
  db.close();
  assert.equal(read({ filename, key: 'k', kdf_iter: 1 }), marker);
});

test('rekey by the C functions, with text, bytes and nothing', () => {
  const filename = newFile();
  create({ filename });
  const steps = /** @type {[any, any][]} */ ([
    ['', 'first'],
    ['first', utf8('second')],
    [utf8('second'), utf8('third').buffer],
    ['third', null],
    ['', 'fourth'],
    ['fourth', ''],
  ]);
  for (const [from, to] of steps) {
    withDb(sqlite3, { filename, key: from }, (db) => {
      assert.equal(capi.sqlite3_rekey_v2(db, 'main', to), SQLITE_OK);
      assert.equal(db.selectValue('SELECT a FROM t'), 42);
    });
    assert.equal(read({ filename, key: to }), 42);
    if (to?.length || to?.byteLength) assert.equal(codeOf(() => read({ filename, key: from })), SQLITE_NOTADB);
  }
  assert.equal(fs.readFileSync(filename, 'latin1').slice(0, 15), 'SQLite format 3');
});

/**
 * How often these bytes occur in the module's memory.
 * @param {Uint8Array} bytes
 */
function countInMemory(bytes) {
  const memory = Buffer.from(wasm.memory.buffer);
  let count = 0;
  for (let at = memory.indexOf(bytes); at >= 0; at = memory.indexOf(bytes, at + 1)) count++;
  return count;
}

test('C43 after closing, neither passphrase nor derived key is left in wasm memory', () => {
  const filename = newFile();
  const first = 'correct horse battery staple #1';
  const second = 'correct horse battery staple #2';
  const derive = (/** @type {string} */ passphrase) =>
    pbkdf2Sync(passphrase, fs.readFileSync(filename).subarray(0, 16), 64007, 32, 'sha256');
  const control = wasm.alloc(64);
  wasm.heap8u().set(utf8('control of the search'), control);
  assert.equal(countInMemory(utf8('control of the search')), 1);
  wasm.heap8u().fill(0, control, control + 64);
  wasm.dealloc(control);

  /** @type {Uint8Array[]} */
  const secrets = [];
  for (const options of [{ key: first }, { key: utf8(first) }, { hexkey: hex(utf8(first)) }, { textkey: first }, { key: 'wrong passphrase of the test' }]) {
    withDb(sqlite3, { filename, ...options }, (db) => codeOf(() => db.exec('CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(1); PRAGMA journal_mode=wal')));
  }
  secrets.push(derive(first));
  withDb(sqlite3, { filename, key: first }, (db) => {
    assert.equal(db.selectValue('SELECT count(*) FROM t'), 4);
    assert.ok(countInMemory(derive(first)) > 0, 'the derived key is where it is searched for');
    assert.equal(capi.sqlite3_rekey(db, second), SQLITE_OK);
    db.exec('INSERT INTO t VALUES(2)');
  });
  secrets.push(derive(second));
  withDb(sqlite3, { filename, key: second }, (db) => assert.equal(db.selectValue('SELECT count(*) FROM t'), 5));
  for (const text of [first, second, 'wrong passphrase of the test']) secrets.push(utf8(text), utf8(hex(utf8(text))));
  for (const [i, secret] of secrets.entries()) {
    assert.equal(countInMemory(secret), 0, `secret ${i}`);
    // Parts of it, as a buffer that was overwritten at its ends would hold.
    for (let at = 0; at + 12 <= secret.length; at += 4) {
      assert.equal(countInMemory(secret.subarray(at, at + 12)), 0, `secret ${i}, bytes ${at} to ${at + 12}`);
    }
  }
});
