/*
** Public C API of sqlite3mc-wasm: what it adds to sqlite3.h. Include sqlite3.h first.
**
** A database is encrypted page by page under a cipher scheme ("chacha20"). The key is set after
** opening and before the first access:
**
**     sqlite3_open("file.db", &db);
**     sqlite3_key(db, "passphrase", 10);
**     sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", 0, 0, 0);   SQLITE_NOTADB: wrong key
**
** The names, results and file formats are those of SQLite3 Multiple Ciphers and of the SQLite
** Encryption Extension where those two agree.
*/
#ifndef SQLITE3MC_H
#define SQLITE3MC_H

#ifdef __cplusplus
extern "C" {
#endif

/*
** Set the key of a database of the connection. Wipes the old key.
**
** zDbName   schema name ("main", or the name given to ATTACH); NULL: "main"
** pKey,nKey the key: nKey bytes, any values; nKey < 0: zero-terminated text. A password goes through
**           the scheme's key derivation at the first access; raw keys (docs/keys.md) do not.
**           nKey = 0: the file is read and written in plaintext from now on.
** Scheme and parameters: those set by PRAGMA cipher, PRAGMA kdf_iter etc. before this call.
**
** SQLITE_OK      the key is in force. A wrong one shows as SQLITE_NOTADB at the first access; another
**                call with the right one mends that.
** SQLITE_NOTADB  the file is a plain database (use sqlite3_rekey() to encrypt it). Access fails
**                until sqlite3_key(db, "", 0).
** SQLITE_ERROR   pKey is NULL; unknown schema; memory or temporary database; the VFS is not one of
**                "multipleciphers-..."; a transaction or a statement is open; malformed raw key. The
**                message is in sqlite3_errmsg(); the key in force is as before.
** SQLITE_NOMEM
*/
SQLITE_API int sqlite3_key(sqlite3 *db, const void *pKey, int nKey);
SQLITE_API int sqlite3_key_v2(sqlite3 *db, const char *zDbName, const void *pKey, int nKey);

/*
** Encrypt, re-encrypt or decrypt a database in place, in one transaction: every page is rewritten
** under the new key (nKey = 0 or pKey NULL: in plaintext) and under the scheme and parameters set
** on the connection. Arguments as for sqlite3_key_v2(). Needs the exclusive lock; in WAL mode no
** other connection may have the file open. A failure or a crash at any point leaves the file to
** the old key.
**
** SQLITE_OK, SQLITE_NOTADB (the key in force is wrong), SQLITE_READONLY, SQLITE_BUSY, SQLITE_ERROR
** (as for sqlite3_key; also: the new scheme needs another page size), or an I/O error.
*/
SQLITE_API int sqlite3_rekey(sqlite3 *db, const void *pKey, int nKey);
SQLITE_API int sqlite3_rekey_v2(sqlite3 *db, const char *zDbName, const void *pKey, int nKey);

/* Exists for programs written for the SQLite Encryption Extension. Does nothing. */
SQLITE_API void sqlite3_activate_see(const char *zPassPhrase);

/* Name and version of this library, "sqlite3mc-wasm x.y.z". Static text. */
SQLITE_API const char *sqlite3mc_version(void);

/*
** Register the encrypting VFS "multipleciphers-<zVfsReal>" over the VFS zVfsReal (NULL: over the
** default VFS). makeDefault: 1 makes it the default. Done for the default VFS by
** sqlite3_initialize(), and for X when a database is opened with VFS "multipleciphers-X".
** SQLITE_OK (also if it exists), SQLITE_NOTFOUND (no VFS of that name), SQLITE_NOMEM.
*/
SQLITE_API int sqlite3mc_vfs_create(const char *zVfsReal, int makeDefault);

/* Unregister the encrypting VFS of that full name, unless a database is open in it. */
SQLITE_API void sqlite3mc_vfs_destroy(const char *zName);

/* The same for all encrypting VFSs. */
SQLITE_API void sqlite3mc_vfs_shutdown(void);

/* Called by sqlite3_initialize() and sqlite3_shutdown(). The argument is not used. */
int sqlite3mc_initialize(const char *zUnused);
void sqlite3mc_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
