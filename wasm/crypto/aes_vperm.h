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
**   PIN_TABLE(p)              the compiler may not know that p is the address of a constant; may be empty
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
    PIN_TABLE(t);
    return vec_load(t);
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

typedef struct {
    inversion inv;
    image image;
    map enter;
    vec constant;
} tables_of_expansion;

INLINE tables_of_expansion expansion_tables(void) {
    return (tables_of_expansion){inversion_tables(), image_of(table_enc_last_p, table_enc_last_q),
                                 map_of(table_enter_enc_low, table_enter_enc_high), constant(table_constant)};
}

INLINE vec sub_bytes(vec x, const tables_of_expansion *t) {
    return vec_xor(finish_inversion(&t->image, invert(apply(&t->enter, x, t->inv.f), &t->inv)), t->constant);
}

#include "aes_expand.h"

/* InvMixColumns: (14, 11, 13, 9) is (5, 0, 4, 0) times (2, 3, 1, 1). */
INLINE vec inverse_mix_columns(vec x, const map *twice, const map *four_times, vec down, vec f) {
    x = vec_xor(x, apply(four_times, vec_xor(x, vec_lookup(vec_lookup(x, down), down)), f));
    const vec one_down = vec_lookup(x, down), t = vec_xor(x, one_down);
    return vec_xor(vec_xor(apply(twice, t, f), one_down), vec_lookup(vec_lookup(t, down), down));
}

static void key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    const int rounds = key_size == 16 ? 10 : 14;
    const vec f = fifteens(), down = constant(table_down);
    const map enter_enc = map_of(table_enter_enc_low, table_enter_enc_high);
    const map enter_dec = map_of(table_enter_dec_low, table_enter_dec_high);
    const map twice = map_of(table_times_2_low, table_times_2_high);
    const map four_times = map_of(table_times_4_low, table_times_4_high);
    const vec plain = constant(table_constant), enc = constant(table_constant_enc), dec = constant(table_constant_dec);
    uint8_t *schedule = (uint8_t *)k->schedule;
    expand(schedule, key, rounds);
    for (int r = 0; r <= rounds; r++) {
        const vec now = vec_load(schedule + 16 * r);
        vec e = apply(&enter_enc, now, f), d = now;
        if (r > 0) e = r == rounds ? vec_xor(now, plain) : vec_xor(e, enc);
        if (r > 0 && r < rounds) d = inverse_mix_columns(d, &twice, &four_times, down, f);
        if (r > 0) d = vec_xor(apply(&enter_dec, d, f), dec);
        vec_store(schedule + 16 * r, e);
        vec_store(schedule + 16 * (DECRYPTION + rounds - r), d);
    }
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
