/*
** A key: a scheme, the values of its parameters, and the password or what was derived from it.
**
** The state is derived when the first page is opened or sealed, because only then, under the lock,
** is the salt of the file known. The password is kept until the derived key has opened page 1 (or
** has sealed it, in a new file), and is then wiped, unless it is a raw key, which is needed if the
** file gets another salt.
*/
#include "codec.h"

/*
** Make a key from a password, which is not empty, for a scheme with these parameters. aSalt: the salt given by
** the user, or 0. SQLITE_NOMEM, or SQLITE_ERROR with *pzErr (to be freed by sqlite3_free).
*/
static int mcKeyMake(const McScheme *pScheme, const int *aValue, const u8 *aPassword, int nPassword, const u8 *aSalt,
                     McKey **ppKey, char **pzErr) {
    const char *zWrong;
    int eForm;
    McKey *p = sqlite3_malloc64(sizeof(*p) + pScheme->nState);
    *ppKey = 0;
    if (p == 0) return SQLITE_NOMEM;
    memset(p, 0, sizeof(*p) + pScheme->nState);
    p->pScheme = pScheme;
    p->pState = &p[1];
    p->bHmacCheck = 1;
    memcpy(p->aValue, aValue, sizeof(int) * (size_t)pScheme->nParam);
    zWrong = pScheme->xConflict ? pScheme->xConflict(p->aValue) : 0;
    if (zWrong == 0 && (mcKeyReserved(p) < 0 || mcKeyReserved(p) > 255)) zWrong = "it asks for too many bytes";
    if (zWrong) {
        *pzErr = sqlite3_mprintf("%s: %s.", pScheme->zName, zWrong);
        mcKeyFree(p);
        return SQLITE_ERROR;
    }
    eForm = pScheme->xKeySize ? mc_raw_key(aPassword, (size_t)nPassword, 0, pScheme->xKeySize(p->aValue), p->aSalt)
                              : MC_RAW_NONE;
    if (eForm == MC_RAW_MALFORMED) {
        *pzErr = sqlite3_mprintf("Malformed raw key (raw:hex: or raw:bin: with the wrong number of digits or bytes)");
        mcKeyFree(p);
        return SQLITE_ERROR;
    }
    p->bRaw = eForm != MC_RAW_NONE;
    p->bSaltInKey = eForm == MC_RAW_KEY_SALT;
    p->aPassword = sqlite3_malloc(nPassword);
    if (p->aPassword == 0) {
        mcKeyFree(p);
        return SQLITE_NOMEM;
    }
    memcpy(p->aPassword, aPassword, (size_t)nPassword);
    p->nPassword = nPassword;
    if (p->bSaltInKey) {
        /* It counts only where the file has none. */
        if (pScheme->xPlaintextHeader(p->aValue) > 0) p->bSalt = p->bSaltGiven = 1;
    } else if (pScheme->nSalt && aSalt) {
        memcpy(p->aSalt, aSalt, MC_SALT_SIZE);
        p->bSalt = p->bSaltGiven = 1;
    }
    *ppKey = p;
    return SQLITE_OK;
}

/* The same with the settings of the connection, which are used up. */
static int mcKeyNew(sqlite3 *db, const u8 *aPassword, int nPassword, McKey **ppKey, char **pzErr) {
    McSettings *pSet = mcSettings(db);
    const McScheme *pScheme;
    int aValue[MC_MAX_PARAM];
    u8 bHmacCheck, bLegacyWal;
    int rc;
    *ppKey = 0;
    if (pSet == 0) return SQLITE_NOMEM;
    pScheme = mcSettingsScheme(pSet);
    for (int i = 0; i < pScheme->nParam; i++) aValue[i] = mcSettingsParam(pSet, pScheme, i)->iNext;
    bHmacCheck = (u8)pSet->hmacCheck.iNext;
    bLegacyWal = (u8)pSet->legacyWal.iNext;
    mcSettingsConsume(pSet);
    rc = mcKeyMake(pScheme, aValue, aPassword, nPassword, pSet->bSalt ? pSet->aSalt : 0, ppKey, pzErr);
    if (rc == SQLITE_OK) {
        (*ppKey)->bHmacCheck = bHmacCheck;
        (*ppKey)->bLegacyWal = bLegacyWal;
    }
    return rc;
}

/* A copy of a key whose state has been derived. It has the password only if that is a raw key.
** 0: out of memory. */
static McKey *mcKeyClone(const McKey *p) {
    size_t n = sizeof(*p) + p->pScheme->nState;
    McKey *pNew = sqlite3_malloc64(n);
    assert(p->bDerived);
    if (pNew == 0) return 0;
    memcpy(pNew, p, n);
    pNew->pState = &pNew[1];
    pNew->aPassword = 0;
    pNew->nPassword = 0;
    if (p->bRaw) {
        pNew->aPassword = sqlite3_malloc(p->nPassword);
        if (pNew->aPassword == 0) {
            mcKeyFree(pNew);
            return 0;
        }
        memcpy(pNew->aPassword, p->aPassword, (size_t)p->nPassword);
        pNew->nPassword = p->nPassword;
    }
    return pNew;
}

static void keyWipePassword(McKey *p) {
    if (p->aPassword) secure_zero(p->aPassword, (size_t)p->nPassword);
    sqlite3_free(p->aPassword);
    p->aPassword = 0;
    p->nPassword = 0;
}

static void mcKeyFree(McKey *p) {
    if (p == 0) return;
    keyWipePassword(p);
    secure_zero(p, sizeof(*p) + p->pScheme->nState);
    sqlite3_free(p);
}

/* The derived state is known to be the right one. A raw key stays: it is that state. */
static void mcKeyForgetPassword(McKey *p) {
    if (!p->bRaw && !p->bHold) keyWipePassword(p);
}

static void *secretAlloc(size_t n) {
    return sqlite3_malloc64(n);
}

static void secretFree(void *p, size_t n) {
    if (p) secure_zero(p, n);
    sqlite3_free(p);
}

/* Derive the state from the password and p->aSalt. */
static int keyDerive(McKey *p) {
    McSecret secret;
    int rc;
    if (p->bDerived) return SQLITE_OK;
    if (p->aPassword == 0) return SQLITE_NOTADB; /* the file has another salt than before */
    secret.pScheme = p->pScheme;
    secret.aPassword = p->aPassword;
    secret.nPassword = (size_t)p->nPassword;
    secret.aSalt = p->aSalt;
    secret.xAlloc = secretAlloc;
    secret.xFree = secretFree;
    rc = p->pScheme->xDerive(p->pState, p->aValue, &secret);
    if (rc == MC_SCHEME_OK) {
        p->bDerived = 1;
        return SQLITE_OK;
    }
    secure_zero(p->pState, p->pScheme->nState);
    if (rc == MC_SCHEME_NO_MEMORY) return SQLITE_NOMEM;
    sqlite3_log(SQLITE_ERROR, "key derivation failed (%s)", p->pScheme->zName);
    return SQLITE_ERROR;
}

/* Make the key fit for a file whose first page begins (as stored) with the 16 bytes at aPage1. */
static int mcKeyUseSalt(McKey *p, const u8 *aPage1) {
    int bStored = p->pScheme->nSalt && p->pScheme->xPlaintextHeader(p->aValue) == 0;
    if (bStored && p->bSaltGiven && memcmp(p->aSalt, aPage1, MC_SALT_SIZE) != 0) return SQLITE_NOTADB;
    if (bStored ? !p->bSalt || memcmp(p->aSalt, aPage1, MC_SALT_SIZE) != 0 : !p->bSalt) {
        if (p->bDerived && p->aPassword == 0) return SQLITE_NOTADB;
        memcpy(p->aSalt, aPage1, MC_SALT_SIZE);
        p->bSalt = 1;
        p->bDerived = 0;
    }
    return keyDerive(p);
}

/* Make the key fit for a new file: the salt given by the user or in the raw key, else a fresh one. */
static int mcKeyNewSalt(McKey *p) {
    if (!p->bSalt && !p->bSaltInKey && p->pScheme->nSalt && csprng_bytes(p->aSalt, MC_SALT_SIZE) != 0) {
        sqlite3_log(SQLITE_IOERR, "no random bytes for a salt");
        return SQLITE_IOERR;
    }
    p->bSalt = 1;
    return keyDerive(p);
}

static int mcKeyPageSize(const McKey *p, int *pbHidden) {
    return p->pScheme->xPageSize(p->aValue, pbHidden);
}

static int mcKeyReserved(const McKey *p) {
    return p->pScheme->xReserved(p->aValue);
}

static int mcKeyAuthenticates(const McKey *p) {
    return p->pScheme->xAuthenticates(p->aValue);
}
