/**
 * capi.sqlite3mc_*: settings, verification and identification through the C functions, and the SQL functions.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { SQLITE_ERROR, SQLITE_NOTADB, SQLITE_OK, newFile, sqlite3InitModule, withDb } from './api-harness.mjs';

const SQLITE_INTERRUPT = 9;
const SQLITE_CORRUPT = 11;

const sqlite3 = await sqlite3InitModule();
const { capi, wasm } = sqlite3;

/** A file of a few pages. */
function makeFile(/** @type {object} */ options) {
  const filename = newFile();
  withDb(sqlite3, { filename, ...options }, (db) => db.exec(`PRAGMA page_size=4096; CREATE TABLE t(a); INSERT INTO t VALUES(hex(zeroblob(20000)))`));
  return filename;
}

function flip(/** @type {string} */ filename, /** @type {number} */ offset) {
  const bytes = fs.readFileSync(filename);
  bytes[offset] ^= 1;
  fs.writeFileSync(filename, bytes);
}

test('schemes and settings by the C functions', () => {
  const names = Array.from({ length: capi.sqlite3mc_cipher_count() }, (_, i) => capi.sqlite3mc_cipher_name(i + 1));
  assert.deepEqual(names, ['aes128cbc', 'aes256cbc', 'chacha20', 'sqlcipher', 'rc4', 'ascon128', 'aegis']);
  assert.equal(capi.sqlite3mc_cipher_index('AEGIS'), 7);
  assert.equal(capi.sqlite3mc_cipher_index('nosuch'), -1);
  assert.equal(capi.sqlite3mc_version(), sqlite3.mc.version);
  assert.equal(capi.sqlite3mc_config_cipher(null, 'chacha20', 'kdf_iter', -1), 64007);
  withDb(sqlite3, { filename: newFile() }, (db) => {
    assert.equal(capi.sqlite3mc_config(db, 'cipher', 7), 7);
    assert.equal(db.selectValue('PRAGMA cipher'), 'aegis');
    assert.equal(capi.sqlite3mc_config_cipher(db, 'sqlcipher', 'legacy', 3), 3);
    assert.equal(capi.sqlite3mc_config_cipher(db, 'sqlcipher', 'kdf_iter', -1), 64000);
    assert.equal(capi.sqlite3mc_config_cipher(db, 'sqlcipher', 'legacy', 5), 3);
    assert.equal(capi.sqlite3_errcode(db), SQLITE_ERROR);
    assert.match(capi.sqlite3_errmsg(db), /out of range \(0 to 4\)/);
    assert.equal(db.selectValue("SELECT sqlite3mc_config('sqlcipher', 'legacy')"), 3);
  });
});

test('the salt of a database', () => {
  const salt = '2B7E151628AED2A6ABF7158809CF4F3C';
  withDb(sqlite3, { filename: newFile(), key: 'k', kdf_iter: 1, cipher_salt: salt }, (db) => {
    const address = capi.sqlite3mc_codec_data(db, 'main', 'cipher_salt');
    assert.equal(wasm.cstrToJs(address), salt);
    capi.sqlite3_free(address);
    assert.equal(capi.sqlite3mc_codec_data(db, 'main', 'nosuch'), 0);
    const blob = db.selectValue("SELECT sqlite3mc_codec_data('raw:cipher_salt')");
    assert.equal(Buffer.from(blob).toString('hex').toUpperCase(), salt);
  });
});

test('verify: the pages that are bad, progress and cancel', () => {
  for (const cipher of ['chacha20', 'sqlcipher', 'aegis', 'ascon128']) {
    const key = `raw:hex:${'0f'.repeat(32)}`;
    const filename = makeFile({ cipher, key });
    const pages = fs.statSync(filename).size / 4096;
    const scope = wasm.pstack.pointer;
    const bad = wasm.pstack.alloc(8);
    const verify = (/** @type {any} */ db, /** @type {any} */ callback) => {
      const result = capi.sqlite3mc_verify(db, 'main', callback, 0, bad);
      return [result, Number(wasm.peek64(bad))];
    };
    try {
      withDb(sqlite3, { filename, cipher, key }, (db) => {
        /** @type {number[][]} */
        const seen = [];
        const note = (/** @type {number[]} */ ...args) => (seen.push(args.slice(1)), 0);
        assert.deepEqual(verify(db, note), [SQLITE_OK, 0]);
        assert.deepEqual(seen, Array.from({ length: pages }, (_, i) => [i + 1, 0, capi.SQLITE3MC_PAGE_OK, i + 1, pages]));
        assert.deepEqual(verify(db, 0), [SQLITE_OK, 0]);
        assert.deepEqual(verify(db, (/** @type {number} */ _arg, /** @type {number} */ page) => Number(page === 2)), [SQLITE_INTERRUPT, 0]);
      });
      flip(filename, 2 * 4096 + 1000);
      withDb(sqlite3, { filename, cipher, key }, (db) => {
        /** @type {number[]} */
        const badPages = [];
        const note = (/** @type {number} */ _arg, /** @type {number} */ page, /** @type {number} */ _frame, /** @type {number} */ status) =>
          (status === capi.SQLITE3MC_PAGE_BAD && badPages.push(page), 0);
        assert.deepEqual(verify(db, note), [SQLITE_CORRUPT, 1]);
        assert.deepEqual(badPages, [3]);
        assert.deepEqual(db.selectValues("SELECT page FROM sqlite3mc_verify('main') WHERE status <> 'ok'"), [3]);
      });
      flip(filename, 1000);
      withDb(sqlite3, {}, (db) => {
        const sql = "SELECT page FROM sqlite3mc_verify(?, ?) WHERE status = 'bad' ORDER BY page";
        assert.deepEqual(db.selectValues(sql, [`file:${filename}?cipher=${cipher}`, key]), [1, 3]);
        assert.deepEqual(db.selectValues(sql, [`file:${filename}?cipher=${cipher}`, new TextEncoder().encode(key)]), [1, 3]);
      });
    } finally {
      wasm.pstack.restore(scope);
    }
  }
});

test('rekey tells its progress and can be cancelled', () => {
  const filename = makeFile({ key: 'first', kdf_iter: 1 });
  withDb(sqlite3, { filename, key: 'first', kdf_iter: 1 }, (db) => {
    /** @type {number[][]} */
    const seen = [];
    const note = (/** @type {number} */ arg, /** @type {number} */ done, /** @type {number} */ total) => (seen.push([arg, done, total]), 0);
    assert.equal(capi.sqlite3mc_progress(db, note, 7), SQLITE_OK);
    db.exec(`PRAGMA rekey='first'`);
    const pages = db.selectValue('PRAGMA page_count');
    assert.deepEqual(seen.at(0), [7, 0, pages]);
    assert.deepEqual(seen.at(-1), [7, pages, pages]);
    assert.equal(capi.sqlite3mc_progress(db, () => 1, 0), SQLITE_OK);
    assert.throws(() => db.exec(`PRAGMA rekey='second'`), { resultCode: SQLITE_INTERRUPT });
    assert.equal(db.selectValue('SELECT length(a) FROM t'), 40000);
    const before = seen.length;
    assert.equal(capi.sqlite3mc_progress(db, 0, 0), SQLITE_OK);
    db.exec(`PRAGMA rekey='first'`);
    assert.equal(seen.length, before);
  });
  withDb(sqlite3, { filename, key: 'first', kdf_iter: 1 }, (db) => assert.equal(db.selectValue('PRAGMA integrity_check'), 'ok'));
});

test('what sqlite3mc_progress has put into the function table goes with the connection', () => {
  const dbs = Array.from({ length: 10 }, () => new sqlite3.oo1.DB());
  for (const db of dbs) capi.sqlite3mc_progress(db, () => 0, 0);
  for (const db of dbs) db.close();
  const size = wasm.functionTable().length;
  const functions = dbs.map(() => wasm.installFunction('i(p)', () => 0));
  assert.equal(wasm.functionTable().length, size);
  for (const pointer of functions) wasm.uninstallFunction(pointer);
});

test('identify: scheme and parameters of a file, progress and cancel', () => {
  const options = { cipher: 'sqlcipher', legacy: 2, key: 'passphrase' };
  const filename = makeFile(options);
  const found = 'cipher=sqlcipher&legacy=2&legacy_page_size=1024';
  withDb(sqlite3, { filename }, (db) => {
    const scope = wasm.scopedAllocPush();
    try {
      const key = wasm.scopedAllocCString('passphrase');
      const out = wasm.scopedAlloc(8);
      let calls = 0;
      const count = (/** @type {number} */ _arg, /** @type {number} */ done, /** @type {number} */ total) => {
        assert.equal(done, calls++);
        assert(done < total);
        return 0;
      };
      assert.equal(capi.sqlite3mc_identify(db, 'main', key, -1, count, 0, out), SQLITE_OK);
      assert.equal(wasm.cstrToJs(wasm.peekPtr(out)), found);
      capi.sqlite3_free(wasm.peekPtr(out));
      assert(calls > 1);
      assert.equal(capi.sqlite3mc_identify(db, 'main', key, -1, () => 1, 0, out), SQLITE_INTERRUPT);
      assert.equal(capi.sqlite3mc_identify(db, 'main', key, 4, 0, 0, out), SQLITE_NOTADB);
      assert.equal(wasm.peekPtr(out), 0);
    } finally {
      wasm.scopedAllocPop(scope);
    }
  });
  withDb(sqlite3, {}, (db) => {
    assert.equal(db.selectValue('SELECT sqlite3mc_identify(?, ?)', [filename, 'passphrase']), found);
    assert.equal(db.selectValue('SELECT sqlite3mc_identify(?, ?)', [filename, 'wrong']), null);
  });
  withDb(sqlite3, { filename: `file:${filename}?${found}`, key: 'passphrase' }, (db) => assert.equal(db.selectValue('SELECT count(*) FROM t'), 1));
});

test('values are encrypted in SQL', () => {
  withDb(sqlite3, {}, (db) => {
    assert.equal(db.selectValue("SELECT sqlite3mc_vle_key('k', NULL, 'ascon128', 'kdf_iter=2')"), 'Ok. Options(kdf_iter=2)');
    for (const value of [null, '', 'text', 42, 2.5]) {
      assert.equal(db.selectValue('SELECT sqlite3mc_vle_decrypt(sqlite3mc_vle_encrypt(?))', [value]), value);
    }
  });
});

test('which code runs', () => {
  withDb(sqlite3, {}, (db) => {
    const expected = sqlite3.mc.variant === 'nosimd' ? 'off' : 'simd128';
    for (const pragma of ['mc_chacha20_hwaccel', 'mc_aes_hwaccel']) {
      assert.equal(db.selectValue(`PRAGMA ${pragma}`), expected);
      assert.equal(db.selectValue(`PRAGMA ${pragma}=off`), 'off');
      assert.equal(db.selectValue(`PRAGMA ${pragma}=auto`), expected);
    }
    assert.equal(db.selectValue('PRAGMA mc_aes_info'), 'software');
    assert.match(db.selectValue('PRAGMA mc_compiled_info'), /^chacha20: .*scalar; aes: .*bitsliced; argon2id: /);
  });
});
