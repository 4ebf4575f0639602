/*
** The small framework of the C tests: named tests, checks that report and go on, one temporary
** directory per test, and the database and file helpers that all of them share.
**
** A test program is a table of tests and `return testMain(...)`. It runs every test, or those whose
** name contains the text given as argument, and ends with the line "N passed, N failed".
**
**   keys_test                run all
**   keys_test C01            run the tests with C01 in their name
**   keys_test --list         print the names
**   keys_test --keep         leave the temporary directories in place
**
** $SQLITE3MC_TEST_SCHEMES, names with commas between them, limits the tests that run for every scheme.
*/
#ifndef SQLITE3MC_TEST_HARNESS_H
#define SQLITE3MC_TEST_HARNESS_H

#include "sqlite3.h"
#include "sqlite3mc.h"

#include <stddef.h>
#include <stdint.h>

/*
** A cipher scheme as the tests use it. `setup` are PRAGMAs that choose the scheme with a cheap key
** derivation; `key` and `other` are two different keys, raw ones where the scheme knows raw keys.
*/
typedef struct Scheme {
    const char *name;
    const char *setup;
    const char *key;
    const char *other;
    int reserved;      /* reserved bytes per page */
    int authenticated; /* damage of a page is always noticed */
    int salted;        /* a salt stands in the first 16 bytes */
    int minPage;       /* smallest page size */
    int nonceFromEnd;  /* where in a page its nonce begins, counted from the end; 0: none */
    int nonceLength;
} Scheme;

typedef struct Test {
    const char *name;
    void (*run)(void);
    void (*runScheme)(const Scheme *scheme); /* run once for every scheme that the library knows */
    int taggedOnly;                          /* that authenticates its pages */
} Test;

#define TEST(name, function) \
    { name, function, 0, 0 }
#define TEST_SCHEME(name, function) \
    { name, 0, function, 0 }
#define TEST_TAGGED(name, function) \
    { name, 0, function, 1 }

int testMain(int argc, char **argv, const Test *tests, size_t count);

/* The schemes that this build of the library knows, in the order of the table. NULL past the end. */
const Scheme *schemeAt(int i);
const Scheme *schemeNamed(const char *name);

/* Checks. Each is true if it held; a failure prints where and what, and the test goes on. */
int checkTrue(int held, const char *file, int line, const char *fmt, ...);
int checkInt(sqlite3_int64 got, sqlite3_int64 want, const char *file, int line, const char *what);
int checkText(const char *got, const char *want, const char *file, int line, const char *what);
int checkHas(const char *got, const char *part, const char *file, int line, const char *what);
int checkRc(sqlite3 *db, int got, int want, const char *file, int line, const char *what);

#define CHECK(held) checkTrue(!!(held), __FILE__, __LINE__, "%s", #held)
#define CHECK_MSG(held, ...) checkTrue(!!(held), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_INT(got, want) checkInt((sqlite3_int64)(got), (sqlite3_int64)(want), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, want) checkText((got), (want), __FILE__, __LINE__, #got)
#define CHECK_HAS(got, part) checkHas((got), (part), __FILE__, __LINE__, #got)
#define CHECK_RC(db, got, want) checkRc((db), (got), (want), __FILE__, __LINE__, #got)
#define CHECK_OK(db, got) CHECK_RC(db, got, SQLITE_OK)

/* The case that a loop is in; printed with every failed check until the next call. NULL clears it. */
void testContext(const char *fmt, ...);
/* 1 if a check of the running test has failed. For loops that should stop at the first bad case. */
int testFailed(void);

/* Text that lives until the end of the running test. */
const char *textf(const char *fmt, ...);
/* The path of a file in the temporary directory of the running test. */
const char *path(const char *name);
/* `path` as a URI, and with `params` ("key=..&..") behind the question mark. */
const char *uri(const char *path, const char *params);

/* Files. Sizes and offsets in bytes; a file that is not there has size -1. */
sqlite3_int64 fileSize(const char *path);
int fileCopy(const char *from, const char *to);
void fileRemove(const char *path);
/* Copy or remove a database together with its -journal, -wal and -shm. */
void dbFilesCopy(const char *from, const char *to);
void dbFilesRemove(const char *db);
int fileRead(const char *path, sqlite3_int64 offset, void *out, int n);
int fileWrite(const char *path, sqlite3_int64 offset, const void *data, int n);
void fileFlip(const char *path, sqlite3_int64 offset, int mask);
int fileTruncate(const char *path, sqlite3_int64 size);
/* A fingerprint of the whole content (FNV-1a); 0 if there is no file. */
uint64_t fileHash(const char *path);
/* 1 if the bytes occur anywhere in the file. */
int fileHas(const char *path, const void *bytes, int n);
/* The whole file in memory that lives until the end of the test, with a 0 byte behind it. */
char *fileLoad(const char *path, sqlite3_int64 *size);

/* The name of the real VFS that reads and writes files of the operating system. */
const char *realVfs(void);
/* The name of the shim over it. */
const char *shimVfs(void);

/* Open with the default VFS, read-write, created if missing. Never NULL; a failure is reported. */
sqlite3 *dbOpen(const char *path);
sqlite3 *dbOpenWith(const char *path, int flags, const char *vfs);
/* Open, and set up and key by the scheme: SQL texts may be NULL. */
sqlite3 *dbOpenKeyed(const char *path, const Scheme *scheme, const char *key);
/* Close; a connection that cannot close is reported. */
void dbClose(sqlite3 *db);
/* Run SQL. The result code; dbExec prints nothing. */
int dbExec(sqlite3 *db, const char *fmt, ...);
/* Run SQL that must succeed. */
void dbMust(sqlite3 *db, const char *fmt, ...);
/* First column of the first row as text; "(no row)", "(null)", or "error N: message". */
const char *dbText(sqlite3 *db, const char *fmt, ...);
/* First column of the first row as integer. Anything else is reported and gives -1. */
sqlite3_int64 dbInt(sqlite3 *db, const char *fmt, ...);
/* Key a connection: the text is quoted, so any passphrase goes. The result code. */
int dbKey(sqlite3 *db, const char *key);
int dbRekey(sqlite3 *db, const char *key);
int dbSetup(sqlite3 *db, const Scheme *scheme);

/* The text that stands in every page that holds data of the test table. */
#define MARKER "plaintext-marker"

/* Table t(id, name, data): rows from..to, each `repeat` markers long (20 bytes a marker). */
void rowsCreate(sqlite3 *db);
void rowsInsert(sqlite3 *db, int from, int to, int repeat, const char *tag);
/* Exactly the rows 1..count with their content, and integrity_check. Reports what is wrong. */
int rowsCheck(sqlite3 *db, int count, int repeat, const char *tag, const char *file, int line);
#define CHECK_ROWS(db, count, repeat, tag) rowsCheck(db, count, repeat, tag, __FILE__, __LINE__)
/* The same question without a report: SQLITE_OK, the error, or SQLITE_MISMATCH for other rows. */
int rowsProbe(sqlite3 *db, int count, int repeat, const char *tag);

#endif
