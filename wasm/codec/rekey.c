/*
** Rekey: rewrite every page of a database under another key, in one exclusive transaction of the
** rollback journal. The journal holds the old pages under the old key (in plaintext, if there was
** none), so that a rekey that was cut off is taken back by the old key, and by it alone.
**
** If the reserved bytes stay as they are, each page is written anew where it is. If they change, all
** cells move: VACUUM builds the database in a temporary one and copies that back.
*/
#include "codec.h"

/* For VACUUM: the reserved bytes to build with. What a rekey asks for; in the target of VACUUM INTO, if it
** is encrypted and the source does not need as many, what its key needs; else those of the source. */
static int mcVacuumReserve(Btree *pFrom, Btree *pTo, int nReserve) {
    McCodec *p = mcPagerCodec(sqlite3BtreePager(pFrom));
    McCodec *pInto = mcPagerCodec(sqlite3BtreePager(pTo));
    int nNeed = pInto ? mcKeyReserved(pInto->pKey) : 0;
    if (p && p->eRekey == MC_REKEY_FORWARD) return p->nNewReserve;
    return pInto && nNeed != (p ? mcKeyReserved(p->pKey) : -1) ? nNeed : nReserve;
}

/* For VACUUM: pages of another size cannot be copied over sealed ones. */
static int mcKeepsPageSize(Btree *pBt) {
    return mcPagerCodec(sqlite3BtreePager(pBt)) != 0;
}

/* Called before the page size is set: where page 1 hides it, it is the one that the key was made for. */
static int mcFixedPageSize(Btree *pBt, int nPage) {
    McCodec *p = mcPagerCodec(sqlite3BtreePager(pBt));
    int bHidden = 0;
    int nFixed = p && p->pKey && !p->bLeaving ? mcKeyPageSize(p->pKey, &bHidden) : 0;
    return bHidden && nFixed ? nFixed : nPage;
}

/* ---- progress: each page counts once, or twice if the database is built anew and copied back */

#define MC_PROGRESS_PAGES 64

/* Called for each page that VACUUM copies back. */
static int mcCopyProgress(Btree *pTo, Pgno iPage, Pgno nPage) {
    McCodec *p = iPage % MC_PROGRESS_PAGES == 1 ? mcPagerCodec(sqlite3BtreePager(pTo)) : 0;
    if (p == 0 || p->eRekey != MC_REKEY_FORWARD) return SQLITE_OK;
    return mcProgress(pTo->db, p->nOldPage + (i64)p->nOldPage * (iPage - 1) / nPage, 2 * (i64)p->nOldPage);
}

/* VACUUM reports by SQLite's progress handler while it builds; that of the user goes on to be called. */
typedef struct BuildProgress {
    sqlite3 *db;
    int iBuilt; /* index that the database being built will have */
    Pgno nPage;
    int (*xUser)(void *);
    void *pUser;
    unsigned nUserOps;
    unsigned nOps; /* since the last call of xUser */
} BuildProgress;

#define MC_PROGRESS_OPS 200u

static int buildProgress(void *pArg) {
    BuildProgress *p = pArg;
    Btree *pBuilt = p->db->nDb > p->iBuilt ? p->db->aDb[p->iBuilt].pBt : 0;
    Pgno nDone = pBuilt ? MIN(sqlite3BtreeLastPage(pBuilt), p->nPage) : 0;
    p->nOps += p->db->nProgressOps;
    if (p->xUser && p->nOps >= p->nUserOps) {
        p->nOps = 0;
        if (p->xUser(p->pUser)) return 1;
    }
    return mcProgress(p->db, nDone, 2 * (i64)p->nPage) != SQLITE_OK;
}

/* Note the leaves of the free list: nobody reads them, and some may never have been written. */
static int noteFreeLeaves(Btree *pBt, Bitvec *pLeaf) {
    Pager *pPager = sqlite3BtreePager(pBt);
    Pgno nPage = sqlite3BtreeLastPage(pBt);
    u32 nMax = pBt->pBt->usableSize / 4 - 2;
    Pgno iTrunk = sqlite3Get4byte(sqlite3PagerGetData(pBt->pBt->pPage1->pDbPage) + 32);
    int rc = SQLITE_OK;
    for (Pgno nTrunk = 0; rc == SQLITE_OK && iTrunk != 0; nTrunk++) {
        DbPage *pPg;
        u8 *a;
        u32 nLeaf;
        if (iTrunk < 2 || iTrunk > nPage || nTrunk > nPage) return SQLITE_CORRUPT_BKPT;
        rc = sqlite3PagerGet(pPager, iTrunk, &pPg, 0);
        if (rc != SQLITE_OK) return rc;
        a = sqlite3PagerGetData(pPg);
        nLeaf = sqlite3Get4byte(a + 4);
        if (nLeaf > nMax) rc = SQLITE_CORRUPT_BKPT;
        for (u32 i = 0; rc == SQLITE_OK && i < nLeaf; i++) {
            Pgno iLeaf = sqlite3Get4byte(a + 8 + 4 * i);
            if (iLeaf < 2 || iLeaf > nPage) {
                rc = SQLITE_CORRUPT_BKPT;
            } else {
                rc = sqlite3BitvecSet(pLeaf, iLeaf);
            }
        }
        iTrunk = sqlite3Get4byte(a);
        sqlite3PagerUnref(pPg);
    }
    return rc;
}

/* Rewrite each page in place. Page 1 comes first, so that a hot journal tells the key it is under. */
static int rewritePages(sqlite3 *db, Btree *pBt, int *pbCommitting) {
    Pager *pPager = sqlite3BtreePager(pBt);
    int rc = sqlite3BtreeBeginTrans(pBt, 2, 0);
    Pgno nPage = rc == SQLITE_OK ? sqlite3BtreeLastPage(pBt) : 0;
    for (Pgno pgno = 1; rc == SQLITE_OK && pgno <= nPage; pgno++) {
        DbPage *pPg;
        if (pgno == PENDING_BYTE_PAGE(pBt->pBt)) continue;
        if (pgno % MC_PROGRESS_PAGES == 1) rc = mcProgress(db, pgno - 1, nPage);
        if (rc == SQLITE_OK) rc = sqlite3PagerGet(pPager, pgno, &pPg, 0);
        if (rc == SQLITE_OK) {
            rc = sqlite3PagerWrite(pPg);
            sqlite3PagerUnref(pPg);
        }
    }
    if (rc == SQLITE_OK) {
        *pbCommitting = 1;
        rc = sqlite3BtreeCommitPhaseOne(pBt, 0);
        if (rc == SQLITE_OK) rc = sqlite3BtreeCommitPhaseTwo(pBt, 0);
    }
    if (rc != SQLITE_OK) sqlite3BtreeRollback(pBt, SQLITE_OK, 0);
    return rc;
}

static int rebuild(sqlite3 *db, int iDb, Pgno nPage, int *pbCommitting, char **pzErr) {
    BuildProgress progress = {db, db->nDb, nPage, db->xProgress, db->pProgressArg, db->nProgressOps, 0};
    Btree *pBt = db->aDb[iDb].pBt;
    char *zErr = 0;
    int rc;
    *pbCommitting = 1;
    db->xProgress = buildProgress;
    db->pProgressArg = &progress;
    db->nProgressOps = progress.xUser ? MIN(progress.nUserOps, MC_PROGRESS_OPS) : MC_PROGRESS_OPS;
    rc = mcProgress(db, 0, 2 * (i64)nPage);
    if (rc == SQLITE_OK) rc = sqlite3RunVacuum(&zErr, db, iDb, 0);
    db->xProgress = progress.xUser;
    db->pProgressArg = progress.pUser;
    db->nProgressOps = progress.nUserOps;
    if (sqlite3BtreeTxnState(pBt) != SQLITE_TXN_NONE) sqlite3BtreeRollback(pBt, SQLITE_OK, 0);
    if (zErr) *pzErr = sqlite3_mprintf("%s", zErr);
    sqlite3DbFree(db, zErr);
    return rc;
}

/* Can page 1 be read? */
static int canRead(Btree *pBt) {
    int rc = sqlite3BtreeBeginTrans(pBt, 0, 0);
    if (rc == SQLITE_OK) rc = sqlite3BtreeCommit(pBt);
    return rc;
}

/* The rekey is over, one way or the other: leave one key in force and wipe the other. */
static void settle(McCodec *p, Btree *pBt, int bNew) {
    McKey *pOld = p->pKey;
    p->eRekey = MC_REKEY_NONE;
    sqlite3BitvecDestroy(p->pRewritten);
    sqlite3BitvecDestroy(p->pFreeLeaf);
    p->pRewritten = p->pFreeLeaf = 0;
    if (bNew) {
        p->pKey = p->pNew;
        p->pNew = pOld;
    }
    mcKeyFree(p->pNew);
    p->pNew = 0;
    if (p->pKey) {
        sqlite3BtreeSecureDelete(pBt, 1);
    } else {
        mcUnlink(p);
        mcCodecFree(p);
    }
}

/* After a failure: the old key holds, unless the commit had gone through before it failed. */
static int newKeyHolds(McCodec *p, Btree *pBt) {
    McKey *pOld = p->pKey;
    int bNew;
    p->eRekey = MC_REKEY_NONE;
    pager_reset(sqlite3BtreePager(pBt)); /* what the file says counts, not what the cache remembers */
    if (canRead(pBt) != SQLITE_NOTADB) return 0;
    p->pKey = p->pNew;
    pager_reset(sqlite3BtreePager(pBt));
    bNew = canRead(pBt) == SQLITE_OK;
    p->pKey = pOld;
    pager_reset(sqlite3BtreePager(pBt));
    return bNew;
}

/* Overwrite what lies in the file behind the last page: a plain database may have left pages there, if
** the file is kept longer than it needs to be (SQLITE_FCNTL_CHUNK_SIZE). */
static int wipeTail(Btree *pBt) {
    Pager *pPager = sqlite3BtreePager(pBt);
    sqlite3_file *pReal = mcMainFile(pPager)->pReal;
    int nPage = (int)pPager->pageSize;
    u8 *aZero;
    i64 nFile, iOff;
    int rc = sqlite3BtreeBeginTrans(pBt, 2, 0);
    if (rc != SQLITE_OK) return rc;
    rc = pReal->pMethods->xFileSize(pReal, &nFile);
    iOff = (i64)sqlite3BtreeLastPage(pBt) * nPage;
    if (rc == SQLITE_OK && nFile > iOff) {
        aZero = sqlite3_malloc(nPage);
        if (aZero == 0) rc = SQLITE_NOMEM;
        if (aZero) memset(aZero, 0, (size_t)nPage);
        for (; rc == SQLITE_OK && iOff < nFile; iOff += nPage) {
            rc = pReal->pMethods->xWrite(pReal, aZero, (int)MIN(nPage, nFile - iOff), iOff);
        }
        sqlite3_free(aZero);
        if (rc == SQLITE_OK) rc = pReal->pMethods->xSync(pReal, SQLITE_SYNC_NORMAL);
    }
    sqlite3BtreeRollback(pBt, SQLITE_OK, 0);
    return rc;
}

/* Do it, with the pager in a rollback journal mode. Takes pNew (0: to plaintext) over. */
static int rekeyFile(sqlite3 *db, int iDb, Btree *pBt, McKey *pNew, int nReserve, int nNewReserve, char **pzErr) {
    Pager *pPager = sqlite3BtreePager(pBt);
    McCodec *p = mcPagerCodec(pPager);
    int bWasPlain = p == 0;
    int bCommitting = 0;
    i64 nTotal;
    int bNew;
    int rc = SQLITE_OK;
    if (p == 0) {
        rc = mcCodecNew(pPager, 0, &p);
        if (rc != SQLITE_OK) {
            mcKeyFree(pNew);
            return rc;
        }
        mcLink(p);
    }
    p->pNew = pNew;
    p->nNewReserve = nNewReserve;
    p->pRewritten = sqlite3BitvecCreate(SQLITE_MAX_PAGE_COUNT);
    p->pFreeLeaf = sqlite3BitvecCreate(SQLITE_MAX_PAGE_COUNT);
    if (p->pRewritten == 0 || p->pFreeLeaf == 0) rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK) rc = sqlite3BtreeBeginTrans(pBt, 0, 0);
    if (rc == SQLITE_OK) {
        p->nOldPage = sqlite3BtreeLastPage(pBt);
        rc = noteFreeLeaves(pBt, p->pFreeLeaf);
        sqlite3BtreeCommit(pBt);
        if (rc == SQLITE_OK && pPager->pWal) {
            *pzErr = sqlite3_mprintf("Rekeying failed. The WAL file could not be removed.");
            rc = SQLITE_IOERR_DELETE;
        }
    }
    if (rc == SQLITE_OK) {
        p->eRekey = MC_REKEY_FORWARD;
        rc = nReserve == nNewReserve ? rewritePages(db, pBt, &bCommitting)
                                     : rebuild(db, iDb, p->nOldPage, &bCommitting, pzErr);
    }
    bNew = rc == SQLITE_OK || (bCommitting && newKeyHolds(p, pBt));
    nTotal = nReserve == nNewReserve ? p->nOldPage : 2 * (i64)p->nOldPage;
    settle(p, pBt, bNew);
    if (rc != SQLITE_OK) {
        pager_reset(pPager);
        mcSetGeometry(pBt, (int)pPager->pageSize, bNew ? nNewReserve : nReserve);
    }
    if (rc == SQLITE_OK && bWasPlain) {
        rc = wipeTail(pBt);
        if (rc != SQLITE_OK)
            *pzErr =
                sqlite3_mprintf("The database is encrypted, but plaintext behind its last page was not overwritten.");
    }
    if (rc == SQLITE_OK) (void)mcProgress(db, nTotal, nTotal);
    return rc;
}

/* Set a journal mode by SQL; *pbSet: it is in force now. */
static int setJournalMode(sqlite3 *db, int iDb, const char *zMode, int *pbSet) {
    sqlite3_stmt *pStmt = 0;
    char *zSql = sqlite3_mprintf("PRAGMA \"%w\".journal_mode=%s", db->aDb[iDb].zDbSName, zMode);
    int rc = zSql ? sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) : SQLITE_NOMEM;
    *pbSet = 0;
    if (rc == SQLITE_OK && sqlite3_step(pStmt) == SQLITE_ROW) {
        *pbSet = sqlite3_stricmp((const char *)sqlite3_column_text(pStmt, 0), zMode) == 0;
    }
    if (rc == SQLITE_OK) rc = sqlite3_finalize(pStmt);
    sqlite3_free(zSql);
    return rc;
}

/*
** Bring the pager to a rollback journal on disk, do it, and go back to the journal mode it was in.
** TRUNCATE, so that no record of the old key stays behind the records of later transactions. Full
** syncs (unless all syncs are off), so that no record of the journal can be torn.
*/
static int rekeyInRollbackMode(sqlite3 *db, int iDb, Btree *pBt, McKey *pNew, int nReserve, int nNewReserve,
                               char **pzErr) {
    Pager *pPager = sqlite3BtreePager(pBt);
    int eMode = sqlite3PagerGetJournalMode(pPager);
    int bWal = eMode == PAGER_JOURNALMODE_WAL;
    u8 fullSync = pPager->fullSync;
    int bPersistWal = -1;
    int bSet = 1;
    int rc = SQLITE_OK;
    if (bWal) {
        int bOff = 0;
        sqlite3OsFileControlHint(pPager->fd, SQLITE_FCNTL_PERSIST_WAL, &bPersistWal);
        if (bPersistWal == 1) sqlite3OsFileControlHint(pPager->fd, SQLITE_FCNTL_PERSIST_WAL, &bOff);
        rc = setJournalMode(db, iDb, "delete", &bSet);
        if (bPersistWal == 1) sqlite3OsFileControlHint(pPager->fd, SQLITE_FCNTL_PERSIST_WAL, &bPersistWal);
        if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED || (rc == SQLITE_OK && !bSet)) {
            *pzErr =
                sqlite3_mprintf("Rekeying in WAL mode needs the database for itself: another connection has it open.");
            rc = SQLITE_BUSY;
        }
        if (rc != SQLITE_OK) {
            mcKeyFree(pNew);
            return rc;
        }
        eMode = PAGER_JOURNALMODE_DELETE;
    }
    sqlite3PagerSetJournalMode(pPager, PAGER_JOURNALMODE_TRUNCATE);
    if (!pPager->noSync) pPager->fullSync = 1;
    rc = rekeyFile(db, iDb, pBt, pNew, nReserve, nNewReserve, pzErr);
    pPager->fullSync = fullSync;
    sqlite3PagerSetJournalMode(pPager, eMode);
    if (bWal && (setJournalMode(db, iDb, "wal", &bSet) != SQLITE_OK || !bSet)) {
        sqlite3_log(SQLITE_WARNING, "the database stays in journal mode DELETE after the rekey");
    }
    return rc;
}

/* What the new key asks of the file. SQLITE_ERROR if the file cannot give it. */
static int newReserve(const McKey *pOld, const McKey *pNew, int nPage, int nReserve, int *pnNew, char **pzErr) {
    int bHidden = 0;
    int nNeed = pNew ? mcKeyReserved(pNew) : 0;
    int nFixed = pNew ? mcKeyPageSize(pNew, &bHidden) : 0;
    if (nPage - nNeed < 480) {
        *pzErr = sqlite3_mprintf("Rekeying failed. Pages of %d bytes are too small for the new cipher.", nPage);
        return SQLITE_ERROR;
    }
    if (nFixed != 0 && nFixed != nPage) {
        *pzErr = sqlite3_mprintf("Rekeying failed. Pagesize cannot be changed for an encrypted database.");
        return SQLITE_ERROR;
    }
    *pnNew = pOld && pNew && !bHidden && mcKeyReserved(pOld) == nNeed ? nReserve : nNeed;
    return SQLITE_OK;
}

/* Encrypt, re-encrypt or (nKey = 0) decrypt a database. */
static int mcRekey(sqlite3 *db, int iDb, const u8 *aKey, int nKey, char **pzErr) {
    Btree *pBt;
    McCodec *pCodec;
    McKey *pNew = 0;
    Pgno nPages = 0;
    int nPage = 0, nReserve = 0, nNewReserve = 0;
    int rc = mcUsable(db, iDb, 1, &pBt, pzErr);
    if (rc == SQLITE_OK) rc = mcIdle(db, pBt, "Rekeying", pzErr);
    if (rc == SQLITE_OK) AtomicStore(&db->u1.isInterrupted, 0); /* as SQLite does when a statement begins */
    if (rc == SQLITE_OK && (sqlite3PagerIsreadonly(sqlite3BtreePager(pBt)) || (db->flags & SQLITE_QueryOnly) != 0)) {
        rc = SQLITE_READONLY;
    }
    if (rc == SQLITE_OK && nKey > 0) rc = mcKeyNew(db, aKey, nKey, &pNew, pzErr);
    if (rc != SQLITE_OK) return rc;
    sqlite3BtreeEnter(pBt);
    rc = sqlite3BtreeBeginTrans(pBt, 0, 0);
    if (rc == SQLITE_OK) {
        nPages = sqlite3BtreeLastPage(pBt);
        nPage = sqlite3BtreeGetPageSize(pBt);
        nReserve = sqlite3BtreeGetReserveNoMutex(pBt);
        rc = sqlite3BtreeCommit(pBt);
    }
    pCodec = mcPagerCodec(sqlite3BtreePager(pBt));
    if (rc == SQLITE_OK && nPages > 0)
        rc = newReserve(pCodec ? pCodec->pKey : 0, pNew, nPage, nReserve, &nNewReserve, pzErr);
    if (rc == SQLITE_OK && nPages > 0 && pNew) rc = mcKeyNewSalt(pNew);
    if (rc != SQLITE_OK) {
        mcKeyFree(pNew);
    } else if (nPages == 0) {
        rc = mcInstallKey(pBt, pNew);
        if (rc != SQLITE_OK) mcKeyFree(pNew);
    } else if (pNew || pCodec) {
        rc = rekeyInRollbackMode(db, iDb, pBt, pNew, nReserve, nNewReserve, pzErr);
    }
    sqlite3BtreeLeave(pBt);
    return rc;
}
