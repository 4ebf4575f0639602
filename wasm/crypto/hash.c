/*
** Blocks, padding and byte order of MD5 (RFC 1321) and of the SHA family (FIPS 180-4).
*/
#include "hash.h"

#include <string.h>

#include "bytes.h"
#include "secure.h"
#include "words_be.h"

void hash_load(const hash_function *function, hash_block *m, const uint8_t *p, size_t n) {
    switch (function->order) {
    case HASH_LE32:
        for (size_t i = 0; i < n / 4; i++) m->w32[i] = load32_le(p + 4 * i);
        break;
    case HASH_BE32:
        load_words32_be(m->w32, p, n / 4);
        break;
    case HASH_BE64:
        load_words64_be(m->w64, p, n / 8);
        break;
    }
}

void hash_store(const hash_function *function, uint8_t *digest, const hash_value *h) {
    size_t n = function->digest_size;
    switch (function->order) {
    case HASH_LE32:
        for (size_t i = 0; i < n / 4; i++) store32_le(digest + 4 * i, h->w32[i]);
        break;
    case HASH_BE32:
        for (size_t i = 0; i < n / 4; i++) store32_be(digest + 4 * i, h->w32[i]);
        break;
    case HASH_BE64:
        store_words64_be(digest, h->w64, n / 8);
        break;
    }
}

static void compress_blocks(hash_state *s, const uint8_t *p, size_t blocks) {
    hash_block m;
    for (; blocks > 0; blocks--, p += s->function->block_size) {
        hash_load(s->function, &m, p, s->function->block_size);
        s->function->compress(&s->h, &s->h, &m);
    }
    secure_zero(&m, sizeof m);
}

void hash_init(hash_state *s, const hash_function *function) {
    s->function = function;
    s->h = function->initial;
    s->length = 0;
}

void hash_update(hash_state *s, const uint8_t *msg, size_t n) {
    size_t size = s->function->block_size;
    size_t have = (size_t)(s->length % size);
    if (n == 0) return;
    s->length += n;
    if (have > 0) {
        size_t take = n < size - have ? n : size - have;
        memcpy(s->block + have, msg, take);
        if (have + take < size) return;
        compress_blocks(s, s->block, 1);
        msg += take;
        n -= take;
    }
    if (n >= size) compress_blocks(s, msg, n / size);
    memcpy(s->block, msg + n / size * size, n % size);
}

/* The length in bits: 8 bytes, or 16 with 128-byte blocks; MD5 alone has the low word first. */
void hash_final(hash_state *s, uint8_t *digest) {
    const hash_function *function = s->function;
    size_t size = function->block_size;
    size_t have = (size_t)(s->length % size);
    s->block[have++] = 0x80;
    if (have > size - size / 8) {
        memset(s->block + have, 0, size - have);
        compress_blocks(s, s->block, 1);
        have = 0;
    }
    memset(s->block + have, 0, size - have);
    if (function->order == HASH_LE32) {
        store64_le(s->block + size - 8, s->length << 3);
    } else {
        store64_be(s->block + size - 8, s->length << 3);
        if (function->order == HASH_BE64) s->block[size - 9] = (uint8_t)(s->length >> 61);
    }
    compress_blocks(s, s->block, 1);
    hash_store(function, digest, &s->h);
    secure_zero(s, sizeof *s);
}

void hash_message(const hash_function *function, uint8_t *digest, const uint8_t *msg, size_t n) {
    hash_state s;
    hash_init(&s, function);
    hash_update(&s, msg, n);
    hash_final(&s, digest);
}
