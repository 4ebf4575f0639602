/*
** AES and AEGIS by vector permutation with WebAssembly SIMD. With -mrelaxed-simd a look-up is one instruction:
** its indices are below 16 or above 127, so the relaxed swizzle gives the same result everywhere.
*/
#include <wasm_simd128.h>

#include <stdint.h>

typedef v128_t vec;

static inline vec vec_load(const uint8_t *p) {
    return wasm_v128_load(p);
}

static inline void vec_store(uint8_t *p, vec v) {
    wasm_v128_store(p, v);
}

static inline vec vec_xor(vec a, vec b) {
    return wasm_v128_xor(a, b);
}

static inline vec vec_and(vec a, vec b) {
    return wasm_v128_and(a, b);
}

static inline vec vec_low(vec v, vec f) {
    return wasm_v128_and(v, f);
}

/* No shift of bytes: V8 masks after it, with a constant that it makes anew each time. */
static inline vec vec_high(vec v, vec f) {
    return wasm_v128_and(wasm_u16x8_shr(v, 4), f);
}

#if defined(__wasm_relaxed_simd__)

static inline vec vec_lookup(vec table, vec index) {
    return wasm_i8x16_relaxed_swizzle(table, index);
}

#define VPERM_STRING "simd128-relaxed"
#define VPERM_CPU (CPU_WASM_SIMD128 | CPU_WASM_RELAXED_SIMD)

#else

static inline vec vec_lookup(vec table, vec index) {
    return wasm_i8x16_swizzle(table, index);
}

#define VPERM_STRING "simd128"
#define VPERM_CPU CPU_WASM_SIMD128

#endif

#define VEC_PIN(v) __asm__ volatile("" : "+r"(v))

/* V8 would make a constant anew, with four instructions, at each use. A value that was loaded stays in a register
** or, where these do not suffice, on the stack. */
#define PIN_TABLE(p) __asm__("" : "+r"(p))
#define VPERM_NAME aes_simd128

#include "aes_vperm.h"
