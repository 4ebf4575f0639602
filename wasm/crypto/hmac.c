/*
** HMAC (RFC 2104): the hash of both key blocks is made once, and each tag starts from there.
*/
#include "hmac.h"

#include <string.h>

#include "secure.h"

static const hash_function *const functions[] = {
    [HMAC_SHA1] = &hash_sha1,
    [HMAC_SHA256] = &hash_sha256,
    [HMAC_SHA512] = &hash_sha512,
};

const hash_function *hmac_function(int algorithm) {
    return functions[algorithm];
}

size_t hmac_size(int algorithm) {
    return hmac_function(algorithm)->digest_size;
}

/* s goes on after the block (or blocks) that left `value`. */
static void resume(hash_state *s, const hash_function *function, const hash_value *value) {
    s->function = function;
    s->h = *value;
    s->length = function->block_size;
}

static void after_block(hash_value *value, const hash_function *function, const uint8_t *block) {
    hash_state s;
    hash_init(&s, function);
    hash_update(&s, block, function->block_size);
    *value = s.h;
    secure_zero(&s, sizeof s);
}

void hmac_key_init(hmac_key *k, int algorithm, const uint8_t *key, size_t key_size) {
    const hash_function *function = hmac_function(algorithm);
    uint8_t block[HASH_MAX_BLOCK_SIZE] = {0};
    if (key_size > function->block_size) {
        hash_message(function, block, key, key_size);
    } else if (key_size > 0) {
        memcpy(block, key, key_size);
    }
    k->algorithm = algorithm;
    for (size_t i = 0; i < sizeof block; i++) block[i] ^= 0x36;
    after_block(&k->inner, function, block);
    for (size_t i = 0; i < sizeof block; i++) block[i] ^= 0x36 ^ 0x5c;
    after_block(&k->outer, function, block);
    secure_zero(block, sizeof block);
}

void hmac(const hmac_key *k, uint8_t *tag, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b) {
    const hash_function *function = hmac_function(k->algorithm);
    uint8_t digest[HASH_MAX_DIGEST_SIZE];
    hash_state s;
    resume(&s, function, &k->inner);
    hash_update(&s, a, n_a);
    hash_update(&s, b, n_b);
    hash_final(&s, digest);
    resume(&s, function, &k->outer);
    hash_update(&s, digest, function->digest_size);
    hash_final(&s, tag);
    secure_zero(digest, sizeof digest);
}
