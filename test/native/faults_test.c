/*
** Errors of the real VFS, at every call of ordinary work: they reach the caller, no wrong row comes
** out, and the file is as it was before or after the transaction, under its key.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 40, REPEAT = 12 };

typedef struct Work {
    const char *name;
    const char *mode;
    const char *sql;
    int rowsAfter; /* rows 1..n when it has succeeded */
    int hot;       /* begin with a hot journal or WAL */
} Work;

#define SPILLS \
    "BEGIN; UPDATE t SET name = 'x'; DELETE FROM t WHERE id > 20; UPDATE t SET name = 'row-' || id || '-a'; COMMIT"

static const Work works[] = {
    {"read", "DELETE", "SELECT sum(length(data)) FROM t", ROWS, 0},
    {"insert", "DELETE",
     "INSERT INTO t SELECT id + 40, 'row-' || (id + 40) || '-a',"
     " CAST((id + 40) || substr(CAST(data AS TEXT), 1 + length(id)) AS BLOB) FROM t",
     2 * ROWS, 0},
    {"delete with spills", "DELETE", SPILLS, 20, 0},
    {"PERSIST", "PERSIST", "DELETE FROM t WHERE id > 20", 20, 0},
    {"TRUNCATE", "TRUNCATE", "DELETE FROM t WHERE id > 20", 20, 0},
    {"WAL", "WAL", SPILLS, 20, 0},
    {"checkpoint", "WAL", "PRAGMA wal_checkpoint(TRUNCATE)", ROWS, 1},
    {"WAL to DELETE", "WAL", "PRAGMA journal_mode=DELETE", ROWS, 1},
    {"VACUUM", "DELETE", "VACUUM", ROWS, 0},
    {"VACUUM in WAL mode", "WAL", "VACUUM", ROWS, 0},
    {"recovery of a journal", "DELETE", "SELECT count(*) FROM t", ROWS, 1},
    {"recovery of a WAL", "WAL", "SELECT count(*) FROM t", ROWS, 1},
};

enum { WORKS = sizeof works / sizeof works[0] };

static void makeOriginal(const Work *w, const Scheme *s, const char *file) {
    const char *origin = w->hot ? path("origin.db") : file;
    dbFilesRemove(origin);
    sqlite3 *db = dbOpenKeyed(origin, s, s->key);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", w->mode);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS / 2, REPEAT, "a");
    dbMust(db, "PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(TRUNCATE)");
    rowsInsert(db, ROWS / 2 + 1, ROWS, REPEAT, "a");
    if (w->hot) {
        dbMust(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(2000)");
        dbFilesCopy(origin, file);
        dbMust(db, "ROLLBACK");
    }
    dbClose(db);
}

/* SQLITE_OK if there are exactly `count` right rows. */
static int probe(sqlite3 *db, int count) {
    return rowsProbe(db, count, REPEAT, "a");
}

static void everyCallFails(const Scheme *s, SpyFault fault, int ops, int files, const char *synchronous) {
    spyRegister();
    for (int i = 0; i < WORKS; i++) {
        const Work *w = &works[i];
        const char *original = path("original.db"), *file = path("work.db");
        makeOriginal(w, s, original);
        int going = 1, n = 0;
        while (going && n < 3000) {
            n += 1 + n / 60;
            testContext("%s, call %d", w->name, n);
            dbFilesCopy(original, file);
            spyReset();
            spyScan(MARKER, 16);
            sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbKey(db, s->key));
            spyFaultAt(fault, ops, files, n);
            int rc = dbExec(db, "PRAGMA cache_size=5; PRAGMA synchronous=%s", synchronous);
            if (rc == SQLITE_OK) {
                rc = dbExec(db, "%s", w->sql);
            }
            if (rc != SQLITE_OK) {
                CHECK_MSG(spyFaulted(), "error %d (%s) without a fault", rc, sqlite3_errmsg(db));
                CHECK_MSG(!strstr(sqlite3_errmsg(db), "row-"), "data in a message: %s", sqlite3_errmsg(db));
            }
            going = spyFaulted();
            int kills = fault == SPY_KILL || fault == SPY_KILL_TORN || fault == SPY_KILL_POWER;
            if (!kills) {
                /* one error, then all is well: the connection goes on */
                spyFaultAt(fault, 0, 0, 0);
                dbExec(db, "ROLLBACK");
                int before = probe(db, ROWS), after = probe(db, w->rowsAfter);
                CHECK_MSG(before == SQLITE_OK || after == SQLITE_OK, "after the error: %d, %d (%s)", before, after,
                          sqlite3_errmsg(db));
            }
            sqlite3_close_v2(db);
            spyRevive((unsigned)n);
            CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
            db = dbOpenKeyed(file, s, s->key);
            int before = probe(db, ROWS), after = probe(db, w->rowsAfter);
            CHECK_MSG(before == SQLITE_OK || after == SQLITE_OK, "reopened: %d, %d (%s)", before, after,
                      sqlite3_errmsg(db));
            if (rc == SQLITE_OK && !kills) {
                CHECK_MSG(after == SQLITE_OK, "success, but the change is not there");
            }
            dbClose(db);
        }
        CHECK_MSG(!going, "%s: no end", w->name);
        testContext(0);
    }
    spyReset();
}

static void writesFail(const Scheme *s) {
    everyCallFails(s, SPY_IOERR, SPY_MUTATING, SPY_ANY, "FULL");
}

static void readsFail(const Scheme *s) {
    everyCallFails(s, SPY_IOERR, SPY_READ, SPY_ANY, "FULL");
}

/* Not of the journal: there SQLite takes a short read for its end. */
static void readsAreShort(const Scheme *s) {
    everyCallFails(s, SPY_SHORT, SPY_READ, SPY_MAIN | SPY_WAL, "FULL");
}

static void sizesAndLocksFail(const Scheme *s) {
    everyCallFails(s, SPY_IOERR, SPY_SIZE | SPY_ACCESS | SPY_LOCK | SPY_OPEN, SPY_ANY, "FULL");
}

static void diskIsFull(const Scheme *s) {
    everyCallFails(s, SPY_FULL, SPY_WRITE, SPY_ANY, "FULL");
}

static void memoryIsOut(const Scheme *s) {
    everyCallFails(s, SPY_NOMEM, SPY_READ | SPY_WRITE, SPY_ANY, "FULL");
}

static void processDies(const Scheme *s) {
    everyCallFails(s, SPY_KILL, SPY_MUTATING, SPY_ANY, "FULL");
}

static void processDiesInAWrite(const Scheme *s) {
    everyCallFails(s, SPY_KILL_TORN, SPY_WRITE, SPY_ANY, "FULL");
}

static void powerFails(const Scheme *s) {
    everyCallFails(s, SPY_KILL_POWER, SPY_MUTATING, SPY_ANY, "FULL");
}

/* With synchronous NORMAL a journal is synced once, so its last records may be torn although they are
** counted; then the main file has not been written yet. */
static void powerFailsNormal(const Scheme *s) {
    everyCallFails(s, SPY_KILL_POWER, SPY_MUTATING, SPY_ANY, "NORMAL");
}

/* C27: an error while ROLLBACK TO reads the pages back. The statement journal is so small that it stays in
** memory, and the error is in the main file and its journal; temp_test has the other case. */
static void rollbackToMeetsAnError(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL"};
    spyRegister();
    for (int m = 0; m < 2; m++) {
        const char *original = path("original.db"), *file = path("work.db");
        Work w = {"", modes[m], "", 0, 0};
        makeOriginal(&w, s, original);
        int going = 1;
        for (int n = 1; going && n < 500; n++) {
            testContext("%s, read %d", modes[m], n);
            dbFilesCopy(original, file);
            spyReset();
            sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbKey(db, s->key));
            dbMust(db, "PRAGMA cache_size=5; BEGIN; SAVEPOINT a; UPDATE t SET name = name;"
                       "SAVEPOINT b; UPDATE t SET name = 'x', data = zeroblob(700); DELETE FROM t WHERE id %% 2");
            spyFaultAt(SPY_IOERR, SPY_READ, SPY_ANY, n);
            int rc = dbExec(db, "ROLLBACK TO b");
            if (rc == SQLITE_OK) {
                /* the error may come with the first read of a page that was dropped */
                rc = rowsProbe(db, ROWS, REPEAT, "a");
            }
            going = spyFaulted();
            CHECK_MSG(rc == SQLITE_OK || (going && rc == SQLITE_IOERR), "result %d", rc);
            spyFaultAt(SPY_IOERR, 0, 0, 0);
            if (rc == SQLITE_OK) {
                CHECK_ROWS(db, ROWS, REPEAT, "a");
                CHECK_OK(db, dbExec(db, "COMMIT"));
            } else {
                dbExec(db, "COMMIT");
                dbExec(db, "ROLLBACK");
            }
            CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
            dbClose(db);
            db = dbOpenKeyed(file, s, s->key);
            CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
            dbClose(db);
        }
        CHECK(!going);
    }
    CHECK_INT(spyCount(SPY_OPEN, SPY_TEMP), 0);
    spyReset();
}

/* Pages may be sealed before it is their turn to be written. After an error in between, the images of those that
** were not written must not be taken for what stands there later, perhaps at the same place in memory: the n-th
** write of a commit fails, then one of the pages is changed and flushed by itself. There is no journal, because
** the writes of a rollback would hide it. */
static void pagesSealedAheadAreForgotten(const Scheme *s) {
    enum { TABLES = 8 };
    const char *original = path("original.db"), *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(original, s, s->key);
    dbMust(db, "PRAGMA page_size=1024");
    for (int t = 1; t <= TABLES; t++) {
        dbMust(db, "CREATE TABLE t%d(x); INSERT INTO t%d VALUES('old')", t, t);
    }
    dbClose(db);
    spyRegister();
    for (int n = 2; n <= TABLES + 1; n++) {
        for (int t = 1; t <= TABLES; t++) {
            testContext("write %d fails, table %d is changed", n, t);
            dbFilesCopy(original, file);
            spyReset();
            db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbKey(db, s->key));
            dbMust(db, "PRAGMA journal_mode=OFF; BEGIN");
            for (int u = 1; u <= TABLES; u++) {
                dbMust(db, "UPDATE t%d SET x = 'lost'", u);
            }
            spyFaultAt(SPY_FULL, SPY_WRITE, SPY_MAIN, n);
            CHECK_RC(db, dbExec(db, "COMMIT"), SQLITE_FULL);
            spyFaultAt(SPY_FULL, 0, 0, 0);
            dbExec(db, "ROLLBACK");
            dbMust(db, "BEGIN; UPDATE t%d SET x = 'kept'", t);
            CHECK_OK(db, sqlite3_db_cacheflush(db));
            dbMust(db, "COMMIT");
            dbClose(db);
            db = dbOpenKeyed(file, s, s->key);
            CHECK_TEXT(dbText(db, "SELECT x FROM t%d", t), "kept");
            dbClose(db);
        }
    }
    spyReset();
}

static const Test tests[] = {
    TEST_SCHEME("an I/O error at every write, sync, truncate, delete, create", writesFail),
    TEST_SCHEME("an I/O error at every read", readsFail),
    TEST_SCHEME("a short read at every read", readsAreShort),
    TEST_SCHEME("an I/O error at every size, access, lock, open", sizesAndLocksFail),
    TEST_SCHEME("a full disk at every write", diskIsFull),
    TEST_SCHEME("a failing allocation below the VFS", memoryIsOut),
    TEST_SCHEME("the process dies at every call", processDies),
    TEST_SCHEME("the process dies in the middle of every write", processDiesInAWrite),
    TEST_SCHEME("the power fails at every call", powerFails),
    TEST_SCHEME("the power fails at every call, synchronous NORMAL", powerFailsNormal),
    TEST_SCHEME("pages that were sealed ahead of a failed write are forgotten", pagesSealedAheadAreForgotten),
    TEST_SCHEME("C27 an error during ROLLBACK TO reaches the caller", rollbackToMeetsAnError),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
