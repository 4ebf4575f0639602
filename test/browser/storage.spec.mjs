/**
 * Encrypted databases in the storage of browsers: each test for each kind of storage. `opfs` and
 * `opfs-wl` need a page with COOP/COEP, `opfs-sahpool` is tested on one without.
 */
import { expect, open, startWorker, test } from './harness.mjs';

const NOTADB = 26;

// A raw key: the derivation of one from a passphrase is not what is tested here.
const KEY = `x'${'5a'.repeat(32)}'`;
const OTHER = `x'${'a5'.repeat(32)}'`;
const MARKER = 'plaintext that must not be found';

for (const kind of ['opfs', 'opfs-wl', 'opfs-sahpool']) {
  test.describe(kind, () => {
    /** @type {string} */
    let origin;
    test.beforeEach(async ({ page, isolated, plain }) => {
      origin = kind === 'opfs-sahpool' ? plain : isolated;
      await open(page, origin);
    });

    test('C12 an encrypted database outlives a reload, and its storage holds ciphertext only', async ({ page }) => {
      const first = await startWorker(page);
      const made = await first.run(
        async ({ open, sqlite3 }, kind, key, marker) => {
          const db = await open(kind, { filename: '/a.db', key });
          db.exec(['CREATE TABLE t(a); INSERT INTO t VALUES', `('${marker}')`]);
          const result = { vfs: db.dbVfsName(), uses: !!sqlite3.capi.sqlite3_js_db_uses_vfs(db, kind === 'opfs-sahpool' ? 'vault' : kind) };
          db.close();
          return result;
        },
        kind,
        'a passphrase',
        MARKER,
      );
      expect(made).toEqual({ vfs: `multipleciphers-${kind === 'opfs-sahpool' ? 'vault' : kind}`, uses: true });
      expect(await first.run((tools, ...texts) => tools.textsInStorage(texts), MARKER, 'SQLite format 3', 'CREATE TABLE')).toEqual([]);

      await open(page, origin);
      const second = await startWorker(page);
      const seen = await second.run(
        async ({ open, codeOf }, kind) => {
          const read = async (options) => {
            const db = await open(kind, { filename: '/a.db', ...options });
            try {
              return db.selectValue('SELECT a FROM t');
            } finally {
              db.close();
            }
          };
          return {
            right: await read({ key: 'a passphrase' }),
            wrong: await codeOf(() => read({ key: 'another passphrase' })),
            none: await codeOf(() => read({})),
            again: await read({ textkey: 'a passphrase' }),
          };
        },
        kind,
      );
      expect(seen).toEqual({ right: MARKER, wrong: NOTADB, none: NOTADB, again: MARKER });
    });

    test('the control: a plain database is found in storage', async ({ page }) => {
      const worker = await startWorker(page);
      const found = await worker.run(
        async ({ open, textsInStorage }, kind, marker) => {
          const db = await open(kind, { filename: '/plain.db' });
          db.exec(`CREATE TABLE t(a); INSERT INTO t VALUES('${marker}')`);
          db.close();
          return textsInStorage([marker, 'SQLite format 3']);
        },
        kind,
        MARKER,
      );
      expect(found).toEqual([MARKER, 'SQLite format 3']);
    });

    test('pages of 512 and 65536 bytes, with rollback journal and WAL', async ({ page }) => {
      const worker = await startWorker(page);
      for (const pageSize of [512, 65536]) {
        for (const mode of ['delete', 'wal']) {
          const result = await worker.run(
            async ({ open }, kind, key, pageSize, mode) => {
              const filename = `/pages-${pageSize}-${mode}.db`;
              let db = await open(kind, { filename, key });
              db.exec(`PRAGMA page_size=${pageSize}; PRAGMA cache_size=4; PRAGMA locking_mode=exclusive`);
              const journal = db.selectValue(`PRAGMA journal_mode=${mode}`);
              db.exec('CREATE TABLE t(a INTEGER PRIMARY KEY, b)');
              db.exec(
                `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20) INSERT INTO t SELECT i, zeroblob(${pageSize / 8}) FROM n`,
              );
              // More pages than the cache has: they go to the file before the end of the transaction.
              db.exec(`BEGIN; UPDATE t SET b=CAST('x' || a AS BLOB) || zeroblob(${pageSize}); ROLLBACK`);
              // The same pages twice in one transaction: in WAL mode, frames are written again in place.
              db.exec(`BEGIN; UPDATE t SET b=zeroblob(${pageSize}); UPDATE t SET b=zeroblob(${pageSize / 8}); COMMIT`);
              db.exec(`UPDATE t SET b='row ' || a || hex(zeroblob(${pageSize / 2})) WHERE a%2`);
              if (mode === 'wal') db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
              db.exec("UPDATE t SET b='end' WHERE a=20");
              db.close();
              db = await open(kind, { filename, key });
              db.exec('PRAGMA locking_mode=exclusive');
              const rows = db.selectArrays('SELECT substr(b,1,6), count(*) FROM t GROUP BY length(b) ORDER BY length(b)');
              const result = { journal, size: db.selectValue('PRAGMA page_size'), check: db.selectValue('PRAGMA integrity_check'), rows: rows.length };
              db.close();
              return result;
            },
            kind,
            KEY,
            pageSize,
            mode,
          );
          expect(result).toEqual({ journal: mode, size: pageSize, check: 'ok', rows: 4 });
        }
      }
    });

    test('rekey: plain to key, key to key, key to plain', async ({ page }) => {
      const worker = await startWorker(page);
      const codes = await worker.run(
        async ({ open, codeOf, sqlite3 }, kind, key, other, marker) => {
          const filename = '/rekey.db';
          const count = async (key) => {
            const db = await open(kind, { filename, key });
            try {
              return db.selectValue('SELECT count(*) FROM t');
            } finally {
              db.close();
            }
          };
          const rekey = async (from, to) => {
            const db = await open(kind, { filename, key: from });
            db.checkRc(sqlite3.capi.sqlite3_rekey(db, to));
            db.close();
          };
          const plain = await open(kind, { filename });
          plain.exec(`CREATE TABLE t(a); INSERT INTO t SELECT '${marker}' FROM (SELECT 1 UNION ALL SELECT 2), (SELECT 1 UNION ALL SELECT 2)`);
          plain.close();
          const seen = [];
          const look = async () => {
            for (const k of [undefined, key, other]) seen.push(await codeOf(() => count(k)));
          };
          await look();
          await rekey(undefined, key);
          await look();
          await rekey(key, other);
          await look();
          await rekey(other, '');
          await look();
          return seen;
        },
        kind,
        KEY,
        OTHER,
        MARKER,
      );
      const [ok, no] = [0, NOTADB];
      expect(codes).toEqual([ok, no, no, /**/ no, ok, no, /**/ no, no, ok, /**/ ok, no, no]);
    });

    test('a worker that is killed in a transaction leaves a journal that only the right key plays back', async ({ page }) => {
      const writer = await startWorker(page);
      const before = await writer.run(
        async ({ open }, kind, key, marker) => {
          const db = await open(kind, { filename: '/hot.db', key });
          db.exec('CREATE TABLE t(a INTEGER PRIMARY KEY, b)');
          db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200) INSERT INTO t SELECT i, '${marker}' || hex(zeroblob(300)) FROM n`);
          const sum = db.selectValue('SELECT sum(length(b)) FROM t');
          db.exec("PRAGMA cache_size=4; BEGIN; UPDATE t SET b='overwritten' || hex(zeroblob(200))");
          return sum;
        },
        kind,
        KEY,
        MARKER,
      );
      await writer.terminate();

      const reader = await startWorker(page);
      const after = await reader.run(
        async ({ open, codeOf, pool, rawFiles, textsInStorage }, kind, key, other, marker) => {
          if (kind === 'opfs-sahpool') await pool();
          const digest = async () => {
            const hashes = [];
            for (const [path, bytes] of [...(await rawFiles())].sort(([a], [b]) => (a < b ? -1 : 1))) {
              hashes.push(path, String(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))));
            }
            return hashes.join();
          };
          const sum = async (key) => {
            const db = await open(kind, { filename: '/hot.db', key });
            try {
              return [db.selectValue('SELECT sum(length(b)) FROM t'), db.selectValue('PRAGMA integrity_check')];
            } finally {
              db.close();
            }
          };
          const names = kind === 'opfs-sahpool' ? (await pool()).getFileNames() : [...(await rawFiles()).keys()];
          const result = { journal: names.includes('/hot.db-journal') };
          result.texts = await textsInStorage([marker, 'overwritten']);
          const untouched = await digest();
          result.none = await codeOf(() => sum());
          result.wrong = await codeOf(() => sum(other));
          result.same = (await digest()) === untouched;
          result.right = await sum(key);
          return result;
        },
        kind,
        KEY,
        OTHER,
        MARKER,
      );
      expect(after).toEqual({ journal: true, texts: [], none: NOTADB, wrong: NOTADB, same: true, right: [before, 'ok'] });
    });

    test('C25 a worker that is killed leaves a WAL whose committed rows are there, with pages of 4096 and 65536 bytes', async ({ page }) => {
      for (const pageSize of [4096, 65536]) {
        const writer = await startWorker(page);
        await writer.run(
          async ({ open }, kind, key, pageSize) => {
            const db = await open(kind, { filename: `/wal-${pageSize}.db`, key });
            db.exec(`PRAGMA page_size=${pageSize}; PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; CREATE TABLE t(a)`);
            db.exec("INSERT INTO t VALUES('committed'); PRAGMA cache_size=2; BEGIN; INSERT INTO t VALUES('lost')");
            db.exec(`INSERT INTO t SELECT zeroblob(${pageSize * 10})`);
          },
          kind,
          KEY,
          pageSize,
        );
        await writer.terminate();
        const reader = await startWorker(page);
        const result = await reader.run(
          async ({ open, codeOf, textsInStorage }, kind, key, other, pageSize) => {
            const read = async (key) => {
              const db = await open(kind, { filename: `/wal-${pageSize}.db`, key });
              try {
                db.exec('PRAGMA locking_mode=exclusive');
                return [db.selectValues('SELECT a FROM t'), db.selectValue('PRAGMA integrity_check')];
              } finally {
                db.close();
              }
            };
            const wrong = await codeOf(() => read(other));
            const texts = await textsInStorage(['committed', 'lost']);
            const right = await read(key);
            return { wrong, texts, right, again: await read(key) };
          },
          kind,
          KEY,
          OTHER,
          pageSize,
        );
        await reader.terminate();
        const rows = [['committed'], 'ok'];
        expect(result, `${pageSize}`).toEqual({ wrong: NOTADB, texts: [], right: rows, again: rows });
      }
    });

    test('C51 C64 databases are imported and exported, encrypted ones byte for byte', async ({ page }) => {
      const worker = await startWorker(page);
      for (const [name, key] of [
        ['chacha20-default.db', true],
        ['chacha20-p512.db', true],
        ['chacha20-p65536.db', true],
        ['chacha20-legacy-p4096.db', true],
        ['chacha20-pth32.db', true],
        ['plain-default.db', false],
      ]) {
        const result = await worker.run(
          async ({ importDb, exportDb, pieces }, kind, name) => {
            const bytes = new Uint8Array(await (await fetch(`/test/fixtures/${name}`)).arrayBuffer());
            const same = (a) => a.length === bytes.length && a.every((byte, i) => byte === bytes[i]);
            const before = bytes.slice();
            const result = { sizes: [await importDb(kind, '/in.db', bytes)] };
            result.buffer = same(await exportDb(kind, '/in.db'));
            for (const sizes of [[1, 7, 513], [4096], [bytes.length]]) {
              result.sizes.push(await importDb(kind, '/in.db', pieces(bytes, sizes)));
              result[`chunks of ${sizes}`.slice(0, 14)] = same(await exportDb(kind, '/in.db'));
            }
            result.size = bytes.length;
            result.input = same(before);
            return result;
          },
          kind,
          name,
        );
        const { sizes, size, ...same } = result;
        expect(sizes, name).toEqual(Array(4).fill(size));
        expect(Object.values(same), name).toEqual(Array(Object.keys(same).length).fill(true));
        expect(key || same.buffer).toBe(true);
      }
    });

    test('C51 an imported encrypted database opens read-only with its key, and takes the place of a larger one', async ({ page }) => {
      const worker = await startWorker(page);
      const result = await worker.run(
        async ({ open, importDb, exportDb }, kind, key) => {
          let db = await open(kind, { filename: '/swap.db', key });
          db.exec("CREATE TABLE old(a); INSERT INTO old SELECT zeroblob(100000); PRAGMA user_version=1");
          db.close();
          const large = await exportDb(kind, '/swap.db');
          db = await open(kind, { filename: '/small.db', key });
          db.exec('PRAGMA user_version=2');
          db.close();
          const small = await exportDb(kind, '/small.db');
          await importDb(kind, '/swap.db', small);
          db = await open(kind, { filename: '/swap.db', key, flags: 'r' });
          const version = db.selectValue('PRAGMA user_version');
          db.close();
          return { version, smaller: small.length < large.length, size: (await exportDb(kind, '/swap.db')).length === small.length };
        },
        kind,
        KEY,
      );
      expect(result).toEqual({ version: 2, smaller: true, size: true });
    });

    test('C64 an import that fails leaves the old database as it was', async ({ page }) => {
      const worker = await startWorker(page);
      const result = await worker.run(
        async ({ open, importDb, exportDb, pieces, codeOf, sqlite3 }, kind, key) => {
          let db = await open(kind, { filename: '/keep.db', key });
          db.exec('CREATE TABLE t(a); INSERT INTO t VALUES(1)');
          db.close();
          const good = await exportDb(kind, '/keep.db');
          const plain = new Uint8Array(await (await fetch('/test/fixtures/plain-default.db')).arrayBuffer());
          const text = new TextEncoder().encode('<!doctype html><title>404</title>'.repeat(1000)).slice(0, 512 * 8);
          const bad = {
            empty: new Uint8Array(0),
            short: good.slice(0, 511),
            'cut within a page': good.slice(0, good.length - 512),
            'plain, cut after a page': plain.slice(0, plain.length - 4096),
            zeros: new Uint8Array(8192),
            text,
          };
          const codes = {};
          for (const [name, bytes] of Object.entries(bad)) {
            codes[name] = [await codeOf(() => importDb(kind, '/keep.db', bytes)), await codeOf(() => importDb(kind, '/keep.db', pieces(bytes, [1000, 1])))];
          }
          codes['no bytes'] = [await codeOf(() => importDb(kind, '/keep.db', 'text')), await codeOf(() => importDb(kind, '/keep.db', async () => 5))];
          let calls = 0;
          const failing = async () => {
            if (calls++ === 3) throw new sqlite3.SQLite3Error(999, 'the source failed');
            return good.slice(0, 512);
          };
          codes['a source that fails'] = [await codeOf(() => importDb(kind, '/keep.db', failing))];
          db = await open(kind, { filename: '/keep.db', key });
          codes.rows = db.selectArrays('SELECT a FROM t');
          db.close();
          const after = await exportDb(kind, '/keep.db');
          codes.same = after.length === good.length && after.every((byte, i) => byte === good[i]);
          return codes;
        },
        kind,
        KEY,
      );
      const MISUSE = 21;
      expect(result).toEqual({
        empty: [NOTADB, NOTADB],
        short: [NOTADB, NOTADB],
        'cut within a page': [NOTADB, NOTADB],
        'plain, cut after a page': [NOTADB, NOTADB],
        zeros: [NOTADB, NOTADB],
        text: [NOTADB, NOTADB],
        'no bytes': [MISUSE, MISUSE],
        'a source that fails': [999],
        rows: [[1]],
        same: true,
      });
    });

    test('C64 importing takes a plain database out of WAL mode, and leaves an encrypted one as it is', async ({ page }) => {
      const worker = await startWorker(page);
      const result = await worker.run(
        async ({ open, importDb, exportDb, pieces }, kind, key) => {
          const walFile = async (filename, key) => {
            const db = await open(kind, { filename, key });
            db.exec('PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(1); PRAGMA wal_checkpoint(TRUNCATE)');
            db.close();
            return exportDb(kind, filename);
          };
          const result = {};
          const plain = await walFile('/wal-plain.db');
          const sealed = await walFile('/wal-sealed.db', key);
          result.input = [plain[18], plain[19], sealed[18], sealed[19]];
          for (const how of ['buffer', 'chunks']) {
            const source = (bytes) => (how === 'buffer' ? bytes : pieces(bytes, [17]));
            await importDb(kind, '/wal-in.db', source(plain));
            let db = await open(kind, { filename: '/wal-in.db' });
            result[`plain, ${how}`] = [db.selectValue('SELECT a FROM t'), db.selectValue('PRAGMA journal_mode')];
            db.close();
            await importDb(kind, '/wal-in.db', source(sealed));
            db = await open(kind, { filename: '/wal-in.db', key });
            db.exec('PRAGMA locking_mode=exclusive');
            result[`encrypted, ${how}`] = [db.selectValue('SELECT a FROM t'), db.selectValue('PRAGMA journal_mode')];
            db.close();
          }
          return result;
        },
        kind,
        KEY,
      );
      expect(result).toEqual({
        input: [2, 2, 2, 2],
        'plain, buffer': [1, 'delete'],
        'encrypted, buffer': [1, 'wal'],
        'plain, chunks': [1, 'delete'],
        'encrypted, chunks': [1, 'wal'],
      });
    });

    test('a journal of the database that an import replaces is not played back into the new one', async ({ page }) => {
      const writer = await startWorker(page);
      await writer.run(
        async ({ open }, kind) => {
          const db = await open(kind, { filename: '/stale.db' });
          db.exec('CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(30000); PRAGMA cache_size=2; BEGIN; UPDATE t SET a=zeroblob(60000)');
        },
        kind,
      );
      await writer.terminate();
      const worker = await startWorker(page);
      const result = await worker.run(async ({ importDb, open }, kind) => {
        const bytes = new Uint8Array(await (await fetch('/test/fixtures/plain-default.db')).arrayBuffer());
        for (let done = false; !done; ) {
          try {
            await importDb(kind, '/stale.db', bytes);
            done = true;
          } catch (error) {
            if (error.resultCode !== 5) throw error;
            await new Promise((resolve) => setTimeout(resolve, 50)); // the killed worker's handles are still being closed
          }
        }
        const db = await open(kind, { filename: '/stale.db' });
        const check = db.selectValue('PRAGMA integrity_check');
        const pages = db.selectValue('PRAGMA page_count') * db.selectValue('PRAGMA page_size');
        db.close();
        return [check, pages === bytes.length];
      }, kind);
      expect(result).toEqual(['ok', true]);
    });

    test('a database that is in use cannot be replaced by an import, and its transaction goes on', async ({ page }) => {
      const worker = await startWorker(page);
      const result = await worker.run(
        async ({ open, importDb, pieces, codeOf, exportDb }, kind, key) => {
          const bytes = new Uint8Array(await (await fetch('/test/fixtures/plain-default.db')).arrayBuffer());
          const db = await open(kind, { filename: '/used.db', key });
          db.exec("CREATE TABLE t(a); INSERT INTO t SELECT 'old' || hex(zeroblob(20000)); PRAGMA cache_size=2");
          const result = { codes: [] };
          for (const end of ['ROLLBACK', 'COMMIT']) {
            db.exec("BEGIN; UPDATE t SET a='new' || hex(zeroblob(30000))"); // more than the cache holds: there is a journal
            await new Promise((resolve) => setTimeout(resolve, 500)); // opfs lets go of a journal that it does not use
            result.codes.push(await codeOf(() => importDb(kind, '/used.db', bytes)), await codeOf(() => importDb(kind, '/used.db', pieces(bytes, [9999]))));
            db.exec(end);
            result[end] = [db.selectValue('SELECT substr(a,1,3) FROM t'), db.selectValue('PRAGMA integrity_check')];
          }
          db.close();
          await importDb(kind, '/used.db', bytes);
          result.end = (await exportDb(kind, '/used.db')).length === bytes.length;
          return result;
        },
        kind,
        KEY,
      );
      const BUSY = 5;
      expect(result).toEqual({ codes: [BUSY, BUSY, BUSY, BUSY], ROLLBACK: ['old', 'ok'], COMMIT: ['new', 'ok'], end: true });
    });
  });
}
