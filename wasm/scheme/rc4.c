/*
** Scheme rc4 of SQLite3 Multiple Ciphers, the encryption of old versions of System.Data.SQLite. It is
** broken: all pages are XORed with one and the same key stream. For reading old files and getting away
** from them by rekey.
**
** Key: the first 16 bytes of SHA-1(password).
*/
#include "../crypto/rc4.h"
#include "../crypto/secure.h"
#include "../crypto/sha1.h"
#include "scheme.h"
#include <string.h>

enum { KEY_SIZE = 16 };
enum { P_LEGACY, P_LEGACY_PAGE_SIZE };

typedef struct {
    uint8_t key[KEY_SIZE];
} State;

static const McParam params[] = {
    {"legacy", 1, 1, 1, MC_PARAM_INT, NULL},
    {"legacy_page_size", 0, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
};

static int no(const int *value) {
    (void)value;
    return 0;
}

static int page_size(const int *value, int *hidden) {
    *hidden = 1;
    return value[P_LEGACY_PAGE_SIZE];
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    uint8_t digest[20];
    (void)value;
    sha1(digest, secret->aPassword, secret->nPassword);
    memcpy(s->key, digest, KEY_SIZE);
    secure_zero(digest, sizeof(digest));
    return MC_SCHEME_OK;
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    (void)pgno;
    rc4_xor(page, size, s->key, KEY_SIZE);
    return MC_SCHEME_OK;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    (void)check;
    return seal(state, pgno, page, size);
}

const McScheme mc_scheme_rc4 = {
    .zName = "rc4",
    .aParam = params,
    .nParam = sizeof(params) / sizeof(params[0]),
    .nState = sizeof(State),
    .nSalt = 0,
    .xAuthenticates = no,
    .xReserved = no,
    .xPageSize = page_size,
    .xPlaintextHeader = no,
    .xDerive = derive,
    .xSeal = seal,
    .xOpen = open_page,
};
