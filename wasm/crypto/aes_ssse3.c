/*
** AES and AEGIS by vector permutation with SSSE3, for x86-64. Compile with -mssse3.
*/
#include <tmmintrin.h>

#include <stdint.h>

typedef __m128i vec;

static inline vec vec_load(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *)p);
}

static inline void vec_store(uint8_t *p, vec v) {
    _mm_storeu_si128((__m128i *)p, v);
}

static inline vec vec_xor(vec a, vec b) {
    return _mm_xor_si128(a, b);
}

static inline vec vec_and(vec a, vec b) {
    return _mm_and_si128(a, b);
}

static inline vec vec_low(vec v, vec f) {
    return _mm_and_si128(v, f);
}

static inline vec vec_high(vec v, vec f) {
    return _mm_and_si128(_mm_srli_epi16(v, 4), f);
}

static inline vec vec_lookup(vec table, vec index) {
    return _mm_shuffle_epi8(table, index);
}

#define VEC_PIN(v)
#define PIN_TABLE(p)
#define VPERM_NAME aes_ssse3
#define VPERM_STRING "ssse3"
#define VPERM_CPU CPU_SSSE3

#include "aes_vperm.h"
