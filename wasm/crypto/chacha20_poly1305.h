/*
** ChaCha20 and Poly1305 (RFC 8439) and the page kernel built from them.
**
** The kernel is not the AEAD of RFC 8439: the tag is plain Poly1305 over the stored bytes and the
** 16 nonce bytes, without padding or lengths (the page format of SQLite3 Multiple Ciphers).
*/
#ifndef SQLITE3MC_CHACHA20_POLY1305_H
#define SQLITE3MC_CHACHA20_POLY1305_H

#include <stddef.h>
#include <stdint.h>

/* One 64-byte block of key stream (RFC 8439 2.3). */
void chacha20_block(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, uint8_t out[64]);

/* buf[0..n) ^= key stream from block `counter` on. The counter wraps modulo 2^32. */
void chacha20_xor(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter);

/* tag = Poly1305 of msg[0..n) under a one-time key (RFC 8439 2.5). */
void poly1305(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]);

/*
** Page layout: data[0..size-32) || nonce 16 || tag 16. size: a multiple of 16, from 32 on.
** otk: 64 bytes; [0..32) is the Poly1305 key, [32..64) the ChaCha20 key. The ChaCha20 nonce is
** page[size-32..size-20). counter: the first block's, wrapping modulo 2^32.
**
** encrypt: data is encrypted in place, the tag over page[0..size-16) is stored. 0, or -1 (NULL
** argument or bad size; page untouched).
** decrypt: one pass. 0: the tag was right, data is plaintext in place. 1: the tag was wrong, all
** `size` bytes are zero. -1: NULL argument or bad size; page untouched.
*/
int chacha20_poly1305_page_encrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter);
int chacha20_poly1305_page_decrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter);

#endif
