/*
** ChaCha20-Poly1305 with WebAssembly SIMD; with -mrelaxed-simd the rotations by 16 and 8 take one
** instruction less. Every lane index is below 16, so the relaxed swizzle gives the same result everywhere.
*/
#include <wasm_simd128.h>

#include "chacha20_poly1305_impl.h"

typedef v128_t V;

typedef struct {
    V rotl16, rotl8;
} v_masks;

#define V_LOAD(p) wasm_v128_load(p)
#define V_STORE(p, v) wasm_v128_store(p, v)
#define V_SPLAT(x) wasm_u32x4_splat(x)
#define V_SET(a, b, c, d) wasm_u32x4_make(a, b, c, d)
#define V_ADD(a, b) wasm_i32x4_add(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_ROTL_HIGH(b, n) wasm_i32x4_shl(b, n)
#define V_ROTL_LOW(b, n) wasm_u32x4_shr(b, 32 - (n))
#define V_ROTL_JOIN(b, h, n) wasm_v128_or(b, h)
#define V_ZIP_LOW32(a, b) wasm_i32x4_shuffle(a, b, 0, 4, 1, 5)
#define V_ZIP_HIGH32(a, b) wasm_i32x4_shuffle(a, b, 2, 6, 3, 7)
#define V_ZIP_LOW64(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
#define V_ZIP_HIGH64(a, b) wasm_i64x2_shuffle(a, b, 1, 3)
#define V_PIN(v) __asm__ volatile("" : "+r"(v))

#if defined(__wasm_relaxed_simd__)
#define V_SWIZZLE(v, mask) wasm_i8x16_relaxed_swizzle(v, mask)
#define FUSED_STRING "simd128-relaxed"
#define FUSED_CPU (CPU_WASM_SIMD128 | CPU_WASM_RELAXED_SIMD)
#else
#define V_SWIZZLE(v, mask) wasm_i8x16_swizzle(v, mask)
#define FUSED_STRING "simd128"
#define FUSED_CPU CPU_WASM_SIMD128
#endif
#define FUSED_NAME chacha20_poly1305_simd128

#define V_ROTL16(d, masks) V_SWIZZLE(d, (masks).rotl16)
#define V_ROTL8(d, masks) V_SWIZZLE(d, (masks).rotl8)

/* Pinned, so that LLVM keeps each mask in a local. V8 sees the constant behind it and leaves out the range
** check of the indices, which costs an instruction at each swizzle; without the pin LLVM puts the constant
** itself at each use, and V8 builds it anew there. */
static inline v_masks v_rotation_masks(void) {
    V rotl16 = wasm_i8x16_const(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    V rotl8 = wasm_i8x16_const(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
    V_PIN(rotl16);
    V_PIN(rotl8);
    return (v_masks){rotl16, rotl8};
}

#include "chacha20_poly1305_fused.h"
