/*
** Which code runs the primitives: what this machine has, what was compiled in, and what is in use, which can
** be chosen. And the wiping of the memory that SQLite frees (PRAGMA memory_security).
**
** All of it holds for the whole process.
*/
#include "codec.h"

#include "../crypto/aes_impl.h"
#include "../crypto/argon2id_impl.h"
#include "../crypto/chacha20_poly1305_impl.h"
#include "../crypto/cpu.h"

/* Features of the processor, separated by spaces; "none". By sqlite3_malloc; 0: out of memory. */
static char *mcCpuInfo(void) {
    sqlite3_str *pStr = sqlite3_str_new(0);
    u32 have = cpu_features();
    for (u32 bit = 1; bit; bit <<= 1) {
        if (have & bit) sqlite3_str_appendf(pStr, "%s%s", sqlite3_str_length(pStr) ? " " : "", cpu_feature_name(bit));
    }
    if (sqlite3_str_length(pStr) == 0) sqlite3_str_appendall(pStr, "none");
    return sqlite3_str_finish(pStr);
}

/* Names of what was compiled in, best first. */
static const char *chacha20Name(unsigned i) {
    const chacha20_poly1305_impl *p = chacha20_poly1305_compiled(i);
    return p ? p->name : 0;
}

static const char *aesName(unsigned i) {
    const aes_impl *p = aes_compiled(i);
    return p ? p->name : 0;
}

static const char *argon2idName(unsigned i) {
    const argon2id_impl *p = argon2id_compiled(i);
    return p ? p->name : 0;
}

static void appendNames(sqlite3_str *pStr, const char *zSeparator, const char *(*xName)(unsigned)) {
    for (unsigned i = 0; xName(i); i++) sqlite3_str_appendf(pStr, "%s%s", i ? zSeparator : "", xName(i));
}

/* "chacha20: ssse3, scalar; aes: aesni, ..." */
static char *mcCompiledInfo(void) {
    sqlite3_str *pStr = sqlite3_str_new(0);
    sqlite3_str_appendall(pStr, "chacha20: ");
    appendNames(pStr, ", ", chacha20Name);
    sqlite3_str_appendall(pStr, "; aes: ");
    appendNames(pStr, ", ", aesName);
    sqlite3_str_appendall(pStr, "; argon2id: ");
    appendNames(pStr, ", ", argon2idName);
    return sqlite3_str_finish(pStr);
}

static const char *mcAesInfo(void) {
    return aes_in_use()->cpu & (CPU_AESNI | CPU_ARM_AES) ? "hardware" : "software";
}

static const char *mcChacha20InUse(void) {
    const chacha20_poly1305_impl *p = chacha20_poly1305_in_use();
    return p->cpu ? p->name : "off";
}

static const char *mcAesInUse(void) {
    const aes_impl *p = aes_in_use();
    return p->cpu ? p->name : "off";
}

/* Use an implementation by name; "off": the portable one, which is the last; "auto", "max": the best. The name
** "ssse3" of SQLite3 Multiple Ciphers stands for SIMD128 too. */
static int useCode(const char *zWhat, const char *zName, const char *(*xName)(unsigned), int (*xForce)(const char *),
                   char **pzErr) {
    const char *zForce = 0;
    sqlite3_str *pStr;
    char *zNames;
    unsigned i = 0;
    if (mc_same_name(zName, "auto") || mc_same_name(zName, "max")) {
        (void)xForce(0);
        return SQLITE_OK;
    }
    for (; xName(i); i++) {
        if (mc_same_name(zName, xName(i))) zForce = xName(i);
        if (mc_same_name(zName, "ssse3") && strcmp(xName(i), "simd128") == 0) zForce = xName(i);
    }
    if (mc_same_name(zName, "off")) zForce = xName(i - 1);
    if (zForce && xForce(zForce) == 0) return SQLITE_OK;
    pStr = sqlite3_str_new(0);
    appendNames(pStr, ", ", xName);
    zNames = sqlite3_str_finish(pStr);
    *pzErr = sqlite3_mprintf("%s code '%s' is not compiled in, or not for this machine (off, auto; compiled: %s).",
                             zWhat, zName, zNames);
    sqlite3_free(zNames);
    return SQLITE_ERROR;
}

static int mcUseChacha20(const char *zName, char **pzErr) {
    return useCode("ChaCha20", zName, chacha20Name, chacha20_poly1305_force, pzErr);
}

static int mcUseAes(const char *zName, char **pzErr) {
    return useCode("AES", zName, aesName, aes_force, pzErr);
}

/* ---- memory
**
** The allocator that SQLite was given is wrapped while the library is in use, whichever it is. It keeps the
** size of each block, so a block can be wiped before it is freed. Lookaside memory and the slots of a page
** cache are not freed one by one: the former is taken out of use, the latter are wiped with their cache.
*/

static struct {
    sqlite3_mem_methods real;
    int bWipe;
    int szLookaside; /* as they were configured */
    int nLookaside;
} mcMemory;

static void wipingFree(void *p) {
    if (AtomicLoad(&mcMemory.bWipe)) secure_zero(p, (size_t)mcMemory.real.xSize(p));
    mcMemory.real.xFree(p);
}

static void *wipingRealloc(void *p, int n) {
    void *pNew;
    int nOld;
    if (!AtomicLoad(&mcMemory.bWipe)) return mcMemory.real.xRealloc(p, n);
    pNew = mcMemory.real.xMalloc(n);
    if (pNew == 0) return 0;
    nOld = mcMemory.real.xSize(p);
    memcpy(pNew, p, (size_t)MIN(n, nOld));
    secure_zero(p, (size_t)nOld);
    mcMemory.real.xFree(p);
    return pNew;
}

/* Called while the library is being initialized. */
static void mcWrapMemory(void) {
    if (sqlite3GlobalConfig.m.xFree == wipingFree) return;
    mcMemory.real = sqlite3GlobalConfig.m;
    sqlite3GlobalConfig.m.xFree = wipingFree;
    sqlite3GlobalConfig.m.xRealloc = wipingRealloc;
}

/* And before it is shut down. */
static void mcUnwrapMemory(void) {
    if (sqlite3GlobalConfig.m.xFree != wipingFree) return;
    mcWipeMemory(0, 0);
    sqlite3GlobalConfig.m.xFree = mcMemory.real.xFree;
    sqlite3GlobalConfig.m.xRealloc = mcMemory.real.xRealloc;
}

static int mcWipesMemory(void) {
    return AtomicLoad(&mcMemory.bWipe);
}

/* From now on (bWipe 0: no longer) wipe what is freed. The lookaside memory of this connection and of those
** to come is taken out of use; that of others is wiped when they are closed. */
static void mcWipeMemory(sqlite3 *db, int bWipe) {
    McSettings *pSet = db ? mcSettings(db) : 0;
    sqlite3_mutex *pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS3);
    sqlite3_mutex_enter(pMutex);
    if (bWipe != mcMemory.bWipe) {
        if (bWipe) {
            mcMemory.szLookaside = sqlite3GlobalConfig.szLookaside;
            mcMemory.nLookaside = sqlite3GlobalConfig.nLookaside;
        }
        sqlite3GlobalConfig.szLookaside = bWipe ? 0 : mcMemory.szLookaside;
        sqlite3GlobalConfig.nLookaside = bWipe ? 0 : mcMemory.nLookaside;
        AtomicStore(&mcMemory.bWipe, bWipe);
    }
    sqlite3_mutex_leave(pMutex);
    if (pSet && bWipe && !pSet->bNoLookaside) {
        DisableLookaside;
    } else if (pSet && !bWipe && pSet->bNoLookaside) {
        EnableLookaside;
    }
    if (pSet) pSet->bNoLookaside = (u8)bWipe;
}
