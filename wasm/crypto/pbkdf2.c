/*
** PBKDF2 (RFC 8018 5.2) with HMAC.
**
** An iteration hashes one digest under a key that does not change. So both halves of the HMAC start
** from values that were made once, and each is a single call of the compression function on a block
** whose padding stays in place: two compressions an iteration, no byte handling.
*/
#include <string.h>

#include "bytes.h"
#include "hmac.h"
#include "secure.h"

/* m = the last block of a message of one block and one digest, without the digest. */
static void pad(hash_block *m, const hash_function *function) {
    uint32_t bits = (uint32_t)(function->block_size + function->digest_size) * 8;
    memset(m, 0, sizeof *m);
    if (function->order == HASH_BE64) {
        m->w64[function->digest_size / 8] = (uint64_t)1 << 63;
        m->w64[15] = bits;
    } else {
        m->w32[function->digest_size / 4] = (uint32_t)1 << 31;
        m->w32[15] = bits;
    }
}

void pbkdf2_hmac(int algorithm, const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
                 uint32_t iterations, uint8_t *out, size_t out_size) {
    const hash_function *function = hmac_function(algorithm);
    struct {
        hmac_key key;
        hash_value sum;
        hash_block m; /* a digest, then padding */
        uint8_t bytes[HASH_MAX_DIGEST_SIZE];
    } w;

    hmac_key_init(&w.key, algorithm, password, password_size);
    pad(&w.m, function);

    for (uint32_t block = 1; out_size > 0; block++) {
        uint8_t number[4];
        store32_be(number, block);
        hmac(&w.key, w.bytes, salt, salt_size, number, sizeof number);
        hash_load(function, &w.m, w.bytes, function->digest_size);
        memset(&w.sum, 0, sizeof w.sum);
        memcpy(&w.sum, &w.m, function->digest_size);

        for (uint32_t n = 1; n < iterations; n++) {
            function->compress(&w.m.digest, &w.key.inner, &w.m);
            function->compress(&w.m.digest, &w.key.outer, &w.m);
            /* Whatever the words are; in a sum of shorter digests the rest is never used. */
            for (int i = 0; i < 8; i++) w.sum.w64[i] ^= w.m.w64[i];
        }

        hash_store(function, w.bytes, &w.sum);
        size_t take = out_size < function->digest_size ? out_size : function->digest_size;
        memcpy(out, w.bytes, take);
        out += take;
        out_size -= take;
    }
    secure_zero(&w, sizeof w);
}
