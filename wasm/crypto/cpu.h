/*
** What the processor that runs this code can do, asked of it at run time.
** Implemented by native/cpu.c and wasm/host/cpu_wasm.c.
**
** Three different questions are kept apart: what was compiled in (the tables of each primitive),
** what this machine has (here), and what is in use (the selector of each primitive).
*/
#ifndef SQLITE3MC_CPU_H
#define SQLITE3MC_CPU_H

#include <stdint.h>

enum {
    CPU_SSSE3 = 1u << 0,
    CPU_NEON = 1u << 1,
    CPU_WASM_SIMD128 = 1u << 2,
    CPU_WASM_RELAXED_SIMD = 1u << 3,
    CPU_AESNI = 1u << 4,
    CPU_ARM_AES = 1u << 5
};

/* The CPU_* bits of this machine. The answer never changes within a process. */
uint32_t cpu_features(void);

/* The name of one CPU_* bit, in lower case; NULL if the bit has no name. */
const char *cpu_feature_name(uint32_t bit);

#endif
