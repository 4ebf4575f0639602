/*
** Types of the known answers that scripts/vectors.mjs writes. Byte strings are hex.
*/
#ifndef SQLITE3MC_CRYPTOTEST_VECTORS_H
#define SQLITE3MC_CRYPTOTEST_VECTORS_H

#include <stdint.h>

typedef struct {
    const char *id, *key, *nonce;
    uint32_t counter;
    const char *pt, *ct;
} stream_vector;

typedef struct {
    const char *id, *key, *msg, *tag;
} mac_vector;

typedef struct {
    const char *id, *key, *nonce, *aad, *pt, *ct, *tag;
} aead_vector;

typedef struct {
    const char *id, *msg, *digest;
} hash_vector;

typedef struct {
    const char *id, *key, *pt, *ct;
} ecb_vector;

typedef struct {
    const char *id, *key, *iv, *pt, *ct;
} cbc_vector;

typedef struct {
    const char *id, *key, *nonce, *ad, *pt, *ct, *tag256, *stream80;
} aegis_vector;

typedef struct {
    const char *id, *password, *salt;
    uint32_t iterations;
    const char *dk;
} kdf_vector;

typedef struct {
    const char *id, *key, *pt, *ct;
} rc4_vector;

typedef struct {
    const char *id, *password, *salt, *secret, *ad;
    uint32_t t, m, p;
    const char *dk;
} argon2id_vector;

/* unit: the number of the data unit, its low byte first */
typedef struct {
    const char *id, *key1, *key2, *unit, *pt, *ct;
} xts_vector;

typedef struct {
    const char *id;
    uint32_t page;
    const char *iv;
} page_iv_vector;

/* The key of a database of a scheme whose derivation is its own. The password is text. */
typedef struct {
    const char *scheme, *password, *key;
} file_key;

/* A page of a database that the reference wrote: its key, what is derived from it, parts of its plaintext. */
typedef struct {
    const char *id;
    uint32_t number, size, offset; /* page number, bytes, first encrypted byte */
    const char *key, *nonce;
    uint32_t counter;
    const char *otk, *tag, *plain_first48, *plain_last16, *plain_sha256;
    uint8_t stored[4096];
} page_example;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#include "vectors.h"

#endif
