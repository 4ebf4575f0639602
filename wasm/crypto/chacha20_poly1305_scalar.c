/*
** ChaCha20 and Poly1305 (RFC 8439) in portable C: for machines without a vector unit that has an own
** file, for either byte order, and as the measure for all other implementations.
*/
#include "bytes.h"
#include "chacha20_poly1305_impl.h"
#include "poly1305_limbs.h"
#include "secure.h"

static inline uint32_t rotl32(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static inline void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    *a += *b, *d = rotl32(*d ^ *a, 16);
    *c += *d, *b = rotl32(*b ^ *c, 12);
    *a += *b, *d = rotl32(*d ^ *a, 8);
    *c += *d, *b = rotl32(*b ^ *c, 7);
}

static void state_init(uint32_t s[16], const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    s[0] = 0x61707865;
    s[1] = 0x3320646e;
    s[2] = 0x79622d32;
    s[3] = 0x6b206574;
    for (int i = 0; i < 8; i++) s[4 + i] = load32_le(key + 4 * i);
    s[12] = counter;
    for (int i = 0; i < 3; i++) s[13 + i] = load32_le(nonce + 4 * i);
}

/* The block function: out = the 16 key stream words of state s. */
static inline void core(const uint32_t s[16], uint32_t out[16]) {
    uint32_t x0 = s[0], x1 = s[1], x2 = s[2], x3 = s[3], x4 = s[4], x5 = s[5], x6 = s[6], x7 = s[7];
    uint32_t x8 = s[8], x9 = s[9], x10 = s[10], x11 = s[11], x12 = s[12], x13 = s[13], x14 = s[14], x15 = s[15];
    for (int i = 0; i < 10; i++) {
        quarter_round(&x0, &x4, &x8, &x12);
        quarter_round(&x1, &x5, &x9, &x13);
        quarter_round(&x2, &x6, &x10, &x14);
        quarter_round(&x3, &x7, &x11, &x15);
        quarter_round(&x0, &x5, &x10, &x15);
        quarter_round(&x1, &x6, &x11, &x12);
        quarter_round(&x2, &x7, &x8, &x13);
        quarter_round(&x3, &x4, &x9, &x14);
    }
    out[0] = x0 + s[0], out[1] = x1 + s[1], out[2] = x2 + s[2], out[3] = x3 + s[3];
    out[4] = x4 + s[4], out[5] = x5 + s[5], out[6] = x6 + s[6], out[7] = x7 + s[7];
    out[8] = x8 + s[8], out[9] = x9 + s[9], out[10] = x10 + s[10], out[11] = x11 + s[11];
    out[12] = x12 + s[12], out[13] = x13 + s[13], out[14] = x14 + s[14], out[15] = x15 + s[15];
}

static void block(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, uint8_t out[64]) {
    uint32_t s[16];
    uint32_t k[16];
    state_init(s, key, nonce, counter);
    core(s, k);
    for (int i = 0; i < 16; i++) store32_le(out + 4 * i, k[i]);
    secure_zero(s, sizeof s);
    secure_zero(k, sizeof k);
}

static void xor_stream(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    uint32_t s[16];
    uint32_t k[16];
    state_init(s, key, nonce, counter);
    for (; n >= 64; n -= 64, buf += 64, s[12]++) {
        core(s, k);
        for (int i = 0; i < 16; i++) store32_le(buf + 4 * i, load32_le(buf + 4 * i) ^ k[i]);
    }
    if (n > 0) {
        core(s, k);
        for (size_t i = 0; i < n; i++) buf[i] ^= (uint8_t)(k[i / 4] >> (8 * (i % 4)));
    }
    secure_zero(s, sizeof s);
    secure_zero(k, sizeof k);
}

static void mac(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]) {
    poly1305_limbs p;
    size_t whole = n - n % 16;
    poly1305_limbs_init(&p, key);
    poly1305_limbs_blocks(&p, msg, whole);
    poly1305_limbs_rest(&p, msg + whole, n % 16);
    poly1305_limbs_tag(&p, key, tag);
    secure_zero(&p, sizeof p);
}

static void page_encrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    xor_stream(page, size - 32, otk + 32, page + size - 32, counter);
    mac(page + size - 16, page, size - 16, otk);
}

static int page_decrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    uint8_t tag[16];
    mac(tag, page, size - 16, otk);
    if (!secure_equal(tag, page + size - 16, sizeof tag)) {
        secure_zero(tag, sizeof tag);
        secure_zero(page, size);
        return 1;
    }
    xor_stream(page, size - 32, otk + 32, page + size - 32, counter);
    return 0;
}

const chacha20_poly1305_impl chacha20_poly1305_scalar = {"scalar",     0,           block, xor_stream, mac,
                                                         page_encrypt, page_decrypt};
