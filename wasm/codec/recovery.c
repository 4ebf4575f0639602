/*
** Recovery under the right key only.
**
** A hot journal is played back, and a WAL is copied into the main file, only if page 1 of the state
** that this leads to is a page under the key in force (without a key: begins like a plain database).
** Otherwise journal, WAL and main file stay as they are and access fails with SQLITE_NOTADB. The other
** pages are verified one by one as they are read.
**
** Page 1 of the state that a hot journal leads to: its record of page 1, else page 1 of the main
** file. Of a WAL: the last committed frame of page 1, else page 1 of the main file.
*/
#include "codec.h"

static int readReal(sqlite3_file *pFile, void *p, int n, i64 iOff) {
    sqlite3_file *pReal = mcIsOurFile(pFile) ? ((McFile *)pFile)->pReal : pFile;
    return pReal->pMethods->xRead(pReal, p, n, iOff);
}

/* Is the stored page 1 of nPage bytes at iOff of pFile one under the key (0: plain)? */
static int verifyPage1(McCodec *p, sqlite3_file *pFile, i64 iOff, int nPage) {
    u8 aHead[16];
    u8 *aPage;
    int rc;
    if (p == 0 || p->pKey == 0) {
        rc = readReal(pFile, aHead, sizeof(aHead), iOff);
        if (rc == SQLITE_OK && memcmp(aHead, mc_sqlite_magic, sizeof(aHead)) != 0) rc = SQLITE_NOTADB;
    } else {
        rc = mcCodecBuffers(p, nPage);
        if (rc != SQLITE_OK) return rc;
        aPage = mcReadBuffer(p);
        rc = readReal(pFile, aPage, nPage, iOff);
        if (rc == SQLITE_OK) rc = mcOpenPage(p, p->pKey, 1, aPage, nPage);
        secure_zero(aPage, (size_t)nPage);
    }
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_NOTADB : rc;
}

/* Page 1 of the main file. An empty file is under any key. */
static int verifyMain(McFile *pMain, int nPage) {
    i64 nFile;
    int rc = pMain->pReal->pMethods->xFileSize(pMain->pReal, &nFile);
    if (rc != SQLITE_OK || nFile == 0) return rc;
    return verifyPage1(pMain->pCodec, pMain->pReal, 0, nPage);
}

/* ---- rollback journal */

typedef struct JournalHead {
    u32 nRec;
    u32 nOrig; /* pages of the database before the transaction */
    u32 nSector;
    u32 nPage;
} JournalHead;

/* Read a header as SQLite does. SQLITE_DONE: there is none. Sector and page size only stand in the
** first one. */
static int readHead(sqlite3_file *pJournal, i64 iOff, i64 nJournal, JournalHead *p) {
    u8 a[28];
    int rc;
    if (iOff + (iOff ? (i64)p->nSector : (i64)sizeof(a)) > nJournal) return SQLITE_DONE;
    rc = readReal(pJournal, a, sizeof(a), iOff);
    if (rc != SQLITE_OK) return rc;
    if (memcmp(a, aJournalMagic, sizeof(aJournalMagic)) != 0) return SQLITE_DONE;
    p->nRec = sqlite3Get4byte(a + 8);
    if (iOff) return SQLITE_OK;
    p->nOrig = sqlite3Get4byte(a + 16);
    p->nSector = sqlite3Get4byte(a + 20);
    if (sqlite3Get4byte(a + 24) != 0) p->nPage = sqlite3Get4byte(a + 24);
    if (p->nPage < 512 || p->nPage > SQLITE_MAX_PAGE_SIZE || (p->nPage & (p->nPage - 1)) != 0 || p->nSector < 32 ||
        p->nSector > MAX_SECTOR_SIZE || (p->nSector & (p->nSector - 1)) != 0 || p->nSector > nJournal) {
        return SQLITE_DONE;
    }
    return SQLITE_OK;
}

/* Find the image of page 1 among the records that SQLite would play back; *piImage is its offset, or
** 0 if there is none. *pHead is the first header. */
static int findPage1(sqlite3_file *pJournal, JournalHead *pHead, i64 *piImage) {
    sqlite3_file *pReal = ((McFile *)pJournal)->pReal;
    JournalHead head;
    i64 nJournal, iOff = 0;
    int rc = pReal->pMethods->xFileSize(pReal, &nJournal);
    *piImage = 0;
    if (rc != SQLITE_OK) return rc;
    rc = readHead(pJournal, 0, nJournal, pHead);
    head = *pHead;
    while (rc == SQLITE_OK) {
        i64 nRecord = (i64)head.nPage + 8;
        iOff += head.nSector;
        if (head.nRec == 0xffffffff) head.nRec = (u32)((nJournal - iOff) / nRecord);
        for (u32 i = 0; i < head.nRec && iOff + nRecord <= nJournal; i++, iOff += nRecord) {
            u8 aPgno[4];
            rc = readReal(pJournal, aPgno, 4, iOff);
            if (rc != SQLITE_OK) return rc;
            if (sqlite3Get4byte(aPgno) == 1) {
                *piImage = iOff + 4;
                return SQLITE_OK;
            }
        }
        iOff = (iOff + head.nSector - 1) / head.nSector * head.nSector;
        rc = readHead(pJournal, iOff, nJournal, &head);
    }
    return rc == SQLITE_DONE || rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

/* Has the journal a super-journal that is gone? Then its transaction was committed. */
static int isCommitted(Pager *pPager, int *pbCommitted) {
    char *zSuper = 0;
    int bExists = 1;
    int rc = readSuperJournal(pPager->jfd, 1 + (i64)pPager->pVfs->mxPathname, &zSuper);
    if (rc == SQLITE_OK && zSuper) rc = sqlite3OsAccess(pPager->pVfs, zSuper, SQLITE_ACCESS_EXISTS, &bExists);
    freeSuperJournal(zSuper);
    *pbCommitted = !bExists;
    return rc;
}

/* Is the image all zero (space of the file that was never written)? */
static int isBlank(sqlite3_file *pFile, i64 iOff, int nPage, int *pbBlank) {
    u8 a[512];
    *pbBlank = 1;
    for (int i = 0; i < nPage && *pbBlank; i += (int)sizeof(a)) {
        int rc = readReal(pFile, a, sizeof(a), iOff + i);
        if (rc != SQLITE_OK) return rc;
        *pbBlank = isZero(a, sizeof(a));
    }
    return SQLITE_OK;
}

/* Called under the exclusive lock before a hot journal is played back. */
static int mcJournalMayPlayBack(Pager *pPager) {
    McFile *pMain = mcMainFile(pPager);
    JournalHead head;
    i64 iImage = 0;
    int bCommitted, bBlank = 0;
    int rc;
    if (pMain == 0 || !mcIsOurFile(pPager->jfd)) return SQLITE_OK;
    memset(&head, 0, sizeof(head));
    head.nPage = (u32)pPager->pageSize;
    head.nOrig = 1;
    rc = isCommitted(pPager, &bCommitted);
    if (rc == SQLITE_OK && !bCommitted) rc = findPage1(pPager->jfd, &head, &iImage);
    if (rc != SQLITE_OK) return rc;
    if (head.nOrig == 0) return SQLITE_OK; /* back to an empty file, under any key */
    if (iImage) rc = isBlank(pPager->jfd, iImage, (int)head.nPage, &bBlank);
    if (rc != SQLITE_OK) return rc;
    if (iImage && !bBlank) return verifyPage1(pMain->pCodec, pPager->jfd, iImage, (int)head.nPage);
    return verifyMain(pMain, (int)head.nPage);
}

/* A journal begins to be played back: from here on a rekey is being undone. */
static void mcPlaybackStarts(Pager *pPager) {
    McCodec *p = mcPagerCodec(pPager);
    if (p && p->eRekey == MC_REKEY_FORWARD) p->eRekey = MC_REKEY_UNDO;
}

/* ---- WAL */

/* The last frame of page 1, or 0. */
static int findPage1Frame(Wal *pWal, u32 *piFrame) {
    u32 mxFrame = pWal->hdr.mxFrame;
    *piFrame = 0;
    for (int iHash = mxFrame ? walFramePage(mxFrame) : -1; iHash >= 0; iHash--) {
        WalHashLoc loc;
        int rc = walHashGet(pWal, iHash, &loc);
        if (rc != SQLITE_OK) return rc;
        for (u32 i = MIN(mxFrame - loc.iZero, HASHTABLE_NPAGE); i > 0; i--) {
            if (loc.aPgno[i - 1] == 1) {
                *piFrame = loc.iZero + i;
                return SQLITE_OK;
            }
        }
    }
    return SQLITE_OK;
}

/* Called under the checkpoint lock before the WAL is copied into the main file. */
static int mcWalMayCheckpoint(Wal *pWal) {
    McFile *pMain = (McFile *)pWal->pDbFd;
    u32 iFrame;
    int rc;
    if (!mcIsOurFile(pWal->pDbFd) || pWal->hdr.mxFrame == 0) return SQLITE_OK;
    rc = findPage1Frame(pWal, &iFrame);
    if (rc != SQLITE_OK) return rc;
    if (iFrame) {
        i64 iOff = walFrameOffset(iFrame, pWal->szPage) + WAL_FRAME_HDRSIZE;
        return verifyPage1(pMain->pCodec, pWal->pWalFd, iOff, (int)pWal->szPage);
    }
    return verifyMain(pMain, (int)pWal->szPage);
}

/*
** Seal a page for the WAL. Result: what is to be written in its place; *ppSummed: what the frame
** checksum covers, the sealed page too, or in the legacy form its plaintext. Both are valid until
** the next page is sealed or opened. 0 with *pRc set: it could not be sealed.
*/
static const void *mcSealFrame(Wal *pWal, Pgno pgno, const void *pPlain, const void **ppSummed, int *pRc) {
    McFile *pMain = (McFile *)pWal->pDbFd;
    McCodec *p = mcIsOurFile(pWal->pDbFd) ? pMain->pCodec : 0;
    int nPage = (int)pWal->szPage;
    u8 *aSealed;
    *ppSummed = pPlain;
    if (p && p->eRekey != MC_REKEY_NONE) {
        *pRc = SQLITE_IOERR_WRITE; /* a rekey is under way, and somebody brought the WAL back */
        return 0;
    }
    if (p == 0 || p->pKey == 0) return pPlain;
    *pRc = mcSealPage(p, p->pKey, pgno, pPlain, nPage, &aSealed);
    if (*pRc != SQLITE_OK) return 0;
    *ppSummed = aSealed;
    if (p->pKey->bLegacyWal) {
        u8 *aPlain = mcReadBuffer(p);
        memcpy(aPlain, pPlain, (size_t)nPage);
        mcClearReserved(p->pKey, aPlain, nPage);
        *ppSummed = aPlain;
    }
    return aSealed;
}
