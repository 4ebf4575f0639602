/*
** The public functions of ../sqlite3mc.h that concern keys.
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

void sqlite3_activate_see(const char *zPassPhrase) {
    (void)zPassPhrase;
}

const char *sqlite3mc_version(void) {
    return "sqlite3mc-wasm " SQLITE3MC_VERSION;
}
