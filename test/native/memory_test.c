/*
** Memory: an allocation that fails anywhere is an error and never a wrong row or a broken file; and
** no key, passphrase or one-time key is left in memory when the connection is closed (I5, C43).
**
** A block that SQLite frees must not hold a secret; after closing, all memory that can be written is
** searched: in wasm the whole linear memory, on Linux every such mapping of the process.
*/
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 30, REPEAT = 12 };

/* ---- an allocator that can fail and looks into what is freed -------------------------------------- */

/* A secret as the search knows it: every byte is inverted, so that the search does not find itself. */
typedef struct Secret {
    const char *what;
    unsigned char inverted[64];
    int n;
} Secret;

static struct {
    sqlite3_mem_methods real;
    int failAt;  /* the n-th allocation from now on fails; 0: none */
    int forEver; /* and all that follow */
    int seen, failed;
    Secret secrets[40];
    int secretCount;
    int inFreed; /* freed blocks that held a secret */
    const char *firstInFreed;
} g;

static int holdsSecret(const unsigned char *p, size_t n, const Secret *s) {
    if (n < (size_t)s->n) {
        return 0;
    }
    for (size_t i = 0; i + (size_t)s->n <= n; i++) {
        int k = 0;
        while (k < s->n && p[i + (size_t)k] + s->inverted[k] == 0xff) {
            k++;
        }
        if (k == s->n) {
            return 1;
        }
    }
    return 0;
}

static int failing(void) {
    if (!g.failAt) {
        return 0;
    }
    g.seen++;
    if (g.seen == g.failAt || (g.forEver && g.seen > g.failAt)) {
        g.failed = 1;
        return 1;
    }
    return 0;
}

static void *testMalloc(int n) {
    return failing() ? 0 : g.real.xMalloc(n);
}

static void lookInto(void *p, size_t from) {
    size_t n = (size_t)g.real.xSize(p);
    for (int i = 0; i < g.secretCount && from < n; i++) {
        if (holdsSecret((unsigned char *)p + from, n - from, &g.secrets[i])) {
            if (g.inFreed++ == 0) {
                g.firstInFreed = g.secrets[i].what;
            }
        }
    }
}

static void testFree(void *p) {
    lookInto(p, 0);
    g.real.xFree(p);
}

/* The old block may move, so it counts as freed. */
static void *testRealloc(void *p, int n) {
    if (failing()) {
        return 0;
    }
    lookInto(p, 0);
    return g.real.xRealloc(p, n);
}

static int useTestAllocator(void) {
    int rc = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &g.real);
    sqlite3_mem_methods methods = g.real;
    methods.xMalloc = testMalloc;
    methods.xFree = testFree;
    methods.xRealloc = testRealloc;
    if (rc == SQLITE_OK) {
        rc = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    }
    /* every small allocation counts too */
    return rc == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) : rc;
}

static void failAt(int n, int forEver) {
    g.failAt = n;
    g.forEver = forEver;
    g.seen = g.failed = 0;
}

/* ---- every allocation fails ------------------------------------------------------------------------ */

typedef struct Work {
    const char *name;
    const char *sql; /* %s: the key, %b: a second file; after setup and key */
    const char *mode;
    const char *startKey; /* "k" key, "o" other, "" none */
    const char *endKey;
} Work;

static const Work works[] = {
    {"read", "SELECT count(*), sum(length(data)) FROM t", "DELETE", "k", "k"},
    {"write", "BEGIN; UPDATE t SET name = name; COMMIT", "DELETE", "k", "k"},
    {"write to the WAL", "BEGIN; UPDATE t SET name = name; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", "WAL", "k", "k"},
    {"VACUUM", "VACUUM", "DELETE", "k", "k"},
    {"rekey", "PRAGMA rekey=%Q", "DELETE", "k", "o"},
    {"rekey in WAL mode", "PRAGMA rekey=%Q", "WAL", "k", "o"},
    {"encrypt", "PRAGMA rekey=%Q", "DELETE", "", "o"},
    {"decrypt", "PRAGMA rekey=%Q", "DELETE", "k", ""},
    {"ATTACH", "ATTACH '%s' AS b; CREATE TABLE b.u(x); INSERT INTO b.u VALUES(1)", "DELETE", "k", "k"},
};

static const char *keyNamed(const char *name, const Scheme *s) {
    return *name == 'k' ? s->key : *name == 'o' ? s->other : "";
}

static int isMemoryError(int rc) {
    rc &= 0xff;
    return rc == SQLITE_NOMEM || rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN || rc == SQLITE_ERROR || rc == SQLITE_BUSY;
}

static int probeKey(const char *file, const Scheme *s, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, s, *key ? key : 0);
    int rc = rowsProbe(db, ROWS, REPEAT, "a");
    dbClose(db);
    return rc;
}

/* One run with the n-th allocation failing. 0: there were fewer. */
static int runOnce(const Work *w, const Scheme *s, const char *original, int n, int forEver) {
    const char *file = path("work.db"), *second = path("second.db");
    dbFilesCopy(original, file);
    dbFilesRemove(second);
    const char *key = keyNamed(w->startKey, s), *newKey = keyNamed(w->endKey, s);
    const char *sql = strstr(w->sql, "%Q")   ? textf("PRAGMA rekey=\"%s\"", newKey)
                      : strstr(w->sql, "%s") ? textf("ATTACH '%s' AS b; CREATE TABLE b.u(x)", second)
                                             : w->sql;
    sqlite3 *db = 0;
    failAt(n, forEver);
    int rc = sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, shimVfs());
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, s->setup, 0, 0, 0);
    }
    if (rc == SQLITE_OK && *key) {
        rc = sqlite3_key(db, key, -1);
        if (rc == SQLITE_OK) {
            rc = sqlite3_exec(db, s->setup, 0, 0, 0);
        }
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, sql, 0, 0, 0);
    }
    int failed = g.failed;
    failAt(0, 0);
    CHECK_MSG(rc == SQLITE_OK || (failed && isMemoryError(rc)), "result %d (%s)", rc, db ? sqlite3_errmsg(db) : "");
    if (db && rc != SQLITE_OK && (*key || rc != SQLITE_ERROR)) {
        /* there is memory again: the connection goes on, under one of the keys */
        sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
    }
    sqlite3_close_v2(db);
    int before = probeKey(file, s, key), after = strcmp(key, newKey) != 0 ? probeKey(file, s, newKey) : SQLITE_NOTADB;
    CHECK_MSG((before == SQLITE_OK) != (after == SQLITE_OK), "old key %d, new key %d", before, after);
    if (rc == SQLITE_OK && strcmp(key, newKey) != 0) {
        CHECK_INT(after, SQLITE_OK);
    }
    return failed;
}

static void everyAllocationFails(const Scheme *s) {
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        const Work *w = &works[i];
        const char *original = path("original.db"), *key = keyNamed(w->startKey, s);
        dbFilesRemove(original);
        sqlite3 *db = dbOpenKeyed(original, s, *key ? key : 0);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", w->mode);
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbClose(db);
        for (int forEver = 0; forEver < 2; forEver++) {
            int n = 0, going = 1;
            while (going && n < 20000) {
                n += n < 400 ? 1 : 7;
                testContext("%s, allocation %d%s", w->name, n, forEver ? " and all that follow" : "");
                going = runOnce(w, s, original, n, forEver);
            }
            CHECK_MSG(n > 40 && !going, "%d allocations", n);
        }
    }
}

/* ---- secrets ---------------------------------------------------------------------------------------- */

static void forgetSecrets(void) {
    g.secretCount = g.inFreed = 0;
}

static void addSecret(const char *what, const unsigned char *bytes, int n) {
    Secret *s = &g.secrets[g.secretCount++];
    s->what = what;
    s->n = n;
    for (int i = 0; i < n; i++) {
        s->inverted[i] = (unsigned char)~bytes[i];
    }
}

static void wipe(volatile unsigned char *p, size_t n) {
    while (n--) {
        *p++ = 0;
    }
}

/* Deep enough to overwrite what this test has itself left on the stack below. */
static void wipeStack(void) {
    unsigned char space[16384];
    wipe(space, sizeof space);
}

/* Where all memory can be searched, and not only the blocks that SQLite freed. */
#if defined(__EMSCRIPTEN__)
#define SEARCH_WASM 1
#elif defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(SQLITE3MC_TEST_SANITIZED)
#define SEARCH_LINUX 1
#endif

#if defined(SEARCH_WASM) || defined(SEARCH_LINUX)

static int searchRange(const unsigned char *from, const unsigned char *to) {
    for (int i = 0; i < g.secretCount; i++) {
        if (holdsSecret(from, (size_t)(to - from), &g.secrets[i])) {
            CHECK_MSG(0, "%s is left in memory", g.secrets[i].what);
            return 1;
        }
    }
    return 0;
}

#endif

#if defined(SEARCH_WASM)

static void searchMemory(void) {
    /* from 1024: the bytes at address 0 are no object */
    searchRange((const unsigned char *)1024, (const unsigned char *)((size_t)__builtin_wasm_memory_size(0) * 65536));
}

#elif defined(SEARCH_LINUX)

static void searchMemory(void) {
    static char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int ranges = 0;
    if (!CHECK_MSG(maps != 0, "no /proc/self/maps")) {
        return;
    }
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char access[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) == 3 && access[0] == 'r' && access[1] == 'w' &&
            !strstr(line, "[v")) {
            ranges++;
            if (searchRange((const unsigned char *)from, (const unsigned char *)to)) {
                printf("  in %s", line);
            }
        }
    }
    fclose(maps);
    CHECK(ranges > 3);
}

#else

static void searchMemory(void) {
}

#endif

#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))

static void quarter(uint32_t *x, int a, int b, int c, int d) {
    x[a] += x[b];
    x[d] = ROTATE(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = ROTATE(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = ROTATE(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = ROTATE(x[b] ^ x[c], 7);
}

static uint32_t little(const unsigned char *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The one-time key of a page of chacha20: the block of key stream of its nonce (RFC 8439 2.3). */
static void oneTimeKey(unsigned char out[64], const unsigned char key[32], const unsigned char nonce[16],
                       uint32_t pgno) {
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (int i = 0; i < 8; i++) {
        in[4 + i] = little(key + 4 * i);
    }
    in[12] = little(nonce + 12) ^ pgno;
    for (int i = 0; i < 3; i++) {
        in[13 + i] = little(nonce + 4 * i);
    }
    memcpy(x, in, sizeof x);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 4; k++) {
            quarter(x, k, 4 + k, 8 + k, 12 + k);
        }
        for (int k = 0; k < 4; k++) {
            quarter(x, k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
        }
    }
    for (int i = 0; i < 16; i++) {
        x[i] += in[i];
        for (int k = 0; k < 4; k++) {
            out[4 * i + k] = (unsigned char)(x[i] >> 8 * k);
        }
    }
    wipe((unsigned char *)x, sizeof x);
    wipe((unsigned char *)in, sizeof in);
}

/* A secret that exists nowhere but in the buffer that this fills. */
static void makeSecret(unsigned char *out, int n, unsigned seed) {
    for (int i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        out[i] = (unsigned char)('!' + (seed >> 16) % 90);
    }
}

static void addOneTimeKeys(const char *file, const unsigned char *key) {
    unsigned char page[1024], otk[64];
    int pages = (int)(fileSize(file) / 1024);
    for (int i = 0; i < pages && i < 12; i++) {
        CHECK_INT(fileRead(file, i * 1024, page, 1024), 1024);
        oneTimeKey(otk, key, page + 1024 - 32, (uint32_t)(i + 1));
        addSecret("the first half of a one-time key", otk, 32);
        addSecret("the second half of a one-time key", otk + 32, 32);
    }
    wipe(otk, sizeof otk);
}

/* Work of all kinds with a raw key, given as bytes through the C function. */
static void workWithSecrets(const char *file, int raw) {
    const Scheme *s = schemeNamed("chacha20");
    unsigned char key[36], other[36];
    memcpy(key, "raw:", 4);
    memcpy(other, "raw:", 4);
    makeSecret(key + 4, 32, 1);
    makeSecret(other + 4, 32, 2);
    const unsigned char *bytes = raw ? key : key + 4, *otherBytes = raw ? other : other + 4;
    int n = raw ? 36 : 32;
    addSecret(raw ? "the raw key" : "the passphrase", key + 4, 32);
    addSecret(raw ? "the other raw key" : "the other passphrase", other + 4, 32);

    for (int i = 0; i < 3; i++) {
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, shimVfs());
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, sqlite3_key(db, i == 1 ? otherBytes : bytes, n)); /* in the second round a wrong one */
        if (i == 1) {
            CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
            CHECK_INT(sqlite3_key_v2(db, "nosuch", bytes, n), SQLITE_ERROR);
            CHECK_INT(sqlite3_rekey(db, bytes, n), SQLITE_NOTADB);
            dbClose(db);
            continue;
        }
        dbMust(db, "PRAGMA page_size=1024; PRAGMA cache_size=5");
        if (i == 0) {
            rowsCreate(db);
            rowsInsert(db, 1, ROWS, REPEAT, "a");
            if (raw) {
                addOneTimeKeys(file, key + 4);
            }
        }
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbMust(db, "BEGIN; UPDATE t SET name = name; ROLLBACK; VACUUM");
        if (raw) {
            dbMust(db, "ATTACH %Q AS b; CREATE TABLE IF NOT EXISTS b.u(x); DETACH b", path("b.db"));
        }
        CHECK_INT(sqlite3_key(db, 0, 0), SQLITE_ERROR);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, sqlite3_rekey(db, otherBytes, n));
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, sqlite3_rekey(db, bytes, n));
        if (i == 2) {
            CHECK_OK(db, sqlite3_rekey(db, 0, 0));
        }
        dbClose(db);
    }
    wipe(key, sizeof key);
    wipe(other, sizeof other);
}

static void noSecretIsLeft(int raw) {
    forgetSecrets();
    workWithSecrets(path("a.db"), raw);
    wipeStack();
    CHECK_MSG(g.inFreed == 0, "%d freed blocks held a secret, first %s", g.inFreed, g.inFreed ? g.firstInFreed : "");
    CHECK(g.secretCount >= 2);
    searchMemory();
    forgetSecrets();
}

static void noRawKeyIsLeft(void) {
    noSecretIsLeft(1);
}

static void noPassphraseIsLeft(void) {
    noSecretIsLeft(0);
}

/* The search finds what is there. */
static void theSearchFinds(void) {
    unsigned char secret[32];
    forgetSecrets();
    makeSecret(secret, 32, 3);
    addSecret("a secret", secret, 32);
    unsigned char *block = sqlite3_malloc(100);
    memcpy(block + 11, secret, 32);
    sqlite3_free(block);
    CHECK_INT(g.inFreed, 1);
    CHECK(holdsSecret(secret, 32, &g.secrets[0]));
    secret[7] ^= 1;
    CHECK(!holdsSecret(secret, 32, &g.secrets[0]));
    wipe(secret, sizeof secret);
    forgetSecrets();
}

/* What SQLite frees is wiped if that is asked for: here, a value in SQL text. */
static void memorySecurity(void) {
    for (int fill = 0; fill < 2; fill++) {
        char text[33];
        unsigned char secret[16];
        forgetSecrets();
        makeSecret(secret, 16, 5);
        for (int i = 0; i < 16; i++) {
            snprintf(text + 2 * i, 3, "%02x", secret[i]);
        }
        addSecret("a value in SQL text", (unsigned char *)text, 32);
        sqlite3 *db = dbOpen(path("a.db"));
        dbMust(db, "PRAGMA memory_security=%s", fill ? "fill" : "none");
        dbMust(db, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES('%s')", text);
        char *block = sqlite3_malloc(100);
        memcpy(block, text, 33);
        block = sqlite3_realloc(block, 1000000); /* moves */
        CHECK_TEXT(block, text);
        sqlite3_free(block);
        dbClose(db);
        CHECK_MSG((g.inFreed == 0) == fill, "memory_security %d: %d freed blocks held the value", fill, g.inFreed);
        wipe((unsigned char *)text, sizeof text);
    }
    sqlite3 *db = dbOpen(":memory:");
    dbMust(db, "PRAGMA memory_security=none");
    dbClose(db);
    forgetSecrets();
}

/* The key of values, here a known one, is wiped with the connection or when another takes its place. */
static void noValueKeyIsLeft(void) {
    /* of "passphrase" and the default salt; every byte is inverted */
    static const unsigned char inverted[2][32] = {
        {0x0e, 0x02, 0x71, 0xe8, 0x7f, 0x06, 0x46, 0x8b, 0x2d, 0x4b, 0xc8, 0x7f, 0x20, 0x63, 0x07, 0xb9,
         0xfa, 0x01, 0x5a, 0xa1, 0x0e, 0xf5, 0xa5, 0x5c, 0x40, 0x78, 0xb7, 0x39, 0x1d, 0xe1, 0x13, 0x47},
        {0x2d, 0x77, 0x23, 0xfe, 0x6c, 0x49, 0xc1, 0xcb, 0xac, 0xdd, 0xdf, 0x44, 0xb0, 0x6e, 0xb9, 0xa5,
         0x3d, 0xce, 0x97, 0x37, 0xba, 0x97, 0xb7, 0xf5, 0x12, 0xcb, 0x7c, 0x30, 0xe8, 0xfd, 0x0f, 0x72},
    };
    forgetSecrets();
    for (int i = 0; i < 2; i++) {
        Secret *s = &g.secrets[g.secretCount++];
        s->what = i ? "the ascon128 key of values" : "the chacha20 key of values";
        s->n = 32;
        memcpy(s->inverted, inverted[i], 32);
    }
    sqlite3 *db = dbOpen(":memory:");
    for (int i = 0; i < 3; i++) {
        dbMust(db, "SELECT sqlite3mc_vle_key('passphrase', NULL, '%s')", i % 2 ? "ascon128" : "chacha20");
        CHECK_INT(dbInt(db, "SELECT sqlite3mc_vle_decrypt(sqlite3mc_vle_encrypt(42))"), 42);
    }
    dbClose(db);
    wipeStack();
    CHECK_MSG(g.inFreed == 0, "%d freed blocks held a secret, first %s", g.inFreed, g.inFreed ? g.firstInFreed : "");
    searchMemory();
    forgetSecrets();
}

static const Test tests[] = {
    TEST("memory_security wipes what SQLite frees", memorySecurity),
    TEST("no key of values is left in memory", noValueKeyIsLeft),
    TEST("the search for secrets finds one in a freed block", theSearchFinds),
    TEST("C43 no raw key and no one-time key is left in memory", noRawKeyIsLeft),
    TEST("C43 no passphrase is left in memory", noPassphraseIsLeft),
    TEST_SCHEME("an allocation that fails anywhere is an error and does no harm", everyAllocationFails),
};

int main(int argc, char **argv) {
    if (useTestAllocator() != SQLITE_OK) {
        printf("the test allocator cannot be installed\n0 passed, 1 failed\n");
        return 1;
    }
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
