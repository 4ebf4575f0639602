// C62: live both ways against other programs that people have databases of: two WebAssembly packages of the
// reference, and Debian's SQLCipher, whose formats are those of versions 1 to 3.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import sqlite3InitEvolu from '@evolu/sqlite-wasm';
import waSqliteFactory from '@journeyapps/wa-sqlite/dist/mc-wa-sqlite.mjs';
import * as WaSqlite from '@journeyapps/wa-sqlite';
import { MemoryVFS } from '@journeyapps/wa-sqlite/src/examples/MemoryVFS.js';
import { contents, installMemoryVfs, setContents } from '../../bench/memory-vfs.mjs';
import { CREATE, OURS, ROWS, SELECT, checkRows, insertRows, newFile, programs, wantedRows } from './oracle-harness.mjs';

const R32 = '54686973206973206d792076657279207365637265742070617373776f72642e';

/**
 * A program that makes a database, or reads and changes one: SQL to run, the file before and after it, and
 * the rows of the last statement.
 * @typedef {(bytes: Buffer | null, sql: string[]) => Promise<{ bytes: Buffer, rows: string }>} Peer
 */

const asText = (/** @type {unknown[][]} */ rows) => rows.map((row) => row.join('|')).join('\n');

const evolu = await sqlite3InitEvolu({ print() {}, printErr() {} });
const evoluMemory = installMemoryVfs(evolu, 'peer-memory');

const waModule = await waSqliteFactory({
  instantiateWasm(/** @type {WebAssembly.Imports} */ imports, /** @type {(instance: WebAssembly.Instance) => void} */ done) {
    const file = createRequire(import.meta.url).resolve('@journeyapps/wa-sqlite/dist/mc-wa-sqlite.mjs').replace(/mjs$/, 'wasm');
    WebAssembly.instantiate(fs.readFileSync(file), imports).then(({ instance }) => done(instance));
  },
});
const wa = WaSqlite.Factory(waModule);
const waMemory = await MemoryVFS.create('peer-memory', waModule);
wa.vfs_register(waMemory, false);

/** @type {Record<string, Peer>} */
const peers = {
  async '@evolu/sqlite-wasm'(bytes, sql) {
    const name = '/peer.db';
    evoluMemory.files.clear();
    if (bytes) setContents(evoluMemory, name, bytes);
    const db = new evolu.oo1.DB({ filename: name, flags: 'c', vfs: 'multipleciphers-peer-memory' });
    let rows = [];
    try {
      for (const text of sql) rows = db.exec({ sql: text, rowMode: 'array', returnValue: 'resultRows' });
    } finally {
      db.close();
    }
    return { bytes: contents(evoluMemory.files.get(name)), rows: asText(rows) };
  },

  async '@journeyapps/wa-sqlite'(bytes, sql) {
    const name = '/peer.db';
    waMemory.mapNameToFile.clear();
    if (bytes) {
      const data = new Uint8Array(bytes).buffer;
      waMemory.mapNameToFile.set(name, { pathname: name, flags: 0, size: bytes.length, data });
    }
    const db = await wa.open_v2(name, WaSqlite.SQLITE_OPEN_READWRITE | WaSqlite.SQLITE_OPEN_CREATE, 'multipleciphers-peer-memory');
    /** @type {unknown[][]} */
    let rows = [];
    try {
      for (const text of sql) {
        rows = [];
        await wa.exec(db, text, (row) => rows.push(row));
      }
    } finally {
      await wa.close(db);
    }
    const { data, size } = waMemory.mapNameToFile.get(name);
    return { bytes: Buffer.from(data.slice(0, size)), rows: asText(rows) };
  },
};

/** One of ours, in the shape of a peer. @param {string} program @param {Buffer} bytes @param {string[]} sql */
function change(program, bytes, sql) {
  const file = newFile();
  fs.writeFileSync(file, bytes);
  programs[program](file, sql.map((text) => ({ sql: text })));
  return fs.readFileSync(file);
}

const CASES = {
  plain: 'PRAGMA cache_size=100',
  aes128cbc: "PRAGMA cipher='aes128cbc'; PRAGMA key='k'",
  aes256cbc: "PRAGMA cipher='aes256cbc'; PRAGMA key='k'",
  chacha20: "PRAGMA cipher='chacha20'; PRAGMA key='k'",
  'chacha20, raw key': `PRAGMA cipher='chacha20'; PRAGMA key='raw:${R32}'`,
  sqlcipher: "PRAGMA cipher='sqlcipher'; PRAGMA kdf_iter=4000; PRAGMA key='k'",
  'sqlcipher 4': "PRAGMA cipher='sqlcipher'; PRAGMA legacy=4; PRAGMA kdf_iter=4000; PRAGMA key='k'",
  rc4: "PRAGMA cipher='rc4'; PRAGMA key='k'",
  ascon128: "PRAGMA cipher='ascon128'; PRAGMA kdf_iter=100; PRAGMA key='k'",
  aegis: "PRAGMA cipher='aegis'; PRAGMA tcost=1; PRAGMA mcost=64; PRAGMA key='k'",
};

for (const [name, peer] of Object.entries(peers)) {
  describe(`C62 databases of ${name}`, () => {
    for (const [title, open] of Object.entries(CASES)) {
      for (const ours of OURS) {
        test(`${title}: made there, changed by ${ours}, read there`, async () => {
          const made = await peer(null, [open, CREATE, insertRows(1, ROWS)]);
          const file = newFile();
          fs.writeFileSync(file, made.bytes);
          checkRows(ours, file, open, ROWS);
          const changed = change(ours, made.bytes, [open, insertRows(ROWS + 1, ROWS + 20), 'VACUUM']);
          const { rows } = await peer(changed, [open, SELECT]);
          assert.equal(rows, wantedRows(ROWS + 20));
        });
      }
    }
  });
}

/** Debian's SQLCipher is version 3.4; its PRAGMA cipher_use_hmac and kdf_iter make the older formats. */
const SQLCIPHER = {
  1: "PRAGMA key='k'; PRAGMA cipher_use_hmac=OFF; PRAGMA kdf_iter=4000",
  2: "PRAGMA key='k'; PRAGMA kdf_iter=4000",
  3: "PRAGMA key='k'",
};

/** @param {string} file @param {string[]} sql */
function sqlcipher(file, sql) {
  const { status, stdout, stderr, error } = spawnSync('sqlcipher', ['-batch', '-bail', '-list', file], {
    input: `${sql.join(';\n')};\n`,
    encoding: 'utf8',
  });
  assert.ok(!error, `sqlcipher is missing: apt-get install sqlcipher (${error})`);
  assert.equal(`${status} ${stderr}`, '0 ');
  return stdout.trimEnd();
}

describe("C62 C46 databases of Debian's SQLCipher", () => {
  for (const [version, open] of Object.entries(SQLCIPHER)) {
    const here = `PRAGMA cipher='sqlcipher'; PRAGMA legacy=${version}; PRAGMA key='k'`;
    for (const ours of OURS) {
      test(`version ${version}: made there, changed by ${ours}, read there`, () => {
        const file = newFile();
        sqlcipher(file, [open, CREATE, insertRows(1, ROWS)]);
        checkRows(ours, file, here, ROWS);
        programs[ours](file, [{ sql: here }, { sql: insertRows(ROWS + 1, ROWS + 20) }, { sql: 'VACUUM' }]);
        assert.ok(sqlcipher(file, [open, SELECT]).endsWith(wantedRows(ROWS + 20)));
      });
      test(`version ${version}: made by ${ours}, changed there, read by ${ours}`, () => {
        const file = newFile();
        programs[ours](file, [{ sql: here }, { sql: 'PRAGMA page_size=1024' }, { sql: CREATE }, { sql: insertRows(1, ROWS) }]);
        sqlcipher(file, [open, insertRows(ROWS + 1, ROWS + 20), 'VACUUM']);
        checkRows(ours, file, here, ROWS + 20);
      });
    }
  }
});
