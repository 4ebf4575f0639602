/*
** Entry points of the benchmark of AES-CBC and AEGIS (bench/aes.mjs), in one module with those of bench/kernel.c.
** A page costs what it costs in the codec.
*/
#include <stdint.h>

#include "aegis.h"
#include "aes.h"

#define EXPORT(name) __attribute__((used, visibility("default"), export_name(#name)))

enum { PAGE = 4096 };

static uint8_t pages[32 * PAGE] __attribute__((aligned(64)));
static const uint8_t key[32] = "bench bench bench bench bench .";

/* The schemes aes128cbc and aes256cbc, where each page has a key of its own. */
static int cbc_page(int decrypt, int key_size, uint8_t *page) {
    static const uint8_t iv[16];
    aes_key k;
    if (aes_key_init(&k, key, (size_t)key_size) != 0) return -1;
    return (decrypt ? aes_cbc_decrypt : aes_cbc_encrypt)(&k, iv, page, PAGE);
}

/* The scheme aegis: 32 bytes tag and a nonce at the end of the page; a key stream gives the page's key and nonce. */
static int aegis_page(int decrypt, int variant, uint8_t *page) {
    const size_t n = aegis_key_size(variant);
    uint8_t otk[64], *nonce = page + PAGE - n, *tag = nonce - AEGIS_TAG_SIZE;
    const size_t text = (size_t)(tag - page);
    aegis_stream(variant, otk, 2 * n, key, nonce);
    if (decrypt) return aegis_decrypt(variant, page, text, tag, NULL, 0, otk, otk + n);
    aegis_encrypt(variant, page, text, tag, NULL, 0, otk, otk + n);
    return 0;
}

/* As the codec writes pages that follow one another. */
static int cbc_four_pages(int key_size, uint8_t *first) {
    static const uint8_t iv[16];
    aes_key k[AES_CBC_JOBS];
    aes_cbc_job job[AES_CBC_JOBS];
    for (int i = 0; i < AES_CBC_JOBS; i++) {
        if (aes_key_init(&k[i], key, (size_t)key_size) != 0) return -1;
        job[i].key = &k[i];
        job[i].iv = iv;
        job[i].buf = first + i * PAGE;
    }
    return aes_cbc_encrypt_each(job, AES_CBC_JOBS, PAGE);
}

enum { ENCRYPT, DECRYPT, ENCRYPT_FOUR };

/* All pages once; AES-CBC by the size of its key. 0 if no tag was wrong. */
EXPORT(aes_run) int aes_run(int what, int key_size) {
    int rc = 0;
    if (what == ENCRYPT_FOUR) {
        for (uint8_t *page = pages; page < pages + sizeof pages; page += AES_CBC_JOBS * PAGE)
            rc |= cbc_four_pages(key_size, page);
        return rc;
    }
    for (uint8_t *page = pages; page < pages + sizeof pages; page += PAGE)
        rc |= cbc_page(what == DECRYPT, key_size, page);
    return rc;
}

EXPORT(aegis_run) int aegis_run(int decrypt, int variant) {
    int rc = 0;
    for (uint8_t *page = pages; page < pages + sizeof pages; page += PAGE) rc |= aegis_page(decrypt, variant, page);
    return rc;
}
