/*
** The cipher schemes that are compiled in, those that were added at run time, and look-ups among them.
**
** A scheme that is added is stored before the count that makes it visible, so that look-ups need no lock.
*/
#include "scheme.h"

#include <stdatomic.h>

extern const McScheme mc_scheme_aes128cbc, mc_scheme_aes256cbc, mc_scheme_chacha20, mc_scheme_sqlcipher, mc_scheme_rc4,
    mc_scheme_ascon128, mc_scheme_aegis;

const uint8_t mc_sqlite_magic[16] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3', 0};

static const McScheme *const schemes[] = {
    &mc_scheme_aes128cbc, &mc_scheme_aes256cbc, &mc_scheme_chacha20, &mc_scheme_sqlcipher,
    &mc_scheme_rc4,       &mc_scheme_ascon128,  &mc_scheme_aegis,
};

#define N_BUILT_IN ((int)(sizeof(schemes) / sizeof(schemes[0])))

static const McScheme *added[MC_MAX_SCHEME];
static atomic_int added_count;
static atomic_int default_id; /* 0: chacha20 */

int mc_same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
        int y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (x != y) return 0;
    }
    return *a == *b;
}

const McScheme *mc_scheme_by_id(int iScheme) {
    int n = N_BUILT_IN + atomic_load_explicit(&added_count, memory_order_acquire);
    if (iScheme < 1 || iScheme > n) return NULL;
    return iScheme <= N_BUILT_IN ? schemes[iScheme - 1] : added[iScheme - N_BUILT_IN - 1];
}

const McScheme *mc_scheme_by_name(const char *zName) {
    const McScheme *p;
    for (int id = 1; (p = mc_scheme_by_id(id)) != NULL; id++) {
        if (mc_same_name(p->zName, zName)) return p;
    }
    return NULL;
}

int mc_scheme_id(const McScheme *p) {
    int id = 1;
    while (mc_scheme_by_id(id) != p) id++;
    return id;
}

const McScheme *mc_scheme_default(void) {
    const McScheme *p = mc_scheme_by_id(atomic_load_explicit(&default_id, memory_order_acquire));
    return p ? p : &mc_scheme_chacha20;
}

int mc_scheme_register(const McScheme *p, int bDefault) {
    int n = atomic_load_explicit(&added_count, memory_order_relaxed);
    if (N_BUILT_IN + n >= MC_MAX_SCHEME || mc_scheme_by_name(p->zName) != NULL) return 0;
    added[n] = p;
    atomic_store_explicit(&added_count, n + 1, memory_order_release);
    if (bDefault) atomic_store_explicit(&default_id, N_BUILT_IN + n + 1, memory_order_release);
    return 1;
}

const McScheme *mc_scheme_unregister(void) {
    int n = atomic_load_explicit(&added_count, memory_order_relaxed);
    if (n == 0) return NULL;
    if (atomic_load_explicit(&default_id, memory_order_relaxed) == N_BUILT_IN + n) {
        atomic_store_explicit(&default_id, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&added_count, n - 1, memory_order_release);
    return added[n - 1];
}

int mc_scheme_param(const McScheme *p, const char *zName) {
    for (int i = 0; i < p->nParam; i++) {
        if (mc_same_name(p->aParam[i].zName, zName)) return i;
    }
    return -1;
}

int mc_param_legal(const McParam *p, int v) {
    if (v < p->iMin || v > p->iMax) return 0;
    if (p->eKind == MC_PARAM_PAGE_SIZE && v != 0) return v >= 512 && v <= 65536 && (v & (v - 1)) == 0;
    if (p->eKind == MC_PARAM_BLOCKS) return v % 16 == 0;
    return 1;
}
