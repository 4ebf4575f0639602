/*
** Copies of databases: backup, VACUUM, VACUUM INTO, ATTACH, serialize. Nothing is copied between
** files that do not fit, and nothing lands in a plain file by accident.
*/
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 80, REPEAT = 15 };

static int isPlain(const char *file) {
    char head[16] = {0};
    fileRead(file, 0, head, 16);
    return !memcmp(head, "SQLite format 3", 16);
}

static sqlite3 *makeOpen(const char *file, const Scheme *s, const char *key) {
    dbFilesRemove(file);
    sqlite3 *db = dbOpenKeyed(file, key ? s : 0, key);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    return db;
}

static const char *makeFile(const char *name, const Scheme *s, const char *key) {
    const char *file = path(name);
    dbClose(makeOpen(file, s, key));
    return file;
}

static void checkOpens(const char *file, const Scheme *s, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, key ? s : 0, key);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
}

static void checkRefused(const char *file, const Scheme *s, const char *key) {
    sqlite3 *db = dbOpenKeyed(file, key ? s : 0, key);
    CHECK_INT(dbExec(db, "SELECT * FROM t"), SQLITE_NOTADB);
    dbClose(db);
}

/* ---- backup ------------------------------------------------------------------------------------------ */

/* The first error of the whole backup, SQLITE_OK if it is complete. */
static int backup(sqlite3 *to, sqlite3 *from, int pages) {
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    if (!b) {
        return sqlite3_errcode(to);
    }
    int rc;
    while ((rc = sqlite3_backup_step(b, pages)) == SQLITE_OK) {
    }
    int finish = sqlite3_backup_finish(b);
    return rc == SQLITE_DONE ? finish : rc;
}

static void backupUnderTwoKeys(const Scheme *s) {
    for (int same = 0; same < 2; same++) {
        for (int exists = 0; exists < 2; exists++) {
            testContext("same key %d, target exists %d", same, exists);
            const char *key = same ? s->key : s->other, *file = path(textf("to%d%d.db", same, exists));
            sqlite3 *from = makeOpen(path("from.db"), s, s->key), *to = dbOpenKeyed(file, s, key);
            if (exists) {
                dbMust(to, "PRAGMA page_size=4096; CREATE TABLE old(x); INSERT INTO old VALUES('gone')");
            }
            CHECK_OK(to, backup(to, from, 2));
            CHECK_ROWS(to, ROWS, REPEAT, "a");
            dbMust(from, "UPDATE t SET name = 'later' WHERE id = 1");
            dbClose(from);
            dbMust(to, "UPDATE t SET name = name");
            dbClose(to);
            checkOpens(file, s, key);
            if (!same) {
                checkRefused(file, s, s->key);
            }
            CHECK(!fileHas(file, MARKER, 16));
        }
    }
}

/* The source changes while the backup runs. */
static void backupOfAChangingSource(const Scheme *s) {
    sqlite3 *from = makeOpen(path("from.db"), s, s->key), *to = dbOpenKeyed(path("to.db"), s, s->other);
    rowsInsert(from, 1, ROWS, REPEAT, "old");
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    if (CHECK(b != 0)) {
        CHECK_OK(to, sqlite3_backup_step(b, 2));
        rowsInsert(from, 1, ROWS / 2, REPEAT, "a");
        CHECK_OK(to, sqlite3_backup_step(b, 2));
        sqlite3 *third = dbOpenKeyed(path("from.db"), s, s->key);
        rowsInsert(third, ROWS / 2, ROWS, REPEAT, "a");
        dbClose(third);
        while (sqlite3_backup_step(b, 3) == SQLITE_OK) {
        }
        CHECK_OK(to, sqlite3_backup_finish(b));
    }
    CHECK_ROWS(to, ROWS, REPEAT, "a");
    dbClose(from);
    dbClose(to);
    checkOpens(path("to.db"), s, s->other);
}

/* C31 and interface.md 5.5: plain and encrypted do not mix, memory databases count as plain. */
static void backupBetweenPlainAndEncrypted(const Scheme *s) {
    static const char *const what[] = {"plain to encrypted", "encrypted to plain", "memory to encrypted",
                                       "encrypted to memory"};
    for (int i = 0; i < 4; i++) {
        testContext("%s", what[i]);
        const char *file = makeFile("encrypted.db", s, s->key);
        const char *plainFile = i < 2 ? path("plain.db") : ":memory:";
        if (i < 2) {
            makeFile("plain.db", 0, 0);
        }
        sqlite3 *encrypted = dbOpenKeyed(file, s, s->key), *plain = dbOpen(plainFile);
        if (i >= 2) {
            rowsCreate(plain);
            rowsInsert(plain, 1, ROWS, REPEAT, "a");
            dbMust(plain, "UPDATE t SET data = zeroblob(30000 * id) WHERE id <= 3");
        }
        uint64_t before = fileHash(file);
        int toEncrypted = i % 2 == 0;
        sqlite3 *to = toEncrypted ? encrypted : plain, *from = toEncrypted ? plain : encrypted;
        CHECK_MSG(!sqlite3_backup_init(to, "main", from, "main"), "backup_init goes on");
        CHECK_INT(sqlite3_errcode(to), SQLITE_ERROR);
        CHECK_HAS(sqlite3_errmsg(to), "backup is not supported");
        CHECK_ROWS(encrypted, ROWS, REPEAT, "a");
        dbClose(encrypted);
        dbClose(plain);
        CHECK(fileHash(file) == before);
        CHECK(i >= 2 || isPlain(plainFile));
    }
}

/* Reference: reports success and leaves a malformed target. */
static void backupBetweenReservedSizes(const Scheme *s) {
    for (int bigSource = 0; bigSource < 2; bigSource++) {
        testContext("the source has %s reserved bytes", bigSource ? "more" : "fewer");
        sqlite3 *db[2];
        for (int i = 0; i < 2; i++) {
            int reserve = i ? 96 : s->reserved;
            const char *file = path(textf("%d.db", i));
            dbFilesRemove(file);
            db[i] = dbOpenKeyed(file, s, i ? s->key : s->other);
            dbMust(db[i], "PRAGMA page_size=4096");
            CHECK_OK(db[i], sqlite3_file_control(db[i], 0, SQLITE_FCNTL_RESERVE_BYTES, &reserve));
            rowsCreate(db[i]);
            rowsInsert(db[i], 1, ROWS, REPEAT, "a");
        }
        sqlite3 *to = db[!bigSource], *from = db[bigSource];
        int rc = backup(to, from, -1);
        CHECK_MSG(rc != SQLITE_OK && strlen(sqlite3_errmsg(to)) > 10, "result %d (%s)", rc, sqlite3_errmsg(to));
        CHECK_ROWS(to, ROWS, REPEAT, "a");
        dbClose(db[0]);
        dbClose(db[1]);
        checkOpens(path("0.db"), s, s->other);
        checkOpens(path("1.db"), s, s->key);
    }
}

static void backupBetweenPlainFiles(void) {
    sqlite3 *from = makeOpen(path("from.db"), 0, 0), *to = dbOpen(path("to.db"));
    CHECK_OK(to, backup(to, from, -1));
    CHECK_ROWS(to, ROWS, REPEAT, "a");
    sqlite3 *memory = dbOpen(":memory:");
    CHECK_OK(memory, backup(memory, to, -1));
    CHECK_ROWS(memory, ROWS, REPEAT, "a");
    dbClose(memory);
    dbClose(from);
    dbClose(to);
}

static void backupUnderAWrongKey(const Scheme *s) {
    const char *file = makeFile("from.db", s, s->key);
    sqlite3 *from = dbOpenKeyed(file, s, s->other), *to = dbOpenKeyed(path("to.db"), s, s->other);
    CHECK_INT(backup(to, from, -1), SQLITE_NOTADB);
    dbClose(from);
    dbClose(to);
    CHECK(fileSize(path("to.db")) <= 0);
}

/* ---- VACUUM ------------------------------------------------------------------------------------------ */

static void vacuumKeepsKeyAndSalt(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key);
    unsigned char before[16], after[16];
    fileRead(file, 0, before, 16);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    rowsInsert(db, 1, 5 * ROWS, REPEAT, "a");
    dbMust(db, "DELETE FROM t WHERE id > %d; VACUUM", ROWS);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    fileRead(file, 0, after, 16);
    CHECK(!s->salted || !memcmp(before, after, 16));
    CHECK(!fileHas(file, MARKER, 16));
    checkOpens(file, s, s->key);
}

/* C34 */
static void vacuumWithAnotherPageSize(const Scheme *s) {
    static const int sizes[] = {512, 1024, 8192, 65536};
    for (int i = 0; i < 4; i++) {
        testContext("page size %d", sizes[i]);
        const char *file = makeFile("a.db", s, s->key);
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        dbMust(db, "PRAGMA page_size=%d; VACUUM", sizes[i]);
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        int size = (int)dbInt(db, "PRAGMA page_size");
        CHECK(size == 4096 || size == sizes[i]);
        CHECK_INT(fileSize(file) % size, 0);
        dbClose(db);
        checkOpens(file, s, s->key);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_INT(dbInt(db, "PRAGMA page_size"), size);
        dbClose(db);
    }
}

static void vacuumInto(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key), *copy = path("copy.db");
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "VACUUM INTO %Q", copy);
    checkOpens(copy, s, s->key);
    checkRefused(copy, s, s->other);

    /* another key by URI; the scheme and parameters are those of the connection, or of the URI */
    const char *second = path("second.db");
    dbMust(db, "VACUUM INTO %Q", uri(second, "cipher=chacha20&kdf_iter=2&key=second"));
    sqlite3 *to = dbOpen(second);
    dbMust(to, "PRAGMA cipher='chacha20'; PRAGMA kdf_iter=2; PRAGMA key='second'");
    CHECK_ROWS(to, ROWS, REPEAT, "a");
    dbClose(to);
    CHECK(!fileHas(second, MARKER, 16));

    /* plain, when asked for */
    const char *plain = path("plain.db");
    dbMust(db, "VACUUM INTO %Q", uri(plain, "key="));
    checkOpens(plain, 0, 0);

    /* a bad URI: an error, and no file */
    CHECK_INT(dbExec(db, "VACUUM INTO %Q", uri(path("bad.db"), "cipher=nosuch&key=k")), SQLITE_ERROR);
    CHECK(fileSize(path("bad.db")) <= 0);
    dbClose(db);

    /* from a plain file to an encrypted one */
    db = dbOpen(plain);
    dbMust(db, "VACUUM INTO %Q", uri(path("third.db"), "cipher=chacha20&kdf_iter=2&key=third"));
    dbClose(db);
    CHECK(!fileHas(path("third.db"), MARKER, 16));
    to = dbOpen(path("third.db"));
    dbMust(to, "PRAGMA kdf_iter=2; PRAGMA key='third'");
    CHECK_ROWS(to, ROWS, REPEAT, "a");
    dbClose(to);

    /* from memory: there is no key to inherit */
    db = dbOpen(":memory:");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    dbMust(db, "VACUUM INTO %Q", path("fourth.db"));
    dbClose(db);
    checkOpens(path("fourth.db"), 0, 0);
}

/* Into every scheme: the copy reserves what its own key needs. */
static void vacuumIntoEveryScheme(const Scheme *s) {
    const Scheme *to;
    const char *file = makeFile("a.db", s, s->key);
    for (int i = 0; (to = schemeAt(i)) != 0; i++) {
        testContext("to %s", to->name);
        const char *copy = path(textf("%s.db", to->name));
        sqlite3 *db = dbOpenKeyed(file, s, s->key);
        CHECK_OK(db, dbSetup(db, to));
        dbMust(db, "VACUUM INTO %Q", uri(copy, textf("key=%s", to->other)));
        CHECK_ROWS(db, ROWS, REPEAT, "a");
        dbClose(db);
        CHECK(!fileHas(copy, MARKER, 16));
        checkOpens(copy, to, to->other);
        checkRefused(copy, to, to->key);
        unsigned char reserved = 255;
        if (strcmp(to->name, "rc4") != 0) { /* which hides it */
            fileRead(copy, 20, &reserved, 1);
            CHECK_INT(reserved, to->reserved);
        }
    }
}

/* Into a format whose page size the reader has to know: it keeps that page size, here and ever after. */
static void vacuumIntoAFixedPageSize(void) {
    const Scheme *s = schemeNamed("chacha20");
    const char *file = makeFile("a.db", s, s->key), *copy = path("copy.db");
    static const char setup[] = "PRAGMA cipher='sqlcipher'; PRAGMA legacy=1; PRAGMA kdf_iter=1; PRAGMA key='other'";
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    dbMust(db, "VACUUM INTO %Q", uri(copy, "cipher=sqlcipher&legacy=1&kdf_iter=1&key=other"));
    dbClose(db);
    db = dbOpen(copy);
    dbMust(db, setup);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    CHECK_INT(dbInt(db, "PRAGMA page_size"), 1024);
    dbMust(db, "PRAGMA page_size=4096; VACUUM");
    CHECK_INT(dbInt(db, "PRAGMA page_size"), 1024);
    dbClose(db);
    db = dbOpen(path("new.db"));
    dbMust(db, setup);
    dbMust(db, "PRAGMA page_size=4096");
    rowsCreate(db);
    rowsInsert(db, 1, ROWS, REPEAT, "a");
    sqlite3 *from = dbOpenKeyed(file, s, s->key), *to = dbOpen(path("target.db"));
    dbMust(to, setup);
    CHECK_INT(backup(to, from, 10), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(to), "different page size or reserved bytes");
    dbClose(from);
    dbClose(to);
    dbClose(db);
    db = dbOpen(path("new.db"));
    dbMust(db, setup);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    CHECK_INT(dbInt(db, "PRAGMA page_size"), 1024);
    dbClose(db);
}

/* Between schemes: it works if they reserve as many bytes. */
static void backupToEveryScheme(const Scheme *s) {
    const Scheme *to;
    const char *file = makeFile("a.db", s, s->key);
    for (int i = 0; (to = schemeAt(i)) != 0; i++) {
        testContext("to %s", to->name);
        const char *copy = path(textf("%s.db", to->name));
        sqlite3 *from = dbOpenKeyed(file, s, s->key), *target = dbOpenKeyed(copy, to, to->other);
        int fits = s->reserved >= to->reserved; /* into a new file; what it does not need counts as data */
        int rc = backup(target, from, 10);
        CHECK_RC(target, rc, fits ? SQLITE_OK : SQLITE_ERROR);
        if (!fits) {
            CHECK_HAS(sqlite3_errmsg(target), "different page size or reserved bytes");
        }
        dbClose(from);
        dbClose(target);
        if (fits) {
            checkOpens(copy, to, to->other);
        }
        /* into a file that has pages already */
        dbFilesRemove(copy);
        target = dbOpenKeyed(copy, to, to->other);
        dbMust(target, "PRAGMA page_size=4096; CREATE TABLE old(x)");
        from = dbOpenKeyed(file, s, s->key);
        CHECK_INT(backup(target, from, 10), s->reserved == to->reserved ? SQLITE_OK : SQLITE_ERROR);
        CHECK_TEXT(dbText(target, "PRAGMA integrity_check"), "ok");
        dbClose(from);
        dbClose(target);
    }
}

/* A transaction over a file of every scheme and a plain one. */
static void attachEveryScheme(const Scheme *s) {
    const Scheme *other;
    sqlite3 *db = dbOpenKeyed(path("main.db"), s, s->key);
    dbMust(db, "CREATE TABLE t(x); ATTACH %Q AS plain KEY ''; CREATE TABLE plain.t(x)", path("plain.db"));
    for (int i = 0; (other = schemeAt(i)) != 0; i++) {
        CHECK_OK(db, dbSetup(db, other));
        dbMust(db, "ATTACH %Q AS %s KEY %Q", path(textf("%s.db", other->name)), other->name, other->other);
        dbMust(db, "CREATE TABLE %s.t(x)", other->name);
    }
    for (int commit = 0; commit < 2; commit++) {
        dbMust(db, "BEGIN; INSERT INTO main.t VALUES('" MARKER "'); INSERT INTO plain.t VALUES('x')");
        for (int i = 0; (other = schemeAt(i)) != 0; i++) {
            dbMust(db, "INSERT INTO %s.t VALUES('" MARKER "')", other->name);
        }
        dbMust(db, commit ? "COMMIT" : "ROLLBACK");
    }
    dbClose(db);
    for (int i = 0; (other = schemeAt(i)) != 0; i++) {
        testContext("%s", other->name);
        const char *file = path(textf("%s.db", other->name));
        CHECK(!fileHas(file, MARKER, 16));
        db = dbOpenKeyed(file, other, other->other);
        CHECK_TEXT(dbText(db, "SELECT count(*) || x FROM t"), "1" MARKER);
        dbClose(db);
    }
    db = dbOpen(path("plain.db"));
    CHECK_TEXT(dbText(db, "SELECT count(*) || x FROM t"), "1x");
    dbClose(db);
}

/* ---- ATTACH (C35) ------------------------------------------------------------------------------------ */

static void checkNotAttached(sqlite3 *db) {
    CHECK_INT(dbInt(db, "SELECT count(*) FROM pragma_database_list WHERE name = 'x'"), 0);
}

static void attachToAnEncryptedMain(const Scheme *s) {
    const char *same = makeFile("same.db", s, s->key), *other = makeFile("other.db", s, s->other);
    const char *plain = makeFile("plain.db", 0, 0);
    uint64_t hash = fileHash(other);
    sqlite3 *db = makeOpen(path("main.db"), s, s->key);
    const char *count = "SELECT count(*) FROM x.t";

    if (!s->salted) {
        dbMust(db, "ATTACH %Q AS x", same); /* inherited; with a salt the password would be needed */
        CHECK_INT(dbInt(db, count), ROWS);
        dbMust(db, "DETACH x");
    }
    CHECK_OK(db, dbSetup(db, s));
    dbMust(db, "ATTACH %Q AS x KEY %Q", same, s->key);
    CHECK_INT(dbInt(db, count), ROWS);
    dbMust(db, "DETACH x");

    CHECK_INT(dbExec(db, "ATTACH %Q AS x", other), SQLITE_NOTADB);
    checkNotAttached(db);
    CHECK_INT(dbExec(db, "ATTACH %Q AS x", plain), SQLITE_NOTADB);
    checkNotAttached(db);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY 'wrong'", other), SQLITE_NOTADB);
    checkNotAttached(db);
    CHECK(fileHash(other) == hash);

    dbMust(db, "ATTACH %Q AS x KEY ''", plain);
    CHECK_INT(dbInt(db, count), ROWS);
    dbMust(db, "INSERT INTO x.t VALUES(1000, 'x', 'y')");
    dbMust(db, "DETACH x");
    CHECK(isPlain(plain));

    CHECK_OK(db, dbSetup(db, s));
    dbMust(db, "ATTACH %Q AS x KEY %Q", other, s->other);
    CHECK_INT(dbInt(db, count), ROWS);
    dbMust(db, "BEGIN; DELETE FROM t; DELETE FROM x.t; ROLLBACK");
    CHECK_INT(dbInt(db, count), ROWS);
    dbMust(db, "BEGIN; UPDATE t SET name = name; UPDATE x.t SET name = name; COMMIT");
    dbMust(db, "DETACH x");

    CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY 5", same), SQLITE_ERROR);
    CHECK_HAS(sqlite3_errmsg(db), "Invalid key value");
    CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY 1.5", same), SQLITE_ERROR);
    checkNotAttached(db);
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbClose(db);
    checkOpens(path("main.db"), s, s->key);
    checkOpens(other, s, s->other);
}

static void attachedNewFilesInherit(const Scheme *s) {
    static const char *const keys[] = {"", " KEY NULL"};
    for (int i = 0; i < 2; i++) {
        testContext("ATTACH%s", keys[i]);
        const char *file = path(textf("new%d.db", i));
        sqlite3 *db = makeOpen(path("main.db"), s, s->key);
        dbMust(db, "ATTACH %Q AS x%s", file, keys[i]);
        dbMust(db, "CREATE TABLE x.t AS SELECT * FROM t");
        dbMust(db, "DETACH x");
        CHECK(!isPlain(file) && !fileHas(file, MARKER, 16));
        dbMust(db, "ATTACH %Q AS x%s", file, keys[i]);
        CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
        dbClose(db);
        db = dbOpenKeyed(file, s, s->key);
        CHECK_INT(dbInt(db, "SELECT count(*) FROM t"), ROWS);
        dbClose(db);
    }
}

static void attachToAPlainMain(const Scheme *s) {
    const char *encrypted = makeFile("encrypted.db", s, s->key), *plain = makeFile("plain.db", 0, 0);
    static const char *const mains[] = {":memory:", "main.db"};
    for (int i = 0; i < 2; i++) {
        testContext("main is %s", mains[i]);
        sqlite3 *db = dbOpen(i ? path(mains[i]) : mains[i]);
        rowsCreate(db);
        dbMust(db, "ATTACH %Q AS x", plain);
        CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
        dbMust(db, "DETACH x");
        CHECK_INT(dbExec(db, "ATTACH %Q AS x", encrypted), SQLITE_NOTADB);
        checkNotAttached(db);
        CHECK_OK(db, dbSetup(db, s));
        dbMust(db, "ATTACH %Q AS x KEY %Q", encrypted, s->key);
        CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
        /* a transaction over both is atomic */
        dbMust(db, "BEGIN; INSERT INTO main.t SELECT * FROM x.t; DELETE FROM x.t; ROLLBACK");
        CHECK_INT(dbInt(db, "SELECT (SELECT count(*) FROM main.t) * 1000 + (SELECT count(*) FROM x.t)"), ROWS);
        dbMust(db, "BEGIN; INSERT INTO main.t SELECT * FROM x.t; UPDATE x.t SET name = name; COMMIT");
        CHECK_INT(dbInt(db, "SELECT count(*) FROM main.t"), ROWS);
        dbMust(db, "DETACH x");
        CHECK_OK(db, dbSetup(db, s));
        CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY %Q", encrypted, s->other), SQLITE_NOTADB);
        checkNotAttached(db);
        /* a plain file with a key */
        CHECK_OK(db, dbSetup(db, s));
        CHECK_INT(dbExec(db, "ATTACH %Q AS x KEY 'k'", plain), SQLITE_NOTADB);
        checkNotAttached(db);
        /* a new one with a blob as key */
        dbMust(db, "PRAGMA cipher='chacha20'; PRAGMA temp.kdf_iter=3");
        const char *blob = path(textf("blob%d.db", i));
        dbMust(db, "ATTACH %Q AS x KEY x'6b00ff'; CREATE TABLE x.t AS SELECT * FROM main.t; DETACH x", blob);
        sqlite3 *other = dbOpen(blob);
        dbMust(other, "PRAGMA kdf_iter=3; PRAGMA hexkey='6b00ff'");
        CHECK_INT(dbInt(other, "SELECT count(*) FROM t"), ROWS);
        dbClose(other);
        dbClose(db);
    }
}

/* PRAGMA x.key and x.rekey are for the attached file, the others are left alone. */
static void keysOfAttachedFiles(const Scheme *s) {
    const char *file = makeFile("x.db", s, s->other);
    sqlite3 *db = makeOpen(path("main.db"), s, s->key);
    CHECK_OK(db, dbSetup(db, s));
    dbMust(db, "ATTACH %Q AS x KEY %Q", file, s->other);
    CHECK_OK(db, dbSetup(db, s));
    dbMust(db, "PRAGMA x.key='wrong'");
    CHECK_INT(dbExec(db, "SELECT * FROM x.t"), SQLITE_NOTADB);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, sqlite3_key_v2(db, "x", s->other, -1));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
    CHECK_OK(db, dbSetup(db, s));
    CHECK_OK(db, sqlite3_rekey_v2(db, "x", s->key, -1));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
    dbMust(db, "VACUUM x");
    CHECK_OK(db, sqlite3_rekey_v2(db, "x", "", 0));
    CHECK(isPlain(file));
    CHECK_INT(dbInt(db, "SELECT count(*) FROM x.t"), ROWS);
    dbClose(db);
    checkOpens(path("main.db"), s, s->key);
    checkOpens(file, 0, 0);
}

/* ---- serialize --------------------------------------------------------------------------------------- */

static void serializeAndDeserialize(const Scheme *s) {
    const char *file = makeFile("a.db", s, s->key);
    sqlite3 *db = dbOpenKeyed(file, s, s->key);
    sqlite3_int64 size = 0;
    unsigned char *image = sqlite3_serialize(db, "main", &size, 0);
    if (CHECK(image != 0)) {
        CHECK(size % 4096 == 0 && !memcmp(image, "SQLite format 3", 16));
        sqlite3 *memory = dbOpen(":memory:");
        CHECK_OK(memory, sqlite3_deserialize(memory, "main", image, size, size, SQLITE_DESERIALIZE_FREEONCLOSE));
        CHECK_ROWS(memory, ROWS, REPEAT, "a");
        CHECK_INT(dbKey(memory, "k"), SQLITE_ERROR);
        dbClose(memory);
    }
    dbClose(db);
    /* deserialize over an encrypted connection: the image is plain, the file is not touched */
    uint64_t before = fileHash(file);
    db = dbOpenKeyed(file, s, s->key);
    CHECK_INT(dbInt(db, "SELECT count(*) FROM t"), ROWS);
    sqlite3 *source = makeOpen(":memory:", 0, 0);
    image = sqlite3_serialize(source, "main", &size, 0);
    dbClose(source);
    CHECK_OK(db, sqlite3_deserialize(db, "main", image, size, size,
                                     SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
    CHECK_ROWS(db, ROWS, REPEAT, "a");
    dbMust(db, "DELETE FROM t");
    dbClose(db);
    CHECK(fileHash(file) == before);
}

static const Test tests[] = {
    TEST_SCHEME("backup from one key to another", backupUnderTwoKeys),
    TEST_SCHEME("backup of a source that changes", backupOfAChangingSource),
    TEST_SCHEME("C31 backup between plain and encrypted is refused", backupBetweenPlainAndEncrypted),
    TEST_SCHEME("backup between different reserved sizes is refused", backupBetweenReservedSizes),
    TEST("backup between plain databases", backupBetweenPlainFiles),
    TEST_SCHEME("backup under a wrong key", backupUnderAWrongKey),
    TEST_SCHEME("VACUUM keeps key and salt", vacuumKeepsKeyAndSalt),
    TEST_SCHEME("C34 VACUUM with another page_size", vacuumWithAnotherPageSize),
    TEST_SCHEME("VACUUM INTO with the same key, another, none", vacuumInto),
    TEST_SCHEME("VACUUM INTO every scheme", vacuumIntoEveryScheme),
    TEST("VACUUM INTO a format of fixed page size", vacuumIntoAFixedPageSize),
    TEST_SCHEME("backup to every scheme", backupToEveryScheme),
    TEST_SCHEME("a transaction over files of every scheme", attachEveryScheme),
    TEST_SCHEME("C35 ATTACH to an encrypted main", attachToAnEncryptedMain),
    TEST_SCHEME("ATTACH of a new file inherits the key", attachedNewFilesInherit),
    TEST_SCHEME("C35 ATTACH to a plain main", attachToAPlainMain),
    TEST_SCHEME("key and rekey of attached files", keysOfAttachedFiles),
    TEST_SCHEME("serialize and deserialize", serializeAndDeserialize),
};

int main(int argc, char **argv) {
    return testMain(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
