/*
** The compression function of Argon2 with WebAssembly SIMD.
*/
#include <wasm_simd128.h>

#include "argon2id_impl.h"
#include "cpu.h"

typedef v128_t V;

#define V_LOAD(p) wasm_v128_load(p)
#define V_STORE(p, a) wasm_v128_store(p, a)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_ADD(a, b) wasm_i64x2_add(a, b)
#define V_ALIGN(a, b) wasm_i64x2_shuffle(a, b, 1, 2)
#define V_ROTR32(a) wasm_i32x4_shuffle(a, a, 1, 0, 3, 2)
#define V_ROTR24(a) wasm_i8x16_shuffle(a, a, 3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10)
#define V_ROTR16(a) wasm_i16x8_shuffle(a, a, 1, 2, 3, 0, 5, 6, 7, 4)
#define V_ROTR63(a) rotr63(a)

static inline V rotr63(V a) {
    return wasm_v128_or(wasm_i64x2_add(a, a), wasm_u64x2_shr(a, 63));
}

/* The low halves of two vectors make one. */
static inline void v_multiply(V m[2], const V a[2], const V b[2]) {
    V low_a = wasm_i32x4_shuffle(a[0], a[1], 0, 2, 4, 6);
    V low_b = wasm_i32x4_shuffle(b[0], b[1], 0, 2, 4, 6);
    m[0] = wasm_u64x2_extmul_low_u32x4(low_a, low_b);
    m[1] = wasm_u64x2_extmul_high_u32x4(low_a, low_b);
}

#define FILL_NAME argon2id_simd128
#define FILL_STRING "simd128"
#define FILL_CPU CPU_WASM_SIMD128

#include "argon2id_fill.h"
