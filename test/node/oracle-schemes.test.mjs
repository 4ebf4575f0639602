// Every scheme and variant live against the reference: files, hot journals and hot WALs that it makes are
// read and changed by this package (WebAssembly under Node, native shell), and the other way round; and a
// database that is rekeyed from any scheme to any other opens there.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { CREATE, OURS, ROWS, checkRows, insertRows, newFile, programs } from './oracle-harness.mjs';

const R32 = '54686973206973206d792076657279207365637265742070617373776f72642e';
const SALT = '2b7e151628aed2a6abf7158809cf4f3c';

/** @param {string} cipher @param {string[]} settings name=value @param {string} [key] */
const opening = (cipher, settings = [], key = "'k'") =>
  [`cipher='${cipher}'`, ...settings, `key=${key}`].map((pragma) => `PRAGMA ${pragma}`).join('; ');

const AEGIS = ['aegis-128l', 'aegis-128x2', 'aegis-128x4', 'aegis-256', 'aegis-256x2', 'aegis-256x4'];
const CHEAP = ['tcost=1', 'mcost=8'];
const HASHES = [0, 1, 2];

/**
 * How a database of each scheme and variant is opened. Key derivations are cheap where they are not what
 * is tested; the fixtures have those with the usual costs.
 * @type {Record<string, string>}
 */
const VARIANTS = {
  aes128cbc: opening('aes128cbc'),
  'aes128cbc, a long password': opening('aes128cbc', [], `'${'a password of more than thirty-two bytes'}'`),
  'aes128cbc, legacy': opening('aes128cbc', ['legacy=1', 'legacy_page_size=4096']),
  aes256cbc: opening('aes256cbc'),
  'aes256cbc, kdf_iter without effect': opening('aes256cbc', ['kdf_iter=77']),
  'aes256cbc, legacy': opening('aes256cbc', ['legacy=1', 'legacy_page_size=4096']),
  chacha20: opening('chacha20', ['kdf_iter=1']),
  sqlcipher: opening('sqlcipher', ['kdf_iter=1']),
  ...Object.fromEntries([1, 2, 3, 4].map((v) => [`sqlcipher ${v}`, opening('sqlcipher', [`legacy=${v}`, 'kdf_iter=2'])])),
  ...Object.fromEntries(
    HASHES.flatMap((kdf) =>
      HASHES.flatMap((hmac) =>
        [0, 1].map((compat) => [
          `C46 sqlcipher, kdf_algorithm ${kdf}, hmac_algorithm ${hmac}, compat ${compat}`,
          opening('sqlcipher', ['kdf_iter=3', `kdf_algorithm=${kdf}`, `hmac_algorithm=${hmac}`, `hmac_algorithm_compat=${compat}`]),
        ]),
      ),
    ),
  ),
  'sqlcipher without HMAC': opening('sqlcipher', ['kdf_iter=1', 'hmac_use=0']),
  ...Object.fromEntries([0, 2].map((n) => [`sqlcipher, hmac_pgno ${n}`, opening('sqlcipher', ['kdf_iter=1', `hmac_pgno=${n}`])])),
  'sqlcipher, other mask and fast_kdf_iter': opening('sqlcipher', ['kdf_iter=1', 'hmac_salt_mask=17', 'fast_kdf_iter=5']),
  'sqlcipher, plaintext header': opening('sqlcipher', ['kdf_iter=1', 'plaintext_header_size=32', `cipher_salt='${SALT}'`]),
  'sqlcipher 4, plaintext header': opening('sqlcipher', ['legacy=4', 'kdf_iter=1', 'plaintext_header_size=32', `cipher_salt='${SALT}'`]),
  'sqlcipher, raw key and salt': opening('sqlcipher', [], `"x'${R32}${SALT}'"`),
  'sqlcipher 3, raw key': opening('sqlcipher', ['legacy=3'], `"x'${R32}'"`),
  rc4: opening('rc4'),
  ascon128: opening('ascon128', ['kdf_iter=1']),
  'ascon128, plaintext header': opening('ascon128', ['kdf_iter=1', 'plaintext_header_size=64', `cipher_salt='${SALT}'`]),
  'ascon128, raw key': opening('ascon128', [], `'raw:${R32}'`),
  ...Object.fromEntries(AEGIS.map((name) => [name, opening('aegis', [...CHEAP, `algorithm='${name}'`])])),
  'aegis, three passes and two lanes': opening('aegis', ['tcost=3', 'mcost=64', 'pcost=2']),
  'aegis, plaintext header': opening('aegis', [...CHEAP, 'plaintext_header_size=100', `cipher_salt='${SALT}'`]),
  'aegis-256, raw key': opening('aegis', [], `'raw:${R32}'`),
  'aegis-128l, raw: key of 32 digits is binary': opening('aegis', ["algorithm='aegis-128l'"], `'raw:${R32.slice(0, 32)}'`),
  "aegis-128l, x'' key": opening('aegis', ["algorithm='aegis-128l'"], `"x'${R32.slice(0, 32)}'"`),
};

/** The variants that stand for their schemes. */
const SCHEMES = ['aes128cbc', 'aes256cbc', 'chacha20', 'sqlcipher', 'rc4', 'ascon128', 'aegis-256'];

/** Both directions for both of our programs. @param {(maker: string, reader: string) => void} run */
function bothWays(run) {
  for (const ours of OURS) {
    run('reference', ours);
    run(ours, 'reference');
  }
}

describe('files of every scheme and variant', () => {
  for (const [name, open] of Object.entries(VARIANTS)) {
    bothWays((maker, reader) => {
      test(`${name}: ${maker} to ${reader}`, () => {
        const file = newFile();
        programs[maker](file, [{ sql: open }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
        checkRows(reader, file, open, ROWS);
        programs[reader](file, [
          { sql: open },
          { sql: `DELETE FROM t WHERE id > ${ROWS / 2}` },
          { sql: 'VACUUM' },
          { sql: insertRows(ROWS / 2 + 1, ROWS + 20) },
        ]);
        checkRows(maker, file, open, ROWS + 20);
      });
    });
  }
});

const SIZES = [512, 1024, 8192, 65536];

describe('page sizes of every scheme', () => {
  for (const scheme of SCHEMES) {
    for (const size of SIZES) {
      if (size === 512 && (scheme === 'sqlcipher' || scheme.startsWith('aegis'))) continue; // SQLite takes 1024
      bothWays((maker, reader) => {
        test(`${scheme}, ${size}: ${maker} to ${reader}`, () => {
          const file = newFile();
          const open = VARIANTS[scheme];
          programs[maker](file, [{ sql: open }, { sql: `PRAGMA page_size=${size}` }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
          assert.equal(programs[maker](file, [{ sql: open }, { sql: 'SELECT page_size FROM pragma_page_size' }]), String(size));
          checkRows(reader, file, open, ROWS);
          programs[reader](file, [{ sql: open }, { sql: insertRows(ROWS + 1, ROWS + 20) }]);
          checkRows(maker, file, open, ROWS + 20);
        });
      });
    }
  }
});

const HOT = [
  {
    suffix: '-journal',
    beforeRows: 'PRAGMA page_size=1024; PRAGMA journal_mode=DELETE',
    dirty: "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(2000)",
  },
  {
    suffix: '-wal',
    beforeRows: 'PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5',
    dirty:
      "BEGIN; UPDATE t SET name = name || 'x'; UPDATE t SET name = substr(name, 1, length(name) - 1); COMMIT; BEGIN; DELETE FROM t",
  },
];

describe('hot files of every scheme, copied while the database is open', () => {
  for (const scheme of SCHEMES) {
    for (const hot of HOT) {
      const { suffix, dirty } = hot;
      // The reference cannot open its own hot file of rc4 if the pages are not of the usual size.
      const beforeRows = scheme === 'rc4' ? hot.beforeRows.replace('1024', '4096') : hot.beforeRows;
      bothWays((maker, reader) => {
        test(`${scheme}, ${suffix}: ${maker} to ${reader}`, () => {
          const copy = newFile();
          const open = VARIANTS[scheme];
          programs[maker](newFile(), [
            { sql: open },
            { sql: beforeRows },
            { sql: CREATE },
            { sql: insertRows(1, ROWS) },
            { sql: dirty },
            { copyTo: copy },
            { sql: 'ROLLBACK' },
          ]);
          assert.ok(fs.statSync(copy + suffix).size > 4000);
          checkRows(reader, copy, open, ROWS);
          checkRows(maker, copy, open, ROWS);
        });
      });
    }
  }
});

/** The same variants under another password, and plaintext: settings, key, and how it is opened. */
const PLAIN = { settings: '', rekey: "''", open: 'PRAGMA cache_size=100' };
const targets = [
  ...SCHEMES.map((name) => {
    const open = VARIANTS[name].replace("key='k'", "key='another'");
    return { name, settings: open.slice(0, open.lastIndexOf('; ')), rekey: "'another'", open };
  }),
  { name: 'plain', ...PLAIN },
];
const sources = [...SCHEMES.map((name) => ({ name, open: VARIANTS[name] })), { name: 'plain', open: PLAIN.open }];

describe('C14 rekeyed from any scheme to any other, read by the reference', () => {
  for (const from of sources) {
    for (const to of targets) {
      for (const mode of ['DELETE', 'WAL']) {
        const ours = mode === 'WAL' ? 'wasm' : 'shell';
        test(`${from.name} to ${to.name}, ${mode}, by ${ours}`, () => {
          const file = newFile();
          programs.reference(file, [{ sql: from.open }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
          programs[ours](file, [
            { sql: from.open },
            { sql: `PRAGMA journal_mode=${mode}` },
            { sql: insertRows(ROWS + 1, ROWS + 20) },
            ...(to.settings ? [{ sql: to.settings }] : []),
            { sql: `PRAGMA rekey=${to.rekey}` },
            { sql: insertRows(ROWS + 21, ROWS + 25) },
          ]);
          checkRows('reference', file, to.open, ROWS + 25);
          if (to.name !== from.name || to.name !== 'plain') {
            assert.throws(() => checkRows(ours, file, from.open, ROWS + 25), /not a database|NOTADB|plain database/);
          }
          checkRows(ours, file, to.open, ROWS + 25);
        });
      }
    }
  }
});
