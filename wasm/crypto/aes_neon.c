/*
** AES and AEGIS by vector permutation with NEON, for little-endian AArch64 without AES instructions.
*/
#include <arm_neon.h>

#include <stdint.h>

typedef uint8x16_t vec;

static inline vec vec_load(const uint8_t *p) {
    return vld1q_u8(p);
}

static inline void vec_store(uint8_t *p, vec v) {
    vst1q_u8(p, v);
}

static inline vec vec_xor(vec a, vec b) {
    return veorq_u8(a, b);
}

static inline vec vec_and(vec a, vec b) {
    return vandq_u8(a, b);
}

static inline vec vec_low(vec v, vec f) {
    return vandq_u8(v, f);
}

static inline vec vec_high(vec v, vec f) {
    (void)f;
    return vshrq_n_u8(v, 4);
}

/* Zero at every index from 16. */
static inline vec vec_lookup(vec table, vec index) {
    return vqtbl1q_u8(table, index);
}

#define VEC_PIN(v)
#define PIN_TABLE(p)
#define VPERM_NAME aes_neon
#define VPERM_STRING "neon"
#define VPERM_CPU CPU_NEON

#include "aes_vperm.h"
