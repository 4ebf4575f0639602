/*
** The public functions of ../sqlite3mc.h that concern keys and settings.
*/
#include "codec.h"

/* Leave rc and a message (freed here) in the connection. */
static int mcError(sqlite3 *db, int rc, char *zErr) {
    if (zErr) {
        sqlite3ErrorWithMsg(db, rc, "%s", zErr);
    } else {
        sqlite3Error(db, rc);
    }
    sqlite3_free(zErr);
    return sqlite3ApiExit(db, rc);
}

static int keyOrRekey(sqlite3 *db, const char *zDbName, const void *pKey, int nKey, int bRekey) {
    char *zErr = 0;
    int iDb, rc;
    if (!sqlite3SafetyCheckOk(db)) return SQLITE_MISUSE_BKPT;
    sqlite3_mutex_enter(db->mutex);
    iDb = zDbName ? sqlite3FindDbName(db, zDbName) : 0;
    if (pKey && nKey < 0) nKey = sqlite3Strlen30(pKey);
    if (iDb < 0) {
        zErr = sqlite3_mprintf("unknown database %s", zDbName);
        rc = SQLITE_ERROR;
    } else if (pKey == 0 && !bRekey) {
        zErr = sqlite3_mprintf("The key is missing.");
        rc = SQLITE_ERROR;
    } else if (bRekey) {
        rc = mcRekey(db, iDb, pKey, pKey ? nKey : 0, &zErr);
    } else {
        rc = mcSetKey(db, iDb, pKey, nKey, &zErr);
    }
    rc = mcError(db, rc, zErr);
    sqlite3_mutex_leave(db->mutex);
    return rc;
}

int sqlite3_key(sqlite3 *db, const void *pKey, int nKey) {
    return keyOrRekey(db, 0, pKey, nKey, 0);
}

int sqlite3_key_v2(sqlite3 *db, const char *zDbName, const void *pKey, int nKey) {
    return keyOrRekey(db, zDbName, pKey, nKey, 0);
}

int sqlite3_rekey(sqlite3 *db, const void *pKey, int nKey) {
    return keyOrRekey(db, 0, pKey, nKey, 1);
}

int sqlite3_rekey_v2(sqlite3 *db, const char *zDbName, const void *pKey, int nKey) {
    return keyOrRekey(db, zDbName, pKey, nKey, 1);
}

int sqlite3mc_progress(sqlite3 *db, int (*xProgress)(void *, sqlite3_int64, sqlite3_int64), void *pArg) {
    McSettings *p;
    if (!sqlite3SafetyCheckOk(db)) return SQLITE_MISUSE_BKPT;
    sqlite3_mutex_enter(db->mutex);
    p = mcSettings(db);
    if (p) {
        p->xProgress = xProgress;
        p->pProgressArg = pArg;
    }
    sqlite3_mutex_leave(db->mutex);
    return p ? SQLITE_OK : SQLITE_NOMEM;
}

void sqlite3_activate_see(const char *zPassPhrase) {
    (void)zPassPhrase;
}

const char *sqlite3mc_version(void) {
    return "sqlite3mc-wasm " SQLITE3MC_VERSION;
}

/* ---- schemes and settings */

int sqlite3mc_cipher_count(void) {
    return mcSchemeCount();
}

int sqlite3mc_cipher_index(const char *zCipher) {
    const McScheme *p = zCipher ? mc_scheme_by_name(zCipher) : 0;
    return p ? mc_scheme_id(p) : -1;
}

const char *sqlite3mc_cipher_name(int iCipher) {
    const McScheme *p = mc_scheme_by_id(iCipher);
    return p ? p->zName : "";
}

int sqlite3mc_cipher_name_copy(int iCipher, char *zBuf, int nBuf) {
    const char *zName = sqlite3mc_cipher_name(iCipher);
    int n = sqlite3Strlen30(zName) + 1;
    if (zBuf == 0 || nBuf < n) {
        if (zBuf && nBuf > 0) zBuf[0] = 0;
        return n > 1 ? -n : 0;
    }
    memcpy(zBuf, zName, (size_t)n);
    return n > 1;
}

/* Read (v < 0) or set an option; the value in force afterwards, or -1. */
static int config(sqlite3 *db, const McScheme *pScheme, const char *zName, int v) {
    McSettings *pSet = 0;
    McOption option;
    char *zErr = 0;
    int rc = SQLITE_OK;
    int iResult = -1;
    if (db == 0) return v < 0 && mcOptionFind(0, pScheme, zName, &option) ? mcOptionGet(&option) : -1;
    sqlite3_mutex_enter(db->mutex);
    if ((pSet = mcSettings(db)) == 0) {
        rc = SQLITE_NOMEM;
    } else if (!mcOptionFind(pSet, pScheme, zName, &option)) {
        zErr = sqlite3_mprintf("unknown parameter '%s'", zName);
        rc = SQLITE_ERROR;
    } else {
        if (v >= 0) rc = mcOptionSet(pSet, &option, v, &zErr);
        iResult = mcOptionGet(&option);
    }
    (void)mcError(db, rc, zErr);
    sqlite3_mutex_leave(db->mutex);
    return iResult;
}

int sqlite3mc_config(sqlite3 *db, const char *zParam, int newValue) {
    if ((db && !sqlite3SafetyCheckOk(db)) || zParam == 0) return -1;
    return config(db, 0, zParam, newValue);
}

int sqlite3mc_config_cipher(sqlite3 *db, const char *zCipher, const char *zParam, int newValue) {
    const McScheme *pScheme = zCipher ? mc_scheme_by_name(zCipher) : 0;
    if ((db && !sqlite3SafetyCheckOk(db)) || zParam == 0) return -1;
    if (pScheme) return config(db, pScheme, zParam, newValue);
    if (db && zCipher) {
        sqlite3_mutex_enter(db->mutex);
        (void)mcError(db, SQLITE_ERROR, sqlite3_mprintf("Cipher '%s' unknown.", zCipher));
        sqlite3_mutex_leave(db->mutex);
    }
    return -1;
}

/* The salt of a database as text or, with the prefix raw:, as bytes; *pn bytes and a zero behind them. 0: there
** is none. */
static u8 *mcCodecData(sqlite3 *db, const char *zDbName, const char *zParam, int *pn) {
    static const char digits[] = "0123456789ABCDEF";
    int iDb = zDbName ? sqlite3FindDbName(db, zDbName) : 0;
    int bRaw = sqlite3StrNICmp(zParam, "raw:", 4) == 0;
    const u8 *aSalt = 0;
    u8 *a;
    if (iDb < 0 || sqlite3StrICmp(zParam + (bRaw ? 4 : 0), "cipher_salt") != 0) return 0;
    if (mcKeySalt(db->aDb[iDb].pBt, &aSalt) != SQLITE_OK || aSalt == 0) return 0;
    *pn = bRaw ? MC_SALT_SIZE : 2 * MC_SALT_SIZE;
    a = sqlite3_malloc(*pn + 1);
    if (a == 0) return 0;
    for (int i = 0; i < MC_SALT_SIZE; i++) {
        if (bRaw) {
            a[i] = aSalt[i];
        } else {
            a[2 * i] = (u8)digits[aSalt[i] >> 4];
            a[2 * i + 1] = (u8)digits[aSalt[i] & 15];
        }
    }
    a[*pn] = 0;
    return a;
}

unsigned char *sqlite3mc_codec_data(sqlite3 *db, const char *zDbName, const char *zParam) {
    u8 *a;
    int n;
    if (!sqlite3SafetyCheckOk(db) || zParam == 0) return 0;
    sqlite3_mutex_enter(db->mutex);
    a = mcCodecData(db, zDbName, zParam, &n);
    sqlite3_mutex_leave(db->mutex);
    return a;
}
