/*
** SHA-1 (FIPS 180-4) in portable C.
*/
#include "sha1.h"

#include <string.h>

#include "hash.h"
#include "secure.h"

static inline uint32_t rotl32(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static inline void step(uint32_t a, uint32_t *b, uint32_t f, uint32_t *e, uint32_t kw) {
    *e += rotl32(a, 5) + f + kw;
    *b = rotl32(*b, 30);
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

/* Five steps bring the names back to where they were. */
static void compress(hash_value *s, const hash_block *m) {
    uint32_t w[80];
    uint32_t a = s->w32[0], b = s->w32[1], c = s->w32[2], d = s->w32[3], e = s->w32[4];
    int i;
    memcpy(w, m->w32, sizeof m->w32);
    for (i = 16; i < 80; i++) w[i] = rotl32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (i = 0; i < 20; i += 5) {
        step(a, &b, choose(b, c, d), &e, 0x5a827999 + w[i]);
        step(e, &a, choose(a, b, c), &d, 0x5a827999 + w[i + 1]);
        step(d, &e, choose(e, a, b), &c, 0x5a827999 + w[i + 2]);
        step(c, &d, choose(d, e, a), &b, 0x5a827999 + w[i + 3]);
        step(b, &c, choose(c, d, e), &a, 0x5a827999 + w[i + 4]);
    }
    for (; i < 40; i += 5) {
        step(a, &b, parity(b, c, d), &e, 0x6ed9eba1 + w[i]);
        step(e, &a, parity(a, b, c), &d, 0x6ed9eba1 + w[i + 1]);
        step(d, &e, parity(e, a, b), &c, 0x6ed9eba1 + w[i + 2]);
        step(c, &d, parity(d, e, a), &b, 0x6ed9eba1 + w[i + 3]);
        step(b, &c, parity(c, d, e), &a, 0x6ed9eba1 + w[i + 4]);
    }
    for (; i < 60; i += 5) {
        step(a, &b, majority(b, c, d), &e, 0x8f1bbcdc + w[i]);
        step(e, &a, majority(a, b, c), &d, 0x8f1bbcdc + w[i + 1]);
        step(d, &e, majority(e, a, b), &c, 0x8f1bbcdc + w[i + 2]);
        step(c, &d, majority(d, e, a), &b, 0x8f1bbcdc + w[i + 3]);
        step(b, &c, majority(c, d, e), &a, 0x8f1bbcdc + w[i + 4]);
    }
    for (; i < 80; i += 5) {
        step(a, &b, parity(b, c, d), &e, 0xca62c1d6 + w[i]);
        step(e, &a, parity(a, b, c), &d, 0xca62c1d6 + w[i + 1]);
        step(d, &e, parity(e, a, b), &c, 0xca62c1d6 + w[i + 2]);
        step(c, &d, parity(d, e, a), &b, 0xca62c1d6 + w[i + 3]);
        step(b, &c, parity(c, d, e), &a, 0xca62c1d6 + w[i + 4]);
    }
    s->w32[0] += a, s->w32[1] += b, s->w32[2] += c, s->w32[3] += d, s->w32[4] += e;
    secure_zero(w, sizeof w);
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
