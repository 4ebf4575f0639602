/*
** ChaCha20-Poly1305 with SSSE3, for x86-64. Compile with -mssse3.
*/
#include <tmmintrin.h>

#include "chacha20_poly1305_impl.h"

typedef __m128i V;

typedef struct {
    V rotl16, rotl8;
} v_masks;

#define V_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define V_STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define V_SPLAT(x) _mm_set1_epi32((int)(x))
#define V_SET(a, b, c, d) _mm_setr_epi32((int)(a), (int)(b), (int)(c), (int)(d))
#define V_ADD(a, b) _mm_add_epi32(a, b)
#define V_XOR(a, b) _mm_xor_si128(a, b)
#define V_ROTL_HIGH(b, n) _mm_slli_epi32(b, n)
#define V_ROTL_LOW(b, n) _mm_srli_epi32(b, 32 - (n))
#define V_ROTL_JOIN(b, h, n) _mm_or_si128(b, h)
#define V_ROTL16(d, masks) _mm_shuffle_epi8(d, (masks).rotl16)
#define V_ROTL8(d, masks) _mm_shuffle_epi8(d, (masks).rotl8)
#define V_ZIP_LOW32(a, b) _mm_unpacklo_epi32(a, b)
#define V_ZIP_HIGH32(a, b) _mm_unpackhi_epi32(a, b)
#define V_ZIP_LOW64(a, b) _mm_unpacklo_epi64(a, b)
#define V_ZIP_HIGH64(a, b) _mm_unpackhi_epi64(a, b)

#if defined(__GNUC__)
#define V_PIN(v) __asm__ volatile("" : "+x"(v))
#else
#define V_PIN(v)
#endif

#define FUSED_NAME chacha20_poly1305_ssse3
#define FUSED_STRING "ssse3"
#define FUSED_CPU CPU_SSSE3

static inline v_masks v_rotation_masks(void) {
    return (v_masks){_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13),
                     _mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14)};
}

#include "chacha20_poly1305_fused.h"
