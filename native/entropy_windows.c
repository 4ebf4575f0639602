/*
** Entropy from Windows: BCryptGenRandom with the system's preferred generator.
*/
#include "entropy.h"

#include <windows.h>

#include <bcrypt.h>

#include "secure.h"

int entropy_get(uint8_t *out, size_t n) {
    uint8_t *p = out;
    size_t left = n;
    while (left > 0) {
        ULONG part = left < 0x10000000 ? (ULONG)left : 0x10000000;
        if (BCryptGenRandom(NULL, p, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0) {
            secure_zero(out, n);
            return -1;
        }
        p += part;
        left -= part;
    }
    return 0;
}

/* Windows processes do not fork. */
uint64_t entropy_process(void) {
    return 0;
}
