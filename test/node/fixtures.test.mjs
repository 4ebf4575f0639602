// The sample databases are those of their manifest, byte for byte: tests work on copies.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../fixtures', import.meta.url));
const { entries } = JSON.parse(fs.readFileSync(path.join(directory, 'manifest.json'), 'utf8'));
const sha256 = (/** @type {string} */ name) =>
  crypto.createHash('sha256').update(fs.readFileSync(path.join(directory, name))).digest('hex');

test('every sample database and its sidecars have the SHA-256 of the manifest', () => {
  assert.equal(entries.length, 129);
  for (const { name, file, sha256: wanted, sidecars = [] } of entries) {
    assert.equal(sha256(file), wanted, name);
    for (const side of sidecars) assert.equal(sha256(side.file), side.sha256, side.file);
  }
});

test('no sample database lies there that the manifest does not have', () => {
  const known = new Set(entries.flatMap(({ file, sidecars = [] }) => [file, ...sidecars.map(({ file: side }) => side)]));
  const there = fs.readdirSync(directory).filter((name) => /\.db(-wal|-journal|-shm)?$/.test(name));
  assert.deepEqual(there.filter((name) => !known.has(name)), []);
});
