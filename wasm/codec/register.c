/*
** Cipher schemes that the program adds: sqlite3mc_register_cipher(). What the program hands over is copied
** into an McScheme, which from then on is one like those that are compiled in.
*/
#include "codec.h"

_Static_assert(SQLITE3MC_CIPHER_OK == MC_SCHEME_OK && SQLITE3MC_CIPHER_BAD_PAGE == MC_SCHEME_BAD_PAGE &&
                   SQLITE3MC_CIPHER_UNVERIFIED == MC_SCHEME_UNVERIFIED &&
                   SQLITE3MC_CIPHER_NO_ENTROPY == MC_SCHEME_NO_ENTROPY &&
                   SQLITE3MC_CIPHER_NO_MEMORY == MC_SCHEME_NO_MEMORY &&
                   SQLITE3MC_CIPHER_PARAMETERS == MC_SCHEME_PARAMETERS,
               "the results of a program's functions are those of McScheme");

typedef struct AddedScheme {
    McScheme scheme;
    int (*xDerive)(void *, const int *, const void *, size_t, const void *);
    McParam aParam[MC_MAX_PARAM];
} AddedScheme;

#define MC_MAX_NAME 31

/* A letter, then letters, digits and underscores. */
static int isName(const char *z) {
    int n = 0;
    if (z == 0 || !sqlite3Isalpha(z[0])) return 0;
    while (sqlite3Isalnum(z[n]) || z[n] == '_') n++;
    return z[n] == 0 && n <= MC_MAX_NAME;
}

static int derive(void *pState, const int *aValue, const McSecret *pSecret) {
    const AddedScheme *p = (const AddedScheme *)pSecret->pScheme;
    return p->xDerive(pState, aValue, pSecret->aPassword, pSecret->nPassword, pSecret->aSalt);
}

static int noPlaintextHeader(const int *aValue) {
    (void)aValue;
    return 0;
}

static int pageSizeIsTold(const int *aValue, int *pbHidden) {
    (void)aValue;
    *pbHidden = 0;
    return 0;
}

/* What is wrong with a parameter, or 0. */
static const char *wrongParam(const sqlite3mc_cipher_param *aParam, int i) {
    const sqlite3mc_cipher_param *p = &aParam[i];
    if (!isName(p->zName)) return "the name of a parameter is no name";
    if (mcIsPragma(p->zName)) return "a parameter has the name of a PRAGMA";
    if (p->iMin < 0 || p->iMin > p->iDefault || p->iDefault > p->iMax)
        return "a parameter's default is out of its range";
    for (int k = 0; k < i; k++) {
        if (mc_same_name(aParam[k].zName, p->zName)) return "two parameters have the same name";
    }
    return 0;
}

/* What is wrong with a scheme, or 0; *pnParam: number of its parameters. */
static const char *wrongScheme(const sqlite3mc_cipher *p, const sqlite3mc_cipher_param *aParam, int *pnParam) {
    *pnParam = 0;
    if (p == 0 || p->iVersion != 1) return "iVersion is not 1";
    if (!isName(p->zName)) return "its name is no name";
    if (mc_scheme_by_name(p->zName)) return "there is a scheme of that name";
    if (p->xReserved == 0 || p->xDerive == 0 || p->xSeal == 0 || p->xOpen == 0 || p->xAuthenticates == 0) {
        return "a function is missing";
    }
    for (int i = 0; aParam && aParam[i].zName && aParam[i].zName[0]; i++) {
        const char *zWrong = i < MC_MAX_PARAM ? wrongParam(aParam, i) : "it has too many parameters";
        if (zWrong) return zWrong;
        *pnParam = i + 1;
    }
    return 0;
}

/* Copy a name to *pz, and move *pz behind it. */
static const char *copyName(char **pz, const char *zName) {
    size_t n = strlen(zName) + 1;
    char *z = memcpy(*pz, zName, n);
    *pz += n;
    return z;
}

/* Copy the names behind the structure, which has room for them. */
static AddedScheme *copyScheme(const sqlite3mc_cipher *pFrom, const sqlite3mc_cipher_param *aFrom, int nParam) {
    size_t nText = strlen(pFrom->zName) + 1;
    AddedScheme *p;
    char *z;
    for (int i = 0; i < nParam; i++) nText += strlen(aFrom[i].zName) + 1;
    p = sqlite3_malloc64(sizeof(*p) + nText);
    if (p == 0) return 0;
    memset(p, 0, sizeof(*p));
    z = (char *)&p[1];
    p->xDerive = pFrom->xDerive;
    p->scheme.zName = copyName(&z, pFrom->zName);
    p->scheme.aParam = p->aParam;
    p->scheme.nParam = nParam;
    p->scheme.nState = pFrom->nState;
    p->scheme.nSalt = pFrom->bSalt ? MC_SALT_SIZE : 0;
    p->scheme.xConflict = pFrom->xConflict;
    p->scheme.xAuthenticates = pFrom->xAuthenticates;
    p->scheme.xReserved = pFrom->xReserved;
    p->scheme.xPageSize = pFrom->xPageSize ? pFrom->xPageSize : pageSizeIsTold;
    p->scheme.xPlaintextHeader = noPlaintextHeader;
    p->scheme.xDerive = derive;
    p->scheme.xSeal = pFrom->xSeal;
    p->scheme.xOpen = pFrom->xOpen;
    for (int i = 0; i < nParam; i++) {
        p->aParam[i].zName = copyName(&z, aFrom[i].zName);
        p->aParam[i].iDefault = aFrom[i].iDefault;
        p->aParam[i].iMin = aFrom[i].iMin;
        p->aParam[i].iMax = aFrom[i].iMax;
        p->aParam[i].azValue = aFrom[i].azValue;
    }
    return p;
}

int sqlite3mc_register_cipher(const sqlite3mc_cipher *pCipher, const sqlite3mc_cipher_param *aParam, int makeDefault) {
    sqlite3_mutex *pMutex;
    AddedScheme *p = 0;
    const char *zWrong;
    int nParam;
    int rc = sqlite3_initialize();
    if (rc != SQLITE_OK) return rc;
    pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS3);
    sqlite3_mutex_enter(pMutex);
    zWrong = wrongScheme(pCipher, aParam, &nParam);
    if (zWrong == 0 && (p = copyScheme(pCipher, aParam, nParam)) == 0) rc = SQLITE_NOMEM;
    if (p && !mc_scheme_register(&p->scheme, makeDefault)) {
        zWrong = "there is no room for more schemes";
        sqlite3_free(p);
    }
    sqlite3_mutex_leave(pMutex);
    if (zWrong) {
        sqlite3_log(SQLITE_ERROR, "sqlite3mc_register_cipher: %s", zWrong);
        rc = SQLITE_ERROR;
    }
    return rc;
}

/* Called when the library is shut down, with no connection open. */
static void mcForgetSchemes(void) {
    const McScheme *p;
    while ((p = mc_scheme_unregister()) != 0) sqlite3_free((void *)p);
}

int sqlite3mc_random(void *p, size_t n) {
    return csprng_bytes(p, n) == 0 ? SQLITE_OK : SQLITE_IOERR;
}

int sqlite3mc_pbkdf2(const void *pPassword, size_t nPassword, const void *pSalt, size_t nSalt, int nIteration,
                     void *pOut, size_t nOut) {
    if (nIteration < 1 || nOut < 1) return SQLITE_MISUSE;
    pbkdf2_hmac(HMAC_SHA256, pPassword, nPassword, pSalt, nSalt, (uint32_t)nIteration, pOut, nOut);
    return SQLITE_OK;
}
