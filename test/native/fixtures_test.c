/*
** The sample databases in test/fixtures, made by the reference: every good one is read completely and
** every row recomputed, every damaged one gives the error that its entry in manifest.json names.
** Entries whose scheme this build does not know are left out and counted.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

#ifndef FIXTURES
#error "FIXTURES is the directory of the sample databases"
#endif

static sqlite3 *manifest;

static const char *fixture(const char *name) {
    return textf("%s/%s", FIXTURES, name);
}

static int loadManifest(void) {
    sqlite3_int64 size;
    const char *text = fileLoad(fixture("manifest.json"), &size);
    sqlite3_stmt *stmt = 0;
    int ok = size > 0 && sqlite3_open_v2(":memory:", &manifest, 6, realVfs()) == SQLITE_OK &&
             dbExec(manifest, "CREATE TABLE e(entry TEXT)") == SQLITE_OK &&
             sqlite3_prepare_v2(manifest, "INSERT INTO e SELECT value FROM json_each(?1, '$.entries')", -1, &stmt, 0) ==
                 SQLITE_OK &&
             sqlite3_bind_text(stmt, 1, text, (int)size, SQLITE_STATIC) == SQLITE_OK &&
             sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_finalize(stmt);
    return ok;
}

/* ---- the rows that every fixture has, as manifest.json says under "formula" -------------------- */

static int rowIsRight(sqlite3_stmt *row, int seed) {
    int id = sqlite3_column_int(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const unsigned char *data = sqlite3_column_blob(row, 2);
    int length = id % 10 == 0 ? 700 + 13 * id : 5 + (7 * id + seed) % 60;
    const char *wanted = textf("row-%d-%d%s", id, (id * id * seed) % 9973, id % 3 == 0 ? "-äß€😀" : "");
    if (!name || strcmp(name, wanted) != 0 || sqlite3_column_bytes(row, 2) != length) {
        return 0;
    }
    for (int j = 0; j < length; j++) {
        if (data[j] != (unsigned char)(31 * id + 7 * j + seed + j / 16)) {
            return 0;
        }
    }
    return 1;
}

typedef struct Reading {
    int rc;    /* SQLITE_DONE, or the error */
    int right; /* rows as they should be; the n-th one has the number n */
    int wrong;
    const char *message;
} Reading;

static Reading readRows(sqlite3 *db, int seed) {
    Reading r = {0};
    sqlite3_stmt *stmt = 0;
    r.rc = sqlite3_prepare_v2(db, "SELECT id, name, data FROM t ORDER BY id", -1, &stmt, 0);
    if (r.rc == SQLITE_OK) {
        while ((r.rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            if (sqlite3_column_int(stmt, 0) == r.right + r.wrong + 1 && rowIsRight(stmt, seed)) {
                r.right++;
            } else {
                r.wrong++;
            }
        }
    }
    r.message = textf("%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return r;
}

/* ---- one entry -------------------------------------------------------------------------------- */

typedef struct Entry {
    const char *name, *file, *cipher, *expect, *json;
    int rows, seed, pageSize, userVersion, damaged, hot;
    const char *table; /* damaged: the reference's result code, or "ok" */
    int wrongRows;     /* damaged: rows that the reference returned wrong */
} Entry;

static const char *textOf(sqlite3_stmt *row, int column) {
    const char *value = (const char *)sqlite3_column_text(row, column);
    return value ? textf("%s", value) : 0;
}

static Entry entryOf(sqlite3_stmt *row) {
    return (Entry){
        .name = textOf(row, 0),
        .file = textOf(row, 1),
        .cipher = textOf(row, 2),
        .expect = textOf(row, 3),
        .rows = sqlite3_column_int(row, 4),
        .seed = sqlite3_column_int(row, 5),
        .pageSize = sqlite3_column_int(row, 6),
        .userVersion = sqlite3_column_int(row, 7),
        .damaged = sqlite3_column_int(row, 8),
        .hot = sqlite3_column_int(row, 9),
        .json = textOf(row, 10),
        .table = textOf(row, 11),
        .wrongRows = sqlite3_column_int(row, 12),
    };
}

/* The damaged entries have the rows and the seed of the entry that they were made from. */
#define ENTRIES                                                                                            \
    "SELECT e.entry->>'$.name', e.entry->>'$.file', e.entry->>'$.cipher', e.entry->>'$.expect',"           \
    " coalesce(e.entry->>'$.rows', s.entry->>'$.rows'), coalesce(e.entry->>'$.seed', s.entry->>'$.seed')," \
    " e.entry->>'$.page_size', e.entry->>'$.expect.user_version', e.entry->>'$.damaged' IS NOT NULL,"      \
    " e.entry->>'$.sidecars' IS NOT NULL, e.entry,"                                                        \
    " CASE WHEN e.entry->>'$.observed_in_reference.table.ok' THEN 'ok'"                                    \
    "      ELSE e.entry->>'$.observed_in_reference.table.code' END,"                                       \
    " e.entry->>'$.observed_in_reference.table.wrong_rows'"                                                \
    " FROM e LEFT JOIN e AS s ON s.entry->>'$.name' = e.entry->>'$.derived_from' "

/* Copy the database and its sidecars into the temporary directory. */
static const char *takeCopy(const Entry *e) {
    const char *copy = path(e->file);
    dbFilesRemove(copy);
    dbFilesCopy(fixture(e->file), copy);
    return copy;
}

/* Open, and issue the PRAGMAs of the entry; `otherKey` replaces the key. SQLITE_OK, or the error of
** the first PRAGMA that failed. */
static sqlite3 *openEntry(const Entry *e, const char *copy, const char *otherKey, int *rc) {
    sqlite3 *db = dbOpen(copy);
    sqlite3_stmt *stmt = 0;
    *rc = SQLITE_OK;
    sqlite3_prepare_v2(manifest, "SELECT value FROM json_each(?1, '$.pragmas')", -1, &stmt, 0);
    sqlite3_bind_text(stmt, 1, e->json, -1, SQLITE_STATIC);
    while (*rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *pragma = (const char *)sqlite3_column_text(stmt, 0);
        int isKey = !strncmp(pragma, "key=", 4) || !strncmp(pragma, "hexkey=", 7);
        *rc = otherKey && isKey ? dbKey(db, otherKey) : dbExec(db, "PRAGMA %s", pragma);
    }
    sqlite3_finalize(stmt);
    return db;
}

static void checkAllRows(const Entry *e, const char *copy) {
    int rc;
    sqlite3 *db = openEntry(e, copy, 0, &rc);
    CHECK_OK(db, rc);
    Reading r = readRows(db, e->seed);
    CHECK_MSG(r.rc == SQLITE_DONE && r.right == e->rows && r.wrong == 0,
              "%d right and %d wrong rows of %d, then %d (%s)", r.right, r.wrong, e->rows, r.rc, r.message);
    CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
    CHECK_INT(dbInt(db, "PRAGMA user_version"), e->userVersion);
    CHECK_INT(dbInt(db, "PRAGMA page_size"), e->pageSize);
    dbClose(db);
}

static int codeOf(const char *name) {
    return !strcmp(name, "SQLITE_NOTADB") ? SQLITE_NOTADB : SQLITE_CORRUPT;
}

/* A damaged file gives the error, or the right rows; never others, if the scheme can tell. */
static void checkDamaged(const Entry *e, const char *copy) {
    int keyed;
    sqlite3 *db = openEntry(e, copy, 0, &keyed);
    Reading r = {.rc = keyed};
    if (keyed == SQLITE_OK) {
        r = readRows(db, e->seed);
    } else {
        r.message = textf("%s", sqlite3_errmsg(db));
    }
    int all = r.rc == SQLITE_DONE && r.right == e->rows && r.wrong == 0;
    if (strstr(e->expect, "rejecting is also acceptable")) {
        CHECK_MSG(all || (r.rc == SQLITE_NOTADB && r.right == 0 && r.wrong == 0), "%d right, %d wrong, %d (%s)",
                  r.right, r.wrong, r.rc, r.message);
    } else if (!strncmp(e->expect, "no detection required", 21)) {
        CHECK_MSG(r.rc == SQLITE_DONE && r.wrong <= e->wrongRows, "%d right, %d wrong, %d (%s)", r.right, r.wrong, r.rc,
                  r.message);
    } else if (!strcmp(e->expect, "all rows are returned")) {
        CHECK_MSG(all, "%d right, %d wrong, %d (%s)", r.right, r.wrong, r.rc, r.message);
    } else {
        CHECK_INT(strncmp(e->expect, "error", 5), 0);
        CHECK_MSG(r.rc == codeOf(e->table) && r.wrong == 0, "%d right, %d wrong, %d (%s); wanted %s", r.right, r.wrong,
                  r.rc, r.message, e->table);
        CHECK_MSG(r.message && strcmp(r.message, "not an error") != 0, "an error without a message");
        CHECK_MSG(!strstr(r.message, "row-"), "data in an error message: %s", r.message);
    }
    dbClose(db);
}

static int cipherKnown(const char *cipher) {
    int known = 1;
    if (cipher) {
        sqlite3 *db = dbOpen(":memory:");
        known = dbExec(db, "PRAGMA cipher='%s'", cipher) == SQLITE_OK;
        dbClose(db);
    }
    return known;
}

/* Call `check` for each entry of `where`; the number of entries that it was called for. */
static int eachEntry(const char *where, void (*check)(const Entry *e, const char *copy)) {
    sqlite3_stmt *stmt = 0;
    int done = 0, unknown = 0;
    int rc = sqlite3_prepare_v2(manifest, textf("%s WHERE %s", ENTRIES, where), -1, &stmt, 0);
    CHECK_RC(manifest, rc, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        Entry e = entryOf(stmt);
        if (!cipherKnown(e.cipher)) {
            unknown++;
            continue;
        }
        testContext("%s", e.name);
        const char *copy = takeCopy(&e);
        uint64_t before = fileHash(fixture(e.file));
        check(&e, copy);
        CHECK_MSG(fileHash(fixture(e.file)) == before, "the fixture itself was changed");
        dbFilesRemove(copy);
        done++;
    }
    sqlite3_finalize(stmt);
    testContext(0);
    printf("  %d entries checked, %d of schemes that this build does not have\n", done, unknown);
    return done;
}

/* ---- the tests -------------------------------------------------------------------------------- */

static void goodFilesAreRead(void) {
    CHECK(eachEntry("e.entry->>'$.damaged' IS NULL", checkAllRows) == 82);
}

static void damagedFilesAreRefused(void) {
    CHECK(eachEntry("e.entry->>'$.damaged'", checkDamaged) == 47);
}

static void readAndWriteAgain(const Entry *e, const char *copy) {
    int rc;
    sqlite3 *db = openEntry(e, copy, 0, &rc);
    CHECK_OK(db, rc);
    dbMust(db, "INSERT INTO t VALUES(1000, 'new', randomblob(2000))");
    dbMust(db, "DELETE FROM t WHERE id = 1000");
    dbMust(db, "VACUUM");
    dbClose(db);
    checkAllRows(e, copy);
}

static void goodFilesAreWritten(void) {
    CHECK(eachEntry("e.entry->>'$.damaged' IS NULL", readAndWriteAgain) == 82);
}

/* Open with `key` (0: none), read, write, checkpoint, close: the error, and not one byte changed. */
static void visit(const Entry *e, const char *copy, const char *key) {
    int rc;
    uint64_t main = fileHash(copy), journal = fileHash(textf("%s-journal", copy)),
             wal = fileHash(textf("%s-wal", copy));
    sqlite3 *db = key ? openEntry(e, copy, key, &rc) : dbOpen(copy);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    CHECK_INT(dbExec(db, "SELECT * FROM sqlite_schema"), SQLITE_NOTADB);
    CHECK_INT(dbExec(db, "CREATE TABLE intruder(x)"), SQLITE_NOTADB);
    dbExec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    dbExec(db, "PRAGMA journal_mode=DELETE");
    dbExec(db, "PRAGMA integrity_check");
    dbExec(db, "VACUUM");
    dbClose(db);
    const char *how = key ? "with a wrong key" : "without a key";
    CHECK_MSG(fileHash(copy) == main, "database changed %s", how);
    CHECK_MSG(fileHash(textf("%s-journal", copy)) == journal, "journal changed %s", how);
    CHECK_MSG(fileHash(textf("%s-wal", copy)) == wal, "WAL changed %s", how);
}

static void visitThenRead(const Entry *e, const char *copy) {
    visit(e, copy, 0);
    visit(e, copy, "wrong horse battery staple");
    visit(e, copy, 0);
    checkAllRows(e, copy);
}

static void hotFilesSurviveWrongKeys(void) {
    CHECK(eachEntry("e.entry->>'$.sidecars' IS NOT NULL", visitThenRead) == 12);
}

static const Test tests[] = {
    TEST("every good fixture opens with all its rows", goodFilesAreRead),
    TEST("every damaged fixture gives an error, and no wrong row", damagedFilesAreRefused),
    TEST("every good fixture can be written, vacuumed and read again", goodFilesAreWritten),
    TEST("a hot journal or WAL survives visits without key and with a wrong key", hotFilesSurviveWrongKeys),
};

int main(int argc, char **argv) {
    if (!loadManifest()) {
        printf("cannot read %s/manifest.json\n0 passed, 1 failed\n", FIXTURES);
        return 1;
    }
    int rc = testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
    sqlite3_close(manifest);
    return rc;
}
