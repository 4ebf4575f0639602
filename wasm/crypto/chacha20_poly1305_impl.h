/*
** The table that each implementation of ChaCha20-Poly1305 exports, and the selector's report.
**
** Functions of a table are called with checked arguments: pointers are not NULL, a page has a size
** that is a multiple of 16 and at least 32. Pointers may have any alignment.
*/
#ifndef SQLITE3MC_CHACHA20_POLY1305_IMPL_H
#define SQLITE3MC_CHACHA20_POLY1305_IMPL_H

#include <stddef.h>
#include <stdint.h>

typedef struct chacha20_poly1305_impl {
    const char *name;
    uint32_t cpu; /* CPU_* bits that the machine must have (cpu.h) */
    void (*block)(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, uint8_t out[64]);
    void (*xor_stream)(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
    void (*poly1305)(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]);
    void (*page_encrypt)(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter);
    int (*page_decrypt)(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter); /* 0 or 1 */
} chacha20_poly1305_impl;

extern const chacha20_poly1305_impl chacha20_poly1305_scalar;
extern const chacha20_poly1305_impl chacha20_poly1305_ssse3;
extern const chacha20_poly1305_impl chacha20_poly1305_neon;
extern const chacha20_poly1305_impl chacha20_poly1305_simd128;

/* Compiled in: the i-th table, best first; NULL after the last, which is always the scalar one. */
const chacha20_poly1305_impl *chacha20_poly1305_compiled(unsigned i);

/* In use: the first compiled table that this machine can run, or the one that was forced. */
const chacha20_poly1305_impl *chacha20_poly1305_in_use(void);

/* From now on the whole process uses the implementation of this name; NULL: the best again. 0, or -1: not
** compiled in, or not for this machine; nothing changes. */
int chacha20_poly1305_force(const char *name);

#endif
