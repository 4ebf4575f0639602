/*
** PBKDF2 (RFC 8018 5.2) with HMAC-SHA256.
**
** An iteration hashes one digest under a key that does not change. So both halves of the HMAC start
** from states that were made once, and each is a single call of the compression function on a block
** whose padding stays in place: two compressions an iteration, no byte handling.
*/
#include "pbkdf2.h"

#include <string.h>

#include "bytes.h"
#include "secure.h"
#include "sha256.h"

void pbkdf2_hmac_sha256(const uint8_t *password, size_t password_len, const uint8_t *salt, size_t salt_len,
                        uint32_t iterations, uint8_t *out, size_t outlen) {
    struct {
        hmac_sha256_state keyed, first;
        uint32_t inner[8], outer[8]; /* states after the block key XOR ipad, key XOR opad */
        uint32_t u[16];              /* a digest, then the padding of a message of 64 + 32 bytes */
        uint32_t h[8], t[8];
        uint8_t bytes[32];
    } w;

    hmac_sha256_init(&w.keyed, password, password_len);
    memcpy(w.inner, w.keyed.inner.h, sizeof w.inner);
    memcpy(w.outer, w.keyed.outer, sizeof w.outer);
    memset(w.u, 0, sizeof w.u);
    w.u[8] = 0x80000000;
    w.u[15] = (64 + 32) * 8;

    for (uint32_t block = 1; outlen > 0; block++) {
        uint8_t number[4];
        store32_be(number, block);
        w.first = w.keyed;
        hmac_sha256_update(&w.first, salt, salt_len);
        hmac_sha256_update(&w.first, number, sizeof number);
        hmac_sha256_final(&w.first, w.bytes);
        for (int i = 0; i < 8; i++) w.t[i] = w.u[i] = load32_be(w.bytes + 4 * i);

        for (uint32_t n = 1; n < iterations; n++) {
            memcpy(w.h, w.inner, sizeof w.h);
            sha256_compress(w.h, w.u);
            memcpy(w.u, w.h, sizeof w.h);
            memcpy(w.h, w.outer, sizeof w.h);
            sha256_compress(w.h, w.u);
            memcpy(w.u, w.h, sizeof w.h);
            for (int i = 0; i < 8; i++) w.t[i] ^= w.h[i];
        }

        for (int i = 0; i < 8; i++) store32_be(w.bytes + 4 * i, w.t[i]);
        size_t take = outlen < sizeof w.bytes ? outlen : sizeof w.bytes;
        memcpy(out, w.bytes, take);
        out += take;
        outlen -= take;
    }
    secure_zero(&w, sizeof w);
}
