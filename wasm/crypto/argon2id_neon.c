/*
** The compression function of Argon2 with NEON, for little-endian AArch64.
*/
#include <arm_neon.h>

#include "argon2id_impl.h"
#include "cpu.h"

typedef uint64x2_t V;

#define V_LOAD(p) vld1q_u64(p)
#define V_STORE(p, a) vst1q_u64(p, a)
#define V_XOR(a, b) veorq_u64(a, b)
#define V_ADD(a, b) vaddq_u64(a, b)
#define V_ALIGN(a, b) vextq_u64(a, b, 1)
#define V_ROTR32(a) vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(a)))
#define V_ROTR24(a) vsriq_n_u64(vshlq_n_u64(a, 40), a, 24)
#define V_ROTR16(a) vsriq_n_u64(vshlq_n_u64(a, 48), a, 16)
#define V_ROTR63(a) vsriq_n_u64(vaddq_u64(a, a), a, 63)

/* The low halves of two vectors make one. */
static inline void v_multiply(V m[2], const V a[2], const V b[2]) {
    uint32x4_t low_a = vuzp1q_u32(vreinterpretq_u32_u64(a[0]), vreinterpretq_u32_u64(a[1]));
    uint32x4_t low_b = vuzp1q_u32(vreinterpretq_u32_u64(b[0]), vreinterpretq_u32_u64(b[1]));
    m[0] = vmull_u32(vget_low_u32(low_a), vget_low_u32(low_b));
    m[1] = vmull_high_u32(low_a, low_b);
}

#define FILL_NAME argon2id_neon
#define FILL_STRING "neon"
#define FILL_CPU CPU_NEON

#include "argon2id_fill.h"
