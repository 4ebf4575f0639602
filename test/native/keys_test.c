/*
** Keys: right, wrong, changed, in every spelling; what they do to the connection and to the file.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* A file of `count` rows under the key, closed. */
static const char *makeFile(const char *name, const Scheme *scheme, const char *key, int count) {
    const char *file = path(name);
    sqlite3 *db = dbOpenKeyed(file, scheme, key);
    rowsCreate(db);
    rowsInsert(db, 1, count, 10, "a");
    dbClose(db);
    return file;
}

/* The key opens the file, with all rows. */
static void checkOpens(const char *file, const Scheme *scheme, const char *key, int count) {
    sqlite3 *db = dbOpenKeyed(file, scheme, key);
    CHECK_ROWS(db, count, 10, "a");
    dbClose(db);
}

static void checkRefused(const char *file, const Scheme *scheme, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, scheme, key);
    CHECK_INT(dbExec(db, "SELECT * FROM sqlite_schema"), SQLITE_NOTADB);
    dbClose(db);
}

static int isPlain(const char *file) {
    char head[16] = {0};
    fileRead(file, 0, head, 16);
    return !memcmp(head, "SQLite format 3", 16);
}

static void wrongThenRight(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key, 50);
    uint64_t before = fileHash(file);
    sqlite3 *db = dbOpenKeyed(file, s, s->other);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(dbExec(db, "SELECT * FROM sqlite_schema"), SQLITE_NOTADB);
        CHECK_INT(dbExec(db, "SELECT 1"), SQLITE_NOTADB);
        CHECK_INT(dbExec(db, "PRAGMA user_version"), SQLITE_NOTADB);
        CHECK_INT(dbExec(db, "CREATE TABLE u(x)"), SQLITE_NOTADB);
        CHECK_HAS(sqlite3_errmsg(db), "not a database");
        CHECK_OK(db, dbKey(db, "another wrong one"));
    }
    CHECK(fileHash(file) == before);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbKey(db, s->key));
    CHECK_ROWS(db, 50, 10, "a");
    dbMust(db, "DELETE FROM t WHERE id > 20");
    dbClose(db);
    checkOpens(file, s, s->key, 20);
}

static void otherKeyOnUsedConnection(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 50, 10, "a");
    uint64_t before = fileHash(file);

    /* under another key nothing is read, and nothing is written */
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbKey(db, s->other));
    CHECK_INT(dbExec(db, "SELECT count(*) FROM t"), SQLITE_NOTADB);
    CHECK_INT(dbExec(db, "INSERT INTO t VALUES(1000, 'x', 'y')"), SQLITE_NOTADB);
    CHECK_INT(dbExec(db, "VACUUM"), SQLITE_NOTADB);
    CHECK(fileHash(file) == before);

    /* the same without a key */
    CHECK_OK(db, dbKey(db, ""));
    CHECK_INT(dbExec(db, "SELECT count(*) FROM t"), SQLITE_NOTADB);
    CHECK_INT(dbExec(db, "CREATE TABLE u(x)"), SQLITE_NOTADB);
    CHECK(fileHash(file) == before);

    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, dbKey(db, s->key));
    CHECK_ROWS(db, 50, 10, "a");
    dbClose(db);
    checkOpens(file, s, s->key, 50);
    checkRefused(file, s, s->other);
}

static void keyInTransactionIsRefused(const Scheme *s) {
    const char *const texts[] = {s->other, s->key, ""};
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 10, "a");
    for (int i = 0; i < 3; i++) {
        testContext("key %d", i);
        dbMust(db, "BEGIN IMMEDIATE");
        rowsInsert(db, 21, 30, 10, "a");
        CHECK_INT(dbKey(db, texts[i]), SQLITE_ERROR);
        CHECK_MSG(strlen(sqlite3_errmsg(db)) > 20, "message: %s", sqlite3_errmsg(db));
        CHECK_INT(sqlite3_key(db, texts[i], -1), SQLITE_ERROR);
        rowsInsert(db, 31, 40, 10, "a");
        CHECK_OK(db, dbExec(db, "COMMIT"));
        CHECK_ROWS(db, 40, 10, "a");

        dbMust(db, "BEGIN");
        CHECK_INT(dbInt(db, "SELECT count(*) FROM t"), 40);
        CHECK_INT(dbKey(db, texts[i]), SQLITE_ERROR);
        dbMust(db, "COMMIT");

        sqlite3_stmt *stmt = 0;
        CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &stmt, 0));
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        CHECK_INT(dbKey(db, texts[i]), SQLITE_ERROR);
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        sqlite3_finalize(stmt);
    }
    dbClose(db);
    checkOpens(file, s, s->key, 40);
}

/* Reference: the COMMIT writes a half encrypted file. */
static void keyInTransactionOfPlainFile(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, 20);
    sqlite3 *db = dbOpen(file);
    dbMust(db, "BEGIN IMMEDIATE");
    rowsInsert(db, 21, 40, 10, "a");
    CHECK_OK(db, dbSetup(db, s));
    CHECK_INT(dbKey(db, s->key), SQLITE_ERROR);
    CHECK_OK(db, dbExec(db, "COMMIT"));
    CHECK_ROWS(db, 40, 10, "a");
    dbClose(db);
    checkOpens(file, 0, 0, 40);
}

static void keyOnUsedPlainFile(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 10, "a");
    uint64_t before = fileHash(file);
    CHECK_OK(db, dbSetup(db, s));
    int rc = dbKey(db, s->key);
    if (rc == SQLITE_OK) {
        rc = dbExec(db, "SELECT * FROM t");
    }
    CHECK_INT(rc, SQLITE_NOTADB);
    CHECK_HAS(sqlite3_errmsg(db), "rekey");
    CHECK_INT(dbExec(db, "INSERT INTO t VALUES(1000, 'x', 'y')"), SQLITE_NOTADB);
    CHECK(fileHash(file) == before);
    dbClose(db);
    checkOpens(file, 0, 0, 20);
}

static void emptyKeyReadsPlainFileAgain(const Scheme *s) {
    const char *file = makeFile("a.db", 0, 0, 20);
    sqlite3 *db = dbOpenKeyed(file, s, 0);
    dbKey(db, s->key);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    CHECK_OK(db, dbKey(db, ""));
    CHECK_ROWS(db, 20, 10, "a");
    rowsInsert(db, 21, 30, 10, "a");
    dbClose(db);
    checkOpens(file, 0, 0, 30);
}

/* ---- spelling --------------------------------------------------------------------------------- */

static const char *hexOf(const char *bytes, int n) {
    char *hex = (char *)textf("%*s", 2 * n, "");
    for (int i = 0; i < n; i++) {
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
    }
    return hex;
}

/* The ways in which a key can be given; n < 0 is for the C function only. */
enum { BY_PRAGMA, BY_TEXTKEY, BY_HEXKEY, BY_C, BY_C_TERMINATED, BY_URI, WAYS };

static sqlite3 *openBy(int way, const char *file, const char *key, int n) {
    sqlite3 *db;
    if (way == BY_URI) {
        return dbOpen(uri(file, textf("cipher=chacha20&kdf_iter=1&hexkey=%s", hexOf(key, n))));
    }
    db = dbOpen(file);
    dbMust(db, "PRAGMA cipher='chacha20'; PRAGMA kdf_iter=1");
    switch (way) {
    case BY_PRAGMA:
        dbMust(db, "PRAGMA key=%Q", key);
        break;
    case BY_TEXTKEY:
        dbMust(db, "PRAGMA textkey=%Q", key);
        break;
    case BY_HEXKEY:
        dbMust(db, "PRAGMA hexkey='%s'", hexOf(key, n));
        break;
    case BY_C:
        CHECK_OK(db, sqlite3_key_v2(db, "main", key, n));
        break;
    default:
        CHECK_OK(db, sqlite3_key(db, key, -1));
    }
    return db;
}

static void sameKeyInEverySpelling(void) {
    static const char *const keys[] = {
        "123465",
        "0x12",
        "1e3",
        "with ' quote",
        "with \" double",
        "semi;colon",
        "\xF0\x9F\x94\x91 emoji",
        "trailing ",
        " leading",
        "-1",
        "null",
        "x'12'",
        "raw:",
        "raw:xyz",
        "k&e=y%41+#?",
        "\n\t\\n",
        "PRAGMA key='x'; --",
        "%s%n",
        /* raw forms with one digit too few, or one that is none: passwords */
        "raw:54686973206973206d792076657279207365637265742070617373776f72643",
        "raw:54686973206973206d792076657279207365637265742070617373776f7264zz",
        "x'54686973206973206d792076657279207365637265742070617373776f72643'",
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const char *file = path(textf("%d.db", (int)k));
        int n = (int)strlen(keys[k]);
        sqlite3 *db = openBy((int)k % WAYS, file, keys[k], n);
        rowsCreate(db);
        rowsInsert(db, 1, 5, 1, "a");
        dbClose(db);
        for (int way = 0; way < WAYS; way++) {
            testContext("key %s, made by way %d, opened by way %d", keys[k], (int)k % WAYS, way);
            db = openBy(way, file, keys[k], n);
            CHECK_ROWS(db, 5, 1, "a");
            dbClose(db);
        }
        testContext("key %s", keys[k]);
        CHECK(!isPlain(file));
        db = openBy(BY_C, file, keys[k], n - 1);
        CHECK_INT(dbExec(db, "SELECT * FROM t"), n == 1 ? SQLITE_OK : SQLITE_NOTADB);
        dbClose(db);
    }
}

static void binaryKeysWithZeroBytes(void) {
    const char *file = path("a.db");
    sqlite3 *db = openBy(BY_C, file, "\0\xff\0k", 4);
    rowsCreate(db);
    dbClose(db);
    for (int way = BY_HEXKEY; way <= BY_URI; way++) {
        if (way != BY_C_TERMINATED) {
            db = openBy(way, file, "\0\xff\0k", 4);
            CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
            dbClose(db);
        }
    }
    db = openBy(BY_C, file, "\0\xff", 2);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbClose(db);
}

static void veryLongKey(void) {
    static char key[100001];
    memset(key, 'k', sizeof key - 1);
    const char *file = path("a.db");
    sqlite3 *db = openBy(BY_C, file, key, 100000);
    rowsCreate(db);
    dbClose(db);
    db = openBy(BY_PRAGMA, file, key, 100000);
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
    db = openBy(BY_C, file, key, 99999);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbClose(db);
}

/* ---- raw keys ---------------------------------------------------------------------------------- */

#define R32 "54686973206973206D792076657279207365637265742070617373776F72642E"
#define SALT "2b7e151628aed2a6abf7158809cf4f3c"

/* A key in a form (text, or hex of its bytes); all forms of one key open each other's files. */
static const struct RawForm {
    const char *text, *hex;
} rawForms[] = {
    {"raw:" R32, 0},
    {"raw:" R32 SALT, 0},
    {"x'" R32 "'", 0},
    {"X'" R32 "'", 0},
    {"x'" R32 "?", 0},
    {"x'" R32 SALT "'", 0},
    {"raw:54686973206973206d792076657279207365637265742070617373776f72642e", 0},
    {0, "7261773a" R32},
    {0, "7261773a" R32 SALT},
    {"raw:hex:" R32, 0},
    {"raw:hex:" R32 SALT, 0},
    {0, "7261773a62696e3a" R32},
    {0, "7261773a62696e3a" R32 SALT},
};

enum { RAW_FORMS = sizeof rawForms / sizeof rawForms[0] };

static void setRawKey(sqlite3 *db, const struct RawForm *form) {
    if (form->text) {
        dbMust(db, "PRAGMA key=%Q", form->text);
    } else {
        dbMust(db, "PRAGMA hexkey='%s'", form->hex);
    }
}

/* Raw keys skip the derivation, so any number of iterations opens the file. */
static void rawKeyForms(void) {
    for (int made = 0; made < RAW_FORMS; made++) {
        const char *file = path(textf("%d.db", made));
        sqlite3 *db = dbOpen(file);
        setRawKey(db, &rawForms[made]);
        rowsCreate(db);
        rowsInsert(db, 1, 5, 1, "a");
        dbClose(db);
        for (int opened = 0; opened < RAW_FORMS; opened++) {
            testContext("made by form %d, opened by form %d", made, opened);
            db = dbOpen(file);
            dbMust(db, "PRAGMA kdf_iter=%d", opened + 1);
            setRawKey(db, &rawForms[opened]);
            CHECK_ROWS(db, 5, 1, "a");
            dbClose(db);
        }
    }
}

static void saltOfRawKey(void) {
    unsigned char salt[16] = {0}, again[16] = {0};
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    dbMust(db, "PRAGMA key='raw:" R32 SALT "'");
    rowsCreate(db);
    dbClose(db);
    fileRead(file, 0, salt, 16);
    CHECK_TEXT(hexOf((char *)salt, 16), SALT);

    /* in an existing file the file's own salt counts */
    db = dbOpen(file);
    dbMust(db, "PRAGMA key='raw:" R32 "00000000000000000000000000000000'");
    rowsInsert(db, 1, 50, 10, "a");
    dbClose(db);
    fileRead(file, 0, again, 16);
    CHECK(!memcmp(salt, again, 16));
}

static void malformedRawKeys(void) {
    static const char *const keys[] = {"raw:hex:", "raw:hex:12", ("raw:hex:" R32 "0"), "raw:bin:12345",
                                       ("raw:hex:zz" R32)};
    for (int i = 0; i < 5; i++) {
        testContext("%s", keys[i]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpen(file);
        CHECK_INT(dbKey(db, keys[i]), SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(db), "raw");
        dbClose(db);
    }
}

/* ---- the C functions ---------------------------------------------------------------------------- */

static void keyArguments(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_INT(sqlite3_key(db, 0, 5), SQLITE_ERROR);
    CHECK_INT(sqlite3_key(db, 0, 0), SQLITE_ERROR);
    CHECK_INT(sqlite3_key_v2(db, "nosuch", "k", 1), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "nosuch");
    CHECK_INT(sqlite3_key_v2(db, "temp", "k", 1), SQLITE_ERROR);
    CHECK_MSG(strlen(sqlite3_errmsg(db)) > 15, "message: %s", sqlite3_errmsg(db));
    CHECK_OK(db, sqlite3_key(db, "", 0));
    CHECK_OK(db, sqlite3_key(db, "x", 0));
    CHECK_OK(db, sqlite3_key_v2(db, 0, "k", 1));
    dbMust(db, "PRAGMA key='k'; CREATE TABLE t(x)");
    dbClose(db);
    CHECK(!isPlain(path("a.db")));
    sqlite3_activate_see("anything");
    CHECK(sqlite3mc_version() && strlen(sqlite3mc_version()) > 5);
    CHECK_INT(sqlite3mc_vfs_create("nosuch", 0), SQLITE_NOTFOUND);
    CHECK_OK(0, sqlite3mc_vfs_create(realVfs(), 0));
}

/* C13: clean errors where there is no file. */
static void memoryAndTemporaryDatabases(void) {
    static const char *const names[] = {":memory:", "", "file:x?mode=memory", "file::memory:?cache=private"};
    for (int i = 0; i < 4; i++) {
        testContext("database \"%s\"", names[i]);
        sqlite3 *db = dbOpen(names[i]);
        for (int used = 0; used < 2; used++) {
            CHECK_INT(dbKey(db, "k"), SQLITE_ERROR);
            CHECK_HAS(sqlite3_errmsg(db), "not supported for in-memory or temporary");
            CHECK_INT(dbRekey(db, "k"), SQLITE_ERROR);
            CHECK_HAS(sqlite3_errmsg(db), "not supported for in-memory or temporary");
            CHECK_INT(sqlite3_key(db, "k", 1), SQLITE_ERROR);
            CHECK_INT(sqlite3_rekey(db, "k", 1), SQLITE_ERROR);
            dbMust(db, "CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES(1)");
        }
        dbMust(db, "ATTACH ':memory:' AS m");
        CHECK_INT(dbExec(db, "PRAGMA m.key='k'"), SQLITE_ERROR);
        CHECK_INT(dbExec(db, "PRAGMA m.rekey='k'"), SQLITE_ERROR);
        CHECK_INT(dbExec(db, "PRAGMA temp.rekey='k'"), SQLITE_ERROR);
        dbMust(db, "ATTACH ':memory:' AS k KEY 'pw'; CREATE TABLE k.u(x); INSERT INTO k.u VALUES(1)");
        CHECK_INT(dbInt(db, "SELECT count(*) FROM t"), 2);
        dbClose(db);
    }
}

static void keyOnBareVfs(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, realVfs());
    CHECK_INT(dbKey(db, "k"), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "VFS");
    CHECK_INT(dbRekey(db, "k"), SQLITE_ERROR);
    CHECK_INT(sqlite3_key(db, "k", 1), SQLITE_ERROR);
    CHECK_INT(sqlite3_rekey(db, "k", 1), SQLITE_ERROR);
    CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY 'k'", path("b.db")), SQLITE_ERROR);
    dbClose(db);
    CHECK(fileSize(file) <= 0);

    /* a key in the URI is not ignored either */
    sqlite3 *raw = 0;
    int rc = sqlite3_open_v2(uri(path("c.db"), "key=k"), &raw,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, realVfs());
    if (rc == SQLITE_OK) {
        rc = dbExec(raw, "CREATE TABLE t(x)");
    }
    CHECK_INT(rc, SQLITE_ERROR);
    sqlite3_close(raw);
    CHECK(!isPlain(path("c.db")));
}

/* The shim by name, made on the fly, and by the vfs parameter of a URI. */
static void shimByName(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "multipleciphers-unix-excl");
    dbMust(db, "PRAGMA key='k'; CREATE TABLE t(x)");
    dbClose(db);
    CHECK(!isPlain(file));
    db = dbOpen(uri(file, "vfs=multipleciphers-unix-dotfile&key=k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
    CHECK(sqlite3_vfs_find("multipleciphers-unix-excl") != 0);
    sqlite3mc_vfs_destroy("multipleciphers-unix-excl");
    CHECK(sqlite3_vfs_find("multipleciphers-unix-excl") == 0);
    CHECK(sqlite3_vfs_find("unix-excl") != 0);
    CHECK(!strncmp(sqlite3_vfs_find(0)->zName, "multipleciphers-", 16));
    sqlite3 *none = 0;
    CHECK_INT(sqlite3_open_v2(file, &none, SQLITE_OPEN_READWRITE, "multipleciphers-nosuch"), SQLITE_ERROR);
    sqlite3_close(none);

    /* A VFS of the program is the default and goes: the shim over it does not become the default. */
    const char *before = sqlite3_vfs_find(0)->zName;
    sqlite3_vfs mine = *sqlite3_vfs_find("unix");
    mine.zName = "mine";
    CHECK_OK(0, sqlite3_vfs_register(&mine, 1));
    db = dbOpenWith(file, SQLITE_OPEN_READWRITE, "multipleciphers-mine");
    CHECK_OK(db, dbKey(db, "k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
    CHECK_OK(0, sqlite3_vfs_unregister(&mine));
    CHECK_TEXT(sqlite3_vfs_find(0)->zName, before);
    sqlite3mc_vfs_destroy("multipleciphers-mine");

    /* Programs copy the structure of a VFS. */
    mine = *sqlite3_vfs_find(shimVfs());
    mine.zName = "mine";
    CHECK_OK(0, sqlite3_vfs_register(&mine, 0));
    db = dbOpenWith(file, SQLITE_OPEN_READWRITE, "mine");
    CHECK_OK(db, dbKey(db, "k"));
    dbMust(db, "INSERT INTO t VALUES(1)");
    dbClose(db);
    CHECK_OK(0, sqlite3_vfs_unregister(&mine));
}

static void newFileIsEncryptedFromTheFirstByte(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_INT(fileSize(file) > 0, 0);
    rowsCreate(db);
    rowsInsert(db, 1, 20, 10, "a");
    CHECK(!isPlain(file));
    CHECK(!fileHas(file, MARKER, 16) && !fileHas(file, "CREATE TABLE", 12));
    dbClose(db);
    checkOpens(file, s, s->key, 20);
    checkRefused(file, 0, 0);
}

/* Two connections key one new file before it has a byte. */
static void twoConnectionsOneNewFile(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *one = dbOpenKeyed(file, s, s->key);
    sqlite3 *two = dbOpenKeyed(file, s, s->key);
    rowsCreate(one);
    rowsInsert(one, 1, 10, 10, "a");
    if (dbExec(two, "SELECT * FROM t") != SQLITE_OK) {
        CHECK_OK(two, dbSetup(two, s));
        CHECK_OK(two, dbKey(two, s->key));
    }
    rowsInsert(two, 11, 20, 10, "a");
    CHECK_ROWS(one, 20, 10, "a");
    dbClose(one);
    dbClose(two);
    checkOpens(file, s, s->key, 20);
}

static const Test tests[] = {
    TEST_SCHEME("C01 a wrong key is NOTADB every time, then the right key works on the same connection",
                wrongThenRight),
    TEST_SCHEME("C02 another key on a used connection reads and writes nothing", otherKeyOnUsedConnection),
    TEST_SCHEME("C02 a key inside a transaction or beside a statement is refused", keyInTransactionIsRefused),
    TEST_SCHEME("a key inside a transaction of a plain file is refused, COMMIT is safe", keyInTransactionOfPlainFile),
    TEST_SCHEME("C04 a key on a plain file in use names rekey, the file stays", keyOnUsedPlainFile),
    TEST_SCHEME("C05 key, then the empty key, reads a plain file again", emptyKeyReadsPlainFileAgain),
    TEST("C06 C09 one key means the same in every spelling", sameKeyInEverySpelling),
    TEST("C06 keys with zero bytes", binaryKeysWithZeroBytes),
    TEST("a key of 100,000 bytes", veryLongKey),
    TEST("C09 all forms of a raw key open each other's files", rawKeyForms),
    TEST("the salt in a raw key is for new files only", saltOfRawKey),
    TEST("C09 malformed raw:hex: and raw:bin: keys are refused", malformedRawKeys),
    TEST("arguments of sqlite3_key and the VFS functions", keyArguments),
    TEST("C13 key and rekey of memory and temporary databases are clean errors", memoryAndTemporaryDatabases),
    TEST("a key on a VFS without the shim is refused", keyOnBareVfs),
    TEST("shims by name", shimByName),
    TEST_SCHEME("a new file is encrypted from the first byte", newFileIsEncryptedFromTheFirstByte),
    TEST_SCHEME("two connections key one new file", twoConnectionsOneNewFile),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
