/**
 * The sample databases of the reference, all of them, in a browser: good ones give every row, damaged ones
 * the error that their manifest names. They lie in a VFS in memory: what is tested is the module.
 */
import fs from 'node:fs';
import { expect, open, startWorker, test } from './harness.mjs';

const manifest = JSON.parse(fs.readFileSync(new URL('../fixtures/manifest.json', import.meta.url), 'utf8'));

test('all 129 sample databases behave as their manifest says', async ({ page, plain }) => {
  await open(page, plain);
  const worker = await startWorker(page);
  const result = await worker.run(async ({ sqlite3 }, entries) => {
    const { installMemoryVfs, setContents } = await import('/bench/memory-vfs.mjs');
    const memory = installMemoryVfs(sqlite3, 'fixtures');
    const bytesOf = async (name) => new Uint8Array(await (await fetch(`/test/fixtures/${name}`)).arrayBuffer());
    const byName = new Map(entries.map((entry) => [entry.name, entry]));

    const isRight = ([id, name, data], seed) => {
      const length = id % 10 === 0 ? 700 + 13 * id : 5 + ((7 * id + seed) % 60);
      if (name !== `row-${id}-${(id * id * seed) % 9973}${id % 3 ? '' : '-äß€😀'}` || data.length !== length) return false;
      return data.every((byte, j) => byte === ((31 * id + 7 * j + seed + Math.floor(j / 16)) & 255));
    };

    /** 'ok', an error's code, or what is wrong with the rows. */
    const read = (entry, { rows, seed }) => {
      const db = new sqlite3.oo1.DB({ filename: `/${entry.file}`, flags: 'w', vfs: 'multipleciphers-fixtures' });
      try {
        for (const pragma of entry.pragmas) db.exec(`PRAGMA ${pragma}`);
        db.exec('PRAGMA locking_mode=exclusive'); // this VFS has no shared memory for the index of a WAL
        const all = db.exec({ sql: 'SELECT id, name, data FROM t ORDER BY id', rowMode: 'array', returnValue: 'resultRows' });
        const wrong = all.filter((row, i) => row[0] !== i + 1 || !isRight(row, seed)).length;
        if (all.length !== rows || wrong) return `${all.length} rows of ${rows}, ${wrong} wrong`;
        const check = db.selectValue('PRAGMA integrity_check');
        return !entry.damaged && db.selectValue('PRAGMA user_version') !== 1000 + seed ? 'user_version' : check;
      } catch (error) {
        return error.resultCode & 255;
      } finally {
        db.close();
      }
    };

    const surprises = [];
    let good = 0;
    for (const entry of entries) {
      memory.files.clear();
      for (const { file } of [entry, ...(entry.sidecars ?? [])]) setContents(memory, `/${file}`, await bytesOf(file));
      const got = read(entry, entry.damaged ? byName.get(entry.derived_from) : entry);
      const { expect } = entry;
      const wanted = [
        ...(typeof expect !== 'string' || /all rows|reference reads/.test(expect) ? ['ok'] : []),
        ...(/NOTADB|rejecting/.test(expect) ? [26] : []),
        ...(/CORRUPT/.test(expect) ? [11] : []),
        ...(/no detection/.test(expect) ? ['45 rows of 45, 1 wrong'] : []),
      ];
      if (wanted.includes(got)) good++;
      else surprises.push(`${entry.name}: ${got}, wanted ${wanted}`);
    }
    return { good, surprises };
  }, manifest.entries);
  expect(result).toEqual({ good: 129, surprises: [] });
});
