/*
** Keys of the databases of a connection: set, replaced and removed by PRAGMA and the C API, given
** in a URI, given to or inherited by ATTACH.
*/
#include "codec.h"

/* The B-tree of a database that can have a key, or an error. */
static int mcUsable(sqlite3 *db, int iDb, int bRekey, Btree **ppBt, char **pzErr) {
    Btree *pBt = db->aDb[iDb].pBt;
    Pager *pPager = pBt ? sqlite3BtreePager(pBt) : 0;
    *ppBt = pBt;
    if (pPager == 0 || pPager->memDb || pPager->memVfs || pPager->zFilename[0] == 0) {
        *pzErr = sqlite3_mprintf("%s not supported for in-memory or temporary databases.",
                                 bRekey ? "Rekeying" : "Setting key");
        return SQLITE_ERROR;
    }
    if (mcMainFile(pPager) == 0) {
        *pzErr =
            sqlite3_mprintf("%s failed. Encryption is not supported by the VFS.", bRekey ? "Rekeying" : "Setting key");
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

/* A key cannot change under a transaction, a running statement or a backup. */
static int mcIdle(sqlite3 *db, Btree *pBt, const char *zWhat, char **pzErr) {
    if (db->autoCommit && db->nVdbeActive == 0 && sqlite3BtreeTxnState(pBt) == SQLITE_TXN_NONE &&
        !sqlite3BtreeIsInBackup(pBt)) {
        return SQLITE_OK;
    }
    *pzErr = sqlite3_mprintf("%s is not possible inside a transaction, beside a running statement or during a backup.",
                             zWhat);
    return SQLITE_ERROR;
}

/* Page size (0: as it is) and reserved bytes for a B-tree that is not in use. */
static int mcSetGeometry(Btree *pBt, int nPage, int nReserve) {
    int rc;
    sqlite3BtreeEnter(pBt);
    pBt->pBt->btsFlags &= (u16)~BTS_PAGESIZE_FIXED;
    pBt->pBt->usableSize = pBt->pBt->pageSize;
    rc = sqlite3BtreeSetPageSize(pBt, nPage, nReserve, 0);
    sqlite3BtreeLeave(pBt);
    return rc;
}

/* The page size (0: as it is) and the reserved bytes that a key (0: plaintext) goes with: what the file
** says if it says something possible, else what the key asks of a new file. */
static int geometryFor(McFile *pMain, const McKey *pKey, int *pnPage, int *pnReserve) {
    u8 aHead[100];
    int bHidden = 0;
    int rc = pMain->pReal->pMethods->xRead(pMain->pReal, aHead, sizeof(aHead), 0);
    *pnPage = pKey ? mcKeyPageSize(pKey, &bHidden) : 0;
    *pnReserve = pKey ? mcKeyReserved(pKey) : 0;
    if (rc == SQLITE_OK && !bHidden) {
        int n = (aHead[16] << 8) | (aHead[17] << 16);
        int nReserve = aHead[20];
        if (mcHeaderPageSize(aHead) && nReserve >= *pnReserve && n - nReserve >= 480) {
            *pnPage = n;
            *pnReserve = nReserve;
        }
    }
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

/* Put a key (0: plaintext) in force in place of the present one, which is wiped. Takes pKey over if
** it succeeds, else nothing has changed. The B-tree must be idle. */
static int mcInstallKey(Btree *pBt, McKey *pKey) {
    Pager *pPager = sqlite3BtreePager(pBt);
    McCodec *pOld = mcPagerCodec(pPager);
    McCodec *pNew = 0;
    int nPage, nReserve;
    int rc = geometryFor(mcMainFile(pPager), pKey, &nPage, &nReserve);
    if (rc == SQLITE_OK && pKey) rc = mcCodecNew(pPager, pKey, &pNew);
    if (rc != SQLITE_OK) return rc;
    if (pOld) pOld->bLeaving = 1;
    rc = mcSetGeometry(pBt, nPage, nReserve);
    if (rc != SQLITE_OK) {
        if (pOld) pOld->bLeaving = 0;
        if (pNew) pNew->pKey = 0; /* it stays the caller's */
        mcCodecFree(pNew);
        return rc;
    }
    sqlite3BtreeEnter(pBt);
    if (pOld) {
        mcUnlink(pOld);
        mcCodecFree(pOld);
    }
    if (pNew) mcLink(pNew);
    pager_reset(pPager);
    if (pNew) sqlite3BtreeSecureDelete(pBt, 1);
    sqlite3BtreeLeave(pBt);
    return SQLITE_OK;
}

/* 1 if the main file is a plain database for certain: it begins like one, and no journal or WAL says
** that another page 1 is to come. */
static int isPlainDatabase(Pager *pPager) {
    sqlite3_file *pReal = mcMainFile(pPager)->pReal;
    u8 aHead[16];
    int bSide = 0;
    if (pReal->pMethods->xRead(pReal, aHead, sizeof(aHead), 0) != SQLITE_OK) return 0;
    if (memcmp(aHead, mc_sqlite_magic, sizeof(aHead)) != 0) return 0;
    if (sqlite3OsAccess(pPager->pVfs, pPager->zJournal, SQLITE_ACCESS_EXISTS, &bSide) != SQLITE_OK || bSide) return 0;
    if (sqlite3OsAccess(pPager->pVfs, pPager->zWal, SQLITE_ACCESS_EXISTS, &bSide) != SQLITE_OK || bSide) return 0;
    return 1;
}

/* Make a key from a password and put it in force; nKey = 0: plaintext. */
static int setPassword(sqlite3 *db, int iDb, const u8 *aKey, int nKey, char **pzErr) {
    Btree *pBt;
    McKey *pKey = 0;
    int bStoresSalt = 0;
    int rc = mcUsable(db, iDb, 0, &pBt, pzErr);
    if (rc == SQLITE_OK && nKey > 0) rc = mcKeyNew(db, aKey, nKey, &pKey, pzErr);
    if (rc != SQLITE_OK) return rc;
    if (pKey) bStoresSalt = pKey->pScheme->xPlaintextHeader(pKey->aValue) == 0;
    rc = mcInstallKey(pBt, pKey);
    if (rc != SQLITE_OK) {
        mcKeyFree(pKey);
        return rc;
    }
    if (bStoresSalt && isPlainDatabase(sqlite3BtreePager(pBt))) {
        *pzErr = sqlite3_mprintf(
            "The file begins like a plain database. Use rekey to encrypt it, an empty key to read it as it is, or set "
            "plaintext_header_size.");
        return SQLITE_NOTADB;
    }
    return SQLITE_OK;
}

/* Set the key of a database of a connection in use; nKey = 0 removes it. */
static int mcSetKey(sqlite3 *db, int iDb, const u8 *aKey, int nKey, char **pzErr) {
    Btree *pBt;
    int rc = mcUsable(db, iDb, 0, &pBt, pzErr);
    if (rc == SQLITE_OK) rc = mcIdle(db, pBt, "Setting the key", pzErr);
    if (rc != SQLITE_OK) return rc;
    rc = setPassword(db, iDb, aKey, nKey, pzErr);
    sqlite3ExpirePreparedStatements(db, 1);
    sqlite3ResetOneSchema(db, iDb);
    return rc;
}

/* The salt of a database: 16 bytes, or 0 if it is plain or its scheme has none. A new file gets its
** salt now. */
static int mcKeySalt(Btree *pBt, const u8 **paSalt) {
    McFile *pFile = pBt ? mcMainFile(sqlite3BtreePager(pBt)) : 0;
    McKey *pKey = pFile && pFile->pCodec ? pFile->pCodec->pKey : 0;
    u8 aHead[MC_SALT_SIZE];
    int rc = SQLITE_OK;
    *paSalt = 0;
    if (pKey == 0 || pKey->pScheme->nSalt == 0) return SQLITE_OK;
    if (!pKey->bSalt) {
        rc = pFile->pReal->pMethods->xRead(pFile->pReal, aHead, sizeof(aHead), 0);
        if (rc == SQLITE_IOERR_SHORT_READ) {
            rc = mcKeyNewSalt(pKey);
        } else if (rc == SQLITE_OK) {
            rc = mcKeyUseSalt(pKey, aHead);
        }
    }
    if (rc == SQLITE_OK) *paSalt = pKey->aSalt;
    return rc;
}

/* ---- URI parameters */

/* Take scheme, salt and parameters from the URI of a database. */
static int uriSettings(sqlite3 *db, const char *zFile, int eWhich, char **pzErr) {
    McSettings *pSet = mcSettings(db);
    return pSet ? mcSettingsFromUri(pSet, zFile, eWhich, pzErr) : SQLITE_NOMEM;
}

/* The key in the URI: hexkey if not empty, else key, else textkey. *paKey 0: there is none. It is to
** be given to freeKey(). */
static int uriKey(const char *zFile, u8 **paKey, int *pnKey, char **pzErr) {
    const char *zHex = sqlite3_uri_parameter(zFile, "hexkey");
    const char *z = sqlite3_uri_parameter(zFile, "key");
    int n;
    *paKey = 0;
    *pnKey = 0;
    if (zHex && zHex[0]) z = zHex;
    if (z == 0) z = sqlite3_uri_parameter(zFile, "textkey");
    if (z == 0) return SQLITE_OK;
    n = sqlite3Strlen30(z);
    *paKey = sqlite3_malloc(n + 1);
    if (*paKey == 0) return SQLITE_NOMEM;
    if (z != zHex) {
        memcpy(*paKey, z, (size_t)n + 1);
        *pnKey = n;
        return SQLITE_OK;
    }
    if (mc_hex_decode(z, (size_t)n, *paKey)) {
        *pnKey = n / 2;
        return SQLITE_OK;
    }
    sqlite3_free(*paKey);
    *paKey = 0;
    *pzErr = sqlite3_mprintf("Malformed hex string");
    return SQLITE_ERROR;
}

static void freeKey(u8 *aKey, int nKey) {
    if (aKey) secure_zero(aKey, (size_t)nKey);
    sqlite3_free(aKey);
}

/* Called by SQLite for each new connection, with its main database open but not yet read. */
int mcConnectionSetup(sqlite3 *db) {
    const char *zFile = sqlite3BtreeGetFilename(db->aDb[0].pBt);
    char *zErr = 0;
    u8 *aKey = 0;
    int nKey = 0;
    int rc = mcRegisterVerify(db);
    if (rc != SQLITE_OK || zFile == 0 || zFile[0] == 0) return rc;
    rc = uriSettings(db, zFile, MC_DEFAULT, &zErr);
    if (rc == SQLITE_OK) rc = uriKey(zFile, &aKey, &nKey, &zErr);
    if (rc == SQLITE_OK && nKey > 0) rc = setPassword(db, 0, aKey, nKey, &zErr);
    freeKey(aKey, nKey);
    if (rc != SQLITE_OK && zErr) sqlite3ErrorWithMsg(db, rc, "%s", zErr);
    sqlite3_free(zErr);
    return rc;
}

/* ---- ATTACH */

/* For VACUUM INTO: the file that is attached next takes the key of this database, not that of main. */
static int mcInheritFrom(sqlite3 *db, int iDb) {
    McSettings *pSet = mcSettings(db);
    if (pSet) pSet->iInherit = iDb;
    return pSet ? SQLITE_OK : SQLITE_NOMEM;
}

/* The key of the main database for a file attached without a key of its own. */
static int inheritKey(sqlite3 *db, McKey **ppKey) {
    McSettings *pSet = mcSettings(db);
    Btree *pMain = db->aDb[pSet ? pSet->iInherit : 0].pBt;
    McCodec *pCodec = mcPagerCodec(sqlite3BtreePager(pMain));
    int rc = SQLITE_OK;
    *ppKey = 0;
    if (pSet == 0) return SQLITE_NOMEM;
    if (pCodec == 0 || pCodec->pKey == 0) return SQLITE_OK;
    if (!pCodec->pKey->bDerived) {
        int bWasIdle = sqlite3BtreeTxnState(pMain) == SQLITE_TXN_NONE;
        rc = sqlite3BtreeBeginTrans(pMain, 0, 0);
        if (rc == SQLITE_OK) {
            rc = mcKeyNewSalt(pCodec->pKey); /* no change if page 1 told the salt */
            if (bWasIdle) sqlite3BtreeCommit(pMain);
        }
    }
    if (rc == SQLITE_OK && (*ppKey = mcKeyClone(pCodec->pKey)) == 0) rc = SQLITE_NOMEM;
    return rc;
}

/* The key of the attached database: that of the KEY clause, of the URI, or the inherited one. */
static int keyOfAttached(sqlite3 *db, int iDb, sqlite3_value *pArg, char **pzErr) {
    const char *zFile = sqlite3BtreeGetFilename(db->aDb[iDb].pBt);
    int eType = sqlite3_value_type(pArg);
    Btree *pBt;
    McKey *pKey = 0;
    u8 *aKey = 0;
    int nKey = 0;
    int rc = uriSettings(db, zFile, MC_TEMP, pzErr);
    if (rc != SQLITE_OK) return rc;
    if (eType == SQLITE_TEXT || eType == SQLITE_BLOB) {
        const void *p = eType == SQLITE_TEXT ? sqlite3_value_text(pArg) : sqlite3_value_blob(pArg);
        nKey = sqlite3_value_bytes(pArg);
        return nKey > 0 ? setPassword(db, iDb, p, nKey, pzErr) : SQLITE_OK;
    }
    rc = uriKey(zFile, &aKey, &nKey, pzErr);
    if (rc != SQLITE_OK || aKey) {
        if (rc == SQLITE_OK && nKey > 0) rc = setPassword(db, iDb, aKey, nKey, pzErr);
        freeKey(aKey, nKey);
        return rc;
    }
    rc = inheritKey(db, &pKey);
    if (rc == SQLITE_OK && pKey) {
        rc = mcUsable(db, iDb, 0, &pBt, pzErr);
        if (rc == SQLITE_OK) rc = mcInstallKey(pBt, pKey);
        if (rc != SQLITE_OK) mcKeyFree(pKey);
    }
    return rc;
}

/* Called by ATTACH for the last database of the connection, which is open but not yet read. What its
** URI sets holds for it alone. */
static int mcAttach(sqlite3 *db, sqlite3_value *pArg, char **pzErr) {
    int iDb = db->nDb - 1;
    Pager *pPager = sqlite3BtreePager(db->aDb[iDb].pBt);
    int eType = sqlite3_value_type(pArg);
    McSettings *pSet = mcSettings(db);
    u8 aSalt[MC_SALT_SIZE];
    u8 bSalt;
    int rc;
    if (pSet == 0) return SQLITE_NOMEM;
    if (eType == SQLITE_INTEGER || eType == SQLITE_FLOAT) {
        *pzErr = sqlite3_mprintf("Invalid key value");
        return SQLITE_ERROR;
    }
    if (pPager->memDb || pPager->memVfs || pPager->zFilename[0] == 0) return SQLITE_OK; /* nothing is stored */
    memcpy(aSalt, pSet->aSalt, sizeof(aSalt));
    bSalt = pSet->bSalt;
    rc = keyOfAttached(db, iDb, pArg, pzErr);
    memcpy(pSet->aSalt, aSalt, sizeof(aSalt));
    pSet->bSalt = bSalt;
    mcSettingsConsume(pSet);
    return rc;
}
