/*
** Recovery: a hot journal or WAL is played back under the right key and left alone under every other;
** journals of several segments; torn first pages; transactions over several files; a process that
** dies at any call of a transaction, or of the recovery itself.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 100, REPEAT = 15 };

static uint64_t filesHash(const char *db) {
    return fileHash(db) ^ fileHash(textf("%s-journal", db)) * 3 ^ fileHash(textf("%s-wal", db)) * 5;
}

/* Read, write, checkpoint, change the mode and close under `key` (0: none): nothing but NOTADB, and
** no byte of database, journal and WAL changes. */
static void visitInVain(const char *file, const Scheme *s, const char *key, const char *how) {
    uint64_t before = filesHash(file);
    sqlite3 *db = dbOpenKeyed(file, key ? s : 0, key);
    static const char *const tries[] = {
        "SELECT * FROM t", "SELECT * FROM sqlite_schema", "CREATE TABLE u(x)",
        "DELETE FROM t",   "PRAGMA user_version=7",       "BEGIN IMMEDIATE",
        "VACUUM",
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        int rc = dbExec(db, "%s", tries[i]);
        CHECK_MSG(rc == SQLITE_NOTADB, "%s, %s: %d (%s)", how, tries[i], rc, sqlite3_errmsg(db));
    }
    dbExec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    dbExec(db, "PRAGMA journal_mode=DELETE");
    dbExec(db, "PRAGMA journal_mode=WAL");
    dbExec(db, "PRAGMA integrity_check");
    dbClose(db);
    CHECK_MSG(filesHash(file) == before, "%s: the files were changed", how);
}

static void visitsInVain(const char *file, const Scheme *s) {
    visitInVain(file, s, 0, "no key");
    visitInVain(file, s, s->other, "wrong key");
    visitInVain(file, s, 0, "no key again");
}

static void checkOpens(const char *file, const Scheme *s, const char *key, int rows) {
    for (int i = 0; i < 2; i++) {
        sqlite3 *db = dbOpenKeyed(file, s, key);
        CHECK_ROWS(db, rows, REPEAT, "a");
        dbClose(db);
    }
}

/* A database with a hot journal (or, mode WAL, a hot WAL) in `copy`. Committed: ROWS rows of "a". */
static void makeHot(const char *copy, const Scheme *s, const char *mode, const char *pragmas) {
    const char *file = path("origin.db");
    dbFilesRemove(file);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024; %s; PRAGMA journal_mode=%s", pragmas, mode);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS / 2, REPEAT, "a");
    if (!strcmp(mode, "WAL")) {
        dbMust(db, "PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(TRUNCATE)");
    }
    rowsInsert(db, ROWS / 2 + 1, ROWS, REPEAT, "a");
    dbMust(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(3000);"
               "CREATE TABLE u(x)");
    dbFilesCopy(file, copy);
    dbMust(db, "ROLLBACK");
    dbClose(db);
}

static void hotFilesAreLeftAlone(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "PERSIST", "TRUNCATE", "WAL"};
    for (int i = 0; i < 4; i++) {
        testContext("%s", modes[i]);
        const char *file = path(textf("%d.db", i));
        makeHot(file, s, modes[i], "");
        visitsInVain(file, s);
        checkOpens(file, s, s->key, ROWS);
    }
    testContext("auto_vacuum");
    makeHot(path("v.db"), s, "DELETE", "PRAGMA auto_vacuum=FULL");
    visitsInVain(path("v.db"), s);
    checkOpens(path("v.db"), s, s->key, ROWS);
}

/* The whole of a new database is in its WAL: the main file is empty, or has only its first page. */
static void everythingInTheWal(const Scheme *s) {
    const char *file = path("a.db"), *copy = path("copy.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbFilesCopy(file, copy);
    dbClose(db);
    visitsInVain(copy, s);
    checkOpens(copy, s, s->key, ROWS);
}

/* A plain database with a hot journal or WAL: a key must not destroy it. */
static void hotPlainFiles(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL"};
    for (int i = 0; i < 2; i++) {
        testContext("%s", modes[i]);
        const char *file = path("origin.db"), *copy = path(textf("%d.db", i));
        dbFilesRemove(file);
        sqlite3 *db = dbOpen(file);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", modes[i]);
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbMust(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(3000)");
        dbFilesCopy(file, copy);
        dbMust(db, "ROLLBACK");
        dbClose(db);
        uint64_t before = filesHash(copy);
        db = dbOpenKeyed(copy, s, 0);
        dbKey(db, s->key);
        CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
        CHECK_INT(dbExec(db, "CREATE TABLE u(x)"), SQLITE_NOTADB);
        dbExec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
        dbClose(db);
        CHECK(filesHash(copy) == before);
        checkOpens(copy, 0, 0, ROWS);
    }
}

/* ---- C69: page 1 of the main file is damaged, torn or gone, the journal is good ------------------ */

static void damagedFirstPage(const Scheme *s) {
    static const char *const names[] = {"first byte", "header", "middle", "last byte", "first half zero", "all zero"};
    for (int i = 0; i < 6; i++) {
        testContext("%s", names[i]);
        const char *file = path(textf("%d.db", i));
        makeHot(file, s, "DELETE", "");
        static const int offsets[] = {0, 20, 500, 1023};
        static const char zeros[1024];
        if (i < 4) {
            fileFlip(file, offsets[i], 0x10);
        } else {
            fileWrite(file, 0, zeros, i == 4 ? 512 : 1024);
        }
        uint64_t before = filesHash(file);
        sqlite3 *db = dbOpenKeyed(file, s, s->other);
        int rc = dbExec(db, "SELECT * FROM t");
        CHECK_MSG(rc != SQLITE_OK, "the wrong key reads");
        dbClose(db);
        db = dbOpen(file);
        rc = dbExec(db, "SELECT * FROM t");
        CHECK_MSG(rc != SQLITE_OK, "no key reads");
        dbClose(db);
        CHECK_MSG(filesHash(file) == before, "a wrong key changed the files");
        checkOpens(file, s, s->key, ROWS);
    }
}

/* A damaged page image in the journal is an error, not an older or half state that looks fine; and
** the journal stays, so that nothing is lost if it can be mended. */
static void damagedJournal(const Scheme *s) {
    static const int places[] = {0, 7, 500, 824, 1000, 1023};
    const char *hot = path("hot.db"), *file = path("a.db"), *journal = path("a.db-journal");
    unsigned char count[4] = {0};
    makeHot(hot, s, "DELETE", "");
    fileRead(path("hot.db-journal"), 8, count, 4);
    int records = count[2] << 8 | count[3];
    CHECK(records > 0);
    for (int r = 0; r < records; r++) {
        for (int i = 0; i < 6; i++) {
            sqlite3_int64 at = 512 + r * (4 + 1024 + 4) + 4 + places[i];
            testContext("byte %d of record %d", places[i], r);
            dbFilesCopy(hot, file);
            fileFlip(journal, at, 0x20);
            sqlite3 *db = dbOpenKeyed(file, s, s->key);
            int rc = rowsProbe(db, ROWS, REPEAT, "a");
            if (r == 0 && places[i] < 16 && rc == SQLITE_OK) {
                /* a raw key and no tag over the salt: the damage means nothing */
                CHECK(!strcmp(s->name, "ascon128") || !strcmp(s->name, "aegis"));
                dbClose(db);
                checkOpens(file, s, s->key, ROWS);
                continue;
            }
            CHECK_MSG(rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT || rc == SQLITE_IOERR, "result %d", rc);
            dbClose(db);
            if (CHECK_MSG(fileSize(journal) > at, "the journal is gone")) {
                fileFlip(journal, at, 0x20);
                checkOpens(file, s, s->key, ROWS);
            }
        }
    }
}

/* What lies behind the last synced record may be torn: SQLite does not need it. */
static void tornTailOfTheJournal(const Scheme *s) {
    static const int lengths[] = {1, 4, 500, 1032, 5000};
    const char *hot = path("hot.db"), *file = path("a.db");
    makeHot(hot, s, "DELETE", "");
    sqlite3_int64 size;
    const unsigned char *journal = (unsigned char *)fileLoad(path("hot.db-journal"), &size);
    sqlite3_int64 synced = 0;
    for (sqlite3_int64 at = 0; at + 12 < size; at += 512) {
        if (!memcmp(journal + at, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8)) {
            synced = at + 512 + (journal[at + 10] << 8 | journal[at + 11]) * (4 + 1024 + 4);
        }
    }
    CHECK(synced > 0 && synced <= size);
    static unsigned char garbage[5000];
    for (int i = 0; i < 5000; i++) {
        garbage[i] = (unsigned char)(i * 7 + 1);
    }
    for (int i = 0; i < 5; i++) {
        testContext("%d bytes of garbage", lengths[i]);
        dbFilesCopy(hot, file);
        fileTruncate(path("a.db-journal"), synced);
        fileWrite(path("a.db-journal"), synced, garbage, lengths[i]);
        checkOpens(file, s, s->key, ROWS);
    }
}

/* ---- C66: several journal segments --------------------------------------------------------------- */

typedef struct Segments {
    int sector, headers, other, pageSize;
} Segments;

/* A header is at a multiple of the sector size, as long as a sector, and in plaintext. */
static void countHeaders(void *context, int file, const unsigned char *data, int n, sqlite3_int64 offset) {
    Segments *g = context;
    if (file == SPY_JOURNAL && n >= 8 && offset % g->sector == 0 &&
        !memcmp(data, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8)) {
        g->headers++;
    }
}

static void journalOfManySegments(const Scheme *s) {
    static const int sectors[] = {512, 4096}, pages[] = {512, 1024, 4096};
    spyRegister();
    for (int i = 0; i < 12; i++) {
        int sector = sectors[i % 2], page = pages[i / 2 % 3], kill = i / 6;
        if (page < s->minPage) {
            continue;
        }
        testContext("sector %d, page %d, %s", sector, page, kill ? "killed" : "ROLLBACK");
        const char *file = path(textf("%d.db", i));
        spyReset();
        spyDevice(sector, 0);
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA page_size=%d; PRAGMA cache_size=10", page);
        rowsCreate(db);
        rowsInsert(db, 1, 2 * ROWS, page / 30, "a");
        Segments segments = {sector, 0, 0, page};
        spyWatch(countHeaders, &segments);
        spyScan(MARKER, 16);
        dbMust(db, "BEGIN; UPDATE t SET name = 'uncommitted'; UPDATE t SET data = zeroblob(length(data));"
                   "DELETE FROM t WHERE id %% 3 = 0; INSERT INTO t SELECT id + 10000, name, data FROM t");
        CHECK_MSG(segments.headers >= 3, "%d journal headers", segments.headers);
        CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
        if (kill) {
            const char *copy = path(textf("copy%d.db", i));
            dbFilesCopy(file, copy);
            visitsInVain(copy, s);
            sqlite3 *again = dbOpenWith(copy, SQLITE_OPEN_READWRITE, SPY_VFS);
            CHECK_OK(again, dbSetup(again, s));
            CHECK_OK(again, dbKey(again, s->key));
            CHECK_ROWS(again, 2 * ROWS, page / 30, "a");
            dbClose(again);
        }
        dbMust(db, "ROLLBACK");
        CHECK_ROWS(db, 2 * ROWS, page / 30, "a");
        dbClose(db);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_ROWS(db, 2 * ROWS, page / 30, "a");
        dbClose(db);
    }
    spyReset();
}

/* ---- the process dies at any call ------------------------------------------------------------------ */

/* Two files in one transaction, with a super-journal; the second one under this scheme and key, or plain (0, ""). */
static void twoFiles(const Scheme *s, SpyFault fault, const Scheme *scheme, const char *key) {
    spyRegister();
    const char *first = path("one.db"), *second = path("two.db");
    sqlite3 *db = dbOpenKeyed(first, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 20, REPEAT, "a");
    dbClose(db);
    db = dbOpenKeyed(second, scheme, scheme ? key : 0);
    rowsCreate(db);
    rowsInsert(db, 1, 20, REPEAT, "a");
    dbClose(db);
    int going = 1;
    for (int n = 1; going && !testFailed(); n++) {
        testContext("call %d", n);
        const char *a = path("a.db"), *b = path("b.db");
        dbFilesCopy(first, a);
        dbFilesCopy(second, b);
        spyReset();
        db = dbOpenWith(a, SQLITE_OPEN_READWRITE, SPY_VFS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        CHECK_OK(db, dbSetup(db, s));
        if (scheme) {
            CHECK_OK(db, dbSetup(db, scheme));
        }
        dbMust(db, "ATTACH %Q AS b KEY %Q", b, key);
        CHECK_INT(dbInt(db, "SELECT count(*) FROM b.t"), 20);
        spyFaultAt(fault, SPY_MUTATING, SPY_ANY, n);
        int rc = dbExec(db, "BEGIN; UPDATE t SET name = 'new'; UPDATE b.t SET name = 'new'; COMMIT");
        going = spyFaulted();
        CHECK(going || rc == SQLITE_OK);
        sqlite3_close_v2(db);
        spyRevive((unsigned)n);
        /* visits that must not settle the transaction */
        sqlite3 *visitor = dbOpenKeyed(a, s, s->other);
        CHECK_INT(dbExec(visitor, "SELECT * FROM t"), SQLITE_NOTADB);
        dbClose(visitor);
        visitor = dbOpen(b);
        if (scheme) {
            CHECK_INT(dbExec(visitor, "SELECT * FROM t"), SQLITE_NOTADB);
        }
        dbClose(visitor);
        sqlite3 *one = dbOpenKeyed(a, s, s->key);
        sqlite3 *two = dbOpenKeyed(b, scheme, scheme ? key : 0);
        int newOne = (int)dbInt(one, "SELECT count(*) FROM t WHERE name = 'new'");
        int newTwo = (int)dbInt(two, "SELECT count(*) FROM t WHERE name = 'new'");
        CHECK_MSG((newOne == 0 || newOne == 20) && newOne == newTwo, "%d new in one, %d in the other", newOne, newTwo);
        CHECK_MSG(!newOne || rc == SQLITE_OK || fault != SPY_IOERR || newOne == 20, "half a transaction");
        CHECK_TEXT(dbText(one, "PRAGMA integrity_check"), "ok");
        CHECK_TEXT(dbText(two, "PRAGMA integrity_check"), "ok");
        dbClose(one);
        dbClose(two);
        CHECK_MSG(n < 2000, "no end");
    }
    spyReset();
}

static void twoFilesKilled(const Scheme *s) {
    twoFiles(s, SPY_KILL, s, s->other);
}

/* Under the next scheme, round and round. */
static void twoSchemesKilled(const Scheme *s) {
    const Scheme *next = 0;
    for (int i = 0; !next; i++) {
        next = schemeAt(i) == s ? schemeAt(i + 1) : 0;
        if (schemeAt(i) == s && !next) {
            next = schemeAt(0);
        }
    }
    twoFiles(s, SPY_KILL, next, next->other);
}

static void twoFilesOnePlainKilled(const Scheme *s) {
    twoFiles(s, SPY_KILL, 0, "");
}

static void twoFilesWithErrors(const Scheme *s) {
    twoFiles(s, SPY_IOERR, s, s->other);
}

/* A super-journal that is gone, or does not name this file, makes a child journal stale. */
static void superJournalGone(const Scheme *s) {
    spyRegister();
    spyReset();
    const char *a = path("a.db"), *b = path("b.db");
    sqlite3 *db = dbOpenWith(a, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbKey(db, s->key));
    dbMust(db, "ATTACH %Q AS b", b);
    rowsCreate(db);
    dbMust(db, "CREATE TABLE b.u(id INTEGER PRIMARY KEY, name TEXT)");
    rowsInsert(db, 1, 20, REPEAT, "old");
    dbMust(db, "INSERT INTO u SELECT id, 'old' FROM t");
    /* dies when the super-journal is to be deleted: the transaction is not committed yet */
    spyFaultAt(SPY_KILL, SPY_DELETE, SPY_SUPER, 1);
    dbExec(db, "BEGIN; UPDATE t SET name = 'new'; UPDATE u SET name = 'new'; COMMIT");
    CHECK(spyFaulted());
    sqlite3_close_v2(db);
    spyRevive(0);
    const char *a2 = path("a2.db");
    CHECK(fileSize(textf("%s-journal", a)) > 0 && fileSize(textf("%s-journal", b)) > 0);
    dbFilesCopy(a, a2);

    visitInVain(a, s, s->other, "wrong key");
    visitInVain(a, s, 0, "no key");
    db = dbOpenKeyed(a, s, s->key);
    CHECK_ROWS(db, 20, REPEAT, "old");
    dbClose(db);

    /* the copy, whose super-journal is deleted: committed */
    db = dbOpenKeyed(b, s, s->key);
    CHECK_INT(dbInt(db, "SELECT count(*) FROM u WHERE name = 'old'"), 20);
    dbClose(db);
    sqlite3_int64 size;
    const char *journal = fileLoad(textf("%s-journal", a2), &size);
    const char *super = 0;
    for (sqlite3_int64 i = 0; i + 4 < size && !super; i++) {
        if (!memcmp(journal + i, "-mj", 3)) {
            super = journal + i;
        }
    }
    CHECK_MSG(super != 0, "the journal has no super-journal name in plaintext");
    db = dbOpenKeyed(a2, s, s->key);
    CHECK_INT(dbInt(db, "SELECT count(*) FROM t WHERE name = 'new'"), 20);
    CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
    dbClose(db);
    spyReset();
}

/* The recovery is killed at any call, again and again, until it is through. */
static void recoveryKilled(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL"};
    static const SpyFault faults[] = {SPY_KILL, SPY_KILL_TORN, SPY_IOERR};
    spyRegister();
    for (int m = 0; m < 2; m++) {
        makeHot(path("hot.db"), s, modes[m], "");
        for (int f = 0; f < 3; f++) {
            const char *file = path("work.db");
            dbFilesCopy(path("hot.db"), file);
            int going = 1;
            for (int n = 1; going && !testFailed(); n++) {
                testContext("%s, fault %d, call %d", modes[m], f, n);
                if (n % 2) {
                    dbFilesCopy(path("hot.db"), file);
                }
                spyReset();
                sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
                CHECK_OK(db, dbSetup(db, s));
                CHECK_OK(db, dbKey(db, s->key));
                spyFaultAt(faults[f], f == 1 ? SPY_WRITE : SPY_MUTATING, SPY_ANY, n);
                int rc = rowsProbe(db, ROWS, REPEAT, "a");
                CHECK_MSG(rc != SQLITE_MISMATCH, "other rows");
                sqlite3_close_v2(db);
                going = spyFaulted() || n % 2 == 0;
                spyRevive(0);
                const char *copy = path("copy.db");
                dbFilesCopy(file, copy);
                checkOpens(copy, s, s->key, ROWS);
            }
        }
    }
    spyReset();
}

static const Test tests[] = {
    TEST_SCHEME("hot journals and WALs are left alone by no key and a wrong key", hotFilesAreLeftAlone),
    TEST_SCHEME("a database that is only in its WAL", everythingInTheWal),
    TEST_SCHEME("hot journals and WALs of plain files are left alone by a key", hotPlainFiles),
    TEST_SCHEME("C69 a damaged page 1 beside a good journal", damagedFirstPage),
    TEST_TAGGED("a damaged journal is an error and stays", damagedJournal),
    TEST_SCHEME("a torn tail of the journal does no harm", tornTailOfTheJournal),
    TEST_SCHEME("C66 journals of several segments: ROLLBACK and recovery", journalOfManySegments),
    TEST_SCHEME("two files in one transaction, killed at every call", twoFilesKilled),
    TEST_SCHEME("an encrypted and a plain file in one transaction, killed at every call", twoFilesOnePlainKilled),
    TEST_SCHEME("files of two schemes in one transaction, killed at every call", twoSchemesKilled),
    TEST_SCHEME("two files in one transaction, an I/O error at every call", twoFilesWithErrors),
    TEST_SCHEME("journals whose super-journal is there, and gone", superJournalGone),
    TEST_SCHEME("recovery killed at every call", recoveryKilled),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
