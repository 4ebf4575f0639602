/*
** HMAC (RFC 2104) over SHA-1, SHA-256 and SHA-512 with a prepared key.
*/
#ifndef SQLITE3MC_HMAC_H
#define SQLITE3MC_HMAC_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"

enum { HMAC_SHA1 = 0, HMAC_SHA256, HMAC_SHA512 };

#define HMAC_MAX_SIZE HASH_MAX_DIGEST_SIZE

/* The hash states after the inner and the outer key block. Holds secrets: wipe it. May be copied. */
typedef struct hmac_key {
    int algorithm;
    hash_value inner, outer;
} hmac_key;

/* Bytes of a tag: 20, 32 or 64. */
size_t hmac_size(int algorithm);

const hash_function *hmac_function(int algorithm);

void hmac_key_init(hmac_key *k, int algorithm, const uint8_t *key, size_t key_size);

/* Tag over a[0..n_a) || b[0..n_b). b may be NULL if n_b is 0. */
void hmac(const hmac_key *k, uint8_t *tag, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);

/* PBKDF2 (RFC 8018 5.2) with this HMAC: out_size bytes from a password and a salt. iterations >= 1. */
void pbkdf2_hmac(int algorithm, const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
                 uint32_t iterations, uint8_t *out, size_t out_size);

#endif
