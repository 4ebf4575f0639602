/*
** MD5 (RFC 1321) in portable C.
*/
#include "md5.h"

#include "hash.h"

/* floor(2^32 |sin(i + 1)|), i = 0, 1, ... */
static const uint32_t sine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static inline uint32_t rotl32(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static inline void step(uint32_t *a, uint32_t b, uint32_t f, uint32_t m, uint32_t k, int n) {
    *a = b + rotl32(*a + f + m + k, n);
}

/* Four rounds of 16 steps, and four steps bring the names back to where they were. */
static void compress(hash_value *out, const hash_value *in, const hash_block *block) {
    const uint32_t *m = block->w32, *k = sine;
    uint32_t a = in->w32[0], b = in->w32[1], c = in->w32[2], d = in->w32[3];
    for (unsigned i = 0; i < 16; i += 4, k += 4) {
        step(&a, b, d ^ (b & (c ^ d)), m[i], k[0], 7);
        step(&d, a, c ^ (a & (b ^ c)), m[i + 1], k[1], 12);
        step(&c, d, b ^ (d & (a ^ b)), m[i + 2], k[2], 17);
        step(&b, c, a ^ (c & (d ^ a)), m[i + 3], k[3], 22);
    }
    for (unsigned i = 1; i < 1 + 5 * 16; i += 20, k += 4) {
        step(&a, b, c ^ (d & (b ^ c)), m[i % 16], k[0], 5);
        step(&d, a, b ^ (c & (a ^ b)), m[(i + 5) % 16], k[1], 9);
        step(&c, d, a ^ (b & (d ^ a)), m[(i + 10) % 16], k[2], 14);
        step(&b, c, d ^ (a & (c ^ d)), m[(i + 15) % 16], k[3], 20);
    }
    for (unsigned i = 5; i < 5 + 3 * 16; i += 12, k += 4) {
        step(&a, b, b ^ c ^ d, m[i % 16], k[0], 4);
        step(&d, a, a ^ b ^ c, m[(i + 3) % 16], k[1], 11);
        step(&c, d, d ^ a ^ b, m[(i + 6) % 16], k[2], 16);
        step(&b, c, c ^ d ^ a, m[(i + 9) % 16], k[3], 23);
    }
    for (unsigned i = 0; i < 7 * 16; i += 28, k += 4) {
        step(&a, b, c ^ (b | ~d), m[i % 16], k[0], 6);
        step(&d, a, b ^ (a | ~c), m[(i + 7) % 16], k[1], 10);
        step(&c, d, a ^ (d | ~b), m[(i + 14) % 16], k[2], 15);
        step(&b, c, d ^ (c | ~a), m[(i + 21) % 16], k[3], 21);
    }
    out->w32[0] = in->w32[0] + a;
    out->w32[1] = in->w32[1] + b;
    out->w32[2] = in->w32[2] + c;
    out->w32[3] = in->w32[3] + d;
}

const hash_function hash_md5 = {
    .block_size = 64,
    .digest_size = 16,
    .order = HASH_LE32,
    .initial = {.w32 = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}},
    .compress = compress,
};

void md5(uint8_t digest[16], const uint8_t *msg, size_t n) {
    hash_message(&hash_md5, digest, msg, n);
}
