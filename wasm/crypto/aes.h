/*
** AES (FIPS 197) with 128 and 256-bit keys, and the two CBC modes that page formats use (SP 800-38A
** and its addendum on ciphertext stealing).
*/
#ifndef SQLITE3MC_AES_H
#define SQLITE3MC_AES_H

#include <stddef.h>
#include <stdint.h>

/* An expanded key, in the form of the implementation that was in use. Holds secrets: wipe it. May be copied. */
typedef struct aes_key {
    uint64_t schedule[120];
    const struct aes_impl *impl;
    int rounds;
} aes_key;

/* key: key_size bytes, 16 or 32. 0, or -1 (another size; *k untouched). */
int aes_key_init(aes_key *k, const uint8_t *key, size_t key_size);

/* CBC over buf[0..n) in place, n a multiple of 16, without padding. 0, or -1 (other n; buf untouched). */
int aes_cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);
int aes_cbc_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);

/* A buffer to be encrypted by CBC. */
typedef struct aes_cbc_job {
    const aes_key *key;
    const uint8_t *iv; /* 16 bytes */
    uint8_t *buf;
} aes_cbc_job;

enum { AES_CBC_JOBS = 4 };

/* CBC encryption of the buffers of 1 to AES_CBC_JOBS jobs, n bytes each, side by side: the chain of one of them
** leaves most of a processor idle. Keys are of one size and were expanded while one implementation was in use.
** 0, or -1 (other count or n, unlike keys; no buffer touched). */
int aes_cbc_encrypt_each(const aes_cbc_job *job, int count, size_t n);

/*
** CBC with ciphertext stealing for any n from 16: a multiple of 16 is plain CBC; else CS3, where the
** last full block is E(Cm XOR (tail || zeros)) and the first n mod 16 bytes of Cm follow it.
** 0, or -1 (n < 16; buf untouched).
*/
int aes_cbc_cs3_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);
int aes_cbc_cs3_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);

#endif
