/*
** ChaCha20 and Poly1305 once more, straight from the text of RFC 8439: slow, with other arithmetic than
** the implementations under test, and for nothing but to be compared with.
*/
#include <string.h>

#include "cryptotest.h"

static uint32_t word(const uint8_t *p) {
    return (uint32_t)p[0] + 256u * ((uint32_t)p[1] + 256u * ((uint32_t)p[2] + 256u * (uint32_t)p[3]));
}

/* RFC 8439 2.1 on the state's words a, b, c, d. */
static void quarter_round(uint32_t *s, int a, int b, int c, int d) {
    static const int turn[4] = {16, 12, 8, 7};
    for (int i = 0; i < 4; i++) {
        int to = i % 2 == 0 ? a : c;
        int from = i % 2 == 0 ? b : d;
        int mixed = i % 2 == 0 ? d : b;
        s[to] += s[from];
        s[mixed] ^= s[to];
        s[mixed] = (uint32_t)((((uint64_t)s[mixed] << 32 | s[mixed]) << turn[i]) >> 32);
    }
}

void twin_chacha20_xor(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    for (size_t at = 0; at < n; at += 64, counter++) {
        uint32_t input[16], s[16];
        for (int i = 0; i < 4; i++) input[i] = word((const uint8_t *)"expand 32-byte k" + 4 * i);
        for (int i = 0; i < 8; i++) input[4 + i] = word(key + 4 * i);
        input[12] = counter;
        for (int i = 0; i < 3; i++) input[13 + i] = word(nonce + 4 * i);
        memcpy(s, input, sizeof s);
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 4; i++) {
                int k = round % 2;
                quarter_round(s, i, 4 + (i + k) % 4, 8 + (i + 2 * k) % 4, 12 + (i + 3 * k) % 4);
            }
        }
        for (size_t i = 0; i < 64 && at + i < n; i++) {
            buf[at + i] ^= (uint8_t)((s[i / 4] + input[i / 4]) >> 8 * (i % 4));
        }
    }
}

/* Poly1305 on bytes: numbers of 17 digits to the base 256, h*r by hand, and 2^130 = 5. */
void twin_poly1305(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]) {
    uint32_t h[17] = {0}, r[17] = {0}, f;
    for (int i = 0; i < 16; i++) r[i] = key[i];
    for (int i = 3; i < 16; i += 4) r[i] &= 15;
    for (int i = 4; i < 16; i += 4) r[i] &= 252;

    for (size_t at = 0; at < n; at += 16) {
        uint32_t product[34] = {0};
        size_t part = n - at < 16 ? n - at : 16;
        for (size_t i = 0; i < part; i++) h[i] += msg[at + i];
        h[part] += 1;
        for (int i = 0; i < 17; i++) {
            for (int j = 0; j < 17; j++) product[i + j] += h[i] * r[j];
        }
        for (int i = 0; i < 33; i++) {
            product[i + 1] += product[i] >> 8;
            product[i] &= 255;
        }
        /* What stands above bit 130, digits 16.25 and on, comes in again five times at the bottom; twice. */
        for (int again = 0; again < 2; again++) {
            uint32_t high[18];
            for (int i = 0; i < 17; i++) high[i] = product[16 + i] >> 2 | (product[17 + i] & 3) << 6;
            product[16] &= 3;
            memset(product + 17, 0, 17 * sizeof product[0]);
            f = 0;
            for (int i = 0; i < 17; i++) {
                f += product[i] + 5 * high[i];
                product[i] = f & 255;
                f >>= 8;
            }
        }
        memcpy(h, product, sizeof h);
    }

    /* h mod p: h + 5 - 2^130 if that is not negative. */
    uint32_t g[17];
    f = 5;
    for (int i = 0; i < 17; i++) {
        f += h[i];
        g[i] = f & 255;
        f >>= 8;
    }
    if ((g[16] >> 2) != 0) memcpy(h, g, sizeof h);
    f = 0;
    for (int i = 0; i < 16; i++) {
        f += h[i] + key[16 + i];
        tag[i] = (uint8_t)f;
        f >>= 8;
    }
}
