/*
** ChaCha20-Poly1305: argument checks and the choice of an implementation.
**
** The choice is made once, at the first call, from what is compiled in and what the machine has.
** Two threads that make it at the same time come to the same answer, so a plain atomic pointer is
** enough.
*/
#include "chacha20_poly1305.h"

#include <stdatomic.h>

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

const chacha20_poly1305_impl *chacha20_poly1305_compiled(unsigned i) {
    return i < sizeof compiled / sizeof compiled[0] ? compiled[i] : NULL;
}

const chacha20_poly1305_impl *chacha20_poly1305_in_use(void) {
    static _Atomic(const chacha20_poly1305_impl *) chosen;
    const chacha20_poly1305_impl *impl = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (impl != NULL) return impl;
    uint32_t have = cpu_features();
    /* The last one is portable: it needs nothing. */
    unsigned i = 0;
    while (i + 1 < sizeof compiled / sizeof compiled[0] && (compiled[i]->cpu & ~have) != 0) i++;
    atomic_store_explicit(&chosen, compiled[i], memory_order_relaxed);
    return compiled[i];
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
