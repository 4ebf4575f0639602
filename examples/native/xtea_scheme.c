/*
** A cipher scheme in one file, as an example of sqlite3mc_register_cipher(): XTEA in counter mode and a
** SipHash tag per page. It shows how a scheme is made, and is good for nothing else: blocks and tags of 64 bits
** are too short for a database that matters.
**
**   page     data || nonce 8 || tag 8
**   data     XORed with E(nonce), E(nonce + 1), ... under XTEA (Needham, Wheeler 1997), words little endian
**   tag      SipHash-2-4 (Aumasson, Bernstein 2012) of the page number and all bytes before the tag
**   page 1   bytes 0..15 are the salt of the file, bytes 16..23 are left in plaintext
**   keys     16 + 16 bytes by PBKDF2-HMAC-SHA256
*/
#include "sqlite3.h"
#include "sqlite3mc.h"

#include <string.h>

enum { SALT = 16, CLEAR = 24, NONCE = 8, TAG = 8, RESERVED = NONCE + TAG };
enum { P_KDF_ITER };

typedef struct Key {
    uint32_t xtea[4];
    uint64_t siphash[2];
    uint8_t salt[SALT];
} Key;

static uint32_t load32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t load64(const uint8_t *p) {
    return load32(p) | (uint64_t)load32(p + 4) << 32;
}

static void store64(uint8_t *p, uint64_t x) {
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static uint64_t xtea(const uint32_t key[4], uint64_t block) {
    uint32_t a = (uint32_t)block, b = (uint32_t)(block >> 32), sum = 0;
    for (int i = 0; i < 32; i++) {
        a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9;
        b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    return a | (uint64_t)b << 32;
}

/* XOR page[from..to) with the key stream; to - from is a multiple of 8. */
static void crypt(const Key *k, uint8_t *page, size_t from, size_t to, const uint8_t nonce[NONCE]) {
    uint64_t counter = load64(nonce);
    for (size_t i = from; i < to; i += 8) store64(page + i, load64(page + i) ^ xtea(k->xtea, counter++));
}

static uint64_t rotate(uint64_t x, int n) {
    return x << n | x >> (64 - n);
}

static void siphash_rounds(uint64_t v[4], int n) {
    while (n-- > 0) {
        v[0] += v[1], v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void siphash_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    siphash_rounds(v, 2);
    v[0] ^= word;
}

/* The tag of page[0..n), n a multiple of 8. */
static uint64_t tag_of(const Key *k, uint32_t pgno, const uint8_t *page, size_t n) {
    uint64_t v[4] = {k->siphash[0] ^ 0x736f6d6570736575, k->siphash[1] ^ 0x646f72616e646f6d,
                     k->siphash[0] ^ 0x6c7967656e657261, k->siphash[1] ^ 0x7465646279746573};
    siphash_word(v, pgno);
    for (size_t i = 0; i < n; i += 8) siphash_word(v, load64(page + i));
    siphash_word(v, (uint64_t)(n + 8) << 56);
    v[2] ^= 0xff;
    siphash_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- what a scheme has to say ---- */

static int reserved(const int *value) {
    (void)value;
    return RESERVED;
}

static int authenticates(const int *value) {
    (void)value;
    return 1;
}

static int derive(void *state, const int *value, const void *password, size_t n, const void *salt) {
    Key *k = state;
    uint8_t bytes[32];
    if (sqlite3mc_pbkdf2(password, n, salt, SALT, value[P_KDF_ITER], bytes, sizeof bytes) != SQLITE_OK) {
        return SQLITE3MC_CIPHER_PARAMETERS;
    }
    for (int i = 0; i < 4; i++) k->xtea[i] = load32(bytes + 4 * i);
    for (int i = 0; i < 2; i++) k->siphash[i] = load64(bytes + 16 + 8 * i);
    memcpy(k->salt, salt, SALT);
    return SQLITE3MC_CIPHER_OK; /* a real scheme would wipe `bytes` */
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const Key *k = state;
    uint8_t *nonce = page + size - RESERVED;
    if (sqlite3mc_random(nonce, NONCE) != SQLITE_OK) return SQLITE3MC_CIPHER_NO_ENTROPY;
    crypt(k, page, pgno == 1 ? CLEAR : 0, size - RESERVED, nonce);
    if (pgno == 1) memcpy(page, k->salt, SALT);
    store64(nonce + NONCE, tag_of(k, pgno, page, size - TAG));
    return SQLITE3MC_CIPHER_OK;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const Key *k = state;
    const uint8_t *nonce = page + size - RESERVED;
    /* Numbers are compared here, not bytes one after the other: a comparison that ends early tells how far. */
    int good = load64(nonce + NONCE) == tag_of(k, pgno, page, size - TAG);
    if (!good && check) return SQLITE3MC_CIPHER_BAD_PAGE;
    crypt(k, page, pgno == 1 ? CLEAR : 0, size - RESERVED, nonce);
    if (pgno == 1) memcpy(page, "SQLite format 3", SALT);
    return good || pgno != 1 ? SQLITE3MC_CIPHER_OK : SQLITE3MC_CIPHER_UNVERIFIED;
}

/* Makes the scheme known; SQLITE_OK or the error. */
int register_xtea(int make_default) {
    static const sqlite3mc_cipher_param parameters[] = {
        {"kdf_iter", 100000, 1, 0x7fffffff, 0},
        {0, 0, 0, 0, 0},
    };
    static const sqlite3mc_cipher scheme = {
        .iVersion = 1,
        .zName = "xtea",
        .nState = sizeof(Key),
        .bSalt = 1,
        .xReserved = reserved,
        .xAuthenticates = authenticates,
        .xDerive = derive,
        .xSeal = seal,
        .xOpen = open_page,
    };
    return sqlite3mc_register_cipher(&scheme, parameters, make_default);
}
