/*
** ChaCha20-Poly1305 with NEON, for little-endian AArch64. Rotations: by 16 a reversal of half words, by 8
** a table look-up of bytes, by 12 and 7 a shift and a shift that inserts.
*/
#include <arm_neon.h>

#include "chacha20_poly1305_impl.h"

typedef uint32x4_t V;

typedef struct {
    uint8x16_t rotl8;
} v_masks;

#define V_LOAD(p) vreinterpretq_u32_u8(vld1q_u8((const uint8_t *)(p)))
#define V_STORE(p, v) vst1q_u8((uint8_t *)(p), vreinterpretq_u8_u32(v))
#define V_SPLAT(x) vdupq_n_u32(x)
#define V_SET(a, b, c, d) ((V){a, b, c, d})
#define V_ADD(a, b) vaddq_u32(a, b)
#define V_XOR(a, b) veorq_u32(a, b)
#define V_ROTL_HIGH(b, n) vshlq_n_u32(b, n)
#define V_ROTL_LOW(b, n) (b)
#define V_ROTL_JOIN(b, h, n) vsriq_n_u32(h, b, 32 - (n))
#define V_ROTL16(d, masks) vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(d)))
#define V_ROTL8(d, masks) vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(d), (masks).rotl8))
#define V_ZIP_LOW32(a, b) vzip1q_u32(a, b)
#define V_ZIP_HIGH32(a, b) vzip2q_u32(a, b)
#define V_ZIP_LOW64(a, b) vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)))
#define V_ZIP_HIGH64(a, b) vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)))
#define V_PIN(v) __asm__ volatile("" : "+w"(v))

#define FUSED_NAME chacha20_poly1305_neon
#define FUSED_STRING "neon"
#define FUSED_CPU CPU_NEON

static inline v_masks v_rotation_masks(void) {
    static const uint8_t bytes[16] = {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};
    return (v_masks){vld1q_u8(bytes)};
}

#include "chacha20_poly1305_fused.h"
