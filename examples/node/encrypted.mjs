// An encrypted database in Node, from its first row to the bytes on the disk.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import sqlite3InitModule from 'sqlite3mc-wasm';

const SECRET = 'the quick brown fox';
const NOTES = 20_000;

const sqlite3 = await sqlite3InitModule();
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sqlite3mc-example-'));
const filename = path.join(directory, 'notes.db');

/** @param {string} key */
const open = (key) => new sqlite3.oo1.DB({ filename, flags: 'c', key });

/** Bits of information in a byte: 8 for ciphertext, about 4 to 5 for text. @param {Uint8Array} bytes */
function entropy(bytes) {
  const counts = new Float64Array(256);
  for (const byte of bytes) counts[byte]++;
  return counts.reduce((sum, count) => (count ? sum - (count / bytes.length) * Math.log2(count / bytes.length) : sum), 0);
}

try {
  console.log(`${sqlite3.mc.version}, SQLite ${sqlite3.version.libVersion}, module "${sqlite3.mc.variant}"`);

  let db = open('correct horse battery staple');
  db.exec('CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)');
  db.transaction(() => {
    const insert = db.prepare('INSERT INTO note(body) VALUES (?)');
    for (let i = 1; i <= NOTES; i++) insert.bind([`${i}: ${SECRET} `.repeat(64)]).stepReset();
    insert.finalize();
  });
  db.close();
  const size = fs.statSync(filename).size;
  console.log(`1. made ${filename} with a key: ${NOTES} notes, ${(size / 1e6).toFixed(1)} MB`);

  db = open('correct horse battery staple');
  db.selectValue('SELECT count(*) FROM sqlite_schema'); // derives the key, which takes a moment on purpose
  const start = performance.now();
  const [count, length] = db.selectArray('SELECT count(*), sum(length(body)) FROM note') ?? [];
  const seconds = (performance.now() - start) / 1000;
  const row = db.selectValue('SELECT body FROM note WHERE id = 4711');
  db.close();
  console.log(`2. opened it again: ${count} notes, ${length} characters; note 4711 is "${row?.slice(0, 24)}..."`);

  try {
    db = open('wrong horse');
    db.selectValue('SELECT count(*) FROM note');
    throw new Error('A wrong key opened the database.');
  } catch (error) {
    if (error.resultCode !== sqlite3.capi.SQLITE_NOTADB) throw error;
    console.log(`3. a wrong key is refused: ${error.message}`);
  } finally {
    db.close();
  }

  const bytes = fs.readFileSync(filename);
  if (bytes.includes(SECRET) || bytes.includes('SQLite format 3')) throw new Error('There is plaintext in the file.');
  console.log(`4. on the disk: ${bytes.subarray(0, 32).toString('hex')}...`);
  console.log(`   ${entropy(bytes).toFixed(4)} of 8 bits entropy; neither "${SECRET}" nor "SQLite format 3" is in it`);
  console.log(
    `5. speed: ${(size / 1e6).toFixed(1)} MB read, verified and decrypted in ${(seconds * 1000).toFixed(0)} ms, ` +
      `${(size / 1e6 / seconds).toFixed(0)} MB/s`,
  );
} finally {
  fs.rmSync(directory, { recursive: true, force: true });
}
