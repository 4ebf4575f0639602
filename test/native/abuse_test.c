/*
** What nobody does, and somebody will: settings that meet at the wrong moment, callbacks that change
** keys, files that SQLite never writes alone. Whatever happens, no row is lost without an error, no
** plaintext gets out, and one key opens the file.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <string.h>

static uint64_t filesHash(const char *db) {
    return fileHash(db) ^ fileHash(textf("%s-journal", db)) * 3 ^ fileHash(textf("%s-wal", db)) * 5;
}

/* ---- WAL -------------------------------------------------------------------------------------- */

static unsigned firstFramePage(const char *file) {
    unsigned char a[4] = {0};
    fileRead(textf("%s-wal", file), 32, a, 4);
    return (unsigned)a[0] << 24 | (unsigned)a[1] << 16 | (unsigned)a[2] << 8 | a[3];
}

/* The first table of the WAL index is shorter than the others by its header; behind its page numbers
** stands its hash table. One frame of page 214 leaves there what would be the number 1. */
static void longWalWithoutPage1(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0",
           s->minPage);
    dbMust(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, data)");
    dbMust(db,
           "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300)"
           " INSERT INTO t SELECT i, 0, zeroblob(%d) FROM c",
           s->minPage - 162);
    int hit = 0, other = 0;
    for (int i = 1; i <= 300 && !(hit && other); i++) {
        dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET n = 1 WHERE id = %d", i);
        unsigned page = firstFramePage(file), slot = page * 383 & 8191;
        if (page == 214) {
            hit = i;
        } else if (slot > 60 && slot < 4000) {
            other = i;
        }
    }
    CHECK(hit && other);
    dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET n = 2 WHERE id = %d", hit);
    for (int i = 0; i < 4100; i++) {
        dbMust(db, "UPDATE t SET n = n + 1 WHERE id = %d", other);
    }
    CHECK_OK(db, dbExec(db, "PRAGMA wal_checkpoint"));
    dbClose(db);
    CHECK_INT(fileSize(textf("%s-wal", file)), -1);
    db = dbOpenKeyed(file, s, s->key);
    CHECK_INT(dbInt(db, "SELECT n FROM t WHERE id = %d", hit), 2);
    CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
    dbClose(db);
}

/* A database whose last rows stand only in a WAL with checksums over plaintext. */
static void makeLegacyWal(const Scheme *s, const char *file) {
    const char *origin = path("origin.db");
    sqlite3 *db = dbOpen(origin);
    dbMust(db, "%s PRAGMA mc_legacy_wal=1", s->setup);
    CHECK_OK(db, dbKey(db, s->key));
    dbMust(db, "PRAGMA journal_mode=WAL");
    rowsCreate(db);
    rowsInsert(db, 1, 5, 12, "a");
    dbMust(db, "PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(TRUNCATE)");
    rowsInsert(db, 6, 10, 12, "a");
    dbFilesCopy(origin, file);
    dbClose(db);
}

static void legacyWalUnderWrongKeys(const Scheme *s) {
    const char *file = path("a.db");
    makeLegacyWal(s, file);
    const char *wrong[] = {0, s->other};
    for (int i = 0; i < 2; i++) {
        testContext("%s", wrong[i] ? "another key" : "no key");
        uint64_t before = filesHash(file);
        sqlite3 *db = dbOpen(file);
        if (wrong[i]) {
            dbMust(db, "%s PRAGMA mc_legacy_wal=1", s->setup);
            CHECK_OK(db, dbKey(db, wrong[i]));
        }
        CHECK_INT(dbExec(db, "SELECT count(*) FROM t"), SQLITE_NOTADB);
        dbClose(db);
        CHECK_MSG(filesHash(file) == before, "the files have changed");
    }
    testContext(0);
    sqlite3 *db = dbOpen(file);
    dbMust(db, "%s PRAGMA mc_legacy_wal=1", s->setup);
    CHECK_OK(db, dbKey(db, s->key));
    CHECK_ROWS(db, 10, 12, "a");
    dbClose(db);
}

static void legacyWalWithoutTheSetting(const Scheme *s) {
    const char *file = path("a.db");
    makeLegacyWal(s, file);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbExec(db, "SELECT count(*) FROM t");
    dbExec(db, "INSERT INTO t(name) VALUES('new')");
    dbClose(db);
    db = dbOpen(file);
    dbMust(db, "%s PRAGMA mc_legacy_wal=1", s->setup);
    CHECK_OK(db, dbKey(db, s->key));
    dbExec(db, "DELETE FROM t WHERE name = 'new'");
    CHECK_ROWS(db, 10, 12, "a");
    dbClose(db);
}

static void rekeyWithPersistentWal(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    int on = 1;
    dbMust(db, "PRAGMA journal_mode=WAL");
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    int rc = dbRekey(db, s->other);
    CHECK_OK(db, rc);
    CHECK_ROWS(db, 20, 12, "a");
    CHECK_TEXT(dbText(db, "PRAGMA journal_mode"), "wal");
    rowsInsert(db, 21, 30, 12, "a");
    dbClose(db);
    db = dbOpenKeyed(file, s, rc == SQLITE_OK ? s->other : s->key);
    CHECK_ROWS(db, 30, 12, "a");
    dbClose(db);
}

/* ---- reserved bytes --------------------------------------------------------------------------- */

/* The reserved bytes of a new file are known when the key is: an error in between must not leave
** pages without room for nonce and tag. */
static void newFileAfterReadError(const Scheme *s) {
    spyRegister();
    for (int n = 1; n < 8; n++) {
        const char *file = path("a.db");
        testContext("call %d", n);
        dbFilesRemove(file);
        spyReset();
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        dbSetup(db, s);
        spyFaultAt(SPY_IOERR, SPY_READ | SPY_SIZE | SPY_ACCESS, SPY_ANY, n);
        int rcKey = dbKey(db, s->key);
        spyFaultAt(SPY_IOERR, 0, 0, 0);
        if (rcKey == SQLITE_OK) {
            CHECK_OK(db, dbExec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
            dbClose(db);
            db = dbOpenKeyed(file, s, s->key);
            CHECK_INT(dbInt(db, "SELECT a FROM t"), 1);
            CHECK_TEXT(dbText(db, "PRAGMA integrity_check"), "ok");
        }
        dbClose(db);
    }
}

/* The check of a backup is made when it begins; a key that comes to the target later must not have
** pages written over its nonces. */
static void keyOfBackupTargetComesLate(const Scheme *s) {
    sqlite3 *from = dbOpen(path("from.db"));
    rowsCreate(from);
    rowsInsert(from, 1, 30, 12, "a");
    sqlite3 *to = dbOpen(path("to.db"));
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    CHECK(b != 0);
    dbSetup(to, s);
    int rcKey = dbKey(to, s->key);
    int rc = sqlite3_backup_step(b, -1);
    int rcEnd = sqlite3_backup_finish(b);
    dbClose(to);
    if (rc == SQLITE_DONE && rcEnd == SQLITE_OK) {
        to = dbOpenKeyed(path("to.db"), s, rcKey == SQLITE_OK ? s->key : 0);
        CHECK_ROWS(to, 30, 12, "a");
        dbClose(to);
    }
    CHECK_ROWS(from, 30, 12, "a");
    dbClose(from);
}

/* The other way: pages of an encrypted source do not go to a target that has lost its key. */
static void keyOfBackupTargetIsRemoved(const Scheme *s) {
    sqlite3 *from = dbOpenKeyed(path("from.db"), s, s->key);
    rowsCreate(from);
    rowsInsert(from, 1, 30, 12, "a");
    sqlite3 *to = dbOpenKeyed(path("to.db"), s, s->key);
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    CHECK(b != 0);
    int rcKey = dbKey(to, "");
    if (rcKey == SQLITE_OK) {
        CHECK(sqlite3_backup_step(b, -1) != SQLITE_DONE);
    }
    sqlite3_backup_finish(b);
    dbClose(to);
    CHECK(!fileHas(path("to.db"), MARKER, 16));
    dbClose(from);
}

/* Page 1 says how many bytes are reserved. With fewer than the scheme needs the file would be lost. */
static void page1WithoutReservedBytes(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)0);
    int rc = dbExec(db, "UPDATE sqlite_dbpage SET data = CAST(substr(data, 1, 20) || x'00' || substr(data, 22) AS BLOB)"
                        " WHERE pgno = 1");
    dbClose(db);
    db = dbOpenKeyed(file, s, s->key);
    CHECK_ROWS(db, 20, 12, "a");
    CHECK(rc != SQLITE_OK);
    dbClose(db);
}

/* ---- rescue mode ------------------------------------------------------------------------------ */

static void wrongKeyWithoutHmacCheck(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    dbClose(db);
    const char *sql[] = {"PRAGMA user_version=5",
                         "PRAGMA journal_mode=WAL",
                         "PRAGMA application_id=7",
                         "VACUUM",
                         "CREATE TABLE x(a)",
                         "PRAGMA rekey='x'",
                         "PRAGMA incremental_vacuum",
                         "PRAGMA auto_vacuum=1",
                         "PRAGMA writable_schema=1; PRAGMA user_version=6",
                         "PRAGMA writable_schema=RESET; PRAGMA user_version=6"};
    for (int i = 0; i < (int)(sizeof sql / sizeof sql[0]); i++) {
        testContext("%s", sql[i]);
        const char *copy = path("copy.db");
        dbFilesCopy(file, copy);
        db = dbOpen(copy);
        dbMust(db, "%s PRAGMA hmac_check=0", s->setup);
        CHECK_OK(db, dbKey(db, s->other));
        dbExec(db, "%s", sql[i]);
        dbClose(db);
        CHECK_MSG(fileHash(copy) == fileHash(file), "the file has changed");
        db = dbOpenKeyed(copy, s, s->key);
        CHECK_ROWS(db, 20, 12, "a");
        dbClose(db);
    }
}

/* A checkpoint looks at page 1 again, strictly; that the key is not known to be right must not be
** forgotten over it. */
static void wrongKeyWithoutHmacCheckInWal(const Scheme *s) {
    const char *file = path("a.db"), *copy = path("copy.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA journal_mode=WAL");
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    dbFilesCopy(file, copy);
    dbClose(db);
    db = dbOpen(copy);
    dbMust(db, "%s PRAGMA hmac_check=0", s->setup);
    CHECK_OK(db, dbKey(db, s->other));
    for (int i = 1; i < 4; i++) {
        dbExec(db, "PRAGMA user_version");
        sqlite3_wal_checkpoint_v2(db, 0, SQLITE_CHECKPOINT_PASSIVE, 0, 0);
        dbExec(db, "PRAGMA user_version=%d", i);
    }
    dbClose(db);
    db = dbOpenKeyed(copy, s, s->key);
    CHECK_ROWS(db, 20, 12, "a");
    dbClose(db);
}

/* A database restored over another one, whose hot journal still lies there. */
static void journalOfAnotherDatabase(const Scheme *s) {
    const char *file = path("a.db"), *other = path("b.db"), *hot = path("hot.db");
    sqlite3 *db = dbOpenKeyed(other, s, s->other);
    rowsCreate(db);
    rowsInsert(db, 1, 10, 12, "b");
    dbMust(db, "PRAGMA cache_size=1; BEGIN; UPDATE t SET name = 'uncommitted', data = zeroblob(300)");
    CHECK_OK(db, sqlite3_db_cacheflush(db));
    dbFilesCopy(other, hot);
    dbMust(db, "ROLLBACK");
    dbClose(db);
    db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 200, 12, "a");
    dbClose(db);
    CHECK(fileSize(file) > fileSize(hot));
    fileCopy(file, hot);
    db = dbOpenKeyed(hot, s, s->key);
    dbExec(db, "SELECT count(*) FROM t");
    dbClose(db);
    CHECK_MSG(fileHash(hot) == fileHash(file), "the database has changed");
    fileRemove(textf("%s-journal", hot));
    db = dbOpenKeyed(hot, s, s->key);
    CHECK_ROWS(db, 200, 12, "a");
    dbClose(db);
}

/* Bit rot in a journal that was synced: a transaction is taken back as a whole, or not at all and with an
** error; never in part. Without tags only a sample of the bytes is checked. */
static void damagedRecordOfTheOnlySegment(const Scheme *s) {
    const char *file = path("a.db"), *hot = path("hot.db"), *work = path("work.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA synchronous=FULL");
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    dbMust(db, "BEGIN; UPDATE t SET name = 'uncommitted'");
    CHECK_OK(db, sqlite3_db_cacheflush(db));
    dbFilesCopy(file, hot);
    dbMust(db, "ROLLBACK");
    dbClose(db);
    int partial = 0;
    sqlite3_int64 size = fileSize(textf("%s-journal", hot));
    for (sqlite3_int64 at = 600; at < size; at += 700) {
        dbFilesCopy(hot, work);
        fileFlip(textf("%s-journal", work), at, 1);
        db = dbOpenKeyed(work, s, s->key);
        int rc = rowsProbe(db, 20, 12, "a");
        partial += rc == SQLITE_MISMATCH;
        dbClose(db);
    }
    CHECK_MSG(partial == 0, "rolled back in part %d times", partial);
}

/* The header of a journal is not authenticated: whatever it says about sizes, nothing is read or written
** outside buffers. */
static void hostileJournalHeader(const Scheme *s) {
    static const unsigned sizes[] = {1,          16,         20,         32,  100,   511,   513,
                                     0x7fffffff, 0x80000000, 0xffffffff, 512, 65536, 131072};
    const char *file = path("a.db"), *hot = path("hot.db"), *work = path("work.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024");
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    dbMust(db, "BEGIN; UPDATE t SET name = 'uncommitted'");
    CHECK_OK(db, sqlite3_db_cacheflush(db));
    dbFilesCopy(file, hot);
    dbMust(db, "ROLLBACK");
    dbClose(db);
    for (int field = 20; field <= 24; field += 4) { /* sector size, page size */
        for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
            for (int cut = 0; cut < 2; cut++) {
                testContext("%s size %u%s", field == 20 ? "sector" : "page", sizes[i], cut ? ", a cut journal" : "");
                unsigned char a[4] = {(unsigned char)(sizes[i] >> 24), (unsigned char)(sizes[i] >> 16),
                                      (unsigned char)(sizes[i] >> 8), (unsigned char)sizes[i]};
                dbFilesCopy(hot, work);
                fileWrite(textf("%s-journal", work), field, a, 4);
                if (cut) {
                    fileTruncate(textf("%s-journal", work), 900);
                }
                db = dbOpenKeyed(work, s, s->key);
                int rc = dbExec(db, "SELECT count(*) FROM t");
                CHECK_MSG(rc == SQLITE_OK || rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT, "error %d", rc);
                dbClose(db);
            }
        }
    }
}

/* ---- wrapped methods -------------------------------------------------------------------------- */

/* SQLite's recover extension puts methods of its own before those of an open file for a while, and reads
** blocks of 64 KiB through them. */
static const sqlite3_io_methods *wrapped;

static int wrapperRead(sqlite3_file *file, void *out, int n, sqlite3_int64 offset) {
    return wrapped->xRead(file, out, n, offset);
}

static void methodsAreWrapped(const Scheme *s) {
    const char *modes[] = {"DELETE", "PERSIST", "WAL"};
    for (int i = 0; i < 3; i++) {
        const char *file = path("a.db");
        testContext("%s", modes[i]);
        dbFilesRemove(file);
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA journal_mode=%s; PRAGMA wal_autocheckpoint=0", modes[i]);
        rowsCreate(db);
        rowsInsert(db, 1, 20, 12, "a");
        sqlite3_file *f = 0;
        CHECK_OK(db, sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f));
        wrapped = f->pMethods;
        sqlite3_io_methods wrapper = *wrapped;
        wrapper.xRead = wrapperRead;
        f->pMethods = &wrapper;
        CHECK_ROWS(db, 20, 12, "a");
        dbExec(db, "INSERT INTO t SELECT 21, 'row-21-a', data FROM t WHERE id = 20");
        CHECK_MSG(!fileHas(file, MARKER, 16), "plaintext in the file");
        CHECK_MSG(!fileHas(textf("%s-wal", file), MARKER, 16), "plaintext in the WAL");
        CHECK_MSG(!fileHas(textf("%s-journal", file), MARKER, 16), "plaintext in the journal");
        f->pMethods = wrapped;
        dbExec(db, "DELETE FROM t WHERE id = 21");
        dbClose(db);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_ROWS(db, 20, 12, "a");
        dbClose(db);
    }
}

static void blocksOfSeveralPages(const Scheme *s) {
    static unsigned char block[65536];
    sqlite3 *db = dbOpenKeyed(path("a.db"), s, s->key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, 400, 20, "a");
    sqlite3_file *f = 0;
    CHECK_OK(db, sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f));
    CHECK_INT(f->pMethods->xRead(f, block, 65536, 0), SQLITE_OK);
    CHECK(memcmp(block, "SQLite format 3", 16) == 0);
    CHECK_INT(f->pMethods->xRead(f, block, 65536, 65536), SQLITE_OK);
    dbClose(db);
}

/* ---- holes ------------------------------------------------------------------------------------ */

/* SQLite does not write a page that was freed before it was ever written. A hole does not open: pages of
** encrypted databases are all written, so that a backup is whole. */
static void freeLeavesThatWereNeverWritten(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=1024; PRAGMA secure_delete=0");
    rowsCreate(db);
    rowsInsert(db, 1, 5, 12, "a");
    dbMust(db, "PRAGMA secure_delete=0; BEGIN; CREATE TABLE z(a); INSERT INTO z VALUES(zeroblob(50000));"
               " CREATE TABLE y(b); INSERT INTO y VALUES(1); DELETE FROM z WHERE rowid = 1; COMMIT");
    CHECK_ROWS(db, 5, 12, "a");
    dbClose(db);
    sqlite3_int64 size;
    char *a = fileLoad(file, &size);
    int holes = 0;
    for (sqlite3_int64 at = 0; at + 1024 <= size; at += 1024) {
        int zero = 1;
        for (int i = 0; i < 1024; i++) {
            zero &= a[at + i] == 0;
        }
        holes += zero;
    }
    CHECK_INT(holes, 0);
    db = dbOpenKeyed(file, s, s->key);
    sqlite3 *to = dbOpenKeyed(path("to.db"), s, s->other);
    sqlite3_backup *b = sqlite3_backup_init(to, "main", db, "main");
    CHECK(b != 0);
    CHECK_INT(sqlite3_backup_step(b, -1), SQLITE_DONE);
    CHECK_INT(sqlite3_backup_finish(b), SQLITE_OK);
    CHECK_ROWS(to, 5, 12, "a");
    dbClose(to);
    CHECK_OK(db, dbExec(db, "SELECT count(data) FROM sqlite_dbpage"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM dbstat"));
    CHECK_OK(db, dbExec(db, "INSERT INTO t(name) SELECT zeroblob(60000)"));
    CHECK_OK(db, dbExec(db, "DELETE FROM t WHERE id > 5"));
    CHECK_OK(db, dbExec(db, "PRAGMA secure_delete=1; VACUUM"));
    CHECK_ROWS(db, 5, 12, "a");
    dbClose(db);
}

/* ---- plaintext that stays or gets out --------------------------------------------------------- */

static void tailOfAChunkedFile(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    int chunk = 1 << 20;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk);
    rowsCreate(db);
    rowsInsert(db, 1, 400, 40, "a");
    dbMust(db, "DELETE FROM t WHERE id > 3; VACUUM");
    dbSetup(db, s);
    CHECK_OK(db, dbRekey(db, s->key));
    CHECK_ROWS(db, 3, 40, "a");
    dbClose(db);
    CHECK_MSG(!fileHas(file, MARKER, 16), "plaintext behind the last page");
}

static void vacuumIntoOfAnAttachedDatabase(const Scheme *s) {
    const char *file = path("aux.db"), *out = path("out.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 12, "a");
    dbClose(db);
    for (int i = 0; i < 2; i++) {
        testContext(i ? "main has another key" : "main is plain");
        dbFilesRemove(out);
        db = i ? dbOpenKeyed(path("main.db"), s, s->other) : dbOpen(":memory:");
        dbMust(db, "%s ATTACH '%s' AS aux KEY %s", s->setup, file, textf("\"%s\"", s->key));
        int rc = dbExec(db, "VACUUM aux INTO '%s'", out);
        dbClose(db);
        CHECK_MSG(!fileHas(out, MARKER, 16), "a plain copy of an encrypted database");
        if (rc == SQLITE_OK) {
            db = dbOpenKeyed(out, s, s->key);
            CHECK_ROWS(db, 20, 12, "a");
            dbClose(db);
        }
    }
}

/* ---- settings --------------------------------------------------------------------------------- */

/* What the URI of an attached file says is for that file. */
static void settingsOfAnAttachEndWithIt(void) {
    sqlite3 *db = dbOpen(path("main.db"));
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "64007");
    CHECK_OK(db, dbExec(db, "ATTACH '%s' AS plain", uri(path("plain.db"), "kdf_iter=1&hmac_check=0&legacy=1")));
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "64007");
    CHECK_TEXT(dbText(db, "PRAGMA hmac_check"), "1");
    CHECK_TEXT(dbText(db, "PRAGMA legacy"), "0");
    dbMust(db, "PRAGMA key='raw:0123456789abcdef0123456789abcdef'");
    CHECK_OK(db, dbExec(db, "ATTACH '%s' AS heir", uri(path("heir.db"), "kdf_iter=2")));
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "64007");
    dbExec(db, "ATTACH '%s' AS bad", uri(path("bad.db"), "kdf_iter=3&hexkey=abc"));
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "64007");
    dbClose(db);
}

/* ---- keys from callbacks ---------------------------------------------------------------------- */

static const Scheme *callbackScheme;
static int callbackRc, callbackRekey;

static void keyFunction(sqlite3_context *context, int n, sqlite3_value **args) {
    (void)n;
    (void)args;
    sqlite3 *db = sqlite3_context_db_handle(context);
    callbackRc = callbackRekey ? dbRekey(db, callbackScheme->other) : dbKey(db, callbackScheme->other);
    sqlite3_result_int(context, callbackRc);
}

static void onUpdate(void *context, int op, char const *database, char const *table, sqlite3_int64 id) {
    (void)op;
    (void)id;
    *(int *)context += (int)strlen(database) + (int)strlen(table);
}

static void keyFromAFunction(const Scheme *s) {
    const char *sql[] = {"INSERT INTO temp.x SELECT f(value) FROM json_each('[1,2,3]')",
                         "INSERT INTO aux.x SELECT f(value) FROM json_each('[1,2,3]')",
                         "SELECT f(1)",
                         "SELECT f(1) FROM temp.x",
                         "SELECT f(id) FROM t",
                         "DELETE FROM temp.x WHERE f(a)",
                         "WITH c AS MATERIALIZED (SELECT f(1) AS v) INSERT INTO temp.v SELECT v FROM c"};
    callbackScheme = s;
    for (int i = 0; i < (int)(2 * sizeof sql / sizeof sql[0]); i++) {
        const char *file = path("a.db");
        int total = 0;
        callbackRekey = i % 2;
        testContext("%s: %s", callbackRekey ? "rekey" : "key", sql[i / 2]);
        dbFilesRemove(file);
        dbFilesRemove(path("aux.db"));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        rowsCreate(db);
        rowsInsert(db, 1, 5, 12, "a");
        dbMust(db,
               "CREATE TEMP TABLE x(a); ATTACH '%s' AS aux; CREATE TABLE aux.x(a); INSERT INTO temp.x VALUES(1),(2)",
               path("aux.db"));
        dbMust(db, "CREATE TEMP TABLE w(a); CREATE TEMP VIEW v AS SELECT a FROM w;"
                   "CREATE TEMP TRIGGER tr INSTEAD OF INSERT ON v BEGIN INSERT INTO w VALUES(new.a); END");
        sqlite3_update_hook(db, onUpdate, &total);
        sqlite3_create_function(db, "f", 1, SQLITE_UTF8, 0, keyFunction, 0, 0);
        callbackRc = -1;
        dbExec(db, "%s", sql[i / 2]);
        CHECK_INT(callbackRc, SQLITE_ERROR);
        CHECK_ROWS(db, 5, 12, "a");
        dbClose(db);
    }
}

static int keyHandler(void *context) {
    sqlite3 *db = context;
    if (callbackRc == -1) {
        callbackRc = callbackRekey ? dbRekey(db, callbackScheme->other) : dbKey(db, callbackScheme->other);
    }
    return 0;
}

static void keyFromAProgressHandler(const Scheme *s) {
    const char *sql[] = {"INSERT INTO temp.x SELECT value FROM json_each('[1,2,3]')", "SELECT count(*) FROM t",
                         "INSERT INTO aux.x SELECT value FROM json_each('[1,2,3]')"};
    callbackScheme = s;
    for (int i = 0; i < 6; i++) {
        const char *file = path("a.db");
        callbackRekey = i % 2;
        testContext("%s: %s", callbackRekey ? "rekey" : "key", sql[i / 2]);
        dbFilesRemove(file);
        dbFilesRemove(path("aux.db"));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        rowsCreate(db);
        rowsInsert(db, 1, 5, 12, "a");
        dbMust(db, "CREATE TEMP TABLE x(a); ATTACH '%s' AS aux; CREATE TABLE aux.x(a)", path("aux.db"));
        callbackRc = -1;
        sqlite3_progress_handler(db, 1, keyHandler, db);
        dbExec(db, "%s", sql[i / 2]);
        sqlite3_progress_handler(db, 0, 0, 0);
        CHECK_INT(callbackRc, SQLITE_ERROR);
        CHECK_ROWS(db, 5, 12, "a");
        dbClose(db);
    }
}

/* sqlite3_interrupt() without a running statement has no effect. */
static void interruptBeforeRekey(const Scheme *s) {
    sqlite3 *db = dbOpenKeyed(path("a.db"), s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 5, 12, "a");
    sqlite3_interrupt(db);
    CHECK_OK(db, sqlite3_rekey(db, s->other, (int)strlen(s->other)));
    CHECK_ROWS(db, 5, 12, "a");
    dbClose(db);
}

static const Test tests[] = {
    TEST_SCHEME("a WAL of more than 4,062 frames without page 1 is checkpointed", longWalWithoutPage1),
    TEST_SCHEME("a WAL with plaintext checksums stays under a wrong key", legacyWalUnderWrongKeys),
    TEST_SCHEME("a WAL with plaintext checksums is not lost without the setting", legacyWalWithoutTheSetting),
    TEST_SCHEME("rekey with a persistent WAL", rekeyWithPersistentWal),
    TEST_SCHEME("a read error when the key of a new file is set", newFileAfterReadError),
    TEST_SCHEME("a key is set on the target of a backup that has begun", keyOfBackupTargetComesLate),
    TEST_SCHEME("the key of the target of a backup is removed", keyOfBackupTargetIsRemoved),
    TEST_TAGGED("a page 1 without reserved bytes is not written", page1WithoutReservedBytes),
    TEST_SCHEME("a wrong key with hmac_check=0 writes nothing", wrongKeyWithoutHmacCheck),
    TEST_SCHEME("a wrong key with hmac_check=0 writes nothing, WAL", wrongKeyWithoutHmacCheckInWal),
    TEST_SCHEME("the hot journal of another database", journalOfAnotherDatabase),
    TEST_TAGGED("a damaged record in the only segment of a journal", damagedRecordOfTheOnlySegment),
    TEST_SCHEME("the header of a journal lies about sizes", hostileJournalHeader),
    TEST_SCHEME("the methods of an open file are wrapped", methodsAreWrapped),
    TEST_SCHEME("blocks of several pages are read, as recover does", blocksOfSeveralPages),
    TEST_SCHEME("no page stays unwritten", freeLeavesThatWereNeverWritten),
    TEST_SCHEME("no plaintext is left behind the last page by rekey", tailOfAChunkedFile),
    TEST_SCHEME("VACUUM INTO of an attached database keeps its key", vacuumIntoOfAnAttachedDatabase),
    TEST("settings in the URI of ATTACH end with it", settingsOfAnAttachEndWithIt),
    TEST_SCHEME("a function sets a key of its own connection", keyFromAFunction),
    TEST_SCHEME("a progress handler sets a key", keyFromAProgressHandler),
    TEST_SCHEME("an interrupt before a rekey", interruptBeforeRekey),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
