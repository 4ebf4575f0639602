/*
** Entry points of the benchmark of hashes and key derivations (bench/hash.mjs), in one module with those of
** bench/kernel.c.
*/
#include <stdint.h>

#include "argon2id.h"
#include "ascon.h"
#include "hmac.h"

#define EXPORT(name) __attribute__((used, visibility("default"), export_name(#name)))

enum { HMAC1, HMAC256, HMAC512, ASCON_ENCRYPT, ASCON_DECRYPT, PAGE = 4096 };

static uint8_t pages[32 * PAGE] __attribute__((aligned(64)));
static uint8_t memory[19456 * 1024] __attribute__((aligned(64)));
static const uint8_t key[32] = "bench bench bench bench bench .";

static int one_page(int what, const hmac_key *k, uint8_t *page) {
    static uint8_t tag[64];
    uint8_t otk[32];
    switch (what) {
    case HMAC1:
    case HMAC256:
    case HMAC512:
        hmac(k, tag, page, PAGE, key, 4);
        return 0;
    case ASCON_ENCRYPT:
        ascon_hash(otk, key, 32, page + PAGE - 16, 16, key, 4);
        ascon128_encrypt(page, PAGE - 32, page + PAGE - 32, 0, 0, otk, page + PAGE - 16);
        return 0;
    default:
        ascon_hash(otk, key, 32, page + PAGE - 16, 16, key, 4);
        return ascon128_decrypt(page, PAGE - 32, page + PAGE - 32, 0, 0, otk, page + PAGE - 16);
    }
}

/* 32 pages once. 0 if no tag was wrong. */
EXPORT(hash_run) int hash_run(int what) {
    hmac_key k;
    int rc = 0;
    hmac_key_init(&k, what <= HMAC512 ? what : HMAC1, key, sizeof key); /* once for a file */
    for (uint8_t *page = pages; page < pages + sizeof pages; page += PAGE) rc |= one_page(what, &k, page);
    return rc;
}

/* algorithm: as in hmac.h. */
EXPORT(hash_pbkdf2) int hash_pbkdf2(int algorithm, int iterations) {
    uint8_t out[32];
    pbkdf2_hmac(algorithm, key, 16, key + 16, 16, (uint32_t)iterations, out, sizeof out);
    return out[0] + out[31] == 0;
}

EXPORT(hash_ascon_pbkdf2) int hash_ascon_pbkdf2(int iterations) {
    uint8_t out[32];
    ascon_pbkdf2(out, key, 16, key + 16, 16, (uint32_t)iterations);
    return out[0] + out[31] == 0;
}

EXPORT(hash_argon2id) int hash_argon2id(int t, int m) {
    uint8_t out[32];
    return argon2id(out, sizeof out, key, 16, key + 16, 16, (uint32_t)t, (uint32_t)m, 1, memory);
}
