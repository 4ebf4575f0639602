/*
** Known answers of modes that the library does not have, put together here from the primitives that it does have:
** GCM and XTS test the block function of AES on more inputs, the IVs of pages test MD5.
*/
#include <string.h>

#include "aes_impl.h"
#include "bytes.h"
#include "cpu.h"
#include "cryptotest.h"
#include "cryptotest_vectors.h"
#include "md5.h"

static void block(const aes_key *k, uint8_t b[16]) {
    static const uint8_t zero[16];
    aes_cbc_encrypt(k, zero, b, 16);
}

static void xor_bytes(uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] ^= b[i];
}

/* a = a * b in the field of GCM: the first bit of a byte string is the coefficient of 1 (SP 800-38D 6.3). */
static void ghash_multiply(uint8_t a[16], const uint8_t b[16]) {
    uint8_t z[16] = {0}, v[16];
    memcpy(v, b, 16);
    for (int i = 0; i < 128; i++) {
        if ((a[i / 8] >> (7 - i % 8) & 1) != 0) xor_bytes(z, v, 16);
        int out = v[15] & 1;
        for (int k = 15; k > 0; k--) v[k] = (uint8_t)(v[k] >> 1 | v[k - 1] << 7);
        v[0] = (uint8_t)(v[0] >> 1 ^ (out ? 0xe1 : 0));
    }
    memcpy(a, z, 16);
}

static void ghash(uint8_t y[16], const uint8_t h[16], const uint8_t *p, size_t n) {
    for (size_t at = 0; at < n; at += 16) {
        xor_bytes(y, p + at, n - at < 16 ? n - at : 16);
        ghash_multiply(y, h);
    }
}

static void gcm_vectors_of(const char *impl, const aead_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const aead_vector *v = vectors + i;
        uint8_t key[32], counter[16] = {0}, ad[64], text[128], want[128], want_tag[16];
        uint8_t h[16] = {0}, tag[16] = {0}, lengths[16] = {0}, stream[16];
        aes_key k;
        size_t key_size = unhex(key, sizeof key, v->key), n_ad = unhex(ad, sizeof ad, v->aad);
        size_t n = unhex(text, sizeof text, v->pt);
        unhex(want, sizeof want, v->ct);
        unhex(want_tag, sizeof want_tag, v->tag);
        CHECK(unhex(counter, 12, v->nonce) == 12, "%s: nonce of %s", impl, v->id);
        aes_key_init(&k, key, key_size);
        block(&k, h);
        for (size_t at = 0; at < n; at += 16) {
            store32_be(counter + 12, (uint32_t)(at / 16 + 2));
            memcpy(stream, counter, 16);
            block(&k, stream);
            xor_bytes(text + at, stream, n - at < 16 ? n - at : 16);
        }
        CHECK(memcmp(text, want, n) == 0, "%s: GCM text, %s", impl, v->id);
        store64_be(lengths, (uint64_t)n_ad * 8);
        store64_be(lengths + 8, (uint64_t)n * 8);
        ghash(tag, h, ad, n_ad);
        ghash(tag, h, text, n);
        ghash(tag, h, lengths, 16);
        store32_be(counter + 12, 1);
        block(&k, counter);
        xor_bytes(tag, counter, 16);
        CHECK(memcmp(tag, want_tag, 16) == 0, "%s: GCM tag, %s", impl, v->id);
    }
}

/* IEEE 1619 5.3, texts of whole blocks and those whose end is stolen. */
static void xts_vectors_of(const char *impl, const xts_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const xts_vector *v = vectors + i;
        static uint8_t text[512], want[512];
        uint8_t key[32], tweak[16] = {0}, last[16];
        aes_key k1, k2;
        size_t key_size = unhex(key, sizeof key, v->key1), n = unhex(text, sizeof text, v->pt);
        aes_key_init(&k1, key, key_size);
        unhex(key, sizeof key, v->key2);
        aes_key_init(&k2, key, key_size);
        unhex(want, sizeof want, v->ct);
        unhex(tweak, sizeof tweak, v->unit);
        block(&k2, tweak);
        for (size_t at = 0; at < n; at += 16) {
            uint8_t *here = text + at;
            if (n - at < 16) { /* the block before goes on the end, and takes the rest's place */
                memcpy(last, here - 16, 16);
                memcpy(here - 16, here, n - at);
                memcpy(here, last, n - at);
                here -= 16;
            }
            xor_bytes(here, tweak, 16);
            block(&k1, here);
            xor_bytes(here, tweak, 16);
            int out = tweak[15] >> 7;
            for (int b = 15; b > 0; b--) tweak[b] = (uint8_t)(tweak[b] << 1 | tweak[b - 1] >> 7);
            tweak[0] = (uint8_t)(tweak[0] << 1 ^ (out ? 0x87 : 0));
        }
        CHECK(memcmp(text, want, n) == 0, "%s: XTS, %s", impl, v->id);
    }
}

/* Keys of 192 bits belong to no format, and are refused. */
static void test_192_bits(void) {
    for (size_t i = 0; i < COUNT(aes_192_ecb_vectors); i++) {
        uint8_t key[24];
        aes_key k;
        size_t n = unhex(key, sizeof key, aes_192_ecb_vectors[i].key);
        CHECK(n == 24 && aes_key_init(&k, key, n) == -1, "a key of 192 bits is taken");
    }
}

/* The IV of a page of aes128cbc and aes256cbc: MD5 of four steps of a generator. */
static void test_page_ivs(void) {
    for (size_t i = 0; i < COUNT(page_iv_generator_vectors); i++) {
        const page_iv_vector *v = &page_iv_generator_vectors[i];
        uint8_t bytes[16], iv[16], want[16];
        int32_t z = (int32_t)v->page + 1;
        for (int k = 0; k < 4; k++) {
            int32_t q = z / 52774;
            z = 40692 * (z - 52774 * q) - 3791 * q;
            if (z < 0) z += 2147483399;
            store32_le(bytes + 4 * k, (uint32_t)z);
        }
        md5(iv, bytes, 16);
        unhex(want, sizeof want, v->iv);
        CHECK(memcmp(iv, want, 16) == 0, "IV of page %lu", (unsigned long)v->page);
    }
}

void test_modes(void) {
    const aes_impl *impl;
    for (unsigned i = 0; (impl = aes_compiled(i)) != NULL; i++) {
        if ((impl->cpu & ~cpu_features()) != 0) continue;
        CHECK(aes_force(impl->name) == 0, "%s cannot be forced", impl->name);
        gcm_vectors_of(impl->name, aes_128_gcm_vectors, COUNT(aes_128_gcm_vectors));
        gcm_vectors_of(impl->name, aes_256_gcm_vectors, COUNT(aes_256_gcm_vectors));
        xts_vectors_of(impl->name, aes_128_xts_vectors, COUNT(aes_128_xts_vectors));
        xts_vectors_of(impl->name, aes_256_xts_vectors, COUNT(aes_256_xts_vectors));
    }
    aes_force(NULL);
    test_192_bits();
    group_done("AES under the known answers of GCM and XTS");
    test_page_ivs();
    group_done("MD5 in the IVs of pages of aes128cbc and aes256cbc");
}
