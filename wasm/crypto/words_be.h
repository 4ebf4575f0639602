/*
** Arrays of big-endian words at any address. WebAssembly has no instruction that turns the bytes of a word round,
** which costs a tenth of a hash; a shuffle turns 16 bytes at once.
*/
#ifndef SQLITE3MC_WORDS_BE_H
#define SQLITE3MC_WORDS_BE_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#if defined(__wasm_simd128__)

#include <wasm_simd128.h>

/* How many words were done: a multiple of 4. */
static inline size_t turn_words32(void *out, const void *in, size_t count) {
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        v128_t v = wasm_v128_load((const uint8_t *)in + 4 * i);
        wasm_v128_store((uint8_t *)out + 4 * i,
                        wasm_i8x16_shuffle(v, v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    }
    return i;
}

/* How many words were done: a multiple of 2. */
static inline size_t turn_words64(void *out, const void *in, size_t count) {
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        v128_t v = wasm_v128_load((const uint8_t *)in + 8 * i);
        wasm_v128_store((uint8_t *)out + 8 * i,
                        wasm_i8x16_shuffle(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    }
    return i;
}

#else

static inline size_t turn_words32(void *out, const void *in, size_t count) {
    (void)out, (void)in, (void)count;
    return 0;
}

static inline size_t turn_words64(void *out, const void *in, size_t count) {
    (void)out, (void)in, (void)count;
    return 0;
}

#endif

static inline void load_words32_be(uint32_t *out, const uint8_t *p, size_t count) {
    for (size_t i = turn_words32(out, p, count); i < count; i++) out[i] = load32_be(p + 4 * i);
}

static inline void load_words64_be(uint64_t *out, const uint8_t *p, size_t count) {
    for (size_t i = turn_words64(out, p, count); i < count; i++) out[i] = load64_be(p + 8 * i);
}

static inline void store_words64_be(uint8_t *p, const uint64_t *in, size_t count) {
    for (size_t i = turn_words64(p, in, count); i < count; i++) store64_be(p + 8 * i, in[i]);
}

#endif
