/*
** Poly1305 (RFC 8439 2.5) in radix 2^32: the arithmetic that all implementations share.
**
** The accumulator is h0 + h1*2^32 + h2*2^64 + h3*2^96 + h4*2^128 modulo p = 2^130 - 5. Clamping
** leaves all r_i < 2^28 and the two low bits of r1, r2, r3 clear. So s_i = r_i*5/4 is an integer, and
** r_i*2^128 = (r_i/4)*2^130 = (r_i/4)*5 = s_i (mod p): 20 multiplications a block instead of the 25 of
** 26-bit limbs, and a message word is added to its limb without a carry.
**
** Bounds, in units of U = 2^32 for limbs and 2^60 for products. Before a block h0 < 2.1, h1 and h3 < 1,
** h2 < 1.8 and h4 <= 3; with the message x0 < 3.1, x1 and x3 < 2, x2 < 2.8 and x4 <= 4 (not in units).
** With r_i < 2^28 and s_i < 1.25*2^28 the largest sum is
**     d1 = x0*r1 + x1*r0 + x2*s3 + x3*s2 + x4*s1 < 3.1 + 2 + 3.5 + 2.5 + 2^-27 < 11.2,
** below the 16 that 64 bits hold, the carry from d0 included. Then h2 < 1 + 11.2/16 < 1.8;
** d3 < 3.1 + 2 + 2.8 + 2 < 10 gives d4 = x4*r0 + d3/2^32 < (4 + 10)*2^28 = 14/16 U, and
** h0 < 1 + 5/4*14/16 < 2.1. The bounds hold again.
*/
#ifndef SQLITE3MC_POLY1305_LIMBS_H
#define SQLITE3MC_POLY1305_LIMBS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

typedef struct {
    uint64_t h0, h1, h2, h3, h4;
    uint64_t r0, r1, r2, r3;
    uint64_t s1, s2, s3;
} poly1305_limbs;

static inline void poly1305_limbs_init(poly1305_limbs *p, const uint8_t key[32]) {
    p->r0 = load32_le(key) & 0x0fffffff;
    p->r1 = load32_le(key + 4) & 0x0ffffffc;
    p->r2 = load32_le(key + 8) & 0x0ffffffc;
    p->r3 = load32_le(key + 12) & 0x0ffffffc;
    p->s1 = p->r1 + (p->r1 >> 2);
    p->s2 = p->r2 + (p->r2 >> 2);
    p->s3 = p->r3 + (p->r3 >> 2);
    p->h0 = p->h1 = p->h2 = p->h3 = p->h4 = 0;
}

/* h = (h + block) * r. `top` is 1 for 16 message bytes, 0 for a last block that carries its own bit.
** Two short carry chains, d2 > d3 > d4 > h0 and d0 > d1 > h2, run beside each other. */
static inline void poly1305_limbs_block(poly1305_limbs *p, const uint8_t m[16], uint64_t top) {
    uint64_t x0 = p->h0 + load32_le(m);
    uint64_t x1 = p->h1 + load32_le(m + 4);
    uint64_t x2 = p->h2 + load32_le(m + 8);
    uint64_t x3 = p->h3 + load32_le(m + 12);
    uint64_t x4 = p->h4 + top;
    uint64_t d0 = x0 * p->r0 + x1 * p->s3 + x2 * p->s2 + x3 * p->s1;
    uint64_t d1 = x0 * p->r1 + x1 * p->r0 + x2 * p->s3 + x3 * p->s2 + x4 * p->s1;
    uint64_t d2 = x0 * p->r2 + x1 * p->r1 + x2 * p->r0 + x3 * p->s3 + x4 * p->s2;
    uint64_t d3 = x0 * p->r3 + x1 * p->r2 + x2 * p->r1 + x3 * p->r0 + x4 * p->s3;
    uint64_t d4 = x4 * p->r0;
    d1 += d0 >> 32;
    d3 += d2 >> 32;
    d4 += d3 >> 32;
    p->h0 = (d0 & 0xffffffff) + (d4 >> 2) + (d4 & ~(uint64_t)3);
    p->h1 = d1 & 0xffffffff;
    p->h2 = (d2 & 0xffffffff) + (d1 >> 32);
    p->h3 = d3 & 0xffffffff;
    p->h4 = d4 & 3;
}

/* n message bytes; n is a multiple of 16. */
static inline void poly1305_limbs_blocks(poly1305_limbs *p, const uint8_t *m, size_t n) {
    poly1305_limbs t = *p;
    for (; n > 0; n -= 16, m += 16) poly1305_limbs_block(&t, m, 1);
    *p = t;
}

/* The end of a message: 0 to 15 bytes, closed by the byte 1. */
static inline void poly1305_limbs_rest(poly1305_limbs *p, const uint8_t *m, size_t n) {
    uint8_t last[16] = {0};
    if (n == 0) return;
    for (size_t i = 0; i < n; i++) last[i] = m[i];
    last[n] = 1;
    poly1305_limbs_block(p, last, 0);
}

/* tag = (h mod p + s) mod 2^128. */
static inline void poly1305_limbs_tag(const poly1305_limbs *p, const uint8_t key[32], uint8_t tag[16]) {
    const uint64_t low = 0xffffffff;
    uint64_t h0 = p->h0, h1 = p->h1, h2 = p->h2, h3 = p->h3, h4 = p->h4;

    /* Twice around. h4 <= 5 before its first fold, so h0 < 2^32 + 5 after the first pass. The second
    ** pass folds only if that h0 carried through limbs that were all ones, and then h0 <= 4 + 5. So all
    ** limbs are below 2^32 in the end, and h < 2^130. */
    for (int i = 0; i < 2; i++) {
        h1 += h0 >> 32;
        h2 += h1 >> 32;
        h3 += h2 >> 32;
        h4 += h3 >> 32;
        h0 = (h0 & low) + (h4 >> 2) * 5;
        h1 &= low;
        h2 &= low;
        h3 &= low;
        h4 &= 3;
    }

    /* g = h + 5; if it reaches 2^130, h >= p and g mod 2^130 is h - p. */
    uint64_t g0 = h0 + 5;
    uint64_t g1 = h1 + (g0 >> 32);
    uint64_t g2 = h2 + (g1 >> 32);
    uint64_t g3 = h3 + (g2 >> 32);
    uint64_t g4 = h4 + (g3 >> 32);
    uint64_t take = 0 - (g4 >> 2);
    h0 = (h0 & ~take) | (g0 & take);
    h1 = (h1 & ~take) | (g1 & take);
    h2 = (h2 & ~take) | (g2 & take);
    h3 = (h3 & ~take) | (g3 & take);

    uint64_t f = (h0 & low) + load32_le(key + 16);
    store32_le(tag, (uint32_t)f);
    f = (h1 & low) + load32_le(key + 20) + (f >> 32);
    store32_le(tag + 4, (uint32_t)f);
    f = (h2 & low) + load32_le(key + 24) + (f >> 32);
    store32_le(tag + 8, (uint32_t)f);
    f = (h3 & low) + load32_le(key + 28) + (f >> 32);
    store32_le(tag + 12, (uint32_t)f);
}

#endif
