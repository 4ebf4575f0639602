/*
** ChaCha20-Poly1305 with vectors of four 32-bit lanes: the algorithm, written once. A file for an
** instruction set defines the operations below and includes this one; the tables differ in nothing else.
**
**     V                          four 32-bit lanes
**     V_LOAD(p) V_STORE(p, v)    16 bytes at any address, lanes little endian
**     V_SPLAT(x)                 x in all lanes
**     V_SET(a, b, c, d)          lane 0 is a
**     V_ADD V_XOR                lane by lane
**     V_ROTL_HIGH(b, n)          these three in this order rotate the lanes of b left by n:
**     V_ROTL_LOW(b, n)               h = HIGH(b, n); b = LOW(b, n); b = JOIN(b, h, n)
**     V_ROTL_JOIN(b, h, n)
**     v_masks v_rotation_masks() what V_ROTL16 and V_ROTL8 need, loaded once per use
**     V_ROTL16(d, masks) V_ROTL8(d, masks)
**     V_ZIP_LOW32 V_ZIP_HIGH32   a0 b0 a1 b1, a2 b2 a3 b3
**     V_ZIP_LOW64 V_ZIP_HIGH64   a0 a1 b0 b1, a2 a3 b2 b3
**     V_PIN(v)                   an empty asm that may have changed v (scripts/weave.mjs)
**     FUSED_NAME FUSED_STRING FUSED_CPU   the table's name, its text, the CPU_* bits it needs
**
** The unit of work is a group of 512 bytes, eight blocks: key stream and Poly1305 in one woven loop. The
** machine is little endian.
*/
#include <string.h>

#include "bytes.h"
#include "chacha20_poly1305_impl.h"
#include "cpu.h"
#include "poly1305_limbs.h"
#include "secure.h"

#define GROUP 512
#define LOAD32(p) load32_le(p)

/* PIN: the value may have changed here. KEEP_STORES: somebody may look at the memory at p. */
#if defined(__GNUC__)
#define PIN(x) __asm__ volatile("" : "+r"(x))
#define KEEP_STORES(p) __asm__ volatile("" : : "r"(p) : "memory")
#define NOINLINE __attribute__((noinline))
#else
#define PIN(x)
#define KEEP_STORES(p) secure_zero(p, sizeof *(p))
#define NOINLINE
#endif

/* Input of the block function for the next group: the 16 words, each in four lanes. Lane i of the
** counter belongs to block i; blocks 4 to 7 count in counter_y. */
typedef struct {
    V word[16];
    V counter_y;
    V column[16]; /* the words after the first round; 0, 4, 8, 12, where the counter is, are not used */
} stream_state;

/* The secrets of a call, in one place to be wiped. */
typedef struct {
    stream_state stream;
    poly1305_limbs mac;
    V tail[GROUP / 16];
    uint8_t tag[16];
} page_state;

/* Stores in line: for a page of 4 KiB two calls of secure_zero() would be felt. */
static inline void wipe(page_state *s) {
    for (int i = 0; i < 16; i++) s->stream.word[i] = s->stream.column[i] = V_SPLAT(0);
    s->mac = (poly1305_limbs){0};
    for (int i = 0; i < GROUP / 16; i++) s->tail[i] = V_SPLAT(0);
    memset(s->tag, 0, sizeof s->tag);
    KEEP_STORES(s);
}

static inline void quarter_round(V *a, V *b, V *c, V *d, v_masks masks) {
    V h;
    *a = V_ADD(*a, *b);
    *d = V_ROTL16(V_XOR(*d, *a), masks);
    *c = V_ADD(*c, *d);
    *b = V_XOR(*b, *c);
    h = V_ROTL_HIGH(*b, 12);
    *b = V_ROTL_LOW(*b, 12);
    *b = V_ROTL_JOIN(*b, h, 12);
    *a = V_ADD(*a, *b);
    *d = V_ROTL8(V_XOR(*d, *a), masks);
    *c = V_ADD(*c, *d);
    *b = V_XOR(*b, *c);
    h = V_ROTL_HIGH(*b, 7);
    *b = V_ROTL_LOW(*b, 7);
    *b = V_ROTL_JOIN(*b, h, 7);
}

static inline void stream_init(stream_state *s, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    const v_masks masks = v_rotation_masks();
    s->word[0] = V_SPLAT(0x61707865);
    s->word[1] = V_SPLAT(0x3320646e);
    s->word[2] = V_SPLAT(0x79622d32);
    s->word[3] = V_SPLAT(0x6b206574);
    for (int i = 0; i < 8; i++) s->word[4 + i] = V_SPLAT(load32_le(key + 4 * i));
    s->word[12] = V_SET(counter, counter + 1, counter + 2, counter + 3);
    s->counter_y = V_ADD(s->word[12], V_SPLAT(4));
    for (int i = 0; i < 3; i++) s->word[13 + i] = V_SPLAT(load32_le(nonce + 4 * i));
    for (int i = 1; i < 4; i++) {
        V a = s->word[i], b = s->word[4 + i], c = s->word[8 + i], d = s->word[12 + i];
        quarter_round(&a, &b, &c, &d, masks);
        s->column[i] = a;
        s->column[4 + i] = b;
        s->column[8 + i] = c;
        s->column[12 + i] = d;
    }
}

/* Four words of four blocks, XORed to their places: lane j belongs at out + 64*j. */
static inline void xor_words(uint8_t *out, V a, V b, V c, V d) {
    V ab = V_ZIP_LOW32(a, b);
    V cd = V_ZIP_LOW32(c, d);
    V ab_high = V_ZIP_HIGH32(a, b);
    V cd_high = V_ZIP_HIGH32(c, d);
    V_STORE(out, V_XOR(V_LOAD(out), V_ZIP_LOW64(ab, cd)));
    V_STORE(out + 64, V_XOR(V_LOAD(out + 64), V_ZIP_HIGH64(ab, cd)));
    V_STORE(out + 128, V_XOR(V_LOAD(out + 128), V_ZIP_LOW64(ab_high, cd_high)));
    V_STORE(out + 192, V_XOR(V_LOAD(out + 192), V_ZIP_HIGH64(ab_high, cd_high)));
}

#include "chacha20_poly1305_woven.h"

static inline void count_group(stream_state *s) {
    s->word[12] = V_ADD(s->word[12], V_SPLAT(8));
    s->counter_y = V_ADD(s->counter_y, V_SPLAT(8));
}

/* out[0..512*groups) ^= key stream. */
static NOINLINE void stream_groups(stream_state *s, uint8_t *out, size_t groups) {
    for (; groups > 0; groups--, out += GROUP) {
        woven_chacha20(s, out);
        count_group(s);
    }
}

/* The fused loop: for each group, out[0..512) ^= key stream, and Poly1305 of `blocks` blocks (31 or 32)
** at m, which are read before out is written. m == out when decrypting. */
static NOINLINE void fused_groups(page_state *s, uint8_t *out, const uint8_t *m, size_t groups, size_t blocks) {
    for (; groups > 0; groups--, out += GROUP, m += GROUP) {
        woven_chacha20_poly1305(&s->stream, &s->mac, out, m, blocks);
        count_group(&s->stream);
    }
}

/* One block: a chain of operations either way, and the scalar ones have the shorter latency. */
static void block(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, uint8_t out[64]) {
    chacha20_poly1305_scalar.block(key, nonce, counter, out);
}

/* Up to 128 bytes are cheaper block by block than as a group. */
static void xor_stream(uint8_t *buf, size_t n, const uint8_t key[32], const uint8_t nonce[12], uint32_t counter) {
    page_state s;
    size_t groups = n / GROUP;
    size_t rest = n % GROUP;
    if (n > 128) {
        stream_init(&s.stream, key, nonce, counter);
        stream_groups(&s.stream, buf, groups);
        buf += groups * GROUP;
        counter += (uint32_t)(groups * (GROUP / 64));
    }
    if (rest > 128) {
        memcpy(s.tail, buf, rest);
        stream_groups(&s.stream, (uint8_t *)s.tail, 1);
        memcpy(buf, s.tail, rest);
        rest = 0;
    }
    for (; rest > 0; buf += 64, counter++) {
        uint8_t *k = (uint8_t *)s.tail;
        size_t part = rest < 64 ? rest : 64;
        block(key, nonce, counter, k);
        for (size_t i = 0; i < part; i++) buf[i] ^= k[i];
        rest -= part;
    }
    wipe(&s);
}

static void mac(uint8_t tag[16], const uint8_t *msg, size_t n, const uint8_t key[32]) {
    poly1305_limbs p;
    size_t whole = n - n % 16;
    poly1305_limbs_init(&p, key);
    poly1305_limbs_blocks(&p, msg, whole);
    poly1305_limbs_rest(&p, msg + whole, n % 16);
    poly1305_limbs_tag(&p, key, tag);
    secure_zero(&p, sizeof p);
}

static inline void page_begin(page_state *s, const uint8_t *nonce, const uint8_t otk[64], uint32_t counter) {
    stream_init(&s->stream, otk + 32, nonce, counter);
    poly1305_limbs_init(&s->mac, otk);
}

/* Poly1305 runs one group behind the key stream: a group is authenticated while the next one is
** encrypted. */
static void page_encrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    page_state s;
    uint8_t *nonce = page + size - 32;
    size_t groups = (size - 32) / GROUP;
    size_t rest = (size - 32) % GROUP;
    uint8_t *tail = nonce - rest;

    page_begin(&s, nonce, otk, counter);
    if (groups > 0) {
        stream_groups(&s.stream, page, 1);
        fused_groups(&s, page + GROUP, page, groups - 1, GROUP / 16);
    }
    if (rest > 0) {
        memcpy(s.tail, tail, rest);
        if (groups > 0) {
            fused_groups(&s, (uint8_t *)s.tail, tail - GROUP, 1, GROUP / 16);
        } else {
            stream_groups(&s.stream, (uint8_t *)s.tail, 1);
        }
        memcpy(tail, s.tail, rest);
    } else if (groups > 0) {
        poly1305_limbs_blocks(&s.mac, tail - GROUP, GROUP);
    }
    poly1305_limbs_blocks(&s.mac, tail, rest + 16);
    poly1305_limbs_tag(&s.mac, otk, nonce + 16);
    wipe(&s);
}

/* A group is authenticated while its key stream is made, and decrypted after. The tail is a group of its
** own, in a buffer; the nonce is its last block for Poly1305. Page sizes that are powers of two have a
** tail of 480 + 16 bytes, 31 blocks, which the woven loop does too. */
static int page_decrypt(uint8_t *page, size_t size, const uint8_t otk[64], uint32_t counter) {
    page_state s;
    uint8_t *nonce = page + size - 32;
    size_t groups = (size - 32) / GROUP;
    size_t rest = (size - 32) % GROUP;
    uint8_t *tail = nonce - rest;
    size_t blocks = rest / 16 + 1;

    page_begin(&s, nonce, otk, counter);
    fused_groups(&s, page, page, groups, GROUP / 16);
    if (blocks >= WOVEN_BLOCKS) {
        memcpy(s.tail, tail, rest);
        fused_groups(&s, (uint8_t *)s.tail, tail, 1, blocks);
        memcpy(tail, s.tail, rest);
    } else {
        poly1305_limbs_blocks(&s.mac, tail, rest + 16);
        xor_stream(tail, rest, otk + 32, nonce, counter + (uint32_t)(groups * (GROUP / 64)));
    }
    poly1305_limbs_tag(&s.mac, otk, s.tag);
    int wrong = !secure_equal(s.tag, nonce + 16, sizeof s.tag);
    if (wrong) secure_zero(page, size);
    wipe(&s);
    return wrong;
}

const chacha20_poly1305_impl FUSED_NAME = {FUSED_STRING, FUSED_CPU, block, xor_stream, mac, page_encrypt, page_decrypt};
