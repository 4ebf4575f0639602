/*
** ChaCha20-Poly1305: argument checks and the choice of an implementation.
**
** The choice is made once, at the first call, from what is compiled in and what the machine has.
** Two threads that make it at the same time come to the same answer, so a plain atomic pointer is
** enough.
*/
#include "chacha20_poly1305.h"

#include <stdatomic.h>
#include <string.h>

#include "chacha20_poly1305_impl.h"
#include "cpu.h"

static const chacha20_poly1305_impl *const compiled[] = {
#if defined(__wasm_simd128__)
    &chacha20_poly1305_simd128,
#elif defined(__x86_64__) || defined(_M_X64)
    &chacha20_poly1305_ssse3,
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
    &chacha20_poly1305_neon,
#endif
    &chacha20_poly1305_scalar,
};

#define COMPILED (sizeof compiled / sizeof compiled[0])

static _Atomic(const chacha20_poly1305_impl *) chosen;

const chacha20_poly1305_impl *chacha20_poly1305_compiled(unsigned i) {
    return i < COMPILED ? compiled[i] : NULL;
}

/* The last one is portable: it needs nothing. */
static const chacha20_poly1305_impl *best(void) {
    uint32_t have = cpu_features();
    unsigned i = 0;
    while (i + 1 < COMPILED && (compiled[i]->cpu & ~have) != 0) i++;
    return compiled[i];
}

const chacha20_poly1305_impl *chacha20_poly1305_in_use(void) {
    const chacha20_poly1305_impl *impl = atomic_load_explicit(&chosen, memory_order_relaxed);
    const chacha20_poly1305_impl *none = NULL;
    if (impl != NULL) return impl;
    impl = best();
    /* Another thread may have forced one meanwhile. */
    if (!atomic_compare_exchange_strong_explicit(&chosen, &none, impl, memory_order_relaxed, memory_order_relaxed))
        impl = none;
    return impl;
}

int chacha20_poly1305_force(const char *name) {
    const chacha20_poly1305_impl *impl = name == NULL ? best() : NULL;
    for (unsigned i = 0; i < COMPILED && name != NULL; i++) {
        if (strcmp(compiled[i]->name, name) == 0 && (compiled[i]->cpu & ~cpu_features()) == 0) impl = compiled[i];
    }
    if (impl == NULL) return -1;
    atomic_store_explicit(&chosen, impl, memory_order_relaxed);
    return 0;
}

void chacha20_block(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, uint8_t out[64]) {
    chacha20_poly1305_in_use()->block(key, nonce, counter, out);
}

void chacha20_xor(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    if (n == 0) return;
    chacha20_poly1305_in_use()->xor_stream(buf, n, key, nonce, counter);
}

void poly1305(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]) {
    chacha20_poly1305_in_use()->poly1305(tag, msg, n, key);
}

static int page_arguments_ok(const uint8_t *page, size_t size, const uint8_t *otk) {
    return page != NULL && otk != NULL && size >= 32 && size % 16 == 0;
}

int chacha20_poly1305_page_encrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    if (!page_arguments_ok(page, size, otk)) return -1;
    chacha20_poly1305_in_use()->page_encrypt(page, size, otk, counter);
    return 0;
}

int chacha20_poly1305_page_decrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    if (!page_arguments_ok(page, size, otk)) return -1;
    return chacha20_poly1305_in_use()->page_decrypt(page, size, otk, counter);
}
