/*
** Choosing schemes and parameters: PRAGMAs, their results and errors, which values last, URI
** parameters of main and attached files. Nothing that is wrong is ignored.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

static int isPlain(const char *file) {
    char head[16] = {0};
    fileRead(file, 0, head, 16);
    return !memcmp(head, "SQLite format 3", 16);
}

/* A file made with these PRAGMAs, which hold the key. */
static const char *makeFile(const char *name, const char *pragmas) {
    const char *file = path(name);
    sqlite3 *db = dbOpen(file);
    dbMust(db, "%s", pragmas);
    rowsCreate(db);
    rowsInsert(db, 1, 5, 1, "a");
    dbClose(db);
    return file;
}

static int opensWith(const char *file, const char *pragmas) {
    sqlite3 *db = dbOpen(file);
    int rc = dbExec(db, "%s", pragmas);
    if (rc == SQLITE_OK) {
        rc = rowsProbe(db, 5, 1, "a");
    } else {
        CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    }
    dbClose(db);
    return rc;
}

/* One row, one column, whose name is its value. */
static void checkResult(sqlite3 *db, const char *sql, const char *value) {
    sqlite3_stmt *stmt = 0;
    testContext("%s", sql);
    if (CHECK_OK(db, sqlite3_prepare_v2(db, sql, -1, &stmt, 0)) && CHECK_INT(sqlite3_step(stmt), SQLITE_ROW)) {
        CHECK_INT(sqlite3_column_count(stmt), 1);
        CHECK_TEXT((const char *)sqlite3_column_text(stmt, 0), value);
        CHECK_TEXT(sqlite3_column_name(stmt, 0), value);
        CHECK_INT(sqlite3_step(stmt), SQLITE_DONE);
    }
    sqlite3_finalize(stmt);
    testContext(0);
}

/* SQLITE_ERROR with a message that holds `part`. */
static void checkError(sqlite3 *db, const char *sql, const char *part) {
    testContext("%s", sql);
    CHECK_RC(db, dbExec(db, "%s", sql), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), part);
    CHECK_MSG(strlen(sqlite3_errmsg(db)) >= 10, "message: %s", sqlite3_errmsg(db));
    testContext(0);
}

static void resultsOfPragmas(void) {
    static const char *const pragmas[][2] = {
        {"PRAGMA key='k'", "ok"},
        {"PRAGMA main.key=k", "ok"},
        {"PRAGMA KEY=12345", "ok"},
        {"PRAGMA hexkey='00ff'", "ok"},
        {"PRAGMA textkey='k'", "ok"},
        {"PRAGMA key=''", "ok"},
        {"PRAGMA cipher", "chacha20"},
        {"PRAGMA cipher='ChaCha20'", "chacha20"},
        {"PRAGMA cipher=chacha20", "chacha20"},
        {"PRAGMA kdf_iter", "64007"},
        {"PRAGMA kdf_iter=1000", "1000"},
        {"PRAGMA kdf_iter=0x10", "16"},
        {"PRAGMA Kdf_Iter", "16"},
        {"PRAGMA kdf_iter=2147483647", "2147483647"},
        {"PRAGMA legacy", "0"},
        {"PRAGMA legacy=1", "1"},
        {"PRAGMA legacy_page_size", "4096"},
        {"PRAGMA legacy_page_size=65536", "65536"},
        {"PRAGMA legacy_page_size=512", "512"},
        {"PRAGMA legacy_page_size=0", "0"},
        {"PRAGMA plaintext_header_size", "0"},
        {"PRAGMA plaintext_header_size=100", "100"},
        {"PRAGMA hmac_check", "1"},
        {"PRAGMA hmac_check=0", "0"},
        {"PRAGMA mc_legacy_wal", "0"},
        {"PRAGMA mc_legacy_wal=1", "1"},
        {"PRAGMA cipher_salt='2b7e151628aed2a6abf7158809cf4f3c'", "ok"},
    };
    sqlite3 *db = dbOpen(path("a.db"));
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0]; i++) {
        checkResult(db, pragmas[i][0], pragmas[i][1]);
    }
    dbMust(db, "PRAGMA mc_legacy_wal=0; PRAGMA hmac_check=1; PRAGMA legacy=0; PRAGMA plaintext_header_size=0;"
               "PRAGMA kdf_iter=1; PRAGMA key='k'; CREATE TABLE t(x)");
    checkResult(db, "PRAGMA rekey='l'", "ok");
    checkResult(db, "PRAGMA hexrekey='00'", "ok");
    checkResult(db, "PRAGMA textrekey='m'", "ok");
    checkResult(db, "PRAGMA rekey=''", "ok");
    checkResult(db, "PRAGMA rekey=''", "ok");
    checkResult(db, "PRAGMA kdf_iter=1", "1");
    checkResult(db, "PRAGMA rekey='m'", "ok");
    checkResult(db, "PRAGMA rekey", "ok"); /* without a value: decrypt */
    dbClose(db);
    CHECK(isPlain(path("a.db")));
}

/* Also what the reference ignores or accepts silently. */
static void badValuesAreErrors(void) {
    static const char *const pragmas[][2] = {
        {"PRAGMA key", ""},
        {"PRAGMA hexkey='abc'", "hex"},
        {"PRAGMA hexkey='0g'", "hex"},
        {"PRAGMA hexkey=''", ""},
        {"PRAGMA hexkey", ""},
        {"PRAGMA hexrekey='abc'", "hex"},
        {"PRAGMA key=x'00'", "syntax"},
        {"PRAGMA cipher='nosuch'", "nosuch"},
        {"PRAGMA cipher=''", ""},
        {"PRAGMA kdf_iter=0", "kdf_iter"},
        {"PRAGMA kdf_iter=-1", "kdf_iter"},
        {"PRAGMA kdf_iter=2147483648", "kdf_iter"},
        {"PRAGMA kdf_iter=99999999999999999999", ""},
        {"PRAGMA kdf_iter='many'", "many"},
        {"PRAGMA kdf_iter=1.5", "1.5"},
        {"PRAGMA kdf_iter=''", ""},
        {"PRAGMA legacy=2", "legacy"},
        {"PRAGMA legacy=-1", "legacy"},
        {"PRAGMA legacy_page_size=256", "legacy_page_size"},
        {"PRAGMA legacy_page_size=1000", "legacy_page_size"},
        {"PRAGMA legacy_page_size=131072", "legacy_page_size"},
        {"PRAGMA plaintext_header_size=101", "plaintext_header_size"},
        {"PRAGMA plaintext_header_size=-1", "plaintext_header_size"},
        {"PRAGMA cipher_salt='2b7e'", "salt"},
        {"PRAGMA cipher_salt='2b7e151628aed2a6abf7158809cf4f3z'", "salt"},
    };
    sqlite3 *db = dbOpen(path("a.db"));
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0]; i++) {
        checkError(db, pragmas[i][0], pragmas[i][1]);
    }
    /* and nothing has changed */
    checkResult(db, "PRAGMA cipher", "chacha20");
    checkResult(db, "PRAGMA kdf_iter", "64007");
    checkResult(db, "PRAGMA legacy", "0");
    checkResult(db, "PRAGMA legacy_page_size", "4096");
    checkResult(db, "PRAGMA plaintext_header_size", "0");
    dbMust(db, "CREATE TABLE t(x)");
    dbClose(db);
    CHECK(isPlain(path("a.db")));
}

static void parametersAfterTheKey(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    dbMust(db, "PRAGMA kdf_iter=2; PRAGMA key='k'; PRAGMA kdf_iter=3");
    rowsCreate(db);
    rowsInsert(db, 1, 5, 1, "a");
    dbClose(db);
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=2; PRAGMA key='k'"), SQLITE_OK);
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=3; PRAGMA key='k'"), SQLITE_NOTADB);
    CHECK_INT(opensWith(file, "PRAGMA key='k'"), SQLITE_NOTADB);
}

/* temp.name=v is for one key; name=v and main.name=v stay. */
static void transientAndLastingValues(void) {
    const char *file = makeFile("a.db", "PRAGMA kdf_iter=7; PRAGMA key='k'");
    sqlite3 *db = dbOpen(file);
    dbMust(db, "PRAGMA kdf_iter=9; PRAGMA temp.kdf_iter=7; PRAGMA key='k'");
    CHECK_ROWS(db, 5, 1, "a");
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "9");
    dbMust(db, "PRAGMA key='k'");
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbMust(db, "PRAGMA main.kdf_iter=7; PRAGMA key='wrong'; PRAGMA key='wrong'; PRAGMA key='k'");
    CHECK_ROWS(db, 5, 1, "a");
    dbMust(db, "PRAGMA hmac_check=0; PRAGMA mc_legacy_wal=1; PRAGMA key='k'");
    CHECK_TEXT(dbText(db, "PRAGMA hmac_check"), "1");
    CHECK_TEXT(dbText(db, "PRAGMA mc_legacy_wal"), "0");
    dbClose(db);
}

/* The settings of one connection are not those of another. */
static void settingsBelongToTheConnection(void) {
    sqlite3 *one = dbOpen(path("a.db")), *two = dbOpen(path("b.db"));
    dbMust(one, "PRAGMA kdf_iter=5");
    CHECK_TEXT(dbText(two, "PRAGMA kdf_iter"), "64007");
    CHECK_TEXT(dbText(one, "PRAGMA kdf_iter"), "5");
    dbClose(one);
    dbClose(two);
}

#define SALT "2B7E151628AED2A6ABF7158809CF4F3C"
#define OTHER_SALT "000102030405060708090A0B0C0D0E0F"

static void saltOfAFile(void) {
    unsigned char salt[16];
    const char *file = makeFile("a.db", "PRAGMA kdf_iter=1; PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'");
    fileRead(file, 0, salt, 16);
    CHECK(salt[0] == 0x2b && salt[15] == 0x3c);

    sqlite3 *db = dbOpen(file);
    CHECK_TEXT(dbText(db, "PRAGMA cipher_salt"), "(no row)");
    dbMust(db, "PRAGMA kdf_iter=1; PRAGMA key='k'");
    CHECK_ROWS(db, 5, 1, "a");
    CHECK_TEXT(dbText(db, "PRAGMA cipher_salt"), SALT);
    checkError(db, "PRAGMA cipher_salt='" OTHER_SALT "'", "can't be changed");
    dbClose(db);

    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=1; PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'"), SQLITE_OK);
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=1; PRAGMA cipher_salt='" OTHER_SALT "'; PRAGMA key='k'"), SQLITE_NOTADB);
}

static void plaintextHeaders(void) {
    static const int sizes[] = {1, 16, 24, 32, 99, 100};
    for (int i = 0; i < 6; i++) {
        testContext("plaintext_header_size %d", sizes[i]);
        const char *setup = textf("PRAGMA kdf_iter=1; PRAGMA plaintext_header_size=%d;", sizes[i]);
        const char *salted = textf("%s PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'", setup);
        const char *file = makeFile(textf("%d.db", sizes[i]), salted);
        CHECK(isPlain(file));
        CHECK_INT(opensWith(file, salted), SQLITE_OK);
        CHECK_INT(opensWith(file, textf("%s PRAGMA key='k'", setup)), SQLITE_NOTADB);
        CHECK_INT(opensWith(file, textf("%s PRAGMA cipher_salt='" OTHER_SALT "'; PRAGMA key='k'", setup)),
                  SQLITE_NOTADB);
        CHECK_INT(opensWith(file, "PRAGMA kdf_iter=1; PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'"), SQLITE_NOTADB);
        CHECK(opensWith(file, "") != SQLITE_OK); /* it looks like a plain file with damaged content */
        /* the header is authenticated all the same */
        fileFlip(file, 18, 3);
        CHECK_INT(opensWith(file, salted), SQLITE_NOTADB);
    }
}

/* A plaintext header without a salt from outside could never be opened again. */
static void plaintextHeaderNeedsASalt(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    int rc = dbExec(db, "PRAGMA kdf_iter=1; PRAGMA plaintext_header_size=32; PRAGMA key='k'; CREATE TABLE t(x)");
    if (rc == SQLITE_OK) {
        const char *salt = dbText(db, "PRAGMA cipher_salt");
        CHECK_INT(strlen(salt), 32);
        dbClose(db);
        db = dbOpen(file);
        dbMust(db, "PRAGMA kdf_iter=1; PRAGMA plaintext_header_size=32; PRAGMA cipher_salt='%s'; PRAGMA key='k'", salt);
        CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    } else {
        CHECK_HAS(sqlite3_errmsg(db), "salt");
        CHECK(!isPlain(file));
    }
    dbClose(db);
}

static void legacyFiles(void) {
    static const int sizes[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
    for (int i = 0; i < 8; i++) {
        testContext("legacy_page_size %d", sizes[i]);
        const char *setup = textf("PRAGMA legacy=1; PRAGMA legacy_page_size=%d; PRAGMA key='k'", sizes[i]);
        const char *file = makeFile(textf("%d.db", sizes[i]), setup);
        unsigned char head[100];
        fileRead(file, 0, head, 100);
        CHECK(memcmp(head + 21, "\x40\x20\x20", 3) != 0);
        CHECK_INT(fileSize(file) % sizes[i], 0);
        CHECK_INT(opensWith(file, setup), SQLITE_OK);
        CHECK_INT(opensWith(file, "PRAGMA key='k'"), SQLITE_NOTADB);
        CHECK_INT(opensWith(file, textf("PRAGMA kdf_iter=5; %s", setup)), SQLITE_OK); /* the count is fixed */
        CHECK_INT(
            opensWith(file, textf("PRAGMA legacy=1; PRAGMA legacy_page_size=%d; PRAGMA key='k'", sizes[(i + 1) % 8])),
            SQLITE_NOTADB);
        CHECK_INT(
            opensWith(file, textf("PRAGMA legacy=1; PRAGMA page_size=%d; PRAGMA legacy_page_size=0; PRAGMA key='k'",
                                  sizes[i])),
            SQLITE_OK);
    }
}

/* ---- URI parameters ------------------------------------------------------------------------------ */

static void uriOfMain(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(uri(file, "cipher=chacha20&kdf_iter=3&key=k%20%27%22"));
    rowsCreate(db);
    rowsInsert(db, 1, 5, 1, "a");
    dbClose(db);
    CHECK(!isPlain(file));
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=3; PRAGMA key='k ''\"'"), SQLITE_OK);
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=4; PRAGMA key='k ''\"'"), SQLITE_NOTADB);

    static const char *const right[] = {"kdf_iter=3&textkey=k%20%27%22", "kdf_iter=3&hexkey=6b202722",
                                        "kdf_iter=3&key=k%20'%22", "kdf_iter=3&hexkey=6b202722&key=wrong",
                                        "kdf_iter=3&hexkey=&key=k%20'%22"};
    for (int i = 0; i < 5; i++) {
        testContext("%s", right[i]);
        db = dbOpen(uri(file, right[i]));
        CHECK_ROWS(db, 5, 1, "a");
        dbClose(db);
    }
    /* parameters without a key are kept for PRAGMA key; a wrong key does not fail the open */
    db = dbOpen(uri(file, "kdf_iter=3"));
    dbMust(db, "PRAGMA hexkey='6b202722'");
    CHECK_ROWS(db, 5, 1, "a");
    dbClose(db);
    db = dbOpen(uri(file, "kdf_iter=3&key=wrong"));
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbMust(db, "PRAGMA hexkey='6b202722'");
    CHECK_ROWS(db, 5, 1, "a");
    dbClose(db);
    /* a PRAGMA beats the URI */
    db = dbOpen(uri(file, "kdf_iter=99"));
    dbMust(db, "PRAGMA kdf_iter=3; PRAGMA hexkey='6b202722'");
    CHECK_ROWS(db, 5, 1, "a");
    dbClose(db);
}

static void uriWithSaltLegacyAndHeader(void) {
    static const char *const sets[][2] = {
        {"legacy=1&legacy_page_size=1024&key=k", "PRAGMA legacy=1; PRAGMA legacy_page_size=1024; PRAGMA key='k'"},
        {"kdf_iter=1&cipher_salt=" SALT "&key=k", "PRAGMA kdf_iter=1; PRAGMA key='k'"},
        {"kdf_iter=1&plaintext_header_size=32&cipher_salt=" SALT "&key=k",
         "PRAGMA kdf_iter=1; PRAGMA plaintext_header_size=32; PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'"},
    };
    for (int i = 0; i < 3; i++) {
        testContext("%s", sets[i][0]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpen(uri(file, sets[i][0]));
        rowsCreate(db);
        rowsInsert(db, 1, 5, 1, "a");
        dbClose(db);
        CHECK_INT(opensWith(file, sets[i][1]), SQLITE_OK);
        db = dbOpen(uri(file, sets[i][0]));
        CHECK_ROWS(db, 5, 1, "a");
        dbClose(db);
    }
}

static const char *const badUris[] = {
    "cipher=nosuch&key=k",
    "cipher=nosuch",
    "kdf_iter=0&key=k",
    "kdf_iter=x&key=k",
    "kdf_iter=99999999999&key=k",
    "legacy=2&key=k",
    "legacy_page_size=1000&key=k",
    "plaintext_header_size=101&key=k",
    "hexkey=abc",
    "hexkey=0g",
    "cipher_salt=12&key=k",
    "key=raw:hex:12",
};

enum { BAD_URIS = sizeof badUris / sizeof badUris[0] };

static void badUriFailsTheOpen(void) {
    for (int i = 0; i < BAD_URIS; i++) {
        testContext("%s", badUris[i]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = 0;
        CHECK_INT(sqlite3_open_v2(uri(file, badUris[i]), &db,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, shimVfs()),
                  SQLITE_ERROR);
        if (CHECK(db != 0)) {
            CHECK_MSG(strlen(sqlite3_errmsg(db)) > 12 && !strstr(sqlite3_errmsg(db), "logic error"), "message: %s",
                      sqlite3_errmsg(db));
            dbExec(db, "CREATE TABLE t(x); INSERT INTO t VALUES('" MARKER "')");
        }
        sqlite3_close(db);
        CHECK(!isPlain(file) && !fileHas(file, MARKER, 16));
    }
}

static void uriOfAttachedFile(void) {
    const char *file = path("b.db");
    sqlite3 *db = dbOpen(path("a.db"));
    dbMust(db, "PRAGMA kdf_iter=9");
    dbMust(db, "ATTACH %Q AS b", uri(file, "cipher=chacha20&kdf_iter=2&key=kb"));
    dbMust(db, "CREATE TABLE b.t(id INTEGER PRIMARY KEY, name TEXT, data BLOB)");
    rowsInsert(db, 1, 5, 1, "a");
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "9");
    dbMust(db, "DETACH b");
    CHECK_INT(opensWith(file, "PRAGMA kdf_iter=2; PRAGMA key='kb'"), SQLITE_OK);
    dbMust(db, "ATTACH %Q AS b", uri(file, "kdf_iter=2&key=kb"));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM b.t"), 5);
    dbMust(db, "DETACH b");
    /* KEY beats the key of the URI */
    dbMust(db, "ATTACH %Q AS b KEY 'kb'", uri(file, "kdf_iter=2&key=wrong"));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM b.t"), 5);
    dbMust(db, "DETACH b");

    for (int i = 0; i < BAD_URIS; i++) {
        testContext("ATTACH %s", badUris[i]);
        const char *bad = path(textf("bad%d.db", i));
        CHECK_INT(dbExec(db, "ATTACH %Q AS bad", uri(bad, badUris[i])), SQLITE_ERROR);
        CHECK_MSG(strlen(sqlite3_errmsg(db)) > 12, "message: %s", sqlite3_errmsg(db));
        CHECK_INT(dbInt(db, "SELECT count(*) FROM pragma_database_list WHERE name = 'bad'"), 0);
        CHECK(!isPlain(bad));
    }
    dbClose(db);
}

static const Test tests[] = {
    TEST("results of the PRAGMAs", resultsOfPragmas),
    TEST("bad values are errors with a message and change nothing", badValuesAreErrors),
    TEST("parameters set after the key are for the next key", parametersAfterTheKey),
    TEST("values for one key and values that last", transientAndLastingValues),
    TEST("settings belong to the connection", settingsBelongToTheConnection),
    TEST("cipher_salt before and after the key", saltOfAFile),
    TEST("plaintext headers of every size", plaintextHeaders),
    TEST("a plaintext header needs a salt", plaintextHeaderNeedsASalt),
    TEST("legacy files of every page size", legacyFiles),
    TEST("C10 key and parameters in the URI of main", uriOfMain),
    TEST("C10 salt, legacy mode and plaintext header in the URI", uriWithSaltLegacyAndHeader),
    TEST("C10 a bad URI parameter fails the open, no plain file appears", badUriFailsTheOpen),
    TEST("C10 key and parameters in the URI of an attached file", uriOfAttachedFile),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
