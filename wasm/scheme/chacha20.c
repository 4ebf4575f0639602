/*
** Scheme chacha20 of SQLite3 Multiple Ciphers: ChaCha20 and Poly1305 (RFC 8439) with a one-time
** key per page; legacy = 1 is the format of sqleet.
**
** Page:   data || nonce 16 || tag 16 at the end of the page
**         ctr = LE32(nonce[12..16)) XOR pgno
**         otk = one block of key stream (key, nonce[0..12), ctr)
**         data encrypted under otk[32..64), nonce[0..12), counter ctr + 1
**         tag = Poly1305 under otk[0..32) over all before the tag
** Page 1: the first 16 bytes hold the salt, bytes 16..23 are plaintext (not in legacy files);
**         with a plaintext header the first bytes are stored as they are and the salt is not stored.
**
** Bytes that are reserved beyond the 32 of the scheme lie before the nonce and are treated as data.
*/
#include "../crypto/chacha20_poly1305.h"
#include "../crypto/csprng.h"
#include "../crypto/hmac.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

enum { KEY_SIZE = 32, NONCE_SIZE = 16, TAG_SIZE = 16, RESERVED = NONCE_SIZE + TAG_SIZE, LEGACY_ITERATIONS = 12345 };
enum { P_KDF_ITER, P_LEGACY, P_LEGACY_PAGE_SIZE, P_PLAINTEXT_HEADER_SIZE };

typedef struct {
    uint8_t key[KEY_SIZE];
    uint8_t salt[MC_SALT_SIZE];
    int legacy;
    int plain; /* plaintext_header_size */
} State;

static const McParam params[] = {
    {"kdf_iter", 64007, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"legacy", 0, 0, 1, MC_PARAM_INT, NULL},
    {"legacy_page_size", 4096, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
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
    *hidden = value[P_LEGACY];
    return value[P_LEGACY] ? value[P_LEGACY_PAGE_SIZE] : 0;
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
        pbkdf2_hmac(HMAC_SHA256, secret->aPassword, secret->nPassword, secret->aSalt, MC_SALT_SIZE,
                    value[P_LEGACY] ? LEGACY_ITERATIONS : (uint32_t)value[P_KDF_ITER], s->key, KEY_SIZE);
    }
    memcpy(s->salt, secret->aSalt, MC_SALT_SIZE);
    s->legacy = value[P_LEGACY];
    s->plain = value[P_PLAINTEXT_HEADER_SIZE];
    return MC_SCHEME_OK;
}

/* Offset of the first encrypted byte of a page. */
static size_t data_offset(const State *s, uint32_t pgno) {
    if (pgno != 1) return 0;
    if (s->legacy) return (size_t)s->plain;
    return s->plain > 24 ? (size_t)s->plain : 24;
}

/* The one-time key of the page whose nonce stands at its end; returns the counter of its data. */
static uint32_t page_key(const State *s, uint32_t pgno, const uint8_t *nonce, uint8_t otk[64]) {
    uint32_t counter =
        (uint32_t)nonce[12] | (uint32_t)nonce[13] << 8 | (uint32_t)nonce[14] << 16 | (uint32_t)nonce[15] << 24;
    counter ^= pgno;
    chacha20_block(s->key, nonce, counter, otk);
    return counter + 1;
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    uint8_t *nonce = page + size - RESERVED;
    uint8_t otk[64];
    uint32_t counter;
    if (csprng_bytes(nonce, NONCE_SIZE) != 0) return MC_SCHEME_NO_ENTROPY;
    counter = page_key(s, pgno, nonce, otk);
    if (pgno == 1) {
        size_t off = data_offset(s, pgno);
        chacha20_xor(page + off, size - RESERVED - off, otk + 32, nonce, counter);
        if (s->plain == 0) memcpy(page, s->salt, MC_SALT_SIZE);
        poly1305(page + size - TAG_SIZE, page, size - TAG_SIZE, otk);
    } else {
        chacha20_poly1305_page_encrypt(page, size, otk, counter);
    }
    secure_zero(otk, sizeof(otk));
    return MC_SCHEME_OK;
}

static int open_page1(const State *s, uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter, int check) {
    size_t off = data_offset(s, 1);
    uint8_t tag[TAG_SIZE];
    int good;
    poly1305(tag, page, size - TAG_SIZE, otk);
    good = secure_equal(tag, page + size - TAG_SIZE, TAG_SIZE);
    secure_zero(tag, sizeof(tag));
    if (!good && check) {
        secure_zero(page, size);
        return MC_SCHEME_BAD_PAGE;
    }
    chacha20_xor(page + off, size - RESERVED - off, otk + 32, page + size - RESERVED, counter);
    if (s->plain == 0) memcpy(page, mc_sqlite_magic, sizeof(mc_sqlite_magic));
    return good ? MC_SCHEME_OK : MC_SCHEME_UNVERIFIED;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    uint8_t otk[64];
    uint32_t counter = page_key(s, pgno, page + size - RESERVED, otk);
    int rc;
    if (pgno == 1) {
        rc = open_page1(s, page, size, otk, counter, check);
    } else if (check) {
        rc = chacha20_poly1305_page_decrypt(page, size, otk, counter) == 0 ? MC_SCHEME_OK : MC_SCHEME_BAD_PAGE;
    } else {
        chacha20_xor(page, size - RESERVED, otk + 32, page + size - RESERVED, counter);
        rc = MC_SCHEME_OK;
    }
    secure_zero(otk, sizeof(otk));
    return rc;
}

const McScheme mc_scheme_chacha20 = {
    .zName = "chacha20",
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
