/*
** The page kernels: pages that the reference wrote, all implementations against the slow twins and each
** other, damage of every kind, bad arguments.
*/
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "chacha20_poly1305.h"
#include "cryptotest.h"
#include "cryptotest_vectors.h"
#include "sha256.h"

#define LARGEST 65536
#define GUARD 64

static uint8_t plain[LARGEST], want[LARGEST], buffer[GUARD + 16 + LARGEST + GUARD];

/* want = the page `plain` encrypted by the twins, from the description in chacha20_poly1305.h. */
static void twin_encrypt(size_t size, const uint8_t otk[64], uint32_t counter) {
    memcpy(want, plain, size);
    twin_chacha20_xor(want, size - 32, otk + 32, want + size - 32, counter);
    twin_poly1305(want + size - 16, want, size - 16, otk);
}

/* One size: encrypt, compare with the twins, decrypt, at an address that is `shift` bytes off; the bytes
** around the page stay as they are. */
static void one_size(size_t size, size_t shift, uint32_t counter, uint64_t seed) {
    uint8_t otk[64];
    uint8_t *page = buffer + GUARD + shift;
    const chacha20_poly1305_impl *impl;
    test_bytes(otk, sizeof otk, seed);
    test_bytes(plain, size, seed + 1);
    twin_encrypt(size, otk, counter);
    for (unsigned i = 0; (impl = usable(i)) != NULL; i++) {
        memset(buffer, 0xa5, sizeof buffer);
        memcpy(page, plain, size);
        impl->page_encrypt(page, size, otk, counter);
        CHECK(memcmp(page, want, size) == 0, "%s: encrypt, %d bytes, counter %08lx, shift %d", impl->name, (int)size,
              (unsigned long)counter, (int)shift);
        CHECK(impl->page_decrypt(page, size, otk, counter) == 0, "%s: tag refused, %d bytes", impl->name, (int)size);
        CHECK(memcmp(page, plain, size - 32) == 0, "%s: decrypt, %d bytes, counter %08lx, shift %d", impl->name,
              (int)size, (unsigned long)counter, (int)shift);
        CHECK(memcmp(page + size - 32, want + size - 32, 32) == 0, "%s: decrypt changed nonce or tag", impl->name);
        CHECK(all_bytes(buffer, GUARD + shift, 0xa5) && all_bytes(page + size, GUARD, 0xa5),
              "%s: bytes beside a page of %d were written", impl->name, (int)size);
    }
}

static void test_sizes(void) {
    for (size_t size = 32; size <= 4096 + 512; size += 16) one_size(size, 0, (uint32_t)size * 0x9e3779b9, size);
    for (size_t size = 8192; size <= LARGEST; size *= 2) {
        for (size_t less = 0; less <= 560; less += 80) one_size(size - less, 0, (uint32_t)size, size - less);
    }
    group_done("C41 page kernels, all implementations, sizes 32 to 65536");
}

static void test_counters(void) {
    /* The counter passes 2^32 in each block of a 4096-byte page, and right before and after it. */
    for (uint32_t before = 0; before <= 66; before++) one_size(4096, 0, 0u - before, before);
    for (uint32_t before = 0; before <= 1040; before += 13) one_size(LARGEST, 0, 0u - before, before);
    for (size_t size = 512; size <= LARGEST; size *= 2) one_size(size, 0, 0xffffffff, size);
    group_done("page kernels, the counter wraps at 2^32 in every block");
}

static void test_alignment(void) {
    static const size_t sizes[] = {32, 48, 64, 272, 512, 528, 544, 1024, 4096, 8192};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t shift = 0; shift < 16; shift++) one_size(sizes[i], shift, 1, i * 16 + shift);
    }
    group_done("C41 C44 page kernels, unaligned pages, bytes beside them untouched");
}

/* Flip bit `bit` of an encrypted page: decrypt must say so, and leave nothing but zeros. */
static void one_flip(const chacha20_poly1305_impl *impl, size_t size, const uint8_t otk[64], size_t bit) {
    uint8_t *page = buffer + GUARD;
    memcpy(page, want, size);
    page[bit / 8] ^= (uint8_t)(1u << bit % 8);
    memset(page + size, 0xa5, GUARD);
    CHECK(impl->page_decrypt(page, size, otk, 7) == 1, "%s: bit %d of %d bytes flipped, not noticed", impl->name,
          (int)bit, (int)size);
    CHECK(all_bytes(page, size, 0), "%s: bit %d of %d bytes flipped, page not all zero", impl->name, (int)bit,
          (int)size);
    CHECK(all_bytes(page + size, GUARD, 0xa5), "%s: zeros past a page of %d bytes", impl->name, (int)size);
}

static void test_flips(void) {
    static const size_t sizes[] = {32, 48, 256, 512, 544, 1024, 4096, LARGEST};
    uint8_t otk[64];
    const chacha20_poly1305_impl *impl;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t size = sizes[i];
        size_t step = size <= 1024 ? 1 : size <= 4096 ? 67 : 13001; /* bits of the data; odd: all places in a byte */
        test_bytes(otk, sizeof otk, size);
        test_bytes(plain, size, size + 1);
        twin_encrypt(size, otk, 7);
        for (unsigned k = 0; (impl = usable(k)) != NULL; k++) {
            for (size_t bit = 8 * (size - 16); bit < 8 * size; bit++) one_flip(impl, size, otk, bit);
            for (size_t bit = 0; bit < 8 * (size - 16); bit += step) one_flip(impl, size, otk, bit);
        }
    }
    group_done("page kernels, every bit of a tag flipped: refused, page all zero");
}

/* The public functions, which go to the implementation in use. */
static void test_arguments(void) {
    static const size_t bad[] = {0, 1, 15, 16, 17, 31, 33, 40, 47, 49, 4095, 4097, LARGEST - 1};
    uint8_t otk[64];
    uint8_t *page = buffer + GUARD;
    test_bytes(otk, sizeof otk, 1);
    for (size_t i = 0; i < COUNT(bad); i++) {
        memset(buffer, 0xa5, sizeof buffer);
        CHECK(chacha20_poly1305_page_encrypt(page, bad[i], otk, 1) == -1, "encrypt took %d bytes", (int)bad[i]);
        CHECK(chacha20_poly1305_page_decrypt(page, bad[i], otk, 1) == -1, "decrypt took %d bytes", (int)bad[i]);
        CHECK(all_bytes(buffer, sizeof buffer, 0xa5), "a page of %d bytes was touched", (int)bad[i]);
    }
    CHECK(chacha20_poly1305_page_encrypt(NULL, 4096, otk, 1) == -1, "encrypt took NULL");
    CHECK(chacha20_poly1305_page_decrypt(NULL, 4096, otk, 1) == -1, "decrypt took NULL");
    memset(buffer, 0xa5, sizeof buffer);
    CHECK(chacha20_poly1305_page_encrypt(page, 4096, NULL, 1) == -1, "encrypt took a NULL key");
    CHECK(chacha20_poly1305_page_decrypt(page, 4096, NULL, 1) == -1, "decrypt took a NULL key");
    CHECK(all_bytes(buffer, sizeof buffer, 0xa5), "a page without key was touched");

    test_bytes(plain, 4096, 2);
    twin_encrypt(4096, otk, 1);
    memcpy(page, plain, 4096);
    CHECK(chacha20_poly1305_page_encrypt(page, 4096, otk, 1) == 0 && memcmp(page, want, 4096) == 0, "encrypt");
    CHECK(chacha20_poly1305_page_decrypt(page, 4096, otk, 1) == 0 && memcmp(page, plain, 4080 - 16) == 0, "decrypt");
    CHECK(chacha20_poly1305_page_decrypt(page, 4096, otk, 1) == 1 && all_bytes(page, 4096, 0), "decrypt twice");
    group_done("C41 page kernels, bad arguments are refused and the page untouched");
}

/* Decrypt or encrypt what lies at page[offset..) as formats.md 3 says; 1: wrong tag. */
static int example_decrypt(const page_example *e, uint8_t *page, const uint8_t otk[64]) {
    size_t n = e->size - 32;
    uint8_t tag[16];
    if (e->offset == 0) return chacha20_poly1305_page_decrypt(page, e->size, otk, e->counter + 1);
    poly1305(tag, page, e->size - 16, otk);
    chacha20_xor(page + e->offset, n - e->offset, otk + 32, page + n, e->counter + 1);
    return memcmp(tag, page + n + 16, 16) != 0;
}

static void test_examples(void) {
    static const uint8_t magic[16] = "SQLite format 3";
    for (size_t i = 0; i < COUNT(page_examples); i++) {
        const page_example *e = &page_examples[i];
        uint8_t key[32], nonce[16], otk[64], want_otk[64], bytes[48], digest[32];
        size_t n = e->size - 32;
        memcpy(want, e->stored, e->size);
        unhex(key, sizeof key, e->key);
        unhex(nonce, sizeof nonce, e->nonce);
        unhex(want_otk, sizeof want_otk, e->otk);
        CHECK(memcmp(want + n, nonce, 16) == 0, "%s: nonce", e->id);
        CHECK((load32_le(nonce + 12) ^ e->number) == e->counter, "%s: counter", e->id);
        chacha20_block(key, nonce, e->counter, otk);
        CHECK(memcmp(otk, want_otk, 64) == 0, "%s: one-time key", e->id);

        CHECK(example_decrypt(e, want, otk) == 0, "%s: tag", e->id);
        memcpy(plain, want, e->size);
        if (e->number == 1) memcpy(plain, magic, 16);
        unhex(bytes, 48, e->plain_first48);
        CHECK(memcmp(plain, bytes, 48) == 0, "%s: first bytes", e->id);
        unhex(bytes, 16, e->plain_last16);
        CHECK(memcmp(plain + n - 16, bytes, 16) == 0, "%s: last bytes", e->id);
        sha256(digest, plain, n);
        unhex(bytes, 32, e->plain_sha256);
        CHECK(memcmp(digest, bytes, 32) == 0, "%s: SHA-256 of the plaintext", e->id);

        /* And back: the same bytes. Page 1 keeps its salt before the tag is made. */
        if (e->number != 1) {
            CHECK(chacha20_poly1305_page_encrypt(plain, e->size, otk, e->counter + 1) == 0, "%s: encrypt", e->id);
        } else {
            chacha20_xor(plain + e->offset, n - e->offset, otk + 32, nonce, e->counter + 1);
            memcpy(plain, e->stored, 16);
            poly1305(plain + n + 16, plain, n + 16, otk);
        }
        CHECK(memcmp(plain, e->stored, e->size) == 0, "%s: encrypted again, it differs", e->id);
    }
    group_done("pages of databases that the reference wrote: decrypted, encrypted again");
}

void test_pages(void) {
    test_examples();
    test_sizes();
    test_counters();
    test_alignment();
    test_flips();
    test_arguments();
}
