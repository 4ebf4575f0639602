/*
** Ascon v1.2 (Dobraunig, Eichlseder, Mendel, Schläffer, "Ascon v1.2. Submission to NIST", 2021): Ascon-128,
** Ascon-Hash, and the PBKDF2 of SQLite3 Multiple Ciphers on the permutation of both.
*/
#include "ascon.h"

#include <string.h>

#include "bytes.h"
#include "secure.h"
#include "words_be.h"

typedef struct {
    uint64_t x0, x1, x2, x3, x4;
} ascon_state;

static inline uint64_t rotr64(uint64_t x, int n) {
    return x >> n | x << (64 - n);
}

static inline void permutation_round(ascon_state *s, uint64_t constant) {
    uint64_t x0 = s->x0, x1 = s->x1, x2 = s->x2 ^ constant, x3 = s->x3, x4 = s->x4;
    uint64_t x12 = x1 ^ x2, x04 = x0 ^ x4, x03 = x0 ^ x3;
    uint64_t t0 = (x1 & x04) ^ (x1 | x2) ^ x03;
    uint64_t t1 = (x3 | x12) ^ (x1 & x2) ^ x04;
    uint64_t t2 = (x3 | ~x4) ^ x12;
    uint64_t t3 = (x0 | (x3 ^ x4)) ^ x12;
    uint64_t t4 = (x1 | x04) ^ x03;
    s->x0 = t0 ^ rotr64(t0 ^ rotr64(t0, 9), 19);
    s->x1 = t1 ^ rotr64(t1 ^ rotr64(t1, 22), 39);
    s->x2 = t2 ^ rotr64(t2 ^ rotr64(t2, 5), 1);
    s->x3 = t3 ^ rotr64(t3 ^ rotr64(t3, 7), 10);
    s->x4 = t4 ^ rotr64(t4 ^ rotr64(t4, 34), 7);
}

static inline void p6(ascon_state *s) {
    permutation_round(s, 0x96);
    permutation_round(s, 0x87);
    permutation_round(s, 0x78);
    permutation_round(s, 0x69);
    permutation_round(s, 0x5a);
    permutation_round(s, 0x4b);
}

static void p12(ascon_state *s) {
    ascon_state t = *s;
    permutation_round(&t, 0xf0);
    permutation_round(&t, 0xe1);
    permutation_round(&t, 0xd2);
    permutation_round(&t, 0xc3);
    permutation_round(&t, 0xb4);
    permutation_round(&t, 0xa5);
    permutation_round(&t, 0x96);
    permutation_round(&t, 0x87);
    permutation_round(&t, 0x78);
    permutation_round(&t, 0x69);
    permutation_round(&t, 0x5a);
    permutation_round(&t, 0x4b);
    *s = t;
}

/* n < 8 bytes of a message, then its padding. */
static uint64_t load_last(const uint8_t *p, size_t n) {
    uint64_t x = (uint64_t)0x80 << (56 - 8 * n);
    for (size_t i = 0; i < n; i++) x |= (uint64_t)p[i] << (56 - 8 * i);
    return x;
}

/* ------------------------------------------------------------------------------------------------------
** Ascon-128 */

static void aead_start(ascon_state *s, const uint8_t *ad, size_t n_ad, const uint8_t key[16], const uint8_t nonce[16]) {
    s->x0 = 0x80400c0600000000;
    s->x1 = load64_be(key);
    s->x2 = load64_be(key + 8);
    s->x3 = load64_be(nonce);
    s->x4 = load64_be(nonce + 8);
    p12(s);
    s->x3 ^= load64_be(key);
    s->x4 ^= load64_be(key + 8);
    if (n_ad > 0) {
        for (; n_ad >= 8; ad += 8, n_ad -= 8) {
            s->x0 ^= load64_be(ad);
            p6(s);
        }
        s->x0 ^= load_last(ad, n_ad);
        p6(s);
    }
    s->x4 ^= 1;
}

static void aead_tag(ascon_state *s, uint8_t tag[16], const uint8_t key[16]) {
    s->x1 ^= load64_be(key);
    s->x2 ^= load64_be(key + 8);
    p12(s);
    store64_be(tag, s->x3 ^ load64_be(key));
    store64_be(tag + 8, s->x4 ^ load64_be(key + 8));
}

#define WORDS 32 /* of a text, turned into the machine's byte order at once */

void ascon128_encrypt(uint8_t *buf, size_t n, uint8_t tag[16], const uint8_t *ad, size_t n_ad, const uint8_t key[16],
                      const uint8_t nonce[16]) {
    struct {
        ascon_state s;
        uint64_t text[WORDS];
    } w;
    aead_start(&w.s, ad, n_ad, key, nonce);
    while (n >= 8) {
        ascon_state t = w.s;
        size_t words = n / 8 < WORDS ? n / 8 : WORDS;
        load_words64_be(w.text, buf, words);
        for (size_t i = 0; i < words; i++) {
            t.x0 ^= w.text[i];
            w.text[i] = t.x0;
            p6(&t);
        }
        store_words64_be(buf, w.text, words);
        w.s = t;
        buf += 8 * words;
        n -= 8 * words;
    }
    w.s.x0 ^= load_last(buf, n);
    for (size_t i = 0; i < n; i++) buf[i] = (uint8_t)(w.s.x0 >> (56 - 8 * i));
    aead_tag(&w.s, tag, key);
    secure_zero(&w, sizeof w);
}

/* Decrypts, and makes the tag that belongs to the text. */
static void decrypt(uint8_t *buf, size_t n, uint8_t tag[16], const uint8_t *ad, size_t n_ad, const uint8_t key[16],
                    const uint8_t nonce[16]) {
    struct {
        ascon_state s;
        uint64_t text[WORDS];
    } w;
    aead_start(&w.s, ad, n_ad, key, nonce);
    while (n >= 8) {
        ascon_state t = w.s;
        size_t words = n / 8 < WORDS ? n / 8 : WORDS;
        load_words64_be(w.text, buf, words);
        for (size_t i = 0; i < words; i++) {
            uint64_t c = w.text[i];
            w.text[i] = t.x0 ^ c;
            t.x0 = c;
            p6(&t);
        }
        store_words64_be(buf, w.text, words);
        w.s = t;
        buf += 8 * words;
        n -= 8 * words;
    }
    for (size_t i = 0; i < n; i++) buf[i] ^= (uint8_t)(w.s.x0 >> (56 - 8 * i));
    w.s.x0 ^= load_last(buf, n);
    aead_tag(&w.s, tag, key);
    secure_zero(&w, sizeof w);
}

int ascon128_decrypt(uint8_t *buf, size_t n, const uint8_t tag[16], const uint8_t *ad, size_t n_ad,
                     const uint8_t key[16], const uint8_t nonce[16]) {
    uint8_t right[16];
    decrypt(buf, n, right, ad, n_ad, key, nonce);
    int equal = secure_equal(right, tag, 16);
    secure_zero(right, sizeof right);
    if (!equal) secure_zero(buf, n);
    return !equal;
}

void ascon128_decrypt_unverified(uint8_t *buf, size_t n, const uint8_t *ad, size_t n_ad, const uint8_t key[16],
                                 const uint8_t nonce[16]) {
    uint8_t tag[16];
    decrypt(buf, n, tag, ad, n_ad, key, nonce);
    secure_zero(tag, sizeof tag);
}

/* ------------------------------------------------------------------------------------------------------
** Ascon-Hash, and the function of PBKDF2 */

/* Bytes on their way into the state, in blocks of 8; `have` of them wait in `block`. */
typedef struct {
    ascon_state s;
    uint8_t block[8];
    size_t have;
} ascon_sponge;

static void absorb(ascon_sponge *a, const uint8_t *p, size_t n) {
    while (n > 0) {
        size_t take = n < 8 - a->have ? n : 8 - a->have;
        memcpy(a->block + a->have, p, take);
        a->have += take;
        p += take;
        n -= take;
        if (a->have == 8) {
            a->s.x0 ^= load64_be(a->block);
            p12(&a->s);
            a->have = 0;
        }
    }
}

/* The end of what is absorbed. */
static void pad(ascon_sponge *a) {
    a->s.x0 ^= load_last(a->block, a->have);
    a->have = 0;
    p12(&a->s);
}

static void squeeze(ascon_state *s, uint64_t out[4]) {
    out[0] = s->x0;
    for (int i = 1; i < 4; i++) {
        p12(s);
        out[i] = s->x0;
    }
}

void ascon_hash(uint8_t digest[32], const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, const uint8_t *c,
                size_t n_c) {
    ascon_sponge sponge = {.s = {.x0 = 0x00400c0000000100}};
    uint64_t out[4];
    p12(&sponge.s);
    absorb(&sponge, a, n_a);
    absorb(&sponge, b, n_b);
    absorb(&sponge, c, n_c);
    pad(&sponge);
    squeeze(&sponge.s, out);
    for (int i = 0; i < 4; i++) store64_be(digest + 8 * i, out[i]);
    secure_zero(&sponge, sizeof sponge);
    secure_zero(out, sizeof out);
}

void ascon_pbkdf2(uint8_t out[32], const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
                  uint32_t iterations) {
    static const uint8_t first_block[4] = {0, 0, 0, 1};
    struct {
        ascon_state keyed;
        ascon_sponge sponge;
        uint64_t u[4], sum[4];
    } w = {.sponge = {.s = {.x0 = 0x00400c0000000100}}};

    w.sponge.s.x1 = load64_be((const uint8_t *)"PBKDF2\0\0");
    p12(&w.sponge.s);
    if (password_size > 0) {
        absorb(&w.sponge, password, password_size);
        pad(&w.sponge);
        w.sponge.s.x4 ^= 1;
    }
    w.keyed = w.sponge.s;

    absorb(&w.sponge, salt, salt_size);
    absorb(&w.sponge, first_block, sizeof first_block);
    pad(&w.sponge);
    squeeze(&w.sponge.s, w.u);
    memcpy(w.sum, w.u, sizeof w.sum);
    for (uint32_t n = 1; n < iterations; n++) {
        ascon_state s = w.keyed;
        for (int i = 0; i < 4; i++) {
            s.x0 ^= w.u[i];
            p12(&s);
        }
        s.x0 ^= load_last(NULL, 0);
        p12(&s);
        squeeze(&s, w.u);
        for (int i = 0; i < 4; i++) w.sum[i] ^= w.u[i];
    }
    for (int i = 0; i < 4; i++) store64_be(out + 8 * i, w.sum[i]);
    secure_zero(&w, sizeof w);
}
