/*
** Public C API of sqlite3mc-wasm: what it adds to sqlite3.h. Include sqlite3.h first.
**
** A database is encrypted page by page under a cipher scheme ("chacha20" is the default). The key is set after
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

#include <stddef.h>
#include <stdint.h>

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
** SQLITE_OK, SQLITE_NOTADB (the key in force is wrong), SQLITE_READONLY, SQLITE_BUSY, SQLITE_INTERRUPT
** (sqlite3_interrupt(), or cancelled by the callback below), SQLITE_ERROR (as for sqlite3_key; also: the
** new scheme needs another page size), or an I/O error.
*/
SQLITE_API int sqlite3_rekey(sqlite3 *db, const void *pKey, int nKey);
SQLITE_API int sqlite3_rekey_v2(sqlite3 *db, const char *zDbName, const void *pKey, int nKey);

/*
** Have a function called while an operation of this library goes through all pages of a database of the
** connection (rekey). NULL: none. It replaces the one before.
**
** pArg    is handed to the function
** nDone   pages done, from 0; never less than in the call before. The call with nDone = nTotal comes last,
**         after success; its result is ignored
** nTotal  pages to do. A rekey that changes the number of reserved bytes goes through the database twice,
**         and counts each page twice
**
** A result other than 0 cancels the operation: it gives SQLITE_INTERRUPT and the database is as it was.
** The function must not use the connection, but for sqlite3_interrupt().
**
** SQLITE_OK, SQLITE_NOMEM, SQLITE_MISUSE (db is not an open connection)
*/
SQLITE_API int sqlite3mc_progress(sqlite3 *db, int (*xProgress)(void *pArg, sqlite3_int64 nDone, sqlite3_int64 nTotal),
                                  void *pArg);

/*
** Cipher schemes. Their ids begin with 1; "aes128cbc" 1, "aes256cbc" 2, "chacha20" 3, "sqlcipher" 4,
** "rc4" 5, "ascon128" 6, "aegis" 7, then those that sqlite3mc_register_cipher() added. Names are compared
** without regard to the case of ASCII letters.
**
** sqlite3mc_cipher_count      number of schemes
** sqlite3mc_cipher_index      id of a scheme, or -1: there is none of that name
** sqlite3mc_cipher_name       name, valid as long as the library; "" for an id that there is not
** sqlite3mc_cipher_name_copy  copies the name and its zero to zBuf[0..nBuf). 1: done. 0: no such id, zBuf is "".
**                             -n: n bytes are needed (with nBuf = 0 zBuf may be NULL)
*/
SQLITE_API int sqlite3mc_cipher_count(void);
SQLITE_API int sqlite3mc_cipher_index(const char *zCipher);
SQLITE_API const char *sqlite3mc_cipher_name(int iCipher);
SQLITE_API int sqlite3mc_cipher_name_copy(int iCipher, char *zBuf, int nBuf);

/*
** Read or set an option of a connection: "cipher" (an id), "hmac_check" or "mc_legacy_wal" (0, 1).
** sqlite3mc_config_cipher: a parameter of a scheme, "kdf_iter" for example; docs/ciphers.md lists them.
**
** db        NULL: the built-in values, which can only be read
** zParam    the option. Its value holds for the next key only, then the default comes back. With the prefix
**           "default:" the default is read, or both are set (the two switches have no lasting value).
**           "min:" and "max:" read the smallest and the largest legal value.
** newValue  negative: read
**
** Result: the value in force afterwards. -1: there is no such option or scheme, or db is NULL and newValue
** is not negative. A value that is not legal changes nothing. After a failure sqlite3_errcode(db) is
** SQLITE_ERROR and sqlite3_errmsg(db) says what was wrong, after a success SQLITE_OK.
*/
SQLITE_API int sqlite3mc_config(sqlite3 *db, const char *zParam, int newValue);
SQLITE_API int sqlite3mc_config_cipher(sqlite3 *db, const char *zCipher, const char *zParam, int newValue);

/*
** What a database in use stores or needs beside its key: zParam "cipher_salt" gives the salt as 32 upper-case
** hex digits and a zero, "raw:cipher_salt" as 16 bytes and a zero. To be freed by sqlite3_free(). NULL: the
** database is plain, its scheme has no salt, there is no such schema or parameter, or memory is short.
*/
SQLITE_API unsigned char *sqlite3mc_codec_data(sqlite3 *db, const char *zDbName, const char *zParam);

/*
** Look at every page of a database, without SQLite reading it and without changing anything: the main file, and
** the frames of its WAL up to the last commit. Works although page 1 is damaged or the key is wrong. Writers
** are kept out meanwhile, and in WAL mode checkpoints.
**
** xPage   NULL, or called for each page: its number (from 1), the frame of the WAL that it stands in (from 1;
**         0: the main file), what was found, and the how-many-eth of how many this is. Another result than
**         0 ends it. The connection may not be used in it.
** pnBad   NULL, or gets the number of pages that are BAD or SHORT
**
** SQLITE_OK         no page is bad
** SQLITE_NOTADB     page 1 is bad (with a wrong key or wrong parameters all are)
** SQLITE_CORRUPT    page 1 is good, others are bad
** SQLITE_INTERRUPT  ended by xPage, by sqlite3_interrupt() or by the progress handler
** SQLITE_BUSY, SQLITE_NOMEM, I/O errors; SQLITE_ERROR: no such schema, no file, or a transaction has written;
** SQLITE_READONLY_ROLLBACK or ..._RECOVERY: a transaction was cut off, and the file is open for reading only
**
** In SQL:  SELECT page, frame, status FROM sqlite3mc_verify('main')       a database of this connection
**          SELECT ... FROM sqlite3mc_verify('file.db', 'passphrase')      another file, for example from a
**                                                                        connection of ":memory:"
** with the names of the SQLITE3MC_PAGE constants in lower case as status. Another file is opened for reading, by
** the VFS of this connection, with scheme and parameters from its URI, else as they are set on this connection.
*/
#define SQLITE3MC_PAGE_OK 0
#define SQLITE3MC_PAGE_BAD 1       /* not a page under this key: damaged, or another key */
#define SQLITE3MC_PAGE_UNCHECKED 2 /* nothing can be said: the scheme has no tags, or the database is plain */
#define SQLITE3MC_PAGE_HOLE 3      /* all zero. SQLite may leave unused pages so; if it is in use it is damaged */
#define SQLITE3MC_PAGE_LOCK 4      /* the page at 1 GiB, which is never used */
#define SQLITE3MC_PAGE_SHORT 5     /* the file ends within the page */
SQLITE_API int sqlite3mc_verify(sqlite3 *db, const char *zDbName,
                                int (*xPage)(void *pArg, unsigned pgno, unsigned iFrame, int eStatus, unsigned iItem,
                                             unsigned nItem),
                                void *pArg, sqlite3_int64 *pnBad);

/*
** Find out scheme and parameters of the file of a database, which needs no key set for this. Tried are the seven
** schemes with their defaults, the legacy formats in every page size, the versions of SQLCipher with the usual
** algorithms, the variants of AEGIS, plaintext headers of the usual sizes (if the salt came with a raw key or
** by cipher_salt), and the schemes of the program. A number of rounds other than the default is not found.
** Cheap derivations come first; all of them may take seconds.
**
** pKey,nKey  the key, as for sqlite3_key(); NULL or empty: only plain databases are recognised
** xProgress  NULL, or called before each try; another result than 0 ends it
** pzFound    gets the answer, to be freed by sqlite3_free(): what a URI says, "cipher=sqlcipher&legacy=3&
**            legacy_page_size=1024" for example, or "plain". NULL after any error.
**
** SQLITE_OK; SQLITE_NOTADB: nothing fits; SQLITE_INTERRUPT, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_ERROR and I/O errors
** as for sqlite3mc_verify(). Page 1 of the main file is what is looked at.
**
** In SQL:  SELECT sqlite3mc_identify('file.db', 'passphrase')      NULL: nothing fits
*/
SQLITE_API int sqlite3mc_identify(sqlite3 *db, const char *zDbName, const void *pKey, int nKey,
                                  int (*xProgress)(void *pArg, int iDone, int nTotal), void *pArg, char **pzFound);

/*
** A cipher scheme of the program's own; docs/schemes.md walks through one.
**
** A scheme turns pages of plaintext into pages of the file and back, in place and without I/O. aValue are the
** values of its parameters in the order in which they were registered. The functions may be called by
** several threads at once.
**
** iVersion        1
** zName           a letter, then letters, digits or underscores; at most 31 characters
** nState          bytes of a key's state, which the library allocates (aligned for a uint64_t), copies and wipes
** bSalt           1: a file has a salt of 16 random bytes; xSeal stores it in bytes 0..15 of page 1, where xOpen
**                 puts the text "SQLite format 3" and its zero back. 0: no salt
** xReserved       bytes (0..255) that the scheme needs at the end of each page, for nonce and tag; they need
**                 not be kept when a page is opened
** xAuthenticates  1 if xOpen notices a change of any byte. 0: it cannot tell, not even a wrong key
** xPageSize       NULL: bytes 16..23 of page 1 are stored in plaintext, from where the page size is known before
**                 there is a key. Else the page size to assume, 0 for that of the connection; *pbHidden = 1 if those
**                 bytes are not plaintext
** xConflict       NULL, or: what is wrong with the values together (a sentence without a dot), NULL if nothing is
** xDerive         fills pState from the password and the salt (16 bytes; of no meaning if bSalt is 0)
** xSeal, xOpen    page pgno (from 1) of nPage bytes. xOpen with bCheck = 0 opens a page whose tag is wrong as
**                 well as it goes, which for page 1 is SQLITE3MC_CIPHER_UNVERIFIED
**
** xDerive, xSeal and xOpen give one of the results below; anything else counts as a failure. Nothing of a page
** whose xOpen failed is used.
*/
#define SQLITE3MC_CIPHER_OK 0
#define SQLITE3MC_CIPHER_BAD_PAGE 1   /* xOpen: the page does not verify */
#define SQLITE3MC_CIPHER_UNVERIFIED 2 /* xOpen: opened although it does not, as asked by bCheck = 0 */
#define SQLITE3MC_CIPHER_NO_ENTROPY 3 /* xSeal: no random bytes */
#define SQLITE3MC_CIPHER_NO_MEMORY 4  /* xDerive */
#define SQLITE3MC_CIPHER_PARAMETERS 5 /* xDerive: values that do not go together */

typedef struct sqlite3mc_cipher {
    int iVersion;
    const char *zName;
    size_t nState;
    int bSalt;
    int (*xReserved)(const int *aValue);
    int (*xAuthenticates)(const int *aValue);
    int (*xPageSize)(const int *aValue, int *pbHidden);
    const char *(*xConflict)(const int *aValue);
    int (*xDerive)(void *pState, const int *aValue, const void *pPassword, size_t nPassword, const void *pSalt);
    int (*xSeal)(const void *pState, uint32_t pgno, uint8_t *aPage, size_t nPage);
    int (*xOpen)(const void *pState, uint32_t pgno, uint8_t *aPage, size_t nPage, int bCheck);
} sqlite3mc_cipher;

/*
** A parameter of it: name as above and not that of a PRAGMA, default and range (from 0), and, if azValue is
** not NULL, the names of the values iMin..iMax, which must stay valid.
*/
typedef struct sqlite3mc_cipher_param {
    const char *zName;
    int iDefault;
    int iMin;
    int iMax;
    const char *const *azValue;
} sqlite3mc_cipher_param;

/*
** Add a scheme, from now on until sqlite3_shutdown(): for connections that are open, too. Its id is
** sqlite3mc_cipher_count() after the call, if no other thread adds one. May be called from any thread.
**
** pCipher      is copied
** aParam       its parameters, at most 64, ended by one whose zName is NULL or ""; NULL: none. Copied, but for
**              azValue
** makeDefault  1: the scheme of connections opened from now on, unless they choose another
**
** SQLITE_OK. SQLITE_ERROR: something in it is not as described above, the name is taken, or there are 16
** schemes; the error log says which. SQLITE_NOMEM.
*/
SQLITE_API int sqlite3mc_register_cipher(const sqlite3mc_cipher *pCipher, const sqlite3mc_cipher_param *aParam,
                                         int makeDefault);

/* For such schemes: n random bytes from the generator that makes nonces and salts. SQLITE_OK, or SQLITE_IOERR:
** the system has none; p[0..n) is zero then. */
SQLITE_API int sqlite3mc_random(void *p, size_t n);

/* And PBKDF2-HMAC-SHA256 (RFC 8018 5.2): nOut bytes. SQLITE_OK, or SQLITE_MISUSE if nIteration or nOut is
** less than 1. */
SQLITE_API int sqlite3mc_pbkdf2(const void *pPassword, size_t nPassword, const void *pSalt, size_t nSalt,
                                int nIteration, void *pOut, size_t nOut);

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
