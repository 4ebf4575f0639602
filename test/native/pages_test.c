/*
** Pages: sizes, reserved bytes, damage in every region, files that are cut, the page that is never
** written, and VFSs of old programs.
*/
#include "harness.h"
#include "spy_vfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, REPEAT = 15 };

static const char *makeFile(const char *name, const Scheme *s, const char *pragmas) {
    const char *file = path(name);
    dbFilesRemove(file);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "%s", pragmas);
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbClose(db);
    return file;
}

static int probe(const char *file, const Scheme *s) {
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    int rc = rowsProbe(db, ROWS, REPEAT, "a");
    dbClose(db);
    return rc;
}

static void everyPageSize(const Scheme *s) {
    static const char *const modes[] = {"DELETE", "WAL"};
    for (int size = 512; size <= 65536; size *= 2) {
        for (int m = 0; m < 2; m++) {
            testContext("page size %d, %s", size, modes[m]);
            const char *file =
                makeFile("a.db", s, textf("PRAGMA page_size=%d; PRAGMA journal_mode=%s", size, modes[m]));
            int real = size < s->minPage ? s->minPage : size;
            CHECK_INT(fileSize(file) % real, 0);
            CHECK_INT(probe(file, s), SQLITE_OK);
            sqlite3 *db = dbOpenKeyed(file, s, s->key);
            dbMust(db, "BEGIN; UPDATE t SET data = zeroblob(9000); DELETE FROM t WHERE id > 10; ROLLBACK; VACUUM");
            CHECK_INT(dbInt(db, "PRAGMA page_size"), real);
            CHECK_ROWS(db, ROWS, REPEAT, "a");
            dbClose(db);
            unsigned char head[24];
            fileRead(file, 0, head, 24);
            if (s->authenticated) {
                CHECK_INT((head[16] << 8 | head[17] << 16), real);
                CHECK(head[20] == s->reserved && head[21] == 64 && head[22] == 32 && head[23] == 32);
            }
        }
    }
}

/* A connection that has met a file of one page size meets one of another, as after a copy. */
static void pageSizeChangesUnderTheConnection(const Scheme *s) {
    const char *small = makeFile("small.db", s, "PRAGMA page_size=1024");
    const char *big = makeFile("big.db", s, "PRAGMA page_size=16384");
    const char *file = path("a.db");
    fileCopy(small, file);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    fileCopy(big, file);
    int rc = rowsProbe(db, ROWS, REPEAT, "a");
    CHECK_MSG(rc == SQLITE_OK || rc == SQLITE_NOTADB, "error %d", rc);
    fileCopy(small, file);
    rc = rowsProbe(db, ROWS, REPEAT, "a");
    CHECK_MSG(rc == SQLITE_OK || rc == SQLITE_NOTADB, "error %d", rc);
    dbClose(db);
    CHECK_INT(probe(file, s), SQLITE_OK);
}

static void reservedBytes(const Scheme *s) {
    static const int asked[] = {0, 8, 33, 60, 255};
    for (int i = 0; i < 5; i++) {
        int reserve = asked[i];
        testContext("%d reserved bytes asked for", reserve);
        const char *file = path(textf("%d.db", i));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA page_size=4096");
        CHECK_OK(db, sqlite3_file_control(db, 0, SQLITE_FCNTL_RESERVE_BYTES, &reserve));
        rowsCreate(db);
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        dbMust(db, "VACUUM");
        dbClose(db);
        CHECK_INT(probe(file, s), SQLITE_OK);
        if (s->authenticated) {
            unsigned char reserved = 0;
            fileRead(file, 20, &reserved, 1);
            CHECK_INT(reserved, asked[i] > s->reserved ? asked[i] : s->reserved);
            /* the extra bytes in front of nonce and tag are authenticated too */
            fileFlip(file, 2 * 4096 - s->reserved - 1, 1);
            CHECK_INT(probe(file, s), SQLITE_CORRUPT);
        }
    }
}

/* C37: one bit in every region; page 1 gives NOTADB, others CORRUPT, and nothing is written. */
static void oneBitFlipped(const Scheme *s) {
    const char *good = makeFile("good.db", s, "PRAGMA page_size=1024"), *file = path("a.db");
    int pages = (int)(fileSize(good) / 1024);
    for (int page = 1; page <= pages; page++) {
        static const int places[] = {0,  7,   15,  16,  17,  20,  23,  24,   25,   40,
                                     99, 100, 511, 940, 991, 992, 999, 1007, 1008, 1023};
        for (int i = 0; i < 20; i++) {
            int offset = places[i];
            if (page == 1 && offset < 24 && strcmp(s->name, "chacha20") != 0) {
                continue; /* only chacha20 authenticates salt and header bytes */
            }
            testContext("page %d, byte %d", page, offset);
            fileCopy(good, file);
            fileFlip(file, (page - 1) * 1024 + offset, 1 << (page + i) % 8);
            uint64_t before = fileHash(file);
            sqlite3 *db = dbOpenKeyed(file, s, s->key);
            int wanted = page == 1 ? SQLITE_NOTADB : SQLITE_CORRUPT;
            const char *check = dbText(db, "PRAGMA integrity_check");
            CHECK_MSG(strcmp(check, "ok") != 0, "integrity_check is ok");
            CHECK_INT(rowsProbe(db, ROWS, REPEAT, "a"), wanted);
            if (page == 1) {
                CHECK_INT(dbExec(db, "INSERT INTO t VALUES(1000, 'x', 'y')"), SQLITE_NOTADB);
            }
            dbExec(db, "VACUUM");
            /* the damage is mended: the connection goes on */
            CHECK(fileHash(file) == before);
            fileCopy(good, file);
            CHECK_ROWS(db, ROWS, REPEAT, "a");
            dbClose(db);
        }
    }
}

/* A page in the place of another, or an older version of another file's page. */
static void swappedPages(const Scheme *s) {
    const char *good = makeFile("good.db", s, "PRAGMA page_size=1024"), *file = path("a.db");
    const char *other = makeFile("other.db", s, "PRAGMA page_size=1024");
    int pages = (int)(fileSize(good) / 1024);
    char page[1024];
    for (int i = 2; i < pages; i++) {
        testContext("page %d over page %d", i, i + 1);
        fileCopy(good, file);
        fileRead(good, (i - 1) * 1024, page, 1024);
        fileWrite(file, i * 1024, page, 1024);
        CHECK_INT(probe(file, s), SQLITE_CORRUPT);
        memset(page, 0, sizeof page);
        fileCopy(good, file);
        fileWrite(file, i * 1024, page, 1024);
        testContext("page %d all zero", i + 1);
        CHECK_INT(probe(file, s), SQLITE_CORRUPT);
    }
    testContext("page 1 of another file");
    fileCopy(good, file);
    fileRead(other, 0, page, 1024);
    fileWrite(file, 0, page, 1024);
    CHECK(probe(file, s) != SQLITE_MISMATCH);
}

/* C38 */
static void damagedPageWithoutCheck(const Scheme *s) {
    const char *file = makeFile("a.db", s, "PRAGMA page_size=1024");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    sqlite3_int64 leaf =
        dbInt(db, "SELECT max(pageno) FROM dbstat WHERE name = 't' AND pagetype = 'leaf' AND ncell > 1");
    int cells = (int)dbInt(db, "SELECT ncell FROM dbstat WHERE name = 't' AND pageno = %lld", leaf);
    dbClose(db);
    fileFlip(file, (leaf - 1) * 1024 + 900, 0x40);

    int got[2] = {0, 0};
    for (int check = 0; check < 2; check++) {
        testContext("hmac_check=%d", check);
        db = dbOpen(file);
        CHECK_OK(db, dbSetup(db, s));
        dbMust(db, "PRAGMA hmac_check=%d", check);
        CHECK_OK(db, dbKey(db, s->key));
        sqlite3_stmt *stmt = 0;
        CHECK_OK(db, sqlite3_prepare_v2(db, "SELECT id, name FROM t ORDER BY id", -1, &stmt, 0));
        int rc;
        while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            got[check]++;
        }
        CHECK_INT(rc, check ? SQLITE_CORRUPT : SQLITE_DONE);
        sqlite3_finalize(stmt);
        dbClose(db);
    }
    CHECK_INT(got[0], ROWS);
    CHECK_MSG(got[1] <= ROWS - cells && got[1] > 0, "%d rows before the damaged page", got[1]);
}

/* Interface 1.8: hmac_check=0 under a wrong key. */
static void wrongKeyWithoutCheck(const Scheme *s) {
    const char *file = makeFile("a.db", s, "");
    uint64_t before = fileHash(file);
    sqlite3 *db = dbOpen(file);
    CHECK_OK(db, dbSetup(db, s));
    dbMust(db, "PRAGMA hmac_check=0");
    CHECK_OK(db, dbKey(db, s->other));
    int rc = dbExec(db, "SELECT * FROM t");
    CHECK_MSG(rc == SQLITE_ERROR || rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT, "error %d", rc);
    CHECK(dbExec(db, "CREATE TABLE u(x)") != SQLITE_OK);
    dbClose(db);
    CHECK(fileHash(file) == before);
}

/* A file that was cut anywhere. Formats 1.8: shorter than a page is NOTADB, one byte counts as empty. */
static void cutFiles(const Scheme *s) {
    const char *good = makeFile("good.db", s, "PRAGMA page_size=1024"), *file = path("a.db");
    sqlite3_int64 size = fileSize(good);
    static const int first[] = {2, 15, 16, 24, 99, 100, 101, 511, 512, 1000, 1023};
    for (int i = 0; i < 11; i++) {
        testContext("%d bytes left", first[i]);
        fileCopy(good, file);
        fileTruncate(file, first[i]);
        CHECK_INT(probe(file, s), SQLITE_NOTADB);
        CHECK_INT(fileSize(file), first[i]);
    }
    for (sqlite3_int64 left = 1024; left < size; left += 300) {
        testContext("%d bytes left", (int)left);
        fileCopy(good, file);
        fileTruncate(file, left);
        int rc = probe(file, s);
        CHECK_MSG(rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB, "result %d", rc);
    }
    for (int cut = 1; cut < 1024; cut += 93) {
        testContext("%d bytes cut off", cut);
        fileCopy(good, file);
        fileTruncate(file, size - cut);
        CHECK_INT(probe(file, s), SQLITE_CORRUPT);
    }
    /* the last page is one of an overflow chain: its bytes are data without any structure */
    sqlite3 *chain = dbOpenKeyed(path("long.db"), s, s->key);
    dbMust(chain, "PRAGMA page_size=1024");
    rowsCreate(chain);
    rowsInsert(chain, 1, 1, 300, "a");
    dbClose(chain);
    for (int cut = 1; cut < 1024; cut += 93) {
        testContext("%d bytes of an overflow page cut off", cut);
        fileCopy(path("long.db"), file);
        fileTruncate(file, fileSize(file) - cut);
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_CORRUPT);
        dbClose(db);
    }
    testContext("no byte left");
    for (int n = 0; n < 2; n++) {
        fileCopy(good, file);
        fileTruncate(file, n);
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        CHECK_TEXT(dbText(db, "SELECT count(*) FROM sqlite_schema"), "0");
        dbClose(db);
    }
}

/* C39: a legacy file encrypts bytes 16 and 17. Page 1 is written until they look like a page size. */
static void headerBytesByChance(void) {
    static const int sizes[] = {512, 4096, 65536};
    for (int i = 0; i < 3; i++) {
        testContext("page size %d", sizes[i]);
        const char *file = path(textf("%d.db", sizes[i]));
        const char *setup = textf("PRAGMA legacy=1; PRAGMA legacy_page_size=%d; PRAGMA key=\"raw:%064d\"", sizes[i], i);
        sqlite3 *db = dbOpen(file);
        dbMust(db, "%s; PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; CREATE TABLE t(x); INSERT INTO t VALUES(7)",
               setup);
        int size = 0;
        for (int n = 1; n < 400000 && (size < 512 || size & (size - 1) || size == sizes[i]); n++) {
            unsigned char bytes[2] = {0};
            dbMust(db, "PRAGMA user_version=%d", n); /* a new nonce, so other bytes */
            fileRead(file, 16, bytes, 2);
            size = bytes[0] << 8 | bytes[1] << 16;
        }
        CHECK_MSG(size >= 512 && !(size & (size - 1)), "no page size came up");
        dbClose(db);
        db = dbOpen(file);
        dbMust(db, "%s", setup);
        CHECK_INT(dbInt(db, "SELECT x FROM t"), 7);
        CHECK_INT(dbInt(db, "PRAGMA page_size"), sizes[i]);
        dbMust(db, "INSERT INTO t VALUES(8); PRAGMA integrity_check");
        dbClose(db);
    }
}

/* The plaintext bytes 16..23 of page 1 are untrusted until its tag is checked. Only chacha20's tag covers
** them; for the others a smaller usable size than that of the writer shows as damage, or as other rows. */
static void wrongPageSizeInTheHeader(const Scheme *s) {
    int covered = !strcmp(s->name, "chacha20");
    const char *good = makeFile("good.db", s, "PRAGMA page_size=4096"), *file = path("a.db");
    for (int i = 0; i < 65536; i = i < 16 ? i + 1 : 2 * i) {
        unsigned char size[2] = {(unsigned char)(i >> 8), (unsigned char)i};
        if (i == 4096) {
            continue;
        }
        testContext("page size field %d", i);
        fileCopy(good, file);
        fileWrite(file, 16, size, 2);
        int rc = probe(file, s);
        CHECK_MSG(rc == SQLITE_NOTADB || (rc == SQLITE_OK && !covered), "result %d", rc);
    }
    for (int i = 0; i < 256; i++) {
        unsigned char reserved = (unsigned char)i;
        if (i == s->reserved) {
            continue;
        }
        testContext("reserved bytes %d", i);
        fileCopy(good, file);
        fileWrite(file, 20, &reserved, 1);
        int rc = probe(file, s);
        CHECK_MSG(
            rc == SQLITE_NOTADB ||
                (!covered && (rc == SQLITE_OK || (i > s->reserved && (rc == SQLITE_CORRUPT || rc == SQLITE_MISMATCH)))),
            "result %d", rc);
    }
}

/* The page at the lock byte is never written; here it is moved from 1 GiB to 64 KiB. */
static void lockBytePage(const Scheme *s) {
    unsigned before = (unsigned)sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0);
    static const char *const modes[] = {"DELETE", "WAL"};
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0x10000);
    for (int m = 0; m < 2; m++) {
        testContext("%s", modes[m]);
        const char *file = path(textf("%d.db", m));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", modes[m]);
        rowsCreate(db);
        rowsInsert(db, 1, 400, 20, "a");
        CHECK(fileSize(file) + fileSize(textf("%s-wal", file)) > 0x10000 + 4096);
        CHECK_ROWS(db, 400, 20, "a");
        dbMust(db, "VACUUM");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->other));
        CHECK_ROWS(db, 400, 20, "a");
        CHECK_OK(db, dbRekey(db, ""));
        CHECK_ROWS(db, 400, 20, "a");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->key));
        CHECK_ROWS(db, 400, 20, "a");
        dbMust(db, "BEGIN; UPDATE t SET data = zeroblob(3000); ROLLBACK");
        dbClose(db);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_ROWS(db, 400, 20, "a");
        dbClose(db);
    }
    sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, before);
}

/* C50: a VFS of version 1 whose files have neither sector size nor device characteristics. */
static void oldVfs(const Scheme *s) {
    spyRegister();
    spyReset();
    spyScan(MARKER, 16);
    const char *file = path("a.db");
    for (int i = 0; i < 2; i++) {
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY1_VFS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        dbMust(db, "PRAGMA cache_size=5; PRAGMA mmap_size=100000");
        if (i == 0) {
            rowsCreate(db);
            rowsInsert(db, 1, ROWS, REPEAT, "a");
        }
        dbMust(db, "BEGIN; UPDATE t SET data = zeroblob(9000); ROLLBACK; VACUUM");
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode=WAL"), "delete"); /* no shared memory in version 1 */
        dbMust(db, "PRAGMA locking_mode=EXCLUSIVE");
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode=WAL"), "wal");
        rowsInsert(db, 1, ROWS, REPEAT, "a");
        CHECK_TEXT(dbText(db, "PRAGMA journal_mode=DELETE"), "delete");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbRekey(db, s->key));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        CHECK(dbInt(db, "SELECT julianday('now') > 2460000"));
        dbClose(db);
    }
    CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
    spyReset();
    CHECK_INT(probe(file, s), SQLITE_OK);
}

/* Devices that promise atomic writes or reads of parts of pages make SQLite go around the codec,
** unless the shim takes the promise back. */
static void devicesThatPromiseMuch(const Scheme *s) {
    static const int promises[] = {
        SQLITE_IOCAP_ATOMIC,
        SQLITE_IOCAP_ATOMIC512 | SQLITE_IOCAP_ATOMIC4K,
        SQLITE_IOCAP_SUBPAGE_READ,
        SQLITE_IOCAP_BATCH_ATOMIC,
        SQLITE_IOCAP_SAFE_APPEND,
        SQLITE_IOCAP_SEQUENTIAL,
        SQLITE_IOCAP_POWERSAFE_OVERWRITE,
        SQLITE_IOCAP_IMMUTABLE,
        0x7fff & ~SQLITE_IOCAP_IMMUTABLE,
    };
    spyRegister();
    for (int i = 0; i < 9; i++) {
        testContext("characteristics %x", (unsigned)promises[i]);
        spyReset();
        const char *file = path(textf("%d.db", i));
        if (promises[i] == SQLITE_IOCAP_IMMUTABLE) {
            makeFile(textf("%d.db", i), s, "");
        }
        spyDevice(0, promises[i]);
        spyScan(MARKER, 16);
        sqlite3 *db = dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SPY_VFS);
        CHECK_OK(db, dbSetup(db, s));
        CHECK_OK(db, dbKey(db, s->key));
        if (promises[i] != SQLITE_IOCAP_IMMUTABLE) {
            dbMust(db, "PRAGMA cache_size=5");
            rowsCreate(db);
            rowsInsert(db, 1, ROWS, REPEAT, "a");
            dbMust(
                db,
                "INSERT INTO t VALUES(1000, 'x', zeroblob(50000)); UPDATE t SET data = zeroblob(60000) WHERE id = 1000;"
                "DELETE FROM t WHERE id = 1000");
            dbMust(db, "BEGIN; UPDATE t SET data = zeroblob(9000); ROLLBACK");
            dbMust(db, "UPDATE t SET name = name WHERE id = 3");
            sqlite3_blob *blob = 0;
            CHECK_OK(db, sqlite3_blob_open(db, "main", "t", "data", 7, 1, &blob));
            CHECK_OK(db, sqlite3_blob_write(blob, "7:a:", 4, 0));
            sqlite3_blob_close(blob);
        }
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        /* long values: SQLite may want to read a part of their overflow pages by itself */
        if (promises[i] != SQLITE_IOCAP_IMMUTABLE) {
            rowsInsert(db, 1, ROWS, 700, "long");
            CHECK_ROWS(db, ROWS, 700, "long");
            dbClose(db);
            db = dbOpenWith(file, SQLITE_OPEN_READWRITE, SPY_VFS);
            CHECK_OK(db, dbSetup(db, s));
            CHECK_OK(db, dbKey(db, s->key));
            CHECK_ROWS(db, ROWS, 700, "long");
            rowsInsert(db, 1, ROWS, REPEAT, "a");
        }
        dbClose(db);
        CHECK_MSG(spyLeaks() == 0, "plaintext in %s", spyLeakPlace());
        CHECK_INT(probe(file, s), SQLITE_OK);
    }
    spyReset();
}

/* dbpage writes and reads pages as the pager has them, in plaintext. */
static void dbpageTable(const Scheme *s) {
    const char *file = makeFile("a.db", s, "PRAGMA page_size=1024");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    CHECK_TEXT(dbText(db, "SELECT CAST(substr(data, 1, 15) AS TEXT) FROM sqlite_dbpage WHERE pgno = 1"),
               "SQLite format 3");
    dbMust(db, "UPDATE sqlite_dbpage SET data = data WHERE pgno > 1");
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    CHECK_INT(probe(file, s), SQLITE_OK);
    CHECK(!fileHas(file, MARKER, 16));
}

/* Which bytes of page 1 no tag covers: the plaintext header of all schemes but chacha20, and, beside a raw
** key, the salt of those whose tags do not depend on it. */
static int isCovered(const Scheme *s, int at) {
    int saltMatters = !strcmp(s->name, "chacha20") || !strcmp(s->name, "sqlcipher");
    if (!strcmp(s->name, "chacha20") || at >= 24) {
        return 1;
    }
    return at < 16 && saltMatters;
}

/* A bit of every byte of a small file. */
static void everyByte(const Scheme *s) {
    const char *file = path("a.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "PRAGMA page_size=512; CREATE TABLE t(a); INSERT INTO t VALUES('the only row')");
    dbClose(db);
    int size = (int)fileSize(file);
    CHECK_INT(size, 2 * s->minPage);
    for (int at = 0; at < size; at++) {
        testContext("byte %d", at);
        fileFlip(file, at, 1 << at % 8);
        db = dbOpenKeyed(file, s, s->key);
        const char *row = dbText(db, "SELECT a FROM t");
        const char *wanted = at < s->minPage ? "error 26" : "error 11";
        if (isCovered(s, at)) {
            CHECK_HAS(row, wanted);
        } else {
            CHECK_MSG(!strcmp(row, "the only row") || !strncmp(row, "error", 5), "%s", row);
        }
        dbClose(db);
        fileFlip(file, at, 1 << at % 8);
    }
    db = dbOpenKeyed(file, s, s->key);
    CHECK_TEXT(dbText(db, "SELECT a FROM t"), "the only row");
    dbClose(db);
}

/* Formats that hide the page size and can be opened without knowing it: files of every size, also of one
** page only, and files that were cut off. */
static void hiddenPageSizes(void) {
    static const char *const setups[] = {"PRAGMA cipher='aes128cbc'; PRAGMA legacy=1", "PRAGMA cipher='rc4'",
                                         "PRAGMA cipher='aes256cbc'; PRAGMA legacy=1"};
    for (int i = 0; i < 3; i++) {
        for (int size = 512; size <= 65536; size *= 2) {
            for (int big = 0; big < 2; big++) {
                const char *file = path("a.db"), *cut = path("cut.db");
                testContext("%s, page size %d, %s", setups[i], size, big ? "many pages" : "one page");
                dbFilesRemove(file);
                sqlite3 *db = dbOpen(file);
                dbMust(db, setups[i]);
                dbMust(db, "PRAGMA key='k'; PRAGMA page_size=%d; PRAGMA user_version=7", size);
                if (big) {
                    rowsCreate(db);
                    rowsInsert(db, 1, ROWS, REPEAT, "a");
                }
                dbClose(db);
                /* legacy=0 of the AES schemes reads such files too */
                for (int legacy = 0; legacy < 2; legacy++) {
                    db = dbOpen(file);
                    dbMust(db, setups[i]);
                    if (!legacy && i != 1) {
                        dbMust(db, "PRAGMA legacy=0");
                    }
                    dbMust(db, "PRAGMA key='k'");
                    CHECK_INT(dbInt(db, "PRAGMA user_version"), 7);
                    CHECK_INT(dbInt(db, "PRAGMA page_size"), size);
                    if (big) {
                        CHECK_ROWS(db, ROWS, REPEAT, "a");
                    }
                    dbClose(db);
                }
                for (int left = size / 2; left >= 300; left = left * 2 / 3) {
                    fileCopy(file, cut);
                    fileTruncate(cut, left);
                    db = dbOpen(cut);
                    dbMust(db, setups[i]);
                    dbMust(db, "PRAGMA key='k'");
                    CHECK_MSG(dbExec(db, "PRAGMA user_version") == SQLITE_NOTADB, "%d bytes left", left);
                    dbClose(db);
                }
            }
        }
    }
}

static const Test tests[] = {
    TEST_SCHEME("every page size, with journal and WAL", everyPageSize),
    TEST_SCHEME("the page size changes under an open connection", pageSizeChangesUnderTheConnection),
    TEST_SCHEME("extra reserved bytes", reservedBytes),
    TEST_TAGGED("C37 one bit flipped in every region", oneBitFlipped),
    TEST_TAGGED("a bit flipped in every byte of a small file", everyByte),
    TEST_TAGGED("pages in the place of others", swappedPages),
    TEST_TAGGED("C38 a damaged page with and without hmac_check", damagedPageWithoutCheck),
    TEST_SCHEME("a wrong key without hmac_check", wrongKeyWithoutCheck),
    TEST_SCHEME("files that are cut off anywhere", cutFiles),
    TEST("files that hide their page size, whole and cut off", hiddenPageSizes),
    TEST("C39 encrypted header bytes that look like a page size", headerBytesByChance),
    TEST_SCHEME("header bytes that lie about the page size", wrongPageSizeInTheHeader),
    TEST_SCHEME("the page at the lock byte", lockBytePage),
    TEST_SCHEME("C50 a VFS of version 1 without sector size and characteristics", oldVfs),
    TEST_SCHEME("devices that promise atomic writes and subpage reads", devicesThatPromiseMuch),
    TEST_SCHEME("sqlite_dbpage", dbpageTable),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
