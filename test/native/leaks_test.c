/*
** I1: no plaintext of an encrypted database reaches the real VFS, in any file, whatever SQLite does.
** I4: no nonce is used twice, over main file, journal and WAL.
**
** The spy looks into every write. Its markers are rows, schema texts and index entries.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200, REPEAT = 12 };

static sqlite3 *openSpy(const char *name, const Scheme *s, const char *key) {
    sqlite3 *db = dbOpenWith(path(name), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, SPY_VFS);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbKey(db, key));
    return db;
}

/* Everything that makes SQLite write: each line is one statement or a group of them. */
static const char *const work[] = {
    "CREATE TABLE u(id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX plaintext_marker_index ON u(v)",
    "INSERT INTO u SELECT id, name || '" MARKER "' FROM t",
    "CREATE INDEX j ON t(name)",
    "BEGIN; UPDATE t SET data = data || '" MARKER "'; UPDATE t SET name = name || 'x'; ROLLBACK",
    "BEGIN; UPDATE t SET data = data || 'y'; UPDATE t SET data = substr(data, 1, length(data) - 1); COMMIT",
    "SAVEPOINT a; UPDATE u SET v = v || 'z'; SAVEPOINT b; DELETE FROM u; ROLLBACK TO b; RELEASE a",
    /* the statement journal: a statement that fails after it has changed many pages */
    "BEGIN; UPDATE OR FAIL u SET id = CASE WHEN id < 150 THEN id + 1000 ELSE 7 END; ROLLBACK",
    "BEGIN; UPDATE OR ABORT u SET id = CASE WHEN id < 150 THEN id + 1000 ELSE 7 END; ROLLBACK",
    /* temporary tables, the sorter, materialized views and their files */
    "CREATE TEMP TABLE tt AS SELECT * FROM t; UPDATE tt SET data = data || name; CREATE INDEX temp.ti ON tt(data)",
    "CREATE TABLE s AS SELECT a.data AS d FROM t AS a, (SELECT 1 UNION ALL SELECT 2) ORDER BY a.data || a.id, random()",
    "CREATE TABLE w AS SELECT DISTINCT data, row_number() OVER (ORDER BY data DESC) AS r FROM t GROUP BY data, name",
    "DROP TABLE s; DROP TABLE w",
    "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f SELECT name || ' " MARKER "' FROM t",
    "INSERT INTO f(f) VALUES('optimize')",
    "CREATE TABLE big(b); INSERT INTO big SELECT zeroblob(100000)",
    "UPDATE big SET b = CAST(replace(hex(zeroblob(5000)), '00', '" MARKER "') AS BLOB)",
    "DELETE FROM t WHERE id % 3 = 0",
    "PRAGMA incremental_vacuum(3)",
    "VACUUM",
    "PRAGMA wal_checkpoint(PASSIVE); UPDATE u SET v = v; PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA user_version=5; ANALYZE; REINDEX",
    "ALTER TABLE u ADD COLUMN c DEFAULT '" MARKER "'; ALTER TABLE u RENAME TO "
    "plaintext_marker_table",
    "DROP TABLE plaintext_marker_table",
};

/* Some statements are meant to fail; all others must not. */
static int meantToFail(const char *sql) {
    return strstr(sql, "UPDATE OR ") != 0;
}

static void checkNoLeak(const char *what) {
    CHECK_MSG(spyLeaks() == 0, "plaintext in %s (%s)", spyLeakPlace(), what);
    spyScan(MARKER, 16);
}

static void everyKindOfWork(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "TRUNCATE", "PERSIST", "WAL", "MEMORY", "OFF"};
    spyRegister();
    for (int m = 0; m < 6; m++) {
        spyReset();
        spyDevice(m % 2 ? 4096 : 512, m % 3 ? 0 : -1);
        spyScan(MARKER, 16);
        sqlite3 *db = openSpy(textf("%d.db", m), s, s->key);
        dbMust(db,
               "PRAGMA page_size=1024; PRAGMA auto_vacuum=%d; PRAGMA cache_size=5; PRAGMA temp_store=FILE;"
               "PRAGMA journal_mode=%s",
               m % 3, modes[m]);
        testContext("journal_mode %s, create", modes[m]);
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        checkNoLeak("rows");
        for (size_t i = 0; i < sizeof work / sizeof work[0]; i++) {
            if (m == 5 && (strstr(work[i], "ROLLBACK") || strstr(work[i], "UPDATE OR"))) {
                continue; /* without a journal there is no way back */
            }
            testContext("journal_mode %s", modes[m]);
            int rc = dbExec(db, "%s", work[i]);
            if (meantToFail(work[i])) {
                CHECK_INT(rc, SQLITE_CONSTRAINT);
                dbExec(db, "ROLLBACK");
            } else {
                CHECK_MSG(rc == SQLITE_OK, "%s: %s", work[i], sqlite3_errmsg(db));
            }
            checkNoLeak(work[i]);
        }
        CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->other));
        checkNoLeak("rekey");
        dbMust(db, "UPDATE t SET name = name");
        dbClose(db);
        checkNoLeak("close");
        CHECK(spyCount(SPY_WRITE, SPY_TEMP) > 0);
        CHECK(!fileHas(path(textf("%d.db", m)), MARKER, 16));
    }
    spyReset();
}

/* The spy does see plaintext when there is some: the same work without a key. */
static void theSpySees(void) {
    spyRegister();
    spyReset();
    spyScan(MARKER, 16);
    sqlite3 *db = dbOpenWith(path("plain.db"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    CHECK(spyLeaks() > 5);
    CHECK_HAS(spyLeakPlace(), "main file");
    dbMust(db, "UPDATE t SET name = 'x'");
    dbClose(db);
    spyReset();
}

static void attachedAndCopied(const Scheme *s) {
    spyRegister();
    spyReset();
    spyScan(MARKER, 16);
    sqlite3 *db = openSpy("a.db", s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbMust(db, "ATTACH %Q AS b", path("b.db")); /* inherits the key */
    dbMust(db,
           "CREATE TABLE b.t AS SELECT * FROM t; BEGIN; UPDATE t SET name = 'x'; UPDATE b.t SET name = 'y'; COMMIT");
    checkNoLeak("attached");
    dbMust(db, "VACUUM b; VACUUM INTO %Q", path("c.db"));
    checkNoLeak("VACUUM INTO");
    sqlite3 *to = openSpy("d.db", s, s->other);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", db, "main");
    if (CHECK_MSG(backup != 0, "%s", sqlite3_errmsg(to))) {
        while (sqlite3_backup_step(backup, 3) == SQLITE_OK) {
        }
        CHECK_OK(to, sqlite3_backup_finish(backup));
    }
    checkNoLeak("backup");
    dbClose(to);
    dbClose(db);
    checkNoLeak("close");
    static const char *const names[] = {"a.db", "b.db", "c.db", "d.db"};
    for (int i = 0; i < 4; i++) {
        CHECK_MSG(fileSize(path(names[i])) > 1024 && !fileHas(path(names[i]), MARKER, 16), "%s", names[i]);
    }
    spyReset();
}

/* ---- C67 -------------------------------------------------------------------------------------------- */

typedef struct Rewrites {
    sqlite3_int64 last; /* end of the WAL so far */
    int count;          /* writes of whole pages before it */
} Rewrites;

static void countRewrites(void *context, int file, const unsigned char *data, int n, sqlite3_int64 offset) {
    Rewrites *r = context;
    (void)data;
    if (file == SPY_WAL && n == 1024) {
        r->count += offset < r->last;
        if (offset + n > r->last) {
            r->last = offset + n;
        }
    }
}

static void spilledTwice(const Scheme *s) {
    spyRegister();
    for (int legacy = 0; legacy < 2; legacy++) {
        testContext("mc_legacy_wal %d", legacy);
        spyReset();
        const char *name = textf("%d.db", legacy), *copy = path(textf("copy%d.db", legacy));
        sqlite3 *db = dbOpenWith(path(name), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        CHECK_OK(db, dbSetup(db, s));
        dbMust(db, "PRAGMA mc_legacy_wal=%d", legacy);
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5");
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "old");
        dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE)");
        Rewrites rewrites = {0, 0};
        spyWatch(countRewrites, &rewrites);
        spyScan(MARKER, 16);
        dbMust(db, "BEGIN");
        rowsInsert(db, 1, ROWS, REPEAT, "one");
        rowsInsert(db, 1, ROWS, REPEAT, "two");
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbMust(db, "COMMIT");
        CHECK_MSG(rewrites.count > 5, "%d frames were rewritten in place", rewrites.count);
        checkNoLeak("pages spilled twice");
        dbFilesCopy(path(name), copy);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        db = dbOpen(copy);
        CHECK_OK(db, dbSetup(db, s));
        dbMust(db, "PRAGMA mc_legacy_wal=%d", legacy);
        CHECK_OK(db, dbKey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
    }
    spyReset();
}

/* ---- I4 --------------------------------------------------------------------------------------------- */

typedef struct Nonces {
    const Scheme *scheme;
    int pageSize;
    int lastLength;
    unsigned char *pages; /* nonce, then a fingerprint of the page: 40 bytes each */
    int count, space;
} Nonces;

enum { ENTRY = 40 };

static void collectNonce(void *context, int file, const unsigned char *data, int n, sqlite3_int64 offset) {
    Nonces *g = context;
    int isPage = file == SPY_MAIN      ? n == g->pageSize && offset % g->pageSize == 0
                 : file == SPY_JOURNAL ? n == g->pageSize && g->lastLength == 4
                                       : n == g->pageSize;
    g->lastLength = n;
    if (!isPage) {
        return;
    }
    if (g->count == g->space) {
        g->space = 2 * g->space + 1000;
        g->pages = realloc(g->pages, (size_t)g->space * ENTRY);
        if (!g->pages) {
            fprintf(stderr, "out of memory\n");
            exit(2);
        }
    }
    unsigned char *entry = g->pages + (size_t)g->count++ * ENTRY;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++) {
        hash = (hash ^ data[i]) * 0x100000001b3u;
    }
    memset(entry, 0, ENTRY);
    memcpy(entry, data + n - g->scheme->nonceFromEnd, (size_t)g->scheme->nonceLength);
    memcpy(entry + 32, &hash, 8);
}

static int compareEntries(const void *a, const void *b) {
    return memcmp(a, b, ENTRY);
}

/* Whole transactions, spills, rollbacks, checkpoints: every page that is sealed has a nonce of its own.
** The same sealed bytes may be written again, as long as they are the same in every bit. */
static void noncesAreNew(const Scheme *s) {
    if (!s->nonceLength) {
        return;
    }
    spyRegister();
    spyReset();
    Nonces nonces = {s, 1024, 0, 0, 0, 0};
    spyWatch(collectNonce, &nonces);
    for (int m = 0; m < 2; m++) {
        sqlite3 *db = openSpy(textf("%d.db", m), s, s->key);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA cache_size=5; PRAGMA journal_mode=%s", m ? "WAL" : "DELETE");
        rowsCreate(db);
        for (int i = 0; i < 5; i++) {
            rowsInsert(db, 1, ROWS, REPEAT, textf("%d", i));
            dbMust(db, "BEGIN; UPDATE t SET name = 'x'; UPDATE t SET name = 'y'; ROLLBACK");
            dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE)");
        }
        dbMust(db, "VACUUM");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->other));
        dbClose(db);
    }
    qsort(nonces.pages, (size_t)nonces.count, ENTRY, compareEntries);
    CHECK_MSG(nonces.count > 2000, "%d pages seen", nonces.count);
    int twice = 0;
    for (int i = 1; i < nonces.count; i++) {
        const unsigned char *a = nonces.pages + (size_t)(i - 1) * ENTRY, *b = a + ENTRY;
        twice += !memcmp(a, b, 32) && memcmp(a + 32, b + 32, 8) != 0;
    }
    CHECK_INT(twice, 0);
    free(nonces.pages);
    spyReset();
}

/* I1 after failures: with an error at any call, what is written is still sealed. */
static void noLeakBesideErrors(const Scheme *s) {
    static const SpyFault faults[] = {SPY_IOERR, SPY_FULL, SPY_SHORT, SPY_KILL_TORN};
    spyRegister();
    for (int m = 0; m < 2; m++) {
        const char *original = path("original.db"), *file = path("work.db");
        dbFilesRemove(original);
        sqlite3 *db = dbOpenKeyed(original, s, s->key);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", m ? "WAL" : "DELETE");
        rowsCreate(db);
        rowsInsert(db, 1, 40, REPEAT, "a");
        dbClose(db);
        for (int f = 0; f < 4; f++) {
            int going = 1;
            for (int n = 1; going && !testFailed(); n += 1 + n / 20) {
                testContext("%s, fault %d, call %d", m ? "WAL" : "DELETE", f, n);
                dbFilesCopy(original, file);
                spyReset();
                spyScan(MARKER, 16);
                db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
                CHECK_OK(db, dbSetup(db, s));
                CHECK_OK(db, dbKey(db, s->key));
                dbMust(db, "PRAGMA cache_size=5");
                spyFaultAt(faults[f], SPY_MUTATING, SPY_ANY, n);
                dbExec(db, "BEGIN; UPDATE t SET data = data || '" MARKER "'; COMMIT; VACUUM; PRAGMA wal_checkpoint");
                dbExec(db, "ROLLBACK");
                dbExec(db, "UPDATE t SET name = '" MARKER "'");
                going = spyFaulted();
                sqlite3_close_v2(db);
                spyRevive(0);
                checkNoLeak("work with errors");
            }
        }
    }
    spyReset();
}

static const Test tests[] = {
    TEST("the spy sees the plaintext of a plain file", theSpySees),
    TEST_SCHEME("I1 no plaintext in any file in any kind of work", everyKindOfWork),
    TEST_SCHEME("I1 no plaintext in attached files, VACUUM INTO, backup", attachedAndCopied),
    TEST_SCHEME("I1 no plaintext beside errors", noLeakBesideErrors),
    TEST_SCHEME("C67 pages spilled twice in one WAL transaction", spilledTwice),
    TEST_SCHEME("I4 every sealed page has a nonce of its own", noncesAreNew),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
