/*
** AES and AEGIS with vectors of 16 bytes and an instruction that looks up 16 bytes at once: the algorithm, written
** once. A file for an instruction set defines what follows and includes this one. scripts/aes_tables.mjs says how
** it works, and makes the tables. No memory is indexed by a secret: the tables are in registers.
**
**   vec                       16 bytes
**   vec_load(p), vec_store(p, v), vec_xor(a, b), vec_and(a, b)
**   vec_low(v, f), vec_high(v, f)     each byte's low half; its high half. f has 15 in each byte.
**   vec_lookup(table, index)  the bytes of `table` at index[0..16), zero where the index is above 127. No index
**                             is between 16 and 127.
**   VEC_PIN(v)                keeps a constant in a local (for WebAssembly); may be empty
**   VPERM_NAME, VPERM_STRING, VPERM_CPU   the table's name, its text, the CPU_* bits it needs
*/
#include <string.h>

#include "aes_impl.h"
#include "cpu.h"
#include "secure.h"

#define TABLE(name, ...) static const uint8_t table_##name[16] __attribute__((aligned(16))) = {__VA_ARGS__};
#include "aes_tables.h"
#undef TABLE

#define INLINE static inline __attribute__((always_inline))

INLINE vec constant(const uint8_t t[16]) {
    vec v = vec_load(t);
    VEC_PIN(v);
    return v;
}

INLINE vec fifteens(void) {
    static const uint8_t f[16] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    return constant(f);
}

/* A linear map of bytes by both halves. */
typedef struct {
    vec low, high;
} map;

INLINE map map_of(const uint8_t low[16], const uint8_t high[16]) {
    return (map){constant(low), constant(high)};
}

INLINE vec apply(const map *m, vec x, vec f) {
    return vec_xor(vec_lookup(m->low, vec_low(x, f)), vec_lookup(m->high, vec_high(x, f)));
}

/* A linear image of the inverse by p and q. */
typedef struct {
    vec p, q;
} image;

INLINE image image_of(const uint8_t p[16], const uint8_t q[16]) {
    return (image){constant(p), constant(q)};
}

INLINE vec finish_inversion(const image *m, image x) {
    return vec_xor(vec_lookup(m->p, x.p), vec_lookup(m->q, x.q));
}

typedef struct {
    vec f, inverse, a_over;
} inversion;

INLINE inversion inversion_tables(void) {
    return (inversion){fifteens(), constant(table_inverse), constant(table_a_over)};
}

INLINE image invert(vec x, const inversion *t) {
    const vec k = vec_low(x, t->f), i = vec_high(x, t->f), j = vec_xor(i, k);
    const vec ak = vec_lookup(t->a_over, k);
    const vec u = vec_xor(vec_lookup(t->inverse, i), ak), v = vec_xor(vec_lookup(t->inverse, j), ak);
    return (image){vec_xor(vec_lookup(t->inverse, u), j), vec_xor(vec_lookup(t->inverse, v), i)};
}

/* ------------------------------------------------------------------------------------------ encryption */

typedef struct {
    inversion inv;
    image once, twice;
    vec two_down, rows, rows_down;
} round_tables;

INLINE round_tables encryption_tables(void) {
    return (round_tables){inversion_tables(),
                          image_of(table_enc_1_p, table_enc_1_q),
                          image_of(table_enc_2_p, table_enc_2_q),
                          constant(table_two_down),
                          constant(table_rows),
                          constant(table_rows_down)};
}

/*
** key XOR MixColumns(ShiftRows(SubBytes(x))), without SubBytes' constant. With r one row down, MixColumns is
** 2 + 3 r + r^2 + r^3 = u + r (u + 1), u being 2 + r^2.
*/
INLINE vec encrypt_round(vec x, vec key, const round_tables *t) {
    const image i = invert(x, &t->inv);
    const vec a = finish_inversion(&t->once, i);
    const vec u = vec_xor(finish_inversion(&t->twice, i), vec_lookup(a, t->two_down));
    return vec_xor(vec_xor(vec_lookup(u, t->rows), key), vec_lookup(vec_xor(u, a), t->rows_down));
}

/*
** The expanded key: 15 round keys for encryption, then, at DECRYPTION, as many in the order in which decryption
** uses them. Each is in the form in which its round works, with SubBytes' constant.
*/
enum { DECRYPTION = 15 };

INLINE vec round_key(const aes_key *k, int i) {
    return vec_load((const uint8_t *)k->schedule + 16 * i);
}

static void cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    const round_tables t = encryption_tables();
    const image last = image_of(table_enc_last_p, table_enc_last_q);
    const map enter = map_of(table_enter_enc_low, table_enter_enc_high);
    vec x = vec_load(iv);
    for (; n > 0; n -= 16, buf += 16) {
        x = vec_xor(apply(&enter, vec_xor(x, vec_load(buf)), t.inv.f), round_key(k, 0));
        for (int r = 1; r < k->rounds; r++) x = encrypt_round(x, round_key(k, r), &t);
        x = vec_lookup(finish_inversion(&last, invert(x, &t.inv)), t.rows);
        x = vec_xor(x, round_key(k, k->rounds));
        vec_store(buf, x);
    }
}

/* ------------------------------------------------------------------------------------------ decryption */

typedef struct {
    inversion inv;
    image times_9, times_b, times_d, times_e;
    vec two_down, rows, rows_down;
} inverse_tables;

INLINE inverse_tables decryption_tables(void) {
    return (inverse_tables){inversion_tables(),
                            image_of(table_dec_9_p, table_dec_9_q),
                            image_of(table_dec_b_p, table_dec_b_q),
                            image_of(table_dec_d_p, table_dec_d_q),
                            image_of(table_dec_e_p, table_dec_e_q),
                            constant(table_two_down),
                            constant(table_rows_back),
                            constant(table_rows_back_down)};
}

/* key XOR InvMixColumns(InvShiftRows(InvSubBytes(x))): 14 + 13 r^2 + r (11 + 9 r^2). */
INLINE vec decrypt_round(vec x, vec key, const inverse_tables *t) {
    const image i = invert(x, &t->inv);
    const vec even =
        vec_xor(finish_inversion(&t->times_e, i), vec_lookup(finish_inversion(&t->times_d, i), t->two_down));
    const vec odd =
        vec_xor(finish_inversion(&t->times_b, i), vec_lookup(finish_inversion(&t->times_9, i), t->two_down));
    return vec_xor(vec_xor(vec_lookup(even, t->rows), key), vec_lookup(odd, t->rows_down));
}

/* Blocks that are decrypted at the same time. */
#define ABREAST 8

INLINE void decrypt_blocks(const aes_key *k, vec before, uint8_t *buf, const int blocks) {
    const inverse_tables t = decryption_tables();
    const image last = image_of(table_dec_last_p, table_dec_last_q);
    const map enter = map_of(table_enter_dec_low, table_enter_dec_high);
    vec x[ABREAST];
    for (int b = 0; b < blocks; b++)
        x[b] = vec_xor(apply(&enter, vec_load(buf + 16 * b), t.inv.f), round_key(k, DECRYPTION));
    for (int r = 1; r < k->rounds; r++) {
        const vec key = round_key(k, DECRYPTION + r);
        for (int b = 0; b < blocks; b++) x[b] = decrypt_round(x[b], key, &t);
    }
    const vec key = round_key(k, DECRYPTION + k->rounds);
    for (int b = 0; b < blocks; b++) {
        const vec next = vec_load(buf + 16 * b);
        const vec y = vec_lookup(finish_inversion(&last, invert(x[b], &t.inv)), t.rows);
        vec_store(buf + 16 * b, vec_xor(vec_xor(y, key), before));
        before = next;
    }
}

static void cbc_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    vec before = vec_load(iv);
    for (; n >= 16 * ABREAST; n -= 16 * ABREAST, buf += 16 * ABREAST) {
        const vec next = vec_load(buf + 16 * (ABREAST - 1));
        decrypt_blocks(k, before, buf, ABREAST);
        before = next;
    }
    for (; n > 0; n -= 16, buf += 16) {
        const vec next = vec_load(buf);
        decrypt_blocks(k, before, buf, 1);
        before = next;
    }
}

/* ---------------------------------------------------------------------------------------- key schedule */

/*
** The last word of a round key goes through SubBytes, for every second key of a 256-bit one as it is, else
** rotated; then all words take it. word_3 and word_3_rotated bring it to all four words; words_up moves the words up
** by one and by two, and leaves zeros.
*/
static const uint8_t word_3[16] = {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15};
static const uint8_t word_3_rotated[16] = {13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12};
static const uint8_t words_up[2][16] = {{128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                        {128, 128, 128, 128, 128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7}};

static void key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    const inversion inv = inversion_tables();
    const image sub_bytes = image_of(table_enc_last_p, table_enc_last_q);
    const map enter = map_of(table_enter_enc_low, table_enter_enc_high);
    const map enter_dec = map_of(table_enter_dec_low, table_enter_dec_high);
    const map twice = map_of(table_times_2_low, table_times_2_high);
    const map four_times = map_of(table_times_4_low, table_times_4_high);
    const vec up[2] = {constant(words_up[0]), constant(words_up[1])};
    const vec rotations[2] = {constant(word_3_rotated), constant(word_3)};
    const vec down = constant(table_down), one = constant(table_constant);
    vec w[2]; /* the last two round keys of a 256-bit key; the last one, twice, of the others */
    uint8_t *schedule = (uint8_t *)k->schedule;
    uint8_t round_constant[16] = {0};
    unsigned rc = 1;
    const int rounds = k->rounds, wide = key_size == 32;
    w[0] = w[1] = vec_load(key);
    if (wide) w[1] = vec_load(key + 16);
    for (int r = 0; r <= rounds; r++) {
        /* This round's key, and what takes its place: a step of two round keys' distance, or of one. */
        const vec now = w[0];
        vec x = w[1], t = w[0];
        const int rotated = !wide || r % 2 == 0;
        memset(round_constant, 0, sizeof round_constant);
        if (rotated) {
            for (int i = 0; i < 16; i += 4) round_constant[i] = (uint8_t)rc;
            rc = rc << 1 ^ (rc >> 7) * 0x11b;
        }
        t = vec_xor(t, vec_lookup(t, up[0]));
        t = vec_xor(t, vec_lookup(t, up[1]));
        x = vec_lookup(x, rotations[!rotated]);
        x = vec_xor(finish_inversion(&sub_bytes, invert(apply(&enter, x, inv.f), &inv)), one);
        t = vec_xor(vec_xor(t, x), vec_load(round_constant));
        w[0] = wide ? w[1] : t;
        w[1] = t;
        vec e = apply(&enter, now, inv.f), d = now;
        if (r > 0 && r < rounds) {
            e = vec_xor(e, constant(table_constant_enc));
            /* InvMixColumns: (5, 0, 4, 0), then (2, 3, 1, 1) */
            vec s = vec_xor(d, vec_lookup(vec_lookup(d, down), down));
            d = vec_xor(d, apply(&four_times, s, inv.f));
            s = vec_xor(d, vec_lookup(d, down));
            d = vec_xor(vec_lookup(d, down), vec_lookup(vec_lookup(s, down), down));
            d = vec_xor(d, apply(&twice, s, inv.f));
        }
        d = vec_xor(apply(&enter_dec, d, inv.f), constant(table_constant_dec));
        if (r == 0) d = now;
        if (r == rounds) e = vec_xor(now, one);
        vec_store(schedule + 16 * r, e);
        vec_store(schedule + 16 * (DECRYPTION + rounds - r), d);
    }
    secure_zero(w, sizeof w);
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

typedef vec block;

INLINE block load(const uint8_t *p) {
    return vec_load(p);
}

INLINE void store(uint8_t *p, block b) {
    vec_store(p, b);
}

INLINE block block_xor(block a, block b) {
    return vec_xor(a, b);
}

INLINE block block_and(block a, block b) {
    return vec_and(a, b);
}

/* The state is kept as encrypt_round() wants it. */
typedef struct {
    round_tables round;
    map enter, leave;
    vec constant;
} tables;

INLINE tables aegis_tables(void) {
    return (tables){encryption_tables(), map_of(table_enter_enc_low, table_enter_enc_high),
                    map_of(table_leave_enc_low, table_leave_enc_high), constant(table_constant_enc)};
}

INLINE block enter(block b, const tables *t) {
    return apply(&t->enter, b, t->round.inv.f);
}

INLINE block leave(block b, const tables *t) {
    return apply(&t->leave, b, t->round.inv.f);
}

INLINE void update(block *s, const int n, const tables *t) {
    const block last = s[n - 1];
    for (int i = n - 1; i >= 0; i--)
        s[i] = encrypt_round(i == 0 ? last : s[i - 1], vec_xor(s[i], t->constant), &t->round);
}

#include "aegis_lane.h"

const aes_impl VPERM_NAME = {
    .name = VPERM_STRING,
    .cpu = VPERM_CPU,
    .key_init = key_init,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .aegis128 = aegis128,
    .aegis256 = aegis256,
};
