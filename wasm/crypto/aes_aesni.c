/*
** AES and AEGIS with the AES instructions of x86-64. Compile with -maes -mssse3.
*/
#include <tmmintrin.h>
#include <wmmintrin.h>

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

static inline vec vec_lookup(vec table, vec index) {
    return _mm_shuffle_epi8(table, index);
}

static inline vec full_round(vec x, vec key) {
    return _mm_aesenc_si128(x, key);
}

static inline vec last_round(vec x) {
    return _mm_aesenclast_si128(x, _mm_setzero_si128());
}

static inline vec inverse_mix_columns(vec x) {
    return _mm_aesimc_si128(x);
}

static inline void encrypt_blocks(vec *x, const int n, const uint8_t *keys, int rounds) {
    for (int b = 0; b < n; b++) x[b] = vec_xor(x[b], vec_load(keys));
    for (int r = 1; r < rounds; r++) {
        const vec key = vec_load(keys + 16 * r);
        for (int b = 0; b < n; b++) x[b] = _mm_aesenc_si128(x[b], key);
    }
    for (int b = 0; b < n; b++) x[b] = _mm_aesenclast_si128(x[b], vec_load(keys + 16 * rounds));
}

static inline void decrypt_blocks(vec *x, const int n, const uint8_t *keys, int rounds) {
    for (int b = 0; b < n; b++) x[b] = vec_xor(x[b], vec_load(keys));
    for (int r = 1; r < rounds; r++) {
        const vec key = vec_load(keys + 16 * r);
        for (int b = 0; b < n; b++) x[b] = _mm_aesdec_si128(x[b], key);
    }
    for (int b = 0; b < n; b++) x[b] = _mm_aesdeclast_si128(x[b], vec_load(keys + 16 * rounds));
}

#define HARDWARE_NAME aes_aesni
#define HARDWARE_STRING "aesni"
#define HARDWARE_CPU (CPU_AESNI | CPU_SSSE3)

#include "aes_hardware.h"
