/*
** The harness of cryptotest, and the groups of tests in its files.
*/
#ifndef SQLITE3MC_CRYPTOTEST_H
#define SQLITE3MC_CRYPTOTEST_H

#include <stddef.h>
#include <stdint.h>

#include "chacha20_poly1305_impl.h"

/* Counts one check; says where and what if it failed. */
void check_at(int ok, const char *file, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
#define CHECK(ok, ...) check_at(ok, __FILE__, __LINE__, __VA_ARGS__)

/* Ends a group: prints its name and what its checks came to. */
void group_done(const char *name);

/* Bytes that look random, the same in each run and on each machine. */
void test_bytes(uint8_t *out, size_t n, uint64_t seed);

/* The bytes of a hex string, at most `room`; answers how many. */
size_t unhex(uint8_t *out, size_t room, const char *hex);

/* 1 if all n bytes at p are `value`. */
int all_bytes(const uint8_t *p, size_t n, uint8_t value);

/* The i-th implementation of ChaCha20-Poly1305 that this machine can run; NULL after the last. */
const chacha20_poly1305_impl *usable(unsigned i);

/* Slow twins, written from the text of RFC 8439 and for nothing but to be compared with. */
void twin_chacha20_xor(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);
void twin_poly1305(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]);

/* The same for AES, with keys of 192 bits too, and for AEGIS, variants as in aegis.h. */
void twin_aes_encrypt(uint8_t block[16], const uint8_t *key, size_t key_size);
void twin_aes_decrypt(uint8_t block[16], const uint8_t *key, size_t key_size);
void twin_aegis(int variant, uint8_t *buf, size_t n, uint8_t tag[32], const uint8_t *ad, size_t n_ad,
                const uint8_t *key, const uint8_t *nonce);

/* The groups. */
void test_primitives(void);
void test_hashes(void);
void test_pages(void);
void test_random(void);
void test_aes(void);
void test_modes(void);
void test_host(void); /* what only this platform can do: fork, threads, a broken JavaScript host */

#endif
