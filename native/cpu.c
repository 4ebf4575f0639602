/*
** Processor features of a native machine.
*/
#include "cpu.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)

/* CPUID leaf 1: EDX bit 26 SSE2, ECX bit 9 SSSE3, bit 25 AES. SSE registers are saved by every system that runs a
** program compiled for SSE2; on 32 bits SSE2 itself is asked too. */
static uint32_t features_of_leaf_1(uint32_t ecx, uint32_t edx) {
    if ((edx >> 26 & 1) == 0) return 0;
    return (ecx >> 9 & 1 ? CPU_SSSE3 : 0) | (ecx >> 25 & 1 ? CPU_AESNI : 0);
}

#endif

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

uint32_t cpu_features(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    return features_of_leaf_1(c, d);
}

#elif defined(_M_X64) || defined(_M_IX86)

#include <intrin.h>

uint32_t cpu_features(void) {
    int r[4];
    __cpuid(r, 1);
    return features_of_leaf_1((uint32_t)r[2], (uint32_t)r[3]);
}

#elif defined(__aarch64__) || defined(_M_ARM64)

#if defined(__linux__)

#include <sys/auxv.h>

/* HWCAP_AES of <asm/hwcap.h>, a header of the kernel. */
static int has_aes(void) {
    return (getauxval(AT_HWCAP) >> 3 & 1) != 0;
}

#elif defined(__APPLE__)

#include <sys/sysctl.h>

static int has_aes(void) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname("hw.optional.arm.FEAT_AES", &value, &size, NULL, 0) == 0 && value != 0;
}

#elif defined(_WIN32)

#include <windows.h>

/* PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE */
static int has_aes(void) {
    return IsProcessorFeaturePresent(30) != 0;
}

#else

static int has_aes(void) {
    return 0;
}

#endif

/* NEON is part of the base architecture that all AArch64 systems run. */
uint32_t cpu_features(void) {
    return CPU_NEON | (has_aes() ? CPU_ARM_AES : 0u);
}

#else

uint32_t cpu_features(void) {
    return 0;
}

#endif

const char *cpu_feature_name(uint32_t bit) {
    if (bit == CPU_SSSE3) return "ssse3";
    if (bit == CPU_NEON) return "neon";
    if (bit == CPU_AESNI) return "aesni";
    if (bit == CPU_ARM_AES) return "arm-aes";
    return NULL;
}
