/*
** SHA-1 (FIPS 180-4) in portable C.
*/
#include "sha1.h"

#include <string.h>

#include "hash.h"

static inline uint32_t rotl32(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t z) {
    return z ^ (x & (y ^ z));
}

static inline uint32_t parity(uint32_t x, uint32_t y, uint32_t z) {
    return x ^ y ^ z;
}

static inline uint32_t majority(uint32_t x, uint32_t y, uint32_t z) {
    return (x & y) | (z & (x | y));
}

static inline void step(uint32_t a, uint32_t *b, uint32_t f, uint32_t *e, uint32_t kw) {
    *e += rotl32(a, 5) + f + kw;
    *b = rotl32(*b, 30);
}

/* Word i of the message schedule, in the place of the one 16 before it. */
static inline uint32_t schedule(uint32_t w[16], unsigned i) {
    if (i >= 16) w[i % 16] = rotl32(w[(i + 13) % 16] ^ w[(i + 8) % 16] ^ w[(i + 2) % 16] ^ w[i % 16], 1);
    return w[i % 16];
}

/* Five steps from step i on, which bring the names back to where they were. */
#define FIVE(function, constant, i)                                      \
    step(a, &b, function(b, c, d), &e, constant + schedule(w, i));       \
    step(e, &a, function(a, b, c), &d, constant + schedule(w, (i) + 1)); \
    step(d, &e, function(e, a, b), &c, constant + schedule(w, (i) + 2)); \
    step(c, &d, function(d, e, a), &b, constant + schedule(w, (i) + 3)); \
    step(b, &c, function(c, d, e), &a, constant + schedule(w, (i) + 4))

static void compress(hash_value *out, const hash_value *in, const hash_block *m) {
    uint32_t w[16];
    uint32_t a = in->w32[0], b = in->w32[1], c = in->w32[2], d = in->w32[3], e = in->w32[4];
    memcpy(w, m->w32, sizeof w);
    FIVE(choose, 0x5a827999, 0);
    FIVE(choose, 0x5a827999, 5);
    FIVE(choose, 0x5a827999, 10);
    FIVE(choose, 0x5a827999, 15);
    FIVE(parity, 0x6ed9eba1, 20);
    FIVE(parity, 0x6ed9eba1, 25);
    FIVE(parity, 0x6ed9eba1, 30);
    FIVE(parity, 0x6ed9eba1, 35);
    FIVE(majority, 0x8f1bbcdc, 40);
    FIVE(majority, 0x8f1bbcdc, 45);
    FIVE(majority, 0x8f1bbcdc, 50);
    FIVE(majority, 0x8f1bbcdc, 55);
    FIVE(parity, 0xca62c1d6, 60);
    FIVE(parity, 0xca62c1d6, 65);
    FIVE(parity, 0xca62c1d6, 70);
    FIVE(parity, 0xca62c1d6, 75);
    out->w32[0] = in->w32[0] + a;
    out->w32[1] = in->w32[1] + b;
    out->w32[2] = in->w32[2] + c;
    out->w32[3] = in->w32[3] + d;
    out->w32[4] = in->w32[4] + e;
}

const hash_function hash_sha1 = {
    .block_size = 64,
    .digest_size = 20,
    .order = HASH_BE32,
    .initial = {.w32 = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
    .compress = compress,
};

void sha1(uint8_t digest[20], const uint8_t *msg, size_t n) {
    hash_message(&hash_sha1, digest, msg, n);
}
