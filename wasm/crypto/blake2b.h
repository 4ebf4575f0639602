/*
** BLAKE2b (RFC 7693).
*/
#ifndef SQLITE3MC_BLAKE2B_H
#define SQLITE3MC_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

typedef struct blake2b_state {
    uint64_t h[8];
    uint64_t length; /* bytes that went into h; RFC 7693 counts to 2^128, this to 2^64 */
    size_t have, digest_size;
    uint8_t block[128];
} blake2b_state;

/* digest_size 1..64, key_size 0..64 bytes; key may be NULL if key_size is 0. */
void blake2b_init(blake2b_state *s, size_t digest_size, const uint8_t *key, size_t key_size);
void blake2b_update(blake2b_state *s, const uint8_t *msg, size_t n);

/* Writes digest_size bytes and wipes the state. */
void blake2b_final(blake2b_state *s, uint8_t *digest);

#endif
