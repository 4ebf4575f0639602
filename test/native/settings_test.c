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

/* ---- the other schemes --------------------------------------------------------------------------- */

/* A parameter whose values have names takes both, and answers with the name. */
static void namedValues(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    dbMust(db, "PRAGMA cipher='aegis'");
    checkResult(db, "PRAGMA algorithm", "aegis-256");
    checkResult(db, "PRAGMA algorithm=1", "aegis-128l");
    checkResult(db, "PRAGMA algorithm='AEGIS-256X4'", "aegis-256x4");
    checkResult(db, "PRAGMA algorithm='0x2'", "aegis-128x2");
    checkError(db, "PRAGMA algorithm='aegis-512'", "aegis-128l, aegis-128x2");
    checkError(db, "PRAGMA algorithm=0", "algorithm");
    checkError(db, "PRAGMA algorithm=7", "algorithm");
    checkError(db, "PRAGMA algorithm=''", "algorithm");
    checkResult(db, "PRAGMA algorithm", "aegis-128x2");
    CHECK_INT(sqlite3mc_config_cipher(db, "aegis", "algorithm", -1), 2);
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('aegis', 'algorithm', 'aegis-256x2')"), "5");
    CHECK_INT(dbExec(db, "SELECT sqlite3mc_config('aegis', 'algorithm', 'x')"), SQLITE_ERROR);
    dbClose(db);
    /* in a URI */
    db = dbOpen(uri(path("b.db"), "cipher=aegis&algorithm=aegis-128x4&mcost=8&key=k"));
    dbMust(db, "CREATE TABLE t(x)");
    dbClose(db);
    db = dbOpen(uri(path("b.db"), "cipher=aegis&algorithm=3&mcost=8&key=k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
}

/* The version of SQLCipher sets a group of parameters, with the same life as itself. */
static void legacySetsAGroup(void) {
    static const char *const names[] = {"legacy_page_size", "kdf_iter", "hmac_use", "kdf_algorithm", "hmac_algorithm"};
    static const char *const values[][5] = {
        {"4096", "256000", "1", "2", "2"}, {"1024", "4000", "0", "0", "0"},   {"1024", "4000", "1", "0", "0"},
        {"1024", "64000", "1", "0", "0"},  {"4096", "256000", "1", "2", "2"},
    };
    sqlite3 *db = dbOpen(path("a.db"));
    dbMust(db, "PRAGMA cipher='sqlcipher'");
    for (int version = 4; version >= 1; version--) {
        testContext("legacy=%d", version);
        dbMust(db, "PRAGMA legacy=%d", version);
        for (int i = 0; i < 5; i++) {
            CHECK_TEXT(dbText(db, "PRAGMA %s", names[i]), values[version][i]);
        }
    }
    testContext(0);
    dbMust(db, "PRAGMA legacy=0"); /* does not restore them */
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "4000");
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "default:legacy", 3), 3);
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "default:kdf_iter", -1), 64000);
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "legacy", 4), 4);
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "kdf_iter", -1), 256000);
    dbMust(db, "PRAGMA key='k'"); /* uses up what was for one key */
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "legacy", -1), 3);
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "kdf_iter", -1), 64000);
    CHECK_INT(sqlite3mc_config_cipher(db, "sqlcipher", "hmac_algorithm", -1), 0);
    dbClose(db);
    /* in a URI it comes first, wherever it stands */
    static const char *const uris[] = {
        "cipher=sqlcipher&kdf_iter=5&legacy=3&legacy_page_size=4096&key=k",
        "key=k&legacy_page_size=4096&legacy=3&kdf_iter=5&cipher=sqlcipher",
    };
    const char *file = path("b.db");
    for (int i = 0; i < 2; i++) {
        db = dbOpen(uri(file, uris[i]));
        CHECK_TEXT(dbText(db, "PRAGMA kdf_iter"), "5");
        CHECK_TEXT(dbText(db, "PRAGMA hmac_algorithm"), "0");
        CHECK_OK(db, dbExec(db, i ? "SELECT * FROM t" : "CREATE TABLE t(x)"));
        dbClose(db);
    }
    CHECK_INT(dbInt(db = dbOpen(uri(file, uris[0])), "PRAGMA page_size"), 4096);
    dbClose(db);
}

static void rangesOfAllSchemes(void) {
    static const struct {
        const char *cipher, *bad, *part;
    } cases[] = {
        {"sqlcipher", "legacy=5", "legacy"},
        {"sqlcipher", "plaintext_header_size=24", "multiple of 16"},
        {"sqlcipher", "plaintext_header_size=112", "out of range"},
        {"sqlcipher", "hmac_salt_mask=256", "hmac_salt_mask"},
        {"sqlcipher", "hmac_pgno=3", "hmac_pgno"},
        {"sqlcipher", "kdf_algorithm=3", "kdf_algorithm"},
        {"sqlcipher", "fast_kdf_iter=0", "fast_kdf_iter"},
        {"aegis", "mcost=0", "mcost"},
        {"aegis", "tcost=0", "tcost"},
        {"aegis", "pcost=0", "pcost"},
        {"ascon128", "kdf_iter=0", "kdf_iter"},
        {"rc4", "legacy=0", "legacy"},
        {"aes128cbc", "legacy=2", "legacy"},
        {"aes256cbc", "legacy_page_size=511", "power of two"},
    };
    sqlite3 *db = dbOpen(path("a.db"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dbMust(db, "PRAGMA cipher='%s'", cases[i].cipher);
        checkError(db, textf("PRAGMA %s", cases[i].bad), cases[i].part);
        sqlite3 *second = 0;
        testContext("%s in a URI", cases[i].bad);
        CHECK_INT(sqlite3_open(uri(path("b.db"), textf("cipher=%s&%s&key=k", cases[i].cipher, cases[i].bad)), &second),
                  SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(second), cases[i].part);
        sqlite3_close(second);
        CHECK(fileSize(path("b.db")) <= 0);
    }
    dbClose(db);
}

/* Legal values that do not go together are an error of the key, not a key of zeros. */
static void valuesThatDoNotGoTogether(void) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpen(file);
    dbMust(db, "PRAGMA cipher='aegis'; PRAGMA mcost=15; PRAGMA pcost=2");
    checkError(db, "PRAGMA key='k'", "aegis: mcost must be at least 8 times pcost.");
    CHECK_INT(sqlite3_key(db, "k", 1), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "mcost");
    checkError(db, "PRAGMA rekey='k'", "mcost");
    CHECK_INT(dbExec(db, "ATTACH %Q AS b", uri(path("b.db"), "cipher=aegis&mcost=7&key=k")), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "mcost");
    dbMust(db, "PRAGMA mcost=16; PRAGMA key='k'; CREATE TABLE t(x)");
    dbClose(db);
    CHECK(!isPlain(file));
    /* and what cannot be allocated is an error of memory */
    db = dbOpen(uri(path("c.db"), "cipher=aegis&mcost=2000000000&key=k"));
    CHECK_INT(dbExec(db, "CREATE TABLE t(x)"), SQLITE_NOMEM);
    dbClose(db);
    CHECK(fileSize(path("c.db")) <= 0);
}

/* A parameter that the selected scheme does not have is left to SQLite, which ignores what it does not know. */
static void parametersOfOtherSchemes(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_TEXT(dbText(db, "PRAGMA tcost=5"), "(no row)");
    CHECK_TEXT(dbText(db, "PRAGMA cipher='rc4'"), "rc4");
    CHECK_TEXT(dbText(db, "PRAGMA kdf_iter=5"), "(no row)");
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 64007);
    dbClose(db);
}

/* ---- the machine ---------------------------------------------------------------------------------- */

/* What there is, what was compiled, what is in use; and every choice gives the same files. */
static void codeInUse(void) {
    static const char *const pragmas[] = {"mc_chacha20_hwaccel", "mc_aes_hwaccel"};
    const Scheme *users[] = {schemeNamed("chacha20"), schemeNamed("sqlcipher")};
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK(strlen(dbText(db, "PRAGMA mc_cpu_info")) > 0);
    CHECK_HAS(dbText(db, "PRAGMA mc_compiled_info"), "scalar; aes: ");
    CHECK_HAS(dbText(db, "PRAGMA mc_compiled_info"), "bitsliced; argon2id: ");
    const char *info = dbText(db, "PRAGMA mc_aes_info");
    CHECK(!strcmp(info, "hardware") || !strcmp(info, "software"));
    for (int i = 0; i < 2; i++) {
        const char *best = dbText(db, "PRAGMA %s", pragmas[i]);
        const char *file = path(textf("%d.db", i));
        sqlite3 *other = dbOpenKeyed(file, users[i], users[i]->key);
        rowsCreate(other);
        rowsInsert(other, 1, 20, 20, "a");
        dbClose(other);
        checkResult(db, textf("PRAGMA %s=off", pragmas[i]), "off");
        other = dbOpenKeyed(file, users[i], users[i]->key);
        CHECK_ROWS(other, 20, 20, "a");
        rowsInsert(other, 21, 40, 20, "a");
        dbClose(other);
        checkError(db, textf("PRAGMA %s='abacus'", pragmas[i]), "abacus");
        checkResult(db, textf("PRAGMA %s", pragmas[i]), "off");
        checkResult(db, textf("PRAGMA %s=AUTO", pragmas[i]), best);
        checkResult(db, textf("PRAGMA %s=max", pragmas[i]), best);
        checkResult(db, textf("PRAGMA %s='%s'", pragmas[i], best), best);
        other = dbOpenKeyed(file, users[i], users[i]->key);
        CHECK_ROWS(other, 40, 20, "a");
        dbClose(other);
    }
    /* as a URI parameter */
    const char *best = dbText(db, "PRAGMA mc_chacha20_hwaccel");
    dbClose(dbOpen(uri(path("b.db"), "mc_chacha20_hwaccel=off")));
    CHECK_TEXT(dbText(db, "PRAGMA mc_chacha20_hwaccel"), "off");
    dbClose(dbOpen(uri(path("b.db"), "mc_chacha20_hwaccel=auto")));
    CHECK_TEXT(dbText(db, "PRAGMA mc_chacha20_hwaccel"), best);
    sqlite3 *bad = 0;
    CHECK_INT(sqlite3_open(uri(path("b.db"), "mc_chacha20_hwaccel=abacus"), &bad), SQLITE_ERROR);
    sqlite3_close(bad);
    dbClose(db);
}

static void memorySecurity(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    checkResult(db, "PRAGMA memory_security", "0");
    checkResult(db, "PRAGMA memory_security=fill", "1");
    checkResult(db, "PRAGMA memory_security", "1");
    CHECK_OK(db, dbExec(db, "PRAGMA kdf_iter=1; PRAGMA key='k'"));
    rowsCreate(db);
    rowsInsert(db, 1, 100, 20, "a");
    CHECK_ROWS(db, 100, 20, "a");
    sqlite3 *second = dbOpen(path("b.db")); /* without lookaside memory */
    CHECK_TEXT(dbText(second, "PRAGMA memory_security"), "1");
    rowsCreate(second);
    rowsInsert(second, 1, 100, 20, "a");
    checkError(db, "PRAGMA memory_security=2", "memory_security");
    checkError(db, "PRAGMA memory_security=yes", "none, fill");
    checkResult(db, "PRAGMA memory_security=none", "0");
    checkResult(db, "PRAGMA memory_security=1", "1");
    checkResult(db, "PRAGMA memory_security=0", "0");
    CHECK_ROWS(second, 100, 20, "a");
    dbClose(second);
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
    TEST("values with names: number or name, answered by name", namedValues),
    TEST("legacy of sqlcipher sets a group of parameters", legacySetsAGroup),
    TEST("values out of range are errors in every scheme", rangesOfAllSchemes),
    TEST("values that do not go together are an error when the key is set", valuesThatDoNotGoTogether),
    TEST("a parameter that the scheme does not have is ignored by PRAGMA", parametersOfOtherSchemes),
    TEST("C44 which code is in use, and off", codeInUse),
    TEST("memory_security: on, off and what it is not", memorySecurity),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
