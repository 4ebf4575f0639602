/*
** Journals and WAL of encrypted files in ordinary use: several connections, checkpoints, hot files
** copied elsewhere, settings that change how SQLite reads and writes.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 100, REPEAT = 15 };

static void checkOpens(const char *file, const Scheme *s, const char *key, int rows) {
    sqlite3 *db = dbOpenKeyed(file, s, key);
    CHECK_ROWS(db, rows, REPEAT, "a");
    dbClose(db);
}

static void walReopened(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_TEXT(dbText(db, "PRAGMA journal_mode=WAL"), "wal");
    rowsCreate(db);
    rowsInsert(db, 1, 50, REPEAT, "a");
    dbClose(db);
    CHECK_INT(fileSize(textf("%s-wal", file)), -1);
    db = dbOpenKeyed(file, s, s->key);
    CHECK_ROWS(db, 50, REPEAT, "a");
    CHECK_TEXT(dbText(db, "PRAGMA journal_mode"), "wal");
    rowsInsert(db, 51, ROWS, REPEAT, "a");
    CHECK_TEXT(dbText(db, "PRAGMA journal_mode=DELETE"), "delete");
    rowsInsert(db, ROWS, ROWS, REPEAT, "a");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    checkOpens(file, s, s->key, ROWS);
}

static void hotWalElsewhere(const Scheme *s) {
    for (int legacy = 0; legacy < 2; legacy++) {
        testContext("mc_legacy_wal %d", legacy);
        const char *file = path(textf("%d.db", legacy)), *copy = path(textf("copy%d.db", legacy));
        sqlite3 *db = dbOpen(file);
        dbMust(db, "PRAGMA mc_legacy_wal=%d", legacy);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
        rowsCreate(db);
        rowsInsert(db, 1, 40, REPEAT, "a");
        dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE)");
        rowsInsert(db, 41, ROWS, REPEAT, "a");
        dbMust(db, "BEGIN");
        rowsInsert(db, 1, 10, REPEAT, "uncommitted");
        dbFilesCopy(file, copy);
        dbMust(db, "ROLLBACK");
        CHECK(!fileHas(textf("%s-wal", copy), MARKER, 16));
        dbClose(db);

        db = dbOpen(copy);
        dbMust(db, "PRAGMA mc_legacy_wal=%d", legacy);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(copy, s, s->key, ROWS);
    }
}

static void hotJournalElsewhere(const Scheme *s) {
    const char *file = path("a.db"), *copy = path("copy.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbMust(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(300)");
    dbFilesCopy(file, copy);
    CHECK(fileSize(textf("%s-journal", copy)) > 1024);
    dbMust(db, "ROLLBACK");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    checkOpens(copy, s, s->key, ROWS);
    CHECK_INT(fileSize(textf("%s-journal", copy)), -1);
}

static void severalConnectionsInWal(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *writer = dbOpenKeyed(file, s, s->key);
    dbMust(writer, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
    rowsCreate(writer);
    rowsInsert(writer, 1, 20, REPEAT, "a");
    sqlite3 *reader = dbOpenKeyed(file, s, s->key), *wrong = dbOpenKeyed(file, s, s->other);
    dbMust(reader, "BEGIN");
    CHECK_INT(dbInt(reader, "SELECT count(*) FROM t"), 20);
    for (int i = 0; i < 8; i++) {
        static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};
        rowsInsert(writer, 21 + 10 * i, 30 + 10 * i, REPEAT, "a");
        CHECK_INT(dbInt(reader, "SELECT count(*) FROM t"), 20);
        CHECK_INT(dbExec(wrong, "SELECT count(*) FROM t"), SQLITE_NOTADB);
        dbMust(writer, "PRAGMA wal_checkpoint(%s)", modes[i % 4]);
        dbExec(wrong, "PRAGMA wal_checkpoint(%s)", modes[i % 4]);
    }
    dbMust(reader, "COMMIT");
    CHECK_ROWS(reader, ROWS, REPEAT, "a");
    rowsInsert(reader, ROWS, ROWS, REPEAT, "a");
    dbMust(reader, "PRAGMA wal_checkpoint(TRUNCATE)");
    rowsInsert(writer, 1, 5, REPEAT, "a");
    CHECK_INT(dbExec(wrong, "SELECT count(*) FROM t"), SQLITE_NOTADB);
    /* the wrong one is the last to close: it must not checkpoint */
    dbClose(writer);
    dbClose(reader);
    dbClose(wrong);
    checkOpens(file, s, s->key, ROWS);
}

static void severalConnectionsWithJournal(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *one = dbOpenKeyed(file, s, s->key), *two;
    rowsCreate(one);
    two = dbOpenKeyed(file, s, s->key);
    for (int i = 0; i < 10; i++) {
        rowsInsert(i % 2 ? two : one, 10 * i + 1, 10 * i + 10, REPEAT, "a");
        CHECK_INT(dbInt(i % 2 ? one : two, "SELECT count(*) FROM t"), 10 * i + 10);
    }
    dbMust(one, "BEGIN IMMEDIATE");
    CHECK_INT(dbExec(two, "BEGIN IMMEDIATE"), SQLITE_BUSY);
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    dbMust(one, "COMMIT; VACUUM");
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    dbClose(one);
    dbClose(two);
}

/* The cache of a connection stays valid while nobody writes: page 1 is not decrypted at every lock. */
static void exclusiveLocking(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"};
    for (int i = 0; i < 6; i++) {
        testContext("%s", modes[i]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=%s; PRAGMA cache_size=5", modes[i]);
        rowsCreate(db);
        rowsInsert(db, 1, 50, REPEAT, "a");
        if (i != 4) {
            dbMust(db, "BEGIN; DELETE FROM t; ROLLBACK");
        }
        rowsInsert(db, 51, ROWS, REPEAT, "a");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, s, s->key, ROWS);
    }
}

static void savepointsAndRollbacks(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL", "MEMORY"};
    for (int i = 0; i < 3; i++) {
        testContext("%s", modes[i]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s; PRAGMA cache_size=5", modes[i]);
        rowsCreate(db);
        rowsInsert(db, 1, 60, REPEAT, "a");
        dbMust(db, "BEGIN");
        rowsInsert(db, 61, 80, REPEAT, "a");
        dbMust(db, "SAVEPOINT one; UPDATE t SET data = zeroblob(500)");
        dbMust(db, "SAVEPOINT two; DELETE FROM t WHERE id %% 2; CREATE TABLE u AS SELECT * FROM t");
        dbMust(db, "ROLLBACK TO two; DROP TABLE IF EXISTS u; UPDATE t SET name = 'x'; ROLLBACK TO one; RELEASE one");
        rowsInsert(db, 81, ROWS, REPEAT, "a");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbMust(db, "COMMIT");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbMust(db, "BEGIN; UPDATE t SET data = zeroblob(3000); DROP TABLE t; ROLLBACK");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        /* a statement that fails in the middle takes itself back */
        CHECK_INT(dbExec(db, "UPDATE t SET id = CASE WHEN id < 50 THEN id + 1000 ELSE 7 END"), SQLITE_CONSTRAINT);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, s, s->key, ROWS);
    }
}

/* C28: each of the settings before the key, after it, or not at all. */
static void orderOfPragmas(const Scheme *s) {
    sqlite3 *memory = dbOpen(":memory:");
    int unset = (int)dbInt(memory, "PRAGMA page_size");
    dbClose(memory);
    for (int mask = 0; mask < 64; mask++) {
        testContext("case %d", mask);
        const char *file = path(textf("%d.db", mask));
        const char *before = "", *after = "";
        static const char *const pragmas[] = {"PRAGMA page_size=1024;", "PRAGMA mmap_size=268435456;",
                                              "PRAGMA cache_size=5;"};
        for (int i = 0; i < 3; i++) {
            before = mask & (1 << (2 * i)) ? textf("%s%s", before, pragmas[i]) : before;
            after = mask & (2 << (2 * i)) ? textf("%s%s", after, pragmas[i]) : after;
        }
        sqlite3 *db = dbOpen(file);
        dbMust(db, "%s", before);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "%s", after);
        dbMust(db, "PRAGMA journal_mode=%s", mask % 3 ? "WAL" : "DELETE");
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbClose(db);
        db = dbOpen(file);
        dbExec(db, "%s", after); /* cache_size needs the schema, and with it the key */
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "%s", before);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        CHECK_INT(dbInt(db, "PRAGMA page_size"), mask & 3 ? 1024 : unset);
        dbClose(db);
    }
}

/* C29: memory-mapped I/O would read around the codec. */
static void mappedReads(const Scheme *s) {
    static const int sizes[] = {0, 8192, 8448, 100000, 268435456};
    spyRegister();
    for (int i = 0; i < 5; i++) {
        testContext("mmap_size %d", sizes[i]);
        spyReset();
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        dbMust(db, "PRAGMA mmap_size=%d", sizes[i]);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA mmap_size=%d", sizes[i]);
        rowsCreate(db);
        rowsInsert(db, 1, 5, 3900, "big"); /* 78,000 bytes each */
        dbMust(db, "PRAGMA cache_size=1");
        CHECK_ROWS(db, 5, 3900, "big");
        sqlite3_blob *blob = 0;
        char bytes[16];
        CHECK_OK(db, sqlite3_blob_open(db, "main", "t", "data", 3, 1, &blob));
        CHECK_OK(db, sqlite3_blob_read(blob, bytes, 16, 60000));
        CHECK_OK(db, sqlite3_blob_write(blob, "3:big:", 6, 0));
        sqlite3_blob_close(blob);
        dbClose(db);
        db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
        dbMust(db, "PRAGMA mmap_size=%d", sizes[i]);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        CHECK_ROWS(db, 5, 3900, "big");
        dbClose(db);
        CHECK_INT(spyCount(SPY_FETCH, SPY_ANY), 0);
    }
    spyReset();
}

/* C30: who may only read cannot play a hot journal back, and must not remove it. */
static void readOnlyBesideHotJournal(const Scheme *s) {
    const char *file = path("a.db"), *copy = path("copy.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbMust(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(300)");
    dbFilesCopy(file, copy);
    dbMust(db, "ROLLBACK");
    dbClose(db);

    uint64_t main = fileHash(copy), journal = fileHash(textf("%s-journal", copy));
    static const char *const whose[] = {"right", "wrong", "no"};
    for (int i = 0; i < 3; i++) {
        testContext("%s key", whose[i]);
        db = dbOpenWith(copy, SQLITE_OPEN_READONLY, shimVfs());
        CHECK_OK(db, dbSetup(db, s));
        if (i < 2) {
            CHECK_OK(db, dbKey(db, i ? s->other : s->key));
        }
        int rc = dbExec(db, "SELECT * FROM t");
        CHECK_MSG(i == 0 ? rc == SQLITE_READONLY : rc == SQLITE_NOTADB || rc == SQLITE_READONLY, "error %d (%s)", rc,
                  sqlite3_errmsg(db));
        if (i == 0) {
            CHECK_INT(sqlite3_extended_errcode(db), SQLITE_READONLY_ROLLBACK);
        }
        dbClose(db);
        CHECK(fileHash(copy) == main);
        CHECK(fileHash(textf("%s-journal", copy)) == journal);
    }
    testContext(0);
    checkOpens(copy, s, s->key, ROWS);
}

static void readOnlyFiles(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    uint64_t before = fileHash(file);
    for (int i = 0; i < 3; i++) {
        db = i == 0 ? dbOpenWith(file, SQLITE_OPEN_READONLY, shimVfs())
                    : dbOpen(uri(file, i == 1 ? "immutable=1" : "mode=ro"));
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        CHECK_INT(dbExec(db, "DELETE FROM t"), SQLITE_READONLY);
        dbClose(db);
    }
    CHECK(fileHash(file) == before);
}

/* A page that is split at a sync point of the WAL is sealed as one (synchronous FULL pads frames to a
** sector, and the write of a frame may end in the middle). */
static void walWithSyncPoints(const Scheme *s) {
    spyRegister();
    static const int sectors[] = {512, 4096, 65536};
    for (int i = 0; i < 3; i++) {
        testContext("sector size %d", sectors[i]);
        spyReset();
        spyDevice(sectors[i], 0);
        const char *file = path(textf("%d.db", i)), *copy = path(textf("copy%d.db", i));
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
        spyScan(MARKER, 16);
        rowsCreate(db);
        for (int r = 1; r <= 30; r++) {
            rowsInsert(db, r, r, REPEAT, "a");
        }
        dbFilesCopy(file, copy);
        CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
        CHECK_ROWS(db, 30, REPEAT, "a");
        dbClose(db);
        checkOpens(copy, s, s->key, 30);
        checkOpens(file, s, s->key, 30);
    }
    spyReset();
}

/* Whoever can write to the file while it is open can make a frame's header say anything. Schemes without
** tags cannot tell. */
static void swappedFrames(const Scheme *s) {
    const char *file = path("a.db");
    const char *wal = textf("%s-wal", file);
    enum { PAGE = 1024, FRAME = PAGE + 24 };
    unsigned char a[FRAME], b[FRAME];
    sqlite3_int64 offset[4] = {0};
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA cache_size=1");
    dbMust(db, "CREATE TABLE t2(x); CREATE TABLE t3(x); PRAGMA wal_checkpoint(TRUNCATE)");
    dbMust(db, "INSERT INTO t2 VALUES('two'); INSERT INTO t3 VALUES('three')");
    for (sqlite3_int64 at = 32; fileRead(wal, at, a, FRAME) == FRAME; at += FRAME) {
        if (a[3] < 4) {
            offset[a[3]] = at;
        }
    }
    CHECK(offset[2] && offset[3]);
    fileRead(wal, offset[2], a, FRAME);
    fileRead(wal, offset[3], b, FRAME);
    fileWrite(wal, offset[2], b, FRAME);
    fileWrite(wal, offset[3], a, FRAME);
    dbMust(db, "PRAGMA shrink_memory");
    CHECK_INT(dbExec(db, "SELECT * FROM t2"), SQLITE_CORRUPT);
    CHECK_INT(dbExec(db, "PRAGMA wal_checkpoint"), SQLITE_CORRUPT);
    fileWrite(wal, offset[2], a, FRAME);
    fileWrite(wal, offset[3], b, FRAME);
    CHECK_TEXT(dbText(db, "SELECT x FROM t2"), "two");
    dbClose(db);
}

/* A VFS of a program that hands everything on to the shim over the real one. */
static int overOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xOpen(under, name, file, flags, outFlags);
}

static int overDelete(sqlite3_vfs *vfs, const char *name, int sync) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xDelete(under, name, sync);
}

static int overAccess(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xAccess(under, name, flags, result);
}

static int overFullPathname(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xFullPathname(under, name, size, out);
}

static int overRandomness(sqlite3_vfs *vfs, int size, char *out) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xRandomness(under, size, out);
}

static int overSleep(sqlite3_vfs *vfs, int microseconds) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xSleep(under, microseconds);
}

static int overCurrentTime(sqlite3_vfs *vfs, double *now) {
    sqlite3_vfs *under = vfs->pAppData;
    return under->xCurrentTime(under, now);
}

typedef int (*VfsOpen)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static sqlite3_vfs vfsOverShim(const char *name, VfsOpen open) {
    sqlite3_vfs *under = sqlite3_vfs_find(shimVfs());
    sqlite3_vfs over = {.iVersion = 1,
                        .szOsFile = under->szOsFile,
                        .mxPathname = under->mxPathname,
                        .zName = name,
                        .pAppData = under,
                        .xOpen = open,
                        .xDelete = overDelete,
                        .xAccess = overAccess,
                        .xFullPathname = overFullPathname,
                        .xRandomness = overRandomness,
                        .xSleep = overSleep,
                        .xCurrentTime = overCurrentTime};
    return over;
}

/* One that keeps main files from the shim and hands on the others. */
static int mainlessOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags) {
    sqlite3_vfs *under = flags & SQLITE_OPEN_MAIN_DB ? sqlite3_vfs_find(realVfs()) : vfs->pAppData;
    return under->xOpen(under, name, file, flags, outFlags);
}

/* Plain databases of such a VFS work, hot journals and WALs included, and take no key. */
static void mainFileIsAnothers(void) {
    sqlite3_vfs over = vfsOverShim("mainless", mainlessOpen);
    CHECK_OK(0, sqlite3_vfs_register(&over, 0));
    const char *file = path("a.db"), *journal = path("journal.db"), *wal = path("wal.db");
    sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "mainless");
    CHECK_INT(dbKey(db, "k"), SQLITE_ERROR);
    dbMust(db, "PRAGMA page_size=512; PRAGMA cache_size=1; PRAGMA locking_mode=EXCLUSIVE");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbMust(db, "BEGIN; UPDATE t SET name = 'b'");
    dbFilesCopy(file, journal);
    dbMust(db, "ROLLBACK; PRAGMA journal_mode=WAL");
    rowsInsert(db, ROWS + 1, 2 * ROWS, REPEAT, "a");
    dbFilesCopy(file, wal);
    dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK_ROWS(db, 2 * ROWS, REPEAT, "a");
    dbClose(db);
    for (int i = 0; i < 2; i++) {
        db = dbOpenWith(i ? wal : journal, SQLITE_OPEN_READWRITE, "mainless");
        dbMust(db, "PRAGMA locking_mode=EXCLUSIVE");
        CHECK_ROWS(db, i ? 2 * ROWS : ROWS, REPEAT, "a");
        dbClose(db);
    }
    CHECK_OK(0, sqlite3_vfs_unregister(&over));
}

/* A shim over a VFS over a shim: each file is encrypted once, and opens by one shim. And under that VFS alone,
** nothing of an encrypted database is plain. */
static void shimOverAShim(const Scheme *s) {
    sqlite3_vfs over = vfsOverShim("over", overOpen);
    CHECK_OK(0, sqlite3_vfs_register(&over, 0));
    CHECK_OK(0, sqlite3mc_vfs_create("over", 0));
    static const char *const names[] = {"multipleciphers-over", "over"};
    for (int i = 0; i < 2; i++) {
        const char *file = path(textf("%d.db", i)), *journal = path(textf("%d-journal.db", i));
        const char *wal = path(textf("%d-wal.db", i));
        testContext("%s", names[i]);
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, names[i]);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA page_size=512; PRAGMA cache_size=1; PRAGMA locking_mode=EXCLUSIVE");
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbMust(db, "BEGIN; UPDATE t SET name = 'b'");
        dbFilesCopy(file, journal);
        dbMust(db, "ROLLBACK; PRAGMA journal_mode=WAL");
        rowsInsert(db, ROWS + 1, 2 * ROWS, REPEAT, "a");
        dbFilesCopy(file, wal);
        CHECK_ROWS(db, 2 * ROWS, REPEAT, "a");
        dbClose(db);
        CHECK(!fileHas(textf("%s-journal", journal), MARKER, 16));
        CHECK(!fileHas(textf("%s-wal", wal), MARKER, 16));
        checkOpens(journal, s, s->key, ROWS);
        checkOpens(wal, s, s->key, 2 * ROWS);
        checkOpens(file, s, s->key, 2 * ROWS);
    }
    CHECK_OK(0, sqlite3_vfs_unregister(&over));
    sqlite3mc_vfs_destroy("multipleciphers-over");
}

static const Test tests[] = {
    TEST_SCHEME("C24 WAL: insert, close, reopen, back to DELETE", walReopened),
    TEST_SCHEME("C25 a hot WAL opens elsewhere, mc_legacy_wal too", hotWalElsewhere),
    TEST_SCHEME("C25 a hot journal opens elsewhere", hotJournalElsewhere),
    TEST_SCHEME("several connections in WAL mode, one with a wrong key", severalConnectionsInWal),
    TEST_SCHEME("several connections with a journal", severalConnectionsWithJournal),
    TEST_SCHEME("exclusive locking in every journal mode", exclusiveLocking),
    TEST_SCHEME("savepoints and rollbacks that spill", savepointsAndRollbacks),
    TEST_SCHEME("C28 page_size, mmap_size, cache_size before and after the key", orderOfPragmas),
    TEST_SCHEME("C29 mmap_size is ignored for encrypted files", mappedReads),
    TEST_SCHEME("C30 a reader beside a hot journal leaves it, a writer recovers", readOnlyBesideHotJournal),
    TEST_SCHEME("read-only and immutable files", readOnlyFiles),
    TEST_SCHEME("WAL frames that are split at a sync point", walWithSyncPoints),
    TEST_SCHEME("a shim over a VFS over a shim encrypts once", shimOverAShim),
    TEST("a VFS that keeps main files from the shim", mainFileIsAnothers),
    TEST_TAGGED("a frame of the WAL does not stand for another page", swappedFrames),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
