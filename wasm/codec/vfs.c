/*
** The encrypting VFS "multipleciphers-X": a shim over the VFS X through which all files of a
** connection go. Pages of an encrypted main file, its rollback journal and its WAL are sealed on
** the way down and opened on the way up; so are temporary files (temp.c). Everything else passes.
**
** A page is recognised by where it lies, never by the length of a write:
**   main file   pages lie at multiples of the page size; the pager reads nothing else but the first
**               100 bytes (before it knows the page size) and the 16 bytes at 24 (has the file changed?)
**   journal     the page image of a record follows the record's page number, at the offset that the
**               pager has come to
**   WAL         the page of a frame follows its 24-byte header, behind a 32-byte file header; SQLite
**               tells its number before it reads it. WAL
**               pages are sealed before they come here (recovery.c, mcSealFrame), because the frame
**               checksum covers the sealed page
*/
#include "codec.h"

typedef struct McVfs McVfs;
struct McVfs {
    sqlite3_vfs base;
    sqlite3_vfs *pReal;
    McVfs *pNextShim;
    int nMain; /* open main files */
};

#define MC_VFS_PREFIX "multipleciphers-"
#define MC_WAL_HEADER 32
#define MC_FRAME_HEADER 24

/* Guarded by mcMutex(): the shims, and the codecs whose journals may be opened. */
static McVfs *mcShims = 0;
static McCodec *mcCodecs = 0;

static sqlite3_mutex *mcMutex(void) {
    return sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS2);
}

#define REAL(F) (((McFile *)(F))->pReal)

/* ---- codecs and the files they belong to */

static int mcRead(sqlite3_file *, void *, int, sqlite3_int64);

static int mcIsOurFile(sqlite3_file *pFile) {
    return pFile->pMethods != 0 && pFile->pMethods->xRead == mcRead;
}

/* The shim's file of a pager, or 0. */
static McFile *mcMainFile(Pager *pPager) {
    sqlite3_file *pFile = sqlite3PagerFile(pPager);
    return mcIsOurFile(pFile) && ((McFile *)pFile)->eKind == MC_FILE_MAIN ? (McFile *)pFile : 0;
}

/* The codec of a pager, or 0. Not by the methods of its file: others may wrap those for a while, as
** SQLite's recovery extension does, and a database does not turn plain by it. */
static McCodec *mcPagerCodec(Pager *pPager) {
    sqlite3_mutex *pMutex = mcMutex();
    McCodec *p;
    sqlite3_mutex_enter(pMutex);
    for (p = mcCodecs; p && p->pPager != pPager; p = p->pNext) {
    }
    sqlite3_mutex_leave(pMutex);
    return p;
}

static int mcIsEncrypted(Pager *pPager) {
    McCodec *p = mcPagerCodec(pPager);
    return p && p->pKey;
}

/* Give the codec (or 0) to the journal and the WAL of the pager if they are open. */
static void linkSideFiles(Pager *pPager, McCodec *pCodec) {
    if (isOpen(pPager->jfd) && mcIsOurFile(pPager->jfd)) ((McFile *)pPager->jfd)->pCodec = pCodec;
    if (pPager->pWal && mcIsOurFile(sqlite3WalFile(pPager->pWal)))
        ((McFile *)sqlite3WalFile(pPager->pWal))->pCodec = pCodec;
}

/* From here on the files of the codec's pager are encrypted. */
static void mcLink(McCodec *pCodec) {
    sqlite3_mutex *pMutex = mcMutex();
    ((McFile *)sqlite3PagerFile(pCodec->pPager))->pCodec = pCodec;
    linkSideFiles(pCodec->pPager, pCodec);
    sqlite3_mutex_enter(pMutex);
    pCodec->pNext = mcCodecs;
    mcCodecs = pCodec;
    sqlite3_mutex_leave(pMutex);
}

/* From here on they are plain. The codec goes on to exist. */
static void mcUnlink(McCodec *pCodec) {
    sqlite3_mutex *pMutex = mcMutex();
    McCodec **pp;
    sqlite3_mutex_enter(pMutex);
    for (pp = &mcCodecs; *pp != pCodec; pp = &(*pp)->pNext) {
    }
    *pp = pCodec->pNext;
    sqlite3_mutex_leave(pMutex);
    ((McFile *)sqlite3PagerFile(pCodec->pPager))->pCodec = 0;
    linkSideFiles(pCodec->pPager, 0);
}

/* The codec whose journal or WAL has this name in this VFS. Pagers pass the very string that they hold, so it is
** told by its address; a journal opened by another way (a super-journal's child) has no codec, and the name
** comes to a second shim too if that is somewhere below the one of the main file. */
static McCodec *codecOfSideFile(McVfs *pVfs, const char *zName) {
    sqlite3_mutex *pMutex = mcMutex();
    McCodec *p;
    sqlite3_mutex_enter(pMutex);
    for (p = mcCodecs; p && p->pPager->zJournal != zName && p->pPager->zWal != zName; p = p->pNext) {
    }
    sqlite3_mutex_leave(pMutex);
    return p && ((McFile *)sqlite3PagerFile(p->pPager))->pVfs == pVfs ? p : 0;
}

/* ---- the main file */

/* Remember what the pager's version bytes look like in the file. */
static void rememberVersion(McCodec *p, const u8 *aRaw24, const u8 *aPlain24) {
    memcpy(p->aVersionRaw, aRaw24, 16);
    memcpy(p->aVersionPlain, aPlain24, 16);
    p->bVersion = 1;
}

/* The page size in a database header, of which the first 24 bytes are needed; 0: it is no such header. */
static int mcHeaderPageSize(const u8 *aPage1) {
    static const u8 fractions[3] = {64, 32, 32};
    int n = (aPage1[16] << 8) | (aPage1[17] << 16);
    if (memcmp(aPage1 + 21, fractions, sizeof(fractions)) != 0) return 0;
    return n >= 512 && n <= SQLITE_MAX_PAGE_SIZE && (n & (n - 1)) == 0 ? n : 0;
}

/* The page size that the stored page 1 tells, or 0. */
static int storedPageSize(const McKey *pKey, const u8 *aPage1) {
    int bHidden;
    (void)mcKeyPageSize(pKey, &bHidden);
    return bHidden ? 0 : mcHeaderPageSize(aPage1);
}

static int isZero(const u8 *a, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i]) return 0;
    }
    return 1;
}

/* A page was not read in full: past the end of the file it is legally all zero, else it is damaged. */
static int shortPage(McFile *pFile, Pgno pgno, void *pOut, int nOut, i64 iOff) {
    i64 nFile;
    int rc = pFile->pReal->pMethods->xFileSize(pFile->pReal, &nFile);
    memset(pOut, 0, (size_t)nOut);
    if (rc != SQLITE_OK) return rc;
    if (nFile <= iOff) return SQLITE_IOERR_SHORT_READ;
    return pgno == 1 ? SQLITE_NOTADB : SQLITE_CORRUPT_BKPT;
}

/*
** The size of page 1 if the pager's guess nOut is wrong, else nOut. aPage1: what is there of nOut bytes. Where
** neither file nor key tells the size, page 1 can be opened in part, and the pager learns the size from
** that: then it is the largest power of two that the file has. 0: the file is too short.
*/
static int page1Size(McFile *pFile, const u8 *aPage1, int nOut, int bShort, int *pbPart) {
    McKey *pKey = pFile->pCodec->pKey;
    int n = storedPageSize(pKey, aPage1);
    int bHidden;
    i64 nFile;
    *pbPart = 0;
    if (n > 0 || !bShort) return n > 0 ? n : nOut;
    if (mcKeyPageSize(pKey, &bHidden) > 0) return 0;
    if (pFile->pReal->pMethods->xFileSize(pFile->pReal, &nFile) != SQLITE_OK) return 0;
    *pbPart = 1;
    for (n = nOut; n > nFile; n /= 2) {
    }
    return n >= 512 ? n : 0;
}

static int readMainPage(McFile *pFile, void *pOut, int nOut, i64 iOff) {
    sqlite3_file *pReal = pFile->pReal;
    McCodec *p = pFile->pCodec;
    int nPage = nOut;
    Pgno pgno = (Pgno)(iOff / nPage + 1);
    McKey *pKey = mcMainReadKey(p, pgno);
    u8 aRaw[16] = {0};
    u8 *aPage;
    int bShort, bPart = 0;
    int rc;
    if (pKey == 0) return pReal->pMethods->xRead(pReal, pOut, nOut, iOff);
    rc = mcCodecBuffers(p, nPage);
    if (rc != SQLITE_OK) return rc;
    aPage = mcReadBuffer(p);
    rc = pReal->pMethods->xRead(pReal, aPage, nPage, iOff);
    bShort = rc == SQLITE_IOERR_SHORT_READ;
    if (rc != SQLITE_OK && !bShort) return rc;
    if (pgno == 1) nPage = page1Size(pFile, aPage, nOut, bShort, &bPart);
    if (bShort && (pgno != 1 || nPage == 0 || nPage >= nOut)) return shortPage(pFile, pgno, pOut, nOut, iOff);
    if (nPage != nOut) {
        /* The pager guessed the page size wrongly. Open page 1 as it is, so that it learns the right
        ** one; it reads the page again then. */
        rc = mcCodecBuffers(p, nPage);
        if (rc != SQLITE_OK) return rc;
        aPage = mcReadBuffer(p);
        rc = pReal->pMethods->xRead(pReal, aPage, nPage, 0);
        if (rc == SQLITE_IOERR_SHORT_READ) return shortPage(pFile, 1, pOut, nOut, 0);
        if (rc != SQLITE_OK) return rc;
    }
    if (pgno == 1) memcpy(aRaw, aPage + 24, 16);
    if (p->eRekey == MC_REKEY_FORWARD && sqlite3BitvecTest(p->pFreeLeaf, pgno) && isZero(aPage, nPage)) {
        /* A leaf of the free list that was never written: a hole in the file, nobody's data. */
        memset(pOut, 0, (size_t)nOut);
        return SQLITE_OK;
    }
    rc = mcOpenPage(p, pKey, pgno, aPage, nPage);
    if (rc == SQLITE_OK && bPart && mcHeaderPageSize(aPage) > nPage) rc = SQLITE_NOTADB; /* the file was cut off */
    if (rc != SQLITE_OK) {
        memset(pOut, 0, (size_t)nOut);
        return rc;
    }
    if (pgno == 1) rememberVersion(p, aRaw, aPage + 24);
    if (nPage < nOut) memset((u8 *)pOut + nPage, 0, (size_t)(nOut - nPage));
    memcpy(pOut, aPage, (size_t)MIN(nPage, nOut));
    return SQLITE_OK;
}

/* The pager compares these bytes with those of the page 1 that it knows. While they stand in the file
** as they stood when page 1 was opened or sealed, the answer is known without opening it again. */
static int readVersion(McFile *pFile, void *pOut) {
    McCodec *p = pFile->pCodec;
    int rc = pFile->pReal->pMethods->xRead(pFile->pReal, pOut, 16, 24);
    if (rc == SQLITE_OK && p->bVersion && memcmp(pOut, p->aVersionRaw, 16) == 0) memcpy(pOut, p->aVersionPlain, 16);
    return rc;
}

/* Several pages at once, as SQLite's recovery extension reads them. */
static int readPages(McFile *pFile, u8 *pOut, int nOut, i64 iOff, int nPage) {
    int rc = SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < nOut; i += nPage) {
        rc = readMainPage(pFile, pOut + i, nPage, iOff + i);
        if (rc != SQLITE_OK) memset(pOut + i, 0, (size_t)(nOut - i));
    }
    return rc;
}

static int readMain(McFile *pFile, void *pOut, int nOut, i64 iOff) {
    i64 nPage = pFile->pCodec->pPager->pageSize;
    if (nOut == nPage && iOff % nPage == 0) return readMainPage(pFile, pOut, nOut, iOff);
    if (nOut % nPage == 0 && iOff % nPage == 0) return readPages(pFile, pOut, nOut, iOff, (int)nPage);
    if (iOff == 24 && nOut == 16) return readVersion(pFile, pOut);
    if (iOff == 0 && nOut == 100) return pFile->pReal->pMethods->xRead(pFile->pReal, pOut, nOut, iOff);
    return SQLITE_IOERR_READ;
}

static int writeMain(McFile *pFile, const void *pIn, int nIn, i64 iOff) {
    McCodec *p = pFile->pCodec;
    i64 nPage = p->pPager->pageSize;
    Pgno pgno = (Pgno)(iOff / nPage + 1);
    McKey *pKey;
    u8 *aSealed;
    int rc;
    if (nIn != nPage || iOff % nPage != 0) return SQLITE_IOERR_WRITE;
    rc = mcMainWriteKey(p, pgno, &pKey);
    if (rc != SQLITE_OK) return rc;
    if (pKey == 0) {
        aSealed = (u8 *)pIn;
    } else if ((aSealed = mcSealedAhead(p, pgno, pIn)) == 0) {
        rc = mcSealPage(p, pKey, pgno, pIn, nIn, &aSealed);
        if (rc != SQLITE_OK) return rc;
    }
    if (pgno == 1) rememberVersion(p, aSealed + 24, (const u8 *)pIn + 24);
    return pFile->pReal->pMethods->xWrite(pFile->pReal, aSealed, nIn, iOff);
}

/* ---- the rollback journal; its pages are under the key in force, during a rekey under the old one */

/* The page number before a page image at iOff, or 0 if there is no page image at iOff. */
static Pgno journalPgno(McFile *pFile, int n, i64 iOff) {
    Pager *pPager = pFile->pCodec->pPager;
    if (pFile->iPgnoOff < 0 || iOff != pFile->iPgnoOff + 4 || n != pPager->pageSize) return 0;
    /* The name of a super-journal stands behind the number of the page that is never written. */
    return pFile->iPgno == PAGER_SJ_PGNO(pPager) ? 0 : pFile->iPgno;
}

static void noteFourBytes(McFile *pFile, const void *p, int n, i64 iOff) {
    pFile->iPgnoOff = n == 4 ? iOff : -1;
    if (n == 4) pFile->iPgno = sqlite3Get4byte(p);
}

static int readJournal(McFile *pFile, void *pOut, int nOut, i64 iOff) {
    McCodec *p = pFile->pCodec;
    Pgno pgno = p->pKey ? journalPgno(pFile, nOut, iOff) : 0;
    u8 *aPage;
    int rc;
    if (pgno == 0) {
        rc = pFile->pReal->pMethods->xRead(pFile->pReal, pOut, nOut, iOff);
        if (rc == SQLITE_OK) noteFourBytes(pFile, pOut, nOut, iOff);
        return rc;
    }
    pFile->iPgnoOff = -1;
    rc = mcCodecBuffers(p, nOut);
    if (rc != SQLITE_OK) return rc;
    aPage = mcReadBuffer(p);
    rc = pFile->pReal->pMethods->xRead(pFile->pReal, aPage, nOut, iOff);
    if (rc == SQLITE_OK && mcOpenPage(p, p->pKey, pgno, aPage, nOut) != SQLITE_OK) {
        /* The pager stops and leaves the journal, which it does for I/O errors, unless the journal may end
        ** here. */
        rc = SQLITE_IOERR_DATA;
    }
    if (rc != SQLITE_OK) {
        memset(pOut, 0, (size_t)nOut);
        return rc;
    }
    memcpy(pOut, aPage, (size_t)nOut);
    return SQLITE_OK;
}

static int writeJournal(McFile *pFile, const void *pIn, int nIn, i64 iOff) {
    McCodec *p = pFile->pCodec;
    /* A record is written where the pager has come to; a journal header that happens to follow the
    ** checksum of a record and to be as long as a page is not. */
    Pgno pgno = p->pKey && iOff == p->pPager->journalOff + 4 ? journalPgno(pFile, nIn, iOff) : 0;
    u8 *aSealed = (u8 *)pIn;
    int rc;
    if (pgno == 0) {
        noteFourBytes(pFile, pIn, nIn, iOff);
        if (iOff == 0 && nIn >= 32 && nIn <= p->pPager->pageSize) {
            rc = mcCodecBuffers(p, (int)p->pPager->pageSize);
            if (rc != SQLITE_OK) return rc;
            aSealed = mcWriteBuffer(p);
            memcpy(aSealed, pIn, (size_t)nIn);
            mcMarkJournal(p, aSealed);
        }
    } else {
        pFile->iPgnoOff = -1;
        rc = mcSealPage(p, p->pKey, pgno, pIn, nIn, &aSealed);
        if (rc != SQLITE_OK) return rc;
    }
    return pFile->pReal->pMethods->xWrite(pFile->pReal, aSealed, nIn, iOff);
}

/* ---- the WAL */

/* Derive a key that has not met page 1 yet: frames of a WAL with checksums over plaintext are read
** before it. */
static int deriveFromMain(McFile *pFile) {
    sqlite3_file *pMain = ((McFile *)sqlite3PagerFile(pFile->pCodec->pPager))->pReal;
    u8 aSalt[16];
    int rc = pMain->pMethods->xRead(pMain, aSalt, sizeof(aSalt), 0);
    return rc == SQLITE_OK ? mcKeyUseSalt(pFile->pCodec->pKey, aSalt) : rc;
}

/*
** Read the first n bytes of the page of a frame, whose page starts at iOff. Which page that has to be
** was told by the pager (mcExpectPage): the page number in the frame header and the index in shared
** memory can be changed by whoever can change the file, and would let one page stand for another.
*/
static int readFramePage(McFile *pFile, u8 *pOut, int n, i64 iOff, int nPage) {
    McCodec *p = pFile->pCodec;
    Pgno pgno = p->iExpect;
    u8 *aPage;
    int rc = mcCodecBuffers(p, nPage);
    if (rc != SQLITE_OK) return rc;
    p->iExpect = 0;
    if (pgno == 0) return SQLITE_IOERR_READ;
    aPage = mcReadBuffer(p);
    rc = pFile->pReal->pMethods->xRead(pFile->pReal, aPage, nPage, iOff);
    if (rc == SQLITE_OK) rc = mcOpenPage(p, p->pKey, pgno, aPage, nPage);
    if (rc != SQLITE_OK) {
        memset(pOut, 0, (size_t)n);
        return rc;
    }
    memcpy(pOut, aPage, (size_t)n);
    return SQLITE_OK;
}

/* Read a frame, header and page, of a WAL with checksums over plaintext, for its checksum. What cannot
** be opened is left as it is: SQLite takes the WAL to end at a frame whose checksum is wrong. */
static int readLegacyFrame(McFile *pFile, u8 *pOut, i64 iOff, int nPage) {
    McCodec *p = pFile->pCodec;
    u8 *aPage;
    int rc = pFile->pReal->pMethods->xRead(pFile->pReal, pOut, MC_FRAME_HEADER + nPage, iOff);
    Pgno pgno = rc == SQLITE_OK ? sqlite3Get4byte(pOut) : 0;
    if (pgno == 0) return rc;
    if (!p->pKey->bDerived) rc = deriveFromMain(pFile);
    if (rc == SQLITE_OK) rc = mcCodecBuffers(p, nPage);
    if (rc != SQLITE_OK) return rc;
    aPage = mcReadBuffer(p);
    memcpy(aPage, pOut + MC_FRAME_HEADER, (size_t)nPage);
    rc = mcOpenPage(p, p->pKey, pgno, aPage, nPage);
    if (rc == SQLITE_OK) {
        mcClearReserved(p->pKey, aPage, nPage);
        memcpy(pOut + MC_FRAME_HEADER, aPage, (size_t)nPage);
    }
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? SQLITE_OK : rc;
}

/*
** Is the first frame of a WAL, as read for recovery, one with a checksum over plaintext, though nobody
** said so? SQLite would take the WAL for empty and its rows would be gone.
*/
static int isLegacyWal(McFile *pFile, Wal *pWal, const u8 *aFrame) {
    McCodec *p = pFile->pCodec;
    int bNative = pWal->hdr.bigEndCksum == SQLITE_BIGENDIAN;
    int nPage = (int)pWal->szPage;
    u32 aHead[2], aSum[2];
    u8 *aPage;
    if (memcmp(&pWal->hdr.aSalt, aFrame + 8, 8) != 0 || sqlite3Get4byte(aFrame) == 0) return 0;
    walChecksumBytes(bNative, (u8 *)aFrame, 8, pWal->hdr.aFrameCksum, aHead);
    walChecksumBytes(bNative, (u8 *)aFrame + MC_FRAME_HEADER, nPage, aHead, aSum);
    if (aSum[0] == sqlite3Get4byte(aFrame + 16) && aSum[1] == sqlite3Get4byte(aFrame + 20)) return 0;
    if (!p->pKey->bDerived && deriveFromMain(pFile) != SQLITE_OK) return 0;
    if (mcCodecBuffers(p, nPage) != SQLITE_OK) return 0;
    aPage = mcReadBuffer(p);
    memcpy(aPage, aFrame + MC_FRAME_HEADER, (size_t)nPage);
    if (mcOpenPage(p, p->pKey, sqlite3Get4byte(aFrame), aPage, nPage) != SQLITE_OK) return 0;
    mcClearReserved(p->pKey, aPage, nPage);
    walChecksumBytes(bNative, aPage, nPage, aHead, aSum);
    return aSum[0] == sqlite3Get4byte(aFrame + 16) && aSum[1] == sqlite3Get4byte(aFrame + 20);
}

static int readWal(McFile *pFile, void *pOut, int nOut, i64 iOff) {
    McCodec *p = pFile->pCodec;
    Wal *pWal = p->pPager->pWal;
    int nPage = pWal ? (int)pWal->szPage : 0;
    if (p->pKey && nPage > 0 && iOff >= MC_WAL_HEADER) {
        i64 iInFrame = (iOff - MC_WAL_HEADER) % (nPage + MC_FRAME_HEADER);
        if (iInFrame == MC_FRAME_HEADER && nOut <= nPage) return readFramePage(pFile, pOut, nOut, iOff, nPage);
        if (iInFrame == 0 && nOut == nPage + MC_FRAME_HEADER && p->pKey->bLegacyWal) {
            return readLegacyFrame(pFile, pOut, iOff, nPage);
        }
        if (iOff == MC_WAL_HEADER && nOut == nPage + MC_FRAME_HEADER) {
            int rc = pFile->pReal->pMethods->xRead(pFile->pReal, pOut, nOut, iOff);
            if (rc != SQLITE_OK || !isLegacyWal(pFile, pWal, pOut)) return rc;
            sqlite3_log(SQLITE_NOTADB, "the WAL has checksums over plaintext: set mc_legacy_wal=1");
            return SQLITE_NOTADB;
        }
    }
    return pFile->pReal->pMethods->xRead(pFile->pReal, pOut, nOut, iOff);
}

/* The codec of a WAL, or 0. */
static McCodec *mcWalCodec(Wal *pWal) {
    return mcIsOurFile(pWal->pWalFd) ? ((McFile *)pWal->pWalFd)->pCodec : 0;
}

/* Called before a page is read from the WAL. */
static void mcExpectPage(Wal *pWal, Pgno pgno) {
    McCodec *p = mcWalCodec(pWal);
    if (p) p->iExpect = pgno;
}

#ifdef SQLITE_ENABLE_SNAPSHOT
/* Do two opened pages of a database have the same content? Nonces and tags do not count. */
static int mcSamePage(Wal *pWal, u8 *aOne, u8 *aTwo, int nPage) {
    McCodec *p = mcWalCodec(pWal);
    if (p && p->pKey) {
        mcClearReserved(p->pKey, aOne, nPage);
        mcClearReserved(p->pKey, aTwo, nPage);
    }
    return memcmp(aOne, aTwo, (size_t)nPage) == 0;
}
#endif

/* ---- sqlite3_io_methods */

static int mcClose(sqlite3_file *pFile) {
    McFile *p = (McFile *)pFile;
    int rc;
    if (p->eKind == MC_FILE_MAIN) {
        sqlite3_mutex *pMutex = mcMutex();
        if (p->pCodec) {
            McCodec *pCodec = p->pCodec;
            mcUnlink(pCodec);
            mcCodecFree(pCodec);
        }
        sqlite3_mutex_enter(pMutex);
        p->pVfs->nMain--;
        sqlite3_mutex_leave(pMutex);
    }
    mcTempFree(p->pTemp);
    p->pTemp = 0;
    rc = p->pReal->pMethods->xClose(p->pReal);
    p->base.pMethods = 0;
    return rc;
}

static int mcRead(sqlite3_file *pFile, void *pOut, int nOut, sqlite3_int64 iOff) {
    McFile *p = (McFile *)pFile;
    if (p->eKind == MC_FILE_TEMP) return mcTempRead(p, pOut, nOut, iOff);
    if (p->pCodec) {
        if (p->eKind == MC_FILE_MAIN) return readMain(p, pOut, nOut, iOff);
        if (p->eKind == MC_FILE_JOURNAL) return readJournal(p, pOut, nOut, iOff);
        if (p->eKind == MC_FILE_WAL) return readWal(p, pOut, nOut, iOff);
    }
    return p->pReal->pMethods->xRead(p->pReal, pOut, nOut, iOff);
}

static int mcWrite(sqlite3_file *pFile, const void *pIn, int nIn, sqlite3_int64 iOff) {
    McFile *p = (McFile *)pFile;
    if (p->eKind == MC_FILE_TEMP) return mcTempWrite(p, pIn, nIn, iOff);
    if (p->pCodec) {
        if (p->eKind == MC_FILE_MAIN) return writeMain(p, pIn, nIn, iOff);
        if (p->eKind == MC_FILE_JOURNAL) return writeJournal(p, pIn, nIn, iOff);
    }
    return p->pReal->pMethods->xWrite(p->pReal, pIn, nIn, iOff);
}

static int mcTruncate(sqlite3_file *pFile, sqlite3_int64 n) {
    if (((McFile *)pFile)->eKind == MC_FILE_TEMP) return mcTempTruncate((McFile *)pFile, n);
    return REAL(pFile)->pMethods->xTruncate(REAL(pFile), n);
}

static int mcSync(sqlite3_file *pFile, int flags) {
    if (((McFile *)pFile)->eKind == MC_FILE_TEMP) return mcTempSync((McFile *)pFile, flags);
    return REAL(pFile)->pMethods->xSync(REAL(pFile), flags);
}

static int mcFileSize(sqlite3_file *pFile, sqlite3_int64 *pn) {
    if (((McFile *)pFile)->eKind == MC_FILE_TEMP) {
        *pn = mcTempSize((McFile *)pFile);
        return SQLITE_OK;
    }
    return REAL(pFile)->pMethods->xFileSize(REAL(pFile), pn);
}

static int mcLock(sqlite3_file *pFile, int eLock) {
    return REAL(pFile)->pMethods->xLock(REAL(pFile), eLock);
}

static int mcUnlock(sqlite3_file *pFile, int eLock) {
    return REAL(pFile)->pMethods->xUnlock(REAL(pFile), eLock);
}

static int mcCheckReservedLock(sqlite3_file *pFile, int *pbReserved) {
    return REAL(pFile)->pMethods->xCheckReservedLock(REAL(pFile), pbReserved);
}

static int mcFileControl(sqlite3_file *pFile, int op, void *pArg) {
    McFile *p = (McFile *)pFile;
    int rc = p->pReal->pMethods->xFileControl(p->pReal, op, pArg);
    if (op == SQLITE_FCNTL_VFSNAME) {
        char **pz = pArg;
        char *zReal = rc == SQLITE_OK && *pz ? *pz : sqlite3_mprintf("%s", p->pVfs->pReal->zName);
        *pz = sqlite3_mprintf("%s/%z", p->pVfs->base.zName, zReal);
        rc = *pz ? SQLITE_OK : SQLITE_NOMEM;
    }
    return rc;
}

static int mcSectorSize(sqlite3_file *pFile) {
    const sqlite3_io_methods *pReal = REAL(pFile)->pMethods;
    return pReal->xSectorSize ? pReal->xSectorSize(REAL(pFile)) : SQLITE_DEFAULT_SECTOR_SIZE;
}

/* Whatever lets SQLite pass by the codec, or take one page for atomic, goes for encrypted files and
** temporary ones. */
static int mcDeviceCharacteristics(sqlite3_file *pFile) {
    const int around = SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_ATOMIC512 | SQLITE_IOCAP_ATOMIC1K | SQLITE_IOCAP_ATOMIC2K |
                       SQLITE_IOCAP_ATOMIC4K | SQLITE_IOCAP_ATOMIC8K | SQLITE_IOCAP_ATOMIC16K | SQLITE_IOCAP_ATOMIC32K |
                       SQLITE_IOCAP_ATOMIC64K | SQLITE_IOCAP_BATCH_ATOMIC | SQLITE_IOCAP_SUBPAGE_READ;
    const sqlite3_io_methods *pReal = REAL(pFile)->pMethods;
    int flags = pReal->xDeviceCharacteristics ? pReal->xDeviceCharacteristics(REAL(pFile)) : 0;
    return ((McFile *)pFile)->pCodec || ((McFile *)pFile)->eKind == MC_FILE_TEMP ? flags & ~around : flags;
}

static int mcShmMap(sqlite3_file *pFile, int iPage, int nPage, int bExtend, void volatile **pp) {
    return REAL(pFile)->pMethods->xShmMap(REAL(pFile), iPage, nPage, bExtend, pp);
}

static int mcShmLock(sqlite3_file *pFile, int iOff, int n, int flags) {
    return REAL(pFile)->pMethods->xShmLock(REAL(pFile), iOff, n, flags);
}

static void mcShmBarrier(sqlite3_file *pFile) {
    REAL(pFile)->pMethods->xShmBarrier(REAL(pFile));
}

static int mcShmUnmap(sqlite3_file *pFile, int bDelete) {
    return REAL(pFile)->pMethods->xShmUnmap(REAL(pFile), bDelete);
}

static int mcFetch(sqlite3_file *pFile, sqlite3_int64 iOff, int n, void **pp) {
    *pp = 0;
    if (((McFile *)pFile)->pCodec) return SQLITE_OK; /* a mapped page would be a sealed one */
    return REAL(pFile)->pMethods->xFetch(REAL(pFile), iOff, n, pp);
}

static int mcUnfetch(sqlite3_file *pFile, sqlite3_int64 iOff, void *p) {
    return REAL(pFile)->pMethods->xUnfetch(REAL(pFile), iOff, p);
}

#define MC_METHODS_1                                                                                                \
    mcClose, mcRead, mcWrite, mcTruncate, mcSync, mcFileSize, mcLock, mcUnlock, mcCheckReservedLock, mcFileControl, \
        mcSectorSize, mcDeviceCharacteristics
#define MC_METHODS_2 MC_METHODS_1, mcShmMap, mcShmLock, mcShmBarrier, mcShmUnmap

/* By the version of the real file's methods. */
static const sqlite3_io_methods mcMethods[3] = {
    {1, MC_METHODS_1, 0, 0, 0, 0, 0, 0},
    {2, MC_METHODS_2, 0, 0},
    {3, MC_METHODS_2, mcFetch, mcUnfetch},
};

/* Methods of a version 2 or 3 file may be missing. */
static const sqlite3_io_methods *methodsFor(const sqlite3_io_methods *pReal) {
    if (pReal->iVersion >= 3 && pReal->xShmMap && pReal->xFetch && pReal->xUnfetch) return &mcMethods[2];
    if (pReal->iVersion >= 2 && pReal->xShmMap) return &mcMethods[1];
    return &mcMethods[0];
}

/* ---- sqlite3_vfs */

/* The shim of a VFS: not by its address, for programs copy the structure of the default VFS and change a part. */
#define SHIM(V) ((McVfs *)(V)->pAppData)
#define REAL_VFS(V) (SHIM(V)->pReal)

static int mcOpen(sqlite3_vfs *pVfs, const char *zName, sqlite3_file *pFile, int flags, int *pOutFlags) {
    McFile *p = (McFile *)pFile;
    sqlite3_vfs *pRealVfs = REAL_VFS(pVfs);
    int rc;
    memset(p, 0, sizeof(*p));
    p->pReal = (sqlite3_file *)&p[1];
    p->pVfs = SHIM(pVfs);
    p->iPgnoOff = -1;
    p->pReal->pMethods = 0;
    rc = pRealVfs->xOpen(pRealVfs, zName, p->pReal, flags, pOutFlags);
    if (rc != SQLITE_OK) {
        /* As SQLite does: a failed open that leaves methods behind is closed. */
        if (p->pReal->pMethods) p->pReal->pMethods->xClose(p->pReal);
        return rc;
    }
    if (flags & SQLITE_OPEN_MAIN_DB) {
        sqlite3_mutex *pMutex = mcMutex();
        p->eKind = MC_FILE_MAIN;
        sqlite3_mutex_enter(pMutex);
        p->pVfs->nMain++;
        sqlite3_mutex_leave(pMutex);
    } else if (zName && (flags & SQLITE_OPEN_MAIN_JOURNAL)) {
        p->eKind = MC_FILE_JOURNAL;
        p->pCodec = codecOfSideFile(p->pVfs, zName);
    } else if (zName && (flags & SQLITE_OPEN_WAL)) {
        p->eKind = MC_FILE_WAL;
        p->pCodec = codecOfSideFile(p->pVfs, zName);
    } else if (zName == 0 || (flags & SQLITE_OPEN_DELETEONCLOSE)) {
        p->eKind = MC_FILE_TEMP;
        p->bTempDb = (flags & (SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB)) != 0;
    }
    /* A temporary file has neither shared memory nor mapped pages. */
    p->base.pMethods = p->eKind == MC_FILE_TEMP ? &mcMethods[0] : methodsFor(p->pReal->pMethods);
    return SQLITE_OK;
}

static int mcDelete(sqlite3_vfs *pVfs, const char *zName, int bSyncDir) {
    return REAL_VFS(pVfs)->xDelete(REAL_VFS(pVfs), zName, bSyncDir);
}

static int mcAccess(sqlite3_vfs *pVfs, const char *zName, int flags, int *pOut) {
    return REAL_VFS(pVfs)->xAccess(REAL_VFS(pVfs), zName, flags, pOut);
}

static int mcFullPathname(sqlite3_vfs *pVfs, const char *zName, int nOut, char *zOut) {
    return REAL_VFS(pVfs)->xFullPathname(REAL_VFS(pVfs), zName, nOut, zOut);
}

static void *mcDlOpen(sqlite3_vfs *pVfs, const char *zName) {
    return REAL_VFS(pVfs)->xDlOpen(REAL_VFS(pVfs), zName);
}

static void mcDlError(sqlite3_vfs *pVfs, int n, char *zOut) {
    REAL_VFS(pVfs)->xDlError(REAL_VFS(pVfs), n, zOut);
}

static void (*mcDlSym(sqlite3_vfs *pVfs, void *pLib, const char *zSymbol))(void) {
    return REAL_VFS(pVfs)->xDlSym(REAL_VFS(pVfs), pLib, zSymbol);
}

static void mcDlClose(sqlite3_vfs *pVfs, void *pLib) {
    REAL_VFS(pVfs)->xDlClose(REAL_VFS(pVfs), pLib);
}

static int mcSleep(sqlite3_vfs *, int);

/* VFSs written in JavaScript take xRandomness and xSleep of the default VFS for their own, so pVfs may
** be no shim; then the real VFS below some shim, one that has not taken ours, has to do. */
static sqlite3_vfs *mcSystemVfs(sqlite3_vfs *pVfs) {
    sqlite3_mutex *pMutex = mcMutex();
    McVfs *p = mcShims;
    if (pVfs->xOpen == mcOpen && REAL_VFS(pVfs)->xSleep != mcSleep) return REAL_VFS(pVfs);
    sqlite3_mutex_enter(pMutex);
    while (p && p->pReal->xSleep == mcSleep) p = p->pNextShim;
    sqlite3_mutex_leave(pMutex);
    return p ? p->pReal : 0;
}

static int mcRandomness(sqlite3_vfs *pVfs, int n, char *zOut) {
    sqlite3_vfs *pSystem = mcSystemVfs(pVfs);
    return pSystem ? pSystem->xRandomness(pSystem, n, zOut) : 0;
}

static int mcSleep(sqlite3_vfs *pVfs, int nMicro) {
    sqlite3_vfs *pSystem = mcSystemVfs(pVfs);
    return pSystem ? pSystem->xSleep(pSystem, nMicro) : 0;
}

static int mcCurrentTime(sqlite3_vfs *pVfs, double *pTime) {
    return REAL_VFS(pVfs)->xCurrentTime(REAL_VFS(pVfs), pTime);
}

static int mcGetLastError(sqlite3_vfs *pVfs, int n, char *zOut) {
    return REAL_VFS(pVfs)->xGetLastError ? REAL_VFS(pVfs)->xGetLastError(REAL_VFS(pVfs), n, zOut) : 0;
}

static int mcCurrentTimeInt64(sqlite3_vfs *pVfs, sqlite3_int64 *pTime) {
    return REAL_VFS(pVfs)->xCurrentTimeInt64(REAL_VFS(pVfs), pTime);
}

static int mcSetSystemCall(sqlite3_vfs *pVfs, const char *zName, sqlite3_syscall_ptr pCall) {
    return REAL_VFS(pVfs)->xSetSystemCall(REAL_VFS(pVfs), zName, pCall);
}

static sqlite3_syscall_ptr mcGetSystemCall(sqlite3_vfs *pVfs, const char *zName) {
    return REAL_VFS(pVfs)->xGetSystemCall(REAL_VFS(pVfs), zName);
}

static const char *mcNextSystemCall(sqlite3_vfs *pVfs, const char *zName) {
    return REAL_VFS(pVfs)->xNextSystemCall(REAL_VFS(pVfs), zName);
}

static McVfs *shimNew(sqlite3_vfs *pReal) {
    size_t nName = strlen(MC_VFS_PREFIX) + strlen(pReal->zName) + 1;
    McVfs *p = sqlite3_malloc64(sizeof(*p) + nName);
    char *zName;
    if (p == 0) return 0;
    memset(p, 0, sizeof(*p));
    zName = (char *)&p[1];
    sqlite3_snprintf((int)nName, zName, "%s%s", MC_VFS_PREFIX, pReal->zName);
    p->pReal = pReal;
    p->base.iVersion = MIN(pReal->iVersion, 3);
    p->base.szOsFile = (int)sizeof(McFile) + pReal->szOsFile;
    p->base.mxPathname = pReal->mxPathname;
    p->base.zName = zName;
    p->base.pAppData = p;
    p->base.xOpen = mcOpen;
    p->base.xDelete = mcDelete;
    p->base.xAccess = mcAccess;
    p->base.xFullPathname = mcFullPathname;
    p->base.xDlOpen = pReal->xDlOpen ? mcDlOpen : 0;
    p->base.xDlError = pReal->xDlError ? mcDlError : 0;
    p->base.xDlSym = pReal->xDlSym ? mcDlSym : 0;
    p->base.xDlClose = pReal->xDlClose ? mcDlClose : 0;
    p->base.xRandomness = mcRandomness;
    p->base.xSleep = mcSleep;
    p->base.xCurrentTime = pReal->xCurrentTime ? mcCurrentTime : 0;
    p->base.xGetLastError = mcGetLastError;
    if (pReal->iVersion >= 2) p->base.xCurrentTimeInt64 = pReal->xCurrentTimeInt64 ? mcCurrentTimeInt64 : 0;
    if (pReal->iVersion >= 3) {
        p->base.xSetSystemCall = pReal->xSetSystemCall ? mcSetSystemCall : 0;
        p->base.xGetSystemCall = pReal->xGetSystemCall ? mcGetSystemCall : 0;
        p->base.xNextSystemCall = pReal->xNextSystemCall ? mcNextSystemCall : 0;
    }
    return p;
}

/* Register a VFS behind all others. sqlite3_vfs_register() would put it second, and it would be the default when
** the first goes, which may be the very one that it stands on. */
static void shimAppend(sqlite3_vfs *pVfs) {
    sqlite3_mutex *pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_MAIN);
    sqlite3_vfs **pp = &vfsList;
    sqlite3_mutex_enter(pMutex);
    while (*pp) pp = &(*pp)->pNext;
    *pp = pVfs;
    pVfs->pNext = 0;
    sqlite3_mutex_leave(pMutex);
}

int sqlite3mc_vfs_create(const char *zVfsReal, int makeDefault) {
    sqlite3_vfs *pReal;
    sqlite3_mutex *pMutex;
    McVfs *p;
    int bNew = 0;
    int rc = sqlite3_initialize();
    if (rc != SQLITE_OK) return rc;
    pReal = sqlite3_vfs_find(zVfsReal);
    if (pReal == 0) return SQLITE_NOTFOUND;
    if (pReal->xOpen == mcOpen) {
        return makeDefault ? sqlite3_vfs_register(pReal, 1) : SQLITE_OK; /* it is a shim already */
    }
    pMutex = mcMutex();
    sqlite3_mutex_enter(pMutex);
    for (p = mcShims; p && p->pReal != pReal; p = p->pNextShim) {
    }
    if (p == 0) {
        p = shimNew(pReal);
        if (p) {
            bNew = 1;
            p->pNextShim = mcShims;
            mcShims = p;
        }
    }
    sqlite3_mutex_leave(pMutex);
    if (p == 0) return SQLITE_NOMEM;
    /* To register a VFS again without makeDefault would take the default from it. */
    if (makeDefault) return sqlite3_vfs_register(&p->base, 1);
    if (bNew) shimAppend(&p->base);
    return SQLITE_OK;
}

void sqlite3mc_vfs_destroy(const char *zName) {
    sqlite3_mutex *pMutex;
    McVfs **pp, *p = 0;
    if (zName == 0 || sqlite3_initialize() != SQLITE_OK) return;
    pMutex = mcMutex();
    sqlite3_mutex_enter(pMutex);
    for (pp = &mcShims; *pp && strcmp((*pp)->base.zName, zName) != 0; pp = &(*pp)->pNextShim) {
    }
    if (*pp && (*pp)->nMain == 0) {
        p = *pp;
        *pp = p->pNextShim;
    }
    sqlite3_mutex_leave(pMutex);
    if (p) {
        sqlite3_vfs_unregister(&p->base);
        sqlite3_free(p);
    }
}

void sqlite3mc_vfs_shutdown(void) {
    char *zName;
    do {
        McVfs *p;
        sqlite3_mutex *pMutex;
        if (sqlite3_initialize() != SQLITE_OK) return;
        pMutex = mcMutex();
        sqlite3_mutex_enter(pMutex);
        for (p = mcShims; p && p->nMain > 0; p = p->pNextShim) {
        }
        zName = p ? sqlite3_mprintf("%s", p->base.zName) : 0;
        sqlite3_mutex_leave(pMutex);
        sqlite3mc_vfs_destroy(zName);
        sqlite3_free(zName);
    } while (zName);
}

/* Called when a database is opened with a VFS that is not registered: "multipleciphers-X" is made from X. */
static sqlite3_vfs *mcFindVfs(const char *zVfs) {
    size_t n = strlen(MC_VFS_PREFIX);
    if (zVfs == 0 || strncmp(zVfs, MC_VFS_PREFIX, n) != 0 || strncmp(zVfs + n, MC_VFS_PREFIX, n) == 0) return 0;
    return sqlite3mc_vfs_create(zVfs + n, 0) == SQLITE_OK ? sqlite3_vfs_find(zVfs) : 0;
}

int sqlite3mc_initialize(const char *zUnused) {
    int rc;
    (void)zUnused;
    mcWrapMemory();
    mcRegisterFunctions();
    rc = sqlite3mc_vfs_create(0, 1);
    if (rc != SQLITE_OK) mcUnwrapMemory();
    return rc;
}

void sqlite3mc_shutdown(void) {
    sqlite3mc_vfs_shutdown();
    mcForgetSchemes();
    csprng_wipe();
    mcUnwrapMemory();
}
