/*
** Wiping and constant-time comparison of secrets.
*/
#include "secure.h"

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)

/* The empty asm takes the address and clobbers memory: the stores before it are observable, so
** neither dead-store elimination nor link-time optimization may drop them. */
void secure_zero(void *p, size_t n) {
    if (n == 0) return;
    memset(p, 0, n);
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

#else

void secure_zero(void *p, size_t n) {
    volatile uint8_t *v = (volatile uint8_t *)p;
    while (n-- > 0) *v++ = 0;
}

#endif

/* The accumulated difference is 0..255, so (d - 1) >> 8 has bit 0 set for d == 0 only. The volatile
** accumulator keeps the compiler from leaving the loop at the first difference. */
int secure_equal(const void *a, const void *b, size_t n) {
    const uint8_t *x = (const uint8_t *)a;
    const uint8_t *y = (const uint8_t *)b;
    volatile uint32_t d = 0;
    for (size_t i = 0; i < n; i++) d |= (uint32_t)(x[i] ^ y[i]);
    return (int)((d - 1) >> 8 & 1);
}
