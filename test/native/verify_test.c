/*
** sqlite3mc_verify: which pages of a file are under the key; sqlite3mc_identify: of which scheme a file is. In
** C and in SQL, on good files and on damaged ones.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

#ifndef FIXTURES
#error "FIXTURES is the directory of the sample databases"
#endif

/* ---- verify ---- */

typedef struct Seen {
    int count[6]; /* by status */
    int pages, frames;
    unsigned firstBad, firstBadFrame;
    unsigned total;
    int stopAt; /* stop at the n-th page */
    int disorder;
} Seen;

static int see(void *arg, unsigned pgno, unsigned frame, int status, unsigned item, unsigned total) {
    Seen *s = arg;
    s->disorder |= item != (unsigned)(s->pages + s->frames + 1) || item > total || status < 0 || status > 5;
    s->disorder |= frame == 0 && pgno != item;
    s->total = total;
    s->count[status]++;
    if (frame) {
        s->frames++;
    } else {
        s->pages++;
    }
    if (status == SQLITE3MC_PAGE_BAD && s->firstBad == 0) {
        s->firstBad = pgno;
        s->firstBadFrame = frame;
    }
    return s->pages + s->frames == s->stopAt;
}

static Seen verify(sqlite3 *db, int wanted) {
    Seen s = {0};
    sqlite3_int64 bad = -1;
    CHECK_RC(db, sqlite3mc_verify(db, "main", see, &s, &bad), wanted);
    CHECK_INT(bad, s.count[SQLITE3MC_PAGE_BAD] + s.count[SQLITE3MC_PAGE_SHORT]);
    CHECK_INT(s.pages + s.frames, s.total);
    CHECK(!s.disorder);
    CHECK_INT(sqlite3mc_verify(db, 0, 0, 0, 0), wanted);
    return s;
}

static const char *makeFile(const char *name, const Scheme *scheme) {
    const char *file = path(name);
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, 100, 20, "a");
    dbClose(db);
    return file;
}

/* A summary as SQL gives it: "ok 11, bad 2 (3 7)", without what there is none of. */
static const char *summary(sqlite3 *db, const char *arguments) {
    return textf("%s",
                 dbText(db,
                        "SELECT group_concat(x, ', ') FROM (SELECT status || ' ' || count(*) || CASE WHEN status = 'ok'"
                        "  OR status = 'unchecked' THEN '' ELSE ' (' || group_concat(page, ' ') || ')' END AS x"
                        "  FROM (SELECT * FROM sqlite3mc_verify(%s) ORDER BY page) GROUP BY status"
                        "  ORDER BY status)",
                        arguments));
}

static void goodFile(const Scheme *scheme) {
    const char *file = makeFile("a.db", scheme);
    uint64_t before = fileHash(file);
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
    for (int i = 0; i < 2; i++) { /* before the first access, and after it */
        Seen s = verify(db, SQLITE_OK);
        int good = scheme->authenticated ? SQLITE3MC_PAGE_OK : SQLITE3MC_PAGE_UNCHECKED;
        CHECK_INT(s.pages, fileSize(file) / 4096);
        CHECK_INT(s.count[SQLITE3MC_PAGE_OK] + s.count[SQLITE3MC_PAGE_UNCHECKED], s.pages);
        CHECK_INT(s.count[good], scheme->authenticated ? s.pages : s.pages - 1);
        CHECK_ROWS(db, 100, 20, "a");
    }
    /* inside a transaction that reads; not inside one that has written */
    dbMust(db, "BEGIN; SELECT count(*) FROM t");
    verify(db, SQLITE_OK);
    dbMust(db, "DELETE FROM t");
    verify(db, SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "transaction");
    dbMust(db, "ROLLBACK");
    CHECK_ROWS(db, 100, 20, "a");
    dbClose(db);
    CHECK(fileHash(file) == before);
}

static void wrongKey(const Scheme *scheme) {
    const char *file = makeFile("a.db", scheme);
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->other);
    Seen s = verify(db, SQLITE_NOTADB);
    CHECK_INT(s.firstBad, 1);
    CHECK_INT(s.count[SQLITE3MC_PAGE_BAD], scheme->authenticated ? s.pages : 1);
    /* verification has not spoilt anything for the right key */
    CHECK_OK(db, dbSetup(db, scheme));
    CHECK_OK(db, dbKey(db, scheme->key));
    verify(db, SQLITE_OK);
    CHECK_ROWS(db, 100, 20, "a");
    dbClose(db);
}

static void damagedPages(const Scheme *scheme) {
    const char *good = makeFile("good.db", scheme), *file = path("a.db");
    static const int pages[] = {1, 3, 11};
    for (int i = 0; i < 3; i++) {
        testContext("page %d", pages[i]);
        dbFilesCopy(good, file);
        fileFlip(file, 4096 * (pages[i] - 1) + 2000, 1);
        sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
        Seen s = verify(db, pages[i] == 1 ? SQLITE_NOTADB : SQLITE_CORRUPT);
        CHECK_INT(s.firstBad, pages[i]);
        CHECK_INT(s.count[SQLITE3MC_PAGE_BAD], 1);
        CHECK_INT(s.count[SQLITE3MC_PAGE_OK], s.pages - 1);
        dbMust(db, "%s PRAGMA hmac_check=0; PRAGMA key=\"%s\"", scheme->setup, scheme->key); /* looks all the same */
        verify(db, pages[i] == 1 ? SQLITE_NOTADB : SQLITE_CORRUPT);
        dbClose(db);
    }
    /* a page that was never written, and a file that was cut off */
    dbFilesCopy(good, file);
    static const char zero[4096];
    fileWrite(file, 4096 * 4, zero, 4096);
    fileTruncate(file, 4096 * 9 + 1000);
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
    Seen s = verify(db, SQLITE_CORRUPT);
    CHECK_INT(s.pages, 10);
    CHECK_INT(s.count[SQLITE3MC_PAGE_HOLE], 1);
    CHECK_INT(s.count[SQLITE3MC_PAGE_SHORT], 1);
    CHECK_INT(s.count[SQLITE3MC_PAGE_BAD], 0);
    dbClose(db);
}

static void everyPageSize(const Scheme *scheme) {
    for (int size = scheme->minPage; size <= 65536; size *= 2) {
        testContext("page size %d", size);
        const char *file = path(textf("%d.db", size));
        sqlite3 *db = dbOpen(file);
        dbMust(db, "PRAGMA page_size=%d", size);
        CHECK_OK(db, dbSetup(db, scheme));
        CHECK_OK(db, dbKey(db, scheme->key));
        rowsCreate(db);
        rowsInsert(db, 1, 20, 20, "a");
        dbClose(db);
        db = dbOpenKeyed(file, scheme, scheme->key);
        Seen s = verify(db, SQLITE_OK);
        CHECK_INT(s.pages, fileSize(file) / size);
        dbClose(db);
    }
}

/* Pages that are in the WAL are looked at there, those that a later WAL has left behind are not. */
static void walFrames(const Scheme *scheme) {
    const char *file = path("a.db"), *wal = path("a.db-wal");
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
    dbMust(db, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
    rowsCreate(db);
    rowsInsert(db, 1, 40, 20, "a");
    Seen s = verify(db, SQLITE_OK);
    int frames = s.frames;
    CHECK_INT(frames, (fileSize(wal) - 32) / (4096 + 24));
    fileFlip(wal, 32 + (4096 + 24) * 5 + 24 + 500, 1);
    s = verify(db, scheme->authenticated ? SQLITE_CORRUPT : SQLITE_OK);
    CHECK_INT(s.firstBadFrame, scheme->authenticated ? 6 : 0);
    CHECK_INT(s.frames, frames);
    if (scheme->authenticated) {
        CHECK_TEXT(dbText(db, "SELECT group_concat(frame) FROM sqlite3mc_verify WHERE status = 'bad'"), "6");
    }
    fileFlip(wal, 32 + (4096 + 24) * 5 + 24 + 500, 1);
    /* another connection can go on reading and writing */
    dbMust(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    s = verify(db, SQLITE_OK);
    CHECK_INT(s.frames, 0);
    CHECK_INT(s.pages, fileSize(file) / 4096);
    dbMust(db, "DELETE FROM t WHERE id > 30");
    s = verify(db, SQLITE_OK);
    CHECK(s.frames > 0 && s.frames < frames);
    sqlite3 *second = dbOpenKeyed(file, scheme, scheme->key);
    CHECK_INT(dbInt(second, "SELECT count(*) FROM t"), 30);
    verify(second, SQLITE_OK);
    dbMust(second, "DELETE FROM t WHERE id > 20; PRAGMA wal_checkpoint(TRUNCATE)");
    dbClose(second);
    verify(db, SQLITE_OK);
    dbClose(db);
}

/* The key of the scheme, in a form without quotes. */
#define KEY_AS_HEX "'raw:hex:54686973206973206d792076657279207365637265742070617373776f726431'"

/* What SQL tells, of a database of the connection and of a file that is not open. */
static void inSql(void) {
    const Scheme *scheme = schemeNamed("chacha20");
    const char *good = makeFile("good.db", scheme), *file = path("a.db");
    int pages = (int)(fileSize(good) / 4096);
    sqlite3 *db = dbOpenKeyed(good, scheme, scheme->key);
    CHECK_TEXT(summary(db, "'main'"), textf("ok %d", pages));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM sqlite3mc_verify"), pages);
    CHECK_INT(dbInt(db, "SELECT count(*) FROM sqlite3mc_verify('main') AS a JOIN sqlite3mc_verify('main') AS b"
                        " ON a.page = b.page"),
              pages);
    CHECK_INT(dbInt(db, "SELECT count(*) FROM sqlite3mc_verify(NULL)"), 0);
    dbMust(db, "ATTACH %Q AS aux KEY ''; CREATE TABLE aux.t(x)", path("plain.db"));
    CHECK_TEXT(summary(db, "'aux'"), "ok 1, unchecked 1");
    dbClose(db);

    dbFilesCopy(good, file);
    fileFlip(file, 100, 1);
    fileFlip(file, 4096 * 6 + 100, 1);
    db = dbOpen(":memory:");
    CHECK_TEXT(summary(db, textf("'%s'", uri(file, "kdf_iter=1&key=x%2754686973206973206d79207665"
                                                   "7279207365637265742070617373776f726431%27"))),
               textf("bad 2 (1 7), ok %d", pages - 2));
    /* the key as argument, scheme and parameters of this connection */
    dbMust(db, "%s", scheme->setup);
    CHECK_TEXT(summary(db, textf("'%s', " KEY_AS_HEX, file)), textf("bad 2 (1 7), ok %d", pages - 2));
    CHECK_TEXT(summary(db, textf("'%s', " KEY_AS_HEX, good)), textf("ok %d", pages));
    CHECK_HAS(summary(db, textf("'%s', 'wrong'", good)), textf("bad %d", pages));
    /* without a key it is no plain database */
    CHECK_HAS(summary(db, textf("'%s'", good)), "bad 1 (1)");
    const char *const errors[][2] = {
        {"'main'", "needs a database file"},
        {"'nosuch'", "unable to open"},
        {"'nosuch', 5", "Invalid key value"},
        {"''", "needs a database file"},
        {textf("'%s', 'k'", uri(good, "cipher=nosuch")), "nosuch"},
    };
    for (int i = 0; i < 5; i++) {
        testContext("%s", errors[i][0]);
        CHECK(dbExec(db, "SELECT * FROM sqlite3mc_verify(%s)", errors[i][0]) != SQLITE_OK);
        CHECK_HAS(sqlite3_errmsg(db), errors[i][1]);
    }
    CHECK(fileSize(path("nosuch")) < 0);
    testContext(0);
    /* not from a schema */
    dbMust(db, "CREATE VIEW v AS SELECT * FROM sqlite3mc_verify('main')");
    CHECK_INT(dbExec(db, "SELECT * FROM v"), SQLITE_ERROR);
    dbClose(db);
}

static int denyAttach(void *arg, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)arg, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static void authorizer(void) {
    const char *file = makeFile("a.db", schemeNamed("chacha20"));
    sqlite3 *db = dbOpen(":memory:");
    sqlite3_set_authorizer(db, denyAttach, 0);
    CHECK_INT(dbExec(db, "SELECT * FROM sqlite3mc_verify('%s', 'k')", file), SQLITE_AUTH);
    CHECK_INT(dbExec(db, "SELECT sqlite3mc_identify('%s', 'k')", file), SQLITE_AUTH);
    CHECK_TEXT(sqlite3_errmsg(db), "not authorized");
    dbClose(db);
}

static int stopProgress(void *arg) {
    return ++*(int *)arg > 0;
}

static void endedEarly(void) {
    const Scheme *scheme = schemeNamed("chacha20");
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, scheme, scheme->key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, 400, 50, "a");
    int pages = (int)(fileSize(file) / 4096);
    CHECK(pages > 64);
    for (int n = 1; n <= 3; n++) {
        Seen s = {0};
        s.stopAt = n;
        CHECK_INT(sqlite3mc_verify(db, 0, see, &s, 0), SQLITE_INTERRUPT);
        CHECK_INT(s.pages, n);
    }
    int calls = 0;
    sqlite3_progress_handler(db, 1000000, stopProgress, &calls);
    CHECK_INT(sqlite3mc_verify(db, 0, 0, 0, 0), SQLITE_INTERRUPT);
    CHECK_INT(calls, 1);
    sqlite3_progress_handler(db, 0, 0, 0);
    CHECK_OK(db, sqlite3mc_verify(db, 0, 0, 0, 0));
    /* the lock is gone: another connection can write */
    sqlite3 *second = dbOpenKeyed(file, scheme, scheme->key);
    dbMust(second, "DELETE FROM t WHERE id > 10");
    CHECK_OK(second, dbExec(second, "BEGIN EXCLUSIVE"));
    CHECK_INT(sqlite3mc_verify(db, 0, 0, 0, 0), SQLITE_BUSY);
    dbMust(second, "COMMIT");
    dbClose(second);
    CHECK_OK(db, sqlite3mc_verify(db, 0, 0, 0, 0));
    CHECK_INT(sqlite3mc_verify(db, "nosuch", 0, 0, 0), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "nosuch");
    CHECK_INT(sqlite3mc_verify(db, "temp", 0, 0, 0), SQLITE_ERROR);
    dbClose(db);
}

/* The page at 1 GiB, which is moved here to where it costs less. */
static void lockPage(void) {
    const Scheme *scheme = schemeNamed("chacha20");
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0x10000);
    sqlite3 *db = dbOpenKeyed(path("a.db"), scheme, scheme->key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, 200, 50, "a");
    Seen s = verify(db, SQLITE_OK);
    CHECK(s.pages > 20);
    CHECK_INT(s.count[SQLITE3MC_PAGE_LOCK], 1);
    CHECK_TEXT(dbText(db, "SELECT group_concat(page) FROM sqlite3mc_verify WHERE status = 'lock'"), "17");
    dbClose(db);
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0x40000000);
}

static void emptyAndPlainFiles(void) {
    sqlite3 *db = dbOpen(path("a.db"));
    Seen s = verify(db, SQLITE_OK);
    CHECK_INT(s.pages, 0);
    dbMust(db, "PRAGMA page_size=1024");
    rowsCreate(db);
    rowsInsert(db, 1, 20, 20, "a");
    s = verify(db, SQLITE_OK);
    CHECK_INT(s.pages, fileSize(path("a.db")) / 1024);
    CHECK_INT(s.count[SQLITE3MC_PAGE_UNCHECKED], s.pages - 1);
    dbClose(db);
    const char *garbage = path("b.db");
    for (int i = 0; i < 3; i++) fileWrite(garbage, 4096 * i, MARKER MARKER MARKER MARKER, 64);
    db = dbOpen(garbage);
    s = verify(db, SQLITE_NOTADB);
    CHECK_INT(s.firstBad, 1);
    dbMust(db, "PRAGMA key='k'");
    s = verify(db, SQLITE_NOTADB);
    CHECK_INT(s.pages, s.count[SQLITE3MC_PAGE_BAD] + s.count[SQLITE3MC_PAGE_SHORT]);
    CHECK(s.pages > 1);
    dbClose(db);
    db = dbOpen(":memory:");
    CHECK_INT(sqlite3mc_verify(db, 0, 0, 0, 0), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "needs a database file");
    dbClose(db);
}

/* ---- identify ---- */

/* What sqlite3mc_identify says; opens the file by it, too. */
static const char *identified(const char *file, const char *key, const char *salt) {
    sqlite3 *db = dbOpen(":memory:");
    if (salt) {
        dbMust(db, "PRAGMA cipher_salt='%s'", salt);
    }
    const char *found = dbText(db, "SELECT sqlite3mc_identify('%s', %s)", file, key);
    dbClose(db);
    if (found[0] != '(' && strcmp(found, "plain") != 0) {
        db = dbOpen(uri(file, textf("%s%s%s", found, salt ? "&cipher_salt=" : "", salt ? salt : "")));
        CHECK_OK(db, dbExec(db, "PRAGMA key=%s", key[0] == 'x' ? textf("'wrong'") : key));
        if (key[0] == 'x') {
            dbMust(db, "PRAGMA hexkey='%.*s'", (int)strlen(key) - 3, key + 2);
        }
        CHECK_INT(dbExec(db, "SELECT count(*) FROM sqlite_schema"), SQLITE_OK);
        dbClose(db);
    }
    return found;
}

#define PASSPHRASE "'correct horse battery staple'"
#define RAW "'raw:54686973206973206D792076657279207365637265742070617373776F72642E'"
#define SALT "2b7e151628aed2a6abf7158809cf4f3c"

static void identifyFixtures(void) {
    static const struct {
        const char *file, *key, *salt, *found;
    } cases[] = {
        {"plain-default", PASSPHRASE, 0, "plain"},
        {"plain-default", "NULL", 0, "plain"},
        {"aes128cbc-default", PASSPHRASE, 0, "cipher=aes128cbc"},
        {"aes128cbc-p512", PASSPHRASE, 0, "cipher=aes128cbc"},
        {"aes128cbc-legacy", PASSPHRASE, 0, "cipher=aes128cbc&legacy=1&legacy_page_size=4096"},
        {"aes128cbc-legacy-p1024", PASSPHRASE, 0, "cipher=aes128cbc&legacy=1&legacy_page_size=1024"},
        {"aes256cbc-default", PASSPHRASE, 0, "cipher=aes256cbc"},
        {"aes256cbc-legacy-p1024", PASSPHRASE, 0, "cipher=aes256cbc&legacy=1&legacy_page_size=1024"},
        {"rc4-default", PASSPHRASE, 0, "cipher=rc4&legacy_page_size=4096"},
        {"rc4-p1024", PASSPHRASE, 0, "cipher=rc4&legacy_page_size=1024"},
        {"chacha20-default", PASSPHRASE, 0, "cipher=chacha20"},
        {"chacha20-p65536", PASSPHRASE, 0, "cipher=chacha20"},
        {"chacha20-legacy-p512", PASSPHRASE, 0, "cipher=chacha20&legacy=1&legacy_page_size=512"},
        {"chacha20-legacy-p4096", PASSPHRASE, 0, "cipher=chacha20&legacy=1&legacy_page_size=4096"},
        {"chacha20-pth32", PASSPHRASE, SALT, "cipher=chacha20&plaintext_header_size=32"},
        {"chacha20-rawkey-hex", RAW, 0, "cipher=chacha20"},
        {"chacha20-hexkey", "x'00ff10807f0a0d'", 0, "cipher=chacha20"},
        {"chacha20-wal-hot", PASSPHRASE, 0, "cipher=chacha20"},
        {"ascon128-default", PASSPHRASE, 0, "cipher=ascon128"},
        {"ascon128-rawkey", RAW, 0, "cipher=ascon128"},
        {"aegis-default", PASSPHRASE, 0, "cipher=aegis"},
        {"aegis-128l-owasp", PASSPHRASE, 0, "cipher=aegis&algorithm=aegis-128l"},
        {"aegis-rawkey", RAW, 0, "cipher=aegis"},
        {"aegis-128l-rawkey", "'raw:54686973206973206D79207665727920'", 0, "cipher=aegis&algorithm=aegis-128l"},
        {"sqlcipher-default", PASSPHRASE, 0, "cipher=sqlcipher"},
        {"sqlcipher-v1", PASSPHRASE, 0, "cipher=sqlcipher&legacy=1&legacy_page_size=1024"},
        {"sqlcipher-v2", PASSPHRASE, 0, "cipher=sqlcipher&legacy=2&legacy_page_size=1024"},
        {"sqlcipher-v3", PASSPHRASE, 0, "cipher=sqlcipher&legacy=3&legacy_page_size=1024"},
        {"sqlcipher-v4", PASSPHRASE, 0, "cipher=sqlcipher&legacy=4&legacy_page_size=4096"},
        {"sqlcipher-v4-p1024", PASSPHRASE, 0, "cipher=sqlcipher&legacy=4&legacy_page_size=1024"},
        {"sqlcipher-v4-pth32", PASSPHRASE, SALT,
         "cipher=sqlcipher&legacy=4&plaintext_header_size=32&legacy_page_size=4096"},
        {"sqlcipher-pth32", PASSPHRASE, SALT, /* with such a header the two are one format */
         "cipher=sqlcipher&legacy=4&plaintext_header_size=32&legacy_page_size=4096"},
        {"sqlcipher-v4-rawkey-x", "'x''54686973206973206D792076657279207365637265742070617373776F72642E'''", 0,
         "cipher=sqlcipher&legacy=4&legacy_page_size=4096"},
        /* nothing fits: another key, no key, an unusual number of rounds, no salt */
        {"chacha20-default", "'wrong'", 0, "(null)"},
        {"chacha20-default", "NULL", 0, "(null)"},
        {"chacha20-default", "''", 0, "(null)"},
        {"chacha20-iter1000", PASSPHRASE, 0, "(null)"},
        {"chacha20-pth32", PASSPHRASE, 0, "(null)"},
        {"bad-chacha20-flip-p1", PASSPHRASE, 0, "(null)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        testContext("%s", cases[i].file);
        const char *file = path(textf("%s.db", cases[i].file));
        dbFilesCopy(textf("%s/%s.db", FIXTURES, cases[i].file), file);
        CHECK_TEXT(identified(file, cases[i].key, cases[i].salt), cases[i].found);
    }
}

/* Files of our own with the less usual algorithms, under raw keys, which cost nothing. */
static void identifyVariants(void) {
    static const char *const variants[] = {
        "cipher=aegis&algorithm=aegis-256x2",
        "cipher=aegis&algorithm=aegis-256x4",
        "cipher=sqlcipher&hmac_use=0",
        "cipher=sqlcipher&kdf_algorithm=0&hmac_algorithm=1",
        "cipher=sqlcipher&kdf_algorithm=1&hmac_algorithm=1",
        "cipher=sqlcipher&legacy=4&kdf_algorithm=1&hmac_algorithm=1&legacy_page_size=4096",
        "cipher=sqlcipher&legacy=4&legacy_page_size=65536",
        "cipher=sqlcipher&legacy=1&legacy_page_size=2048",
        "cipher=chacha20&legacy=1&legacy_page_size=65536",
    };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        testContext("%s", variants[i]);
        const char *file = path(textf("%d.db", (int)i));
        sqlite3 *db = dbOpen(uri(file, variants[i]));
        CHECK_OK(db, dbExec(db, "PRAGMA key=" RAW));
        rowsCreate(db);
        rowsInsert(db, 1, 5, 1, "a");
        dbClose(db);
        CHECK_TEXT(identified(file, RAW, 0), variants[i]);
    }
}

static int count(void *arg, int done, int total) {
    int *n = arg;
    CHECK_INT(done, n[0]);
    CHECK(total > done && (n[1] == 0 || total == n[1]));
    n[1] = total;
    return ++n[0] == n[2];
}

static void identifyInC(void) {
    const char *file = path("a.db");
    dbFilesCopy(FIXTURES "/sqlcipher-v3.db", file);
    uint64_t before = fileHash(file);
    sqlite3 *db = dbOpen(file);
    char *found = 0;
    int n[3] = {0, 0, 0};
    CHECK_OK(db, sqlite3mc_identify(db, "main", "correct horse battery staple", -1, count, n, &found));
    CHECK_TEXT(found, "cipher=sqlcipher&legacy=3&legacy_page_size=1024");
    CHECK(n[0] > 1);
    sqlite3_free(found);
    n[0] = 0, n[2] = 2;
    CHECK_INT(sqlite3mc_identify(db, 0, "correct horse battery staple", 28, count, n, &found), SQLITE_INTERRUPT);
    CHECK_INT(n[0], 2);
    CHECK(found == 0);
    CHECK_INT(sqlite3mc_identify(db, 0, 0, 0, 0, 0, &found), SQLITE_NOTADB);
    CHECK_INT(sqlite3mc_identify(db, "nosuch", "k", 1, 0, 0, &found), SQLITE_ERROR);
    CHECK_INT(sqlite3mc_identify(db, 0, "k", 1, 0, 0, 0), SQLITE_MISUSE);
    CHECK(found == 0);
    /* the key still works, and nothing has been set */
    CHECK_TEXT(dbText(db, "PRAGMA cipher"), "chacha20");
    dbMust(db, "PRAGMA cipher='sqlcipher'; PRAGMA legacy=3; PRAGMA key=" PASSPHRASE "; SELECT * FROM t");
    /* of a database in use */
    CHECK_OK(db, sqlite3mc_identify(db, 0, "correct horse battery staple", -1, 0, 0, &found));
    sqlite3_free(found);
    dbMust(db, "SELECT * FROM t");
    dbClose(db);
    CHECK(fileHash(file) == before);
    db = dbOpen(path("empty.db"));
    CHECK_INT(sqlite3mc_identify(db, 0, "k", 1, 0, 0, &found), SQLITE_NOTADB);
    dbClose(db);
    db = dbOpen(":memory:");
    CHECK_INT(sqlite3mc_identify(db, 0, "k", 1, 0, 0, &found), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "no database file");
    dbClose(db);
}

static const Test tests[] = {
    TEST_SCHEME("verify: a good file, and nothing is changed", goodFile),
    TEST_SCHEME("verify: a wrong key", wrongKey),
    TEST_TAGGED("verify: damaged pages, holes, a short last page", damagedPages),
    TEST_SCHEME("verify: every page size", everyPageSize),
    TEST_SCHEME("verify: frames of the WAL", walFrames),
    TEST("verify: in SQL, of schemas and of other files", inSql),
    TEST("verify and identify ask the authorizer before they open a file", authorizer),
    TEST("verify: progress, cancel, and locks", endedEarly),
    TEST("verify: the page that is never used", lockPage),
    TEST("verify: empty, plain and other files", emptyAndPlainFiles),
    TEST("identify: the sample databases", identifyFixtures),
    TEST("identify: variants of algorithms and page sizes", identifyVariants),
    TEST("identify: in C, with progress and cancel", identifyInC),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
