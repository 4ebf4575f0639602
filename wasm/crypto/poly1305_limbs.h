/*
** Poly1305 (RFC 8439 2.5) in radix 2^32: the arithmetic that all implementations share.
**
** The accumulator is h0 + h1*2^32 + h2*2^64 + h3*2^96 modulo p = 2^130 - 5; h3 is the top limb and has
** 34 bits. Clamping leaves all r_i < 2^28 and the two low bits of r1, r2, r3 clear. So s_i = r_i*5/4 is an
** integer, and r_i*2^128 = (r_i/4)*2^130 = (r_i/4)*5 = s_i (mod p). That makes 16 multiplications a block
** (26-bit limbs need 25), and a message word is added to its limb without a carry. The bit 2^128 that
** stands above each block is not added to h3 but, multiplied out, to the sums: s1*2^32, s2*2^64,
** s3*2^96 and r0*2^128.
**
** Bounds, in units of 2^32 for limbs and 2^60 for sums of products. Before a block h0 < 2.1, h1 < 1,
** h2 < 1.95, h3 < 4; with the message words x0 < 3.1, x1 < 2, x2 < 2.95, x3 < 5. As r_i < 1 and
** s_i < 1.25 in units of 2^28,
**     d0 = x0*r0 + x1*s3 + x2*s2 + x3*s1       < 3.1 + 2.5 + 3.69 + 6.25 = 15.54
**     d1 = x0*r1 + x1*r0 + x2*s3 + x3*s2       < 3.1 + 2 + 3.69 + 6.25   = 15.04
**     d2 = x0*r2 + x1*r1 + x2*r0 + x3*s3       < 3.1 + 2 + 2.95 + 6.25   = 14.3
**     d3 = x0*r3 + x1*r2 + x2*r1 + x3*r0 + r0*2^32 < 3.1 + 2 + 2.95 + 5 + 1 = 14.05
** all below the 16 that 64 bits hold; the s_i and the carries add less than 0.01. Then h2 < 1 + 15.05/16,
** and d3 >> 34 < 14.06*2^26, so h0 < 1 + 5*14.06/64 < 2.1. The bounds hold again.
*/
#ifndef SQLITE3MC_POLY1305_LIMBS_H
#define SQLITE3MC_POLY1305_LIMBS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

typedef struct {
    uint64_t h0, h1, h2, h3;
    uint64_t r0, r1, r2, r3;
    uint64_t s1, s2, s3;
    uint64_t r0_top; /* r0*2^32, what the bit above a block adds to d3 */
} poly1305_limbs;

static inline void poly1305_limbs_init(poly1305_limbs *p, const uint8_t key[32]) {
    p->r0 = load32_le(key) & 0x0fffffff;
    p->r1 = load32_le(key + 4) & 0x0ffffffc;
    p->r2 = load32_le(key + 8) & 0x0ffffffc;
    p->r3 = load32_le(key + 12) & 0x0ffffffc;
    p->s1 = p->r1 + (p->r1 >> 2);
    p->s2 = p->r2 + (p->r2 >> 2);
    p->s3 = p->r3 + (p->r3 >> 2);
    p->r0_top = p->r0 << 32;
    p->h0 = p->h1 = p->h2 = p->h3 = 0;
}

/* h = (h + block) * r. `whole` is 1 for 16 message bytes, 0 for a last block that carries its own top bit.
** Two short carry chains, d2 > d3 > h0 and d0 > d1 > h2, run beside each other. */
static inline void poly1305_limbs_block(poly1305_limbs *p, const uint8_t m[16], int whole) {
    const uint64_t low = 0xffffffff;
    uint64_t top = 0 - (uint64_t)(unsigned)whole;
    uint64_t x0 = p->h0 + load32_le(m);
    uint64_t x1 = p->h1 + load32_le(m + 4);
    uint64_t x2 = p->h2 + load32_le(m + 8);
    uint64_t x3 = p->h3 + load32_le(m + 12);
    uint64_t d2 = x1 * p->r1 + x2 * p->r0 + (x3 * p->s3 + (p->s2 & top)) + x0 * p->r2;
    uint64_t d3 = x1 * p->r2 + x2 * p->r1 + (x3 * p->r0 + (p->s3 & top) + (p->r0_top & top)) + x0 * p->r3;
    uint64_t d0 = x1 * p->s3 + x2 * p->s2 + x3 * p->s1 + x0 * p->r0;
    uint64_t d1 = x1 * p->r0 + x2 * p->s3 + (x3 * p->s2 + (p->s1 & top)) + x0 * p->r1;
    d3 += d2 >> 32;
    d1 += d0 >> 32;
    p->h0 = (d0 & low) + (d3 >> 34) * 5;
    p->h1 = d1 & low;
    p->h2 = (d2 & low) + (d1 >> 32);
    p->h3 = d3 & 0x3ffffffff;
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
    uint64_t h0 = p->h0, h1 = p->h1, h2 = p->h2, h3 = p->h3;

    /* Twice around. h3 < 2^34 + 1 before its first fold, so h0 <= 2^32 + 4 after the first pass. The
    ** second pass folds only if that h0 carried through limbs that were all ones, and then h0 <= 4 + 5.
    ** So in the end all limbs are in their range, and h < 2^130. */
    for (int i = 0; i < 2; i++) {
        h1 += h0 >> 32;
        h2 += h1 >> 32;
        h3 += h2 >> 32;
        h0 = (h0 & low) + (h3 >> 34) * 5;
        h1 &= low;
        h2 &= low;
        h3 &= 0x3ffffffff;
    }

    /* g = h + 5; if it reaches 2^130, h >= p and g mod 2^130 is h - p. */
    uint64_t g0 = h0 + 5;
    uint64_t g1 = h1 + (g0 >> 32);
    uint64_t g2 = h2 + (g1 >> 32);
    uint64_t g3 = h3 + (g2 >> 32);
    uint64_t take = 0 - (g3 >> 34);
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
