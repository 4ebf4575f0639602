/*
** The file and database helpers of harness.h, and the table of schemes.
*/
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- schemes ---------------------------------------------------------------------------------- */

#define RAW_KEY "x'54686973206973206d792076657279207365637265742070617373776f726431'"
#define RAW_OTHER "x'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'"

static const Scheme schemes[] = {
    {"chacha20", "PRAGMA cipher='chacha20'; PRAGMA kdf_iter=1;", RAW_KEY, RAW_OTHER, 32, 1, 1, 512, 32, 16},
    {"aes128cbc", "PRAGMA cipher='aes128cbc';", "first password", "second password", 0, 0, 0, 512, 0, 0},
    {"aes256cbc", "PRAGMA cipher='aes256cbc';", "first password", "second password", 0, 0, 0, 512, 0, 0},
    {"sqlcipher", "PRAGMA cipher='sqlcipher'; PRAGMA kdf_iter=1;", RAW_KEY, RAW_OTHER, 80, 1, 1, 1024, 80, 16},
    {"rc4", "PRAGMA cipher='rc4';", "first password", "second password", 0, 0, 0, 512, 0, 0},
    {"ascon128", "PRAGMA cipher='ascon128'; PRAGMA kdf_iter=1;", RAW_KEY, RAW_OTHER, 32, 1, 1, 512, 16, 16},
    {"aegis", "PRAGMA cipher='aegis'; PRAGMA tcost=1; PRAGMA mcost=8;", RAW_KEY, RAW_OTHER, 64, 1, 1, 1024, 32, 32},
};

enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

/* Is the name in the comma-separated list of the environment? Without a list every name is. */
static int schemeWanted(const char *name) {
    const char *list = getenv("SQLITE3MC_TEST_SCHEMES");
    return !list || strstr(textf(",%s,", list), textf(",%s,", name)) != 0;
}

static int schemeKnown(const Scheme *scheme) {
    static signed char known[SCHEMES];
    signed char *k = &known[scheme - schemes];
    if (*k == 0 && !schemeWanted(scheme->name)) {
        *k = -1;
    } else if (*k == 0) {
        sqlite3 *db = dbOpen(":memory:");
        *k = dbExec(db, "PRAGMA cipher='%s'", scheme->name) == SQLITE_OK ? 1 : -1;
        sqlite3_close(db);
    }
    return *k > 0;
}

const Scheme *schemeAt(int i) {
    for (int s = 0; s < SCHEMES; s++) {
        if (schemeKnown(&schemes[s]) && i-- == 0) {
            return &schemes[s];
        }
    }
    return 0;
}

const Scheme *schemeNamed(const char *name) {
    for (int s = 0; s < SCHEMES; s++) {
        if (!strcmp(schemes[s].name, name)) {
            return &schemes[s];
        }
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------ */

sqlite3_int64 fileSize(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 ? (sqlite3_int64)st.st_size : -1;
}

int fileCopy(const char *from, const char *to) {
    static char buffer[65536];
    FILE *in = fopen(from, "rb");
    FILE *out = in ? fopen(to, "wb") : 0;
    int ok = out != 0;
    for (size_t n; ok && (n = fread(buffer, 1, sizeof buffer, in)) > 0;) {
        ok = fwrite(buffer, 1, n, out) == n;
    }
    if (in) {
        fclose(in);
    }
    if (out && fclose(out) != 0) {
        ok = 0;
    }
    return ok;
}

void fileRemove(const char *file) {
    remove(file);
}

static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};

void dbFilesRemove(const char *db) {
    for (int i = 0; i < 4; i++) {
        fileRemove(textf("%s%s", db, suffixes[i]));
    }
}

/* The -shm is not copied: the index of a WAL belongs to the processes that have it open. */
void dbFilesCopy(const char *from, const char *to) {
    dbFilesRemove(to);
    for (int i = 0; i < 3; i++) {
        const char *file = textf("%s%s", from, suffixes[i]);
        if (fileSize(file) >= 0 && !fileCopy(file, textf("%s%s", to, suffixes[i]))) {
            CHECK_MSG(0, "cannot copy %s", file);
        }
    }
}

int fileRead(const char *file, sqlite3_int64 offset, void *out, int n) {
    FILE *f = fopen(file, "rb");
    int got = 0;
    if (f) {
        if (fseek(f, (long)offset, SEEK_SET) == 0) {
            got = (int)fread(out, 1, (size_t)n, f);
        }
        fclose(f);
    }
    return got;
}

int fileWrite(const char *file, sqlite3_int64 offset, const void *data, int n) {
    FILE *f = fopen(file, "r+b");
    if (!f) {
        f = fopen(file, "w+b");
    }
    int ok = f && fseek(f, (long)offset, SEEK_SET) == 0 && fwrite(data, 1, (size_t)n, f) == (size_t)n;
    if (f && fclose(f) != 0) {
        ok = 0;
    }
    return CHECK_MSG(ok, "cannot write %s", file);
}

void fileFlip(const char *file, sqlite3_int64 offset, int mask) {
    unsigned char byte = 0;
    CHECK_INT(fileRead(file, offset, &byte, 1), 1);
    byte ^= (unsigned char)mask;
    fileWrite(file, offset, &byte, 1);
}

int fileTruncate(const char *file, sqlite3_int64 size) {
    return CHECK_MSG(truncate(file, (off_t)size) == 0, "cannot truncate %s", file);
}

uint64_t fileHash(const char *file) {
    static unsigned char buffer[65536];
    uint64_t hash = 0xcbf29ce484222325u;
    FILE *f = fopen(file, "rb");
    if (!f) {
        return 0;
    }
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            hash = (hash ^ buffer[i]) * 0x100000001b3u;
        }
    }
    fclose(f);
    return hash;
}

int fileHas(const char *file, const void *bytes, int n) {
    sqlite3_int64 size;
    if (fileSize(file) < 0) {
        return 0;
    }
    const char *data = fileLoad(file, &size);
    for (sqlite3_int64 i = 0; i + n <= size; i++) {
        if (data[i] == *(const char *)bytes && !memcmp(data + i, bytes, (size_t)n)) {
            return 1;
        }
    }
    return 0;
}

/* ---- databases -------------------------------------------------------------------------------- */

#define SHIM "multipleciphers-"

const char *realVfs(void) {
    static char name[64];
    if (!name[0]) {
        const char *found = sqlite3_vfs_find("unix") ? "unix" : sqlite3_vfs_find(0)->zName;
        if (!strncmp(found, SHIM, sizeof SHIM - 1)) {
            found += sizeof SHIM - 1;
        }
        snprintf(name, sizeof name, "%s", found);
    }
    return name;
}

const char *shimVfs(void) {
    static char name[80];
    snprintf(name, sizeof name, SHIM "%s", realVfs());
    return name;
}

sqlite3 *dbOpenWith(const char *file, int flags, const char *vfs) {
    sqlite3 *db = 0;
    int rc = sqlite3_open_v2(file, &db, flags, vfs);
    checkRc(db, rc, SQLITE_OK, __FILE__, __LINE__, textf("open of %s", file));
    if (!db) {
        fprintf(stderr, "no connection handle\n");
        exit(2);
    }
    return db;
}

sqlite3 *dbOpen(const char *file) {
    return dbOpenWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, shimVfs());
}

int dbSetup(sqlite3 *db, const Scheme *scheme) {
    return sqlite3_exec(db, scheme->setup, 0, 0, 0);
}

sqlite3 *dbOpenKeyed(const char *file, const Scheme *scheme, const char *key) {
    sqlite3 *db = dbOpen(file);
    if (scheme) {
        CHECK_OK(db, dbSetup(db, scheme));
    }
    if (key) {
        /* NOTADB: the file is plain; reading fails with the same code. */
        int rc = dbKey(db, key);
        if (rc != SQLITE_NOTADB) {
            CHECK_OK(db, rc);
        }
    }
    return db;
}

void dbClose(sqlite3 *db) {
    int rc = sqlite3_close(db);
    if (!CHECK_RC(db, rc, SQLITE_OK)) {
        sqlite3_close_v2(db);
    }
}

static char *sqlText(const char *fmt, va_list args) {
    char *sql = sqlite3_vmprintf(fmt, args);
    if (!sql) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return sql;
}

int dbExec(sqlite3 *db, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *sql = sqlText(fmt, args);
    va_end(args);
    int rc = sqlite3_exec(db, sql, 0, 0, 0);
    sqlite3_free(sql);
    return rc;
}

void dbMust(sqlite3 *db, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *sql = sqlText(fmt, args);
    va_end(args);
    int rc = sqlite3_exec(db, sql, 0, 0, 0);
    checkRc(db, rc, SQLITE_OK, __FILE__, __LINE__, sql);
    sqlite3_free(sql);
}

static const char *firstText(sqlite3 *db, const char *sql) {
    sqlite3_stmt *stmt = 0;
    const char *text = "(no row)";
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, 0);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW) {
            const char *value = (const char *)sqlite3_column_text(stmt, 0);
            text = value ? textf("%s", value) : "(null)";
            /* on to the end: an error in a later row is an error of the statement */
            while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            }
        }
    }
    if (rc != SQLITE_OK && rc != SQLITE_DONE) {
        text = textf("error %d: %s", rc, sqlite3_errmsg(db));
    }
    sqlite3_finalize(stmt);
    return text;
}

const char *dbText(sqlite3 *db, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *sql = sqlText(fmt, args);
    va_end(args);
    const char *text = firstText(db, sql);
    sqlite3_free(sql);
    return text;
}

sqlite3_int64 dbInt(sqlite3 *db, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *sql = sqlText(fmt, args);
    va_end(args);
    const char *text = firstText(db, sql);
    char *end = 0;
    sqlite3_int64 value = strtoll(text, &end, 10);
    if (end == text || *end) {
        CHECK_MSG(0, "%s: %s", sql, text);
        value = -1;
    }
    sqlite3_free(sql);
    return value;
}

int dbKey(sqlite3 *db, const char *key) {
    return dbExec(db, "PRAGMA key=%Q", key);
}

int dbRekey(sqlite3 *db, const char *key) {
    return dbExec(db, "PRAGMA rekey=%Q", key);
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* 20 bytes: the marker, and four that keep it from being a repetition of 16. */
#define NAME_OF(id) "'row-' || " id " || '-%s'"
#define DATA_OF(id) "CAST(" id " || ':%s:' || replace(hex(zeroblob(%d)), '00', '" MARKER "/..#') AS BLOB)"

void rowsCreate(sqlite3 *db) {
    dbMust(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, data BLOB)");
}

void rowsInsert(sqlite3 *db, int from, int to, int repeat, const char *tag) {
    dbMust(db,
           "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
           " INSERT OR REPLACE INTO t SELECT i, " NAME_OF("i") ", " DATA_OF("i") " FROM n",
           from, to, tag, tag, repeat);
}

static const char *rowsState(sqlite3 *db, int count, int repeat, const char *tag) {
    char *sql =
        sqlite3_mprintf("SELECT count(*) || ' rows ' || min(id) || '..' || max(id) || ', wrong ' || "
                        "sum(name IS NOT " NAME_OF("id") " OR data IS NOT " DATA_OF("id") ") FROM t NOT INDEXED",
                        tag, tag, repeat);
    const char *state = firstText(db, sql);
    sqlite3_free(sql);
    if (!strcmp(state, textf("%d rows 1..%d, wrong 0", count, count))) {
        state = dbText(db, "PRAGMA integrity_check");
    }
    return state;
}

int rowsCheck(sqlite3 *db, int count, int repeat, const char *tag, const char *file, int line) {
    return checkText(rowsState(db, count, repeat, tag), "ok", file, line, "state of the rows");
}

int rowsProbe(sqlite3 *db, int count, int repeat, const char *tag) {
    const char *state = rowsState(db, count, repeat, tag);
    if (!strcmp(state, "ok")) {
        return SQLITE_OK;
    }
    /* integrity_check tells of a page that it could not read as one of its findings */
    const char *code = strstr(state, "unable to get the page. error code=");
    if (code) {
        return atoi(strchr(code, '=') + 1) & 0xff;
    }
    return !strncmp(state, "error ", 6) ? atoi(state + 6) : SQLITE_MISMATCH;
}
