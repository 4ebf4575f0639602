/*
** The compression function of Argon2 with SSSE3, for x86-64. Compile with -mssse3.
*/
#include <tmmintrin.h>

#include "argon2id_impl.h"
#include "cpu.h"

typedef __m128i V;

#define V_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define V_STORE(p, a) _mm_storeu_si128((__m128i *)(p), a)
#define V_XOR(a, b) _mm_xor_si128(a, b)
#define V_ADD(a, b) _mm_add_epi64(a, b)
#define V_ALIGN(a, b) _mm_alignr_epi8(b, a, 8)
#define V_ROTR32(a) _mm_shuffle_epi32(a, _MM_SHUFFLE(2, 3, 0, 1))
#define V_ROTR24(a) _mm_shuffle_epi8(a, _mm_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10))
#define V_ROTR16(a) _mm_shuffle_epi8(a, _mm_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9))
#define V_ROTR63(a) rotr63(a)

static inline V rotr63(V a) {
    return _mm_or_si128(_mm_add_epi64(a, a), _mm_srli_epi64(a, 63));
}

static inline void v_multiply(V m[2], const V a[2], const V b[2]) {
    m[0] = _mm_mul_epu32(a[0], b[0]);
    m[1] = _mm_mul_epu32(a[1], b[1]);
}

#define FILL_NAME argon2id_ssse3
#define FILL_STRING "ssse3"
#define FILL_CPU CPU_SSSE3

#include "argon2id_fill.h"
