/*
** ChaCha20 and Poly1305 against known answers, and all implementations against each other and the slow twins
** on every length from 0 to 1100.
*/
#include <string.h>

#include "bytes.h"
#include "cryptotest.h"
#include "cryptotest_vectors.h"
#include "poly1305_limbs.h"
#include "secure.h"

#define LONGEST 1100

static void chacha20_vectors_of(const chacha20_poly1305_impl *impl) {
    for (size_t i = 0; i < COUNT(chacha20_vectors); i++) {
        const stream_vector *v = &chacha20_vectors[i];
        uint8_t key[32], nonce[12], text[600], want[600], block[64];
        size_t n = unhex(text, sizeof text, v->pt);
        unhex(key, sizeof key, v->key);
        unhex(nonce, sizeof nonce, v->nonce);
        unhex(want, sizeof want, v->ct);
        impl->block(key, nonce, v->counter, block);
        for (size_t k = 0; k < 64 && k < n; k++) block[k] ^= text[k];
        CHECK(memcmp(block, want, n < 64 ? n : 64) == 0, "%s: block %s", impl->name, v->id);
        impl->xor_stream(text, n, key, nonce, v->counter);
        CHECK(memcmp(text, want, n) == 0, "%s: xor_stream %s", impl->name, v->id);
    }
}

static void poly1305_vectors_of(const chacha20_poly1305_impl *impl) {
    for (size_t i = 0; i < COUNT(poly1305_vectors); i++) {
        const mac_vector *v = &poly1305_vectors[i];
        uint8_t key[32], msg[600], want[16], tag[16];
        size_t n = unhex(msg, sizeof msg, v->msg);
        unhex(key, sizeof key, v->key);
        unhex(want, sizeof want, v->tag);
        impl->poly1305(tag, msg, n, key);
        CHECK(memcmp(tag, want, 16) == 0, "%s: poly1305 %s", impl->name, v->id);
    }
}

/* The AEAD of RFC 8439 2.8 from the two parts. */
static void aead_vectors_of(const chacha20_poly1305_impl *impl) {
    for (size_t i = 0; i < COUNT(chacha20_poly1305_vectors); i++) {
        const aead_vector *v = &chacha20_poly1305_vectors[i];
        uint8_t key[32], nonce[12], text[600], want[600], tag[16], otk[64], mac_input[700] = {0};
        size_t n = unhex(text, sizeof text, v->pt);
        size_t aad = unhex(mac_input, 16, v->aad);
        unhex(key, sizeof key, v->key);
        unhex(nonce, sizeof nonce, v->nonce);
        unhex(want, sizeof want, v->ct);
        impl->block(key, nonce, 0, otk);
        impl->xor_stream(text, n, key, nonce, 1);
        CHECK(memcmp(text, want, n) == 0, "%s: AEAD text %s", impl->name, v->id);
        size_t at = 16 + (n + 15) / 16 * 16;
        memcpy(mac_input + 16, text, n);
        mac_input[at] = (uint8_t)aad;
        mac_input[at + 8] = (uint8_t)n;
        mac_input[at + 9] = (uint8_t)(n >> 8);
        impl->poly1305(tag, mac_input, at + 16, otk);
        unhex(want, 16, v->tag);
        CHECK(memcmp(tag, want, 16) == 0, "%s: AEAD tag %s", impl->name, v->id);
    }
}

static void test_every_length(void) {
    static uint8_t text[LONGEST + 16], want[LONGEST], got[LONGEST + 16];
    uint8_t key[32], nonce[12], tag[16], want_tag[16];
    const chacha20_poly1305_impl *impl;
    for (size_t n = 0; n <= LONGEST; n++) {
        uint32_t counter = n % 2 == 0 ? (uint32_t)(0u - n / 64 / 2 - 1) : (uint32_t)n;
        test_bytes(key, sizeof key, n);
        test_bytes(nonce, sizeof nonce, n + 1000000);
        test_bytes(text, n, n + 2000000);
        memcpy(want, text, n);
        twin_chacha20_xor(want, n, key, nonce, counter);
        twin_poly1305(want_tag, text, n, key);
        for (unsigned i = 0; (impl = usable(i)) != NULL; i++) {
            size_t shift = n % 16;
            memset(got, 0xa5, sizeof got);
            memcpy(got + shift, text, n);
            impl->xor_stream(got + shift, n, key, nonce, counter);
            CHECK(memcmp(got + shift, want, n) == 0, "%s: xor_stream of %d bytes", impl->name, (int)n);
            CHECK(all_bytes(got, shift, 0xa5) && all_bytes(got + shift + n, sizeof got - shift - n, 0xa5),
                  "%s: xor_stream of %d bytes wrote beside them", impl->name, (int)n);
            impl->poly1305(tag, text, n, key);
            CHECK(memcmp(tag, want_tag, 16) == 0, "%s: poly1305 of %d bytes", impl->name, (int)n);
        }
    }
    group_done("ChaCha20 and Poly1305, all implementations, lengths 0 to 1100");
}

/* Limbs as full as they get: r and the message all ones, in every position. */
static void test_poly1305_carries(void) {
    uint8_t key[32], msg[512], tag[16], want[16];
    const chacha20_poly1305_impl *impl;
    for (int round = 0; round < 400; round++) {
        test_bytes(key, sizeof key, (uint64_t)round);
        test_bytes(msg, sizeof msg, (uint64_t)round + 1000);
        /* Words of zeros and ones, in a mixture that the round's number chooses. */
        for (size_t i = 0; i < sizeof key; i++) {
            if (round % 3 != 0) key[i] = key[i / 4 * 4] & 1 ? 0xff : round % 3 == 1 ? 0xff : 0;
        }
        for (size_t i = 0; i < sizeof msg; i++) {
            if (round % 5 != 0) msg[i] = msg[i / 4 * 4] % (size_t)(round % 5) == 0 ? 0xff : 0;
        }
        size_t n = sizeof msg - (size_t)(round % 33);
        twin_poly1305(want, msg, n, key);
        for (unsigned i = 0; (impl = usable(i)) != NULL; i++) {
            impl->poly1305(tag, msg, n, key);
            CHECK(memcmp(tag, want, 16) == 0, "%s: carries, round %d", impl->name, round);
        }
    }
    group_done("Poly1305 with limbs as full as they get");
}

/* The number of eight digits to the base 2^32, mod 2^130 - 5, by subtracting. */
static void reduce(uint32_t n[8]) {
    static const uint32_t p[8] = {0xfffffffb, 0xffffffff, 0xffffffff, 0xffffffff, 3, 0, 0, 0};
    for (;;) {
        uint32_t less[8];
        int64_t f = 0;
        for (int i = 0; i < 8; i++) {
            f += (int64_t)n[i] - p[i];
            less[i] = (uint32_t)f;
            f >>= 32;
        }
        if (f < 0) return;
        memcpy(n, less, sizeof less);
    }
}

/* The last step of Poly1305 on accumulators at the edges of what a block can leave, whether or not a message
** is known that leads there. */
static void test_poly1305_last_step(void) {
    static const uint64_t h0[] = {0,          1,          4,           5,           0xfffffffa,
                                  0xfffffffb, 0xffffffff, 0x100000000, 0x100000004, 0x219999999};
    static const uint64_t h1[] = {0, 1, 0xfffffffe, 0xffffffff};
    static const uint64_t h2[] = {0, 0xfffffffe, 0xffffffff, 0x100000000, 0x1f3333333};
    static const uint64_t h3[] = {0, 0xffffffff, 0x3fffffffe, 0x3ffffffff};
    uint8_t key[32] = {0}, tag[16];
    for (size_t a = 0; a < COUNT(h0); a++) {
        for (size_t i = 0; i < COUNT(h1) * COUNT(h2) * COUNT(h3); i++) {
            poly1305_limbs p = {0};
            p.h0 = h0[a];
            p.h1 = h1[i % COUNT(h1)];
            p.h2 = h2[i / COUNT(h1) % COUNT(h2)];
            p.h3 = h3[i / COUNT(h1) / COUNT(h2)];
            uint32_t n[8] = {0};
            const uint64_t limb[4] = {p.h0, p.h1, p.h2, p.h3};
            uint64_t f = 0;
            for (int k = 0; k < 8; k++) {
                f += k < 4 ? limb[k] : 0;
                n[k] = (uint32_t)f;
                f >>= 32;
            }
            reduce(n);
            poly1305_limbs_tag(&p, key, tag);
            int equal = 1;
            for (int k = 0; k < 4; k++) equal &= load32_le(tag + 4 * k) == n[k];
            CHECK(equal, "last step of h0 %llx h1 %llx h2 %llx h3 %llx", (unsigned long long)p.h0,
                  (unsigned long long)p.h1, (unsigned long long)p.h2, (unsigned long long)p.h3);
        }
    }
    group_done("Poly1305, the last reduction at the edges");
}

static void test_secure(void) {
    uint8_t a[64], b[64];
    test_bytes(a, sizeof a, 1);
    memcpy(b, a, sizeof b);
    for (size_t n = 0; n <= sizeof a; n++) {
        CHECK(secure_equal(a, b, n) == 1, "secure_equal on %d equal bytes", (int)n);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            b[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK(secure_equal(a, b, n) == 0, "secure_equal on %d bytes, bit %d", (int)n, (int)bit);
            b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    for (size_t n = 0; n <= sizeof a; n++) {
        memset(a, 0xa5, sizeof a);
        secure_zero(a, n);
        CHECK(all_bytes(a, n, 0) && all_bytes(a + n, sizeof a - n, 0xa5), "secure_zero of %d bytes", (int)n);
    }
    secure_zero(NULL, 0);
    group_done("secure_zero and secure_equal");
}

void test_primitives(void) {
    const chacha20_poly1305_impl *impl;
    for (unsigned i = 0; (impl = usable(i)) != NULL; i++) chacha20_vectors_of(impl);
    group_done("ChaCha20, RFC 8439 2.3.2, 2.4.2, A.1, A.2, A.4, counter wrap");
    for (unsigned i = 0; (impl = usable(i)) != NULL; i++) poly1305_vectors_of(impl);
    group_done("C45 Poly1305, RFC 8439 2.5.2 and A.3 with the carry cases 7 to 11");
    for (unsigned i = 0; (impl = usable(i)) != NULL; i++) aead_vectors_of(impl);
    group_done("ChaCha20-Poly1305 put together, RFC 8439 2.8.2 and A.5");
    test_every_length();
    test_poly1305_carries();
    test_poly1305_last_step();
    test_secure();
}
