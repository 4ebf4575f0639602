/*
** The AEGIS family of authenticated ciphers (draft-irtf-cfrg-aegis-aead), with 256-bit tags.
*/
#ifndef SQLITE3MC_AEGIS_H
#define SQLITE3MC_AEGIS_H

#include <stddef.h>
#include <stdint.h>

enum { AEGIS_128L = 1, AEGIS_128X2, AEGIS_128X4, AEGIS_256, AEGIS_256X2, AEGIS_256X4 };

#define AEGIS_TAG_SIZE 32

/* Bytes of key and of nonce of a variant: 16 (the first three) or 32; 0: no such variant. */
size_t aegis_key_size(int variant);

/* out[0..n) = key stream, which is the encryption of zeros. */
void aegis_stream(int variant, uint8_t *out, size_t n, const uint8_t *key, const uint8_t *nonce);

/* Encrypt buf[0..n) in place; the tag covers ad[0..n_ad) and buf. */
void aegis_encrypt(int variant, uint8_t *buf, size_t n, uint8_t tag[AEGIS_TAG_SIZE], const uint8_t *ad, size_t n_ad,
                   const uint8_t *key, const uint8_t *nonce);

/* Decrypt in place. 0: the tag was right. 1: it was wrong, and buf[0..n) is all zero. */
int aegis_decrypt(int variant, uint8_t *buf, size_t n, const uint8_t tag[AEGIS_TAG_SIZE], const uint8_t *ad,
                  size_t n_ad, const uint8_t *key, const uint8_t *nonce);

/* The same without looking at a tag, to rescue damaged pages. */
void aegis_decrypt_unverified(int variant, uint8_t *buf, size_t n, const uint8_t *ad, size_t n_ad, const uint8_t *key,
                              const uint8_t *nonce);

#endif
