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
**
** A record may be torn: below synchronous=FULL, header and records of the last segment reach the disk
** by one sync, so that a power failure can leave a count without its records (the main file is
** untouched by that segment then). If it is the record of page 1 that does not verify, the journal
** is taken for one of this key if another of its records is, or if all pages that it names stand in
** the main file under this key. The journal of a rekey is told by a mark in the padding of its header;
** it is written at synchronous=FULL, and there nothing but the record of page 1 decides.
*/
#include "codec.h"

static int readReal(sqlite3_file *pFile, void *p, int n, i64 iOff) {
    sqlite3_file *pReal = mcIsOurFile(pFile) ? ((McFile *)pFile)->pReal : pFile;
    return pReal->pMethods->xRead(pReal, p, n, iOff);
}

/* SQLITE_OK: a page of the file opens under the key (0: anything does). SQLITE_CORRUPT, SQLITE_NOTADB. */
static int openAt(McCodec *p, sqlite3_file *pFile, i64 iOff, Pgno pgno, int nPage, u8 *aPage) {
    int rc = readReal(pFile, aPage, nPage, iOff);
    if (rc == SQLITE_OK && p && p->pKey) {
        u8 bCheck = p->pKey->bHmacCheck;
        p->pKey->bHmacCheck = 1; /* reading damaged pages is one thing, changing files by them another */
        rc = mcOpenPage(p, p->pKey, pgno, aPage, nPage);
        p->pKey->bHmacCheck = bCheck;
    }
    return rc;
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
        aPage = sqlite3_malloc(nPage);
        if (aPage == 0) return SQLITE_IOERR_NOMEM;
        rc = openAt(p, pFile, iOff, 1, nPage, aPage);
        secure_zero(aPage, (size_t)nPage);
        sqlite3_free(aPage);
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
    u32 iSum;  /* start of the record checksums */
    u32 nOrig; /* pages of the database before the transaction */
    u32 nSector;
    u32 nPage;
    u8 bRekey; /* it carries the mark of a rekey */
} JournalHead;

/* Behind the 28 bytes of the header; SQLite pads it with zeros to a sector. */
static const u8 mcRekeyMark[4] = {'m', 'c', 'r', 'k'};
#define MC_MARK_OFFSET 28

/* Read a header as SQLite does. SQLITE_DONE: there is none. Sector and page size only stand in the
** first one. */
static int readHead(sqlite3_file *pJournal, i64 iOff, i64 nJournal, JournalHead *p) {
    u8 a[MC_MARK_OFFSET + sizeof(mcRekeyMark)];
    int rc;
    if (iOff + (iOff ? (i64)p->nSector : (i64)sizeof(a)) > nJournal) return SQLITE_DONE;
    rc = readReal(pJournal, a, sizeof(a), iOff);
    if (rc != SQLITE_OK) return rc;
    if (memcmp(a, aJournalMagic, sizeof(aJournalMagic)) != 0) return SQLITE_DONE;
    p->nRec = sqlite3Get4byte(a + 8);
    p->iSum = sqlite3Get4byte(a + 12);
    if (iOff) return SQLITE_OK;
    p->nOrig = sqlite3Get4byte(a + 16);
    p->nSector = sqlite3Get4byte(a + 20);
    if (sqlite3Get4byte(a + 24) != 0) p->nPage = sqlite3Get4byte(a + 24);
    p->bRekey = memcmp(a + MC_MARK_OFFSET, mcRekeyMark, sizeof(mcRekeyMark)) == 0;
    if (p->nPage < 512 || p->nPage > SQLITE_MAX_PAGE_SIZE || (p->nPage & (p->nPage - 1)) != 0 || p->nSector < 32 ||
        p->nSector > MAX_SECTOR_SIZE || (p->nSector & (p->nSector - 1)) != 0 || p->nSector > nJournal) {
        return SQLITE_DONE;
    }
    return SQLITE_OK;
}

/* Walk over the records that SQLite would play back. xRecord gets the page number, the offset of the
** image and the head of its segment; SQLITE_DONE from it ends the walk. *pFirst is the first head. */
typedef int (*RecordVisitor)(void *pArg, Pgno pgno, i64 iImage, const JournalHead *pHead);
static int walkJournal(sqlite3_file *pJournal, JournalHead *pFirst, RecordVisitor xRecord, void *pArg) {
    sqlite3_file *pReal = ((McFile *)pJournal)->pReal;
    JournalHead head;
    i64 nJournal, iOff = 0;
    int rc = pReal->pMethods->xFileSize(pReal, &nJournal);
    if (rc != SQLITE_OK) return rc;
    rc = readHead(pJournal, 0, nJournal, pFirst);
    head = *pFirst;
    while (rc == SQLITE_OK) {
        i64 nRecord = (i64)head.nPage + 8;
        iOff += head.nSector;
        if (head.nRec == 0xffffffff) head.nRec = (u32)((nJournal - iOff) / nRecord);
        for (u32 i = 0; i < head.nRec && iOff + nRecord <= nJournal; i++, iOff += nRecord) {
            u8 aPgno[4];
            rc = readReal(pJournal, aPgno, 4, iOff);
            if (rc == SQLITE_OK) rc = xRecord(pArg, sqlite3Get4byte(aPgno), iOff + 4, &head);
            if (rc != SQLITE_OK) return rc == SQLITE_DONE ? SQLITE_OK : rc;
        }
        iOff = (iOff + head.nSector - 1) / head.nSector * head.nSector;
        rc = readHead(pJournal, iOff, nJournal, &head);
    }
    return rc == SQLITE_DONE || rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

/* pArg: i64, gets the offset of the image of page 1. */
static int findPage1(void *pArg, Pgno pgno, i64 iImage, const JournalHead *pHead) {
    (void)pHead;
    if (pgno != 1) return SQLITE_OK;
    *(i64 *)pArg = iImage;
    return SQLITE_DONE;
}

/* What the records of a journal, and the pages that they name, say about its key. */
typedef struct Evidence {
    Pager *pPager;
    McCodec *pCodec;
    int bRecord;  /* a record opens, and its checksum is right */
    int bForeign; /* a page of the main file does not open */
} Evidence;

static int weighRecord(void *pArg, Pgno pgno, i64 iImage, const JournalHead *pHead) {
    Evidence *p = pArg;
    int nPage = (int)pHead->nPage;
    u8 *aPage = sqlite3_malloc(nPage);
    u8 aSum[4];
    u32 iSum = pHead->iSum;
    int rc;
    if (aPage == 0) return SQLITE_IOERR_NOMEM;
    rc = readReal(p->pPager->jfd, aSum, 4, iImage + nPage);
    if (rc == SQLITE_OK) rc = openAt(p->pCodec, p->pPager->jfd, iImage, pgno, nPage, aPage);
    if (rc == SQLITE_OK) {
        for (int i = nPage - 200; i > 0; i -= 200) iSum += aPage[i];
        p->bRecord = iSum == sqlite3Get4byte(aSum);
    }
    if (!p->bRecord && (rc == SQLITE_OK || rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)) {
        rc = SQLITE_OK;
        if (pgno >= 1 && pgno <= pHead->nOrig && !p->bForeign) {
            rc = openAt(p->pCodec, mcMainFile(p->pPager)->pReal, (pgno - 1) * (i64)nPage, pgno, nPage, aPage);
            p->bForeign = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_IOERR_SHORT_READ;
            if (p->bForeign) rc = SQLITE_OK;
        }
    }
    secure_zero(aPage, (size_t)nPage);
    sqlite3_free(aPage);
    return rc == SQLITE_OK && p->bRecord ? SQLITE_DONE : rc;
}

/* The record of page 1 does not verify. Is it a torn record of a journal of this key? */
static int isTornJournal(Pager *pPager, JournalHead *pHead) {
    Evidence e;
    int rc;
    memset(&e, 0, sizeof(e));
    e.pPager = pPager;
    e.pCodec = mcPagerCodec(pPager);
    rc = walkJournal(pPager->jfd, pHead, weighRecord, &e);
    if (rc != SQLITE_OK) return rc;
    if (e.bRecord) return SQLITE_OK;
    return e.pCodec && e.pCodec->pKey && mcKeyAuthenticates(e.pCodec->pKey) && !e.bForeign ? SQLITE_OK : SQLITE_NOTADB;
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

/* Does the image begin with zeros, because its sector was never written? */
static int isBlank(sqlite3_file *pFile, i64 iOff, int *pbBlank) {
    u8 a[512];
    int rc = readReal(pFile, a, sizeof(a), iOff);
    *pbBlank = rc == SQLITE_OK && isZero(a, sizeof(a));
    return rc;
}

/* Called under the exclusive lock before a hot journal is played back. */
static int mcJournalMayPlayBack(Pager *pPager) {
    McFile *pMain = mcMainFile(pPager);
    JournalHead head;
    i64 iImage = 0;
    int bCommitted, bBlank = 0;
    int rc, rcMain;
    if (pMain == 0 || !mcIsOurFile(pPager->jfd)) return SQLITE_OK;
    memset(&head, 0, sizeof(head));
    head.nPage = (u32)pPager->pageSize;
    head.nOrig = 1;
    rc = isCommitted(pPager, &bCommitted);
    if (rc == SQLITE_OK && !bCommitted) rc = walkJournal(pPager->jfd, &head, findPage1, &iImage);
    if (rc != SQLITE_OK) return rc;
    if (head.nOrig == 0) return SQLITE_OK; /* back to an empty file, under any key */
    if (iImage) rc = isBlank(pPager->jfd, iImage, &bBlank);
    if (rc != SQLITE_OK) return rc;
    if (iImage == 0 || (bBlank && !head.bRekey)) return verifyMain(pMain, (int)head.nPage);
    rc = verifyPage1(pMain->pCodec, pPager->jfd, iImage, (int)head.nPage);
    if (rc != SQLITE_NOTADB || head.bRekey) return rc;
    rcMain = verifyMain(pMain, (int)head.nPage);
    return rcMain == SQLITE_OK ? isTornJournal(pPager, &head) : rcMain;
}

/* Called when one of the last nLeft records of a segment does not verify: 1 if the journal ends there
** as it does at a wrong checksum, because no segment follows; 0: it is damaged, and must be left. */
static int mcMayBeTorn(Pager *pPager, i64 nJournal, u32 nLeft) {
    JournalHead head;
    i64 iNext = pPager->journalOff + (i64)nLeft * (pPager->pageSize + 8);
    memset(&head, 0, sizeof(head));
    head.nPage = (u32)pPager->pageSize;
    if (readHead(pPager->jfd, 0, nJournal, &head) != SQLITE_OK || head.bRekey) return 0;
    iNext = (iNext + head.nSector - 1) / head.nSector * head.nSector;
    return readHead(pPager->jfd, iNext, nJournal, &head) == SQLITE_DONE;
}

/* Called for the header of a new journal: marks it if it is that of a rekey. a: at least 32 bytes. */
static void mcMarkJournal(const McCodec *p, u8 *a) {
    if (p->eRekey != MC_REKEY_NONE) memcpy(a + MC_MARK_OFFSET, mcRekeyMark, sizeof(mcRekeyMark));
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
        for (u32 i = MIN(mxFrame - loc.iZero, iHash ? HASHTABLE_NPAGE : HASHTABLE_NPAGE_ONE); i > 0; i--) {
            if (loc.aPgno[i - 1] == 1) {
                *piFrame = loc.iZero + i;
                return SQLITE_OK;
            }
        }
    }
    return SQLITE_OK;
}

/* Called under the checkpoint lock before the WAL is copied into the main file. */
static int mcWalMayCheckpoint(Wal *pWal, int nPage) {
    McFile *pMain = (McFile *)pWal->pDbFd;
    i64 nWal;
    u32 iFrame = 0;
    int rc;
    if (!mcIsOurFile(pWal->pDbFd)) return SQLITE_OK;
    if (pWal->hdr.mxFrame == 0) {
        /* Nothing to copy. But what SQLite cannot make out under this key is deleted next. */
        rc = sqlite3OsFileSize(pWal->pWalFd, &nWal);
        if (rc == SQLITE_OK && nWal > WAL_HDRSIZE) rc = verifyMain(pMain, nPage);
        return rc;
    }
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
