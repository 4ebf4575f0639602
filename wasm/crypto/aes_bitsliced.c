/*
** AES and AEGIS without instructions for them, on 64-bit words: bitsliced, so that no table is read and no
** branch is taken by a secret.
**
** Eight words hold four blocks, a word for each bit of their bytes. Bit 16 r + 4 c + i of a word belongs to
** row r, column c of block i: ShiftRows rotates within 16 bits, a step down the rows is a rotation by 16.
**
** The S-box is the circuit of Boyar and Peralta, "A new combinational logic minimization technique with
** applications to cryptology" (2010), in the order of 115 gates.
*/
#include <string.h>

#include "aes_impl.h"
#include "bytes.h"
#include "secure.h"

/* SubBytes. */
static void sub_bytes(uint64_t q[8]) {
    const uint64_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    /* linear, into the tower field */
    const uint64_t y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5;
    const uint64_t t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6;
    const uint64_t y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0;
    const uint64_t y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11;
    const uint64_t y21 = y13 ^ y16, y18 = x0 ^ y16;

    /* the inverse */
    const uint64_t t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7, t6 = t5 ^ t2, t7 = y13 & y16;
    const uint64_t t8 = y5 & y1, t9 = t8 ^ t7, t10 = y2 & y7, t11 = t10 ^ t7, t12 = y9 & y11, t13 = y14 & y17;
    const uint64_t t14 = t13 ^ t12, t15 = y8 & y10, t16 = t15 ^ t12, t17 = t4 ^ t14, t18 = t6 ^ t16;
    const uint64_t t19 = t9 ^ t14, t20 = t11 ^ t16, t21 = t17 ^ y20, t22 = t18 ^ y19, t23 = t19 ^ y21;
    const uint64_t t24 = t20 ^ y18, t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t28 = t25 & t27;
    const uint64_t t29 = t28 ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26, t32 = t31 & t30, t33 = t32 ^ t24;
    const uint64_t t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36;
    const uint64_t t39 = t29 & t38, t40 = t25 ^ t39, t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40;
    const uint64_t t44 = t33 ^ t37, t45 = t42 ^ t41;
    const uint64_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    const uint64_t z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    const uint64_t z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    /* linear, back, and the affine map */
    const uint64_t t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5;
    const uint64_t t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
    const uint64_t t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58;
    const uint64_t t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62, t66 = z1 ^ t63, t67 = t64 ^ t65;
    const uint64_t s3 = t53 ^ t66;
    q[7] = t59 ^ t63;
    q[6] = t64 ^ ~s3;
    q[5] = t55 ^ ~t67;
    q[4] = s3;
    q[3] = t51 ^ t66;
    q[2] = t47 ^ t65;
    q[1] = t56 ^ ~t62;
    q[0] = t48 ^ ~t60;
}

/* The inverse of SubBytes' affine map. */
static void inverse_affine(uint64_t q[8]) {
    uint64_t x[8];
    memcpy(x, q, sizeof x);
    for (int i = 0; i < 8; i++) q[i] = x[(i + 7) % 8] ^ x[(i + 5) % 8] ^ x[(i + 2) % 8];
    q[0] = ~q[0];
    q[2] = ~q[2];
}

/* S(x) = A(1 / x), so 1 / A'(x) = A'(S(A'(x))), A' being the inverse of A. */
static void inverse_sub_bytes(uint64_t q[8]) {
    inverse_affine(q);
    sub_bytes(q);
    inverse_affine(q);
}

static void shift_rows(uint64_t q[8]) {
    for (int i = 0; i < 8; i++) {
        uint64_t x = q[i];
        q[i] = (x & 0x000000000000ffff) | (x & 0x00000000fff00000) >> 4 | (x & 0x00000000000f0000) << 12 |
               (x & 0x0000ff0000000000) >> 8 | (x & 0x000000ff00000000) << 8 | (x & 0xf000000000000000) >> 12 |
               (x & 0x0fff000000000000) << 4;
    }
}

static void inverse_shift_rows(uint64_t q[8]) {
    for (int i = 0; i < 8; i++) {
        uint64_t x = q[i];
        q[i] = (x & 0x000000000000ffff) | (x & 0x000000000fff0000) << 4 | (x & 0x00000000f0000000) >> 12 |
               (x & 0x0000ff0000000000) >> 8 | (x & 0x000000ff00000000) << 8 | (x & 0x000f000000000000) << 12 |
               (x & 0xfff0000000000000) >> 4;
    }
}

static inline uint64_t down(uint64_t x, int rows) {
    return x >> 16 * rows | x << (64 - 16 * rows);
}

/* With t = a + (a one row down): 2 a + 3 (one down) + (two down) + (three down) = 2 t + (a one down) + (t two down). */
static void mix_columns(uint64_t q[8]) {
    uint64_t t[8];
    for (int i = 0; i < 8; i++) t[i] = q[i] ^ down(q[i], 1);
    for (int i = 0; i < 8; i++) {
        uint64_t twice = i == 0 ? 0 : t[i - 1];
        if (i == 0 || i == 1 || i == 3 || i == 4) twice ^= t[7]; /* x^8 = x^4 + x^3 + x + 1 */
        q[i] = twice ^ down(q[i], 1) ^ down(t[i], 2);
    }
}

/* (14, 11, 13, 9) is (5, 0, 4, 0) times (2, 3, 1, 1). */
static void inverse_mix_columns(uint64_t q[8]) {
    uint64_t t[8];
    for (int i = 0; i < 8; i++) t[i] = q[i] ^ down(q[i], 2);
    q[0] ^= t[6];
    q[1] ^= t[6] ^ t[7];
    q[2] ^= t[0] ^ t[7];
    q[3] ^= t[1] ^ t[6];
    q[4] ^= t[2] ^ t[6] ^ t[7];
    q[5] ^= t[3] ^ t[7];
    q[6] ^= t[4];
    q[7] ^= t[5];
    mix_columns(q);
}

static void add_key(uint64_t q[8], const uint64_t *key) {
    for (int i = 0; i < 8; i++) q[i] ^= key[i];
}

/* Exchange the bits of a and b that an 8 by 8 matrix has on the other side of its diagonal. */
static inline void exchange(uint64_t *a, uint64_t *b, uint64_t mask, int distance) {
    uint64_t t = ((*a >> distance) ^ *b) & mask;
    *b ^= t;
    *a ^= t << distance;
}

/* Byte k of each word becomes the k-th eight bits of each slice, and back. */
static void transpose(uint64_t q[8]) {
    for (int i = 0; i < 8; i += 2) exchange(q + i, q + i + 1, 0x5555555555555555, 1);
    for (int i = 0; i < 8; i += i % 2 == 0 ? 1 : 3) exchange(q + i, q + i + 2, 0x3333333333333333, 2);
    for (int i = 0; i < 4; i++) exchange(q + i, q + i + 4, 0x0f0f0f0f0f0f0f0f, 4);
}

/* Bytes 0, 1, 2, 3 to bytes 0, 2, 4, 6, and back. */
static inline uint64_t spread(uint32_t column) {
    uint64_t x = column;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    return (x | x << 8) & 0x00ff00ff00ff00ff;
}

static inline uint32_t gather(uint64_t x) {
    x &= 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(x | x >> 16);
}

/* n blocks, 1 to 4. The columns 0 and 2 of block i go into word i, the others into word 4 + i. */
static void load_blocks(uint64_t q[8], const uint8_t *p, int n) {
    memset(q, 0, 8 * sizeof *q);
    for (int i = 0; i < n; i++, p += 16) {
        q[i] = spread(load32_le(p)) | spread(load32_le(p + 8)) << 8;
        q[4 + i] = spread(load32_le(p + 4)) | spread(load32_le(p + 12)) << 8;
    }
    transpose(q);
}

static void store_blocks(uint8_t *p, uint64_t q[8], int n) {
    transpose(q);
    for (int i = 0; i < n; i++, p += 16) {
        store32_le(p, gather(q[i]));
        store32_le(p + 4, gather(q[4 + i]));
        store32_le(p + 8, gather(q[i] >> 8));
        store32_le(p + 12, gather(q[4 + i] >> 8));
    }
}

/* SubWord, and the words of FIPS 197 5.2 in little-endian order. */
static uint32_t sub_word(uint32_t w) {
    uint64_t q[8];
    uint8_t bytes[16] = {0};
    store32_le(bytes, w);
    load_blocks(q, bytes, 1);
    sub_bytes(q);
    store_blocks(bytes, q, 1);
    w = load32_le(bytes);
    secure_zero(q, sizeof q);
    secure_zero(bytes, sizeof bytes);
    return w;
}

static void key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    uint8_t round_key[4][16];
    uint32_t w[60] = {0};
    const int words = key_size == 16 ? 4 : 8, rounds = words + 6;
    uint32_t round_constant = 1;
    for (int i = 0; i < words; i++) w[i] = load32_le(key + 4 * i);
    for (int i = words; i < 4 * (rounds + 1); i++) {
        uint32_t t = w[i - 1];
        if (i % words == 0) {
            t = sub_word(t >> 8 | t << 24) ^ round_constant;
            round_constant = round_constant << 1 ^ (round_constant >> 7) * 0x11b;
        } else if (words == 8 && i % 8 == 4) {
            t = sub_word(t);
        }
        w[i] = w[i - words] ^ t;
    }
    for (int r = 0; r <= rounds; r++) {
        for (int i = 0; i < 16; i++) store32_le(round_key[i / 4] + i % 4 * 4, w[4 * r + i % 4]);
        load_blocks(k->schedule + 8 * r, round_key[0], 4);
    }
    secure_zero(w, sizeof w);
    secure_zero(round_key, sizeof round_key);
}

static void encrypt_slices(const aes_key *k, uint64_t q[8]) {
    const uint64_t *key = k->schedule;
    add_key(q, key);
    for (int r = 1;; r++) {
        key += 8;
        sub_bytes(q);
        shift_rows(q);
        if (r == k->rounds) break;
        mix_columns(q);
        add_key(q, key);
    }
    add_key(q, key);
}

static void decrypt_slices(const aes_key *k, uint64_t q[8]) {
    const uint64_t *key = k->schedule + 8 * k->rounds;
    add_key(q, key);
    for (int r = 1;; r++) {
        key -= 8;
        inverse_shift_rows(q);
        inverse_sub_bytes(q);
        add_key(q, key);
        if (r == k->rounds) break;
        inverse_mix_columns(q);
    }
}

static void cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    uint64_t q[8];
    const uint8_t *before = iv;
    for (size_t at = 0; at < n; at += 16) {
        for (int i = 0; i < 16; i++) buf[at + (size_t)i] ^= before[i];
        load_blocks(q, buf + at, 1);
        encrypt_slices(k, q);
        store_blocks(buf + at, q, 1);
        before = buf + at;
    }
    secure_zero(q, sizeof q);
}

/* The slices hold four blocks, so each of the chains gets a block of its own; the bits of block i are those at i
** and i + 4 of each byte. */
static void cbc_encrypt_each(const aes_cbc_job *job, int count, size_t n) {
    aes_key k = {.rounds = job->key->rounds};
    uint64_t q[8];
    uint8_t block[AES_CBC_JOBS][16];
    for (int i = 0; i < count; i++) {
        memcpy(block[i], job[i].iv, 16);
        for (int w = 0; w < 8 * (k.rounds + 1); w++) {
            k.schedule[w] |= job[i].key->schedule[w] & UINT64_C(0x1111111111111111) << i;
        }
    }
    for (size_t at = 0; at < n; at += 16) {
        for (int i = 0; i < count; i++) {
            for (int b = 0; b < 16; b++) block[i][b] ^= job[i].buf[at + (size_t)b];
        }
        load_blocks(q, block[0], count);
        encrypt_slices(&k, q);
        store_blocks(block[0], q, count);
        for (int i = 0; i < count; i++) memcpy(job[i].buf + at, block[i], 16);
    }
    secure_zero(&k, sizeof k);
    secure_zero(q, sizeof q);
}

static void cbc_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    uint64_t q[8];
    uint8_t before[5][16]; /* the ciphertext before each block, and the last */
    memcpy(before[4], iv, 16);
    while (n > 0) {
        const int blocks = n < 64 ? (int)n / 16 : 4;
        memcpy(before[0], before[4], 16);
        memcpy(before[1], buf, 16 * (size_t)blocks);
        memcpy(before[4], before[blocks], 16);
        load_blocks(q, buf, blocks);
        decrypt_slices(k, q);
        store_blocks(buf, q, blocks);
        for (int i = 0; i < 16 * blocks; i++) buf[i] ^= before[i / 16][i % 16];
        buf += 16 * blocks;
        n -= 16 * (size_t)blocks;
    }
    secure_zero(q, sizeof q);
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

typedef struct {
    uint64_t half[2];
} block;

static inline block load(const uint8_t *p) {
    block b;
    memcpy(&b, p, 16);
    return b;
}

static inline void store(uint8_t *p, block b) {
    memcpy(p, &b, 16);
}

static inline block block_xor(block a, block b) {
    return (block){{a.half[0] ^ b.half[0], a.half[1] ^ b.half[1]}};
}

static inline block block_and(block a, block b) {
    return (block){{a.half[0] & b.half[0], a.half[1] & b.half[1]}};
}

/* The state is kept as it is, and there is nothing to load. */
typedef char tables;

static inline tables aegis_tables(void) {
    return 0;
}

static inline block enter(block b, const tables *t) {
    (void)t;
    return b;
}

static inline block leave(block b, const tables *t) {
    (void)t;
    return b;
}

/* n is 6 or 8: two passes. */
static void update(block *s, int n, const tables *t) {
    uint64_t q[8];
    block next[8];
    (void)t;
    for (int i = 0; i < n; i += 4) {
        const int blocks = n - i < 4 ? n - i : 4;
        load_blocks(q, (const uint8_t *)(s + i), blocks);
        sub_bytes(q);
        shift_rows(q);
        mix_columns(q);
        store_blocks((uint8_t *)(next + i), q, blocks);
    }
    for (int i = 0; i < n; i++) s[i] = block_xor(s[i], next[i == 0 ? n - 1 : i - 1]);
    secure_zero(q, sizeof q);
    secure_zero(next, sizeof next);
}

#include "aegis_lane.h"

const aes_impl aes_bitsliced = {
    .name = "bitsliced",
    .cpu = 0,
    .key_init = key_init,
    .cbc_encrypt = cbc_encrypt,
    .cbc_encrypt_each = cbc_encrypt_each,
    .cbc_decrypt = cbc_decrypt,
    .aegis128 = aegis128,
    .aegis256 = aegis256,
};
