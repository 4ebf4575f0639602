/*
** Looking at files without SQLite reading them: are all pages of a database under its key, and of which scheme
** is a file that a key belongs to?
**
** Pages are read from the real VFS under a lock that lets readers in and writers wait. Nothing is written, no
** page comes into the cache, and a damaged page 1 does not keep the others from being looked at.
*/
#include "codec.h"

/* Stop if an interrupt has been asked for, or the progress handler of the connection says so. */
static int isStopped(sqlite3 *db) {
    if (AtomicLoad(&db->u1.isInterrupted)) return 1;
    return db->xProgress && db->xProgress(db->pProgressArg);
}

/* ---- every page of a database */

typedef struct McVerify {
    sqlite3 *db;
    Btree *pBt;
    Pager *pPager;
    sqlite3_file *pReal;
    McKey *pKey; /* a copy; 0: plaintext */
    int nPage;   /* page size */
    u8 *aPage;
    u8 bLock;       /* the pager was locked for this */
    u8 bCheckpoint; /* checkpoints are locked out */
} McVerify;

/* What is done with each page; iFrame 0: of the main file. SQLITE_OK to go on. */
typedef int (*PageVisitor)(void *pArg, Pgno pgno, u32 iFrame, int eStatus, u32 iItem, u32 nItem);

static void verifyClose(McVerify *p) {
    if (p->aPage) secure_zero(p->aPage, (size_t)p->nPage);
    sqlite3_free(p->aPage);
    mcKeyFree(p->pKey);
    if (p->bCheckpoint) walUnlockExclusive(p->pPager->pWal, WAL_CKPT_LOCK, 1);
    if (p->bLock) pagerUnlockIfUnused(p->pPager);
    if (p->pBt) {
        sqlite3BtreeLeave(p->pBt);
    }
}

/* Hold off writers, and in WAL mode checkpoints, which write the main file beside readers. */
static int verifyLock(McVerify *p, char **pzErr) {
    int rc = SQLITE_OK;
    if (sqlite3BtreeTxnState(p->pBt) == SQLITE_TXN_WRITE) {
        *pzErr = sqlite3_mprintf("Verification is not possible inside a transaction that has written.");
        return SQLITE_ERROR;
    }
    if (sqlite3BtreeTxnState(p->pBt) == SQLITE_TXN_NONE) {
        rc = sqlite3PagerSharedLock(p->pPager);
        p->bLock = rc == SQLITE_OK;
        if (rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_RECOVERY) {
            *pzErr = sqlite3_mprintf("A transaction was cut off: the file must be opened for writing and read first.");
        }
    }
    if (rc == SQLITE_OK && p->pPager->pWal) {
        rc = walLockExclusive(p->pPager->pWal, WAL_CKPT_LOCK, 1);
        p->bCheckpoint = rc == SQLITE_OK;
        if (rc != SQLITE_BUSY) rc = SQLITE_OK; /* a WAL that can only be read has no such lock */
    }
    return rc;
}

/* A copy of the key, derived for the salt of the file. A wrong or damaged one is no error here. */
static int verifyKey(McVerify *p, const u8 *aHead) {
    McCodec *pCodec = mcPagerCodec(p->pPager);
    McKey *pKey = pCodec ? pCodec->pKey : 0;
    int rc = SQLITE_OK;
    if (pKey == 0) return SQLITE_OK;
    if (!pKey->bDerived) rc = mcKeyUseSalt(pKey, aHead);
    if (rc == SQLITE_NOTADB && pKey->bSalt) rc = keyDerive(pKey); /* another salt was given than the file has */
    if (rc != SQLITE_OK) return rc;
    p->pKey = mcKeyClone(pKey);
    if (p->pKey == 0) return SQLITE_NOMEM;
    p->pKey->bHmacCheck = 1;
    return SQLITE_OK;
}

/* Read a page into p->aPage and look at it. */
static int verifyPage(McVerify *p, sqlite3_file *pFile, i64 iOff, Pgno pgno, int *peStatus) {
    int rc = pFile->pMethods->xRead(pFile, p->aPage, p->nPage, iOff);
    *peStatus = SQLITE3MC_PAGE_BAD;
    if (rc == SQLITE_IOERR_SHORT_READ) {
        *peStatus = SQLITE3MC_PAGE_SHORT;
        return SQLITE_OK;
    }
    if (rc != SQLITE_OK) return rc;
    if (pgno > 1 && isZero(p->aPage, p->nPage)) {
        *peStatus = SQLITE3MC_PAGE_HOLE;
    } else if (p->pKey == 0) {
        int bGood = pgno > 1 || memcmp(p->aPage, mc_sqlite_magic, 16) == 0;
        *peStatus = pgno > 1 ? SQLITE3MC_PAGE_UNCHECKED : bGood ? SQLITE3MC_PAGE_OK : SQLITE3MC_PAGE_BAD;
    } else if (pgno > 1) {
        int eOpened = p->pKey->pScheme->xOpen(p->pKey->pState, pgno, p->aPage, (size_t)p->nPage, 1);
        if (eOpened == MC_SCHEME_OK)
            *peStatus = mcKeyAuthenticates(p->pKey) ? SQLITE3MC_PAGE_OK : SQLITE3MC_PAGE_UNCHECKED;
    } else {
        McKey *pKey = mcKeyClone(p->pKey); /* the salt of a damaged page 1 is not to be taken over */
        if (pKey == 0) return SQLITE_NOMEM;
        rc = mcOpenPage(0, pKey, 1, p->aPage, p->nPage);
        mcKeyFree(pKey);
        if (rc == SQLITE_OK) *peStatus = SQLITE3MC_PAGE_OK;
        if (rc == SQLITE_NOTADB) rc = SQLITE_OK;
    }
    return rc;
}

/* Find out the page size. A scheme that hides it and needs not know it may find it in page 1. */
static int verifyPageSize(McVerify *p, const u8 *aHead) {
    int eStatus, bHidden = 0, nStored = 0;
    int rc;
    p->nPage = (int)p->pPager->pageSize;
    if (p->pKey) {
        nStored = storedPageSize(p->pKey, aHead);
        (void)mcKeyPageSize(p->pKey, &bHidden);
    } else if (memcmp(aHead, mc_sqlite_magic, 16) == 0) {
        nStored = mcHeaderPageSize(aHead);
    }
    if (nStored) p->nPage = nStored;
    p->aPage = sqlite3_malloc(p->nPage);
    if (p->aPage == 0) return SQLITE_NOMEM;
    if (!bHidden || mcKeyAuthenticates(p->pKey)) return SQLITE_OK;
    rc = verifyPage(p, p->pReal, 0, 1, &eStatus);
    if (rc == SQLITE_OK && eStatus == SQLITE3MC_PAGE_OK) {
        int n = (p->aPage[16] << 8) | (p->aPage[17] << 16);
        u8 *a = 0;
        if (n == p->nPage || n < 512 || n > SQLITE_MAX_PAGE_SIZE || (n & (n - 1)) != 0) return SQLITE_OK;
        a = sqlite3_malloc(n);
        if (a == 0) return SQLITE_NOMEM;
        secure_zero(p->aPage, (size_t)p->nPage);
        sqlite3_free(p->aPage);
        p->aPage = a;
        p->nPage = n;
    }
    return rc;
}

static int verifyOpen(McVerify *p, sqlite3 *db, int iDb, u8 *aHead, char **pzErr) {
    McFile *pMain;
    int rc;
    memset(p, 0, sizeof(*p));
    p->db = db;
    rc = mcUsable(db, iDb, 0, &p->pBt, pzErr);
    if (rc != SQLITE_OK) {
        p->pBt = 0;
        sqlite3_free(*pzErr);
        *pzErr = sqlite3_mprintf("Verification needs a database file, opened with an encrypting VFS.");
        return rc;
    }
    p->pPager = sqlite3BtreePager(p->pBt);
    pMain = mcMainFile(p->pPager);
    p->pReal = pMain->pReal;
    sqlite3BtreeEnter(p->pBt);
    rc = verifyLock(p, pzErr);
    if (rc == SQLITE_OK) rc = p->pReal->pMethods->xRead(p->pReal, aHead, 100, 0);
    if (rc == SQLITE_IOERR_SHORT_READ) rc = SQLITE_OK; /* the rest is zero */
    if (rc == SQLITE_OK) rc = verifyKey(p, aHead);
    if (rc == SQLITE_OK) rc = verifyPageSize(p, aHead);
    return rc;
}

/* Look at every page of the main file, and at every frame of the WAL that counts, until dbCaller is interrupted.
** *pnBad: pages that are bad or short. */
static int verifyAll(sqlite3 *dbCaller, sqlite3 *db, int iDb, PageVisitor xVisit, void *pArg, i64 *pnBad, int *pbPage1,
                     char **pzErr) {
    McVerify v;
    u8 aHead[100];
    i64 nFile = 0;
    u32 nMain = 0, nFrame = 0;
    int rc;
    sqlite3_mutex_enter(db->mutex);
    rc = verifyOpen(&v, db, iDb, aHead, pzErr);
    *pnBad = 0;
    *pbPage1 = 1;
    if (rc == SQLITE_OK) rc = v.pReal->pMethods->xFileSize(v.pReal, &nFile);
    if (rc == SQLITE_OK) {
        Wal *pWal = v.pPager->pWal;
        nMain = (u32)((nFile + v.nPage - 1) / v.nPage);
        if (pWal && pWal->readLock != 0 && (int)pWal->szPage == v.nPage) nFrame = pWal->hdr.mxFrame;
    }
    for (u32 i = 1; rc == SQLITE_OK && i <= nMain + nFrame; i++) {
        u32 iFrame = i > nMain ? i - nMain : 0;
        Pgno pgno = i;
        int eStatus = SQLITE3MC_PAGE_LOCK;
        if (i % 64 == 0 && isStopped(dbCaller)) {
            rc = SQLITE_INTERRUPT;
            break;
        }
        if (iFrame) {
            sqlite3_file *pFile = v.pPager->pWal->pWalFd;
            i64 iOff = walFrameOffset(iFrame, v.nPage);
            u8 aPgno[4];
            if (mcIsOurFile(pFile)) pFile = ((McFile *)pFile)->pReal;
            rc = pFile->pMethods->xRead(pFile, aPgno, 4, iOff);
            pgno = sqlite3Get4byte(aPgno);
            if (rc == SQLITE_OK) rc = verifyPage(&v, pFile, iOff + WAL_FRAME_HDRSIZE, pgno, &eStatus);
            if (eStatus == SQLITE3MC_PAGE_HOLE) eStatus = SQLITE3MC_PAGE_BAD; /* no frame is a hole */
        } else if (pgno != (Pgno)(PENDING_BYTE / v.nPage) + 1) {
            rc = verifyPage(&v, v.pReal, (i64)(pgno - 1) * v.nPage, pgno, &eStatus);
        }
        if (rc != SQLITE_OK) break;
        if (eStatus == SQLITE3MC_PAGE_BAD || eStatus == SQLITE3MC_PAGE_SHORT) {
            ++*pnBad;
            if (pgno == 1) *pbPage1 = 0;
        }
        rc = xVisit(pArg, pgno, iFrame, eStatus, i, nMain + nFrame);
    }
    verifyClose(&v);
    sqlite3_mutex_leave(db->mutex);
    return rc;
}

typedef struct PublicVisitor {
    int (*xPage)(void *, unsigned, unsigned, int, unsigned, unsigned);
    void *pArg;
} PublicVisitor;

static int visitPublic(void *pArg, Pgno pgno, u32 iFrame, int eStatus, u32 iItem, u32 nItem) {
    PublicVisitor *p = pArg;
    return p->xPage && p->xPage(p->pArg, pgno, iFrame, eStatus, iItem, nItem) ? SQLITE_INTERRUPT : SQLITE_OK;
}

/* The schema of a public call, with the mutex of the connection held; -1 with an error left in it. */
static int enterSchema(sqlite3 *db, const char *zDbName) {
    int iDb;
    sqlite3_mutex_enter(db->mutex);
    if (db->nVdbeActive == 0) AtomicStore(&db->u1.isInterrupted, 0); /* as SQLite does when a statement begins */
    iDb = zDbName ? sqlite3FindDbName(db, zDbName) : 0;
    if (iDb < 0) (void)mcError(db, SQLITE_ERROR, sqlite3_mprintf("unknown database %s", zDbName));
    return iDb;
}

int sqlite3mc_verify(sqlite3 *db, const char *zDbName,
                     int (*xPage)(void *pArg, unsigned pgno, unsigned iFrame, int eStatus, unsigned iItem,
                                  unsigned nItem),
                     void *pArg, sqlite3_int64 *pnBad) {
    PublicVisitor visitor = {xPage, pArg};
    char *zErr = 0;
    i64 nBad = 0;
    int iDb, bPage1, rc = SQLITE_ERROR;
    if (!sqlite3SafetyCheckOk(db)) return SQLITE_MISUSE_BKPT;
    iDb = enterSchema(db, zDbName);
    if (iDb >= 0) {
        rc = verifyAll(db, db, iDb, visitPublic, &visitor, &nBad, &bPage1, &zErr);
        if (rc == SQLITE_OK && nBad > 0) rc = bPage1 ? SQLITE_CORRUPT : SQLITE_NOTADB;
        rc = mcError(db, rc, zErr);
    }
    if (pnBad) *pnBad = nBad;
    sqlite3_mutex_leave(db->mutex);
    return rc;
}

/* ---- other files, for SQL */

/* Open the file as ATTACH would, but for reading and in a connection of its own, with the settings of this one,
** those of its URI, and the key (0: that of the URI, or none). To be closed even after an error. */
static int openOther(sqlite3 *db, const char *zFile, const u8 *aKey, int nKey, sqlite3 **ppOther, char **pzErr) {
    McSettings *pMine, *pOther;
    int rc;
    *ppOther = 0;
    if (db->xAuth && db->xAuth(db->pAuthArg, SQLITE_ATTACH, zFile, 0, 0, 0) != SQLITE_OK) {
        *pzErr = sqlite3_mprintf("not authorized");
        return SQLITE_AUTH;
    }
    rc = sqlite3_open_v2(zFile, ppOther, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, db->pVfs->zName);
    if (rc == SQLITE_OK) {
        (void)sqlite3_db_config(*ppOther, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
        pMine = mcSettings(db);
        pOther = mcSettings(*ppOther);
        if (pMine == 0 || pOther == 0) return SQLITE_NOMEM;
        if (aKey) {
            for (int id = 1; id <= MIN(pMine->nScheme, pOther->nScheme); id++) {
                size_t n = sizeof(McValue) * (size_t)mc_scheme_by_id(id)->nParam;
                memcpy(pOther->aParam[id - 1], pMine->aParam[id - 1], n);
            }
            pOther->scheme = pMine->scheme;
            memcpy(pOther->aSalt, pMine->aSalt, MC_SALT_SIZE);
            pOther->bSalt = pMine->bSalt;
            rc = mcSettingsFromUri(pOther, sqlite3BtreeGetFilename((*ppOther)->aDb[0].pBt), MC_TEMP, pzErr);
            if (rc == SQLITE_OK) rc = sqlite3_key(*ppOther, aKey, nKey);
            if (rc == SQLITE_NOTADB) rc = SQLITE_OK; /* it begins like a plain database; that will show */
        }
    }
    if (rc != SQLITE_OK && *pzErr == 0) {
        *pzErr = sqlite3_mprintf("%s", *ppOther ? sqlite3_errmsg(*ppOther) : sqlite3_errstr(rc));
    }
    return rc;
}

/* ---- SELECT page, frame, status FROM sqlite3mc_verify([file or schema [, key]]) */

enum { COLUMN_PAGE, COLUMN_FRAME, COLUMN_STATUS, COLUMN_FILE, COLUMN_KEY };

/* Pages of the same kind that follow each other. */
typedef struct Run {
    Pgno pgno;
    u32 iFrame;
    u32 n;
    int eStatus;
} Run;

typedef struct VerifyTable {
    sqlite3_vtab base;
    sqlite3 *db;
} VerifyTable;

typedef struct VerifyCursor {
    sqlite3_vtab_cursor base;
    Run *aRun;
    int nRun, nAlloc;
    int iRun;
    u32 iInRun;
    i64 iRow;
} VerifyCursor;

static int verifyConnect(sqlite3 *db, void *pAux, int nArg, const char *const *azArg, sqlite3_vtab **pp, char **pzErr) {
    VerifyTable *p;
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(page INTEGER, frame INTEGER, status TEXT, file TEXT HIDDEN, key HIDDEN)");
    (void)pAux;
    (void)nArg;
    (void)azArg;
    (void)pzErr;
    if (rc != SQLITE_OK) return rc;
    p = sqlite3_malloc(sizeof(*p));
    if (p == 0) return SQLITE_NOMEM;
    memset(p, 0, sizeof(*p));
    p->db = db;
    *pp = &p->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

static int verifyDisconnect(sqlite3_vtab *p) {
    sqlite3_free(p);
    return SQLITE_OK;
}

/* idxNum: bit 0: the file is given; bit 1: the key. */
static int verifyBestIndex(sqlite3_vtab *pTab, sqlite3_index_info *p) {
    int aArg[2] = {-1, -1};
    int nArg = 0;
    (void)pTab;
    for (int i = 0; i < p->nConstraint; i++) {
        int iArg = p->aConstraint[i].iColumn - COLUMN_FILE;
        if (iArg < 0 || iArg > 1 || p->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!p->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        aArg[iArg] = i;
    }
    p->idxNum = 0;
    for (int iArg = 0; iArg < 2; iArg++) {
        if (aArg[iArg] < 0) continue;
        p->aConstraintUsage[aArg[iArg]].argvIndex = ++nArg;
        p->aConstraintUsage[aArg[iArg]].omit = 1;
        p->idxNum |= 1 << iArg;
    }
    p->estimatedCost = 1000000;
    p->estimatedRows = 10000;
    return SQLITE_OK;
}

static int verifyOpenCursor(sqlite3_vtab *pTab, sqlite3_vtab_cursor **pp) {
    VerifyCursor *p = sqlite3_malloc(sizeof(*p));
    (void)pTab;
    if (p == 0) return SQLITE_NOMEM;
    memset(p, 0, sizeof(*p));
    *pp = &p->base;
    return SQLITE_OK;
}

static int verifyCloseCursor(sqlite3_vtab_cursor *pCur) {
    sqlite3_free(((VerifyCursor *)pCur)->aRun);
    sqlite3_free(pCur);
    return SQLITE_OK;
}

static int visitRun(void *pArg, Pgno pgno, u32 iFrame, int eStatus, u32 iItem, u32 nItem) {
    VerifyCursor *p = pArg;
    Run *pLast = p->nRun ? &p->aRun[p->nRun - 1] : 0;
    (void)iItem;
    (void)nItem;
    if (pLast && iFrame == 0 && pLast->iFrame == 0 && pLast->eStatus == eStatus && pgno == pLast->pgno + pLast->n) {
        pLast->n++;
        return SQLITE_OK;
    }
    if (p->nRun == p->nAlloc) {
        int nNew = p->nAlloc ? 2 * p->nAlloc : 16;
        Run *aNew = sqlite3_realloc64(p->aRun, sizeof(Run) * (u64)nNew);
        if (aNew == 0) return SQLITE_NOMEM;
        p->aRun = aNew;
        p->nAlloc = nNew;
    }
    pLast = &p->aRun[p->nRun++];
    pLast->pgno = pgno;
    pLast->iFrame = iFrame;
    pLast->eStatus = eStatus;
    pLast->n = 1;
    return SQLITE_OK;
}

static int verifyFilter(sqlite3_vtab_cursor *pCur, int idxNum, const char *idxStr, int nArg, sqlite3_value **apArg) {
    VerifyCursor *p = (VerifyCursor *)pCur;
    sqlite3 *db = ((VerifyTable *)pCur->pVtab)->db;
    sqlite3 *pOther = 0;
    const char *zFile = idxNum & 1 ? (const char *)sqlite3_value_text(apArg[0]) : "main";
    sqlite3_value *pKey = idxNum & 2 ? apArg[nArg - 1] : 0;
    const u8 *aKey = 0;
    int nKey = 0, iDb, bPage1;
    char *zErr = 0;
    i64 nBad;
    int rc = SQLITE_OK;
    (void)idxStr;
    p->nRun = p->iRun = 0;
    p->iInRun = 0;
    p->iRow = 1;
    if (zFile == 0) return SQLITE_OK; /* of NULL: no rows */
    if (pKey && sqlite3_value_type(pKey) != SQLITE_NULL && (aKey = mcBytesOf(pKey, &nKey)) == 0) {
        zErr = sqlite3_mprintf("Invalid key value");
        rc = SQLITE_ERROR;
    }
    iDb = aKey ? -1 : sqlite3FindDbName(db, zFile);
    if (rc == SQLITE_OK && iDb < 0) rc = openOther(db, zFile, aKey, nKey, &pOther, &zErr);
    if (rc == SQLITE_OK) rc = verifyAll(db, pOther ? pOther : db, MAX(iDb, 0), visitRun, p, &nBad, &bPage1, &zErr);
    sqlite3_close(pOther);
    if (rc != SQLITE_OK && zErr) {
        sqlite3_free(pCur->pVtab->zErrMsg);
        pCur->pVtab->zErrMsg = zErr;
    }
    return rc;
}

static int verifyNext(sqlite3_vtab_cursor *pCur) {
    VerifyCursor *p = (VerifyCursor *)pCur;
    p->iRow++;
    if (++p->iInRun == p->aRun[p->iRun].n) {
        p->iRun++;
        p->iInRun = 0;
    }
    return SQLITE_OK;
}

static int verifyEof(sqlite3_vtab_cursor *pCur) {
    return ((VerifyCursor *)pCur)->iRun >= ((VerifyCursor *)pCur)->nRun;
}

static int verifyColumn(sqlite3_vtab_cursor *pCur, sqlite3_context *pCtx, int iColumn) {
    static const char *const azStatus[] = {"ok", "bad", "unchecked", "hole", "lock", "short"};
    VerifyCursor *p = (VerifyCursor *)pCur;
    const Run *pRun = &p->aRun[p->iRun];
    if (iColumn == COLUMN_PAGE) sqlite3_result_int64(pCtx, (i64)pRun->pgno + p->iInRun);
    if (iColumn == COLUMN_FRAME && pRun->iFrame) sqlite3_result_int64(pCtx, pRun->iFrame);
    if (iColumn == COLUMN_STATUS) sqlite3_result_text(pCtx, azStatus[pRun->eStatus], -1, SQLITE_STATIC);
    return SQLITE_OK;
}

static int verifyRowid(sqlite3_vtab_cursor *pCur, sqlite3_int64 *piRow) {
    *piRow = ((VerifyCursor *)pCur)->iRow;
    return SQLITE_OK;
}

/* Called for each new connection. */
static int mcRegisterVerify(sqlite3 *db) {
    static const sqlite3_module module = {
        .xConnect = verifyConnect,
        .xBestIndex = verifyBestIndex,
        .xDisconnect = verifyDisconnect,
        .xOpen = verifyOpenCursor,
        .xClose = verifyCloseCursor,
        .xFilter = verifyFilter,
        .xNext = verifyNext,
        .xEof = verifyEof,
        .xColumn = verifyColumn,
        .xRowid = verifyRowid,
    };
    return sqlite3_create_module(db, "sqlite3mc_verify", &module, 0);
}

/* ---- of which scheme is a file? */

/* What is tried, in this order among those that look alike: cheap derivations first, what is rare last. */
typedef struct Candidate {
    const char *zScheme;
    const char *zQuery;  /* parameters that are not the default */
    int nLikelyPageSize; /* the page size must be guessed, and is probably this; 0: the file tells it */
} Candidate;

static const Candidate mcCandidates[] = {
    {"aes256cbc", "", 0},
    {"aes128cbc", "", 0},
    {"aes256cbc", "legacy=1", 0},
    {"aes128cbc", "legacy=1", 0},
    {"rc4", "", 0},
    {"sqlcipher", "legacy=2", 1024},
    {"sqlcipher", "legacy=1", 1024},
    {"chacha20", "legacy=1", 4096},
    {"chacha20", "", 0},
    {"ascon128", "", 0},
    {"aegis", "", 0},
    {"aegis", "algorithm=aegis-256x2", 0},
    {"aegis", "algorithm=aegis-256x4", 0},
    {"aegis", "algorithm=aegis-128l", 0},
    {"aegis", "algorithm=aegis-128x2", 0},
    {"aegis", "algorithm=aegis-128x4", 0},
    {"sqlcipher", "legacy=3", 1024},
    {"sqlcipher", "", 0},
    {"sqlcipher", "legacy=4", 4096},
    /* a plaintext header; the salt must come with the key or by cipher_salt */
    {"chacha20", "plaintext_header_size=32", 0},
    {"ascon128", "plaintext_header_size=32", 0},
    {"aegis", "plaintext_header_size=32", 0},
    {"sqlcipher", "legacy=4&plaintext_header_size=32", 4096},
    {"sqlcipher", "plaintext_header_size=32", 0},
    {"sqlcipher", "legacy=4&plaintext_header_size=16", 4096},
    {"chacha20", "plaintext_header_size=24", 0},
    {"chacha20", "plaintext_header_size=64", 0},
    {"chacha20", "plaintext_header_size=100", 0},
    {"ascon128", "plaintext_header_size=24", 0},
    {"ascon128", "plaintext_header_size=64", 0},
    {"ascon128", "plaintext_header_size=100", 0},
    {"aegis", "plaintext_header_size=24", 0},
    {"aegis", "plaintext_header_size=64", 0},
    {"aegis", "plaintext_header_size=100", 0},
    {"sqlcipher", "legacy=4&plaintext_header_size=64", 4096},
    {"sqlcipher", "legacy=4&plaintext_header_size=96", 4096},
    /* other algorithms than the version has */
    {"sqlcipher", "legacy=4&kdf_algorithm=1&hmac_algorithm=1", 4096},
    {"sqlcipher", "legacy=4&kdf_algorithm=0&hmac_algorithm=0", 4096},
    {"sqlcipher", "legacy=4&hmac_use=0", 4096},
    {"sqlcipher", "kdf_algorithm=1&hmac_algorithm=1", 0},
    {"sqlcipher", "kdf_algorithm=0&hmac_algorithm=0", 0},
    {"sqlcipher", "hmac_use=0", 0},
    {"sqlcipher", "hmac_algorithm=1", 0},
    {"sqlcipher", "hmac_algorithm=1&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "hmac_algorithm=0", 0},
    {"sqlcipher", "hmac_algorithm=0&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "kdf_algorithm=1&hmac_algorithm=0", 0},
    {"sqlcipher", "kdf_algorithm=1&hmac_algorithm=0&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "kdf_algorithm=1", 0},
    {"sqlcipher", "kdf_algorithm=1&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "kdf_algorithm=0&hmac_algorithm=1", 0},
    {"sqlcipher", "kdf_algorithm=0&hmac_algorithm=1&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "kdf_algorithm=0", 0},
    {"sqlcipher", "kdf_algorithm=0&hmac_algorithm_compat=0", 0},
    {"sqlcipher", "hmac_pgno=2", 0},
    {"sqlcipher", "legacy=4&hmac_algorithm=1", 4096},
    {"sqlcipher", "legacy=4&hmac_algorithm=0", 4096},
};

typedef struct McIdentify {
    sqlite3 *db; /* whose interrupt and progress handler count */
    const u8 *aKey;
    int nKey;
    const u8 *aSalt; /* 0: none was given */
    i64 nFile;
    int nRead; /* bytes at the beginning of the file */
    u8 *aRead;
    u8 *aPage;   /* as much again */
    u8 bMagic;   /* it begins like a plain database */
    u8 bHeader;  /* bytes 16..23 are those of a database */
    int nStored; /* the page size that they tell */
    int (*xProgress)(void *, int, int);
    void *pArg;
} McIdentify;

/* Do bytes 16..23 stand in a database with pages of this size (0: of some size)? */
static int isHeader(const u8 *a, int nPage) {
    int n = (a[16] << 8) | (a[17] << 16);
    if (n < 512 || n > SQLITE_MAX_PAGE_SIZE || (n & (n - 1)) != 0 || (nPage && n != nPage)) return 0;
    return (a[18] == 1 || a[18] == 2) && (a[19] == 1 || a[19] == 2) && a[21] == 64 && a[22] == 32 && a[23] == 32;
}

/* Is it page 1 of a database, all that a scheme without tags can tell? */
static int isPage1(const u8 *a) {
    return memcmp(a, mc_sqlite_magic, 16) == 0 && isHeader(a, 0) && (a[100] == 13 || a[100] == 5) && a[44] == 0 &&
           a[45] == 0 && a[46] == 0 && a[47] <= 4 && isZero(a + 72, 20);
}

/* The parameters that a query sets. */
static const McScheme *candidateValues(const Candidate *p, int *aValue) {
    const McScheme *pScheme = mc_scheme_by_name(p->zScheme);
    const char *z = p->zQuery;
    for (int i = 0; i < pScheme->nParam; i++) aValue[i] = pScheme->aParam[i].iDefault;
    while (*z) {
        const char *zEnd = z + strcspn(z, "&");
        const char *zEqual = z + strcspn(z, "=");
        char zName[32], zValue[32];
        const McImplied *aImplied;
        char *zErr = 0;
        int i, v = 0, n = 0;
        sqlite3_snprintf(sizeof(zName), zName, "%.*s", (int)(zEqual - z), z);
        sqlite3_snprintf(sizeof(zValue), zValue, "%.*s", (int)(zEnd - zEqual - 1), zEqual + 1);
        i = mc_scheme_param(pScheme, zName);
        if (mcParseValue(&pScheme->aParam[i], zName, zValue, &v, &zErr) != SQLITE_OK) sqlite3_free(zErr);
        aValue[i] = v;
        aImplied = pScheme->xImplies ? pScheme->xImplies(i, v, &n) : 0;
        for (int k = 0; k < n; k++) aValue[aImplied[k].iParam] = aImplied[k].iValue;
        z = *zEnd ? zEnd + 1 : zEnd;
    }
    return pScheme;
}

/* Does the file open like this? SQLITE_OK, SQLITE_NOTADB, or an error. *pnPage: the page size it was tried with,
** afterwards that of the database. */
static int tryCandidate(McIdentify *p, const McScheme *pScheme, const int *aValue, int *pnPage) {
    McKey *pKey = 0;
    char *zErr = 0;
    int rc = mcKeyMake(pScheme, aValue, p->aKey, p->nKey, p->aSalt, &pKey, &zErr);
    sqlite3_free(zErr);
    if (rc == SQLITE_OK) {
        memcpy(p->aPage, p->aRead, (size_t)*pnPage);
        rc = mcOpenPage(0, pKey, 1, p->aPage, *pnPage);
        if (rc == SQLITE_OK && !isPage1(p->aPage)) rc = SQLITE_NOTADB;
        if (rc == SQLITE_OK) *pnPage = (p->aPage[16] << 8) | (p->aPage[17] << 16);
        secure_zero(p->aPage, (size_t)p->nRead);
        mcKeyFree(pKey);
    }
    return rc == SQLITE_ERROR ? SQLITE_NOTADB : rc; /* a raw key of another length, for example */
}

/* 0: not at all; else the round in which the candidate is tried: 1 where all fits, 2 where the file reserves more
** than is needed, 3 where its header is encrypted. */
static int roundOf(const McIdentify *p, const McScheme *pScheme, const int *aValue) {
    int bHidden = 0;
    int bPlainHeader = pScheme->xPlaintextHeader(aValue) > 0;
    int nReserved = pScheme->xReserved(aValue);
    (void)pScheme->xPageSize(aValue, &bHidden);
    if (bPlainHeader != p->bMagic) return 0;
    /* A salt must be known. */
    if (bPlainHeader && p->aSalt == 0) {
        u8 aSalt[MC_SALT_SIZE];
        if (mc_raw_key(p->aKey, (size_t)p->nKey, 0, pScheme->xKeySize(aValue), aSalt) != MC_RAW_KEY_SALT) return 0;
    }
    if (bHidden && pScheme->xPlaintextHeader(aValue) < 24) return 3;
    if (!p->bHeader || p->aRead[20] < nReserved) return 0;
    return p->aRead[20] == nReserved ? 1 : 2;
}

/* The i-th thing to try: the table, then the schemes of the program with their defaults. 0: no more. */
static const Candidate *candidateAt(int i, Candidate *pBuf) {
    const McScheme *pScheme;
    if (i < ArraySize(mcCandidates)) return &mcCandidates[i];
    i -= ArraySize(mcCandidates);
    for (int id = 1; (pScheme = mc_scheme_by_id(id)) != 0; id++) {
        int k = 0;
        while (k < ArraySize(mcCandidates) && !mc_same_name(mcCandidates[k].zScheme, pScheme->zName)) k++;
        if (k < ArraySize(mcCandidates) || i-- > 0) continue;
        pBuf->zScheme = pScheme->zName;
        pBuf->zQuery = "";
        pBuf->nLikelyPageSize = 0;
        return pBuf;
    }
    return 0;
}

/* Go through everything there is to try. xTry gets a candidate and the page size; SQLITE_NOTADB from it: go on. */
typedef int (*CandidateVisitor)(McIdentify *, const Candidate *, const McScheme *, const int *aValue, int nPage,
                                void *);

/* One of them, in every page size that it can have. */
static int walkPageSizes(McIdentify *p, const Candidate *pCand, int iRound, const McScheme *pScheme, const int *aValue,
                         CandidateVisitor xTry, void *pArg) {
    int nLikely = iRound == 3 ? pCand->nLikelyPageSize : 0;
    /* Where the header is encrypted, and the scheme has no tags, the first bytes will do. */
    int nPage = nLikely ? nLikely : iRound == 3 ? 512 : p->nStored;
    int rc = nPage <= p->nRead ? xTry(p, pCand, pScheme, aValue, nPage, pArg) : SQLITE_NOTADB;
    for (nPage = 512; nLikely && nPage <= p->nRead && rc == SQLITE_NOTADB; nPage *= 2) {
        if (nPage != nLikely) rc = xTry(p, pCand, pScheme, aValue, nPage, pArg);
    }
    return rc;
}

static int walkCandidates(McIdentify *p, CandidateVisitor xTry, void *pArg) {
    int rc = SQLITE_NOTADB;
    for (int iRound = 1; iRound <= 3; iRound++) {
        const Candidate *pCand;
        Candidate buf;
        for (int i = 0; rc == SQLITE_NOTADB && (pCand = candidateAt(i, &buf)) != 0; i++) {
            int aValue[MC_MAX_PARAM];
            const McScheme *pScheme = candidateValues(pCand, aValue);
            if (roundOf(p, pScheme, aValue) == iRound) {
                rc = walkPageSizes(p, pCand, iRound, pScheme, aValue, xTry, pArg);
            }
        }
    }
    return rc;
}

static int countCandidate(McIdentify *p, const Candidate *pCand, const McScheme *pScheme, const int *aValue, int nPage,
                          void *pArg) {
    (void)p;
    (void)pCand;
    (void)pScheme;
    (void)aValue;
    (void)nPage;
    ++*(int *)pArg;
    return SQLITE_NOTADB;
}

typedef struct Attempt {
    int iDone, nTotal;
    char *zFound;
} Attempt;

static int attempt(McIdentify *p, const Candidate *pCand, const McScheme *pScheme, const int *aValue, int nPage,
                   void *pArg) {
    Attempt *pAttempt = pArg;
    int bHidden, iParam;
    int aTry[MC_MAX_PARAM];
    int rc;
    if (isStopped(p->db) || (p->xProgress && p->xProgress(p->pArg, pAttempt->iDone, pAttempt->nTotal))) {
        return SQLITE_INTERRUPT;
    }
    pAttempt->iDone++;
    memcpy(aTry, aValue, sizeof(aTry[0]) * (size_t)pScheme->nParam);
    iParam = mc_scheme_param(pScheme, "legacy_page_size");
    (void)pScheme->xPageSize(aValue, &bHidden);
    if (bHidden && iParam >= 0 && pCand->nLikelyPageSize) aTry[iParam] = nPage;
    rc = tryCandidate(p, pScheme, aTry, &nPage);
    if (rc == SQLITE_OK) {
        pAttempt->zFound = sqlite3_mprintf("cipher=%s%s%s", pScheme->zName, pCand->zQuery[0] ? "&" : "", pCand->zQuery);
        if (pAttempt->zFound && bHidden && iParam >= 0) {
            pAttempt->zFound = sqlite3_mprintf("%z&legacy_page_size=%d", pAttempt->zFound, nPage);
        }
        if (pAttempt->zFound == 0) rc = SQLITE_NOMEM;
    }
    return rc;
}

/* Read the beginning of the file under a lock that keeps writers out. */
static int readBeginning(Pager *pPager, McIdentify *p) {
    sqlite3_file *pReal = mcMainFile(pPager)->pReal;
    int bLock = pPager->eLock == NO_LOCK;
    int rc = bLock ? pagerLockDb(pPager, SHARED_LOCK) : SQLITE_OK;
    if (rc != SQLITE_OK) return rc;
    rc = pReal->pMethods->xFileSize(pReal, &p->nFile);
    p->nRead = (int)MIN(p->nFile, SQLITE_MAX_PAGE_SIZE);
    if (rc == SQLITE_OK && p->nRead >= 512) {
        p->aRead = sqlite3_malloc(2 * p->nRead);
        rc = p->aRead ? pReal->pMethods->xRead(pReal, p->aRead, p->nRead, 0) : SQLITE_NOMEM;
        p->aPage = p->aRead ? p->aRead + p->nRead : 0;
    }
    if (bLock) pagerUnlockDb(pPager, NO_LOCK);
    return rc;
}

/* Find out how the file of a schema opens with the key. *pzFound: as for sqlite3mc_identify(). */
static int identify(McIdentify *p, sqlite3 *db, int iDb, char **pzFound, char **pzErr) {
    Attempt tries = {0, 0, 0};
    Btree *pBt;
    int rc;
    sqlite3_mutex_enter(db->mutex);
    rc = mcUsable(db, iDb, 0, &pBt, pzErr);
    if (rc == SQLITE_OK) {
        sqlite3BtreeEnter(pBt);
        rc = readBeginning(sqlite3BtreePager(pBt), p);
        sqlite3BtreeLeave(pBt);
    } else {
        sqlite3_free(*pzErr);
        *pzErr = sqlite3_mprintf("There is no database file, opened with an encrypting VFS.");
    }
    sqlite3_mutex_leave(db->mutex);
    if (rc == SQLITE_OK && p->aRead == 0) rc = SQLITE_NOTADB;
    if (rc == SQLITE_OK) {
        p->bMagic = memcmp(p->aRead, mc_sqlite_magic, 16) == 0;
        p->bHeader = (u8)isHeader(p->aRead, 0);
        p->nStored = p->bHeader ? (p->aRead[16] << 8) | (p->aRead[17] << 16) : 0;
        if (isPage1(p->aRead)) {
            tries.zFound = sqlite3_mprintf("plain");
            if (tries.zFound == 0) rc = SQLITE_NOMEM;
        } else if (p->nKey == 0) {
            rc = SQLITE_NOTADB;
        } else {
            (void)walkCandidates(p, countCandidate, &tries.nTotal);
            rc = walkCandidates(p, attempt, &tries);
        }
    }
    if (p->aRead) secure_zero(p->aRead, 2 * (size_t)p->nRead);
    sqlite3_free(p->aRead);
    *pzFound = tries.zFound;
    return rc;
}

int sqlite3mc_identify(sqlite3 *db, const char *zDbName, const void *pKey, int nKey,
                       int (*xProgress)(void *pArg, int iDone, int nTotal), void *pArg, char **pzFound) {
    McIdentify context;
    McSettings *pSet;
    char *zErr = 0;
    int iDb, rc = SQLITE_ERROR;
    if (pzFound) *pzFound = 0;
    if (!sqlite3SafetyCheckOk(db) || pzFound == 0) return SQLITE_MISUSE_BKPT;
    iDb = enterSchema(db, zDbName);
    if (iDb >= 0) {
        memset(&context, 0, sizeof(context));
        context.db = db;
        context.aKey = pKey;
        context.nKey = pKey == 0 ? 0 : nKey < 0 ? sqlite3Strlen30(pKey) : nKey;
        context.xProgress = xProgress;
        context.pArg = pArg;
        pSet = mcSettings(db);
        if (pSet && pSet->bSalt) context.aSalt = pSet->aSalt;
        rc = pSet ? identify(&context, db, iDb, pzFound, &zErr) : SQLITE_NOMEM;
        rc = mcError(db, rc, zErr);
    }
    sqlite3_mutex_leave(db->mutex);
    return rc;
}

/* sqlite3mc_identify(file or schema, key): text, or NULL if nothing fits */
static void identifyFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    sqlite3 *db = sqlite3_context_db_handle(pCtx);
    sqlite3 *pOther = 0;
    const char *zFile = (const char *)sqlite3_value_text(apArg[0]);
    McSettings *pSet = mcSettings(db);
    McIdentify context;
    char *zFound = 0;
    char *zErr = 0;
    int iDb, rc = SQLITE_OK;
    (void)nArg;
    if (zFile == 0) return;
    memset(&context, 0, sizeof(context));
    context.db = db;
    context.aKey = mcBytesOf(apArg[1], &context.nKey);
    if (pSet && pSet->bSalt) context.aSalt = pSet->aSalt;
    if (pSet == 0) rc = SQLITE_NOMEM;
    iDb = sqlite3FindDbName(db, zFile);
    if (rc == SQLITE_OK && context.aKey == 0 && sqlite3_value_type(apArg[1]) != SQLITE_NULL) {
        zErr = sqlite3_mprintf("Invalid key value");
        rc = SQLITE_ERROR;
    }
    if (rc == SQLITE_OK && iDb < 0) rc = openOther(db, zFile, 0, 0, &pOther, &zErr);
    if (rc == SQLITE_OK) rc = identify(&context, pOther ? pOther : db, MAX(iDb, 0), &zFound, &zErr);
    sqlite3_close(pOther);
    if (rc == SQLITE_OK) {
        sqlite3_result_text(pCtx, zFound, -1, sqlite3_free);
    } else if (rc != SQLITE_NOTADB) {
        if (zErr) sqlite3_result_error(pCtx, zErr, -1);
        sqlite3_result_error_code(pCtx, rc);
    }
    sqlite3_free(zErr);
}
