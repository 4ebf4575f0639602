/*
** Hashes, HMAC, the key derivations and RC4 and Ascon against known answers. Where a line says "all lengths",
** the known answer is a digest of the digests of many messages, made with OpenSSL 3.
*/
#include <stdlib.h>
#include <string.h>

#include "argon2id.h"
#include "argon2id_impl.h"
#include "ascon.h"
#include "blake2b.h"
#include "cpu.h"
#include "cryptotest.h"
#include "cryptotest_vectors.h"
#include "hmac.h"
#include "md5.h"
#include "rc4.h"
#include "sha1.h"
#include "sha256.h"
#include "sha512.h"

#define LONGEST 1100

typedef struct {
    const char *name;
    const hash_function *function;
    void (*message)(uint8_t *digest, const uint8_t *msg, size_t n);
    const hash_vector *vectors;
    size_t count;
    const char *million, *lengths;
} hash_case;

static const hash_case hash_cases[] = {
    {"md5", &hash_md5, md5, md5_vectors, COUNT(md5_vectors), "7707d6ae4e027c70eea2a935c2296f21",
     "de45658e218348dffb8c3403bf4046fb"},
    {"sha1", &hash_sha1, sha1, sha1_vectors, COUNT(sha1_vectors), "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
     "684e3779014d7947903fa11e3c7d4bba69d3328e"},
    {"sha256", &hash_sha256, sha256, sha256_vectors, COUNT(sha256_vectors),
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
     "fd9805bc655eba09bee996ea6a148c6b6d3846d0c9fb1351c61a8b77fec1617d"},
    {"sha512", &hash_sha512, sha512, sha512_vectors, COUNT(sha512_vectors),
     "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4"
     "eadb217ad8cc09b",
     "dd343fa767317e04dbd3aca124c4ce033a09846a44a69b4c2f56e8e3df5baf26f8c896fe00a7671dd725f6ee277085c0b935458a6a6caf40d"
     "34980b60dbafdee"},
};

/* In pieces of every length to 260, which is more than two blocks. */
static void hash_vectors_of(const hash_case *c) {
    static uint8_t msg[1000];
    uint8_t digest[64 + 1], want[64];
    const size_t size = c->function->digest_size;
    hash_state s;
    for (size_t i = 0; i < c->count; i++) {
        const hash_vector *v = &c->vectors[i];
        size_t n = unhex(msg, sizeof msg, v->msg);
        CHECK(unhex(want, sizeof want, v->digest) == size, "%s %s: length of digest", c->name, v->id);
        digest[size] = 0xa5;
        c->message(digest, msg, n);
        CHECK(memcmp(digest, want, size) == 0, "%s %s", c->name, v->id);
        CHECK(digest[size] == 0xa5, "%s %s: wrote past the digest", c->name, v->id);
        for (size_t piece = 1; piece <= 260; piece++) {
            hash_init(&s, c->function);
            for (size_t at = 0; at < n; at += piece) hash_update(&s, msg + at, n - at < piece ? n - at : piece);
            hash_update(&s, NULL, 0);
            hash_final(&s, digest);
            CHECK(memcmp(digest, want, size) == 0, "%s %s in pieces of %d", c->name, v->id, (int)piece);
        }
        CHECK(all_bytes((const uint8_t *)&s, sizeof s, 0), "%s: hash_final leaves its state", c->name);
    }
}

static void hash_lengths_of(const hash_case *c) {
    static uint8_t msg[LONGEST + 8], a[1000];
    uint8_t digest[64], want[64];
    const size_t size = c->function->digest_size;
    hash_state s;
    memset(a, 'a', sizeof a);
    hash_init(&s, c->function);
    for (int i = 0; i < 1000; i++) hash_update(&s, a, sizeof a);
    hash_final(&s, digest);
    unhex(want, sizeof want, c->million);
    CHECK(memcmp(digest, want, size) == 0, "%s of a million a", c->name);

    hash_init(&s, c->function);
    for (size_t n = 0; n <= LONGEST; n++) {
        uint8_t *p = msg + n % 8;
        test_bytes(p, n, n);
        c->message(digest, p, n);
        hash_update(&s, digest, size);
    }
    hash_final(&s, digest);
    unhex(want, sizeof want, c->lengths);
    CHECK(memcmp(digest, want, size) == 0, "%s of all lengths to %d", c->name, LONGEST);
}

/* Around 2^61 bytes the length in bits needs its second word: as if so many bytes had been hashed. */
static void test_long_message(void) {
    uint8_t digest[64], by_hand[64], block[128] = {0x80};
    hash_state s, t;
    hash_init(&s, &hash_sha512);
    s.length = (uint64_t)5 << 61;
    t = s;
    hash_final(&s, digest);
    block[HASH_MAX_BLOCK_SIZE - 9] = 5;
    hash_update(&t, block, sizeof block);
    hash_store(&hash_sha512, by_hand, &t.h);
    CHECK(memcmp(digest, by_hand, 64) == 0, "length of 5 * 2^64 bits");
    group_done("SHA-512, a length of more than 64 bits");
}

typedef struct {
    const char *name;
    const mac_vector *tags;
    size_t tag_count;
    const kdf_vector *keys;
    size_t key_count;
    const char *lengths;
} hmac_case;

static const hmac_case hmac_cases[] = {
    [HMAC_SHA1] = {"sha1", hmac_sha1_vectors, COUNT(hmac_sha1_vectors), pbkdf2_hmac_sha1_vectors,
                   COUNT(pbkdf2_hmac_sha1_vectors), "3eeb5c9493c76adfcd191d7108213ce0c1aa046a"},
    [HMAC_SHA256] = {"sha256", hmac_sha256_vectors, COUNT(hmac_sha256_vectors), pbkdf2_hmac_sha256_vectors,
                     COUNT(pbkdf2_hmac_sha256_vectors),
                     "7e979faecb6d2efb08689568cd839be00375d02ec72160b65597ad253318a4ff"},
    [HMAC_SHA512] = {"sha512", hmac_sha512_vectors, COUNT(hmac_sha512_vectors), pbkdf2_hmac_sha512_vectors,
                     COUNT(pbkdf2_hmac_sha512_vectors),
                     "fc075c3486f52b8e5c01d19e28658b130e9e3ed581390fdb36757755ff3e7d32f451ba8cb29e3f4c0fa24e3abcb0723f"
                     "1d0ade7372a9765478f1ff964e440a56"},
};

static void test_hmac(int algorithm) {
    const hmac_case *c = &hmac_cases[algorithm];
    const hash_function *function = hmac_function(algorithm);
    const size_t size = function->digest_size;
    uint8_t key[300], msg[300], want[64], tag[64 + 1];
    hmac_key k;
    hash_state s;
    CHECK(hmac_size(algorithm) == size, "hmac-%s: size", c->name);
    for (size_t i = 0; i < c->tag_count; i++) {
        const mac_vector *v = &c->tags[i];
        size_t key_size = unhex(key, sizeof key, v->key);
        size_t n = unhex(msg, sizeof msg, v->msg);
        size_t tag_size = unhex(want, sizeof want, v->tag);
        hmac_key_init(&k, algorithm, key, key_size);
        /* One key, a message in two parts. */
        for (size_t part = 0; part <= n; part++) {
            memset(tag, 0xa5, sizeof tag);
            hmac(&k, tag, msg, part, part < n ? msg + part : NULL, n - part);
            CHECK(memcmp(tag, want, tag_size) == 0, "hmac-%s %s, %d + %d bytes", c->name, v->id, (int)part,
                  (int)(n - part));
            CHECK(tag[size] == 0xa5, "hmac-%s wrote past the tag", c->name);
        }
    }
    hash_init(&s, function);
    for (size_t n = 0; n <= 300; n++) {
        test_bytes(key, n, n);
        test_bytes(msg, 300 - n, n + 1000);
        hmac_key_init(&k, algorithm, key, n);
        hmac(&k, tag, msg, (300 - n) / 3, msg + (300 - n) / 3, 300 - n - (300 - n) / 3);
        hash_update(&s, tag, size);
    }
    hash_final(&s, tag);
    unhex(want, sizeof want, c->lengths);
    CHECK(memcmp(tag, want, size) == 0, "hmac-%s of all lengths of keys and messages", c->name);
}

static void test_pbkdf2(int algorithm) {
    const hmac_case *c = &hmac_cases[algorithm];
    for (size_t i = 0; i < c->key_count; i++) {
        const kdf_vector *v = &c->keys[i];
        uint8_t password[200], salt[128], want[128], dk[128 + 1];
        size_t password_size = unhex(password, sizeof password, v->password);
        size_t salt_size = unhex(salt, sizeof salt, v->salt);
        size_t n = unhex(want, sizeof want, v->dk);
        memset(dk, 0xa5, sizeof dk);
        pbkdf2_hmac(algorithm, password, password_size, salt, salt_size, v->iterations, dk, n);
        CHECK(memcmp(dk, want, n) == 0, "pbkdf2-hmac-%s %s", c->name, v->id);
        CHECK(dk[n] == 0xa5, "pbkdf2-hmac-%s %s wrote past its end", c->name, v->id);
        /* A shorter key is the beginning of a longer one. */
        if (v->iterations > 2) continue;
        for (size_t part = 1; part < n; part++) {
            memset(dk, 0xa5, sizeof dk);
            pbkdf2_hmac(algorithm, password, password_size, salt, salt_size, v->iterations, dk, part);
            CHECK(memcmp(dk, want, part) == 0 && dk[part] == 0xa5, "pbkdf2-hmac-%s %s, %d bytes", c->name, v->id,
                  (int)part);
        }
    }
}

static void test_rc4(void) {
    uint8_t key[256], text[32], want[32], all[64];
    for (size_t i = 0; i < COUNT(rc4_vectors); i++) {
        const rc4_vector *v = &rc4_vectors[i];
        size_t key_size = unhex(key, sizeof key, v->key);
        size_t n = unhex(text, sizeof text, v->pt);
        unhex(want, sizeof want, v->ct);
        rc4_xor(text, n, key, key_size);
        CHECK(memcmp(text, want, n) == 0, "rc4 %s", v->id);
    }
    /* A short text gets the beginning of the key stream, and no byte beside it changes. */
    test_bytes(key, sizeof key, 1);
    memset(all, 0xa5, sizeof all);
    rc4_xor(all, sizeof all, key, sizeof key);
    for (size_t n = 0; n < sizeof want; n++) {
        memset(text, 0xa5, sizeof text);
        rc4_xor(text, n, key, sizeof key);
        CHECK(memcmp(text, all, n) == 0 && all_bytes(text + n, sizeof text - n, 0xa5), "rc4 of %d bytes", (int)n);
    }
    group_done("RC4, RFC 6229");
}

/* ------------------------------------------------------------------------------------------------------
** Ascon */

/* The permutation once more, bit by bit from the table of the S-box (Ascon v1.2, section 2.6). */
static void twin_permutation(uint64_t x[5], int rounds) {
    static const uint8_t sbox[32] = {4,  11, 31, 20, 26, 21, 9,  2,  27, 5,  8, 18, 29, 3,  6,  28,
                                     30, 19, 7,  14, 0,  13, 17, 24, 16, 12, 1, 25, 22, 10, 15, 23};
    static const int turn[5][2] = {{19, 28}, {61, 39}, {1, 6}, {10, 17}, {7, 41}};
    for (int r = 12 - rounds; r < 12; r++) {
        uint64_t y[5] = {0};
        x[2] ^= (uint64_t)(0xf0 - 0x10 * r + r);
        for (int bit = 0; bit < 64; bit++) {
            unsigned in = 0;
            for (int i = 0; i < 5; i++) in = in << 1 | (unsigned)(x[i] >> bit & 1);
            for (int i = 0; i < 5; i++) y[i] |= (uint64_t)(sbox[in] >> (4 - i) & 1) << bit;
        }
        for (int i = 0; i < 5; i++) {
            x[i] = y[i];
            for (int k = 0; k < 2; k++) x[i] ^= y[i] >> turn[i][k] | y[i] << (64 - turn[i][k]);
        }
    }
}

/* XOR one byte into the rate, as byte number i of a block, or read it. */
static void rate_xor(uint64_t x[5], size_t i, uint8_t byte) {
    x[0] ^= (uint64_t)byte << (56 - 8 * i);
}

static uint64_t word_be(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

static void twin_ascon128(uint8_t *buf, size_t n, uint8_t tag[16], const uint8_t *ad, size_t n_ad,
                          const uint8_t key[16], const uint8_t nonce[16]) {
    uint64_t k[2] = {word_be(key), word_be(key + 8)};
    uint64_t x[5] = {0x80400c0600000000, k[0], k[1], word_be(nonce), word_be(nonce + 8)};
    twin_permutation(x, 12);
    x[3] ^= k[0], x[4] ^= k[1];
    for (size_t i = 0; n_ad > 0 && i <= n_ad; i++) {
        rate_xor(x, i % 8, i < n_ad ? ad[i] : 0x80);
        if (i % 8 == 7 || i == n_ad) twin_permutation(x, 6);
    }
    x[4] ^= 1;
    for (size_t i = 0; i <= n; i++) {
        rate_xor(x, i % 8, i < n ? buf[i] : 0x80);
        if (i < n) buf[i] = (uint8_t)(x[0] >> (56 - 8 * (i % 8)));
        if (i % 8 == 7 && i < n) twin_permutation(x, 6);
    }
    x[1] ^= k[0], x[2] ^= k[1];
    twin_permutation(x, 12);
    for (size_t i = 0; i < 16; i++) tag[i] = (uint8_t)((x[3 + i / 8] ^ k[i / 8]) >> (56 - 8 * (i % 8)));
}

static void test_ascon_vectors(void) {
    for (size_t i = 0; i < COUNT(ascon_128_vectors); i++) {
        const aead_vector *v = &ascon_128_vectors[i];
        uint8_t key[16], nonce[16], ad[64], plain[64], text[64], want[64], tag[16], want_tag[16];
        size_t n_ad = unhex(ad, sizeof ad, v->aad);
        size_t n = unhex(plain, sizeof plain, v->pt);
        unhex(key, sizeof key, v->key);
        unhex(nonce, sizeof nonce, v->nonce);
        unhex(want, sizeof want, v->ct);
        unhex(want_tag, sizeof want_tag, v->tag);
        memcpy(text, plain, n);
        ascon128_encrypt(text, n, tag, ad, n_ad, key, nonce);
        CHECK(memcmp(text, want, n) == 0 && memcmp(tag, want_tag, 16) == 0, "ascon128_encrypt %s", v->id);
        CHECK(ascon128_decrypt(text, n, tag, ad, n_ad, key, nonce) == 0 && memcmp(text, plain, n) == 0,
              "ascon128_decrypt %s", v->id);
    }
    group_done("Ascon-128 v1.2, known answers");

    for (size_t i = 0; i < COUNT(ascon_hash_vectors); i++) {
        const hash_vector *v = &ascon_hash_vectors[i];
        uint8_t msg[300], digest[32], want[32];
        size_t n = unhex(msg, sizeof msg, v->msg);
        unhex(want, sizeof want, v->digest);
        for (size_t a = 0; a <= n; a++) {
            for (size_t b = a; b <= n; b += 1 + n / 20) {
                ascon_hash(digest, msg, a, msg + a, b - a, msg + b, n - b);
                CHECK(memcmp(digest, want, 32) == 0, "ascon_hash %s, cut at %d and %d", v->id, (int)a, (int)b);
            }
        }
    }
    group_done("Ascon-Hash v1.2, known answers, messages in three parts");

    for (size_t i = 0; i < COUNT(ascon_pbkdf2_vectors); i++) {
        const kdf_vector *v = &ascon_pbkdf2_vectors[i];
        uint8_t password[64], salt[16], dk[32], want[64];
        size_t password_size = unhex(password, sizeof password, v->password);
        size_t salt_size = unhex(salt, sizeof salt, v->salt);
        unhex(want, sizeof want, v->dk); /* a longer key begins with the same 32 bytes */
        ascon_pbkdf2(dk, password, password_size, salt, salt_size, v->iterations);
        CHECK(memcmp(dk, want, 32) == 0, "ascon_pbkdf2 %s", v->id);
    }
    group_done("PBKDF2 on Ascon, known answers, keys of files");
}

static void test_ascon_lengths(void) {
    static uint8_t plain[65536 + 16], want[65536], got[65536 + 16], ad[65536];
    uint8_t key[16], nonce[16], tag[16], want_tag[16];
    for (size_t i = 0; i <= LONGEST + 8; i++) {
        size_t n = i <= LONGEST ? i : (size_t)256 << (i - LONGEST);
        size_t n_ad = i % 3 == 0 ? 0 : LONGEST - i % LONGEST;
        size_t shift = i % 16;
        test_bytes(key, sizeof key, i);
        test_bytes(nonce, sizeof nonce, i + 1000000);
        test_bytes(plain, n, i + 2000000);
        test_bytes(ad, n_ad, i + 3000000);
        memcpy(want, plain, n);
        twin_ascon128(want, n, want_tag, ad, n_ad, key, nonce);
        memset(got, 0xa5, sizeof got);
        memcpy(got + shift, plain, n);
        ascon128_encrypt(got + shift, n, tag, ad, n_ad, key, nonce);
        CHECK(memcmp(got + shift, want, n) == 0 && memcmp(tag, want_tag, 16) == 0, "ascon128_encrypt of %d bytes",
              (int)n);
        CHECK(ascon128_decrypt(got + shift, n, tag, ad, n_ad, key, nonce) == 0 && memcmp(got + shift, plain, n) == 0,
              "ascon128_decrypt of %d bytes", (int)n);
        memcpy(got + shift, want, n);
        ascon128_decrypt_unverified(got + shift, n, ad, n_ad, key, nonce);
        CHECK(memcmp(got + shift, plain, n) == 0, "ascon128_decrypt_unverified of %d bytes", (int)n);
        tag[i % 16] ^= (uint8_t)(1u << i % 8);
        memcpy(got + shift, want, n);
        CHECK(ascon128_decrypt(got + shift, n, tag, ad, n_ad, key, nonce) == 1 && all_bytes(got + shift, n, 0),
              "a wrong tag over %d bytes", (int)n);
        CHECK(all_bytes(got, shift, 0xa5) && all_bytes(got + shift + n, sizeof got - shift - n, 0xa5),
              "ascon128 of %d bytes wrote beside them", (int)n);
    }
    group_done("Ascon-128 against its slow twin, lengths 0 to 1100 and pages to 65536");
}

/* Each bit of the tag, of a text, of associated data, nonce and key. */
static void test_ascon_flips(void) {
    uint8_t text[37], work[37], input[16 + 5 + 16 + 16 + 37], plain[37], tag[16];
    uint8_t *in_tag = input, *ad = input + 16, *nonce = ad + 5, *key = nonce + 16, *sealed = key + 16;
    test_bytes(input, sizeof input, 7);
    memcpy(plain, sealed, sizeof plain);
    ascon128_encrypt(sealed, sizeof plain, tag, ad, 5, key, nonce);
    memcpy(in_tag, tag, sizeof tag);
    for (size_t bit = 0; bit < 8 * sizeof input; bit++) {
        input[bit / 8] ^= (uint8_t)(1u << bit % 8);
        memcpy(work, sealed, sizeof work);
        CHECK(ascon128_decrypt(work, sizeof work, in_tag, ad, 5, key, nonce) == 1, "bit %d flipped", (int)bit);
        CHECK(all_bytes(work, sizeof work, 0), "bit %d flipped: the buffer is not zero", (int)bit);
        input[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    memcpy(text, sealed, sizeof text);
    CHECK(ascon128_decrypt(text, sizeof text, in_tag, ad, 5, key, nonce) == 0 && memcmp(text, plain, sizeof plain) == 0,
          "nothing flipped");
    group_done("Ascon-128 refuses each flipped bit and leaves zeros");
}

/* ------------------------------------------------------------------------------------------------------
** BLAKE2b and Argon2id */

static void blake2b(uint8_t *digest, size_t size, const uint8_t *key, size_t key_size, const uint8_t *msg, size_t n) {
    blake2b_state s;
    blake2b_init(&s, size, key, key_size);
    blake2b_update(&s, msg, n);
    blake2b_final(&s, digest);
}

static void test_blake2b(void) {
    uint8_t key[64], msg[400], want[64], digest[64 + 1];
    blake2b_state s, all;
    for (size_t i = 0; i < COUNT(blake2b_vectors); i++) {
        const mac_vector *v = &blake2b_vectors[i];
        size_t key_size = unhex(key, sizeof key, v->key);
        size_t n = unhex(msg, sizeof msg, v->msg);
        size_t size = unhex(want, sizeof want, v->tag);
        for (size_t piece = 1; piece <= 260; piece++) {
            digest[size] = 0xa5;
            blake2b_init(&s, size, key, key_size);
            for (size_t at = 0; at < n; at += piece) blake2b_update(&s, msg + at, n - at < piece ? n - at : piece);
            blake2b_final(&s, digest);
            CHECK(memcmp(digest, want, size) == 0, "blake2b %s in pieces of %d", v->id, (int)piece);
            CHECK(digest[size] == 0xa5, "blake2b %s wrote past the digest", v->id);
        }
        CHECK(all_bytes((const uint8_t *)&s, sizeof s, 0), "blake2b_final leaves its state");
    }
    blake2b_init(&all, 64, NULL, 0);
    for (size_t n = 0; n <= 400; n++) {
        const size_t key_sizes[2] = {0, n % 65};
        test_bytes(msg, n, n);
        for (int k = 0; k < 2; k++) {
            test_bytes(key, key_sizes[k], key_sizes[k] + 1000);
            blake2b(digest, n % 64 + 1, key, key_sizes[k], msg, n);
            blake2b_update(&all, digest, n % 64 + 1);
        }
    }
    blake2b_final(&all, digest);
    unhex(want, 64,
          "2add74297c643444bc60194374c1d404d06ff44106b8519d862fce9abc16718e0bfa49eac21ba7828d8d50875051d0b690a1b29c2f60"
          "8dc553e1dc68b6c04a45");
    CHECK(memcmp(digest, want, 64) == 0, "blake2b of all lengths of messages, keys and digests");
    group_done("BLAKE2b, RFC 7693, all lengths of messages, keys and digests");
}

/* RFC 7693 appendix E: digests of 20 to 64 bytes, of messages to 1024 bytes, with and without a key. */
static void selftest_bytes(uint8_t *out, size_t n, uint32_t seed) {
    uint32_t a = 0xdead4bad * seed, b = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t t = a + b;
        a = b;
        b = t;
        out[i] = (uint8_t)(t >> 24);
    }
}

static void test_blake2b_selftest(void) {
    static const size_t sizes[] = {20, 32, 48, 64}, lengths[] = {0, 3, 128, 129, 255, 1024};
    uint8_t key[64], msg[1024], digest[64], want[32];
    blake2b_state all;
    blake2b_init(&all, 32, NULL, 0);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t k = 0; k < COUNT(lengths); k++) {
            selftest_bytes(msg, lengths[k], (uint32_t)lengths[k]);
            blake2b(digest, sizes[i], NULL, 0, msg, lengths[k]);
            blake2b_update(&all, digest, sizes[i]);
            selftest_bytes(key, sizes[i], (uint32_t)sizes[i]);
            blake2b(digest, sizes[i], key, sizes[i], msg, lengths[k]);
            blake2b_update(&all, digest, sizes[i]);
        }
    }
    blake2b_final(&all, digest);
    unhex(want, 32, "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475");
    CHECK(memcmp(digest, want, 32) == 0, "the self-test of RFC 7693 appendix E");
    group_done("BLAKE2b, the self-test of RFC 7693 appendix E");
}

/* The i-th implementation of Argon2id that this machine can run; NULL after the last. */
static const argon2id_impl *usable_argon2id(unsigned i) {
    const argon2id_impl *impl;
    for (unsigned k = 0; (impl = argon2id_compiled(k)) != NULL; k++) {
        if ((impl->cpu & ~cpu_features()) == 0 && i-- == 0) return impl;
    }
    return NULL;
}

#define ARGON2ID_MEMORY ((size_t)19456 * 1024) /* what files cost */

static void test_argon2id_vectors(uint8_t *memory) {
    const argon2id_impl *impl;
    CHECK(argon2id_in_use() == usable_argon2id(0), "not the best implementation is in use");
    for (unsigned k = 0; (impl = usable_argon2id(k)) != NULL; k++) {
        for (size_t i = 0; i < COUNT(argon2id_vectors); i++) {
            const argon2id_vector *v = &argon2id_vectors[i];
            uint8_t password[64], salt[16], secret[16], ad[16], want[128], dk[128 + 1];
            argon2id_input in = {.password = password, .salt = salt, .secret = secret, .ad = ad};
            in.t = v->t, in.m = v->m, in.p = v->p;
            in.password_size = unhex(password, sizeof password, v->password);
            in.salt_size = unhex(salt, sizeof salt, v->salt);
            in.secret_size = unhex(secret, sizeof secret, v->secret);
            in.ad_size = unhex(ad, sizeof ad, v->ad);
            size_t n = unhex(want, sizeof want, v->dk);
            size_t size = argon2id_memory(v->t, v->m, v->p);
            CHECK(size / 1024 <= v->m && size / 1024 > v->m - 4 * v->p, "argon2id %s: %d bytes of memory", v->id,
                  (int)size);
            CHECK(size <= ARGON2ID_MEMORY, "argon2id %s: too much memory for the test", v->id);
            memset(dk, 0xa5, sizeof dk);
            memset(memory, 0x5a, size);
            memset(memory + size, 0xa5, 1024);
            argon2id_derive(impl, &in, dk, n, memory);
            CHECK(memcmp(dk, want, n) == 0, "argon2id, %s: %s", impl->name, v->id);
            CHECK(dk[n] == 0xa5, "argon2id, %s: %s: wrote past the key", impl->name, v->id);
            CHECK(all_bytes(memory + size, 1024, 0xa5), "argon2id, %s: %s: wrote past its memory", impl->name, v->id);
            if (in.secret_size > 0 || impl != argon2id_in_use()) continue;
            memset(dk, 0, n);
            int rc = argon2id(dk, n, password, in.password_size, salt, in.salt_size, v->t, v->m, v->p, memory);
            CHECK(rc == 0 && memcmp(dk, want, n) == 0, "argon2id %s", v->id);
        }
    }
    group_done("Argon2id, all implementations, RFC 9106, keys of files");
}

/* Memory, not only the key, is the same; in place where a machine's alignment is 8. */
static void test_argon2id_twins(uint8_t *memory) {
    static argon2id_block want[260];
    const argon2id_impl *impl;
    uint8_t password[20], salt[8], dk[64], want_dk[64];
    for (uint32_t m = 8; m <= 260; m += 9) {
        for (uint32_t p = 1; p <= 5 && p <= m / 8; p++) {
            argon2id_input in = {.password = password, .password_size = m % 21, .salt = salt, .salt_size = 8};
            in.t = m % 3 + 1, in.m = m, in.p = p;
            size_t n = 4 + m % 61;
            test_bytes(password, sizeof password, m);
            test_bytes(salt, sizeof salt, p);
            argon2id_derive(&argon2id_scalar, &in, want_dk, n, (uint8_t *)want);
            for (unsigned k = 0; (impl = usable_argon2id(k)) != NULL; k++) {
                argon2id_derive(impl, &in, dk, n, memory + 8);
                CHECK(memcmp(dk, want_dk, n) == 0, "argon2id, %s: m %d p %d", impl->name, (int)m, (int)p);
                CHECK(memcmp(memory + 8, want, argon2id_memory(in.t, m, p)) == 0, "argon2id, %s: memory, m %d p %d",
                      impl->name, (int)m, (int)p);
            }
        }
    }
    group_done("Argon2id, all implementations against each other, odd costs");
}

static void test_argon2id_errors(uint8_t *memory) {
    uint8_t dk[32], password[4] = {0}, salt[16] = {0};
    static const struct {
        uint32_t t, m, p;
    } bad[] = {
        {0, 8, 1}, {1, 8, 0}, {1, 7, 1}, {1, 0, 1}, {1, 63, 8}, {2, 0xffffffff, 0x20000000}, {1, 0xffffffff, 1 << 24}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        memset(dk, 0xa5, sizeof dk);
        CHECK(argon2id_memory(bad[i].t, bad[i].m, bad[i].p) == 0, "illegal cost %d has a size", (int)i);
        CHECK(argon2id(dk, 32, password, 4, salt, 16, bad[i].t, bad[i].m, bad[i].p, memory) == -1 &&
                  all_bytes(dk, 32, 0),
              "illegal cost %d", (int)i);
    }
    static const struct {
        size_t n, salt_size;
        int memory;
    } wrong[] = {{3, 16, 1}, {0, 16, 1}, {32, 7, 1}, {32, 16, 0}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        memset(dk, 0xa5, sizeof dk);
        int rc =
            argon2id(dk, wrong[i].n, password, 4, salt, wrong[i].salt_size, 1, 8, 1, wrong[i].memory ? memory : NULL);
        CHECK(rc == -1 && all_bytes(dk, wrong[i].n, 0), "illegal argument %d", (int)i);
        CHECK(all_bytes(dk + wrong[i].n, sizeof dk - wrong[i].n, 0xa5), "illegal argument %d: more than n", (int)i);
    }
    /* 4 TiB less 4 KiB: legal, and not addressable with 32 bits. */
    CHECK(argon2id_memory(1, 0xffffffff, 1) == (sizeof(size_t) > 4 ? (size_t)((uint64_t)0xfffffffc << 10) : 0),
          "the largest cost");
    CHECK(argon2id_memory(1, 8, 1) == 8192 && argon2id_memory(0xffffffff, 65, 4) == 65536, "small costs");
    group_done("Argon2id, illegal costs and arguments: an error and no key");
}

static void test_argon2id(void) {
    uint8_t *memory = malloc(ARGON2ID_MEMORY + 1024);
    CHECK(memory != NULL, "no memory for Argon2id");
    if (memory == NULL) return;
    test_argon2id_vectors(memory);
    test_argon2id_twins(memory);
    test_argon2id_errors(memory);
    free(memory);
}

/* ------------------------------------------------------------------------------------------------------
** Keys of files of schemes without a standard derivation (formats.md 2.1 and 5) */

/* The password and the padding of PDF, cut to 32 bytes. */
static void pad32(uint8_t out[32], const char *password) {
    static const uint8_t padding[32] = {0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e,
                                        0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68,
                                        0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a};
    size_t n = strlen(password);
    for (size_t i = 0; i < 32; i++) out[i] = i < n ? (uint8_t)password[i] : padding[i - n];
}

static void aes128cbc_key(uint8_t key[16], const char *password) {
    uint8_t d[32], o[32], turned[16], both[64];
    pad32(d, "");
    md5(d, d, 32);
    for (int i = 0; i < 50; i++) md5(d, d, 16);
    pad32(o, password);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 16; k++) turned[k] = (uint8_t)(d[k] ^ i);
        rc4_xor(o, 32, turned, 16);
    }
    pad32(both, password);
    memcpy(both + 32, o, 32);
    md5(key, both, 64);
    for (int i = 0; i < 50; i++) md5(key, key, 16);
}

static void aes256cbc_key(uint8_t key[32], const char *password) {
    pad32(key, password);
    for (int i = 0; i < 4002; i++) sha256(key, key, 32);
}

static void test_file_keys(void) {
    for (size_t i = 0; i < COUNT(file_keys); i++) {
        const file_key *v = &file_keys[i];
        uint8_t key[32], want[32];
        size_t n = unhex(want, sizeof want, v->key);
        if (strcmp(v->scheme, "aes128cbc") == 0) aes128cbc_key(key, v->password);
        if (strcmp(v->scheme, "aes256cbc") == 0) aes256cbc_key(key, v->password);
        if (strcmp(v->scheme, "rc4") == 0) sha1(key, (const uint8_t *)v->password, strlen(v->password));
        CHECK(memcmp(key, want, n) == 0, "key of %s from \"%s\"", v->scheme, v->password);
    }
    group_done("MD5, SHA-1, SHA-256 and RC4 in keys of aes128cbc, aes256cbc, rc4 files");
}

void test_hashes(void) {
    for (size_t i = 0; i < COUNT(hash_cases); i++) hash_vectors_of(&hash_cases[i]);
    group_done("MD5, SHA-1, SHA-256, SHA-512, RFC 1321, FIPS 180, in pieces of every length");
    for (size_t i = 0; i < COUNT(hash_cases); i++) hash_lengths_of(&hash_cases[i]);
    group_done("MD5, SHA-1, SHA-256, SHA-512 of a million bytes and of all lengths to 1100");
    test_long_message();
    for (int i = HMAC_SHA1; i <= HMAC_SHA512; i++) test_hmac(i);
    group_done("HMAC, RFC 2202, RFC 4231, keys and messages of all lengths to 300");
    for (int i = HMAC_SHA1; i <= HMAC_SHA512; i++) test_pbkdf2(i);
    group_done("PBKDF2, RFC 6070, RFC 7914, keys of files");
    test_rc4();
    test_ascon_vectors();
    test_ascon_lengths();
    test_ascon_flips();
    test_blake2b();
    test_blake2b_selftest();
    test_argon2id();
    test_file_keys();
}
