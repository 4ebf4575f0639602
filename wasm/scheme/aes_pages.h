/*
** Pages of the schemes aes128cbc and aes256cbc of SQLite3 Multiple Ciphers: AES-CBC over whole pages
** under a key and an IV per page, no tag, no reserved bytes.
**
** Page 1 of a file that is not legacy keeps bytes 16..23 in plaintext: bytes 0..15 and the bytes from
** 16 on are encrypted by two runs from the same IV; of the first run only 8 bytes are stored, at 0, and
** bytes 16..23 of the second one at 8.
**
** A file for a scheme defines these and includes this one:
**   AES_PAGES_KEY_SIZE   16 or 32
**   AES_PAGES_HASH       the hash with digests of that size, by which the keys of pages are made
**   AES_PAGES_LEGACY     index of the parameter legacy, which legacy_page_size follows
*/
#ifndef SQLITE3MC_AES_PAGES_H
#define SQLITE3MC_AES_PAGES_H

#include "../crypto/aes.h"
#include "../crypto/md5.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

enum { PASSWORD_SIZE = 32 };

typedef struct {
    uint8_t key[AES_PAGES_KEY_SIZE];
    int legacy;
} State;

static int no(const int *value) {
    (void)value;
    return 0;
}

static int page_size(const int *value, int *hidden) {
    *hidden = value[AES_PAGES_LEGACY];
    return value[AES_PAGES_LEGACY] ? value[AES_PAGES_LEGACY + 1] : 0;
}

/* The first 32 bytes of password || constant. */
static void pad_password(const uint8_t *password, size_t n, uint8_t out[PASSWORD_SIZE]) {
    static const uint8_t pad[PASSWORD_SIZE] = {0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e,
                                               0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68,
                                               0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a};
    if (n > PASSWORD_SIZE) n = PASSWORD_SIZE;
    memcpy(out, password, n);
    memcpy(out + n, pad, PASSWORD_SIZE - n);
}

/* What is hashed to the key of a page: the key, the page number and a constant. Returns its size. */
static size_t key_input(const uint8_t key[AES_PAGES_KEY_SIZE], uint32_t pgno, uint8_t out[AES_PAGES_KEY_SIZE + 8]) {
    static const uint8_t salt[4] = {0x73, 0x41, 0x6c, 0x54};
    memcpy(out, key, AES_PAGES_KEY_SIZE);
    for (int i = 0; i < 4; i++) out[AES_PAGES_KEY_SIZE + i] = (uint8_t)(pgno >> 8 * i);
    memcpy(out + AES_PAGES_KEY_SIZE + 4, salt, sizeof(salt));
    return AES_PAGES_KEY_SIZE + 8;
}

/* The IV of a page: MD5 of four steps of a linear congruential generator that starts at pgno + 1. */
static void page_iv(uint32_t pgno, uint8_t iv[16]) {
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
static int has_header(const uint8_t *page) {
    uint32_t n = (uint32_t)page[16] << 8 | (uint32_t)page[17] << 16;
    return n >= 512 && n <= 65536 && (n & (n - 1)) == 0 && page[21] == 64 && page[22] == 32 && page[23] == 32;
}

static void encrypt_page(const aes_key *k, uint32_t pgno, int legacy, uint8_t *page, size_t size) {
    uint8_t iv[16];
    uint8_t header[8];
    page_iv(pgno, iv);
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
static int decrypt_page(const aes_key *k, uint32_t pgno, int legacy, uint8_t *page, size_t size) {
    uint8_t iv[16];
    uint8_t header[8];
    page_iv(pgno, iv);
    if (pgno != 1 || legacy || !has_header(page)) {
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

static void page_key(const State *s, uint32_t pgno, aes_key *k) {
    uint8_t input[AES_PAGES_KEY_SIZE + 8];
    uint8_t key[AES_PAGES_KEY_SIZE];
    AES_PAGES_HASH(key, input, key_input(s->key, pgno, input));
    aes_key_init(k, key, AES_PAGES_KEY_SIZE);
    secure_zero(input, sizeof(input));
    secure_zero(key, sizeof(key));
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    aes_key k;
    page_key(s, pgno, &k);
    encrypt_page(&k, pgno, s->legacy, page, size);
    secure_zero(&k, sizeof(k));
    return MC_SCHEME_OK;
}

static int seal_many(const void *state, const uint32_t *pgno, uint8_t *const *page, int n, size_t size) {
    const State *s = state;
    aes_key k[MC_SEAL_MANY];
    uint8_t iv[MC_SEAL_MANY][16];
    aes_cbc_job job[MC_SEAL_MANY] = {{0}};
    for (int i = 0; i < n; i++) {
        page_key(s, pgno[i], &k[i]);
        page_iv(pgno[i], iv[i]);
        job[i].key = &k[i];
        job[i].iv = iv[i];
        job[i].buf = page[i];
    }
    aes_cbc_encrypt_each(job, n, size);
    secure_zero(k, sizeof(k));
    return MC_SCHEME_OK;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    aes_key k;
    int rc;
    (void)check;
    page_key(s, pgno, &k);
    rc = decrypt_page(&k, pgno, s->legacy, page, size);
    secure_zero(&k, sizeof(k));
    return rc;
}

#endif
