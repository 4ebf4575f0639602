/*
** Cipher schemes that a program adds. The scheme is the worked example of docs/schemes.md, the file itself.
*/
#include "../../examples/native/xtea_scheme.c"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef __wasm__
#include <pthread.h>
#endif

static const Scheme xteaScheme = {
    "xtea", "PRAGMA cipher='xtea'; PRAGMA kdf_iter=1;", "first password", "second password", RESERVED, 1, 1, 512, 16, 8,
};

/* The scheme is there until sqlite3_shutdown(). */
static void needXtea(void) {
    if (sqlite3mc_cipher_index("xtea") < 0) {
        CHECK_INT(register_xtea(0), SQLITE_OK);
    }
}

static void startAnew(void) {
    CHECK_INT(sqlite3_shutdown(), SQLITE_OK);
    CHECK_INT(sqlite3_initialize(), SQLITE_OK);
}

static void answersOfTheExample(void) {
    /* The test vector of the SipHash paper, and one of XTEA that all its implementations share, both as numbers. */
    static const uint8_t message[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint32_t key[4] = {0, 0, 0, 0};
    Key k;
    memset(&k, 0, sizeof k);
    k.siphash[0] = load64(message);
    k.siphash[1] = load64(message + 8);
    uint64_t v[4] = {k.siphash[0] ^ 0x736f6d6570736575, k.siphash[1] ^ 0x646f72616e646f6d,
                     k.siphash[0] ^ 0x6c7967656e657261, k.siphash[1] ^ 0x7465646279746573};
    siphash_word(v, load64(message));
    siphash_word(v, (load64(message + 8) & 0x00ffffffffffffff) | (uint64_t)15 << 56);
    v[2] ^= 0xff;
    siphash_rounds(v, 4);
    CHECK((v[0] ^ v[1] ^ v[2] ^ v[3]) == 0xa129ca6149be45e5);
    /* DEE9D4D8 F7131ED9 */
    CHECK(xtea(key, 0) == ((uint64_t)0xf7131ed9 << 32 | 0xdee9d4d8));
}

static void roundTrip(void) {
    needXtea();
    int sizes[] = {512, 4096, 65536};
    for (int i = 0; i < 3; i++) {
        testContext("page size %d", sizes[i]);
        const char *file = path(textf("%d.db", sizes[i]));
        sqlite3 *db = dbOpen(file);
        dbMust(db, "PRAGMA page_size=%d", sizes[i]);
        CHECK_OK(db, dbSetup(db, &xteaScheme));
        CHECK_TEXT(dbText(db, "PRAGMA cipher"), "xtea");
        CHECK_OK(db, dbKey(db, xteaScheme.key));
        rowsCreate(db);
        rowsInsert(db, 1, 40, 20, "a");
        CHECK_INT(strlen(dbText(db, "PRAGMA cipher_salt")), 32);
        dbClose(db);
        CHECK(!fileHas(file, MARKER, 16));
        db = dbOpenKeyed(file, &xteaScheme, xteaScheme.key);
        CHECK_ROWS(db, 40, 20, "a");
        CHECK_INT(dbInt(db, "PRAGMA page_size"), sizes[i]);
        dbMust(db, "PRAGMA journal_mode=WAL; DELETE FROM t WHERE id > 20; VACUUM");
        CHECK_ROWS(db, 20, 20, "a");
        dbClose(db);
        db = dbOpenKeyed(file, &xteaScheme, xteaScheme.other);
        CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
        CHECK_OK(db, dbKey(db, "x"));
        dbMust(db, "PRAGMA cipher='xtea'; PRAGMA kdf_iter=2; PRAGMA key='first password'");
        CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
        dbClose(db);
    }
}

static void damageIsNoticed(void) {
    const char *good = path("good.db"), *file = path("a.db");
    needXtea();
    sqlite3 *db = dbOpenKeyed(good, &xteaScheme, xteaScheme.key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, 100, 20, "a");
    dbClose(db);
    static const int offsets[] = {0, 15, 18, 24, 2000, 4079, 4080, 4088, 4095};
    for (int page = 0; page < 3; page++) {
        for (int i = 0; i < 9; i++) {
            testContext("page %d, byte %d", page + 1, offsets[i]);
            dbFilesCopy(good, file);
            fileFlip(file, 4096 * page + offsets[i], 1);
            db = dbOpenKeyed(file, &xteaScheme, xteaScheme.key);
            CHECK_INT(dbExec(db, "SELECT * FROM t"), page == 0 ? SQLITE_NOTADB : SQLITE_CORRUPT);
            /* rescue: what is left of it */
            dbMust(db, "PRAGMA cipher='xtea'; PRAGMA kdf_iter=1; PRAGMA hmac_check=0; PRAGMA key='first password'");
            if (page > 0) {
                CHECK_INT(dbInt(db, "SELECT count(*) FROM sqlite_schema"), 1);
            }
            dbClose(db);
        }
    }
}

static void besideTheOthers(void) {
    const char *file = path("a.db"), *second = path("b.db");
    const Scheme *chacha20 = schemeNamed("chacha20");
    needXtea();
    sqlite3 *db = dbOpenKeyed(file, chacha20, chacha20->key);
    rowsCreate(db);
    rowsInsert(db, 1, 30, 20, "a");
    /* rekey to it and back, also to plain */
    dbMust(db, "PRAGMA cipher='xtea'; PRAGMA kdf_iter=1; PRAGMA rekey='first password'");
    CHECK_ROWS(db, 30, 20, "a");
    dbMust(db, "ATTACH %Q AS b KEY 'k'; CREATE TABLE b.t(x); INSERT INTO b.t VALUES(7)",
           uri(second, "cipher=xtea&kdf_iter=3"));
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('xtea', 'kdf_iter')"), "1");
    dbClose(db);
    db = dbOpenKeyed(file, &xteaScheme, xteaScheme.key);
    CHECK_ROWS(db, 30, 20, "a");
    dbMust(db, "PRAGMA rekey=''");
    CHECK_ROWS(db, 30, 20, "a");
    dbMust(db, "PRAGMA cipher='chacha20'; PRAGMA kdf_iter=1; PRAGMA rekey='k'");
    dbClose(db);
    db = dbOpen(uri(second, "cipher=XTEA&kdf_iter=3&key=k"));
    CHECK_INT(dbInt(db, "SELECT x FROM t"), 7);
    dbClose(db);
}

/* A connection that was opened before knows the scheme afterwards. */
static void appearsInOpenConnections(void) {
    startAnew();
    sqlite3 *db = dbOpen(path("a.db"));
    int count = sqlite3mc_cipher_count();
    CHECK_INT(dbExec(db, "PRAGMA cipher='xtea'"), SQLITE_ERROR);
    CHECK_INT(register_xtea(0), SQLITE_OK);
    CHECK_INT(sqlite3mc_cipher_count(), count + 1);
    CHECK_INT(sqlite3mc_cipher_index("Xtea"), count + 1);
    CHECK_TEXT(sqlite3mc_cipher_name(count + 1), "xtea");
    dbMust(db, "PRAGMA cipher='xtea'");
    CHECK_INT(sqlite3mc_config(db, "cipher", -1), count + 1);
    CHECK_INT(sqlite3mc_config(db, "max:cipher", -1), count + 1);
    CHECK_INT(sqlite3mc_config_cipher(db, "xtea", "kdf_iter", -1), 100000);
    CHECK_INT(sqlite3mc_config_cipher(db, "xtea", "default:kdf_iter", 5), 5);
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('xtea')"), "kdf_iter");
    dbClose(db);
}

static void asDefault(void) {
    const char *file = path("a.db");
    startAnew();
    sqlite3 *before = dbOpen(":memory:");
    CHECK_TEXT(dbText(before, "PRAGMA cipher"), "chacha20");
    CHECK_INT(register_xtea(1), SQLITE_OK);
    CHECK_TEXT(dbText(before, "PRAGMA cipher"), "chacha20");
    dbClose(before);
    CHECK_TEXT(sqlite3mc_cipher_name(sqlite3mc_config(0, "cipher", -1)), "xtea");
    sqlite3 *db = dbOpen(uri(file, "kdf_iter=2&key=k"));
    rowsCreate(db);
    dbClose(db);
    db = dbOpen(uri(file, "cipher=xtea&kdf_iter=2&key=k"));
    CHECK_OK(db, dbExec(db, "SELECT * FROM t"));
    dbClose(db);
    startAnew(); /* forgets it */
    CHECK_INT(sqlite3mc_cipher_index("xtea"), -1);
    db = dbOpen(":memory:");
    CHECK_TEXT(dbText(db, "PRAGMA cipher"), "chacha20");
    dbClose(db);
}

static int misbehave; /* what the scheme below does wrong */

static int badOpen(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    int rc = open_page(state, pgno, page, size, check);
    return misbehave == 1 && pgno > 1 ? 77 : rc;
}

static int badSeal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    return misbehave == 2 ? 77 : seal(state, pgno, page, size);
}

static int badDerive(void *state, const int *value, const void *password, size_t n, const void *salt) {
    return misbehave == 3 ? 77 : misbehave == 4 ? SQLITE3MC_CIPHER_NO_MEMORY : derive(state, value, password, n, salt);
}

static int badReserved(const int *value) {
    return misbehave == 5 ? 300 : misbehave == 6 ? -1 : reserved(value);
}

static const char *badConflict(const int *value) {
    return misbehave == 7 && value[0] == 2 ? "two rounds are an odd number" : 0;
}

static const sqlite3mc_cipher_param oneParameter[] = {{"kdf_iter", 1, 1, 9, 0}, {0, 0, 0, 0, 0}};

static const sqlite3mc_cipher badScheme = {
    1, "bad", sizeof(Key), 1, badReserved, authenticates, 0, badConflict, badDerive, badSeal, badOpen,
};

/* A scheme that does what it should not is an error, not a crash and no unverified page. */
static void misbehavior(void) {
    const char *file = path("a.db");
    startAnew();
    misbehave = 0;
    CHECK_INT(sqlite3mc_register_cipher(&badScheme, oneParameter, 0), SQLITE_OK);
    sqlite3 *db = dbOpen(uri(file, "cipher=bad&key=k"));
    rowsCreate(db);
    rowsInsert(db, 1, 100, 20, "a");
    dbClose(db);
    for (misbehave = 1; misbehave <= 7; misbehave++) {
        testContext("misbehaviour %d", misbehave);
        db = dbOpen(file);
        CHECK_OK(db, dbExec(db, "PRAGMA cipher='bad'; PRAGMA kdf_iter=%d", misbehave == 7 ? 2 : 1));
        int rc = dbKey(db, "k");
        if (misbehave >= 5) {
            CHECK_INT(rc, SQLITE_ERROR);
            CHECK_HAS(sqlite3_errmsg(db), misbehave == 7 ? "bad: two rounds are an odd number." : "too many bytes");
            dbClose(db);
            continue;
        }
        CHECK_OK(db, rc);
        rc = dbExec(db, "SELECT * FROM t");
        CHECK_INT(rc, misbehave == 1   ? SQLITE_CORRUPT
                      : misbehave == 2 ? SQLITE_OK
                      : misbehave == 3 ? SQLITE_ERROR
                                       : SQLITE_NOMEM);
        if (misbehave == 2) {
            CHECK_INT(dbExec(db, "DELETE FROM t"), SQLITE_IOERR);
        }
        dbClose(db);
    }
    misbehave = 0;
    db = dbOpen(uri(file, "cipher=bad&key=k"));
    CHECK_ROWS(db, 100, 20, "a");
    dbClose(db);
}

static int refused(const sqlite3mc_cipher *scheme, const sqlite3mc_cipher_param *parameters) {
    int count = sqlite3mc_cipher_count();
    int rc = sqlite3mc_register_cipher(scheme, parameters, 1);
    return rc == SQLITE_ERROR && sqlite3mc_cipher_count() == count;
}

static void badRegistrations(void) {
    static const char *const names[] = {
        "", "9a", "_a", "a b", "a-b", "\xc3\xa4", "chacha20", "CHACHA20", "a2345678901234567890123456789012"};
    sqlite3mc_cipher scheme = badScheme;
    startAnew();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        testContext("name %s", names[i]);
        scheme.zName = names[i];
        CHECK(refused(&scheme, oneParameter));
    }
    testContext(0);
    scheme.zName = 0;
    CHECK(refused(&scheme, oneParameter));
    CHECK(refused(0, oneParameter));
    for (int i = 0; i < 6; i++) {
        testContext("missing %d", i);
        scheme = badScheme;
        if (i == 0) scheme.iVersion = 2;
        if (i == 1) scheme.xReserved = 0;
        if (i == 2) scheme.xAuthenticates = 0;
        if (i == 3) scheme.xDerive = 0;
        if (i == 4) scheme.xSeal = 0;
        if (i == 5) scheme.xOpen = 0;
        CHECK(refused(&scheme, oneParameter));
    }
    static const sqlite3mc_cipher_param bad[][3] = {
        {{"9", 1, 0, 2, 0}, {0, 0, 0, 0, 0}},         {{"a b", 1, 0, 2, 0}, {0, 0, 0, 0, 0}},
        {{"a", 3, 0, 2, 0}, {0, 0, 0, 0, 0}},         {{"a", 1, -1, 2, 0}, {0, 0, 0, 0, 0}},
        {{"a", 0, 0, 0, 0}, {"A", 0, 0, 0, 0}},       {{"key", 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
        {{"page_size", 0, 0, 0, 0}, {0, 0, 0, 0, 0}}, {{"hmac_check", 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        testContext("parameters %d", (int)i);
        CHECK(refused(&badScheme, bad[i]));
    }
    testContext(0);
    /* 64 parameters, and no more; their text may go */
    sqlite3mc_cipher_param *many = calloc(66, sizeof *many);
    char(*text)[8] = calloc(66, sizeof *text);
    for (int i = 0; i < 65; i++) {
        snprintf(text[i], sizeof text[i], "p%d", i);
        many[i] = (sqlite3mc_cipher_param){text[i], i, 0, 100, 0};
    }
    CHECK(refused(&badScheme, many));
    many[64].zName = "";
    scheme = badScheme;
    scheme.zName = text[65];
    memcpy(text[65], "many", 5);
    CHECK_INT(sqlite3mc_register_cipher(&scheme, many, 0), SQLITE_OK);
    CHECK(refused(&scheme, many)); /* the name is taken */
    memset(text, 'x', 66 * sizeof *text);
    free(text);
    free(many);
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_INT(sqlite3mc_config_cipher(db, "many", "p63", -1), 63);
    dbMust(db, "PRAGMA cipher='many'; PRAGMA p63=5; PRAGMA p0=3; PRAGMA key='k'; CREATE TABLE t(x)");
    dbClose(db);
}

static void sixteenSchemes(void) {
    sqlite3mc_cipher scheme = badScheme;
    startAnew();
    misbehave = 0;
    for (int i = sqlite3mc_cipher_count(); i < 16; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        scheme.zName = name;
        CHECK_INT(sqlite3mc_register_cipher(&scheme, 0, 0), SQLITE_OK);
    }
    CHECK_INT(sqlite3mc_cipher_count(), 16);
    CHECK(refused(&badScheme, oneParameter));
    sqlite3 *db = dbOpen(path("a.db"));
    CHECK_OK(db, dbExec(db, "PRAGMA cipher='s15'"));
    CHECK_TEXT(dbText(db, "SELECT sqlite3mc_config('s15')"), "");
    dbClose(db);
    startAnew();
}

#ifndef __wasm__
static void *registerOne(void *arg) {
    char name[16];
    sqlite3mc_cipher scheme = badScheme;
    snprintf(name, sizeof name, "thread%d", (int)(intptr_t)arg);
    scheme.zName = name;
    int rc = sqlite3mc_register_cipher(&scheme, oneParameter, 0);
    for (int i = 1; i <= sqlite3mc_cipher_count(); i++) {
        if (sqlite3mc_cipher_index(sqlite3mc_cipher_name(i)) != i) {
            rc = SQLITE_INTERNAL;
        }
    }
    return (void *)(intptr_t)rc;
}

static void manyThreads(void) {
    enum { THREADS = 20 };
    pthread_t threads[THREADS];
    startAnew();
    int room = 16 - sqlite3mc_cipher_count(), done = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_create(&threads[i], 0, registerOne, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *rc;
        pthread_join(threads[i], &rc);
        done += (intptr_t)rc == SQLITE_OK;
        CHECK((intptr_t)rc == SQLITE_OK || (intptr_t)rc == SQLITE_ERROR);
    }
    CHECK_INT(done, room);
    CHECK_INT(sqlite3mc_cipher_count(), 16);
    startAnew();
}
#endif

static void helpersOfSchemes(void) {
    /* RFC 7914 11: PBKDF2-HMAC-SHA-256 of "passwd", "salt", 1 */
    static const uint8_t want[8] = {0x55, 0xac, 0x04, 0x6e, 0x56, 0xe3, 0x08, 0x9f};
    uint8_t out[64], again[64];
    CHECK_INT(sqlite3mc_pbkdf2("passwd", 6, "salt", 4, 1, out, 64), SQLITE_OK);
    CHECK(!memcmp(out, want, 8));
    CHECK_INT(sqlite3mc_pbkdf2("passwd", 6, "salt", 4, 0, out, 64), SQLITE_MISUSE);
    CHECK_INT(sqlite3mc_pbkdf2("passwd", 6, "salt", 4, 1, out, 0), SQLITE_MISUSE);
    CHECK_INT(sqlite3mc_random(out, 64), SQLITE_OK);
    CHECK_INT(sqlite3mc_random(again, 64), SQLITE_OK);
    CHECK(memcmp(out, again, 64) != 0);
}

static const Test tests[] = {
    TEST("known answers of the example's primitives", answersOfTheExample),
    TEST("a scheme in one file: write and read back, wrong key, wrong parameter", roundTrip),
    TEST("a scheme in one file: damage is noticed", damageIsNoticed),
    TEST("a scheme in one file: rekey, ATTACH and URI beside the others", besideTheOthers),
    TEST("a scheme appears in connections that are open", appearsInOpenConnections),
    TEST("a scheme as default, until sqlite3_shutdown", asDefault),
    TEST("a scheme that misbehaves is an error", misbehavior),
    TEST("bad registrations are refused", badRegistrations),
    TEST("sixteen schemes and no more", sixteenSchemes),
#ifndef __wasm__
    TEST("many threads register schemes", manyThreads),
#endif
    TEST("random bytes and PBKDF2 for schemes", helpersOfSchemes),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
