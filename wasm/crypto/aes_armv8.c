/*
** AES and AEGIS with the AES instructions of little-endian AArch64. Compile with -march=armv8-a+crypto.
**
** AESE adds the key before SubBytes and ShiftRows, and AESMC is a step of its own.
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

static inline vec vec_lookup(vec table, vec index) {
    return vqtbl1q_u8(table, index);
}

static inline vec last_round(vec x) {
    return vaeseq_u8(x, vdupq_n_u8(0));
}

static inline vec full_round(vec x, vec key) {
    return veorq_u8(vaesmcq_u8(last_round(x)), key);
}

static inline vec inverse_mix_columns(vec x) {
    return vaesimcq_u8(x);
}

static inline void encrypt_blocks(vec *x, const int n, const uint8_t *keys, int rounds) {
    for (int r = 0; r < rounds - 1; r++, keys += 16) {
        const vec key = vec_load(keys);
        for (int b = 0; b < n; b++) x[b] = vaesmcq_u8(vaeseq_u8(x[b], key));
    }
    for (int b = 0; b < n; b++) x[b] = veorq_u8(vaeseq_u8(x[b], vec_load(keys)), vec_load(keys + 16));
}

static inline void decrypt_blocks(vec *x, const int n, const uint8_t *keys, int rounds) {
    for (int r = 0; r < rounds - 1; r++, keys += 16) {
        const vec key = vec_load(keys);
        for (int b = 0; b < n; b++) x[b] = vaesimcq_u8(vaesdq_u8(x[b], key));
    }
    for (int b = 0; b < n; b++) x[b] = veorq_u8(vaesdq_u8(x[b], vec_load(keys)), vec_load(keys + 16));
}

#define HARDWARE_NAME aes_armv8
#define HARDWARE_STRING "armv8"
#define HARDWARE_CPU (CPU_ARM_AES | CPU_NEON)

#include "aes_hardware.h"
