/*
** No branch and no memory index depends on a secret (invariant I6): run under valgrind's memcheck with the
** secrets marked as uninitialised, each such branch or index is an error that memcheck reports. `--leak` makes
** one on purpose, to see that the tool would.
*/
#include <stdio.h>
#include <string.h>

#include <valgrind/memcheck.h>

#include "chacha20_poly1305_impl.h"
#include "cpu.h"
#include "pbkdf2.h"
#include "secure.h"
#include "sha256.h"

static uint8_t key[64], nonce[16], message[5000], page[4096 + 512], out[64];

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

    secret(key, sizeof key);
    secret(message, 100);
    sha256(out, message, 100);
    publish(out, sizeof out);
    hmac_sha256(out, key, sizeof key, message, 100);
    publish(out, sizeof out);
    pbkdf2_hmac_sha256(key, sizeof key, nonce, sizeof nonce, 3, out, 40);
    publish(out, sizeof out);

    secret(key, sizeof key);
    int equal = secure_equal(key, message, 32);
    publish(&equal, sizeof equal);
    secure_zero(key, sizeof key);

    if (argc > 1 && strcmp(argv[1], "--leak") == 0) {
        secret(key, 1);
        if (key[0] == 42) printf("a branch on a secret\n");
    }
    printf("hashes, PBKDF2, comparison: checked\n");
    return 0;
}
