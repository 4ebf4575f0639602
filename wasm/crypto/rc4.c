/*
** RC4, as described in RFC 6229 and its sources.
*/
#include "rc4.h"

#include "secure.h"

static void swap(uint8_t *a, uint8_t *b) {
    uint8_t t = *a;
    *a = *b;
    *b = t;
}

void rc4_xor(uint8_t *buf, size_t n, const uint8_t *key, size_t key_size) {
    uint8_t s[256], j = 0;
    for (int i = 0; i < 256; i++) s[i] = (uint8_t)i;
    for (size_t i = 0; i < 256; i++) {
        j = (uint8_t)(j + s[i] + key[i % key_size]);
        swap(&s[i], &s[j]);
    }
    j = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t *a = &s[(i + 1) % 256];
        j = (uint8_t)(j + *a);
        swap(a, &s[j]);
        buf[i] ^= s[(uint8_t)(*a + s[j])];
    }
    secure_zero(s, sizeof s);
}
