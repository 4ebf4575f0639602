/*
** SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104).
*/
#ifndef SQLITE3MC_SHA256_H
#define SQLITE3MC_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t h[8];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
} sha256_state;

void sha256_init(sha256_state *s);
void sha256_update(sha256_state *s, const void *data, size_t n);
/* Writes the digest and wipes the state. */
void sha256_final(sha256_state *s, uint8_t digest[32]);
void sha256(uint8_t digest[32], const void *data, size_t n);

/* The compression function on 16 message words, for PBKDF2: h is replaced. */
void sha256_compress(uint32_t s[8], const uint32_t m[16]);

typedef struct {
    sha256_state inner;
    uint32_t outer[8]; /* the state after the block key XOR opad */
} hmac_sha256_state;

void hmac_sha256_init(hmac_sha256_state *s, const void *key, size_t keylen);
void hmac_sha256_update(hmac_sha256_state *s, const void *data, size_t n);
/* Writes the tag and wipes the state. */
void hmac_sha256_final(hmac_sha256_state *s, uint8_t tag[32]);
void hmac_sha256(uint8_t tag[32], const void *key, size_t keylen, const void *data, size_t n);

#endif
