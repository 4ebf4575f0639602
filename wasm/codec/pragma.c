/*
** The PRAGMA statements of the codec. They act when the statement is prepared; the result is one row
** whose column name is its value.
*/
#include "codec.h"

typedef struct McPragma {
    sqlite3 *db;
    int iDb;
    int eWhich; /* MC_DEFAULT, or MC_TEMP for another schema than main */
    const char *zName;
    const char *zValue; /* 0: none */
    char **pzOut;       /* result or error message, by sqlite3_mprintf */
} McPragma;

static int answer(McPragma *p, const char *z) {
    *p->pzOut = sqlite3_mprintf("%s", z);
    return *p->pzOut ? SQLITE_OK : SQLITE_NOMEM;
}

static int answerValue(McPragma *p, const McParam *pParam, int v) {
    *p->pzOut = mcValueText(pParam, v);
    return *p->pzOut ? SQLITE_OK : SQLITE_NOMEM;
}

/* Set (bRekey: change) the key of the schema to the n bytes at a. */
static int useKey(McPragma *p, int bRekey, const u8 *a, int n) {
    int rc = bRekey ? mcRekey(p->db, p->iDb, a, n, p->pzOut) : mcSetKey(p->db, p->iDb, a, n, p->pzOut);
    return rc == SQLITE_OK ? answer(p, "ok") : rc;
}

static int textKey(McPragma *p, int bRekey) {
    if (p->zValue == 0 && !bRekey) {
        *p->pzOut = sqlite3_mprintf("PRAGMA %s needs a value.", p->zName);
        return SQLITE_ERROR;
    }
    return useKey(p, bRekey, (const u8 *)(p->zValue ? p->zValue : ""), sqlite3Strlen30(p->zValue));
}

static int hexKey(McPragma *p, int bRekey) {
    int n = sqlite3Strlen30(p->zValue);
    u8 *a;
    int rc;
    if (n == 0 && bRekey) return useKey(p, 1, (const u8 *)"", 0);
    a = sqlite3_malloc(n / 2 + 1);
    if (a == 0) return SQLITE_NOMEM;
    if (n > 0 && mc_hex_decode(p->zValue, (size_t)n, a)) {
        rc = useKey(p, bRekey, a, n / 2);
    } else {
        *p->pzOut = sqlite3_mprintf("Malformed hex string");
        rc = SQLITE_ERROR;
    }
    secure_zero(a, (size_t)n / 2);
    sqlite3_free(a);
    return rc;
}

static int pragmaKey(McPragma *p) {
    return textKey(p, 0);
}

static int pragmaRekey(McPragma *p) {
    return textKey(p, 1);
}

static int pragmaHexkey(McPragma *p) {
    return hexKey(p, 0);
}

static int pragmaHexrekey(McPragma *p) {
    return hexKey(p, 1);
}

static int pragmaCipher(McPragma *p) {
    McSettings *pSet = mcSettings(p->db);
    if (pSet == 0) return SQLITE_NOMEM;
    if (p->zValue && mcSetScheme(pSet, p->zValue, p->eWhich, p->pzOut) != SQLITE_OK) return SQLITE_ERROR;
    return answer(p, mcSettingsScheme(pSet)->zName);
}

static int pragmaSalt(McPragma *p) {
    McSettings *pSet = mcSettings(p->db);
    Btree *pBt = p->db->aDb[p->iDb].pBt;
    const u8 *aSalt;
    int n, rc;
    if (pSet == 0) return SQLITE_NOMEM;
    if (p->zValue) {
        if (pBt && mcPagerCodec(sqlite3BtreePager(pBt))) {
            *p->pzOut = sqlite3_mprintf("Cipher salt can't be changed.");
            return SQLITE_ERROR;
        }
        rc = mcSetSalt(pSet, p->zValue, p->pzOut);
        return rc == SQLITE_OK ? answer(p, "ok") : rc;
    }
    rc = mcKeySalt(pBt, &aSalt);
    if (rc != SQLITE_OK || aSalt == 0) return rc == SQLITE_OK ? SQLITE_NOTFOUND : rc; /* no row */
    *p->pzOut = (char *)mcCodecData(p->db, p->db->aDb[p->iDb].zDbSName, "cipher_salt", &n);
    return *p->pzOut ? SQLITE_OK : SQLITE_NOMEM;
}

/* These two are meant for the next key only. */
static int oneShot(McPragma *p, size_t iOffset) {
    McSettings *pSet = mcSettings(p->db);
    McValue *pValue;
    int rc = SQLITE_OK;
    if (pSet == 0) return SQLITE_NOMEM;
    pValue = (McValue *)((u8 *)pSet + iOffset);
    if (p->zValue) rc = mcSetSwitch(pValue, p->zName, p->zValue, p->pzOut);
    return rc == SQLITE_OK ? answerValue(p, 0, pValue->iNext) : rc;
}

static int pragmaHmacCheck(McPragma *p) {
    return oneShot(p, offsetof(McSettings, hmacCheck));
}

static int pragmaLegacyWal(McPragma *p) {
    return oneShot(p, offsetof(McSettings, legacyWal));
}

/* A parameter of the selected scheme. */
static int pragmaParam(McPragma *p) {
    McSettings *pSet = mcSettings(p->db);
    const McScheme *pScheme;
    int i, v;
    if (pSet == 0) return SQLITE_NOMEM;
    pScheme = mcSettingsScheme(pSet);
    i = mc_scheme_param(pScheme, p->zName);
    if (i < 0) return SQLITE_NOTFOUND;
    if (p->zValue) {
        int rc = mcParseValue(&pScheme->aParam[i], p->zName, p->zValue, &v, p->pzOut);
        if (rc != SQLITE_OK) return rc;
        mcSetParam(pSet, pScheme, i, v, p->eWhich);
    }
    return answerValue(p, &pScheme->aParam[i], mcSettingsParam(pSet, pScheme, i)->iNext);
}

static int answerOwned(McPragma *p, char *z) {
    *p->pzOut = z;
    return z ? SQLITE_OK : SQLITE_NOMEM;
}

static int pragmaMemorySecurity(McPragma *p) {
    static const char *const azWord[] = {"none", "fill"};
    static const McParam param = {"memory_security", 0, 0, 1, MC_PARAM_INT, azWord};
    int v;
    if (p->zValue) {
        int rc = mcParseValue(&param, p->zName, p->zValue, &v, p->pzOut);
        if (rc != SQLITE_OK) return rc;
        mcWipeMemory(p->db, v);
    }
    return answerValue(p, 0, mcWipesMemory());
}

static int pragmaCpuInfo(McPragma *p) {
    return answerOwned(p, mcCpuInfo());
}

static int pragmaCompiledInfo(McPragma *p) {
    return answerOwned(p, mcCompiledInfo());
}

static int pragmaAesInfo(McPragma *p) {
    return answer(p, mcAesInfo());
}

static int pragmaAesHwaccel(McPragma *p) {
    int rc = p->zValue ? mcUseAes(p->zValue, p->pzOut) : SQLITE_OK;
    return rc == SQLITE_OK ? answer(p, mcAesInUse()) : rc;
}

static int pragmaChacha20Hwaccel(McPragma *p) {
    int rc = p->zValue ? mcUseChacha20(p->zValue, p->pzOut) : SQLITE_OK;
    return rc == SQLITE_OK ? answer(p, mcChacha20InUse()) : rc;
}

static const struct {
    const char *zName;
    int (*xRun)(McPragma *);
} mcPragmas[] = {
    {"key", pragmaKey},
    {"textkey", pragmaKey},
    {"hexkey", pragmaHexkey},
    {"rekey", pragmaRekey},
    {"textrekey", pragmaRekey},
    {"hexrekey", pragmaHexrekey},
    {"cipher", pragmaCipher},
    {"cipher_salt", pragmaSalt},
    {"hmac_check", pragmaHmacCheck},
    {"mc_legacy_wal", pragmaLegacyWal},
    {"memory_security", pragmaMemorySecurity},
    {"mc_cpu_info", pragmaCpuInfo},
    {"mc_compiled_info", pragmaCompiledInfo},
    {"mc_aes_info", pragmaAesInfo},
    {"mc_aes_hwaccel", pragmaAesHwaccel},
    {"mc_chacha20_hwaccel", pragmaChacha20Hwaccel},
};

/* Is it the name of a PRAGMA of ours or of SQLite? No parameter may have it. */
static int mcIsPragma(const char *zName) {
    for (int i = 0; i < ArraySize(mcPragmas); i++) {
        if (sqlite3StrICmp(mcPragmas[i].zName, zName) == 0) return 1;
    }
    return pragmaLocate(zName) != 0;
}

/* Called for every PRAGMA. SQLITE_NOTFOUND: it is not one of ours. azArg: result, name, value. */
static int mcPragma(sqlite3 *db, int iDb, const char *zDb, char **azArg) {
    McPragma p;
    p.db = db;
    p.iDb = iDb;
    p.eWhich = zDb == 0 || sqlite3StrICmp(zDb, "main") == 0 ? MC_DEFAULT : MC_TEMP;
    p.zName = azArg[1];
    p.zValue = azArg[2];
    p.pzOut = &azArg[0];
    if (db->mallocFailed) return SQLITE_NOMEM; /* a value that is missing for want of memory is not "no value" */
    if (p.zName == 0) return SQLITE_NOTFOUND;
    for (int i = 0; i < ArraySize(mcPragmas); i++) {
        if (sqlite3StrICmp(mcPragmas[i].zName, p.zName) == 0) return mcPragmas[i].xRun(&p);
    }
    return pragmaParam(&p);
}
