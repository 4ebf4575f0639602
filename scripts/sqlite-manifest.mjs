// Checks a source tree of SQLite against its Fossil manifest. The manifest's own hash, which is also the
// hash in SQLITE_SOURCE_ID, vouches for the hash of every file in it, however the tree got here.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** @param {string} algorithm @param {Buffer} data */
const hash = (algorithm, data) => createHash(algorithm).update(data).digest('hex');

/**
 * @param {string} directory
 * @param {string} pin SHA3-256 of the manifest
 * @returns {string | null} what is wrong, or null
 */
export function verifySqliteSource(directory, pin) {
  let manifest;
  try {
    manifest = fs.readFileSync(path.join(directory, 'manifest'), 'latin1');
  } catch {
    return 'it has no file "manifest"';
  }
  // Fossil adds this line when it writes the file out; it is not part of what is hashed.
  manifest = manifest.replace(/\n# Remove this line[^\n]*\n?/, '\n');
  const found = hash('sha3-256', Buffer.from(manifest, 'latin1'));
  if (found !== pin) return `its manifest has the hash ${found} instead of ${pin}`;
  for (const line of manifest.split('\n')) {
    const card = /^F (\S+) ([0-9a-f]+)/.exec(line);
    if (!card) continue;
    const name = card[1].replaceAll('\\s', ' ').replaceAll('\\\\', '\\');
    let content;
    try {
      content = fs.readFileSync(path.join(directory, name));
    } catch {
      return `it has no file ${name}`;
    }
    if (hash(card[2].length === 40 ? 'sha1' : 'sha3-256', content) !== card[2]) return `${name} is not the original`;
  }
  return null;
}
