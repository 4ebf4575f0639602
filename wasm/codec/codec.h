/*
** Types and functions shared by the files of the codec. All of them, and SQLite, are one
** translation unit (../sqlite3mc.c), so that the codec sees the pager, the B-tree and the WAL.
**
**     settings.c   what PRAGMA and URI set on a connection, until a key is made from it
**     key.c        a key: scheme, parameter values, password or derived state
**     codec.c      the state of one encrypted database: seals and opens its pages
**     vfs.c        the VFS between pager and real VFS: finds the pages in reads and writes
**     temp.c       temporary files, each under a key of its own
**     recovery.c   decides whether a hot journal or a WAL may be touched under the key in force
**     attach.c     sets and removes keys of databases of a connection; ATTACH; URI keys
**     rekey.c      rewrites a database under another key
**     backup.c     which databases may be copied into each other
**     pragma.c     the PRAGMA statements
**     functions.c  the SQL functions about settings
**     value.c      encryption of single values in SQL
**     verify.c     looks at all pages of a file; finds the scheme of a file
**     machine.c    which code runs the primitives; wiping of freed memory
**     register.c   cipher schemes that the program adds
**     api.c        the public functions
**
** SQLite calls these functions from the places listed in cmake/patches.cmake.
*/
#ifndef SQLITE3MC_CODEC_H
#define SQLITE3MC_CODEC_H

#include "../crypto/csprng.h"
#include "../crypto/hmac.h"
#include "../crypto/secure.h"
#include "../scheme/scheme.h"

typedef struct McKey McKey;
typedef struct McCodec McCodec;
typedef struct McFile McFile;
typedef struct McTemp McTemp;
typedef struct McSettings McSettings;

/* ---- settings.c */

/* An integer setting: the value for the next key only, and the one it falls back to. */
typedef struct McValue {
    int iNext;
    int iDefault;
} McValue;

struct McSettings {
    McValue scheme;                 /* id of the scheme */
    McValue hmacCheck;              /* 0: read pages whose tag is wrong */
    McValue legacyWal;              /* 1: WAL frame checksums over plaintext */
    int nScheme;                    /* registered when this was last looked at */
    McValue *aParam[MC_MAX_SCHEME]; /* per scheme id - 1: its parameters */
    u8 aSalt[MC_SALT_SIZE];
    u8 bSalt;        /* aSalt was set by cipher_salt */
    u8 bNoLookaside; /* memory_security has taken the lookaside memory out of use */
    int iInherit;    /* database whose key an ATTACH without a key takes: main, or what VACUUM INTO reads */
    int (*xProgress)(void *, sqlite3_int64, sqlite3_int64); /* of sqlite3mc_progress(), or 0 */
    void *pProgressArg;
};

#define MC_TEMP 1    /* set the next value only */
#define MC_DEFAULT 2 /* set the default too */

static McSettings *mcSettings(sqlite3 *db); /* 0: out of memory */
static int mcProgress(sqlite3 *db, i64 nDone, i64 nTotal);
static const McScheme *mcSettingsScheme(McSettings *p);
static McValue *mcSettingsParam(McSettings *p, const McScheme *pScheme, int i);
static void mcSettingsConsume(McSettings *p);
static int mcParseValue(const McParam *p, const char *zName, const char *zText, int *piValue, char **pzErr);
static char *mcValueText(const McParam *p, int v);
static void mcSetParam(McSettings *p, const McScheme *pScheme, int i, int v, int eWhich);
static int mcSetSwitch(McValue *p, const char *zName, const char *zText, char **pzErr);
static int mcSetScheme(McSettings *p, const char *zName, int eWhich, char **pzErr);
static int mcSetSalt(McSettings *p, const char *zHex, char **pzErr);
static int mcSettingsFromUri(McSettings *p, const char *zFile, int eWhich, char **pzErr);

/* What sqlite3mc_config() and sqlite3mc_config_cipher() read and set. */
#define MC_OPTION_NEXT 0
#define MC_OPTION_DEFAULT 1
#define MC_OPTION_MIN 2
#define MC_OPTION_MAX 3

typedef struct McOption {
    const McScheme *pScheme; /* 0: an option that all schemes have */
    const McParam *pParam;   /* what its values may be; 0: ids of schemes */
    const char *zName;
    int i; /* index among the parameters of the scheme */
    int ePrefix;
    McValue *pValue; /* 0: of no connection, then: */
    McValue builtIn;
} McOption;

static int mcSchemeCount(void);
static int mcOptionFind(McSettings *p, const McScheme *pScheme, const char *zName, McOption *pOut);
static int mcOptionGet(const McOption *p);
static int mcOptionSet(McSettings *pSet, McOption *p, int v, char **pzErr);
static int mcOptionParse(const McOption *p, const char *zText, int *piValue, char **pzErr);

/* ---- key.c */

struct McKey {
    const McScheme *pScheme;
    int aValue[MC_MAX_PARAM];
    u8 bHmacCheck;
    u8 bLegacyWal;
    u8 bRaw;        /* the password is a raw key */
    u8 bSaltInKey;  /* the raw key has a salt, which aSalt holds until bSalt is set */
    u8 bSaltGiven;  /* aSalt was given from outside: the file's must be equal */
    u8 bSalt;       /* aSalt is set */
    u8 bHold;       /* keep the password for now */
    u8 bUnverified; /* page 1 was opened although its tag is wrong (hmac_check = 0) */
    u8 bDerived;    /* pState holds the key for aSalt */
    u8 aSalt[MC_SALT_SIZE];
    u8 *aPassword; /* 0: wiped */
    int nPassword;
    void *pState;
};

static int mcKeyMake(const McScheme *pScheme, const int *aValue, const u8 *aPassword, int nPassword, const u8 *aSalt,
                     McKey **ppKey, char **pzErr);
static int mcKeyNew(sqlite3 *db, const u8 *aPassword, int nPassword, McKey **ppKey, char **pzErr);
static McKey *mcKeyClone(const McKey *p);
static void mcKeyFree(McKey *p);
static void mcKeyForgetPassword(McKey *p);
static int mcKeyUseSalt(McKey *p, const u8 *aPage1);
static int mcKeyNewSalt(McKey *p);
static int mcKeyPageSize(const McKey *p, int *pbHidden);
static int mcKeyReserved(const McKey *p);
static int mcKeyAuthenticates(const McKey *p);

/* ---- codec.c */

#define MC_REKEY_NONE 0
#define MC_REKEY_FORWARD 1 /* main file: pages are being rewritten under pNew */
#define MC_REKEY_UNDO 2    /* the journal is being played back: all is under pKey */

struct McCodec {
    Pager *pPager;
    McKey *pKey; /* key in force; 0 (only during a rekey): plaintext */
    McKey *pNew; /* during a rekey: the key to be; 0: plaintext */
    u8 eRekey;
    int nNewReserve;    /* during a rekey: reserved bytes to be */
    Pgno nOldPage;      /* during a rekey: pages before it */
    u8 bLeaving;        /* another key is about to take its place: its page size binds nobody */
    Bitvec *pRewritten; /* during MC_REKEY_FORWARD: pages of the main file under pNew */
    Bitvec *pFreeLeaf;  /* during MC_REKEY_FORWARD: leaves of the free list, which may be unwritten */
    u8 *aBuf;           /* a page being read, then a page being written; wiped and freed with the codec */
    int nPage;          /* page size they are made for */
    u8 *aAhead;         /* MC_SEAL_MANY pages that were sealed before they are written; of nAheadPage bytes */
    int nAheadPage;
    int nAhead; /* so many; the next to be written is iAhead */
    int iAhead;
    Pgno aAheadPgno[MC_SEAL_MANY];
    const void *apAheadPlain[MC_SEAL_MANY]; /* where the pager has them */
    Pgno iExpect;                           /* the page that is about to be read from the WAL */
    u8 bVersion;                            /* the next two are set: */
    u8 aVersionRaw[16];                     /* bytes 24..39 of page 1 as they stand in the main file */
    u8 aVersionPlain[16];                   /* and what they are in plaintext */
    McCodec *pNext;                         /* list of all codecs, for opening their journals */
};

static int mcCodecNew(Pager *pPager, McKey *pKey, McCodec **pp);
static void mcCodecFree(McCodec *p);
static int mcCodecBuffers(McCodec *p, int nPage);
static u8 *mcReadBuffer(McCodec *p);
static u8 *mcWriteBuffer(McCodec *p);
static int mcOpenPage(McCodec *p, McKey *pKey, Pgno pgno, u8 *aPage, int nPage);
static int mcSealPage(McCodec *p, McKey *pKey, Pgno pgno, const void *aPlain, int nPage, u8 **paOut);
static void mcForgetAhead(Pager *pPager);
static void mcSealAhead(Pager *pPager, PgHdr *pList);
static u8 *mcSealedAhead(McCodec *p, Pgno pgno, const void *aPlain);
static void mcClearReserved(const McKey *pKey, u8 *aPage, int nPage);
static McKey *mcMainReadKey(McCodec *p, Pgno pgno);
static int mcMainWriteKey(McCodec *p, Pgno pgno, McKey **ppKey);

/* ---- vfs.c */

#define MC_FILE_OTHER 0
#define MC_FILE_MAIN 1
#define MC_FILE_JOURNAL 2
#define MC_FILE_WAL 3
#define MC_FILE_TEMP 4

struct McFile {
    sqlite3_file base;
    sqlite3_file *pReal;
    struct McVfs *pVfs;
    u8 eKind;        /* MC_FILE_... */
    McCodec *pCodec; /* 0: plain */
    i64 iPgnoOff;    /* journal: offset of the last 4 bytes read or written, or -1 */
    u32 iPgno;       /* journal: their value */
    u8 bTempDb;      /* temporary file: it is a database */
    McTemp *pTemp;   /* temporary file: its blocks; 0: nothing has been written */
};

static int mcIsOurFile(sqlite3_file *pFile);
static int mcHeaderPageSize(const u8 *aPage1);
static int mcIsEncrypted(Pager *pPager);
static void mcExpectPage(Wal *pWal, Pgno pgno);
#ifdef SQLITE_ENABLE_SNAPSHOT
static int mcSamePage(Wal *pWal, u8 *aOne, u8 *aTwo, int nPage);
#endif
static McCodec *mcWalCodec(Wal *pWal);
static McFile *mcMainFile(Pager *pPager);
static McCodec *mcPagerCodec(Pager *pPager);
static void mcLink(McCodec *pCodec);
static void mcUnlink(McCodec *pCodec);

/* ---- temp.c */

static int mcTempRead(McFile *pFile, u8 *pOut, int nOut, i64 iOff);
static int mcTempWrite(McFile *pFile, const u8 *pIn, int nIn, i64 iOff);
static int mcTempTruncate(McFile *pFile, i64 nSize);
static int mcTempSync(McFile *pFile, int flags);
static i64 mcTempSize(const McFile *pFile);
static void mcTempFree(McTemp *p);

/* ---- recovery.c */

static int mcJournalMayPlayBack(Pager *pPager);
static void mcMarkJournal(const McCodec *p, u8 *aHeader);
static void mcPlaybackStarts(Pager *pPager);
static int mcWalMayCheckpoint(Wal *pWal, int nPage);
static const void *mcSealFrame(Wal *pWal, Pgno pgno, const void *pPlain, const void **ppSummed, int *pRc);

/* ---- attach.c */

int mcConnectionSetup(sqlite3 *db);
static int mcAttach(sqlite3 *db, sqlite3_value *pArg, char **pzErr);
static int mcSetKey(sqlite3 *db, int iDb, const u8 *aKey, int nKey, char **pzErr);
static int mcSetGeometry(Btree *pBt, int nPage, int nReserve);
static int mcInstallKey(Btree *pBt, McKey *pKey);
static int mcUsable(sqlite3 *db, int iDb, int bRekey, Btree **ppBt, char **pzErr);
static int mcIdle(sqlite3 *db, Btree *pBt, const char *zWhat, char **pzErr);
static int mcKeySalt(Btree *pBt, const u8 **paSalt);

/* ---- rekey.c */

static int mcRekey(sqlite3 *db, int iDb, const u8 *aKey, int nKey, char **pzErr);
static int mcVacuumReserve(Btree *pFrom, Btree *pTo, int nReserve);
static int mcCopyProgress(Btree *pTo, Pgno iPage, Pgno nPage);
static int mcInheritFrom(sqlite3 *db, int iDb);
static int mcKeepsPageSize(Btree *pBt);
static int mcFixedPageSize(Btree *pBt, int nPage);

/* ---- backup.c */

static int mcBackupCheck(sqlite3 *pDestDb, Btree *pDest, sqlite3 *pSrcDb, Btree *pSrc);

/* ---- pragma.c */

static int mcPragma(sqlite3 *db, int iDb, const char *zDb, char **azArg);
static int mcIsPragma(const char *zName);

/* ---- functions.c */

static void mcResultError(sqlite3_context *pCtx, char *zErr);
static void mcRegisterFunctions(void);

/* ---- value.c */

static const u8 *mcBytesOf(sqlite3_value *p, int *pn);
static void vleKeyFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg);
static void vleEncryptFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg);
static void vleDecryptFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg);

/* ---- verify.c */

static int mcRegisterVerify(sqlite3 *db);
static void identifyFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg);

/* ---- machine.c */

static char *mcCpuInfo(void);
static char *mcCompiledInfo(void);
static const char *mcAesInfo(void);
static const char *mcChacha20InUse(void);
static const char *mcAesInUse(void);
static int mcUseChacha20(const char *zName, char **pzErr);
static int mcUseAes(const char *zName, char **pzErr);
static void mcWrapMemory(void);
static void mcUnwrapMemory(void);
static int mcWipesMemory(void);
static void mcWipeMemory(sqlite3 *db, int bWipe);

/* ---- register.c */

static void mcForgetSchemes(void);

/* ---- api.c */

static int mcError(sqlite3 *db, int rc, char *zErr);
static u8 *mcCodecData(sqlite3 *db, const char *zDbName, const char *zParam, int *pn);

#endif
