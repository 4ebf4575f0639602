/*
** AEGIS (draft-irtf-cfrg-aegis-aead): the variants, as lanes of AEGIS-128L or AEGIS-256 in the implementation of
** AES that is in use.
*/
#include "aegis.h"

#include <string.h>

#include "aes_impl.h"
#include "secure.h"

size_t aegis_key_size(int variant) {
    if (variant < AEGIS_128L || variant > AEGIS_256X4) return 0;
    return variant < AEGIS_256 ? 16 : 32;
}

/* tag: 32 bytes, or NULL. */
static void run(int variant, int decrypt, aegis_lane *job, uint8_t *tag) {
    const aes_impl *impl = aes_in_use();
    if (tag != NULL) memset(tag, 0, AEGIS_TAG_SIZE);
    job->lanes = 1u << (variant - AEGIS_128L) % 3;
    for (job->lane = 0; job->lane < job->lanes; job->lane++)
        (variant < AEGIS_256 ? impl->aegis128 : impl->aegis256)(job, decrypt, tag);
}

void aegis_stream(int variant, uint8_t *out, size_t n, const uint8_t *key, const uint8_t *nonce) {
    aegis_lane job = {.key = key, .nonce = nonce, .n = n};
    job.buf = out;
    if (n > 0) memset(out, 0, n);
    run(variant, 0, &job, NULL);
}

void aegis_encrypt(int variant, uint8_t *buf, size_t n, uint8_t tag[AEGIS_TAG_SIZE], const uint8_t *ad, size_t n_ad,
                   const uint8_t *key, const uint8_t *nonce) {
    aegis_lane job = {.key = key, .nonce = nonce, .ad = ad, .n_ad = n_ad, .n = n};
    job.buf = buf;
    run(variant, 0, &job, tag);
}

int aegis_decrypt(int variant, uint8_t *buf, size_t n, const uint8_t tag[AEGIS_TAG_SIZE], const uint8_t *ad,
                  size_t n_ad, const uint8_t *key, const uint8_t *nonce) {
    aegis_lane job = {.key = key, .nonce = nonce, .ad = ad, .n_ad = n_ad, .n = n};
    job.buf = buf;
    uint8_t right[AEGIS_TAG_SIZE];
    run(variant, 1, &job, right);
    int equal = secure_equal(tag, right, sizeof right);
    /* The right tag of a forged text is as secret as its key stream. */
    secure_zero(right, sizeof right);
    if (equal) return 0;
    secure_zero(buf, n);
    return 1;
}

void aegis_decrypt_unverified(int variant, uint8_t *buf, size_t n, const uint8_t *ad, size_t n_ad, const uint8_t *key,
                              const uint8_t *nonce) {
    aegis_lane job = {.key = key, .nonce = nonce, .ad = ad, .n_ad = n_ad, .n = n};
    job.buf = buf;
    run(variant, 1, &job, NULL);
}
