/*
** Processor features of a native machine.
*/
#include "cpu.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* SSE registers are saved by every system that runs a program compiled for SSE2; on 32 bits SSE2
** itself is asked too. Leaf 1: EDX bit 26 SSE2, ECX bit 9 SSSE3. */
uint32_t cpu_features(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    return (d >> 26 & 1) && (c >> 9 & 1) ? CPU_SSSE3 : 0;
}

#elif defined(_M_X64) || defined(_M_IX86)

#include <intrin.h>

uint32_t cpu_features(void) {
    int r[4];
    __cpuid(r, 1);
    return (r[3] >> 26 & 1) && (r[2] >> 9 & 1) ? CPU_SSSE3 : 0;
}

#elif defined(__aarch64__) || defined(_M_ARM64)

/* Part of the base architecture that all AArch64 systems run. */
uint32_t cpu_features(void) {
    return CPU_NEON;
}

#else

uint32_t cpu_features(void) {
    return 0;
}

#endif

const char *cpu_feature_name(uint32_t bit) {
    if (bit == CPU_SSSE3) return "ssse3";
    if (bit == CPU_NEON) return "neon";
    return NULL;
}
