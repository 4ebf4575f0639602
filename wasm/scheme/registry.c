/*
** The cipher schemes that are compiled in, and look-ups in that list.
*/
#include "scheme.h"

extern const McScheme mc_scheme_chacha20;

const uint8_t mc_sqlite_magic[16] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3', 0};

static const McScheme *const schemes[] = {
    &mc_scheme_chacha20,
};

#define N_SCHEME ((int)(sizeof(schemes) / sizeof(schemes[0])))

static int same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
        int y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (x != y) return 0;
    }
    return *a == *b;
}

const McScheme *mc_scheme_by_id(int iScheme) {
    return iScheme >= 1 && iScheme <= N_SCHEME ? schemes[iScheme - 1] : NULL;
}

const McScheme *mc_scheme_by_name(const char *zName) {
    for (int i = 0; i < N_SCHEME; i++) {
        if (same_name(schemes[i]->zName, zName)) return schemes[i];
    }
    return NULL;
}

const McScheme *mc_scheme_default(void) {
    return &mc_scheme_chacha20;
}

int mc_scheme_param(const McScheme *p, const char *zName) {
    for (int i = 0; i < p->nParam; i++) {
        if (same_name(p->aParam[i].zName, zName)) return i;
    }
    return -1;
}

int mc_param_legal(const McParam *p, int v) {
    if (v < p->iMin || v > p->iMax) return 0;
    if (p->eKind == MC_PARAM_PAGE_SIZE && v != 0) return v >= 512 && v <= 65536 && (v & (v - 1)) == 0;
    if (p->eKind == MC_PARAM_BLOCKS) return v % 16 == 0;
    return 1;
}
