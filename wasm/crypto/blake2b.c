/*
** BLAKE2b (RFC 7693) in portable C.
*/
#include "blake2b.h"

#include <string.h>

#include "bytes.h"
#include "secure.h"

static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* Which words of the message a round takes; rounds 10 and 11 are as 0 and 1. */
static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t rotr64(uint64_t x, int n) {
    return x >> n | x << (64 - n);
}

static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotr64(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotr64(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotr64(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotr64(v[b] ^ v[c], 63);
}

static void compress(blake2b_state *s, int last) {
    uint64_t m[16], v[16];
    for (int i = 0; i < 16; i++) m[i] = load64_le(s->block + 8 * i);
    memcpy(v, s->h, sizeof s->h);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= s->length;
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *at = sigma[round % 10];
        for (int i = 0; i < 4; i++) mix(v, i, 4 + i, 8 + i, 12 + i, m[at[2 * i]], m[at[2 * i + 1]]);
        for (int i = 0; i < 4; i++) {
            mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[at[8 + 2 * i]], m[at[9 + 2 * i]]);
        }
    }
    for (int i = 0; i < 8; i++) s->h[i] ^= v[i] ^ v[8 + i];
    secure_zero(m, sizeof m);
    secure_zero(v, sizeof v);
}

void blake2b_init(blake2b_state *s, size_t digest_size, const uint8_t *key, size_t key_size) {
    memset(s, 0, sizeof *s);
    memcpy(s->h, initial, sizeof s->h);
    s->h[0] ^= 0x01010000 ^ (uint64_t)key_size << 8 ^ (uint64_t)digest_size;
    s->digest_size = digest_size;
    if (key_size > 0) {
        memcpy(s->block, key, key_size);
        s->have = sizeof s->block;
    }
}

/* A full block waits: it may be the last one. */
void blake2b_update(blake2b_state *s, const uint8_t *msg, size_t n) {
    while (n > 0) {
        if (s->have == sizeof s->block) {
            s->length += sizeof s->block;
            compress(s, 0);
            s->have = 0;
        }
        size_t take = n < sizeof s->block - s->have ? n : sizeof s->block - s->have;
        memcpy(s->block + s->have, msg, take);
        s->have += take;
        msg += take;
        n -= take;
    }
}

void blake2b_final(blake2b_state *s, uint8_t *digest) {
    s->length += s->have;
    memset(s->block + s->have, 0, sizeof s->block - s->have);
    compress(s, 1);
    for (int i = 0; i < 8; i++) store64_le(s->block + 8 * i, s->h[i]);
    memcpy(digest, s->block, s->digest_size);
    secure_zero(s, sizeof *s);
}
