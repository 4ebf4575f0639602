/*
** No branch and no memory index depends on a secret (invariant I6): run under valgrind's memcheck with the
** secrets marked as uninitialised, each such branch or index is an error that memcheck reports. `--leak` makes
** one on purpose, to see that the tool would.
*/
#include <stdio.h>
#include <string.h>

#include <valgrind/memcheck.h>

#include "aegis.h"
#include "aes_impl.h"
#include "argon2id_impl.h"
#include "ascon.h"
#include "blake2b.h"
#include "chacha20_poly1305_impl.h"
#include "cpu.h"
#include "hmac.h"
#include "md5.h"
#include "secure.h"
#include "sha1.h"
#include "sha256.h"
#include "sha512.h"

static uint8_t key[64], nonce[16], message[3 * 4096], page[4096 + 512], out[64];

static void secret(void *p, size_t n) {
    VALGRIND_MAKE_MEM_UNDEFINED(p, n);
}

/* What goes out is public: ciphertext, tags, verdicts. */
static void publish(void *p, size_t n) {
    VALGRIND_MAKE_MEM_DEFINED(p, n);
}

static void streams_and_tags(const chacha20_poly1305_impl *impl) {
    static const size_t lengths[] = {0, 1, 63, 64, 65, 128, 129, 255, 500, 512, 513, 1100, 4999};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        secret(key, sizeof key);
        secret(message, sizeof message);
        impl->xor_stream(message, lengths[i], key, nonce, 0xfffffffe);
        secret(message, sizeof message);
        impl->poly1305(out, message, lengths[i], key);
        publish(out, sizeof out);
    }
    impl->block(key, nonce, 1, out);
    publish(out, sizeof out);
}

static void pages(const chacha20_poly1305_impl *impl) {
    static const size_t sizes[] = {32, 48, 256, 512, 528, 1024, 4096, 4096 + 272};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t size = sizes[i];
        secret(key, sizeof key);
        secret(page, size - 32);
        publish(page + size - 32, 16);
        impl->page_encrypt(page, size, key, 7);
        publish(page, size);
        /* Whether the tag is right is public, and is all that may be: with the Poly1305 key public too, so
        ** are both tags. The key of the text stays secret. The way of Poly1305 was checked above. */
        publish(key, 32);
        int wrong = impl->page_decrypt(page, size, key, 7);
        publish(&wrong, sizeof wrong);
        if (wrong != 0) printf("%s: tag refused, %d bytes\n", impl->name, (int)size);
    }
}

static void hashes(void) {
    static const size_t lengths[] = {0, 1, 55, 56, 64, 100, 111, 112, 128, 200, 1100};
    hmac_key k;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t n = lengths[i];
        secret(message, n);
        md5(out, message, n);
        sha1(out, message, n);
        sha256(out, message, n);
        sha512(out, message, n);
        for (int algorithm = HMAC_SHA1; algorithm <= HMAC_SHA512; algorithm++) {
            secret(message, n);
            hmac_key_init(&k, algorithm, message, n);
            hmac(&k, out, message, n, message, n / 2);
            pbkdf2_hmac(algorithm, message, n, nonce, sizeof nonce, 3, out, 40);
        }
    }
    publish(out, sizeof out);
}

static void ascon(void) {
    static const size_t lengths[] = {0, 1, 7, 8, 9, 16, 100, 4064};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t n = lengths[i];
        secret(key, sizeof key);
        secret(page, n);
        ascon_hash(out, key, 32, page, n, nonce, 4);
        ascon128_encrypt(page, n, out, page, n / 2, key, nonce);
        ascon128_decrypt_unverified(page, n, page, n / 2, key, nonce);
        ascon_pbkdf2(out, key, n % 40, nonce, sizeof nonce, 3);
        /* Whether the tag is right is public. The key is, too, or it would not be known whether it is. */
        publish(key, sizeof key);
        publish(page, n);
        publish(out, sizeof out);
        ascon128_encrypt(page, n, out, nonce, 5, key, nonce);
        if (ascon128_decrypt(page, n, out, nonce, 5, key, nonce) != 0) printf("Ascon: tag refused\n");
    }
}

/* Where Argon2id takes its addresses from the place alone: the first half of the first pass, and both ends. The
** addresses of what lies between are made of secrets; that is its design (RFC 9106 3.4.1), so memory is public
** there. */
static void argon2id(const argon2id_impl *impl) {
    static argon2id_block memory[3 * 64];
    argon2id_state s;
    blake2b_state hash;
    const argon2id_input in = {
        .password = key, .password_size = 24, .salt = nonce, .salt_size = 16, .t = 2, .m = 192, .p = 3};
    secret(key, sizeof key);
    argon2id_start(&s, impl, &in, 32, (uint8_t *)memory);
    for (uint32_t pass = 0; pass < in.t; pass++) {
        for (uint32_t slice = 0; slice < 4; slice++) {
            if (pass == 0 && slice == 2) publish(memory, sizeof memory);
            for (uint32_t lane = 0; lane < in.p; lane++) argon2id_segment(&s, pass, slice, lane);
        }
    }
    secret(memory, sizeof memory);
    argon2id_finish(&s, out, 32);
    blake2b_init(&hash, 64, key, sizeof key);
    blake2b_update(&hash, key, sizeof key);
    blake2b_final(&hash, out);
    publish(out, sizeof out);
    secure_zero(&s, sizeof s);
}

/* The implementation in use. A page is encrypted and decrypted with the key, its IV and its text secret. */
static void aes(void) {
    static const size_t lengths[] = {16, 17, 31, 48, 112, 128, 255, 1000, 4096};
    uint8_t iv[16];
    aes_key k;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        secret(key, sizeof key);
        secret(iv, sizeof iv);
        secret(message, sizeof message);
        aes_key_init(&k, key, i % 2 == 0 ? 16 : 32);
        aes_cbc_cs3_encrypt(&k, iv, message, lengths[i]);
        aes_cbc_cs3_decrypt(&k, iv, message, lengths[i]);
        aes_cbc_encrypt(&k, iv, message, lengths[i] / 16 * 16);
        aes_cbc_decrypt(&k, iv, message, lengths[i] / 16 * 16);
        const aes_cbc_job job[] = {{&k, iv, message}, {&k, iv, message + 4096}, {&k, iv, message + 8192}};
        aes_cbc_encrypt_each(job, 2 + (int)i % 2, lengths[i] / 16 * 16);
        publish(message, sizeof message);
    }
    secure_zero(&k, sizeof k);
}

/* As for the pages above: whether a tag is right is public. */
static void aegis(void) {
    static const size_t lengths[] = {0, 1, 16, 31, 100, 1000, 4096};
    uint8_t tag[AEGIS_TAG_SIZE], long_nonce[32];
    for (int variant = AEGIS_128L; variant <= AEGIS_256X4; variant++) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            const size_t n = lengths[i];
            secret(key, sizeof key);
            secret(long_nonce, sizeof long_nonce);
            secret(message, sizeof message);
            aegis_encrypt(variant, message, n, tag, nonce, i % 2 * 9, key, long_nonce);
            aegis_decrypt_unverified(variant, message, n, nonce, i % 2 * 9, key, long_nonce);
            aegis_stream(variant, message, n, key, long_nonce);
            memset(key, 7, 32);
            memset(long_nonce, 8, 32);
            memset(message, 9, n);
            aegis_encrypt(variant, message, n, tag, nonce, i % 2 * 9, key, long_nonce);
            int wrong = aegis_decrypt(variant, message, n, tag, nonce, i % 2 * 9, key, long_nonce);
            if (wrong != 0) printf("AEGIS variant %d: tag refused, %d bytes\n", variant, (int)n);
        }
    }
}

static void aes_and_aegis(void) {
    const aes_impl *impl;
    for (unsigned i = 0; (impl = aes_compiled(i)) != NULL; i++) {
        if (aes_force(impl->name) != 0) continue;
        aes();
        aegis();
        printf("AES and AEGIS, %s: checked\n", impl->name);
    }
    aes_force(NULL);
}

int main(int argc, char **argv) {
    const chacha20_poly1305_impl *impl;
    if (RUNNING_ON_VALGRIND == 0) {
        printf("cttest tells nothing without valgrind: run `valgrind --error-exitcode=1 cttest`.\n");
        return 2;
    }
    for (unsigned i = 0; (impl = chacha20_poly1305_compiled(i)) != NULL; i++) {
        if ((impl->cpu & ~cpu_features()) != 0) continue;
        streams_and_tags(impl);
        pages(impl);
        printf("%s: checked\n", impl->name);
    }

    aes_and_aegis();
    hashes();
    ascon();
    const argon2id_impl *fill;
    for (unsigned i = 0; (fill = argon2id_compiled(i)) != NULL; i++) {
        if ((fill->cpu & ~cpu_features()) == 0) argon2id(fill);
    }

    secret(key, sizeof key);
    int equal = secure_equal(key, message, 32);
    publish(&equal, sizeof equal);
    secure_zero(key, sizeof key);

    if (argc > 1 && strcmp(argv[1], "--leak") == 0) {
        secret(key, 1);
        if (key[0] == 42) printf("a branch on a secret\n");
    }
    printf("hashes, HMAC, PBKDF2, Ascon, Argon2id, comparison: checked\n");
    return 0;
}
