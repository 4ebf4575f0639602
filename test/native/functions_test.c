/*
** Settings by the C functions sqlite3mc_config*() and by the SQL functions, the tables of schemes and
** parameters, and what sqlite3mc_codec_data() gives.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

static int optionError(sqlite3 *db, int got, int want, const char *part) {
    int ok = CHECK_INT(got, want) && CHECK_INT(sqlite3_errcode(db), SQLITE_ERROR);
    return CHECK_HAS(sqlite3_errmsg(db), part) && ok;
}

static void tableOfSchemes(void) {
    char name[32];
    int count = sqlite3mc_cipher_count();
    int chacha20 = sqlite3mc_cipher_index("chacha20");
    static const char *const names[] = {"aes128cbc", "aes256cbc", "chacha20", "sqlcipher", "rc4", "ascon128", "aegis"};
    CHECK_INT(count, 7);
    for (int i = 0; i < 7; i++) {
        CHECK_INT(sqlite3mc_cipher_index(names[i]), i + 1); /* CODEC_TYPE_... of SQLite3 Multiple Ciphers */
    }
    for (int i = 1; i <= count; i++) {
        CHECK_INT(sqlite3mc_cipher_index(sqlite3mc_cipher_name(i)), i);
        CHECK_INT(sqlite3mc_cipher_name_copy(i, name, sizeof name), 1);
        CHECK_TEXT(name, sqlite3mc_cipher_name(i));
    }
    CHECK_INT(sqlite3mc_cipher_index("ChaCha20"), chacha20);
    CHECK_INT(sqlite3mc_cipher_index("chacha"), -1);
    CHECK_INT(sqlite3mc_cipher_index(""), -1);
    CHECK_INT(sqlite3mc_cipher_index(0), -1);
    CHECK_TEXT(sqlite3mc_cipher_name(0), "");
    CHECK_TEXT(sqlite3mc_cipher_name(-1), "");
    CHECK_TEXT(sqlite3mc_cipher_name(count + 1), "");
    CHECK_INT(sqlite3mc_cipher_name_copy(chacha20, name, 9), 1);
    CHECK_TEXT(name, "chacha20");
    CHECK_INT(sqlite3mc_cipher_name_copy(chacha20, name, 8), -9);
    CHECK_TEXT(name, "");
    CHECK_INT(sqlite3mc_cipher_name_copy(chacha20, 0, 0), -9);
    strcpy(name, "x");
    CHECK_INT(sqlite3mc_cipher_name_copy(count + 1, name, sizeof name), 0);
    CHECK_TEXT(name, "");
}

/* The values of the next key and the lasting ones, by C. */
static void commonOptions(void) {
    int chacha20 = sqlite3mc_cipher_index("chacha20");
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_INT(sqlite3mc_config(db, "cipher", -1), chacha20);
    CHECK_INT(sqlite3mc_config(db, "default:cipher", -1), chacha20);
    CHECK_INT(sqlite3mc_config(db, "min:cipher", -1), 1);
    CHECK_INT(sqlite3mc_config(db, "max:cipher", -1), sqlite3mc_cipher_count());
    CHECK_INT(sqlite3mc_config(db, "Cipher", chacha20), chacha20);
    CHECK_INT(sqlite3_errcode(db), SQLITE_OK);
    optionError(db, sqlite3mc_config(db, "cipher", 0), chacha20, "cipher");
    optionError(db, sqlite3mc_config(db, "cipher", 99), chacha20, "99");
    optionError(db, sqlite3mc_config(db, "max:cipher", 1), sqlite3mc_cipher_count(), "cannot be set");

    CHECK_INT(sqlite3mc_config(db, "hmac_check", -1), 1);
    CHECK_INT(sqlite3mc_config(db, "min:hmac_check", -1), 0);
    CHECK_INT(sqlite3mc_config(db, "max:hmac_check", -1), 1);
    CHECK_INT(sqlite3mc_config(db, "default:hmac_check", 0), 0); /* for one key all the same */
    CHECK_INT(sqlite3mc_config(db, "hmac_check", -1), 0);
    CHECK_INT(sqlite3mc_config(db, "default:hmac_check", -1), 1);
    optionError(db, sqlite3mc_config(db, "hmac_check", 2), 0, "hmac_check");
    dbMust(db, "PRAGMA key='k'");
    CHECK_INT(sqlite3mc_config(db, "hmac_check", -1), 1);
    CHECK_INT(sqlite3mc_config(db, "mc_legacy_wal", 1), 1);
    CHECK_INT(sqlite3mc_config(db, "default:mc_legacy_wal", -1), 0);

    optionError(db, sqlite3mc_config(db, "nosuch", -1), -1, "nosuch");
    optionError(db, sqlite3mc_config(db, "kdf_iter", -1), -1, "kdf_iter");
    CHECK_INT(sqlite3mc_config(db, 0, -1), -1);
    /* of no connection: the built-in values, which cannot be changed */
    CHECK_INT(sqlite3mc_config(0, "cipher", -1), chacha20);
    CHECK_INT(sqlite3mc_config(0, "hmac_check", -1), 1);
    CHECK_INT(sqlite3mc_config(0, "hmac_check", 0), -1);
    CHECK_INT(sqlite3mc_config(0, "nosuch", -1), -1);
    CHECK_INT(sqlite3mc_config(0, "hmac_check", -1), 1);
    dbClose(db);
}

static void parametersOfSchemes(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 64007);
    CHECK_INT(sqlite3mc_config_cipher(db, "CHACHA20", "KDF_ITER", 5), 5);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 5);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "default:kdf_iter", -1), 64007);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "min:kdf_iter", -1), 1);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "max:kdf_iter", -1), 0x7fffffff);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "default:kdf_iter", 7), 7);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 7);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", 8), 8);
    dbMust(db, "PRAGMA key='k'; CREATE TABLE t(x)"); /* takes 8 */
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 7);
    dbClose(db);
    db = dbOpen(uri(path("a.db"), "kdf_iter=8&key=k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));

    /* a PRAGMA of main sets both, of another schema the next value only, like the function */
    dbMust(db, "PRAGMA main.kdf_iter=20; PRAGMA temp.kdf_iter=21");
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", -1), 21);
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "default:kdf_iter", -1), 20);

    optionError(db, sqlite3mc_config_cipher(db, "chacha20", "kdf_iter", 0), 21, "out of range");
    optionError(db, sqlite3mc_config_cipher(db, "chacha20", "legacy_page_size", 1000), 4096, "power of two");
    optionError(db, sqlite3mc_config_cipher(db, "chacha20", "legacy", 2), 0, "legacy");
    optionError(db, sqlite3mc_config_cipher(db, "chacha20", "min:legacy", 1), 0, "cannot be set");
    optionError(db, sqlite3mc_config_cipher(db, "chacha20", "nosuch", -1), -1, "nosuch");
    optionError(db, sqlite3mc_config_cipher(db, "nosuch", "kdf_iter", -1), -1, "nosuch");
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", 0, -1), -1);
    CHECK_INT(sqlite3mc_config_cipher(db, 0, "kdf_iter", -1), -1);
    CHECK_INT(sqlite3mc_config_cipher(0, "chacha20", "kdf_iter", -1), 64007);
    CHECK_INT(sqlite3mc_config_cipher(0, "chacha20", "kdf_iter", 5), -1);
    CHECK_INT(sqlite3mc_config_cipher(0, "chacha20", "kdf_iter", -1), 64007);
    dbClose(db);
}

static void configInSql(void) {
    static const char *const answers[][2] = {
        {"sqlite3mc_config('cipher')", "chacha20"},
        {"sqlite3mc_config('default:cipher')", "chacha20"},
        {"sqlite3mc_config('cipher', 'ChaCha20')", "chacha20"},
        {"sqlite3mc_config('hmac_check')", "1"},
        {"sqlite3mc_config('hmac_check', 0)", "0"},
        {"sqlite3mc_config('hmac_check')", "0"},
        {"sqlite3mc_config('default:hmac_check')", "1"},
        {"sqlite3mc_config('mc_legacy_wal', 'on')", "1"},
        {"sqlite3mc_config('max:mc_legacy_wal')", "1"},
        {"sqlite3mc_config('chacha20')", "kdf_iter,legacy,legacy_page_size,plaintext_header_size"},
        {"sqlite3mc_config('chacha20', 'kdf_iter')", "64007"},
        {"sqlite3mc_config('chacha20', 'kdf_iter', 9)", "9"},
        {"sqlite3mc_config('chacha20', 'kdf_iter')", "9"},
        {"sqlite3mc_config('chacha20', 'default:kdf_iter')", "64007"},
        {"sqlite3mc_config('chacha20', 'default:kdf_iter', '0x10')", "16"},
        {"sqlite3mc_config('chacha20', 'max:kdf_iter')", "2147483647"},
        {"sqlite3mc_config('nosuch')", "(null)"},
        {"sqlite3mc_config(NULL)", "(null)"},
        {"sqlite3mc_config('chacha20', NULL)", "(null)"},
        {"sqlite3mc_config('chacha20', 'nosuch')", "(null)"},
    };
    static const char *const errors[][2] = {
        {"sqlite3mc_config('nosuch', 1)", "nosuch"},
        {"sqlite3mc_config('nosuch', 'kdf_iter', 1)", "nosuch"},
        {"sqlite3mc_config('cipher', 'nosuch')", "nosuch"},
        {"sqlite3mc_config('cipher', 1)", "unknown"},
        {"sqlite3mc_config('cipher', NULL)", "unknown"},
        {"sqlite3mc_config('hmac_check', 2)", ""},
        {"sqlite3mc_config('chacha20', 'kdf_iter', 0)", "out of range"},
        {"sqlite3mc_config('chacha20', 'kdf_iter', NULL)", "NULL"},
        {"sqlite3mc_config('chacha20', 'kdf_iter', 1.5)", "1.5"},
        {"sqlite3mc_config('chacha20', 'legacy_page_size', 1000)", "power of two"},
        {"sqlite3mc_config('chacha20', 'min:kdf_iter', 2)", "cannot be set"},
        {"sqlite3mc_config('chacha20', 'nosuch', 2)", "nosuch"},
        {"sqlite3mc_config()", "number of arguments"},
        {"sqlite3mc_config(1, 2, 3, 4)", "number of arguments"},
    };
    sqlite3 *db = dbOpen(path("a.db"));
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        testContext("%s", answers[i][0]);
        CHECK_TEXT(dbText(db, "SELECT %s", answers[i][0]), answers[i][1]);
    }
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        testContext("%s", errors[i][0]);
        CHECK_INT(dbExec(db, "SELECT %s", errors[i][0]), SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(db), errors[i][1]);
    }
    testContext(0);
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('chacha20', 'kdf_iter')"), "16");
    dbClose(db);
}

/* The cipher of one ATTACH, as scripts for SQLite3 Multiple Ciphers choose it. */
static void configBeforeAttach(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    dbMust(db,
           "SELECT sqlite3mc_config('cipher', 'chacha20'), sqlite3mc_config('chacha20', 'kdf_iter', 3);"
           "ATTACH %Q AS b KEY 'k'; CREATE TABLE b.t(x)",
           path("b.db"));
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('chacha20', 'kdf_iter')"), "64007");
    dbClose(db);
    db = dbOpen(uri(path("b.db"), "kdf_iter=3&key=k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
}

static void versionInSql(void) {
    sqlite3 *db = dbOpen(":memory:");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_version()"), sqlite3mc_version());
    CHECK_HAS(sqlite3mc_version(), "sqlite3mc-wasm ");
    dbClose(db);
}

#define SALT "2B7E151628AED2A6ABF7158809CF4F3C"

static void codecData(void) {
    const char *file = path("a.db");
    static const unsigned char salt[17] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab,
                                           0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c, 0};
    sqlite3 *db = dbOpen(file);
    CHECK(sqlite3mc_codec_data(db, "main", "cipher_salt") == 0); /* plain */
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data('cipher_salt')"), "(null)");
    dbMust(db, "PRAGMA kdf_iter=1; PRAGMA cipher_salt='" SALT "'; PRAGMA key='k'; CREATE TABLE t(x)");
    dbMust(db, "ATTACH %Q AS b KEY ''; CREATE TABLE b.t(x)", path("b.db"));
    static const char *const names[] = {"cipher_salt", "CIPHER_SALT", "raw:cipher_salt"};
    for (int i = 0; i < 3; i++) {
        for (int main = 0; main < 2; main++) {
            unsigned char *data = sqlite3mc_codec_data(db, main ? "main" : 0, names[i]);
            if (CHECK(data != 0)) {
                CHECK(!memcmp(data, i < 2 ? SALT : (const char *)salt, i < 2 ? 33 : 17));
            }
            sqlite3_free(data);
        }
    }
    CHECK(sqlite3mc_codec_data(db, "b", "cipher_salt") == 0);
    CHECK(sqlite3mc_codec_data(db, "nosuch", "cipher_salt") == 0);
    CHECK(sqlite3mc_codec_data(db, "main", "nosuch") == 0);
    CHECK(sqlite3mc_codec_data(db, "main", 0) == 0);
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data('cipher_salt')"), SALT);
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data('cipher_salt', 'main')"), SALT);
    CHECK_TEXT(dbText(db, "SELECT hex(sqlite3mc_codec_data('raw:cipher_salt'))"), SALT);
    CHECK_TEXT(dbText(db, "SELECT typeof(sqlite3mc_codec_data('raw:cipher_salt', 'main'))"), "blob");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data('cipher_salt', 'b')"), "(null)");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data('nosuch')"), "(null)");
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_codec_data(NULL)"), "(null)");
    dbClose(db);
}

/* The schema of a file may be an enemy's: it cannot change settings or read them. */
static void notFromASchema(void) {
    static const char *const calls[] = {
        "sqlite3mc_config('chacha20', 'default:kdf_iter', 1)",
        "sqlite3mc_codec_data('cipher_salt')",
        "sqlite3mc_version()",
    };
    sqlite3 *db = dbOpen(path("a.db"));
    for (int i = 0; i < 3; i++) {
        testContext("%s", calls[i]);
        dbMust(db, "DROP VIEW IF EXISTS v; CREATE VIEW v AS SELECT %s AS x", calls[i]);
        CHECK_INT(dbExec(db, "SELECT x FROM v"), SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(db), "unsafe use");
        dbMust(db,
               "DROP TABLE IF EXISTS t; CREATE TABLE t(x);"
               "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT %s; END",
               calls[i]);
        CHECK_INT(dbExec(db, "INSERT INTO t VALUES(1)"), SQLITE_ERROR);
    }
    CHECK_INT(sqlite3mc_config_cipher(db, "chacha20", "default:kdf_iter", -1), 64007);
    dbClose(db);
}

static const Test tests[] = {
    TEST("names and ids of the schemes", tableOfSchemes),
    TEST("sqlite3mc_config: options of all schemes", commonOptions),
    TEST("sqlite3mc_config_cipher: parameters of a scheme", parametersOfSchemes),
    TEST("sqlite3mc_config in SQL: results and errors", configInSql),
    TEST("sqlite3mc_config before ATTACH", configBeforeAttach),
    TEST("sqlite3mc_version in SQL", versionInSql),
    TEST("sqlite3mc_codec_data: the salt as text and as bytes, in C and in SQL", codecData),
    TEST("settings cannot be changed or read by a schema", notFromASchema),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
