/*
** Scheme ascon128 of SQLite3 Multiple Ciphers: Ascon-128 (v1.2) with a key per page.
**
** Page:   data || tag 16 || nonce 16 at the end of the page
**         key of the page = first half of Ascon-Hash(key || nonce || BE32(pgno))
**         data, tag = Ascon-128(that key, nonce, no associated data)
** Page 1: the first 16 bytes hold the salt, bytes 16..23 are plaintext; the tag covers neither. With a
**         plaintext header the first bytes are stored as they are and the salt is not stored.
** Key:    PBKDF2 over a function on Ascon's permutation (../crypto/ascon.h).
**
** Bytes that are reserved beyond the 32 of the scheme lie before the tag and are treated as data.
*/
#include "../crypto/ascon.h"
#include "../crypto/bytes.h"
#include "../crypto/csprng.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

enum { KEY_SIZE = 32, PAGE_KEY_SIZE = 16, NONCE_SIZE = 16, TAG_SIZE = 16, RESERVED = NONCE_SIZE + TAG_SIZE };
enum { P_KDF_ITER, P_PLAINTEXT_HEADER_SIZE };

typedef struct {
    uint8_t key[KEY_SIZE];
    uint8_t salt[MC_SALT_SIZE];
    int plain; /* plaintext_header_size */
} State;

static const McParam params[] = {
    {"kdf_iter", 64007, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"plaintext_header_size", 0, 0, 100, MC_PARAM_INT, NULL},
};

static int authenticates(const int *value) {
    (void)value;
    return 1;
}

static int reserved(const int *value) {
    (void)value;
    return RESERVED;
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
    (void)value;
    return KEY_SIZE;
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    if (mc_raw_key(secret->aPassword, secret->nPassword, s->key, KEY_SIZE, NULL) == MC_RAW_NONE) {
        ascon_pbkdf2(s->key, secret->aPassword, secret->nPassword, secret->aSalt, MC_SALT_SIZE,
                     (uint32_t)value[P_KDF_ITER]);
    }
    memcpy(s->salt, secret->aSalt, MC_SALT_SIZE);
    s->plain = value[P_PLAINTEXT_HEADER_SIZE];
    return MC_SCHEME_OK;
}

/* Offset of the first encrypted byte of a page. */
static size_t data_offset(const State *s, uint32_t pgno) {
    if (pgno != 1) return 0;
    return s->plain > 24 ? (size_t)s->plain : 24;
}

static void page_key(const State *s, uint32_t pgno, const uint8_t *nonce, uint8_t key[32]) {
    uint8_t number[4];
    store32_be(number, pgno);
    ascon_hash(key, s->key, KEY_SIZE, nonce, NONCE_SIZE, number, sizeof(number));
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    uint8_t *tag = page + size - RESERVED;
    uint8_t *nonce = tag + TAG_SIZE;
    size_t off = data_offset(s, pgno);
    uint8_t key[32];
    if (csprng_bytes(nonce, NONCE_SIZE) != 0) return MC_SCHEME_NO_ENTROPY;
    page_key(s, pgno, nonce, key);
    ascon128_encrypt(page + off, size - RESERVED - off, tag, NULL, 0, key, nonce);
    if (pgno == 1 && s->plain == 0) memcpy(page, s->salt, MC_SALT_SIZE);
    secure_zero(key, sizeof(key));
    return MC_SCHEME_OK;
}

/* Decrypt whatever the tag says, and say what it says. */
static int open_unverified(const uint8_t *key, uint8_t *data, size_t n, const uint8_t *stored, const uint8_t *nonce) {
    uint8_t tag[TAG_SIZE];
    int good;
    ascon128_decrypt_unverified(data, n, NULL, 0, key, nonce);
    ascon128_encrypt(data, n, tag, NULL, 0, key, nonce);
    good = secure_equal(tag, stored, TAG_SIZE);
    ascon128_decrypt_unverified(data, n, NULL, 0, key, nonce);
    secure_zero(tag, sizeof(tag));
    return good ? MC_SCHEME_OK : MC_SCHEME_UNVERIFIED;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    uint8_t *tag = page + size - RESERVED;
    uint8_t *nonce = tag + TAG_SIZE;
    size_t off = data_offset(s, pgno);
    uint8_t key[32];
    int rc = MC_SCHEME_OK;
    page_key(s, pgno, nonce, key);
    if (!check) {
        rc = open_unverified(key, page + off, size - RESERVED - off, tag, nonce);
    } else if (ascon128_decrypt(page + off, size - RESERVED - off, tag, NULL, 0, key, nonce) != 0) {
        secure_zero(page, size);
        rc = MC_SCHEME_BAD_PAGE;
    }
    if (rc != MC_SCHEME_BAD_PAGE && pgno == 1 && s->plain == 0) memcpy(page, mc_sqlite_magic, sizeof(mc_sqlite_magic));
    secure_zero(key, sizeof(key));
    return rc;
}

const McScheme mc_scheme_ascon128 = {
    .zName = "ascon128",
    .aParam = params,
    .nParam = sizeof(params) / sizeof(params[0]),
    .nState = sizeof(State),
    .nSalt = MC_SALT_SIZE,
    .xAuthenticates = authenticates,
    .xReserved = reserved,
    .xPageSize = page_size,
    .xPlaintextHeader = plaintext_header,
    .xKeySize = key_size,
    .xDerive = derive,
    .xSeal = seal,
    .xOpen = open_page,
};
