/*
** What MD5, SHA-1, SHA-256 and SHA-512 share: a compression function changes a chaining value by one block
** of 16 words, and the message ends with a padding that holds its length. For the primitives built on a
** hash (HMAC, PBKDF2); everybody else calls md5(), sha1(), sha256() or sha512().
*/
#ifndef SQLITE3MC_HASH_H
#define SQLITE3MC_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Words of 32 bits (MD5, SHA-1, SHA-256) or 64 bits (SHA-512), in the machine's byte order. */
typedef union hash_value {
    uint32_t w32[8];
    uint64_t w64[8];
} hash_value;

typedef union hash_block {
    uint32_t w32[16];
    uint64_t w64[16];
    hash_value digest; /* its first words, where the message is a digest */
} hash_block;

#define HASH_MAX_BLOCK_SIZE 128
#define HASH_MAX_DIGEST_SIZE 64

enum hash_order { HASH_LE32, HASH_BE32, HASH_BE64 };

typedef struct hash_function {
    size_t block_size, digest_size; /* bytes */
    enum hash_order order;          /* of the words in messages and digests */
    hash_value initial;
    void (*compress)(hash_value *out, const hash_value *in, const hash_block *m); /* out may be in, or in m */
} hash_function;

extern const hash_function hash_md5;
extern const hash_function hash_sha1;
extern const hash_function hash_sha256;
extern const hash_function hash_sha512;

/* A message on its way: a whole number of blocks is in h, the rest in block. */
typedef struct hash_state {
    const hash_function *function;
    hash_value h;
    uint64_t length; /* bytes so far */
    uint8_t block[HASH_MAX_BLOCK_SIZE];
} hash_state;

void hash_init(hash_state *s, const hash_function *function);
void hash_update(hash_state *s, const uint8_t *msg, size_t n);

/* Writes digest_size bytes and wipes the state. */
void hash_final(hash_state *s, uint8_t *digest);

/* All three in one. */
void hash_message(const hash_function *function, uint8_t *digest, const uint8_t *msg, size_t n);

/* The first words of m from n bytes; and the chaining value as bytes, digest_size of them. */
void hash_load(const hash_function *function, hash_block *m, const uint8_t *p, size_t n);
void hash_store(const hash_function *function, uint8_t *digest, const hash_value *h);

#endif
