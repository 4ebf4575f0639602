/*
** The SQL functions about settings, and the list of all. They are built-in functions of SQLite: every
** connection has them from the start. A schema may be somebody else's: views, triggers and other parts of one
** can call none of them but the encryption of values, and that only if PRAGMA trusted_schema is on.
*/
#include "codec.h"

/* Hand a message (freed here) over as the error of the function; 0: out of memory. */
static void mcResultError(sqlite3_context *pCtx, char *zErr) {
    if (zErr) {
        sqlite3_result_error(pCtx, zErr, -1);
    } else {
        sqlite3_result_error_nomem(pCtx);
    }
    sqlite3_free(zErr);
}

static void versionFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    (void)nArg;
    (void)apArg;
    sqlite3_result_text(pCtx, sqlite3mc_version(), -1, SQLITE_STATIC);
}

/* sqlite3mc_codec_data(parameter [, schema]) */
static void codecDataFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    const char *zParam = (const char *)sqlite3_value_text(apArg[0]);
    const char *zDb = nArg > 1 ? (const char *)sqlite3_value_text(apArg[1]) : 0;
    u8 *a;
    int n;
    if (zParam == 0) return;
    a = mcCodecData(sqlite3_context_db_handle(pCtx), zDb, zParam, &n);
    if (a == 0) return;
    if (sqlite3StrNICmp(zParam, "raw:", 4) == 0) {
        sqlite3_result_blob(pCtx, a, n, sqlite3_free);
    } else {
        sqlite3_result_text(pCtx, (char *)a, n, sqlite3_free);
    }
}

/* The names of the parameters of a scheme, separated by commas. */
static void resultParameters(sqlite3_context *pCtx, const McScheme *pScheme) {
    sqlite3_str *pStr = sqlite3_str_new(0);
    char *z;
    for (int i = 0; i < pScheme->nParam; i++) {
        sqlite3_str_appendf(pStr, "%s%s", i ? "," : "", pScheme->aParam[i].zName);
    }
    z = sqlite3_str_finish(pStr);
    if (z) {
        sqlite3_result_text(pCtx, z, -1, sqlite3_free);
    } else if (pScheme->nParam > 0) {
        sqlite3_result_error_nomem(pCtx);
    } else {
        sqlite3_result_text(pCtx, "", 0, SQLITE_STATIC);
    }
}

/* Read an option, after setting it if there is a value. */
static void resultOption(sqlite3_context *pCtx, McOption *pOption, sqlite3_value *pNew) {
    if (pNew) {
        McSettings *pSet = mcSettings(sqlite3_context_db_handle(pCtx));
        const char *zText = (const char *)sqlite3_value_text(pNew);
        char *zErr = 0;
        int v;
        if (pSet == 0 || mcOptionParse(pOption, zText ? zText : "NULL", &v, &zErr) != SQLITE_OK ||
            mcOptionSet(pSet, pOption, v, &zErr) != SQLITE_OK) {
            mcResultError(pCtx, zErr);
            return;
        }
    }
    if (pOption->pParam) {
        sqlite3_result_int(pCtx, mcOptionGet(pOption));
    } else {
        sqlite3_result_text(pCtx, mc_scheme_by_id(mcOptionGet(pOption))->zName, -1, SQLITE_TRANSIENT);
    }
}

/*
** sqlite3mc_config(option)                         its value; of a cipher: the names of its parameters
** sqlite3mc_config(option, value)                  set it
** sqlite3mc_config(cipher, parameter [, value])
*/
static void configFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    McSettings *pSet = mcSettings(sqlite3_context_db_handle(pCtx));
    const char *zFirst = (const char *)sqlite3_value_text(apArg[0]);
    const char *zSecond = nArg > 1 ? (const char *)sqlite3_value_text(apArg[1]) : 0;
    const McScheme *pScheme = zFirst ? mc_scheme_by_name(zFirst) : 0;
    McOption option;
    if (pSet == 0) {
        sqlite3_result_error_nomem(pCtx);
    } else if (zFirst == 0 || (pScheme && nArg > 1 && zSecond == 0)) {
        return;
    } else if (pScheme && nArg == 1) {
        resultParameters(pCtx, pScheme);
    } else if (pScheme || nArg < 3) {
        const char *zName = pScheme ? zSecond : zFirst;
        sqlite3_value *pNew = nArg == (pScheme ? 3 : 2) ? apArg[nArg - 1] : 0;
        if (mcOptionFind(pSet, pScheme, zName, &option)) {
            resultOption(pCtx, &option, pNew);
        } else if (pNew) {
            mcResultError(pCtx, sqlite3_mprintf("unknown parameter '%s'", zName));
        }
    } else {
        mcResultError(pCtx, sqlite3_mprintf("Cipher '%s' unknown.", zFirst));
    }
}

#define MC_FUNCTION(zName, nArg, x, flags)                                                                 \
    {                                                                                                      \
        nArg, SQLITE_FUNC_BUILTIN | SQLITE_UTF8 | SQLITE_FUNC_UNSAFE | (flags), 0, 0, x, 0, 0, 0, zName, { \
            0                                                                                              \
        }                                                                                                  \
    }

/* Called while the library is being initialized. */
static void mcRegisterFunctions(void) {
    static FuncDef aFunction[] = {
        MC_FUNCTION("sqlite3mc_version", 0, versionFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_codec_data", 1, codecDataFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_codec_data", 2, codecDataFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_config", 1, configFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_config", 2, configFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_config", 3, configFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_identify", 2, identifyFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_vle_key", 1, vleKeyFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_vle_key", 2, vleKeyFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_vle_key", 3, vleKeyFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_vle_key", 4, vleKeyFunction, SQLITE_DIRECTONLY),
        MC_FUNCTION("sqlite3mc_vle_encrypt", 1, vleEncryptFunction, 0),
        MC_FUNCTION("sqlite3mc_vle_encrypt", 2, vleEncryptFunction, 0),
        MC_FUNCTION("sqlite3mc_vle_decrypt", 1, vleDecryptFunction, 0),
        MC_FUNCTION("sqlite3mc_vle_decrypt", 2, vleDecryptFunction, 0),
    };
    sqlite3InsertBuiltinFuncs(aFunction, ArraySize(aFunction));
}
