/*
** A module that the engine accepted runs on a machine that has what it was compiled for: there is
** nothing to detect, the choice was made by which .wasm was loaded.
*/
#include "cpu.h"

#include <stddef.h>

enum {
    HAVE = 0
#if defined(__wasm_simd128__)
           | CPU_WASM_SIMD128
#endif
#if defined(__wasm_relaxed_simd__)
           | CPU_WASM_RELAXED_SIMD
#endif
};

uint32_t cpu_features(void) {
    return HAVE;
}

const char *cpu_feature_name(uint32_t bit) {
    if (bit == CPU_WASM_SIMD128) return "simd128";
    if (bit == CPU_WASM_RELAXED_SIMD) return "relaxed-simd";
    return NULL;
}
