/*
** SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104) in portable C.
*/
#include "sha256.h"

#include <string.h>

#include "bytes.h"
#include "secure.h"

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotr32(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

/* One round; the caller renames the variables instead of moving them. */
static inline void round_step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g,
                              uint32_t *h, uint32_t kw) {
    uint32_t t = *h + kw + (rotr32(e, 6) ^ rotr32(e, 11) ^ rotr32(e, 25)) + ((e & (f ^ g)) ^ g);
    *d += t;
    *h = t + (rotr32(a, 2) ^ rotr32(a, 13) ^ rotr32(a, 22)) + ((a & b) | (c & (a | b)));
}

/* The next word of the message schedule, in the place of the one 16 before it. */
static inline uint32_t schedule(uint32_t w[16], unsigned i) {
    uint32_t x = w[(i + 1) % 16];
    uint32_t y = w[(i + 14) % 16];
    w[i] += (rotr32(x, 7) ^ rotr32(x, 18) ^ x >> 3) + w[(i + 9) % 16] + (rotr32(y, 17) ^ rotr32(y, 19) ^ y >> 10);
    return w[i];
}

/* No address of w leaves this function: the compiler keeps the words in registers, as far as they go. */
void sha256_compress(uint32_t s[8], const uint32_t m[16]) {
    uint32_t w[16];
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    const uint32_t *k = round_constant;
    memcpy(w, m, sizeof w);
    round_step(a, b, c, &d, e, f, g, &h, k[0] + w[0]);
    round_step(h, a, b, &c, d, e, f, &g, k[1] + w[1]);
    round_step(g, h, a, &b, c, d, e, &f, k[2] + w[2]);
    round_step(f, g, h, &a, b, c, d, &e, k[3] + w[3]);
    round_step(e, f, g, &h, a, b, c, &d, k[4] + w[4]);
    round_step(d, e, f, &g, h, a, b, &c, k[5] + w[5]);
    round_step(c, d, e, &f, g, h, a, &b, k[6] + w[6]);
    round_step(b, c, d, &e, f, g, h, &a, k[7] + w[7]);
    round_step(a, b, c, &d, e, f, g, &h, k[8] + w[8]);
    round_step(h, a, b, &c, d, e, f, &g, k[9] + w[9]);
    round_step(g, h, a, &b, c, d, e, &f, k[10] + w[10]);
    round_step(f, g, h, &a, b, c, d, &e, k[11] + w[11]);
    round_step(e, f, g, &h, a, b, c, &d, k[12] + w[12]);
    round_step(d, e, f, &g, h, a, b, &c, k[13] + w[13]);
    round_step(c, d, e, &f, g, h, a, &b, k[14] + w[14]);
    round_step(b, c, d, &e, f, g, h, &a, k[15] + w[15]);
    for (k += 16; k < round_constant + 64; k += 16) {
        round_step(a, b, c, &d, e, f, g, &h, k[0] + schedule(w, 0));
        round_step(h, a, b, &c, d, e, f, &g, k[1] + schedule(w, 1));
        round_step(g, h, a, &b, c, d, e, &f, k[2] + schedule(w, 2));
        round_step(f, g, h, &a, b, c, d, &e, k[3] + schedule(w, 3));
        round_step(e, f, g, &h, a, b, c, &d, k[4] + schedule(w, 4));
        round_step(d, e, f, &g, h, a, b, &c, k[5] + schedule(w, 5));
        round_step(c, d, e, &f, g, h, a, &b, k[6] + schedule(w, 6));
        round_step(b, c, d, &e, f, g, h, &a, k[7] + schedule(w, 7));
        round_step(a, b, c, &d, e, f, g, &h, k[8] + schedule(w, 8));
        round_step(h, a, b, &c, d, e, f, &g, k[9] + schedule(w, 9));
        round_step(g, h, a, &b, c, d, e, &f, k[10] + schedule(w, 10));
        round_step(f, g, h, &a, b, c, d, &e, k[11] + schedule(w, 11));
        round_step(e, f, g, &h, a, b, c, &d, k[12] + schedule(w, 12));
        round_step(d, e, f, &g, h, a, b, &c, k[13] + schedule(w, 13));
        round_step(c, d, e, &f, g, h, a, &b, k[14] + schedule(w, 14));
        round_step(b, c, d, &e, f, g, h, &a, k[15] + schedule(w, 15));
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

static void compress_bytes(uint32_t h[8], const uint8_t block[64]) {
    uint32_t m[16];
    for (int i = 0; i < 16; i++) m[i] = load32_be(block + 4 * i);
    sha256_compress(h, m);
    secure_zero(m, sizeof m);
}

void sha256_init(sha256_state *s) {
    memcpy(s->h, initial, sizeof s->h);
    s->length = 0;
}

void sha256_update(sha256_state *s, const void *data, size_t n) {
    const uint8_t *p = (const uint8_t *)data;
    size_t have = (size_t)(s->length % 64);
    s->length += n;
    while (n > 0) {
        size_t take = n < 64 - have ? n : 64 - have;
        memcpy(s->block + have, p, take);
        have += take;
        p += take;
        n -= take;
        if (have == 64) {
            compress_bytes(s->h, s->block);
            have = 0;
        }
    }
}

void sha256_final(sha256_state *s, uint8_t digest[32]) {
    size_t have = (size_t)(s->length % 64);
    s->block[have++] = 0x80;
    if (have > 56) {
        memset(s->block + have, 0, 64 - have);
        compress_bytes(s->h, s->block);
        have = 0;
    }
    memset(s->block + have, 0, 56 - have);
    store64_be(s->block + 56, s->length << 3);
    compress_bytes(s->h, s->block);
    for (int i = 0; i < 8; i++) store32_be(digest + 4 * i, s->h[i]);
    secure_zero(s, sizeof *s);
}

void sha256(uint8_t digest[32], const void *data, size_t n) {
    sha256_state s;
    sha256_init(&s);
    sha256_update(&s, data, n);
    sha256_final(&s, digest);
}

void hmac_sha256_init(hmac_sha256_state *s, const void *key, size_t keylen) {
    uint8_t pad[64] = {0};
    if (keylen > 64) {
        sha256(pad, key, keylen);
    } else if (keylen > 0) {
        memcpy(pad, key, keylen);
    }
    for (int i = 0; i < 64; i++) pad[i] ^= 0x5c;
    memcpy(s->outer, initial, sizeof s->outer);
    compress_bytes(s->outer, pad);
    for (int i = 0; i < 64; i++) pad[i] ^= 0x5c ^ 0x36;
    sha256_init(&s->inner);
    sha256_update(&s->inner, pad, sizeof pad);
    secure_zero(pad, sizeof pad);
}

void hmac_sha256_update(hmac_sha256_state *s, const void *data, size_t n) {
    sha256_update(&s->inner, data, n);
}

void hmac_sha256_final(hmac_sha256_state *s, uint8_t tag[32]) {
    uint8_t digest[32];
    sha256_final(&s->inner, digest);
    memcpy(s->inner.h, s->outer, sizeof s->outer);
    s->inner.length = 64;
    sha256_update(&s->inner, digest, sizeof digest);
    sha256_final(&s->inner, tag);
    secure_zero(digest, sizeof digest);
    secure_zero(s, sizeof *s);
}

void hmac_sha256(uint8_t tag[32], const void *key, size_t keylen, const void *data, size_t n) {
    hmac_sha256_state s;
    hmac_sha256_init(&s, key, keylen);
    hmac_sha256_update(&s, data, n);
    hmac_sha256_final(&s, tag);
}
