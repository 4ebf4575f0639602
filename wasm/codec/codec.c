/*
** The state of one encrypted database file: its key, and the private buffers in which pages are
** sealed and opened. The pager's buffers only ever see plaintext that has been verified; the real
** VFS only ever sees sealed pages.
*/
#include "codec.h"

static void codecFreeBuffers(McCodec *p) {
    if (p->aBuf) secure_zero(p->aBuf, 2 * (size_t)p->nPage);
    sqlite3_free(p->aBuf);
    p->aBuf = 0;
    p->nPage = 0;
}

/* Make the buffers for pages of nPage bytes, or SQLITE_IOERR_NOMEM. */
static int mcCodecBuffers(McCodec *p, int nPage) {
    if (p->nPage == nPage) return SQLITE_OK;
    codecFreeBuffers(p);
    p->aBuf = sqlite3_malloc(2 * nPage);
    if (p->aBuf == 0) return SQLITE_IOERR_NOMEM;
    p->nPage = nPage;
    return SQLITE_OK;
}

static u8 *mcReadBuffer(McCodec *p) {
    return p->aBuf;
}

static u8 *mcWriteBuffer(McCodec *p) {
    return p->aBuf + p->nPage;
}

/* Takes pKey over if it succeeds. pKey 0: a codec of a plain file, for a rekey. */
static int mcCodecNew(Pager *pPager, McKey *pKey, McCodec **pp) {
    McCodec *p = sqlite3_malloc(sizeof(*p));
    *pp = 0;
    if (p == 0) return SQLITE_NOMEM;
    memset(p, 0, sizeof(*p));
    if (mcCodecBuffers(p, (int)pPager->pageSize) != SQLITE_OK) {
        sqlite3_free(p);
        return SQLITE_NOMEM;
    }
    p->pPager = pPager;
    p->pKey = pKey;
    *pp = p;
    return SQLITE_OK;
}

static void mcCodecFree(McCodec *p) {
    if (p == 0) return;
    mcKeyFree(p->pKey);
    mcKeyFree(p->pNew);
    codecFreeBuffers(p);
    sqlite3_free(p->aAhead);
    sqlite3BitvecDestroy(p->pRewritten);
    sqlite3BitvecDestroy(p->pFreeLeaf);
    secure_zero(p, sizeof(*p));
    sqlite3_free(p);
}

static int notOpened(Pgno pgno) {
    return pgno == 1 ? SQLITE_NOTADB : SQLITE_CORRUPT_BKPT;
}

/*
** Open the stored page at aPage in place. Page 1 tells the salt. On any error aPage is all zero:
** SQLITE_NOTADB (page 1) or SQLITE_CORRUPT if it does not verify, SQLITE_NOMEM, SQLITE_ERROR.
*/
static int mcOpenPage(McCodec *p, McKey *pKey, Pgno pgno, u8 *aPage, int nPage) {
    int bHidden;
    int rc = SQLITE_OK;
    (void)p;
    if (nPage < 512) return SQLITE_NOTADB;
    if (pgno == 1) {
        (void)mcKeyPageSize(pKey, &bHidden);
        rc = !bHidden && aPage[20] < mcKeyReserved(pKey) ? SQLITE_NOTADB : mcKeyUseSalt(pKey, aPage);
    } else if (!pKey->bDerived) {
        rc = SQLITE_NOTADB;
    }
    if (rc == SQLITE_OK) {
        int eOpened = pKey->pScheme->xOpen(pKey->pState, pgno, aPage, (size_t)nPage, pKey->bHmacCheck);
        if (eOpened != MC_SCHEME_OK && eOpened != MC_SCHEME_UNVERIFIED) rc = notOpened(pgno);
        if (pgno == 1 && rc == SQLITE_OK) pKey->bUnverified = eOpened == MC_SCHEME_UNVERIFIED;
    }
    if (rc == SQLITE_OK && pgno == 1) {
        if (memcmp(aPage, mc_sqlite_magic, 16) != 0) {
            rc = SQLITE_NOTADB;
        } else if (!pKey->bUnverified) {
            mcKeyForgetPassword(pKey);
        }
    }
    if (rc != SQLITE_OK) secure_zero(aPage, (size_t)nPage);
    return rc;
}

/*
** Nonce and tag overwrite the end of the page: it must be reserved, by the pager and in the header of
** the database. And what was opened under a key that is perhaps not the right one (hmac_check = 0) is
** not written back under it.
*/
static int mayBeSealed(const McCodec *p, const McKey *pKey, Pgno pgno, const u8 *aPlain) {
    int nNeed = mcKeyReserved(pKey);
    if (pKey->bUnverified) {
        sqlite3_log(SQLITE_IOERR_WRITE, "nothing is written while page 1 does not verify (hmac_check=0)");
        return 0;
    }
    if ((pgno == 1 && aPlain[20] < nNeed) || (p->eRekey == MC_REKEY_NONE && p->pPager->nReserve < nNeed)) {
        sqlite3_log(SQLITE_IOERR_WRITE, "no reserved bytes for nonce and tag");
        return 0;
    }
    return 1;
}

/* Seal a page into the write buffer; *paOut is valid until the next call. All errors are I/O errors:
** the pager takes no other kind from a write. */
static int mcSealPage(McCodec *p, McKey *pKey, Pgno pgno, const void *aPlain, int nPage, u8 **paOut) {
    u8 *aPage;
    int rc = mcCodecBuffers(p, nPage);
    *paOut = 0;
    if (rc == SQLITE_OK && !mayBeSealed(p, pKey, pgno, aPlain)) rc = SQLITE_IOERR_WRITE;
    if (rc == SQLITE_OK) rc = mcKeyNewSalt(pKey);
    if (rc == SQLITE_NOMEM) rc = SQLITE_IOERR_NOMEM;
    if (rc != SQLITE_OK) return (rc & 0xff) == SQLITE_IOERR ? rc : SQLITE_IOERR_WRITE;
    aPage = mcWriteBuffer(p);
    memcpy(aPage, aPlain, (size_t)nPage);
    rc = pKey->pScheme->xSeal(pKey->pState, pgno, aPage, (size_t)nPage);
    if (rc != MC_SCHEME_OK) {
        secure_zero(aPage, (size_t)nPage);
        sqlite3_log(SQLITE_IOERR_WRITE, "no random bytes for a nonce");
        return SQLITE_IOERR_WRITE;
    }
    if (pgno == 1) mcKeyForgetPassword(pKey);
    *paOut = aPage;
    return SQLITE_OK;
}

static int aheadBuffer(McCodec *p, int nPage) {
    if (p->nAheadPage == nPage) return 1;
    sqlite3_free(p->aAhead); /* nothing is in it */
    p->aAhead = sqlite3_malloc(MC_SEAL_MANY * nPage);
    p->nAheadPage = p->aAhead ? nPage : 0;
    return p->aAhead != 0;
}

/* The codec that may have sealed pages ahead for a pager, or 0. */
static McCodec *aheadCodec(Pager *pPager) {
    McFile *pMain = mcMainFile(pPager);
    return pMain ? pMain->pCodec : 0;
}

/* Called before the pager writes a list of pages. One that ended with an error may have left sealed images,
** which the pages, at the same places in memory, no longer match. */
static void mcForgetAhead(Pager *pPager) {
    McCodec *p = aheadCodec(pPager);
    if (p) p->nAhead = p->iAhead = 0;
}

/*
** Called before the pager writes the first of a list of pages to the main file. Seal some of them at once, if
** the scheme is faster at that; each is fetched by mcSealedAhead() when it is written. Whatever is in the
** way, they are sealed one by one.
*/
static void mcSealAhead(Pager *pPager, PgHdr *pList) {
    McCodec *p = aheadCodec(pPager);
    int nPage = (int)pPager->pageSize;
    u8 *apPage[MC_SEAL_MANY];
    int n = 0;
    if (p == 0 || p->pKey == 0 || p->pKey->pScheme->xSealMany == 0 || p->eRekey != MC_REKEY_NONE) return;
    if (p->iAhead < p->nAhead && p->aAheadPgno[p->iAhead] == pList->pgno &&
        p->apAheadPlain[p->iAhead] == pList->pData) {
        return;
    }
    p->nAhead = p->iAhead = 0;
    for (PgHdr *pPg = pList; pPg && n < MC_SEAL_MANY; pPg = pPg->pDirty, n++) {
        if (pPg->pgno == 1 || pPg->pgno > pPager->dbSize) break;
        p->aAheadPgno[n] = pPg->pgno;
        p->apAheadPlain[n] = pPg->pData;
    }
    if (n < 2 || !p->pKey->bDerived || !mayBeSealed(p, p->pKey, pList->pgno, pList->pData) || !aheadBuffer(p, nPage)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        apPage[i] = p->aAhead + (size_t)i * (size_t)nPage;
        memcpy(apPage[i], p->apAheadPlain[i], (size_t)nPage);
    }
    p->nAhead = n;
    if (p->pKey->pScheme->xSealMany(p->pKey->pState, p->aAheadPgno, apPage, n, (size_t)nPage) != MC_SCHEME_OK) {
        secure_zero(p->aAhead, (size_t)MC_SEAL_MANY * (size_t)nPage);
        p->nAhead = 0;
    }
}

/* The sealed image of a page if it has been sealed ahead, else 0. It is valid until the next call for this
** codec of mcSealAhead(), and is given once. */
static u8 *mcSealedAhead(McCodec *p, Pgno pgno, const void *aPlain) {
    if (p->iAhead >= p->nAhead) return 0;
    if (p->aAheadPgno[p->iAhead] == pgno && p->apAheadPlain[p->iAhead] == aPlain) {
        return p->aAhead + (size_t)p->iAhead++ * (size_t)p->nAheadPage;
    }
    p->nAhead = p->iAhead = 0;
    return 0;
}

/*
** Which key holds for a page of the main file? During a rekey a page is under the new key once it
** has been written under it, until the journal is played back. 0: the page is plaintext.
*/
static McKey *mcMainReadKey(McCodec *p, Pgno pgno) {
    return p->eRekey == MC_REKEY_FORWARD && sqlite3BitvecTestNotNull(p->pRewritten, pgno) ? p->pNew : p->pKey;
}

static int mcMainWriteKey(McCodec *p, Pgno pgno, McKey **ppKey) {
    if (p->eRekey != MC_REKEY_FORWARD) {
        *ppKey = p->pKey;
        return SQLITE_OK;
    }
    *ppKey = p->pNew;
    return sqlite3BitvecSet(p->pRewritten, pgno) == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

/* Nonce and tag of an opened page are noise; a checksum over plaintext takes them as zero. */
static void mcClearReserved(const McKey *pKey, u8 *aPage, int nPage) {
    int n = mcKeyReserved(pKey);
    memset(aPage + nPage - n, 0, (size_t)n);
}
