/*
** Rekey: to another key, another scheme, from and to plaintext; what it refuses; what other
** connections see. That a rekey survives being killed is in rekey_kill_test.c.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 120, REPEAT = 20 };

static int isPlain(const char *file) {
    char head[16] = {0};
    fileRead(file, 0, head, 16);
    return !memcmp(head, "SQLite format 3", 16);
}

/* A file of ROWS rows; scheme and key may be NULL: plain. `pragmas` come before the key. */
static const char *makeFile(const char *name, const Scheme *scheme, const char *key, const char *pragmas) {
    const char *file = path(name);
    dbFilesRemove(file);
    sqlite3 *db = dbOpen(file);
    dbMust(db, "PRAGMA page_size=4096; %s", pragmas);
    if (scheme) {
        CHECK_OK(db, dbSetup(db, scheme));
        CHECK_OK(db, dbKey(db, key));
    }
    rowsCreate(db);
    dbMust(db, "CREATE INDEX i ON t(name)");
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    return file;
}

static void checkOpens(const char *file, const Scheme *scheme, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, scheme, key);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
}

static void checkRefused(const char *file, const Scheme *scheme, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, scheme, key);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbClose(db);
}

static void noMarker(const char *file) {
    CHECK(!fileHas(file, MARKER, 16));
    CHECK(!fileHas(textf("%s-journal", file), MARKER, 16));
    CHECK(!fileHas(textf("%s-wal", file), MARKER, 16));
}

static void keyToKey(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    unsigned char before[16], after[16];
    fileRead(file, 0, before, 16);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbRekey(db, s->other));
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbMust(db, "UPDATE t SET name = name");
    dbClose(db);
    checkOpens(file, s, s->other);
    checkRefused(file, s, s->key);
    checkRefused(file, 0, 0);
    fileRead(file, 0, after, 16);
    CHECK_MSG(!s->salted || memcmp(before, after, 16) != 0, "the salt is the old one");
    CHECK_TEXT(dbText(db = dbOpenKeyed(file, s, s->other), "PRAGMA integrity_check"), "ok");
    dbClose(db);
    noMarker(file);
}

static void plainToKey(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, "");
    sqlite3 *db = dbOpenKeyed(file, s, 0);
    CHECK_OK(db, dbRekey(db, s->key));
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    CHECK(!isPlain(file));
    noMarker(file);
    checkOpens(file, s, s->key);
    checkRefused(file, s, s->other);
    checkRefused(file, 0, 0);
}

static void keyToPlain(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_OK(db, dbRekey(db, ""));
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    CHECK(isPlain(file));
    checkOpens(file, 0, 0);
    unsigned char reserved = 99;
    fileRead(file, 20, &reserved, 1);
    CHECK_INT(reserved, 0);
    /* it is a plain file for everyone: the bare VFS reads it too */
    db = dbOpenWith(file, SQLITE_OPEN_READWRITE, realVfs());
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
}

static void fromSchemeToScheme(const Scheme *s) {
    const Scheme *to;
    for (int i = 0; (to = schemeAt(i)) != 0; i++) {
        testContext("to %s", to->name);
        const char *file = makeFile("a.db", s, s->key, "");
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        CHECK_OK(db, dbSetup(db, to));
        CHECK_OK(db, dbRekey(db, to->other));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, to, to->other);
        checkRefused(file, s, s->key);

        /* C14: through plaintext on one connection */
        file = makeFile("b.db", s, s->key, "");
        db = dbOpenKeyed(file, s, s->key);
        CHECK_OK(db, dbRekey(db, ""));
        CHECK(isPlain(file));
        CHECK_OK(db, dbSetup(db, to));
        CHECK_OK(db, dbRekey(db, to->other));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, to, to->other);
    }
}

/* Many rekeys of one connection, with writes between them. */
static void rekeyAgainAndAgain(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, "");
    sqlite3 *db = dbOpen(file);
    const char *key = 0;
    for (int i = 0; i < 12; i++) {
        static const int order[] = {0, 1, 0, 2, 2, 1, 1, 0, 2, 0, 1, 0};
        key = order[i] == 0 ? s->key : order[i] == 1 ? s->other : "";
        testContext("step %d", i);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, key));
        dbMust(db, "INSERT INTO t VALUES(100000, 'x', zeroblob(20000)); DELETE FROM t WHERE id = 100000");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
    }
    dbClose(db);
    checkOpens(file, s, s->key);
}

static void everyPageSizeAndShape(const Scheme *s) {
    static const char *const shapes[] = {
        "PRAGMA page_size=512",
        "PRAGMA page_size=1024",
        "PRAGMA page_size=2048",
        "PRAGMA page_size=8192",
        "PRAGMA page_size=65536",
        "PRAGMA auto_vacuum=FULL",
        "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA page_size=1024",
        "PRAGMA encoding='UTF-16le'",
        "PRAGMA secure_delete=1",
        "PRAGMA user_version=42; PRAGMA application_id=7",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        testContext("%s", shapes[i]);
        const char *file = makeFile("a.db", 0, 0, shapes[i]);
        sqlite3 *db = dbOpenKeyed(file, s, 0);
        const char *what = "SELECT page_size || ' ' || auto_vacuum || ' ' || encoding || ' ' || user_version || ' ' ||"
                           " application_id FROM pragma_page_size, pragma_auto_vacuum, pragma_encoding,"
                           " pragma_user_version, pragma_application_id";
        const char *shape = dbText(db, what);
        if (!strncmp(shape, "512 ", 4) && s->minPage > 512) {
            CHECK_RC(db, dbRekey(db, s->key), SQLITE_ERROR);
            CHECK_HAS(sqlite3_errmsg(db), "too small");
            CHECK_ROWS(db, ROWS, REPEAT, "a");
            dbClose(db);
            checkOpens(file, 0, 0);
            continue;
        }
        CHECK_OK(db, dbRekey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        CHECK_TEXT(dbText(db, what), shape);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->other));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, s, s->other);
        db = dbOpenKeyed(file, s, s->other);
        CHECK_OK(db, dbRekey(db, ""));
        CHECK_TEXT(dbText(db, what), shape);
        dbClose(db);
        checkOpens(file, 0, 0);
    }
}

/* Extra reserved bytes of the plain file become the scheme's, and none after decryption. */
static void reservedBytes(const Scheme *s) {
    static const int reserves[] = {0, 12, 32, 100};
    for (int i = 0; i < 4; i++) {
        int reserve = reserves[i];
        testContext("%d reserved bytes", reserve);
        const char *file = path(textf("%d.db", reserve));
        sqlite3 *db = dbOpen(file);
        CHECK_OK(db, sqlite3_file_control(db, 0, SQLITE_FCNTL_RESERVE_BYTES, &reserve));
        rowsCreate(db);
        dbMust(db, "CREATE INDEX i ON t(name)");
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        checkOpens(file, s, s->key);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_OK(db, dbRekey(db, ""));
        dbClose(db);
        unsigned char reserved = 99;
        fileRead(file, 20, &reserved, 1);
        CHECK_INT(reserved, 0);
        checkOpens(file, 0, 0);
    }
}

/* C17: in WAL mode, with rows that are only in the WAL. */
static void inWalMode(const Scheme *s) {
    static const char *const names[] = {"plain to key", "key to key", "key to plain"};
    for (int kind = 0; kind < 3; kind++) {
        testContext("%s", names[kind]);
        const char *file = path(textf("%d.db", kind));
        sqlite3 *db = dbOpen(file);
        if (kind > 0) {
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbKey(db, s->key));
        }
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode=WAL"), "wal");
        dbMust(db, "PRAGMA wal_autocheckpoint=0");
        rowsCreate(db);
        rowsInsert(db, 1, ROWS / 2, REPEAT, "a");
        dbMust(db, "PRAGMA wal_checkpoint");
        rowsInsert(db, ROWS / 2 + 1, ROWS, REPEAT, "a");
        CHECK(fileSize(textf("%s-wal", file)) > 4096);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, kind == 2 ? "" : s->other));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode"), "wal");
        dbMust(db, "INSERT INTO t VALUES(100000, 'x', 'y'); DELETE FROM t WHERE id = 100000");
        if (kind < 2) {
            noMarker(file);
        }
        /* as it is now, with its WAL, it opens under the new key only */
        const char *copy = path(textf("copy%d.db", kind));
        dbFilesCopy(file, copy);
        dbClose(db);
        for (int c = 0; c < 2; c++) {
            checkRefused(c ? copy : file, s, s->key);
            if (kind == 2) {
                checkRefused(c ? copy : file, s, s->other);
                checkOpens(c ? copy : file, 0, 0);
            } else {
                checkRefused(c ? copy : file, 0, 0);
                checkOpens(c ? copy : file, s, s->other);
            }
        }
    }
}

/* In WAL mode another connection would go on reading the old pages. */
static void walWithAnotherConnection(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    sqlite3 *one = dbOpenKeyed(file, s, s->key), *two = dbOpenKeyed(file, s, s->key);
    CHECK_TEXT(dbText(one, "PRAGMA journal_mode=WAL"), "wal");
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    CHECK_OK(one, dbSetup(one, s));
    CHECK_INT(dbRekey(one, s->other), SQLITE_BUSY);
    CHECK_ROWS(one, ROWS, REPEAT, "a");
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    dbClose(two);
    CHECK_OK(one, dbSetup(one, s));
    CHECK_OK(one, dbRekey(one, s->other));
    CHECK_ROWS(one, ROWS, REPEAT, "a");
    dbClose(one);
    checkOpens(file, s, s->other);
    checkRefused(file, s, s->key);
}

/* C18: the parameters of the connection are those of the new key. */
static void parametersOfTheNewKey(void) {
    const Scheme *s = schemeNamed("chacha20");
    const char *file = makeFile("a.db", s, "old", "");
    sqlite3 *db = dbOpenKeyed(file, s, "old");
    dbMust(db, "PRAGMA temp.kdf_iter=17; PRAGMA rekey='new'");
    dbMust(db, "INSERT INTO t VALUES(100000, 'x', 'y'); DELETE FROM t WHERE id = 100000");
    dbClose(db);
    db = dbOpen(file);
    dbMust(db, "PRAGMA kdf_iter=17; PRAGMA key='new'");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    /* a salt from outside */
    dbMust(db, "PRAGMA rekey=''; PRAGMA kdf_iter=3; PRAGMA cipher_salt='00112233445566778899aabbccddeeff'");
    CHECK_OK(db, dbRekey(db, "newer"));
    dbClose(db);
    unsigned char salt[16] = {0};
    fileRead(file, 0, salt, 16);
    CHECK(salt[1] == 0x11 && salt[15] == 0xff);
    db = dbOpen(file);
    dbMust(db, "PRAGMA kdf_iter=3; PRAGMA key='newer'");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    /* to the legacy form and back */
    file = makeFile("b.db", s, "old", "");
    db = dbOpenKeyed(file, s, "old");
    dbMust(db, "PRAGMA legacy=1; PRAGMA legacy_page_size=4096; PRAGMA rekey='new'");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    db = dbOpen(file);
    dbMust(db, "PRAGMA legacy=1; PRAGMA legacy_page_size=4096; PRAGMA key='new'");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbMust(db, "PRAGMA legacy=0; PRAGMA kdf_iter=1; PRAGMA rekey='again'");
    dbClose(db);
    checkOpens(file, s, "again");
}

/* C16: a scheme that fixes another page size. */
static void otherPageSizeIsRefused(void) {
    const Scheme *s = schemeNamed("chacha20");
    const char *files[] = {makeFile("a.db", s, s->key, ""), makeFile("b.db", 0, 0, "")};
    for (int plain = 0; plain < 2; plain++) {
        uint64_t before = fileHash(files[plain]);
        sqlite3 *db = plain ? dbOpen(files[plain]) : dbOpenKeyed(files[plain], s, s->key);
        dbMust(db, "PRAGMA legacy=1; PRAGMA legacy_page_size=16384");
        CHECK_INT(dbRekey(db, "new"), SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(db), "age");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        CHECK(fileHash(files[plain]) == before);
    }
}

static void readOnly(const Scheme *s) {
    const char *files[] = {makeFile("a.db", s, s->key, ""), makeFile("b.db", 0, 0, "")};
    for (int plain = 0; plain < 2; plain++) {
        uint64_t before = fileHash(files[plain]);
        sqlite3 *db = dbOpenWith(files[plain], SQLITE_OPEN_READONLY, shimVfs());
        CHECK_OK(db, dbSetup(db, s));
        if (!plain) {
            CHECK_OK(db, dbKey(db, s->key));
            CHECK_OK(db, dbSetup(db, s));
        }
        CHECK_INT(dbRekey(db, s->other), SQLITE_READONLY);
        CHECK_INT(dbRekey(db, plain ? s->key : ""), SQLITE_READONLY);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        CHECK(fileHash(files[plain]) == before);
    }
    checkOpens(files[0], s, s->key);
}

static void otherConnectionSeesAnError(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    sqlite3 *one = dbOpenKeyed(file, s, s->key), *two = dbOpenKeyed(file, s, s->key);
    CHECK_ROWS(one, ROWS, REPEAT, "a");
    CHECK_OK(two, dbSetup(two, s));
    CHECK_OK(two, dbRekey(two, s->other));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(dbExec(one, "SELECT * FROM t"), SQLITE_NOTADB);
        CHECK_INT(dbExec(one, "DELETE FROM t"), SQLITE_NOTADB);
    }
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    CHECK_OK(one, dbSetup(one, s));
    CHECK_OK(one, dbKey(one, s->other));
    CHECK_ROWS(one, ROWS, REPEAT, "a");
    /* decrypted by the other one */
    CHECK_OK(two, dbRekey(two, ""));
    CHECK_INT(dbExec(one, "SELECT * FROM t"), SQLITE_NOTADB);
    CHECK_OK(one, dbKey(one, ""));
    CHECK_ROWS(one, ROWS, REPEAT, "a");
    /* and encrypted by the other one */
    CHECK_OK(two, dbSetup(two, s));
    CHECK_OK(two, dbRekey(two, s->key));
    CHECK_INT(dbExec(one, "SELECT * FROM t"), SQLITE_NOTADB);
    dbClose(one);
    dbClose(two);
    checkOpens(file, s, s->key);
}

/* A reader holds a lock: the rekey fails, nothing is changed. */
static void busyReader(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    uint64_t before = fileHash(file);
    sqlite3 *one = dbOpenKeyed(file, s, s->key), *two = dbOpenKeyed(file, s, s->key);
    dbMust(one, "BEGIN");
    CHECK_INT(dbInt(one, "SELECT count(*) FROM t"), ROWS);
    CHECK_OK(two, dbSetup(two, s));
    CHECK_INT(dbRekey(two, s->other), SQLITE_BUSY);
    CHECK_ROWS(two, ROWS, REPEAT, "a");
    CHECK_INT(dbInt(one, "SELECT count(*) FROM t"), ROWS);
    dbMust(one, "COMMIT");
    CHECK(fileHash(file) == before);
    CHECK_OK(two, dbSetup(two, s));
    CHECK_OK(two, dbRekey(two, s->other));
    dbClose(one);
    dbClose(two);
    checkOpens(file, s, s->other);
}

static void attachedDatabases(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, ""), *other = path("b.db");
    sqlite3 *db = dbOpenKeyed(file, s, 0);
    CHECK_OK(db, dbRekey(db, s->key));
    dbMust(db, "ATTACH %Q AS b; CREATE TABLE b.u(x); INSERT INTO b.u VALUES('" MARKER "'); DETACH b", other);
    CHECK(!isPlain(other));
    noMarker(other);
    dbMust(db, "ATTACH %Q AS b", other);
    CHECK_TEXT(dbText(db, "SELECT x FROM b.u"), MARKER);

    /* the attached one gets a key of its own */
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbExec(db, "PRAGMA b.rekey=%Q", s->other));
    CHECK_TEXT(dbText(db, "SELECT x FROM b.u"), MARKER);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbMust(db, "DETACH b");
    dbClose(db);
    checkOpens(file, s, s->key);
    db = dbOpenKeyed(other, s, s->other);
    CHECK_TEXT(dbText(db, "SELECT x FROM u"), MARKER);
    dbClose(db);
}

/* A damaged plain file: an error with a message that can be read, or success; never a half. */
static void damagedPlainFile(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, "");
    sqlite3 *db = dbOpen(file);
    int root = (int)dbInt(db, "SELECT rootpage FROM sqlite_schema WHERE name = 't'");
    dbClose(db);
    fileWrite(file, (sqlite3_int64)(root - 1) * 4096, "\x77\xff\xff\xff\xff\xff\xff\xff", 8);
    uint64_t before = fileHash(file);
    for (int byCall = 0; byCall < 2; byCall++) {
        db = dbOpenKeyed(file, s, 0);
        int rc = byCall ? sqlite3_rekey(db, s->key, -1) : dbRekey(db, s->key);
        if (rc != SQLITE_OK) {
            const char *message = sqlite3_errmsg(db);
            CHECK_MSG(strlen(message) > 5 && strlen(message) < 200, "message: %s", message);
            CHECK_INT(sqlite3_errcode(db) & 0xff, rc & 0xff);
            dbClose(db);
            CHECK(fileHash(file) == before);
        } else {
            dbClose(db);
            checkRefused(file, 0, 0);
            break;
        }
    }
}

static void wrongOldKey(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    uint64_t before = fileHash(file);
    sqlite3 *db = dbOpenKeyed(file, s, s->other);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_INT(dbRekey(db, "new"), SQLITE_NOTADB);
    CHECK_INT(dbRekey(db, ""), SQLITE_NOTADB);
    dbClose(db);
    db = dbOpenKeyed(file, s, 0);
    CHECK_INT(dbRekey(db, "new"), SQLITE_NOTADB);
    dbClose(db);
    CHECK(fileHash(file) == before);
    checkOpens(file, s, s->key);
}

static void inTransactionIsRefused(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    const char *const keys[] = {s->other, ""};
    for (int i = 0; i < 2; i++) {
        dbMust(db, "BEGIN; DELETE FROM t WHERE id = %d", ROWS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_INT(dbRekey(db, keys[i]), SQLITE_ERROR);
        CHECK_MSG(strlen(sqlite3_errmsg(db)) > 15, "message: %s", sqlite3_errmsg(db));
        dbMust(db, "ROLLBACK");
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        sqlite3_stmt *stmt = 0;
        CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &stmt, 0));
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        CHECK_INT(dbRekey(db, keys[i]), SQLITE_ERROR);
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        sqlite3_finalize(stmt);
    }
    dbClose(db);
    checkOpens(file, s, s->key);
}

static void newAndEmptyFiles(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, 0);
    CHECK_OK(db, dbRekey(db, s->key));
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    CHECK(!isPlain(file));
    checkOpens(file, s, s->key);

    file = path("b.db");
    db = dbOpenKeyed(file, s, s->key);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbRekey(db, s->other));
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    checkOpens(file, s, s->other);
}

static void everyJournalMode(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"};
    for (int i = 0; i < 5; i++) {
        testContext("journal_mode %s", modes[i]);
        const char *file = makeFile("a.db", 0, 0, "");
        sqlite3 *db = dbOpen(file);
        const char *const keys[] = {s->key, s->other, ""};
        for (int k = 0; k < 3; k++) {
            dbMust(db, "PRAGMA journal_mode=%s", modes[i]);
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbRekey(db, keys[k]));
            CHECK_ROWS(db, ROWS, REPEAT, "a");
            sqlite3 *two = dbOpenKeyed(file, s, keys[k]);
            CHECK_ROWS(two, ROWS, REPEAT, "a");
            dbClose(two);
        }
        dbClose(db);
    }
}

/* Statements of before go on working after a rekey. */
static void preparedStatements(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, "");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    sqlite3_stmt *stmt = 0;
    CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &stmt, 0));
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    sqlite3_reset(stmt);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbRekey(db, s->other));
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    CHECK_INT(sqlite3_column_int(stmt, 0), ROWS);
    sqlite3_finalize(stmt);
    dbClose(db);
}

/* ---- progress ---------------------------------------------------------------------------------------- */

typedef struct Progress {
    sqlite3 *db;
    int calls;
    int cancelAt;  /* the call that cancels; 0: none */
    int interrupt; /* it does so by sqlite3_interrupt() */
    sqlite3_int64 last, total;
    int wrong; /* the numbers made no sense */
} Progress;

static int onProgress(void *context, sqlite3_int64 done, sqlite3_int64 total) {
    Progress *p = context;
    p->calls++;
    p->wrong |= done < p->last || done > total || (p->total != 0 && p->total != total);
    p->wrong |= p->calls == 1 && done != 0;
    p->last = done;
    p->total = total;
    if (p->interrupt && p->calls == p->cancelAt) {
        sqlite3_interrupt(p->db);
        return 0;
    }
    return p->calls == p->cancelAt;
}

static int countCalls(void *context) {
    (*(int *)context)++;
    return 0;
}

/* From one scheme (NULL: plain) to another. Cancelled at every call: the file is under the old key. */
static void cancelEverywhere(const Scheme *from, const Scheme *to, const char *mode) {
    const char *original = makeFile("original.db", 0, 0, "PRAGMA page_size=1024"), *file = path("a.db");
    sqlite3 *db = dbOpen(original);
    dbMust(db, "CREATE TABLE big AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
               " SELECT i, zeroblob(800) AS z FROM n");
    if (from) {
        CHECK_OK(db, dbSetup(db, from));
        CHECK_OK(db, dbRekey(db, from->key));
    }
    dbMust(db, "PRAGMA journal_mode=%s", mode);
    sqlite3_int64 pages = dbInt(db, "PRAGMA page_count");
    dbClose(db);
    int same = (from ? from->reserved : 0) == (to ? to->reserved : 0), going = 1;
    for (int n = 1; going && !testFailed(); n++) {
        testContext("%s to %s, %s, call %d", from ? from->name : "plain", to ? to->name : "plain", mode, n);
        dbFilesRemove(file);
        dbFilesCopy(original, file);
        db = dbOpenKeyed(file, from, from ? from->key : 0);
        Progress p = {db, 0, n, n % 2, 0, 0, 0};
        int userCalls = 0;
        CHECK_INT(sqlite3mc_progress(db, onProgress, &p), SQLITE_OK);
        sqlite3_progress_handler(db, 50, countCalls, &userCalls);
        dbMust(db, "PRAGMA cache_size=10; PRAGMA synchronous=OFF");
        if (to) {
            CHECK_OK(db, dbSetup(db, to));
        }
        int rc = dbRekey(db, to ? to->other : "");
        going = p.calls >= n;
        CHECK_MSG(!p.wrong, "%lld of %lld", (long long)p.last, (long long)p.total);
        CHECK_INT(p.total, same ? pages : 2 * pages);
        /* the call that reports success cannot cancel it */
        int done = !going || p.last == p.total;
        CHECK_RC(db, rc, done ? SQLITE_OK : SQLITE_INTERRUPT);
        CHECK(!done || p.calls > 3);
        CHECK(same || n < 3 || userCalls > 0);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbMust(db, "UPDATE t SET name = name");
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode"), mode);
        dbClose(db);
        const Scheme *now = done ? to : from;
        checkOpens(file, now, now ? (done ? now->other : now->key) : 0);
    }
}

static void progressAndCancel(const Scheme *s) {
    static const char *const modes[] = {"delete", "wal"};
    for (int m = 0; m < 2; m++) {
        cancelEverywhere(0, s, modes[m]);
        cancelEverywhere(s, 0, modes[m]);
        cancelEverywhere(s, s, modes[m]);
    }
}

static void progressOfArguments(void) {
    Progress p = {0, 0, 0, 0, 0, 0, 0};
    CHECK_INT(sqlite3mc_progress(0, onProgress, &p), SQLITE_MISUSE);
    const Scheme *s = schemeAt(0);
    sqlite3 *db = dbOpenKeyed(makeFile("a.db", s, s->key, ""), s, s->key);
    CHECK_INT(sqlite3mc_progress(db, onProgress, &p), SQLITE_OK);
    CHECK_INT(sqlite3mc_progress(db, 0, 0), SQLITE_OK);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbRekey(db, s->other));
    CHECK_INT(p.calls, 0);
    dbClose(db);
}

static const Test tests[] = {
    TEST_SCHEME("rekey from key to key", keyToKey),
    TEST_SCHEME("rekey from plain to key", plainToKey),
    TEST_SCHEME("rekey from key to plain", keyToPlain),
    TEST_SCHEME("C14 rekey from scheme to scheme, directly and through plain", fromSchemeToScheme),
    TEST_SCHEME("rekey again and again on one connection", rekeyAgainAndAgain),
    TEST_SCHEME("rekey keeps page size, encoding, auto_vacuum, versions", everyPageSizeAndShape),
    TEST_SCHEME("rekey of files with reserved bytes", reservedBytes),
    TEST_SCHEME("C17 rekey in WAL mode, with rows in the WAL", inWalMode),
    TEST_SCHEME("C17 rekey in WAL mode beside another connection is BUSY", walWithAnotherConnection),
    TEST("C18 rekey takes the parameters of the connection", parametersOfTheNewKey),
    TEST("C16 rekey to a scheme with another page size is refused", otherPageSizeIsRefused),
    TEST_SCHEME("C19 rekey of a read-only file", readOnly),
    TEST_SCHEME("C21 another connection gets an error after a rekey", otherConnectionSeesAnError),
    TEST_SCHEME("rekey beside a reader is BUSY and changes nothing", busyReader),
    TEST_SCHEME("C22 rekey, and ATTACH that inherits the key", attachedDatabases),
    TEST_SCHEME("C23 rekey of a damaged plain file", damagedPlainFile),
    TEST_SCHEME("rekey under a wrong key is NOTADB and changes nothing", wrongOldKey),
    TEST_SCHEME("rekey inside a transaction or beside a statement is refused", inTransactionIsRefused),
    TEST_SCHEME("rekey of files without a byte", newAndEmptyFiles),
    TEST_SCHEME("rekey in every journal mode", everyJournalMode),
    TEST_SCHEME("prepared statements survive a rekey", preparedStatements),
    TEST_SCHEME("rekey tells its progress and can be cancelled at every call", progressAndCancel),
    TEST("a progress callback is replaced and removed", progressOfArguments),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
