/*
** Slow twins of AES and AEGIS, byte by byte from the text of FIPS 197 and draft-irtf-cfrg-aegis-aead.
*/
#include <string.h>

#include "cryptotest.h"

static uint8_t times(uint8_t a, uint8_t b) {
    unsigned product = 0, multiple = a;
    for (; b != 0; b >>= 1) {
        if ((b & 1) != 0) product ^= multiple;
        multiple = multiple << 1 ^ (multiple >> 7) * 0x11b;
    }
    return (uint8_t)product;
}

/* FIPS 197 5.1.1: the inverse, which is the 254th power, then the affine map. */
static uint8_t sbox(uint8_t x) {
    static uint8_t table[256];
    static int known;
    for (unsigned v = 0; !known && v < 256; v++) {
        uint8_t inverse = 1, image = 0x63;
        for (int i = 0; i < 254; i++) inverse = times(inverse, (uint8_t)v);
        for (int i = 0; i < 5; i++) image ^= (uint8_t)(inverse << i | inverse >> (8 - i));
        table[v] = image;
    }
    known = 1;
    return table[x];
}

static uint8_t inverse_sbox(uint8_t y) {
    unsigned x = 0;
    while (sbox((uint8_t)x) != y) x++;
    return (uint8_t)x;
}

/* A column of MixColumns with these factors, or of its inverse. */
static void mix(uint8_t column[4], const uint8_t factor[4]) {
    uint8_t in[4];
    memcpy(in, column, 4);
    for (int r = 0; r < 4; r++) {
        column[r] = 0;
        for (int k = 0; k < 4; k++) column[r] ^= times(in[(r + k) % 4], factor[k]);
    }
}

static const uint8_t forward[4] = {2, 3, 1, 1}, backward[4] = {14, 11, 13, 9};

/* SubBytes, ShiftRows and, except in the last round, MixColumns. */
static void cipher_round(uint8_t s[16], int last) {
    uint8_t t[16];
    for (int i = 0; i < 16; i++) t[i] = sbox(s[(i + 4 * (i % 4)) % 16]);
    memcpy(s, t, 16);
    for (int c = 0; c < 16 && !last; c += 4) mix(s + c, forward);
}

static void add(uint8_t s[16], const uint8_t t[16]) {
    for (int i = 0; i < 16; i++) s[i] ^= t[i];
}

/* FIPS 197 5.2, bytes of the words one after the other. */
static int expand(uint8_t w[240], const uint8_t *key, size_t key_size) {
    const int nk = (int)key_size / 4, rounds = nk + 6;
    uint8_t rcon = 1;
    memcpy(w, key, key_size);
    for (int i = nk; i < 4 * (rounds + 1); i++) {
        uint8_t t[4];
        memcpy(t, w + 4 * (i - 1), 4);
        if (i % nk == 0) {
            for (int k = 0; k < 4; k++) t[k] = sbox(w[4 * (i - 1) + (k + 1) % 4]);
            t[0] ^= rcon;
            rcon = times(rcon, 2);
        } else if (nk > 6 && i % nk == 4) {
            for (int k = 0; k < 4; k++) t[k] = sbox(t[k]);
        }
        for (int k = 0; k < 4; k++) w[4 * i + k] = w[4 * (i - nk) + k] ^ t[k];
    }
    return rounds;
}

void twin_aes_encrypt(uint8_t block[16], const uint8_t *key, size_t key_size) {
    uint8_t w[240];
    int rounds = expand(w, key, key_size);
    add(block, w);
    for (int r = 1; r <= rounds; r++) {
        cipher_round(block, r == rounds);
        add(block, w + 16 * r);
    }
}

void twin_aes_decrypt(uint8_t block[16], const uint8_t *key, size_t key_size) {
    uint8_t w[240], t[16];
    int rounds = expand(w, key, key_size);
    for (int r = rounds; r > 0; r--) {
        add(block, w + 16 * r);
        for (int c = 0; c < 16 && r < rounds; c += 4) mix(block + c, backward);
        for (int i = 0; i < 16; i++) t[(i + 4 * (i % 4)) % 16] = inverse_sbox(block[i]);
        memcpy(block, t, 16);
    }
    add(block, w);
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

/* The words of the draft: V[i] is a block of the state in each of D lanes. */
typedef struct {
    int n, d; /* blocks: 8 or 6; lanes */
    uint8_t v[8][4][16];
} state;

/* m0 and m1: D blocks each; m1 is for the 128-bit variants. */
static void update(state *s, const uint8_t *m0, const uint8_t *m1) {
    const state old = *s;
    for (int i = 0; i < s->n; i++) {
        for (int lane = 0; lane < s->d; lane++) {
            uint8_t t[16];
            memcpy(t, old.v[(i + s->n - 1) % s->n][lane], 16);
            cipher_round(t, 0);
            add(s->v[i][lane], t);
            if (i == 0) add(s->v[i][lane], m0 + 16 * lane);
            if (i == 4 && s->n == 8) add(s->v[i][lane], m1 + 16 * lane);
        }
    }
}

static void start(state *s, const uint8_t *key, const uint8_t *nonce) {
    static const uint8_t c0[16] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 121, 98};
    static const uint8_t c1[16] = {219, 61, 24, 85, 109, 194, 47, 241, 32, 17, 49, 66, 115, 181, 40, 221};
    static const uint8_t zero[16];
    /* V[i] = first[i] XOR second[i] */
    const uint8_t *first_8[8] = {key, c1, c0, c1, key, key, key, key};
    const uint8_t *second_8[8] = {nonce, zero, zero, zero, nonce, c0, c1, c0};
    const uint8_t *first_6[6] = {key, key + 16, c1, c0, key, key + 16};
    const uint8_t *second_6[6] = {nonce, nonce + 16, zero, zero, c0, c1};
    const int wide = s->n == 6;
    uint8_t input[4][64];
    for (int i = 0; i < s->n; i++) {
        for (int lane = 0; lane < s->d; lane++) {
            memcpy(s->v[i][lane], wide ? first_6[i] : first_8[i], 16);
            add(s->v[i][lane], wide ? second_6[i] : second_8[i]);
        }
    }
    for (int i = 0; i < 64; i++) {
        input[0][i] = key[i % 16];
        input[1][i] = wide ? key[16 + i % 16] : nonce[i % 16];
        input[2][i] = wide ? key[i % 16] ^ nonce[i % 16] : 0;
        input[3][i] = wide ? key[16 + i % 16] ^ nonce[16 + i % 16] : 0;
    }
    for (int round = 0; round < (wide ? 16 : 10); round++) {
        for (int lane = 0; lane < s->d; lane++) {
            const uint8_t context[16] = {(uint8_t)lane, (uint8_t)(s->d - 1)};
            add(s->v[3][lane], context);
            add(s->v[wide ? 5 : 7][lane], context);
        }
        if (wide)
            update(s, input[round % 4], NULL);
        else
            update(s, input[1], input[0]);
    }
}

static void key_stream(const state *s, uint8_t *z) {
    for (int lane = 0; lane < s->d; lane++) {
        for (int i = 0; i < 16; i++) {
#define V(k) s->v[k][lane][i]
            if (s->n == 8) {
                z[16 * lane + i] = V(6) ^ V(1) ^ (V(2) & V(3));
                z[16 * (s->d + lane) + i] = V(2) ^ V(5) ^ (V(6) & V(7));
            } else {
                z[16 * lane + i] = V(1) ^ V(4) ^ V(5) ^ (V(2) & V(3));
            }
#undef V
        }
    }
}

void twin_aegis(int variant, uint8_t *buf, size_t n, uint8_t tag[32], const uint8_t *ad, size_t n_ad,
                const uint8_t *key, const uint8_t *nonce) {
    state s;
    uint8_t z[128] = {0}, block[128], lengths[64] = {0};
    s.n = variant < 4 ? 8 : 6;
    s.d = 1 << (variant - 1) % 3;
    const size_t rate = (s.n == 8 ? 32 : 16) * (size_t)s.d;
    start(&s, key, nonce);
    for (size_t at = 0; at < n_ad; at += rate) {
        memset(block, 0, sizeof block);
        memcpy(block, ad + at, n_ad - at < rate ? n_ad - at : rate);
        update(&s, block, block + 16 * s.d);
    }
    for (size_t at = 0; at < n; at += rate) {
        const size_t part = n - at < rate ? n - at : rate;
        memset(block, 0, sizeof block);
        memcpy(block, buf + at, part);
        key_stream(&s, z);
        for (size_t i = 0; i < part; i++) buf[at + i] ^= z[i];
        update(&s, block, block + 16 * s.d);
    }
    for (int lane = 0; lane < s.d; lane++) {
        uint64_t bits[2] = {(uint64_t)n_ad * 8, (uint64_t)n * 8};
        for (int i = 0; i < 16; i++)
            lengths[16 * lane + i] = (uint8_t)(bits[i / 8] >> i % 8 * 8) ^ s.v[s.n == 8 ? 2 : 3][lane][i];
    }
    for (int i = 0; i < 7; i++) update(&s, lengths, lengths);
    memset(tag, 0, 32);
    for (int i = 0; i < s.n; i++) {
        for (int lane = 0; lane < s.d; lane++) add(tag + 16 * (i >= s.n / 2), s.v[i][lane]);
    }
}
