/*
** Ascon v1.2 (the submission to NIST's lightweight cryptography competition, not SP 800-232):
** Ascon-128, Ascon-Hash, and a PBKDF2 with a function on the same permutation.
*/
#ifndef SQLITE3MC_ASCON_H
#define SQLITE3MC_ASCON_H

#include <stddef.h>
#include <stdint.h>

/* Ascon-Hash of a || b || c (lengths may be 0). */
void ascon_hash(uint8_t digest[32], const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, const uint8_t *c,
                size_t n_c);

/* Ascon-128: encrypt buf[0..n) in place; the tag covers ad[0..n_ad) and buf. */
void ascon128_encrypt(uint8_t *buf, size_t n, uint8_t tag[16], const uint8_t *ad, size_t n_ad, const uint8_t key[16],
                      const uint8_t nonce[16]);

/* Decrypt in place. 0: the tag was right. 1: it was wrong, and buf[0..n) is all zero. */
int ascon128_decrypt(uint8_t *buf, size_t n, const uint8_t tag[16], const uint8_t *ad, size_t n_ad,
                     const uint8_t key[16], const uint8_t nonce[16]);

/* The same without looking at a tag, to rescue damaged pages. */
void ascon128_decrypt_unverified(uint8_t *buf, size_t n, const uint8_t *ad, size_t n_ad, const uint8_t key[16],
                                 const uint8_t nonce[16]);

/* 32 bytes from a password and a salt: the PBKDF2 of scheme ascon128 (SQLite3 Multiple Ciphers). */
void ascon_pbkdf2(uint8_t out[32], const uint8_t *password, size_t password_size, const uint8_t *salt, size_t salt_size,
                  uint32_t iterations);

#endif
