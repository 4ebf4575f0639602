/*
** Temporary files: temporary databases, what VACUUM builds, sorter files, statement journals. They hold
** rows of encrypted databases, and which ones nobody can tell the shim, so all of them are encrypted.
**
** A file has a random key of its own, which exists in memory only, as long as the file is open. It is cut
** into blocks. Each write of a block is sealed by ChaCha20-Poly1305 under a nonce that counts the writes
** of this file, so that no nonce comes twice; nonce and tag are kept in memory. A block that is changed,
** moved or put back to an earlier state behind our back is SQLITE_IOERR_DATA.
**
** SQLite writes some of these files at any offset, in pieces of any length. One block, the last one that
** was touched in part, is kept in plaintext and written when another takes its place. A temporary file is
** used by one thread at a time and by one connection.
*/
#include "codec.h"

#include "../crypto/bytes.h"
#include "../crypto/chacha20_poly1305.h"

#define MC_SEAL_SIZE 32 /* what the page kernel puts behind the data: nonce and tag */

/* A block as it stands in the file. */
typedef struct McSeal {
    u64 iWrite; /* number of the write; 0: the block was never written, and is zero */
    u8 aTag[16];
} McSeal;

/* The seals of this many blocks are allocated together. */
#define MC_SEALS 128

struct McTemp {
    u8 aKey[32];
    u64 nWrite;       /* blocks sealed so far */
    i64 nSize;        /* size as SQLite sees it; what lies behind it in its block is zero */
    int nBlock;       /* bytes per block */
    i64 iCached;      /* the block in aCache, or -1 */
    u8 bDirty;        /* which the file does not have yet */
    McSeal **apSeals; /* the seals of blocks i * MC_SEALS and following, or 0 */
    int nSeals;
    u8 *aCache;             /* nBlock bytes */
    u8 aScratch[FLEXARRAY]; /* nBlock + MC_SEAL_SIZE bytes; aCache follows */
};

#define MC_TEMP_SIZE(nBlock) (offsetof(McTemp, aScratch) + 2 * (size_t)(nBlock) + MC_SEAL_SIZE)

static McSeal *sealOf(McTemp *p, i64 iBlock) {
    i64 i = iBlock / MC_SEALS;
    return i < p->nSeals && p->apSeals[i] ? &p->apSeals[i][iBlock % MC_SEALS] : 0;
}

/* Make room for the seal of a block. 0: out of memory. */
static McSeal *sealMake(McTemp *p, i64 iBlock) {
    i64 i = iBlock / MC_SEALS;
    if (i >= p->nSeals) {
        i64 n = MAX(2 * (i64)p->nSeals, i + 8);
        McSeal **ap = sqlite3_realloc64(p->apSeals, (u64)n * sizeof(McSeal *));
        if (ap == 0) return 0;
        memset(ap + p->nSeals, 0, (size_t)(n - p->nSeals) * sizeof(McSeal *));
        p->apSeals = ap;
        p->nSeals = (int)n;
    }
    if (p->apSeals[i] == 0) {
        p->apSeals[i] = sqlite3_malloc64(MC_SEALS * sizeof(McSeal));
        if (p->apSeals[i] == 0) return 0;
        memset(p->apSeals[i], 0, MC_SEALS * sizeof(McSeal));
    }
    return &p->apSeals[i][iBlock % MC_SEALS];
}

/* The one-time key of a write. Its nonce is put behind the block in the scratch buffer. */
static void tempOneTimeKey(McTemp *p, u64 iWrite, u8 aOneTime[64]) {
    u8 *aNonce = p->aScratch + p->nBlock;
    memset(aNonce, 0, 16);
    store32_le(aNonce, (u32)iWrite);
    store32_le(aNonce + 4, (u32)(iWrite >> 32));
    chacha20_block(p->aKey, aNonce, 0, aOneTime);
}

/* Seal the block in the scratch buffer and write it. */
static int writeBlock(McFile *pFile, i64 iBlock) {
    McTemp *p = pFile->pTemp;
    McSeal *pSeal = sealMake(p, iBlock);
    size_t n = (size_t)p->nBlock + MC_SEAL_SIZE;
    u8 aOneTime[64];
    int rc;
    if (pSeal == 0) return SQLITE_IOERR_NOMEM;
    tempOneTimeKey(p, ++p->nWrite, aOneTime);
    chacha20_poly1305_page_encrypt(p->aScratch, n, aOneTime, 1);
    secure_zero(aOneTime, sizeof(aOneTime));
    rc = pFile->pReal->pMethods->xWrite(pFile->pReal, p->aScratch, p->nBlock, iBlock * p->nBlock);
    if (rc == SQLITE_OK) {
        pSeal->iWrite = p->nWrite;
        memcpy(pSeal->aTag, p->aScratch + n - sizeof(pSeal->aTag), sizeof(pSeal->aTag));
    }
    return rc;
}

/* Read a block and open it in the scratch buffer, from where it is to be wiped. */
static int readBlock(McFile *pFile, i64 iBlock) {
    McTemp *p = pFile->pTemp;
    McSeal *pSeal = sealOf(p, iBlock);
    size_t n = (size_t)p->nBlock + MC_SEAL_SIZE;
    u8 aOneTime[64];
    int rc;
    if (pSeal == 0 || pSeal->iWrite == 0) {
        memset(p->aScratch, 0, n);
        return SQLITE_OK;
    }
    rc = pFile->pReal->pMethods->xRead(pFile->pReal, p->aScratch, p->nBlock, iBlock * p->nBlock);
    if (rc == SQLITE_OK) {
        tempOneTimeKey(p, pSeal->iWrite, aOneTime);
        memcpy(p->aScratch + n - sizeof(pSeal->aTag), pSeal->aTag, sizeof(pSeal->aTag));
        if (chacha20_poly1305_page_decrypt(p->aScratch, n, aOneTime, 1) != 0) rc = SQLITE_IOERR_DATA;
        secure_zero(aOneTime, sizeof(aOneTime));
    }
    /* The file is shorter than it was left: to SQLite that would mean zeros. */
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_IOERR_DATA : rc;
}

/* Write the cached block if the file does not have it. It stays in the cache. */
static int flushCache(McFile *pFile) {
    McTemp *p = pFile->pTemp;
    int rc;
    if (!p->bDirty) return SQLITE_OK;
    memcpy(p->aScratch, p->aCache, (size_t)p->nBlock);
    rc = writeBlock(pFile, p->iCached);
    if (rc == SQLITE_OK) p->bDirty = 0;
    return rc;
}

/* Bring a block into the cache. */
static int cacheBlock(McFile *pFile, i64 iBlock) {
    McTemp *p = pFile->pTemp;
    int rc;
    if (p->iCached == iBlock) return SQLITE_OK;
    rc = flushCache(pFile);
    if (rc == SQLITE_OK) rc = readBlock(pFile, iBlock);
    if (rc != SQLITE_OK) return rc;
    memcpy(p->aCache, p->aScratch, (size_t)p->nBlock);
    secure_zero(p->aScratch, (size_t)p->nBlock);
    p->iCached = iBlock;
    return SQLITE_OK;
}

/* The state of a file that is written for the first time. Databases and sorters write whole pages: one
** page is one block then. */
static int tempNew(McFile *pFile, int n, i64 iOff) {
    int bPages = n >= 512 && n <= SQLITE_MAX_PAGE_SIZE && (n & (n - 1)) == 0 && iOff % n == 0;
    int nBlock = bPages && (n >= 4096 || pFile->bTempDb) ? n : 4096;
    McTemp *p = sqlite3_malloc64(MC_TEMP_SIZE(nBlock));
    if (p == 0) return SQLITE_IOERR_NOMEM;
    memset(p, 0, offsetof(McTemp, aScratch));
    if (csprng_bytes(p->aKey, sizeof(p->aKey)) != 0) {
        sqlite3_free(p);
        sqlite3_log(SQLITE_IOERR_WRITE, "no random bytes for the key of a temporary file");
        return SQLITE_IOERR_WRITE;
    }
    p->nBlock = nBlock;
    p->iCached = -1;
    p->aCache = p->aScratch + nBlock + MC_SEAL_SIZE;
    pFile->pTemp = p;
    return SQLITE_OK;
}

static void mcTempFree(McTemp *p) {
    if (p == 0) return;
    for (int i = 0; i < p->nSeals; i++) sqlite3_free(p->apSeals[i]);
    sqlite3_free(p->apSeals);
    secure_zero(p, MC_TEMP_SIZE(p->nBlock));
    sqlite3_free(p);
}

static int mcTempRead(McFile *pFile, u8 *pOut, int nOut, i64 iOff) {
    McTemp *p = pFile->pTemp;
    int nHave = p ? (int)MIN(nOut, MAX(p->nSize - iOff, 0)) : 0;
    int rc = SQLITE_OK;
    memset(pOut + nHave, 0, (size_t)(nOut - nHave));
    for (int i = 0, n; p && rc == SQLITE_OK && i < nHave; i += n) {
        i64 iBlock = (iOff + i) / p->nBlock;
        int iIn = (int)((iOff + i) % p->nBlock);
        n = MIN(p->nBlock - iIn, nHave - i);
        if (iBlock != p->iCached && (n == p->nBlock || flushCache(pFile) != SQLITE_OK)) {
            /* What could not be written stays cached: a rollback only reads, and must work on a full disk. */
            rc = readBlock(pFile, iBlock);
            if (rc == SQLITE_OK) memcpy(pOut + i, p->aScratch + iIn, (size_t)n);
            secure_zero(p->aScratch, (size_t)p->nBlock);
        } else {
            rc = cacheBlock(pFile, iBlock);
            if (rc == SQLITE_OK) memcpy(pOut + i, p->aCache + iIn, (size_t)n);
        }
    }
    if (rc != SQLITE_OK) memset(pOut, 0, (size_t)nOut);
    return rc == SQLITE_OK && nHave < nOut ? SQLITE_IOERR_SHORT_READ : rc;
}

/* What is behind the last byte of the file in the cached block is zero already. */
static int mcTempWrite(McFile *pFile, const u8 *pIn, int nIn, i64 iOff) {
    int rc = pFile->pTemp ? SQLITE_OK : tempNew(pFile, nIn, iOff);
    McTemp *p = pFile->pTemp;
    for (int i = 0, n; rc == SQLITE_OK && i < nIn; i += n) {
        i64 iBlock = (iOff + i) / p->nBlock;
        int iIn = (int)((iOff + i) % p->nBlock);
        n = MIN(p->nBlock - iIn, nIn - i);
        if (n == p->nBlock) {
            memcpy(p->aScratch, pIn + i, (size_t)n);
            rc = writeBlock(pFile, iBlock);
            if (rc == SQLITE_OK && iBlock == p->iCached) {
                secure_zero(p->aCache, (size_t)n);
                p->iCached = -1;
                p->bDirty = 0;
            }
        } else {
            rc = cacheBlock(pFile, iBlock);
            if (rc == SQLITE_OK) {
                memcpy(p->aCache + iIn, pIn + i, (size_t)n);
                p->bDirty = 1;
            }
        }
        if (rc == SQLITE_OK) p->nSize = MAX(p->nSize, iOff + i + n);
    }
    return rc;
}

/* Forget the blocks from iBlock on. */
static void dropBlocks(McTemp *p, i64 iBlock) {
    if (p->iCached >= iBlock) {
        secure_zero(p->aCache, (size_t)p->nBlock);
        p->iCached = -1;
        p->bDirty = 0;
    }
    for (i64 i = iBlock / MC_SEALS; i < p->nSeals; i++) {
        i64 iFirst = i * MC_SEALS < iBlock ? iBlock % MC_SEALS : 0;
        if (p->apSeals[i]) memset(p->apSeals[i] + iFirst, 0, (size_t)(MC_SEALS - iFirst) * sizeof(McSeal));
    }
}

static int mcTempTruncate(McFile *pFile, i64 nSize) {
    McTemp *p = pFile->pTemp;
    i64 nKept;
    int nTail;
    int rc = SQLITE_OK;
    if (p == 0) return pFile->pReal->pMethods->xTruncate(pFile->pReal, nSize);
    if (nSize < p->nSize) {
        nTail = (int)(nSize % p->nBlock);
        nKept = nSize / p->nBlock + (nTail > 0);
        if (nTail > 0) {
            rc = cacheBlock(pFile, nKept - 1);
            if (rc != SQLITE_OK) return rc;
        }
        rc = pFile->pReal->pMethods->xTruncate(pFile->pReal, nKept * p->nBlock);
        if (rc != SQLITE_OK) return rc;
        if (nTail > 0) {
            memset(p->aCache + nTail, 0, (size_t)(p->nBlock - nTail));
            p->bDirty = 1;
        }
        dropBlocks(p, nKept);
    }
    p->nSize = nSize;
    return SQLITE_OK;
}

static int mcTempSync(McFile *pFile, int flags) {
    int rc = pFile->pTemp ? flushCache(pFile) : SQLITE_OK;
    return rc == SQLITE_OK ? pFile->pReal->pMethods->xSync(pFile->pReal, flags) : rc;
}

static i64 mcTempSize(const McFile *pFile) {
    return pFile->pTemp ? pFile->pTemp->nSize : 0;
}
