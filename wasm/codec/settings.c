/*
** What a connection has been told about ciphers: scheme, parameters, salt. A key that is set or an
** ATTACH takes the values for the next key, after which they fall back to the defaults.
*/
#include "codec.h"

#define MC_SETTINGS "sqlite3mc-settings"

static void settingsFree(void *pArg) {
    McSettings *p = pArg;
    for (int i = 0; i < ArraySize(p->aParam); i++) sqlite3_free(p->aParam[i]);
    secure_zero(p, sizeof(*p));
    sqlite3_free(p);
}

/* The settings of the connection, made at the first call. */
static McSettings *mcSettings(sqlite3 *db) {
    McSettings *p = sqlite3_get_clientdata(db, MC_SETTINGS);
    const McScheme *pScheme;
    if (p) return p;
    p = sqlite3_malloc(sizeof(*p));
    if (p == 0) return 0;
    memset(p, 0, sizeof(*p));
    p->hmacCheck.iNext = p->hmacCheck.iDefault = 1;
    for (int id = 1; (pScheme = mc_scheme_by_id(id)) != 0; id++) {
        McValue *a = sqlite3_malloc64(sizeof(*a) * (u64)pScheme->nParam);
        assert(id <= ArraySize(p->aParam) && pScheme->nParam <= MC_MAX_PARAM);
        if (a == 0) {
            settingsFree(p);
            return 0;
        }
        for (int i = 0; i < pScheme->nParam; i++) a[i].iNext = a[i].iDefault = pScheme->aParam[i].iDefault;
        p->aParam[id - 1] = a;
        if (pScheme == mc_scheme_default()) p->scheme.iNext = p->scheme.iDefault = id;
    }
    /* On failure SQLite has called settingsFree(). */
    if (sqlite3_set_clientdata(db, MC_SETTINGS, p, settingsFree) != SQLITE_OK) return 0;
    return p;
}

/* The scheme of the next key. */
static const McScheme *mcSettingsScheme(McSettings *p) {
    return mc_scheme_by_id(p->scheme.iNext);
}

/* The setting of a parameter of a scheme, and what it may be; 0: the scheme has none of that name. */
static McValue *mcSettingsParam(McSettings *p, const McScheme *pScheme, const char *zName, const McParam **ppParam) {
    int i = mc_scheme_param(pScheme, zName);
    int id = 1;
    if (i < 0) return 0;
    while (mc_scheme_by_id(id) != pScheme) id++;
    *ppParam = &pScheme->aParam[i];
    return &p->aParam[id - 1][i];
}

/* A key has been made: values that were meant for one key only fall back to the defaults. */
static void mcSettingsConsume(McSettings *p) {
    const McScheme *pScheme;
    p->scheme.iNext = p->scheme.iDefault;
    p->hmacCheck.iNext = p->hmacCheck.iDefault;
    p->legacyWal.iNext = p->legacyWal.iDefault;
    for (int id = 1; (pScheme = mc_scheme_by_id(id)) != 0; id++) {
        for (int i = 0; i < pScheme->nParam; i++) p->aParam[id - 1][i].iNext = p->aParam[id - 1][i].iDefault;
    }
}
