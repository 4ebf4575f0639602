/*
** Temporary files: what temporary databases, sorters, VACUUM and statement journals put on the disk is
** encrypted under a key of the file's own, comes back as it was written, and is refused if it does not.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- as files ---------------------------------------------------------------------------------------- */

enum {
    FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE,
    SIZE = 300000,
    STEPS = 3000
};

static sqlite3_file *openTemp(int kind) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(SPY_VFS);
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    int out = 0;
    if (!file) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    CHECK_INT(vfs->xOpen(vfs, 0, file, FLAGS | kind, &out), SQLITE_OK);
    return file;
}

static void closeTemp(sqlite3_file *file) {
    CHECK_INT(file->pMethods->xClose(file), SQLITE_OK);
    free(file);
}

static unsigned rng;

static int below(int n) {
    rng = rng * 1664525u + 1013904223u;
    return (int)((rng >> 8) % (unsigned)n);
}

/* A text that the spy finds wherever 16 bytes of it are. */
static void fillMarkers(unsigned char *p, int n, int seed) {
    for (int i = 0; i < n; i++) {
        p[i] = (unsigned char)MARKER[i % 16];
    }
    for (int i = 0; i + 20 < n; i += 64) {
        snprintf((char *)p + i + 16, 4, "%03d", (seed + i / 64) % 1000);
    }
}

typedef struct Model {
    unsigned char data[SIZE];
    int size;
} Model;

/* One write, read or truncate of the file and of the model. */
static void step(sqlite3_file *file, Model *m, int page, int i) {
    static unsigned char piece[70000];
    int offset = below(m->size + 1), n = 1 + below(below(8) ? 300 : 66000), what = below(16);
    if (page && below(3)) { /* as a pager does */
        n = page;
        offset -= offset % page;
    }
    if (what == 0) {
        offset = below(4) ? m->size - below(m->size / 20 + 1) : offset;
        CHECK_INT(file->pMethods->xTruncate(file, offset), SQLITE_OK);
        memset(m->data + offset, 0, (size_t)(m->size - offset));
        m->size = offset;
    } else if (what < 9) {
        if (what == 1) {
            offset += below(20000); /* leaves a hole */
        }
        n = offset + n > SIZE ? SIZE - offset : n;
        if (n <= 0) {
            return;
        }
        fillMarkers(piece, n, i);
        CHECK_INT(file->pMethods->xWrite(file, piece, n, offset), SQLITE_OK);
        memcpy(m->data + offset, piece, (size_t)n);
        m->size = offset + n > m->size ? offset + n : m->size;
    } else {
        int have = m->size - offset < n ? m->size - offset : n;
        memset(piece, 0x55, sizeof piece);
        int rc = file->pMethods->xRead(file, piece, n, offset);
        CHECK_INT(rc, have < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK);
        CHECK_MSG(!memcmp(piece, m->data + offset, (size_t)have), "%d bytes at %d", n, offset);
        int zero = 1;
        for (int j = have; j < n; j++) {
            zero &= piece[j] == 0;
        }
        CHECK_MSG(zero, "no zeros behind the end");
    }
    sqlite3_int64 size = -1;
    CHECK_INT(file->pMethods->xFileSize(file, &size), SQLITE_OK);
    CHECK_INT(size, m->size);
}

static void anyOffsetAnyLength(void) {
    static const int pages[] = {0, 512, 1024, 4096, 8192, 65536};
    static const int kinds[] = {SQLITE_OPEN_TEMP_DB, SQLITE_OPEN_TRANSIENT_DB, SQLITE_OPEN_TEMP_JOURNAL,
                                SQLITE_OPEN_SUBJOURNAL};
    static Model m;
    spyRegister();
    for (int p = 0; p < 6; p++) {
        for (int k = 0; k < 4; k++) {
            spyReset();
            spyScan(MARKER, 16);
            memset(&m, 0, sizeof m);
            rng = (unsigned)(p * 4 + k);
            sqlite3_file *file = openTemp(kinds[k]);
            CHECK_INT(file->pMethods->iVersion, 1);
            for (int i = 0; i < STEPS && !testFailed(); i++) {
                testContext("page size %d, kind %d, step %d", pages[p], k, i);
                step(file, &m, pages[p], i);
            }
            CHECK_INT(spyLeaks(), 0);
            CHECK(spyCount(SPY_WRITE, SPY_TEMP) > 100);
            closeTemp(file);
        }
    }
    spyReset();
}

/* What the last write of each 4096 bytes looked like. */
typedef struct Writes {
    unsigned char last[3][4096];
    int count;
} Writes;

static void keepWrite(void *context, int file, const unsigned char *data, int n, sqlite3_int64 offset) {
    Writes *w = context;
    (void)offset;
    if (file == SPY_TEMP && n == 4096) {
        memcpy(w->last[w->count % 3], data, 4096);
        w->count++;
    }
}

/* The same bytes at the same place twice, also across a truncate, and in another file: no two writes
** are alike, and their XOR is not zero anywhere for long. */
static void sameBytesTwice(void) {
    static Writes w;
    unsigned char page[4096];
    spyRegister();
    spyReset();
    spyWatch(keepWrite, &w);
    fillMarkers(page, sizeof page, 0);
    sqlite3_file *a = openTemp(SQLITE_OPEN_TEMP_DB), *b = openTemp(SQLITE_OPEN_TEMP_DB);
    CHECK_INT(a->pMethods->xWrite(a, page, 4096, 0), SQLITE_OK);
    CHECK_INT(a->pMethods->xTruncate(a, 0), SQLITE_OK);
    CHECK_INT(a->pMethods->xWrite(a, page, 4096, 0), SQLITE_OK);
    CHECK_INT(b->pMethods->xWrite(b, page, 4096, 0), SQLITE_OK);
    CHECK_INT(w.count, 3);
    for (int i = 0; i < 3; i++) {
        int same = 0;
        for (int j = 0; j < 4096; j++) {
            same += w.last[i][j] == w.last[(i + 1) % 3][j];
        }
        CHECK_MSG(same < 80, "%d of 4096 bytes are the same", same);
    }
    closeTemp(a);
    closeTemp(b);
    spyReset();
}

/* A flipped bit, a file that is too short, a write that was torn. */
static void damagedFiles(void) {
    static unsigned char page[4096], out[4096];
    static const SpyFault faults[] = {SPY_FLIP, SPY_SHORT};
    spyRegister();
    fillMarkers(page, sizeof page, 7);
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < 2; n++) {
            testContext("fault %d, %s", i, n ? "whole block" : "part of a block");
            spyReset();
            sqlite3_file *file = openTemp(SQLITE_OPEN_TEMP_DB);
            for (int k = 0; k < 3; k++) {
                CHECK_INT(file->pMethods->xWrite(file, page, 4096, 4096 * k), SQLITE_OK);
            }
            spyFaultAt(faults[i], SPY_READ, SPY_TEMP, 1);
            CHECK_INT(file->pMethods->xRead(file, out, n ? 4096 : 100, 4096), SQLITE_IOERR_DATA);
            CHECK(out[0] == 0 && out[99] == 0);
            CHECK_INT(file->pMethods->xRead(file, out, n ? 4096 : 100, 4096), SQLITE_OK);
            CHECK(!memcmp(out, page, 100));
            closeTemp(file);
        }
    }
    spyReset();
    sqlite3_file *file = openTemp(SQLITE_OPEN_TEMP_DB);
    CHECK_INT(file->pMethods->xWrite(file, page, 4096, 0), SQLITE_OK);
    spyFaultAt(SPY_SHORT, SPY_WRITE, SPY_TEMP, 1);
    CHECK_INT(file->pMethods->xWrite(file, page, 4096, 0), SQLITE_IOERR_WRITE);
    CHECK_INT(file->pMethods->xRead(file, out, 4096, 0), SQLITE_IOERR_DATA);
    CHECK_INT(file->pMethods->xWrite(file, page, 4096, 0), SQLITE_OK);
    CHECK_INT(file->pMethods->xRead(file, out, 4096, 0), SQLITE_OK);
    CHECK(!memcmp(out, page, 4096));
    closeTemp(file);
    spyReset();
}

/* What was written to a statement journal can be read back although the disk is full. */
static void fullDisk(void) {
    static unsigned char record[1028], out[1028];
    int rc = SQLITE_OK, n;
    spyRegister();
    spyReset();
    sqlite3_file *file = openTemp(SQLITE_OPEN_SUBJOURNAL);
    spyFaultAt(SPY_FULL_FOREVER, SPY_WRITE, SPY_TEMP, 5);
    for (n = 0; rc == SQLITE_OK && n < 100; n++) {
        fillMarkers(record, sizeof record, n);
        rc = file->pMethods->xWrite(file, record, 1028, 1028 * (sqlite3_int64)n);
    }
    CHECK_INT(rc, SQLITE_FULL);
    CHECK(n > 15);
    for (int i = 0; i < n - 1; i++) {
        fillMarkers(record, sizeof record, i);
        CHECK_INT(file->pMethods->xRead(file, out, 1028, 1028 * (sqlite3_int64)i), SQLITE_OK);
        CHECK(!memcmp(out, record, 1028));
    }
    closeTemp(file);
    spyReset();
}

/* ---- under SQL --------------------------------------------------------------------------------------- */

enum { ROWS = 500, REPEAT = 50 };

/* The statements that need temporary files. Each leaves the rows of table t as they are. */
typedef struct Work {
    const char *name;
    const char *sql;    /* 0: the statement that fails late */
    const char *result; /* of the last SELECT */
    int transient;      /* in transient tables, whose cache is SQLite's default, which can be bigger than they are */
} Work;

static const Work works[] = {
    {"VACUUM", "VACUUM; SELECT 1", "1", 0},
    {"sort", "SELECT count(*) FROM (SELECT data FROM t ORDER BY data || data || name DESC LIMIT -1 OFFSET 0)", "500",
     1},
    {"CREATE INDEX", "CREATE INDEX i ON t(data, name); DROP INDEX i; SELECT 2", "2", 0},
    {"GROUP BY and DISTINCT", "SELECT count(*) FROM (SELECT DISTINCT data || name FROM t, (SELECT 1) GROUP BY data)",
     "500", 0},
    {"materialized view",
     "WITH v AS MATERIALIZED (SELECT id, data || data || name AS d FROM t)"
     " SELECT count(*) FROM v AS a JOIN v AS b ON a.id = b.id WHERE a.d = b.d",
     "500", 1},
    {"temporary table",
     "CREATE TEMP TABLE x AS SELECT * FROM t; UPDATE x SET name = name || 'y'; DELETE FROM x WHERE id % 2;"
     "CREATE INDEX temp.xi ON x(data); SELECT count(*) || sum(length(data)) FROM x; DROP TABLE x; SELECT 3",
     "3", 0},
    {"temporary table and ROLLBACK",
     "CREATE TEMP TABLE x AS SELECT * FROM t; BEGIN; UPDATE x SET data = data || 'y'; DELETE FROM x WHERE id % 2;"
     "ROLLBACK; DELETE FROM x WHERE id IN (SELECT id FROM t WHERE t.data = x.data AND t.name = x.name);"
     "SELECT count(*) FROM x",
     "0", 0},
    {"statement journal", 0, 0, 0},
    {"ROLLBACK TO",
     "BEGIN; SAVEPOINT a; UPDATE t SET data = substr(data, 1, 100); SAVEPOINT b; UPDATE t SET data = data || name;"
     "DELETE FROM t WHERE id % 3; ROLLBACK TO b; UPDATE t SET name = 'x'; ROLLBACK TO a; COMMIT; SELECT 4",
     "4", 0},
    {"trigger and subquery",
     "CREATE TEMP TABLE log(x); CREATE TEMP TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(old.data); END;"
     "UPDATE t SET data = data; SELECT count(*) FROM log; DROP TABLE log; DROP TRIGGER g; SELECT 5",
     "5", 0},
};

enum { WORKS = sizeof works / sizeof works[0] };

/* A statement that fails at the last row, so that its journal is played back. */
#define FAILS_LATE "UPDATE t SET data = data || 'x', id = CASE WHEN id < 500 THEN id + 1000 ELSE 1001 END"

static const char *makeOriginal(const Scheme *s, const char *mode) {
    const char *file = path("original.db");
    dbFilesRemove(file);
    sqlite3 *db = dbOpenKeyed(file, s, s ? s->key : 0);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", mode);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    return file;
}

static sqlite3 *openWork(const char *original, const Scheme *s) {
    const char *file = path("work.db");
    dbFilesRemove(file);
    dbFilesCopy(original, file);
    spyReset();
    spyScan(MARKER, 16);
    sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
    if (s) {
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
    }
    dbMust(db, "PRAGMA temp_store=FILE; PRAGMA cache_size=5; PRAGMA temp.cache_size=5");
    return db;
}

/* The result code of a piece of work; its result is checked if it has one. */
static int runWork(sqlite3 *db, const Work *w) {
    if (w->sql) {
        const char *tail = w->sql;
        int rc = SQLITE_OK;
        char last[40] = "";
        while (rc == SQLITE_OK && *tail) {
            sqlite3_stmt *stmt = 0;
            rc = sqlite3_prepare_v2(db, tail, -1, &stmt, &tail);
            while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
                snprintf(last, sizeof last, "%s", (const char *)sqlite3_column_text(stmt, 0));
            }
            int rc2 = sqlite3_finalize(stmt);
            rc = rc == SQLITE_OK ? rc2 : rc;
        }
        if (rc == SQLITE_OK) {
            CHECK_TEXT(last, w->result);
        }
        return rc;
    }
    int rc = dbExec(db, "BEGIN; UPDATE t SET name = name || 'x'; UPDATE t SET name = rtrim(name, 'x')");
    if (rc == SQLITE_OK) {
        rc = dbExec(db, FAILS_LATE);
    }
    CHECK(rc != SQLITE_OK);
    if (rc == SQLITE_CONSTRAINT) {
        rc = dbExec(db, "COMMIT");
    }
    return rc;
}

static int mustWrite(sqlite3 *db, const Work *w) {
    dbMust(db, "ATTACH ':memory:' AS fresh");
    return !w->transient || dbInt(db, "PRAGMA fresh.cache_size") > -10000;
}

static void nothingReadable(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL"};
    spyRegister();
    for (int m = 0; m < 2; m++) {
        const char *original = makeOriginal(s, modes[m]);
        for (int i = 0; i < WORKS; i++) {
            testContext("%s, %s", modes[m], works[i].name);
            sqlite3 *db = openWork(original, s);
            CHECK_OK(db, runWork(db, &works[i]));
            CHECK_MSG(spyCount(SPY_WRITE, SPY_TEMP) > 0 || !mustWrite(db, &works[i]), "no temporary file was written");
            CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
            CHECK_ROWS(db, ROWS, REPEAT, "a");
            dbClose(db);
        }
    }
    spyReset();
}

/* Who feeds a temporary file is not known, so those of a plain database are encrypted too. */
static void ofPlainDatabases(void) {
    spyRegister();
    const char *original = makeOriginal(0, "DELETE");
    for (int i = 1; i < WORKS; i++) {
        testContext("%s", works[i].name);
        sqlite3 *db = openWork(original, 0);
        CHECK_OK(db, runWork(db, &works[i]));
        CHECK_MSG(spyCount(SPY_WRITE, SPY_TEMP) > 0 || !mustWrite(db, &works[i]), "no temporary file was written");
        CHECK_MSG(!strstr(spyLeakPlace(), "temporary"), "plaintext in %s", spyLeakPlace());
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
    }
    spyReset();
}

/* C27: one call of a temporary file fails, or a read gives a wrong bit. The work is done, or the error
** reaches the caller and nothing of it is left. */
static void everyCallFails(SpyFault fault, int ops) {
    const Scheme *s = schemeAt(0); /* what a temporary file looks like does not depend on the scheme */
    static const char *const modes[] = {"DELETE", "WAL"};
    spyRegister();
    for (int m = 0; m < 2; m++) {
        const char *original = makeOriginal(s, modes[m]);
        for (int i = 0; i < WORKS; i++) {
            int going = 1;
            for (int n = 1; going && !testFailed(); n += 1 + n / 3) {
                testContext("%s, %s, call %d", modes[m], works[i].name, n);
                sqlite3 *db = openWork(original, s);
                spyFaultAt(fault, ops, SPY_TEMP, n);
                int rc = runWork(db, &works[i]);
                going = spyFaulted();
                if (rc != SQLITE_OK) {
                    CHECK_MSG(going, "error %d (%s) without a fault", rc, sqlite3_errmsg(db));
                    CHECK_MSG(rc == SQLITE_IOERR || rc == SQLITE_FULL || rc == SQLITE_CANTOPEN || rc == SQLITE_NOMEM,
                              "error %d (%s)", rc, sqlite3_errmsg(db));
                }
                CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
                spyFaultAt(fault, 0, 0, 0);
                dbExec(db, "ROLLBACK");
                CHECK_ROWS(db, ROWS, REPEAT, "a");
                dbClose(db);
            }
        }
    }
    spyReset();
}

static void readsFail(void) {
    everyCallFails(SPY_IOERR, SPY_READ);
}

static void readsAreWrong(void) {
    everyCallFails(SPY_FLIP, SPY_READ);
}

static void readsAreShort(void) {
    everyCallFails(SPY_SHORT, SPY_READ);
}

static void writesFail(void) {
    everyCallFails(SPY_IOERR, SPY_WRITE | SPY_OPEN | SPY_TRUNCATE);
}

static void diskIsFull(void) {
    everyCallFails(SPY_FULL_FOREVER, SPY_WRITE);
}

/* The user's choice is kept. */
static void inMemoryIfAsked(void) {
    const Scheme *s = schemeAt(0);
    spyRegister();
    const char *original = makeOriginal(s, "DELETE");
    for (int i = 0; i < WORKS; i++) {
        testContext("%s", works[i].name);
        sqlite3 *db = openWork(original, s);
        dbMust(db, "PRAGMA temp_store=MEMORY");
        CHECK_OK(db, runWork(db, &works[i]));
        CHECK_INT(spyCount(SPY_OPEN, SPY_TEMP), 0);
        dbClose(db);
    }
    spyReset();
}

static const Test tests[] = {
    TEST("writes, reads and truncates at any offset, of any length", anyOffsetAnyLength),
    TEST("I4 the same bytes written twice", sameBytesTwice),
    TEST("a damaged temporary file is an error", damagedFiles),
    TEST("a temporary file can be read on a full disk", fullDisk),
    TEST_SCHEME("I1 no plaintext in temporary files", nothingReadable),
    TEST("temporary files of plain databases", ofPlainDatabases),
    TEST("C27 an I/O error at every read of a temporary file", readsFail),
    TEST("C27 a wrong bit in every read of a temporary file", readsAreWrong),
    TEST("C27 a short read at every read of a temporary file", readsAreShort),
    TEST("an I/O error at every write, open, truncate of a temporary file", writesFail),
    TEST("the disk is full from every write of a temporary file on", diskIsFull),
    TEST("temp_store=MEMORY makes no temporary files", inMemoryIfAsked),
};

int main(int argc, char **argv) {
    /* Sorters and statement journals come to the disk early. */
    sqlite3_config(SQLITE_CONFIG_PMASZ, 8);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 2000);
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
