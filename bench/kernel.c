/*
** Entry points of the kernel benchmark (bench/kernel.mjs), linked with the very objects of the library.
** A page costs what it costs in the codec: the one-time key of the page by one block of ChaCha20, then
** the page kernel.
*/
#include <stdint.h>
#include <string.h>

#include "chacha20_poly1305_impl.h"

#define EXPORT(name) __attribute__((used, visibility("default"), export_name(#name)))

enum { PAGE_ENCRYPT, PAGE_DECRYPT, SEPARATE_ENCRYPT, SEPARATE_DECRYPT, CHACHA20, POLY1305, COPY, COPY_DECRYPT };

static uint8_t pages[1 << 18] __attribute__((aligned(64)));
static uint8_t private_page[1 << 16] __attribute__((aligned(64)));
static const uint8_t key[32] = "bench bench bench bench bench .";

EXPORT(bench_bytes) int bench_bytes(void) {
    return (int)sizeof pages;
}

/* Name of the i-th implementation in this module, or NULL. */
EXPORT(bench_name) const char *bench_name(unsigned i) {
    const chacha20_poly1305_impl *impl = chacha20_poly1305_compiled(i);
    return impl == NULL ? NULL : impl->name;
}

/* The unfused twin of the page kernel: the same parts, one after the other. */
static void separate_encrypt(const chacha20_poly1305_impl *impl, uint8_t *page, size_t size, const uint8_t *otk) {
    impl->xor_stream(page, size - 32, otk + 32, page + size - 32, 1);
    impl->poly1305(page + size - 16, page, size - 16, otk);
}

static int separate_decrypt(const chacha20_poly1305_impl *impl, uint8_t *page, size_t size, const uint8_t *otk) {
    uint8_t tag[16];
    impl->poly1305(tag, page, size - 16, otk);
    if (memcmp(tag, page + size - 16, sizeof tag) != 0) return 1;
    impl->xor_stream(page, size - 32, otk + 32, page + size - 32, 1);
    return 0;
}

static int one_page(const chacha20_poly1305_impl *impl, int what, uint8_t *page, size_t size) {
    uint8_t otk[64];
    int rc = 0;
    if (what == COPY) {
        memcpy(page, private_page, size);
        return 0;
    }
    impl->block(key, page + size - 32, 0, otk);
    switch (what) {
    case PAGE_ENCRYPT:
        impl->page_encrypt(page, size, otk, 1);
        break;
    case PAGE_DECRYPT:
        rc = impl->page_decrypt(page, size, otk, 1);
        break;
    case SEPARATE_ENCRYPT:
        separate_encrypt(impl, page, size, otk);
        break;
    case SEPARATE_DECRYPT:
        rc = separate_decrypt(impl, page, size, otk);
        break;
    case CHACHA20:
        impl->xor_stream(page, size, otk + 32, otk, 1);
        break;
    case POLY1305:
        impl->poly1305(private_page, page, size, otk);
        break;
    case COPY_DECRYPT:
        rc = impl->page_decrypt(page, size, otk, 1);
        memcpy(private_page, page, size);
        break;
    }
    return rc;
}

/* All pages of `size` bytes in the buffer once. 0 if no tag was wrong. */
EXPORT(bench_run) int bench_run(unsigned i, int what, int size) {
    const chacha20_poly1305_impl *impl = chacha20_poly1305_compiled(i);
    int rc = 0;
    for (uint8_t *page = pages; page < pages + sizeof pages; page += size)
        rc |= one_page(impl, what, page, (size_t)size);
    return rc;
}
