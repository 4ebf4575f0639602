/*
** What a connection has been told about ciphers: scheme, parameters, salt. A key that is set or an
** ATTACH takes the values for the next key, after which they fall back to the defaults.
*/
#include "codec.h"

#define MC_SETTINGS "sqlite3mc-settings"

static void settingsFree(void *pArg) {
    McSettings *p = pArg;
    for (int i = 0; i < p->nScheme; i++) sqlite3_free(p->aParam[i]);
    secure_zero(p, sizeof(*p));
    sqlite3_free(p);
}

/* Schemes may have been registered since the last call. */
static int addSchemes(McSettings *p) {
    const McScheme *pScheme;
    while ((pScheme = mc_scheme_by_id(p->nScheme + 1)) != 0) {
        McValue *a = sqlite3_malloc64(sizeof(*a) * (u64)MAX(pScheme->nParam, 1));
        assert(p->nScheme < ArraySize(p->aParam) && pScheme->nParam <= MC_MAX_PARAM);
        if (a == 0) return SQLITE_NOMEM;
        for (int i = 0; i < pScheme->nParam; i++) a[i].iNext = a[i].iDefault = pScheme->aParam[i].iDefault;
        p->aParam[p->nScheme++] = a;
    }
    return SQLITE_OK;
}

/* The settings of the connection, made at the first call. */
static McSettings *mcSettings(sqlite3 *db) {
    McSettings *p = sqlite3_get_clientdata(db, MC_SETTINGS);
    if (p) return addSchemes(p) == SQLITE_OK ? p : 0;
    p = sqlite3_malloc(sizeof(*p));
    if (p == 0) return 0;
    memset(p, 0, sizeof(*p));
    p->hmacCheck.iNext = p->hmacCheck.iDefault = 1;
    p->scheme.iNext = p->scheme.iDefault = mc_scheme_id(mc_scheme_default());
    if (addSchemes(p) != SQLITE_OK) {
        settingsFree(p);
        return 0;
    }
    /* On failure SQLite has called settingsFree(). */
    if (sqlite3_set_clientdata(db, MC_SETTINGS, p, settingsFree) != SQLITE_OK) return 0;
    return p;
}

/* Called now and then by what takes long. SQLITE_INTERRUPT: the user cancels it. */
static int mcProgress(sqlite3 *db, i64 nDone, i64 nTotal) {
    McSettings *p = sqlite3_get_clientdata(db, MC_SETTINGS);
    if (p && p->xProgress && p->xProgress(p->pProgressArg, nDone, nTotal)) return SQLITE_INTERRUPT;
    return AtomicLoad(&db->u1.isInterrupted) ? SQLITE_INTERRUPT : SQLITE_OK;
}

/* The scheme of the next key. */
static const McScheme *mcSettingsScheme(McSettings *p) {
    return mc_scheme_by_id(p->scheme.iNext);
}

/* The setting of parameter i of a scheme. */
static McValue *mcSettingsParam(McSettings *p, const McScheme *pScheme, int i) {
    return &p->aParam[mc_scheme_id(pScheme) - 1][i];
}

/* A key has been made: values that were meant for one key only fall back to the defaults. */
static void mcSettingsConsume(McSettings *p) {
    p->scheme.iNext = p->scheme.iDefault;
    p->hmacCheck.iNext = p->hmacCheck.iDefault;
    p->legacyWal.iNext = p->legacyWal.iDefault;
    for (int id = 1; id <= p->nScheme; id++) {
        const McScheme *pScheme = mc_scheme_by_id(id);
        for (int i = 0; i < pScheme->nParam; i++) p->aParam[id - 1][i].iNext = p->aParam[id - 1][i].iDefault;
    }
}

/* ---- values and texts */

static const McParam mcSwitchParam = {"", 0, 0, 1, MC_PARAM_INT, 0};

/* The names that a parameter's values have, for a message; by sqlite3_malloc. */
static char *namesOf(const McParam *p) {
    sqlite3_str *pStr = sqlite3_str_new(0);
    for (int v = p->iMin; v <= p->iMax; v++) {
        sqlite3_str_appendf(pStr, "%s%s", v > p->iMin ? ", " : "", p->azValue[v - p->iMin]);
    }
    return sqlite3_str_finish(pStr);
}

static int outOfRange(const McParam *p, const char *zName, const char *zText, char **pzErr) {
    const char *zMore = "";
    if (p->azValue) {
        *pzErr =
            sqlite3_mprintf("Value '%s' of '%s' is none of %d to %d (%z).", zText, zName, p->iMin, p->iMax, namesOf(p));
        return SQLITE_ERROR;
    }
    if (p->eKind == MC_PARAM_PAGE_SIZE) zMore = "; 0 or a power of two from 512";
    if (p->eKind == MC_PARAM_BLOCKS) zMore = "; a multiple of 16";
    *pzErr = sqlite3_mprintf("Value %s of '%s' is out of range (%d to %d%s).", zText, zName, p->iMin, p->iMax, zMore);
    return SQLITE_ERROR;
}

/* The value of a parameter that a text stands for: an integer or one of the value's names; for a switch
** also SQLite's words for true and false. SQLITE_ERROR if it is not a legal one. */
static int mcParseValue(const McParam *p, const char *zName, const char *zText, int *piValue, char **pzErr) {
    i64 v;
    if (p == &mcSwitchParam && sqlite3DecOrHexToI64(zText, &v) != 0) {
        *piValue = sqlite3GetBoolean(zText, 0);
        if (*piValue == sqlite3GetBoolean(zText, 1)) return SQLITE_OK;
        *pzErr = sqlite3_mprintf("Malformed boolean value '%s' of '%s'.", zText, zName);
        return SQLITE_ERROR;
    }
    for (int i = p->iMin; p->azValue && i <= p->iMax; i++) {
        if (mc_same_name(p->azValue[i - p->iMin], zText)) {
            *piValue = i;
            return SQLITE_OK;
        }
    }
    if (sqlite3DecOrHexToI64(zText, &v) != 0) {
        if (p->azValue) return outOfRange(p, zName, zText, pzErr);
        *pzErr = sqlite3_mprintf("Malformed integer value '%s'.", zText);
        return SQLITE_ERROR;
    }
    if (v != (int)v || !mc_param_legal(p, (int)v)) return outOfRange(p, zName, zText, pzErr);
    *piValue = (int)v;
    return SQLITE_OK;
}

/* A value as the user reads it: its name, if it has one. By sqlite3_malloc; 0: out of memory. */
static char *mcValueText(const McParam *p, int v) {
    if (p && p->azValue && v >= p->iMin && v <= p->iMax) return sqlite3_mprintf("%s", p->azValue[v - p->iMin]);
    return sqlite3_mprintf("%d", v);
}

static void setValue(McValue *p, int v, int eWhich) {
    p->iNext = v;
    if (eWhich == MC_DEFAULT) p->iDefault = v;
}

/* Set parameter i of a scheme to a legal value, and those that it implies. */
static void mcSetParam(McSettings *p, const McScheme *pScheme, int i, int v, int eWhich) {
    int n = 0;
    const McImplied *a = pScheme->xImplies ? pScheme->xImplies(i, v, &n) : 0;
    setValue(mcSettingsParam(p, pScheme, i), v, eWhich);
    for (int k = 0; k < n; k++) setValue(mcSettingsParam(p, pScheme, a[k].iParam), a[k].iValue, eWhich);
}

/* Set a switch (hmac_check, mc_legacy_wal) for the next key. */
static int mcSetSwitch(McValue *p, const char *zName, const char *zText, char **pzErr) {
    int v;
    int rc = mcParseValue(&mcSwitchParam, zName, zText, &v, pzErr);
    if (rc == SQLITE_OK) setValue(p, v, MC_TEMP);
    return rc;
}

/* Choose the scheme by name. */
static int mcSetScheme(McSettings *p, const char *zName, int eWhich, char **pzErr) {
    const McScheme *pScheme = mc_scheme_by_name(zName);
    if (pScheme && mc_scheme_id(pScheme) <= p->nScheme) {
        setValue(&p->scheme, mc_scheme_id(pScheme), eWhich);
        return SQLITE_OK;
    }
    *pzErr = sqlite3_mprintf("Cipher '%s' unknown.", zName);
    return SQLITE_ERROR;
}

/* Take the salt of later keys from 32 hex digits. */
static int mcSetSalt(McSettings *p, const char *zHex, char **pzErr) {
    u8 aSalt[MC_SALT_SIZE];
    if (strlen(zHex) != 2 * MC_SALT_SIZE || !mc_hex_decode(zHex, 2 * MC_SALT_SIZE, aSalt)) {
        *pzErr = sqlite3_mprintf("Invalid cipher salt: 32 hex digits are needed.");
        return SQLITE_ERROR;
    }
    memcpy(p->aSalt, aSalt, MC_SALT_SIZE);
    p->bSalt = 1;
    return SQLITE_OK;
}

/* Take scheme, salt and parameters from the URI of a database. Parameters that imply others come first. */
static int mcSettingsFromUri(McSettings *p, const char *zFile, int eWhich, char **pzErr) {
    const McScheme *pScheme;
    const char *z;
    int rc = SQLITE_OK;
    if ((z = sqlite3_uri_parameter(zFile, "cipher")) != 0) rc = mcSetScheme(p, z, eWhich, pzErr);
    if (rc == SQLITE_OK && (z = sqlite3_uri_parameter(zFile, "cipher_salt")) != 0) rc = mcSetSalt(p, z, pzErr);
    if (rc == SQLITE_OK && (z = sqlite3_uri_parameter(zFile, "hmac_check")) != 0) {
        rc = mcSetSwitch(&p->hmacCheck, "hmac_check", z, pzErr);
    }
    if (rc == SQLITE_OK && (z = sqlite3_uri_parameter(zFile, "mc_legacy_wal")) != 0) {
        rc = mcSetSwitch(&p->legacyWal, "mc_legacy_wal", z, pzErr);
    }
    if (rc == SQLITE_OK && (z = sqlite3_uri_parameter(zFile, "mc_chacha20_hwaccel")) != 0) rc = mcUseChacha20(z, pzErr);
    pScheme = mcSettingsScheme(p);
    for (int bImplies = 1; bImplies >= 0; bImplies--) {
        for (int i = 0; rc == SQLITE_OK && i < pScheme->nParam; i++) {
            const McParam *pParam = &pScheme->aParam[i];
            int v, n = 0;
            if ((z = sqlite3_uri_parameter(zFile, pParam->zName)) == 0) continue;
            rc = mcParseValue(pParam, pParam->zName, z, &v, pzErr);
            if (rc != SQLITE_OK) break;
            if (pScheme->xImplies) (void)pScheme->xImplies(i, v, &n);
            if ((n > 0) == bImplies) mcSetParam(p, pScheme, i, v, eWhich);
        }
    }
    return rc;
}

/* ---- sqlite3mc_config() and its relatives */

/* Find the option that a name (with a prefix) stands for: of the scheme, or, pScheme 0, a common one. p 0:
** of no connection; it can be read only. 0: there is none. */
static int mcOptionFind(McSettings *p, const McScheme *pScheme, const char *zName, McOption *pOut) {
    static const struct {
        const char *zPrefix;
        int ePrefix;
    } aPrefix[] = {{"default:", MC_OPTION_DEFAULT}, {"min:", MC_OPTION_MIN}, {"max:", MC_OPTION_MAX}};
    memset(pOut, 0, sizeof(*pOut));
    for (int i = 0; i < ArraySize(aPrefix); i++) {
        int n = sqlite3Strlen30(aPrefix[i].zPrefix);
        if (sqlite3StrNICmp(zName, aPrefix[i].zPrefix, n) != 0) continue;
        pOut->ePrefix = aPrefix[i].ePrefix;
        zName += n;
        break;
    }
    pOut->pScheme = pScheme;
    pOut->pParam = &mcSwitchParam;
    if (pScheme) {
        pOut->i = mc_scheme_param(pScheme, zName);
        if (pOut->i < 0) return 0;
        pOut->pParam = &pScheme->aParam[pOut->i];
        pOut->zName = pOut->pParam->zName;
        pOut->builtIn.iNext = pOut->pParam->iDefault;
        pOut->pValue = p ? mcSettingsParam(p, pScheme, pOut->i) : 0;
    } else if (mc_same_name(zName, "cipher")) {
        pOut->pParam = 0;
        pOut->zName = "cipher";
        pOut->builtIn.iNext = mc_scheme_id(mc_scheme_default());
        pOut->pValue = p ? &p->scheme : 0;
    } else if (mc_same_name(zName, "hmac_check")) {
        pOut->zName = "hmac_check";
        pOut->builtIn.iNext = 1;
        pOut->pValue = p ? &p->hmacCheck : 0;
    } else if (mc_same_name(zName, "mc_legacy_wal")) {
        pOut->zName = "mc_legacy_wal";
        pOut->pValue = p ? &p->legacyWal : 0;
    } else {
        return 0;
    }
    pOut->builtIn.iDefault = pOut->builtIn.iNext;
    return 1;
}

static int mcSchemeCount(void) {
    int n = 0;
    while (mc_scheme_by_id(n + 1) != 0) n++;
    return n;
}

/* The value that is asked for. */
static int mcOptionGet(const McOption *p) {
    const McValue *pValue = p->pValue ? p->pValue : &p->builtIn;
    switch (p->ePrefix) {
    case MC_OPTION_MIN:
        return p->pParam ? p->pParam->iMin : 1;
    case MC_OPTION_MAX:
        return p->pParam ? p->pParam->iMax : mcSchemeCount();
    case MC_OPTION_DEFAULT:
        return pValue->iDefault;
    default:
        return pValue->iNext;
    }
}

/* Set an option of a connection: the value for the next key or, with the prefix default:, the default too.
** The two switches only ever hold for the next key: that is the value in force afterwards. */
static int mcOptionSet(McSettings *pSet, McOption *p, int v, char **pzErr) {
    int eWhich = p->ePrefix == MC_OPTION_DEFAULT && p->pParam != &mcSwitchParam ? MC_DEFAULT : MC_TEMP;
    int bLegal = p->pParam ? mc_param_legal(p->pParam, v) : v >= 1 && v <= pSet->nScheme;
    char zText[16];
    if (p->ePrefix == MC_OPTION_MIN || p->ePrefix == MC_OPTION_MAX) {
        *pzErr = sqlite3_mprintf("Smallest and largest value of '%s' cannot be set.", p->zName);
        return SQLITE_ERROR;
    }
    if (!bLegal) {
        static const McParam cipher = {"cipher", 1, 1, MC_MAX_SCHEME, MC_PARAM_INT, 0};
        sqlite3_snprintf(sizeof(zText), zText, "%d", v);
        return outOfRange(p->pParam ? p->pParam : &cipher, p->zName, zText, pzErr);
    }
    if (p->pScheme) {
        mcSetParam(pSet, p->pScheme, p->i, v, eWhich);
    } else {
        setValue(p->pValue, v, eWhich);
    }
    if (eWhich == MC_TEMP) p->ePrefix = MC_OPTION_NEXT;
    return SQLITE_OK;
}

/* The value that a text stands for. */
static int mcOptionParse(const McOption *p, const char *zText, int *piValue, char **pzErr) {
    const McScheme *pScheme;
    if (p->pParam) return mcParseValue(p->pParam, p->zName, zText, piValue, pzErr);
    pScheme = mc_scheme_by_name(zText);
    if (pScheme) {
        *piValue = mc_scheme_id(pScheme);
        return SQLITE_OK;
    }
    *pzErr = sqlite3_mprintf("Cipher '%s' unknown.", zText);
    return SQLITE_ERROR;
}
