/*
** Scheme aegis of SQLite3 Multiple Ciphers: the six ciphers of the AEGIS family with a key per page.
** K is the size of key and nonce: 16 for aegis-128l, -128x2, -128x4 and 32 for the others.
**
** Page:   data || tag 32 || nonce K at the end of the page
**         k' || n' = 2 K bytes of key stream (key, nonce), the last 4 bytes replaced by BE32(pgno)
**         data, tag = AEGIS(k', n', no associated data)
** Page 1: the first 16 bytes hold the salt, bytes 16..23 are plaintext; the tag covers neither. With a
**         plaintext header the first bytes are stored as they are and the salt is not stored.
** Key:    Argon2id.
**
** Bytes that are reserved beyond those of the scheme lie before the tag and are treated as data.
*/
#include "../crypto/aegis.h"
#include "../crypto/argon2id.h"
#include "../crypto/bytes.h"
#include "../crypto/csprng.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

enum { MAX_KEY_SIZE = 32 };
enum { P_TCOST, P_MCOST, P_PCOST, P_ALGORITHM, P_PLAINTEXT_HEADER_SIZE };

typedef struct {
    uint8_t key[MAX_KEY_SIZE];
    uint8_t salt[MC_SALT_SIZE];
    size_t key_size;
    int algorithm;
    int plain; /* plaintext_header_size */
} State;

static const char *const algorithms[] = {"aegis-128l", "aegis-128x2", "aegis-128x4",
                                         "aegis-256",  "aegis-256x2", "aegis-256x4"};

static const McParam params[] = {
    {"tcost", 2, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"mcost", 19456, 1, 0x7fffffff, MC_PARAM_INT, NULL}, /* KiB */
    {"pcost", 1, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"algorithm", AEGIS_256, AEGIS_128L, AEGIS_256X4, MC_PARAM_INT, algorithms},
    {"plaintext_header_size", 0, 0, 100, MC_PARAM_INT, NULL},
};

static const char *conflict(const int *value) {
    return value[P_MCOST] / 8 < value[P_PCOST] ? "mcost must be at least 8 times pcost" : NULL;
}

static int authenticates(const int *value) {
    (void)value;
    return 1;
}

static int reserved(const int *value) {
    return AEGIS_TAG_SIZE + (int)aegis_key_size(value[P_ALGORITHM]);
}

static int page_size(const int *value, int *hidden) {
    (void)value;
    *hidden = 0;
    return 0;
}

static int plaintext_header(const int *value) {
    return value[P_PLAINTEXT_HEADER_SIZE];
}

static size_t key_size(const int *value) {
    return aegis_key_size(value[P_ALGORITHM]);
}

static int argon2(State *s, const int *value, const McSecret *secret) {
    uint32_t t = (uint32_t)value[P_TCOST];
    uint32_t m = (uint32_t)value[P_MCOST];
    uint32_t p = (uint32_t)value[P_PCOST];
    size_t n = argon2id_memory(t, m, p);
    uint8_t *memory;
    int rc;
    if (n == 0) return m / 8 < p ? MC_SCHEME_PARAMETERS : MC_SCHEME_NO_MEMORY;
    memory = secret->xAlloc(n);
    if (memory == NULL) return MC_SCHEME_NO_MEMORY;
    rc = argon2id(s->key, s->key_size, secret->aPassword, secret->nPassword, secret->aSalt, MC_SALT_SIZE, t, m, p,
                  memory);
    secret->xFree(memory, n);
    return rc == 0 ? MC_SCHEME_OK : MC_SCHEME_PARAMETERS;
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    int rc = MC_SCHEME_OK;
    s->algorithm = value[P_ALGORITHM];
    s->key_size = aegis_key_size(s->algorithm);
    s->plain = value[P_PLAINTEXT_HEADER_SIZE];
    memcpy(s->salt, secret->aSalt, MC_SALT_SIZE);
    if (mc_raw_key(secret->aPassword, secret->nPassword, s->key, s->key_size, NULL) == MC_RAW_NONE) {
        rc = argon2(s, value, secret);
    }
    return rc;
}

/* Offset of the first encrypted byte of a page. */
static size_t data_offset(const State *s, uint32_t pgno) {
    if (pgno != 1) return 0;
    return s->plain > 24 ? (size_t)s->plain : 24;
}

/* Key and nonce of the page with this nonce. */
static void page_key(const State *s, uint32_t pgno, const uint8_t *nonce, uint8_t otk[2 * MAX_KEY_SIZE]) {
    aegis_stream(s->algorithm, otk, 2 * s->key_size, s->key, nonce);
    store32_be(otk + 2 * s->key_size - 4, pgno);
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    uint8_t *nonce = page + size - s->key_size;
    uint8_t *tag = nonce - AEGIS_TAG_SIZE;
    size_t off = data_offset(s, pgno);
    uint8_t otk[2 * MAX_KEY_SIZE];
    if (csprng_bytes(nonce, s->key_size) != 0) return MC_SCHEME_NO_ENTROPY;
    page_key(s, pgno, nonce, otk);
    aegis_encrypt(s->algorithm, page + off, (size_t)(tag - page) - off, tag, NULL, 0, otk, otk + s->key_size);
    if (pgno == 1 && s->plain == 0) memcpy(page, s->salt, MC_SALT_SIZE);
    secure_zero(otk, sizeof(otk));
    return MC_SCHEME_OK;
}

/* Decrypt whatever the tag says, and say what it says. */
static int open_unverified(const State *s, const uint8_t *otk, uint8_t *data, size_t n, const uint8_t *stored) {
    const uint8_t *nonce = otk + s->key_size;
    uint8_t tag[AEGIS_TAG_SIZE];
    int good;
    aegis_decrypt_unverified(s->algorithm, data, n, NULL, 0, otk, nonce);
    aegis_encrypt(s->algorithm, data, n, tag, NULL, 0, otk, nonce);
    good = secure_equal(tag, stored, AEGIS_TAG_SIZE);
    aegis_decrypt_unverified(s->algorithm, data, n, NULL, 0, otk, nonce);
    secure_zero(tag, sizeof(tag));
    return good ? MC_SCHEME_OK : MC_SCHEME_UNVERIFIED;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    uint8_t *nonce = page + size - s->key_size;
    uint8_t *tag = nonce - AEGIS_TAG_SIZE;
    size_t off = data_offset(s, pgno);
    size_t n = (size_t)(tag - page) - off;
    uint8_t otk[2 * MAX_KEY_SIZE];
    int rc = MC_SCHEME_OK;
    page_key(s, pgno, nonce, otk);
    if (!check) {
        rc = open_unverified(s, otk, page + off, n, tag);
    } else if (aegis_decrypt(s->algorithm, page + off, n, tag, NULL, 0, otk, otk + s->key_size) != 0) {
        secure_zero(page, size);
        rc = MC_SCHEME_BAD_PAGE;
    }
    if (rc != MC_SCHEME_BAD_PAGE && pgno == 1 && s->plain == 0) memcpy(page, mc_sqlite_magic, sizeof(mc_sqlite_magic));
    secure_zero(otk, sizeof(otk));
    return rc;
}

const McScheme mc_scheme_aegis = {
    .zName = "aegis",
    .aParam = params,
    .nParam = sizeof(params) / sizeof(params[0]),
    .nState = sizeof(State),
    .nSalt = MC_SALT_SIZE,
    .xConflict = conflict,
    .xAuthenticates = authenticates,
    .xReserved = reserved,
    .xPageSize = page_size,
    .xPlaintextHeader = plaintext_header,
    .xKeySize = key_size,
    .xDerive = derive,
    .xSeal = seal,
    .xOpen = open_page,
};
