/*
** AES, CBC, ciphertext stealing and the AEGIS family against known answers, and every implementation against
** every other.
*/
#include <stdio.h>
#include <string.h>

#include "aegis.h"
#include "aes_impl.h"
#include "cpu.h"
#include "cryptotest.h"
#include "cryptotest_vectors.h"

#define LONGEST 1100

/* The i-th implementation that this machine can run is forced; NULL after the last, with the best in use again. */
static const aes_impl *force(unsigned i) {
    const aes_impl *impl;
    for (unsigned k = 0; (impl = aes_compiled(k)) != NULL; k++) {
        if ((impl->cpu & ~cpu_features()) == 0 && i-- == 0) {
            CHECK(aes_force(impl->name) == 0 && aes_in_use() == impl, "%s cannot be forced", impl->name);
            return impl;
        }
    }
    CHECK(aes_force(NULL) == 0, "the best implementation cannot be had again");
    return NULL;
}

static void test_selector(void) {
    const aes_impl *best = aes_in_use(), *impl, *last = NULL;
    int better = 1;
    for (unsigned i = 0; (impl = aes_compiled(i)) != NULL; i++) {
        int usable = (impl->cpu & ~cpu_features()) == 0;
        if (impl == best) better = 0;
        CHECK(!better || !usable, "%s is usable and better than %s", impl->name, best->name);
        CHECK(aes_force(impl->name) == (usable ? 0 : -1), "force %s", impl->name);
        CHECK(!usable || aes_in_use() == impl, "%s was forced, and is not in use", impl->name);
        last = impl;
    }
    CHECK(last == &aes_bitsliced, "the last implementation is not the portable one");
    CHECK(aes_force("tables") == -1 && aes_in_use() == &aes_bitsliced, "an unknown name changed the choice");
    /* A key stays with the implementation that expanded it. */
    uint8_t key[32] = {0}, got[16], want[16];
    aes_key k;
    static const uint8_t zero[16];
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        aes_key_init(&k, key, sizeof key);
        aes_force("bitsliced");
        memset(got, 0, 16);
        aes_cbc_encrypt(&k, zero, got, 16);
        if (i == 0) memcpy(want, got, 16);
        CHECK(k.impl == impl && memcmp(got, want, 16) == 0, "%s: the key went over to another", impl->name);
    }
    CHECK(aes_in_use() == best, "not the best implementation is in use");
    group_done("AES: the best implementation that this machine can run is in use; others can be forced");
}

/* A message of blocks under no mode, by CBC of one block with a zero IV. */
static void ecb(const aes_key *k, uint8_t *buf, size_t n, int decrypt) {
    static const uint8_t zero[16];
    for (size_t i = 0; i < n; i += 16) (decrypt ? aes_cbc_decrypt : aes_cbc_encrypt)(k, zero, buf + i, 16);
}

static void ecb_vectors_of(const char *impl, const ecb_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ecb_vector *v = vectors + i;
        uint8_t key[32], text[64], want[64], plain[64];
        aes_key k;
        size_t keylen = unhex(key, sizeof key, v->key), n = unhex(text, sizeof text, v->pt);
        memcpy(plain, text, n);
        unhex(want, sizeof want, v->ct);
        CHECK(aes_key_init(&k, key, keylen) == 0, "%s: key of %s", impl, v->id);
        ecb(&k, text, n, 0);
        CHECK(memcmp(text, want, n) == 0, "%s: encrypt %s", impl, v->id);
        ecb(&k, text, n, 1);
        CHECK(memcmp(text, plain, n) == 0, "%s: decrypt %s", impl, v->id);
    }
}

/* Also with the key in any place of an array: a copy works, 8 bytes are enough alignment. */
static void cbc_vectors_of(const char *impl, const cbc_vector *vectors, size_t count, int plain_cbc) {
    for (size_t i = 0; i < count; i++) {
        const cbc_vector *v = vectors + i;
        uint8_t key[32], iv[16], text[64], want[64], plain[64];
        struct {
            uint64_t before;
            aes_key k;
        } copy;
        aes_key k;
        size_t keylen = unhex(key, sizeof key, v->key), n = unhex(text, sizeof text, v->pt);
        memcpy(plain, text, n);
        unhex(iv, sizeof iv, v->iv);
        unhex(want, sizeof want, v->ct);
        CHECK(aes_key_init(&k, key, keylen) == 0, "%s: key of %s", impl, v->id);
        copy.k = k;
        CHECK(aes_cbc_cs3_encrypt(&copy.k, iv, text, n) == 0 && memcmp(text, want, n) == 0, "%s: encrypt %s", impl,
              v->id);
        CHECK(aes_cbc_cs3_decrypt(&copy.k, iv, text, n) == 0 && memcmp(text, plain, n) == 0, "%s: decrypt %s", impl,
              v->id);
        if (!plain_cbc) continue;
        CHECK(aes_cbc_encrypt(&k, iv, text, n) == 0 && memcmp(text, want, n) == 0, "%s: CBC %s", impl, v->id);
        CHECK(aes_cbc_decrypt(&k, iv, text, n) == 0 && memcmp(text, plain, n) == 0, "%s: CBC %s, back", impl, v->id);
    }
}

/* The key stream of counter mode is AES alone (SP 800-38A 6.5). */
static void ctr_vectors_of(const char *impl, const cbc_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const cbc_vector *v = vectors + i;
        uint8_t key[32], counter[16], stream[16], text[64], want[64];
        aes_key k;
        size_t keylen = unhex(key, sizeof key, v->key), n = unhex(text, sizeof text, v->pt);
        unhex(counter, sizeof counter, v->iv);
        unhex(want, sizeof want, v->ct);
        aes_key_init(&k, key, keylen);
        for (size_t at = 0; at < n; at++) {
            if (at % 16 == 0) {
                memcpy(stream, counter, 16);
                ecb(&k, stream, 16, 0);
                for (int b = 15; b >= 0 && ++counter[b] == 0; b--) {
                }
            }
            text[at] ^= stream[at % 16];
        }
        CHECK(memcmp(text, want, n) == 0, "%s: counter mode %s", impl, v->id);
    }
}

static void test_aes_arguments(void) {
    uint8_t key[64] = {0}, iv[16] = {0}, buf[64], before[64];
    for (unsigned i = 0; force(i) != NULL; i++) {
        aes_key k;
        memset(&k, 0xa5, sizeof k);
        for (size_t n = 0; n <= 64; n++) {
            if (n == 16 || n == 32) continue;
            CHECK(aes_key_init(&k, key, n) == -1 && all_bytes((uint8_t *)&k, sizeof k, 0xa5), "key of %d bytes",
                  (int)n);
        }
        CHECK(aes_key_init(&k, key, 32) == 0, "a key");
        test_bytes(buf, sizeof buf, 7);
        memcpy(before, buf, sizeof buf);
        for (size_t n = 1; n < 64; n++) {
            if (n % 16 == 0) continue;
            CHECK(aes_cbc_encrypt(&k, iv, buf, n) == -1 && aes_cbc_decrypt(&k, iv, buf, n) == -1, "CBC of %d bytes",
                  (int)n);
            if (n > 16) continue;
            CHECK(aes_cbc_cs3_encrypt(&k, iv, buf, n) == -1 && aes_cbc_cs3_decrypt(&k, iv, buf, n) == -1,
                  "CS3 of %d bytes", (int)n);
        }
        CHECK(aes_cbc_encrypt(&k, iv, buf, 0) == 0 && aes_cbc_decrypt(&k, iv, buf, 0) == 0, "CBC of nothing");
        CHECK(memcmp(buf, before, sizeof buf) == 0, "a refused length changed the buffer");
    }
    group_done("AES refuses keys and lengths that are none");
}

/* The twins against the known answers. Keys of 192 bits are for them alone: no page format has such keys. */
static void twin_vectors(const ecb_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t key[32], plain[64], text[64], want[64];
        size_t keylen = unhex(key, sizeof key, vectors[i].key), n = unhex(text, sizeof text, vectors[i].pt);
        unhex(want, sizeof want, vectors[i].ct);
        memcpy(plain, text, n);
        for (size_t at = 0; at < n; at += 16) twin_aes_encrypt(text + at, key, keylen);
        CHECK(memcmp(text, want, n) == 0, "the twin: encrypt %s", vectors[i].id);
        for (size_t at = 0; at < n; at += 16) twin_aes_decrypt(text + at, key, keylen);
        CHECK(memcmp(text, plain, n) == 0, "the twin: decrypt %s", vectors[i].id);
    }
}

/* Ciphertext stealing by its definition (SP 800-38A addendum), from single blocks. */
static void twin_cs3(const uint8_t *key, size_t keylen, const uint8_t iv[16], uint8_t *out, const uint8_t *in,
                     size_t n) {
    uint8_t c[16];
    size_t full = n / 16, tail = n % 16;
    memcpy(c, iv, 16);
    for (size_t b = 0; b < full; b++) {
        for (int i = 0; i < 16; i++) c[i] ^= in[16 * b + (size_t)i];
        twin_aes_encrypt(c, key, keylen);
        memcpy(out + 16 * b, c, 16);
    }
    if (tail == 0) return;
    memcpy(out + 16 * full, c, tail);
    for (size_t i = 0; i < tail; i++) c[i] ^= in[16 * full + i];
    twin_aes_encrypt(c, key, keylen);
    memcpy(out + 16 * (full - 1), c, 16);
}

static void cbc_of(size_t n, size_t shift) {
    static uint8_t text[65536 + 32], want[65536 + 32], got[65536 + 32];
    uint8_t key[32], iv[16];
    const aes_impl *impl;
    size_t keylen = n % 3 == 0 ? 16 : 32, room = n + 32;
    aes_key k;
    test_bytes(key, sizeof key, n);
    test_bytes(iv, sizeof iv, n + 1000000);
    test_bytes(text, n, n + 2000000);
    twin_cs3(key, keylen, iv, want, text, n);
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        aes_key_init(&k, key, keylen);
        memset(got, 0xa5, room);
        memcpy(got + shift, text, n);
        aes_cbc_cs3_encrypt(&k, iv, got + shift, n);
        CHECK(memcmp(got + shift, want, n) == 0, "%s: encrypt %d bytes", impl->name, (int)n);
        aes_cbc_cs3_decrypt(&k, iv, got + shift, n);
        CHECK(memcmp(got + shift, text, n) == 0, "%s: decrypt %d bytes", impl->name, (int)n);
        CHECK(all_bytes(got, shift, 0xa5) && all_bytes(got + shift + n, room - shift - n, 0xa5),
              "%s: CBC of %d bytes wrote beside them", impl->name, (int)n);
    }
}

static void test_every_cbc(void) {
    for (size_t n = 16; n <= LONGEST; n++) cbc_of(n, n % 16);
    for (size_t n = 512; n <= 65536; n *= 2) cbc_of(n, 0), cbc_of(n - 80, 5);
    group_done("AES-CBC and CS3, all implementations, lengths 16 to 1100, pages to 65536");
}

/* Each of several buffers comes out as it does by itself. */
static void each_of(size_t n, int count, size_t keylen) {
    enum { ROOM = 4096 + 64 };
    static uint8_t want[AES_CBC_JOBS][ROOM], got[AES_CBC_JOBS][ROOM];
    uint8_t key[32], iv[AES_CBC_JOBS][16];
    aes_key k[AES_CBC_JOBS], other;
    aes_cbc_job job[AES_CBC_JOBS];
    const aes_impl *impl;
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        for (int j = 0; j < count; j++) {
            size_t shift = 3 * (size_t)j;
            test_bytes(key, sizeof key, n + (size_t)j / 2); /* some have the same key */
            test_bytes(iv[j], 16, n + 100 + (size_t)j);
            aes_key_init(&k[j], key, keylen);
            memset(got[j], 0xa5, ROOM);
            test_bytes(got[j] + shift, n, n + 200 + (size_t)j);
            memcpy(want[j], got[j], ROOM);
            aes_cbc_encrypt(&k[j], iv[j], want[j] + shift, n);
            job[j] = (aes_cbc_job){&k[j], iv[j], got[j] + shift};
        }
        CHECK(aes_cbc_encrypt_each(job, count, n) == 0, "%s: refused", impl->name);
        CHECK(memcmp(got, want, sizeof *got * (size_t)count) == 0, "%s: %d times %d bytes", impl->name, count, (int)n);
        aes_key_init(&other, key, 48 - keylen);
        job[count - 1].key = &other;
        CHECK(aes_cbc_encrypt_each(job, count, n + 1) == -1, "%s: a length that is none", impl->name);
        CHECK(count == 1 || aes_cbc_encrypt_each(job, count, n) == -1, "%s: keys of two sizes", impl->name);
        CHECK(aes_cbc_encrypt_each(job, 0, n) == -1 && aes_cbc_encrypt_each(job, AES_CBC_JOBS + 1, n) == -1,
              "%s: a count that is none", impl->name);
        CHECK(memcmp(got, want, sizeof *got * (size_t)count) == 0, "%s: refused, and changed a buffer", impl->name);
    }
}

static void test_each_cbc(void) {
    static const size_t sizes[] = {0, 16, 32, 48, 256, 1008, 4016, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int count = 1; count <= AES_CBC_JOBS; count++) each_of(sizes[i], count, 16), each_of(sizes[i], count, 32);
    }
    group_done("AES-CBC of several buffers side by side, all implementations");
}

/* Every byte in every place of a block that is 16 times another byte. */
static void test_every_byte(void) {
    uint8_t key[32], block[16], want[16];
    const aes_impl *impl;
    aes_key k;
    test_bytes(key, sizeof key, 99);
    for (unsigned value = 0; value < 4096; value++) {
        memset(want, (int)(value >> 4), 16);
        want[value & 15] ^= (uint8_t)value;
        twin_aes_encrypt(want, key, value % 2 == 0 ? 16 : 32);
        for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
            aes_key_init(&k, key, value % 2 == 0 ? 16 : 32);
            memset(block, (int)(value >> 4), 16);
            block[value & 15] ^= (uint8_t)value;
            ecb(&k, block, 16, 0);
            CHECK(memcmp(block, want, 16) == 0, "%s: block %d", impl->name, (int)value);
            ecb(&k, block, 16, 1);
            block[value & 15] ^= (uint8_t)value;
            CHECK(all_bytes(block, 16, (uint8_t)(value >> 4)), "%s: block %d, back", impl->name, (int)value);
        }
    }
    group_done("AES, all implementations, every byte in every place");
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

static const char *const aegis_names[] = {"",          "AEGIS-128L",  "AEGIS-128X2", "AEGIS-128X4",
                                          "AEGIS-256", "AEGIS-256X2", "AEGIS-256X4"};

static void aegis_vectors_of(const char *impl, int variant, const aegis_vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const aegis_vector *v = vectors + i;
        static uint8_t text[1024], plain[1024], want[1024], ad[256];
        uint8_t key[32], nonce[32], tag[32], want_tag[32], stream[80], want_stream[80];
        size_t keylen = unhex(key, sizeof key, v->key), n = unhex(text, sizeof text, v->pt);
        size_t n_ad = unhex(ad, sizeof ad, v->ad);
        memcpy(plain, text, n);
        unhex(nonce, sizeof nonce, v->nonce);
        unhex(want, sizeof want, v->ct);
        unhex(want_tag, sizeof want_tag, v->tag256);
        unhex(want_stream, sizeof want_stream, v->stream80);
        CHECK(keylen == aegis_key_size(variant), "%s: key of %s", impl, v->id);
        aegis_encrypt(variant, text, n, tag, ad, n_ad, key, nonce);
        CHECK(memcmp(text, want, n) == 0, "%s: encrypt %s", impl, v->id);
        CHECK(memcmp(tag, want_tag, 32) == 0, "%s: tag of %s", impl, v->id);
        CHECK(aegis_decrypt(variant, text, n, want_tag, ad, n_ad, key, nonce) == 0 && memcmp(text, plain, n) == 0,
              "%s: decrypt %s", impl, v->id);
        aegis_decrypt_unverified(variant, want, n, ad, n_ad, key, nonce);
        CHECK(memcmp(want, plain, n) == 0, "%s: decrypt %s without its tag", impl, v->id);
        memset(stream, 0xa5, sizeof stream);
        aegis_stream(variant, stream, sizeof stream, key, nonce);
        CHECK(memcmp(stream, want_stream, sizeof stream) == 0, "%s: key stream of %s", impl, v->id);
    }
}

static void test_aegis_vectors(void) {
    const aes_impl *impl;
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        aegis_vectors_of(impl->name, AEGIS_128L, aegis_128l_vectors, COUNT(aegis_128l_vectors));
        aegis_vectors_of(impl->name, AEGIS_128X2, aegis_128x2_vectors, COUNT(aegis_128x2_vectors));
        aegis_vectors_of(impl->name, AEGIS_128X4, aegis_128x4_vectors, COUNT(aegis_128x4_vectors));
        aegis_vectors_of(impl->name, AEGIS_256, aegis_256_vectors, COUNT(aegis_256_vectors));
        aegis_vectors_of(impl->name, AEGIS_256X2, aegis_256x2_vectors, COUNT(aegis_256x2_vectors));
        aegis_vectors_of(impl->name, AEGIS_256X4, aegis_256x4_vectors, COUNT(aegis_256x4_vectors));
    }
    group_done("AEGIS, six variants, vectors of the draft and more");
}

static void aegis_of(int variant, size_t n, size_t n_ad, size_t shift) {
    static uint8_t text[65536 + 32], want[65536 + 32], got[65536 + 32], ad[512];
    uint8_t key[32], nonce[32], tag[32], want_tag[32];
    const aes_impl *impl;
    const size_t room = n + 32;
    const char *name = aegis_names[variant];
    test_bytes(key, sizeof key, n + (size_t)variant);
    test_bytes(nonce, sizeof nonce, n + 1000000);
    test_bytes(text, n, n + 2000000);
    test_bytes(ad, n_ad, n + 3000000);
    memcpy(want, text, n);
    twin_aegis(variant, want, n, want_tag, ad, n_ad, key, nonce);
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        memset(got, 0xa5, room);
        memcpy(got + shift, text, n);
        aegis_encrypt(variant, got + shift, n, tag, ad, n_ad, key, nonce);
        CHECK(memcmp(got + shift, want, n) == 0, "%s, %s: encrypt %d bytes", impl->name, name, (int)n);
        CHECK(memcmp(tag, want_tag, 32) == 0, "%s, %s: tag of %d bytes", impl->name, name, (int)n);
        CHECK(aegis_decrypt(variant, got + shift, n, tag, ad, n_ad, key, nonce) == 0, "%s, %s: right tag of %d bytes",
              impl->name, name, (int)n);
        CHECK(memcmp(got + shift, text, n) == 0, "%s, %s: decrypt %d bytes", impl->name, name, (int)n);
        CHECK(all_bytes(got, shift, 0xa5) && all_bytes(got + shift + n, room - shift - n, 0xa5),
              "%s, %s: %d bytes, and some beside them", impl->name, name, (int)n);
    }
}

static void test_every_aegis(void) {
    for (int variant = AEGIS_128L; variant <= AEGIS_256X4; variant++) {
        for (size_t n = 0; n <= LONGEST; n++) aegis_of(variant, n, n % 7 == 0 ? n % 300 : 0, n % 16);
        for (size_t n = 512; n <= 65536; n *= 2) aegis_of(variant, n, 0, 0), aegis_of(variant, n - 64, 3, 9);
    }
    group_done("AEGIS, all implementations, lengths 0 to 1100, pages to 65536");
}

static void test_aegis_forgeries(void) {
    static const size_t lengths[] = {0, 1, 15, 16, 31, 32, 100, 256, 1000};
    uint8_t key[32], nonce[32], ad[16], sealed[1000], buf[1000], tag[32];
    const aes_impl *impl;
    test_bytes(key, sizeof key, 1);
    test_bytes(nonce, sizeof nonce, 2);
    test_bytes(ad, sizeof ad, 3);
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        for (int variant = AEGIS_128L; variant <= AEGIS_256X4; variant++) {
            for (size_t l = 0; l < COUNT(lengths); l++) {
                const size_t n = lengths[l];
                const char *name = aegis_names[variant];
                test_bytes(sealed, n, 4);
                aegis_encrypt(variant, sealed, n, tag, ad, sizeof ad, key, nonce);
                for (int bit = 0; bit < 256; bit++) {
                    tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
                    memcpy(buf, sealed, n);
                    CHECK(aegis_decrypt(variant, buf, n, tag, ad, sizeof ad, key, nonce) == 1 && all_bytes(buf, n, 0),
                          "%s, %s: %d bytes, bit %d of the tag", impl->name, name, (int)n, bit);
                    tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
                }
                for (size_t byte = 0; byte < n; byte += 7) {
                    memcpy(buf, sealed, n);
                    buf[byte] ^= 0x40;
                    CHECK(aegis_decrypt(variant, buf, n, tag, ad, sizeof ad, key, nonce) == 1 && all_bytes(buf, n, 0),
                          "%s, %s: %d bytes, byte %d changed", impl->name, name, (int)n, (int)byte);
                }
                for (size_t byte = 0; byte < sizeof ad; byte++) {
                    memcpy(buf, sealed, n);
                    ad[byte] ^= 1;
                    CHECK(aegis_decrypt(variant, buf, n, tag, ad, sizeof ad, key, nonce) == 1 && all_bytes(buf, n, 0),
                          "%s, %s: %d bytes, byte %d of the AD changed", impl->name, name, (int)n, (int)byte);
                    ad[byte] ^= 1;
                }
                memcpy(buf, sealed, n);
                CHECK(aegis_decrypt(variant, buf, n, tag, ad, sizeof ad - 1, key, nonce) == 1 && all_bytes(buf, n, 0),
                      "%s, %s: %d bytes, shorter AD", impl->name, name, (int)n);
            }
        }
    }
    group_done("AEGIS, each bit of the tag flipped, and text and AD: refused, and the buffer is all zero");
}

static void test_aegis_key_sizes(void) {
    for (int variant = -2; variant <= 9; variant++) {
        size_t want = variant < AEGIS_128L || variant > AEGIS_256X4 ? 0 : variant < AEGIS_256 ? 16 : 32;
        CHECK(aegis_key_size(variant) == want, "key of variant %d", variant);
    }
    group_done("AEGIS, sizes of keys");
}

void test_aes(void) {
    const aes_impl *impl;
    printf("AES and AEGIS compiled in:");
    for (unsigned i = 0; (impl = aes_compiled(i)) != NULL; i++) printf(" %s", impl->name);
    printf("; in use: %s\n", aes_in_use()->name);
    test_selector();
    twin_vectors(aes_128_ecb_vectors, COUNT(aes_128_ecb_vectors));
    twin_vectors(aes_192_ecb_vectors, COUNT(aes_192_ecb_vectors));
    twin_vectors(aes_256_ecb_vectors, COUNT(aes_256_ecb_vectors));
    group_done("AES, the twin, FIPS 197 and SP 800-38A");
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        ecb_vectors_of(impl->name, aes_128_ecb_vectors, COUNT(aes_128_ecb_vectors));
        ecb_vectors_of(impl->name, aes_256_ecb_vectors, COUNT(aes_256_ecb_vectors));
        ctr_vectors_of(impl->name, aes_128_ctr_vectors, COUNT(aes_128_ctr_vectors));
        ctr_vectors_of(impl->name, aes_256_ctr_vectors, COUNT(aes_256_ctr_vectors));
    }
    group_done("AES, FIPS 197 B and C, SP 800-38A F.1 and F.5");
    for (unsigned i = 0; (impl = force(i)) != NULL; i++) {
        cbc_vectors_of(impl->name, aes_128_cbc_vectors, COUNT(aes_128_cbc_vectors), 1);
        cbc_vectors_of(impl->name, aes_256_cbc_vectors, COUNT(aes_256_cbc_vectors), 1);
        cbc_vectors_of(impl->name, aes_128_cbc_cs3_vectors, COUNT(aes_128_cbc_cs3_vectors), 0);
        cbc_vectors_of(impl->name, aes_256_cbc_cs3_vectors, COUNT(aes_256_cbc_cs3_vectors), 0);
    }
    group_done("AES-CBC, SP 800-38A F.2; ciphertext stealing, RFC 3962 B");
    test_aes_arguments();
    test_every_byte();
    test_every_cbc();
    test_each_cbc();
    test_aegis_vectors();
    test_every_aegis();
    test_aegis_forgeries();
    test_aegis_key_sizes();
}
