/*
** Encryption of single values in SQL: known values, every type and length, scopes, what is wrong, and that
** nothing of a value gets into a message.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

static sqlite3 *openWithKey(const char *arguments) {
    sqlite3 *db = dbOpen(":memory:");
    dbMust(db, "SELECT sqlite3mc_vle_key(%s)", arguments);
    return db;
}

/* Made by SQLite3 Multiple Ciphers 2.4.0 and verified by an independent program. */
static const struct {
    const char *algorithm, *scope, *type, *value, *blob;
} known[] = {
    {"chacha20", "NULL", "text", "Token of Anton",
     "ec010300aecd9d6202fb3ee62d8ece5aafc824dc4d436a087b358986ef5bb0451270d78b1c7ad7d50758d2236307da9765f7b5"},
    {"chacha20", "'scope-A'", "text", "Token of Anton",
     "ec010300a416c83831870e8ebf091fd1e84b41364b7875ce11a7bfcb3c4aab872fb21887d7624a72b60c5f8f89a12d1b499459"},
    {"chacha20", "NULL", "integer", "42",
     "ec01030030d280501881e8cd8602293e1f35a4106a16dcae3ea99d123aa27e8b40f3878b1632ccacc97ab2fe5d"},
    {"chacha20", "NULL", "real", "2.5",
     "ec010300c240f502d04f474d88a829ec841b7f9bcb28136f4be53d408f00b9ca81dcc30ca464053ef3a67f6bf7"},
    {"chacha20", "NULL", "blob", "00FF",
     "ec0103003bc5a67045703472656ca5fbdac53f54609929acfc210bd28783a8ce886700ab6b4585"},
    {"ascon128", "NULL", "text", "Token of Anton",
     "ec010600870efdd8f1e315bcf2243ec9fd588e5bc0a6fb5fe98747ffcc5095d375c834750a838a026abd0095f87456e8c46202"},
    {"ascon128", "'scope-A'", "text", "Token of Anton",
     "ec0106007378186593526b5f3d8c459c465342a662291b944d4305fd9a3519ec41de6ccfeef9055cb73dd2d3739014fd32bb7e"},
    {"ascon128", "NULL", "integer", "42",
     "ec01060013d0201a971c2500345ffedd1014022a467a8d5b4a20b8a248c3f49f74092bd5a3f174456c307ec210"},
};

static void knownValues(void) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        testContext("value %d", (int)i);
        sqlite3 *db = openWithKey(textf("'passphrase', NULL, '%s'", known[i].algorithm));
        const char *decrypted = textf("sqlite3mc_vle_decrypt(x'%s', %s)", known[i].blob, known[i].scope);
        CHECK_TEXT(dbText(db, "SELECT typeof(%s)", decrypted), known[i].type);
        CHECK_TEXT(dbText(db, "SELECT %s", !strcmp(known[i].type, "blob") ? textf("hex(%s)", decrypted) : decrypted),
                   known[i].value);
        dbClose(db);
    }
}

static const char *const algorithms[] = {"chacha20", "ascon128"};

static void everyTypeComesBack(void) {
    static const char *const values[] = {
        "NULL",
        "''",
        "x''",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "1.5",
        "-0.0",
        "1e308",
        "5e-324",
        "'a'",
        "'\xf0\x9f\x94\x91 key'",
        "char(0)||'x'",
        "x'00'",
        "zeroblob(100)",
        "x'ec010300'",
        "9e999",
    };
    for (int a = 0; a < 2; a++) {
        sqlite3 *db = openWithKey(textf("'k', 'salt', '%s', 'kdf_iter=1'", algorithms[a]));
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            testContext("%s: %s", algorithms[a], values[i]);
            CHECK_INT(dbInt(db,
                            "WITH v(a) AS (SELECT %s), e(a, b) AS (SELECT a, sqlite3mc_vle_encrypt(a) FROM v)"
                            "SELECT typeof(b) = 'blob' AND typeof(a) = typeof(sqlite3mc_vle_decrypt(b))"
                            "  AND quote(a) = quote(sqlite3mc_vle_decrypt(b)) FROM e",
                            values[i]),
                      1);
        }
        dbClose(db);
    }
}

/* 37 bytes more than the value, of every length, no two alike. */
static void everyLength(void) {
    for (int a = 0; a < 2; a++) {
        testContext("%s", algorithms[a]);
        sqlite3 *db = openWithKey(textf("'k', 'salt', '%s', 'kdf_iter=1'", algorithms[a]));
        CHECK_INT(dbInt(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 600),"
                            "v(a, b) AS MATERIALIZED (SELECT a, sqlite3mc_vle_encrypt(a) FROM"
                            "  (SELECT substr(hex(zeroblob(300)), 1, i) AS a FROM n))"
                            "SELECT count(*) FROM v WHERE length(b) = length(CAST(a AS BLOB)) + 37"
                            "  AND sqlite3mc_vle_decrypt(b) = a"),
                  601);
        CHECK_INT(dbInt(db, "SELECT length(sqlite3mc_vle_decrypt(sqlite3mc_vle_encrypt(zeroblob(1000000))))"), 1000000);
        CHECK_INT(dbInt(db, "SELECT sqlite3mc_vle_encrypt('a') = sqlite3mc_vle_encrypt('a')"), 0);
        dbClose(db);
    }
}

static void expectError(sqlite3 *db, const char *sql, const char *message) {
    testContext("%s", sql);
    CHECK_INT(dbExec(db, "SELECT %s", sql), SQLITE_ERROR);
    CHECK_TEXT(sqlite3_errmsg(db), message);
    testContext(0);
}

static void scopes(void) {
    sqlite3 *db = openWithKey("'k', NULL, NULL, 'kdf_iter=1'");
    dbMust(db, "CREATE TABLE t(a, b); INSERT INTO t VALUES"
               "(sqlite3mc_vle_encrypt('v', 'one'), sqlite3mc_vle_encrypt('v', ''))");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_decrypt(a, 'one') FROM t"), "v");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_decrypt(a, x'6f6e65') FROM t"), "v");
    expectError(db, "sqlite3mc_vle_decrypt(a, 'two') FROM t", "AEAD authentication failed");
    expectError(db, "sqlite3mc_vle_decrypt(a) FROM t", "AEAD authentication failed");
    /* absent, NULL and empty are the same */
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_decrypt(b) || sqlite3mc_vle_decrypt(b, NULL) FROM t"), "vv");
    /* a number would bind the value to nothing */
    expectError(db, "sqlite3mc_vle_encrypt('v', 5)", "The scope must be TEXT, BLOB or NULL");
    expectError(db, "sqlite3mc_vle_decrypt(a, 1.5) FROM t", "The scope must be TEXT, BLOB or NULL");
    dbClose(db);
}

static void keys(void) {
    sqlite3 *db = dbOpen(":memory:");
    expectError(db, "sqlite3mc_vle_encrypt(1)", "VLE key not set");
    expectError(db, "sqlite3mc_vle_decrypt(x'00')", "VLE key not set");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_key('k')"), "Ok. Options(kdf_iter=64007)");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_key('k', x'00', 'c', 'kdf_iter=2')"), "Ok. Options(kdf_iter=2)");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_key(x'6b', NULL, 'ASCON', 'KDF_ITER=3')"), "Ok. Options(kdf_iter=3)");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_key('k', '', 'ascon128', '')"), "Ok. Options(kdf_iter=64007)");
    dbMust(db, "CREATE TABLE t(a); INSERT INTO t SELECT sqlite3mc_vle_encrypt('v')");
    static const char *const bad[][2] = {
        {"sqlite3mc_vle_key(NULL)", "The password must be a TEXT or BLOB that is not empty"},
        {"sqlite3mc_vle_key('')", "The password must be a TEXT or BLOB that is not empty"},
        {"sqlite3mc_vle_key(12)", "The password must be a TEXT or BLOB that is not empty"},
        {"sqlite3mc_vle_key('k', 12)", "The salt must be TEXT, BLOB or NULL"},
        {"sqlite3mc_vle_key('k', NULL, '')", "Unsupported cipher type"},
        {"sqlite3mc_vle_key('k', NULL, 'aes')", "Unsupported cipher type"},
        {"sqlite3mc_vle_key('k', NULL, 'chacha20x')", "Unsupported cipher type"},
        {"sqlite3mc_vle_key('k', NULL, NULL, 'rounds=3')", "Unknown option 'rounds'"},
        {"sqlite3mc_vle_key('k', NULL, NULL, 'kdf_iter')", "Unknown option 'kdf_iter'"},
        {"sqlite3mc_vle_key('k', NULL, NULL, 'kdf_iter=')", "Malformed integer value ''."},
        {"sqlite3mc_vle_key('k', NULL, NULL, 'kdf_iter=0')",
         "Value 0 of 'kdf_iter' is out of range (1 to 2147483647)."},
        {"sqlite3mc_vle_key('k', NULL, NULL, 'kdf_iter=2,x=1')", "Unknown option 'x'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expectError(db, bad[i][0], bad[i][1]);
        CHECK_TEXT(dbText(db, "SELECT sqlite3mc_vle_decrypt(a) FROM t"), "v"); /* the key is as before */
    }
    /* of another password, salt, count and algorithm */
    static const char *const other[] = {"'l', '', 'ascon128'", "'k', 's', 'ascon128'", "'k', '', 'a', 'kdf_iter=2'"};
    for (int i = 0; i < 3; i++) {
        dbMust(db, "SELECT sqlite3mc_vle_key(%s)", other[i]);
        expectError(db, "sqlite3mc_vle_decrypt(a) FROM t", "AEAD authentication failed");
    }
    dbMust(db, "SELECT sqlite3mc_vle_key('k', '', 'chacha20')");
    expectError(db, "sqlite3mc_vle_decrypt(a) FROM t",
                "The value was encrypted by ascon128, the VLE key is for chacha20");
    /* the key of one connection is not that of another */
    sqlite3 *second = dbOpen(":memory:");
    expectError(second, "sqlite3mc_vle_encrypt(1)", "VLE key not set");
    dbClose(second);
    dbClose(db);
}

/* Every bit of a value counts, and no message has a part of it. */
static void damage(void) {
    for (int a = 0; a < 2; a++) {
        sqlite3 *db = openWithKey(textf("'k', NULL, '%s', 'kdf_iter=1'", algorithms[a]));
        sqlite3_stmt *stmt = 0;
        unsigned char blob[64];
        int n = 0;
        CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT sqlite3mc_vle_encrypt('secret text')", -1, &stmt, 0));
        if (CHECK_INT(sqlite3_step(stmt), SQLITE_ROW)) {
            n = sqlite3_column_bytes(stmt, 0);
            memcpy(blob, sqlite3_column_blob(stmt, 0), (size_t)n);
        }
        sqlite3_finalize(stmt);
        CHECK_INT(n, 11 + 37);
        CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT sqlite3mc_vle_decrypt(?)", -1, &stmt, 0));
        for (int bit = 0; bit < 8 * n; bit++) {
            testContext("%s, bit %d", algorithms[a], bit);
            blob[bit / 8] ^= (unsigned char)(1 << bit % 8);
            sqlite3_bind_blob(stmt, 1, blob, n, SQLITE_STATIC);
            CHECK_INT(sqlite3_step(stmt), SQLITE_ERROR);
            CHECK(!strstr(sqlite3_errmsg(db), "secret") && !strstr(sqlite3_errmsg(db), "text"));
            CHECK_TEXT(sqlite3_errmsg(db),
                       bit >= 32 ? "AEAD authentication failed" : "Invalid VLE header in encrypted value");
            sqlite3_reset(stmt);
            blob[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        for (int size = 0; size <= n; size++) {
            testContext("%s, %d bytes", algorithms[a], size);
            sqlite3_bind_blob(stmt, 1, blob, size, SQLITE_STATIC);
            CHECK_INT(sqlite3_step(stmt), size == n ? SQLITE_ROW : SQLITE_ERROR);
            if (size < 37) {
                CHECK_TEXT(sqlite3_errmsg(db), "Encrypted content too short");
            }
            sqlite3_reset(stmt);
        }
        sqlite3_finalize(stmt);
        testContext(0);
        expectError(db, "sqlite3mc_vle_decrypt('text')", "Decryption requires a BLOB");
        expectError(db, "sqlite3mc_vle_decrypt(NULL)", "Decryption requires a BLOB");
        expectError(db, "sqlite3mc_vle_decrypt(5)", "Decryption requires a BLOB");
        dbClose(db);
    }
}

/* Views and triggers may encrypt if the schema is trusted; they never set the key. */
static void inSchemas(void) {
    sqlite3 *db = openWithKey("'k', NULL, NULL, 'kdf_iter=1'");
    dbMust(db, "CREATE TABLE t(a); CREATE VIEW v(a) AS SELECT sqlite3mc_vle_decrypt(a) FROM t;"
               "CREATE TRIGGER r INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES(sqlite3mc_vle_encrypt(new.a)); END;"
               "INSERT INTO v VALUES('x')");
    CHECK_TEXT(dbText(db, "SELECT a FROM v"), "x");
    CHECK_TEXT(dbText(db, "SELECT typeof(a) FROM t"), "blob");
    dbMust(db, "PRAGMA trusted_schema=OFF");
    CHECK_INT(dbExec(db, "SELECT a FROM v"), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "unsafe use");
    dbMust(db, "PRAGMA trusted_schema=ON; CREATE VIEW w AS SELECT sqlite3mc_vle_key('l')");
    CHECK_INT(dbExec(db, "SELECT * FROM w"), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "unsafe use");
    dbClose(db);
}

static const Test tests[] = {
    TEST("values made by SQLite3 Multiple Ciphers are read", knownValues),
    TEST("values of every type come back with their type, NULL and empty ones too", everyTypeComesBack),
    TEST("values of every length", everyLength),
    TEST("a scope binds a value", scopes),
    TEST("keys of values: arguments, errors, other keys", keys),
    TEST("each bit of an encrypted value counts, and no message tells of it", damage),
    TEST("encryption of values in views and triggers", inSchemas),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
