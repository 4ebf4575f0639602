/*
** Pages of the schemes aes128cbc and aes256cbc of SQLite3 Multiple Ciphers: AES-CBC over whole pages
** under a key and an IV per page, no tag, no reserved bytes.
**
** Page 1 of a file that is not legacy keeps bytes 16..23 in plaintext: bytes 0..15 and the bytes from
** 16 on are encrypted by two runs from the same IV; of the first run only 8 bytes are stored, at 0, and
** bytes 16..23 of the second one at 8.
*/
#ifndef SQLITE3MC_AES_PAGES_H
#define SQLITE3MC_AES_PAGES_H

#include "../crypto/aes.h"
#include "../crypto/md5.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

#define AES_PAGES_PASSWORD_SIZE 32

/* The first 32 bytes of password || constant. */
static void aes_pages_pad(const uint8_t *password, size_t n, uint8_t out[AES_PAGES_PASSWORD_SIZE]) {
    static const uint8_t pad[AES_PAGES_PASSWORD_SIZE] = {
        0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
        0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a};
    if (n > AES_PAGES_PASSWORD_SIZE) n = AES_PAGES_PASSWORD_SIZE;
    memcpy(out, password, n);
    memcpy(out + n, pad, AES_PAGES_PASSWORD_SIZE - n);
}

/* What is hashed to the key of a page: the key, the page number and a constant. Returns its size. */
static size_t aes_pages_key_input(const uint8_t *key, size_t key_size, uint32_t pgno, uint8_t out[40]) {
    static const uint8_t salt[4] = {0x73, 0x41, 0x6c, 0x54};
    memcpy(out, key, key_size);
    for (int i = 0; i < 4; i++) out[key_size + (size_t)i] = (uint8_t)(pgno >> 8 * i);
    memcpy(out + key_size + 4, salt, sizeof(salt));
    return key_size + 8;
}

/* The IV of a page: MD5 of four steps of a linear congruential generator that starts at pgno + 1. */
static void aes_pages_iv(uint32_t pgno, uint8_t iv[16]) {
    uint8_t numbers[16];
    int32_t z = (int32_t)(pgno + 1);
    for (int i = 0; i < 4; i++) {
        int32_t q = z / 52774;
        z = 40692 * (z - 52774 * q) - 3791 * q;
        if (z < 0) z += 2147483399;
        for (int k = 0; k < 4; k++) numbers[4 * i + k] = (uint8_t)((uint32_t)z >> 8 * k);
    }
    md5(iv, numbers, sizeof(numbers));
}

/* Do bytes 16..23 look like those of a database header? */
static int aes_pages_has_header(const uint8_t *page) {
    uint32_t n = (uint32_t)page[16] << 8 | (uint32_t)page[17] << 16;
    return n >= 512 && n <= 65536 && (n & (n - 1)) == 0 && page[21] == 64 && page[22] == 32 && page[23] == 32;
}

static void aes_pages_seal(const aes_key *k, uint32_t pgno, int legacy, uint8_t *page, size_t size) {
    uint8_t iv[16];
    uint8_t header[8];
    aes_pages_iv(pgno, iv);
    if (pgno != 1 || legacy) {
        aes_cbc_encrypt(k, iv, page, size);
        return;
    }
    memcpy(header, page + 16, 8);
    aes_cbc_encrypt(k, iv, page, 16);
    aes_cbc_encrypt(k, iv, page + 16, size - 16);
    memcpy(page + 8, page + 16, 8);
    memcpy(page + 16, header, 8);
}

/* Nothing tells a wrong key but what page 1 looks like afterwards: MC_SCHEME_BAD_PAGE, and the page is all
** zero. A page 1 without plaintext header bytes is that of a legacy file. */
static int aes_pages_open(const aes_key *k, uint32_t pgno, int legacy, uint8_t *page, size_t size) {
    uint8_t iv[16];
    uint8_t header[8];
    aes_pages_iv(pgno, iv);
    if (pgno != 1 || legacy || !aes_pages_has_header(page)) {
        aes_cbc_decrypt(k, iv, page, size);
        return MC_SCHEME_OK;
    }
    memcpy(header, page + 16, 8);
    memcpy(page + 16, page + 8, 8);
    aes_cbc_decrypt(k, iv, page + 16, size - 16);
    if (!secure_equal(header, page + 16, 8)) {
        secure_zero(page, size);
        return MC_SCHEME_BAD_PAGE;
    }
    memcpy(page, mc_sqlite_magic, sizeof(mc_sqlite_magic));
    return MC_SCHEME_OK;
}

#endif
