/*
** Raw keys: passwords that are the key itself (scheme.h lists the forms). The forms are those of
** SQLite3 Multiple Ciphers, with raw:hex: and raw:bin: added, which say what they are.
**
** Parsing a key is not constant time in the position of a non-hex character.
*/
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

static int hex_value(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

int mc_hex_decode(const char *zHex, size_t n, uint8_t *aOut) {
    if (n % 2) return 0;
    for (size_t i = 0; i < n; i += 2) {
        int hi = hex_value((unsigned char)zHex[i]);
        int lo = hex_value((unsigned char)zHex[i + 1]);
        if (hi < 0 || lo < 0) {
            secure_zero(aOut, n / 2);
            return 0;
        }
        aOut[i / 2] = (uint8_t)(hi << 4 | lo);
    }
    return 1;
}

/* n bytes that are a key, or a key and a salt. */
static int from_binary(const uint8_t *a, size_t n, uint8_t *aKey, size_t nKey, uint8_t *aSalt) {
    if (n != nKey && n != nKey + MC_SALT_SIZE) return MC_RAW_NONE;
    if (aKey) memcpy(aKey, a, nKey);
    if (n == nKey) return MC_RAW_KEY;
    if (aSalt) memcpy(aSalt, a + nKey, MC_SALT_SIZE);
    return MC_RAW_KEY_SALT;
}

/* The same in hex. */
static int from_hex(const uint8_t *a, size_t n, uint8_t *aKey, size_t nKey, uint8_t *aSalt) {
    uint8_t aBin[64 + MC_SALT_SIZE];
    int rc = MC_RAW_NONE;
    if (n != 2 * nKey && n != 2 * (nKey + MC_SALT_SIZE)) return MC_RAW_NONE;
    if (n / 2 <= sizeof(aBin) && mc_hex_decode((const char *)a, n, aBin)) {
        rc = from_binary(aBin, n / 2, aKey, nKey, aSalt);
    }
    secure_zero(aBin, sizeof(aBin));
    return rc;
}

int mc_raw_key(const uint8_t *a, size_t n, uint8_t *aKey, size_t nKey, uint8_t aSalt[MC_SALT_SIZE]) {
    int rc;
    if (n >= 8 && memcmp(a, "raw:hex:", 8) == 0) {
        rc = from_hex(a + 8, n - 8, aKey, nKey, aSalt);
        return rc == MC_RAW_NONE ? MC_RAW_MALFORMED : rc;
    }
    if (n >= 8 && memcmp(a, "raw:bin:", 8) == 0) {
        rc = from_binary(a + 8, n - 8, aKey, nKey, aSalt);
        return rc == MC_RAW_NONE ? MC_RAW_MALFORMED : rc;
    }
    if (n >= 4 && memcmp(a, "raw:", 4) == 0) {
        rc = from_binary(a + 4, n - 4, aKey, nKey, aSalt);
        return rc == MC_RAW_NONE ? from_hex(a + 4, n - 4, aKey, nKey, aSalt) : rc;
    }
    if (n >= 3 && (a[0] == 'x' || a[0] == 'X') && a[1] == '\'') {
        return from_hex(a + 2, n - 3, aKey, nKey, aSalt);
    }
    return MC_RAW_NONE;
}
