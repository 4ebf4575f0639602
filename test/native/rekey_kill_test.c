/*
** C68: a rekey that is killed, or meets an error, at any write, sync, truncate, delete or creation of
** a file leaves a database that exactly one of old key, new key and no key opens, with all rows. The
** other two get NOTADB and change no byte.
**
** Every call of a rekey is counted; the n-th one fails, for n = 1, 2, ... until the rekey is through.
** Raw keys, so that the key derivation costs nothing.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 30, REPEAT = 12 };

typedef enum Direction { ENCRYPT, CHANGE, DECRYPT } Direction;

static const char *const directionNames[] = {"plain to key", "key to key", "key to plain"};

typedef struct Case {
    const Scheme *scheme;
    Direction direction;
    const char *mode; /* journal_mode */
    SpyFault fault;
    const char *oldKey, *newKey; /* "": none */
    const char *original, *work;
} Case;

/* A small page size, so that a few rows are many pages, among them overflow and free ones. */
static void makeOriginal(const Case *c) {
    dbFilesRemove(c->original);
    sqlite3 *db = dbOpenKeyed(c->original, c->scheme, *c->oldKey ? c->oldKey : 0);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA synchronous=OFF; PRAGMA journal_mode=%s", c->mode);
    rowsCreate(db);
    dbMust(db, "CREATE INDEX i ON t(name)");
    rowsInsert(db, 1, ROWS + 12, REPEAT, "a");
    dbMust(db, "DELETE FROM t WHERE id > %d", ROWS);
    rowsInsert(db, ROWS, ROWS, REPEAT, "a");
    if (!strcmp(c->mode, "WAL")) {
        /* as a crash leaves it: the last rows are only in the WAL */
        dbMust(db, "PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(TRUNCATE)");
        rowsInsert(db, ROWS - 5, ROWS, REPEAT, "a");
        const char *copy = path("copy.db");
        dbFilesCopy(c->original, copy);
        dbClose(db);
        dbFilesCopy(copy, c->original);
        return;
    }
    dbClose(db);
}

static sqlite3 *openUnderSpy(const Case *c) {
    sqlite3 *db = dbOpenWith(c->work, SQLITE_OPEN_READWRITE, SPY_VFS);
    CHECK_OK(db, dbSetup(db, c->scheme));
    if (*c->oldKey) {
        CHECK_OK(db, dbKey(db, c->oldKey));
        CHECK_OK(db, dbSetup(db, c->scheme));
    }
    dbMust(db, "PRAGMA journal_mode=%s; PRAGMA cache_size=5; PRAGMA synchronous=FULL", c->mode);
    return db;
}

static int probe(const char *file, const Case *c, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, c->scheme, *key ? key : 0);
    dbExec(db, "PRAGMA synchronous=OFF");
    int rc = rowsProbe(db, ROWS, REPEAT, "a");
    dbClose(db);
    return rc;
}

static uint64_t filesHash(const char *db) {
    return fileHash(db) ^ fileHash(textf("%s-journal", db)) * 3 ^ fileHash(textf("%s-wal", db)) * 5;
}

/* Exactly one of the three opens the file. They are tried in a changing order, so that wrong keys come
** to the files as the crash left them. */
static void checkOneKeyOpens(const Case *c, int n) {
    static const char none[] = "";
    const char *keys[] = {c->oldKey, c->newKey, none};
    int count = c->direction == CHANGE ? 3 : 2; /* old or new is already "no key" */
    int opened = 0;
    for (int i = 0; i < count; i++) {
        int k = (n + i) % count;
        uint64_t before = filesHash(c->work);
        int rc = probe(c->work, c, keys[k]);
        opened += rc == SQLITE_OK;
        CHECK_MSG(rc == SQLITE_OK || rc == SQLITE_NOTADB, "key %d: error %d", k, rc);
        CHECK_MSG(rc == SQLITE_OK || filesHash(c->work) == before, "key %d, a wrong one, changed the files", k);
    }
    CHECK_MSG(opened == 1, "%d keys open the file", opened);
}

static int isKill(SpyFault fault) {
    return fault == SPY_KILL || fault == SPY_KILL_TORN || fault == SPY_KILL_POWER;
}

/* One rekey with the n-th call failing. 0: the rekey made fewer calls. */
static int rekeyOnce(const Case *c, int n, unsigned seed) {
    dbFilesCopy(c->original, c->work);
    spyReset();
    sqlite3 *db = openUnderSpy(c);
    CHECK_OK(db, dbExec(db, "SELECT count(*) FROM t"));
    if (c->direction == CHANGE) {
        spyScan(MARKER, 16);
    }
    spyFaultAt(c->fault, c->fault == SPY_KILL_TORN ? SPY_WRITE : SPY_MUTATING, SPY_ANY, n);
    int rc = dbRekey(db, c->newKey);
    int faulted = spyFaulted();
    if (!faulted) {
        CHECK_OK(db, rc);
    } else if (rc != SQLITE_OK) {
        CHECK_MSG(strlen(sqlite3_errmsg(db)) > 5 && strcmp(sqlite3_errmsg(db), "not an error") != 0, "message: %s",
                  sqlite3_errmsg(db));
    }
    if (!isKill(c->fault)) {
        /* the process lives on: the connection has the key that the file has */
        spyFaultAt(c->fault, 0, 0, 0);
        CHECK_INT(rowsProbe(db, ROWS, REPEAT, "a"), SQLITE_OK);
        dbMust(db, "UPDATE t SET name = name WHERE id = 1");
    }
    sqlite3_close_v2(db);
    spyRevive(seed);
    CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
    checkOneKeyOpens(c, n);
    return faulted;
}

static void rekeyAtEveryCall(const Scheme *s, SpyFault fault, const char *const *modes, int seeds) {
    spyRegister();
    for (int m = 0; modes[m]; m++) {
        for (Direction d = ENCRYPT; d <= DECRYPT; d++) {
            Case c = {s,
                      d,
                      modes[m],
                      fault,
                      d == ENCRYPT ? "" : s->key,
                      d == ENCRYPT  ? s->key
                      : d == CHANGE ? s->other
                                    : "",
                      path("original.db"),
                      path("work.db")};
            makeOriginal(&c);
            int n = 0, going = 1;
            while (going && n < 3000) {
                n++;
                for (int seed = 0; seed < seeds && going; seed++) {
                    testContext("%s, journal_mode %s, call %d, seed %d", directionNames[d], modes[m], n, seed);
                    going = rekeyOnce(&c, n, (unsigned)(seed * 77 + n));
                }
            }
            testContext("%s, journal_mode %s", directionNames[d], modes[m]);
            CHECK_MSG(n > 20 && !going, "%d calls", n);
            testContext(0);
        }
    }
    spyReset();
}

static const char *const allModes[] = {"DELETE", "TRUNCATE", "PERSIST", "WAL", 0};
static const char *const someModes[] = {"DELETE", "WAL", 0};

static void killed(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_KILL, allModes, 1);
}

static void killedInAWrite(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_KILL_TORN, allModes, 1);
}

static void powerFails(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_KILL_POWER, someModes, 2);
}

static void ioError(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_IOERR, allModes, 1);
}

static void diskFull(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_FULL, someModes, 1);
}

static void outOfMemory(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_NOMEM, someModes, 1);
}

static void halfAWrite(const Scheme *s) {
    rekeyAtEveryCall(s, SPY_SHORT, someModes, 1);
}

static const Test tests[] = {
    TEST_SCHEME("C68 rekey killed at every call", killed),
    TEST_SCHEME("C68 rekey killed in the middle of every write", killedInAWrite),
    TEST_SCHEME("C68 rekey with a power failure at every call", powerFails),
    TEST_SCHEME("C68 rekey with an I/O error at every call", ioError),
    TEST_SCHEME("C68 rekey with a full disk at every call", diskFull),
    TEST_SCHEME("C68 rekey with a failing allocation below the VFS at every call", outOfMemory),
    TEST_SCHEME("C68 rekey with half a write at every call", halfAWrite),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
