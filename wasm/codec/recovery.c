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
** by one sync, so that a power failure can leave a count without its records. The main file is
** untouched by that segment then, which is what vetJournal() looks for. The journal of a rekey is told by
** a mark in the padding of its header; it is written at synchronous=FULL and has no torn records.
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
    u8 bRekey;   /* it carries the mark of a rekey */
    u8 bCounted; /* nRec was written when the records were synced; else it follows from the file's size */
    u32 iSegment;
} JournalHead;

/* Behind the 28 bytes of the header; SQLite pads it with zeros to a sector. */
static const u8 mcRekeyMark[4] = {'m', 'c', 'r', 'k'};
#define MC_MARK_OFFSET 28

/* Read a header as SQLite does. SQLITE_DONE: there is none, *p is as before. Sector and page size only
** stand in the first one. */
static int readHead(sqlite3_file *pJournal, i64 iOff, i64 nJournal, JournalHead *p) {
    JournalHead head = *p;
    u8 a[MC_MARK_OFFSET + sizeof(mcRekeyMark)];
    int rc;
    if (iOff + (iOff ? (i64)p->nSector : (i64)sizeof(a)) > nJournal) return SQLITE_DONE;
    rc = readReal(pJournal, a, sizeof(a), iOff);
    if (rc != SQLITE_OK) return rc;
    if (memcmp(a, aJournalMagic, sizeof(aJournalMagic)) != 0) return SQLITE_DONE;
    head.nRec = sqlite3Get4byte(a + 8);
    head.iSum = sqlite3Get4byte(a + 12);
    head.bCounted = head.nRec != 0xffffffff;
    if (iOff == 0) {
        u32 nPage = sqlite3Get4byte(a + 24);
        head.nOrig = sqlite3Get4byte(a + 16);
        head.nSector = sqlite3Get4byte(a + 20);
        if (nPage != 0) head.nPage = nPage;
        head.bRekey = memcmp(a + MC_MARK_OFFSET, mcRekeyMark, sizeof(mcRekeyMark)) == 0;
        if (head.nPage < 512 || head.nPage > SQLITE_MAX_PAGE_SIZE || (head.nPage & (head.nPage - 1)) != 0 ||
            head.nSector < 32 || head.nSector > MAX_SECTOR_SIZE || (head.nSector & (head.nSector - 1)) != 0 ||
            head.nSector > nJournal) {
            return SQLITE_DONE;
        }
    }
    *p = head;
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
        head.iSegment++;
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

/* The checksum of a record as SQLite makes it. */
static u32 recordSum(u32 iSum, const u8 *aPage, int nPage) {
    for (int i = nPage - 200; i > 0; i -= 200) iSum += aPage[i];
    return iSum;
}

/* What is known of the records of a journal. */
typedef struct Vetting {
    Pager *pPager;
    McCodec *pCodec;
    u8 *aPage;       /* two pages */
    int bCompare;    /* second walk: compare what opens with the main file */
    u32 nGood;       /* records that open and have the right checksum */
    u32 nBad;        /* others */
    u32 iBadSegment; /* segment of the first bad one */
    u32 iLastSegment;
    u8 bCounted; /* of the segment of the first bad one */
    u8 bTouched; /* a good record of the last segment differs from the main file */
} Vetting;

static int vetRecord(void *pArg, Pgno pgno, i64 iImage, const JournalHead *pHead) {
    Vetting *p = pArg;
    int nPage = (int)pHead->nPage;
    u8 aSum[4];
    int rc;
    if (pgno == 0 || pgno == PAGER_SJ_PGNO(p->pPager)) return SQLITE_DONE; /* SQLite stops here too */
    if (p->bCompare && pHead->iSegment != p->iLastSegment) return SQLITE_OK;
    p->iLastSegment = pHead->iSegment;
    rc = readReal(p->pPager->jfd, aSum, 4, iImage + nPage);
    if (rc == SQLITE_OK) rc = openAt(p->pCodec, p->pPager->jfd, iImage, pgno, nPage, p->aPage);
    if (rc == SQLITE_OK && recordSum(pHead->iSum, p->aPage, nPage) != sqlite3Get4byte(aSum)) rc = SQLITE_CORRUPT;
    if (p->bCompare) {
        u8 *aMain = p->aPage + nPage;
        int nData = nPage - (p->pCodec && p->pCodec->pKey ? mcKeyReserved(p->pCodec->pKey) : 0);
        if (rc != SQLITE_OK || pgno > pHead->nOrig) return SQLITE_OK;
        rc = openAt(p->pCodec, ((McFile *)sqlite3PagerFile(p->pPager))->pReal, (pgno - 1) * (i64)nPage, pgno, nPage,
                    aMain);
        if (rc != SQLITE_OK || memcmp(aMain, p->aPage, (size_t)nData) != 0) p->bTouched = 1;
        return SQLITE_OK;
    }
    if (rc == SQLITE_OK) {
        p->nGood++;
    } else if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB) {
        if (p->nBad++ == 0) {
            p->iBadSegment = pHead->iSegment;
            p->bCounted = pHead->bCounted;
        }
        /* Without a count SQLite ends at the first one. */
        rc = pHead->bCounted ? SQLITE_OK : SQLITE_DONE;
    }
    return rc;
}

/* Is the main file as it was before the transaction of this journal, as far as its size tells? */
static int hasOriginalSize(Pager *pPager, const JournalHead *pHead, u8 *aPage) {
    int nPage = (int)pHead->nPage;
    int rc = openAt(mcPagerCodec(pPager), ((McFile *)sqlite3PagerFile(pPager))->pReal, 0, 1, nPage, aPage);
    return rc == SQLITE_OK && sqlite3Get4byte(aPage + 28) == pHead->nOrig;
}

/*
** May a journal be played back whose page 1, or that of the main file, is under the key? Records are told
** by their tags, or, where the scheme has none, by their checksums, which are over plaintext. SQLITE_NOTADB: its records are not under the key;
** SQLITE_IOERR_DATA: they are, but one that was synced is damaged, and to stop there would leave the
** database half rolled back.
*/
static int vetJournal(Pager *pPager, JournalHead *pHead) {
    Vetting v;
    int rc;
    memset(&v, 0, sizeof(v));
    v.pPager = pPager;
    v.pCodec = mcPagerCodec(pPager);
    v.aPage = sqlite3_malloc(2 * (int)pHead->nPage);
    if (v.aPage == 0) return SQLITE_IOERR_NOMEM;
    rc = walkJournal(pPager->jfd, pHead, vetRecord, &v);
    if (rc == SQLITE_OK && v.nBad > 0) {
        if (v.bCounted && v.iBadSegment == v.iLastSegment && !pHead->bRekey) {
            v.bCompare = 1;
            rc = walkJournal(pPager->jfd, pHead, vetRecord, &v);
        }
        if (rc == SQLITE_OK && v.nGood == 0) {
            int bTorn = !pHead->bRekey && v.iBadSegment == v.iLastSegment && hasOriginalSize(pPager, pHead, v.aPage);
            rc = bTorn ? SQLITE_OK : SQLITE_NOTADB;
        } else if (rc == SQLITE_OK && v.bCounted) {
            rc = v.bCompare && !v.bTouched ? SQLITE_OK : SQLITE_IOERR_DATA;
        }
    }
    secure_zero(v.aPage, 2 * (size_t)pHead->nPage);
    sqlite3_free(v.aPage);
    return rc;
}

/* pArg: Vetting. Is there a record whose checksum is right? */
static int sumRecord(void *pArg, Pgno pgno, i64 iImage, const JournalHead *pHead) {
    Vetting *p = pArg;
    u8 aSum[4];
    int rc = readReal(p->pPager->jfd, aSum, 4, iImage + pHead->nPage);
    if (rc == SQLITE_OK) rc = openAt(p->pCodec, p->pPager->jfd, iImage, pgno, (int)pHead->nPage, p->aPage);
    if (rc != SQLITE_OK) return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? SQLITE_OK : rc;
    if (recordSum(pHead->iSum, p->aPage, (int)pHead->nPage) == sqlite3Get4byte(aSum)) p->nGood++;
    return p->nGood ? SQLITE_DONE : SQLITE_OK;
}

/* The record of page 1 is not one of this database, which has no tags. Is it a torn record of a journal
** that is? */
static int isTornJournal(Pager *pPager, JournalHead *pHead) {
    Vetting v;
    int rc;
    memset(&v, 0, sizeof(v));
    v.pPager = pPager;
    v.pCodec = mcPagerCodec(pPager);
    v.aPage = sqlite3_malloc((int)pHead->nPage);
    if (v.aPage == 0) return SQLITE_IOERR_NOMEM;
    rc = walkJournal(pPager->jfd, pHead, sumRecord, &v);
    secure_zero(v.aPage, (size_t)pHead->nPage);
    sqlite3_free(v.aPage);
    return rc == SQLITE_OK && v.nGood == 0 ? SQLITE_NOTADB : rc;
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

/* Random salts have about no byte in common; a damaged one has most bytes left. */
static int isAnotherSalt(const u8 *a, const u8 *b) {
    int nEqual = 0;
    for (int i = 0; i < MC_SALT_SIZE; i++) nEqual += a[i] == b[i];
    return nEqual < MC_SALT_SIZE / 2;
}

/* Do the page 1 of the journal and that of the main file have different salts, and both the key's
** password? Then one of them is another database's: salts only change by a rekey. But if the password is a
** raw key, not all schemes notice a damaged salt. */
static int isOfAnotherSalt(Pager *pPager, const JournalHead *pHead, i64 iImage, int *pbForeign) {
    McFile *pMain = (McFile *)sqlite3PagerFile(pPager);
    int nPage = (int)pHead->nPage;
    u8 aJournal[MC_SALT_SIZE], aMain[MC_SALT_SIZE];
    int rc = readReal(pPager->jfd, aJournal, sizeof(aJournal), iImage);
    *pbForeign = 0;
    if (rc == SQLITE_OK) rc = readReal(pMain->pReal, aMain, sizeof(aMain), 0);
    if (rc == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
    if (rc != SQLITE_OK || !isAnotherSalt(aJournal, aMain)) return rc;
    rc = verifyMain(pMain, nPage);
    *pbForeign = rc == SQLITE_OK;
    if (rc == SQLITE_NOTADB) rc = verifyPage1(pMain->pCodec, pPager->jfd, iImage, nPage); /* back to that salt */
    return rc;
}

/* The same as mcJournalMayPlayBack, for a key whose pages carry tags. iImage: page 1 in the journal or 0. */
static int tagsAllowPlayBack(Pager *pPager, JournalHead *pHead, i64 iImage) {
    McFile *pMain = (McFile *)sqlite3PagerFile(pPager);
    int nPage = (int)pHead->nPage;
    int bForeign = 0;
    int rc = iImage ? verifyPage1(pMain->pCodec, pPager->jfd, iImage, nPage) : SQLITE_NOTADB;
    if (rc == SQLITE_OK && !pHead->bRekey) rc = isOfAnotherSalt(pPager, pHead, iImage, &bForeign);
    if (rc == SQLITE_OK && bForeign) return SQLITE_NOTADB;
    if (rc == SQLITE_NOTADB && !(iImage && pHead->bRekey)) rc = verifyMain(pMain, nPage);
    return rc == SQLITE_OK ? vetJournal(pPager, pHead) : rc;
}

/* The same, as far as page 1 tells, without tags: for a plain file, or a key of a scheme without them. */
static int page1AllowsPlayBack(Pager *pPager, JournalHead *pHead, i64 iImage) {
    McFile *pMain = (McFile *)sqlite3PagerFile(pPager);
    int nPage = (int)pHead->nPage;
    int bBlank = 0;
    int rc = SQLITE_OK, rcMain;
    if (iImage) rc = isBlank(pPager->jfd, iImage, &bBlank);
    if (rc != SQLITE_OK) return rc;
    if (iImage == 0 || (bBlank && !pHead->bRekey)) return verifyMain(pMain, nPage);
    rc = verifyPage1(pMain->pCodec, pPager->jfd, iImage, nPage);
    if (rc != SQLITE_NOTADB || pHead->bRekey) return rc;
    rcMain = verifyMain(pMain, nPage);
    return rcMain == SQLITE_OK ? isTornJournal(pPager, pHead) : rcMain;
}

/* Called under the exclusive lock before a hot journal is played back. */
static int mcJournalMayPlayBack(Pager *pPager) {
    McFile *pMain = (McFile *)sqlite3PagerFile(pPager);
    McCodec *pCodec = mcPagerCodec(pPager);
    JournalHead head;
    i64 iImage = 0;
    int bCommitted;
    int rc;
    if (pPager->tempFile) return SQLITE_OK; /* its journal was made by this very pager */
    if (!mcIsOurFile(pPager->jfd)) return SQLITE_OK;
    if (pCodec == 0 && !mcIsOurFile(sqlite3PagerFile(pPager))) return SQLITE_OK; /* a VFS above wraps the main file */
    memset(&head, 0, sizeof(head));
    head.nPage = (u32)pPager->pageSize;
    head.nOrig = 1;
    rc = isCommitted(pPager, &bCommitted);
    if (rc != SQLITE_OK) return rc;
    if (bCommitted) return verifyMain(pMain, (int)head.nPage);
    rc = walkJournal(pPager->jfd, &head, findPage1, &iImage);
    if (rc != SQLITE_OK) return rc;
    if (head.nOrig == 0) return SQLITE_OK; /* back to an empty file, under any key */
    if (pCodec && pCodec->pKey && mcKeyAuthenticates(pCodec->pKey)) {
        pCodec->pKey->bHold = 1;
        rc = tagsAllowPlayBack(pPager, &head, iImage);
        pCodec->pKey->bHold = 0;
        return rc;
    }
    rc = page1AllowsPlayBack(pPager, &head, iImage);
    return rc == SQLITE_OK && pCodec && pCodec->pKey ? vetJournal(pPager, &head) : rc;
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
    if (!mcIsOurFile(pWal->pWalFd)) return SQLITE_OK;
    if (mcWalCodec(pWal) == 0 && !mcIsOurFile(pWal->pDbFd)) return SQLITE_OK; /* a VFS above wraps the main file */
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
    McCodec *p = mcWalCodec(pWal);
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
