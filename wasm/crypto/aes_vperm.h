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
**   VEC_PIN(v)                an empty asm that may have changed v; may be empty
**   PIN_TABLE(p)              the compiler may not know that p is the address of a constant; may be empty
**   VPERM_NAME, VPERM_STRING, VPERM_CPU   the table's name, its text, the CPU_* bits it needs
*/
#include <string.h>

#include "aes_impl.h"
#include "cpu.h"
#include "secure.h"

#define TABLE(name, ...) static const _Alignas(16) uint8_t table_##name[16] = {__VA_ARGS__};
#include "aes_tables.h"
#undef TABLE

/* Blocks at the same time: as many as a state of AEGIS-128L has. */
#define ABREAST 8

/* v[b] = value for each b of n blocks, before the next line does anything for any of them: each of these results
** has to be waited for. VEC_PIN keeps the compiler from putting the work on each block together again. */
#define EACH(v, value)            \
    for (int b = 0; b < n; b++) { \
        v[b] = value;             \
        VEC_PIN(v[b]);            \
    }

AES_INLINE vec constant(const uint8_t t[16]) {
    PIN_TABLE(t);
    return vec_load(t);
}

AES_INLINE vec fifteens(void) {
    static const uint8_t f[16] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
    return constant(f);
}

/* A linear map of bytes by both halves. */
typedef struct {
    vec low, high;
} map;

AES_INLINE map map_of(const uint8_t low[16], const uint8_t high[16]) {
    return (map){constant(low), constant(high)};
}

AES_INLINE vec apply(const map *m, vec x, vec f) {
    return vec_xor(vec_lookup(m->low, vec_low(x, f)), vec_lookup(m->high, vec_high(x, f)));
}

/* A linear image of the inverse by p and q. */
typedef struct {
    vec p, q;
} image;

AES_INLINE image image_of(const uint8_t p[16], const uint8_t q[16]) {
    return (image){constant(p), constant(q)};
}

typedef struct {
    vec f, inverse, a_over;
} inversion;

AES_INLINE inversion inversion_tables(void) {
    return (inversion){fifteens(), constant(table_inverse), constant(table_a_over)};
}

/* p and q of n blocks. */
AES_INLINE void invert(vec *p, vec *q, const vec *x, const int n, const inversion *t) {
    vec i[ABREAST], j[ABREAST], k[ABREAST], ak[ABREAST];
    EACH(i, vec_high(x[b], t->f))
    EACH(k, vec_low(x[b], t->f))
    EACH(j, vec_xor(i[b], k[b]))
    EACH(ak, vec_lookup(t->a_over, k[b]))
    EACH(p, vec_lookup(t->inverse, i[b]))
    EACH(q, vec_lookup(t->inverse, j[b]))
    EACH(p, vec_xor(p[b], ak[b]))
    EACH(q, vec_xor(q[b], ak[b]))
    EACH(p, vec_lookup(t->inverse, p[b]))
    EACH(q, vec_lookup(t->inverse, q[b]))
    EACH(p, vec_xor(p[b], j[b]))
    EACH(q, vec_xor(q[b], i[b]))
}

/* A linear image of one block's inverses. */
AES_INLINE vec image_of_inverse(const image *m, vec x, const inversion *t) {
    vec p, q;
    invert(&p, &q, &x, 1, t);
    return vec_xor(vec_lookup(m->p, p), vec_lookup(m->q, q));
}

/* ------------------------------------------------------------------------------------------ encryption */

typedef struct {
    inversion inv;
    image once, twice;
    vec two_down, rows, rows_down;
} round_tables;

AES_INLINE round_tables encryption_tables(void) {
    return (round_tables){inversion_tables(),
                          image_of(table_enc_1_p, table_enc_1_q),
                          image_of(table_enc_2_p, table_enc_2_q),
                          constant(table_two_down),
                          constant(table_rows),
                          constant(table_rows_down)};
}

/*
** x[b] = key[b] XOR MixColumns(ShiftRows(SubBytes(x[b]))), without SubBytes' constant. With r one row down,
** MixColumns is 2 + 3 r + r^2 + r^3 = u + r (u + 1), u being 2 + r^2. `early`: the keys are as they are before
** ShiftRows.
*/
AES_INLINE void encrypt_rounds(vec *x, const vec *key, const int early, const int n, const round_tables *t) {
    vec p[ABREAST], q[ABREAST], a[ABREAST], u[ABREAST], v[ABREAST];
    invert(p, q, x, n, &t->inv);
    EACH(a, vec_lookup(t->once.p, p[b]))
    EACH(v, vec_lookup(t->once.q, q[b]))
    EACH(a, vec_xor(a[b], v[b]))
    EACH(u, vec_lookup(t->twice.p, p[b]))
    EACH(v, vec_lookup(t->twice.q, q[b]))
    EACH(u, vec_xor(u[b], v[b]))
    EACH(v, vec_lookup(a[b], t->two_down))
    EACH(u, vec_xor(u[b], v[b]))
    EACH(a, vec_xor(u[b], a[b]))
    EACH(u, early ? vec_xor(u[b], key[b]) : u[b])
    EACH(u, vec_lookup(u[b], t->rows))
    EACH(a, vec_lookup(a[b], t->rows_down))
    EACH(u, early ? u[b] : vec_xor(u[b], key[b]))
    EACH(x, vec_xor(u[b], a[b]))
}

/*
** The expanded key: 15 round keys for encryption, all but the first as they are before ShiftRows; then, at
** DECRYPTION, as many in the order in which decryption uses them. Each is in the form in which its round works,
** with SubBytes' constant.
*/
enum { DECRYPTION = 15 };

AES_INLINE vec round_key(const aes_key *k, int i) {
    return vec_load((const uint8_t *)k->schedule + 16 * i);
}

/*
** CBC encryption is one chain of rounds, each of which waits for the one before it: what counts is the length of
** the way, not how much there is to do beside it. So all factors of MixColumns come from look-ups, ShiftRows and
** the steps down the rows are one permutation, the key (before ShiftRows) joins p, which comes before q, and from
** block to block the chain stays in the form of the rounds.
*/
typedef struct {
    inversion inv;
    image once, twice, thrice;
    vec rows[4];
} chain_tables;

AES_INLINE vec chained_round(vec x, vec key, const chain_tables *t) {
    vec p, q;
    invert(&p, &q, &x, 1, &t->inv);
    const vec once = vec_xor(vec_lookup(t->once.p, p), vec_lookup(t->once.q, q));
    const vec thrice = vec_xor(vec_lookup(t->thrice.p, p), vec_lookup(t->thrice.q, q));
    const vec twice = vec_xor(vec_xor(vec_lookup(t->twice.p, p), key), vec_lookup(t->twice.q, q));
    return vec_xor(vec_xor(vec_lookup(twice, t->rows[0]), vec_lookup(thrice, t->rows[1])),
                   vec_xor(vec_lookup(once, t->rows[2]), vec_lookup(once, t->rows[3])));
}

static void cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    const chain_tables t = {
        inversion_tables(),
        image_of(table_enc_1_p, table_enc_1_q),
        image_of(table_enc_2_p, table_enc_2_q),
        image_of(table_enc_3_p, table_enc_3_q),
        {constant(table_rows), constant(table_rows_down), constant(table_rows_down_2), constant(table_rows_down_3)}};
    const map enter = map_of(table_enter_enc_low, table_enter_enc_high);
    const map leave = map_of(table_leave_enc_low, table_leave_enc_high);
    vec x = apply(&enter, vec_load(iv), t.inv.f);
    for (; n > 0; n -= 16, buf += 16) {
        vec p, q;
        x = vec_xor(x, vec_xor(apply(&enter, vec_load(buf), t.inv.f), round_key(k, 0)));
        for (int r = 1; r < k->rounds; r++) x = chained_round(x, round_key(k, r), &t);
        invert(&p, &q, &x, 1, &t.inv);
        x = vec_xor(vec_xor(vec_lookup(t.once.p, p), round_key(k, k->rounds)), vec_lookup(t.once.q, q));
        x = vec_lookup(x, t.rows[0]);
        vec_store(buf, apply(&leave, x, t.inv.f));
    }
}

/*
** Four chains side by side: what one waits for, the others use. Where there are fewer jobs, the first one is done
** more than once.
*/
static void cbc_encrypt_each(const aes_cbc_job *job, int count, size_t size) {
    enum { n = AES_CBC_JOBS };
    const round_tables t = encryption_tables();
    const map enter = map_of(table_enter_enc_low, table_enter_enc_high);
    const map leave = map_of(table_leave_enc_low, table_leave_enc_high);
    vec x[n];
    for (int b = 0; b < n; b++) x[b] = apply(&enter, vec_load(job[b < count ? b : 0].iv), t.inv.f);
    for (size_t at = 0; at < size; at += 16) {
        vec key[n], p[n], q[n];
        for (int b = 0; b < n; b++) {
            const aes_cbc_job *j = &job[b < count ? b : 0];
            const vec plain = apply(&enter, vec_load(j->buf + at), t.inv.f);
            x[b] = vec_xor(x[b], vec_xor(plain, round_key(j->key, 0)));
        }
        for (int r = 1; r < job->key->rounds; r++) {
            for (int b = 0; b < n; b++) key[b] = round_key(job[b < count ? b : 0].key, r);
            encrypt_rounds(x, key, 1, n, &t);
        }
        invert(p, q, x, n, &t.inv);
        for (int b = 0; b < n; b++) {
            const aes_cbc_job *j = &job[b < count ? b : 0];
            x[b] = vec_xor(vec_lookup(t.once.p, p[b]), vec_lookup(t.once.q, q[b]));
            x[b] = vec_lookup(vec_xor(x[b], round_key(j->key, j->key->rounds)), t.rows);
        }
        for (int b = 0; b < count; b++) vec_store(job[b].buf + at, apply(&leave, x[b], t.inv.f));
    }
}

/* ------------------------------------------------------------------------------------------ decryption */

typedef struct {
    inversion inv;
    image times_9, times_b, times_d, times_e;
    vec two_down, rows, rows_down;
} inverse_tables;

AES_INLINE inverse_tables decryption_tables(void) {
    return (inverse_tables){inversion_tables(),
                            image_of(table_dec_9_p, table_dec_9_q),
                            image_of(table_dec_b_p, table_dec_b_q),
                            image_of(table_dec_d_p, table_dec_d_q),
                            image_of(table_dec_e_p, table_dec_e_q),
                            constant(table_two_down),
                            constant(table_rows_back),
                            constant(table_rows_back_down)};
}

/* x[b] = key XOR InvMixColumns(InvShiftRows(InvSubBytes(x[b]))): 14 + 13 r^2 + r (11 + 9 r^2). */
AES_INLINE void decrypt_rounds(vec *x, vec key, const int n, const inverse_tables *t) {
    vec p[ABREAST], q[ABREAST], even[ABREAST], odd[ABREAST], v[ABREAST];
    invert(p, q, x, n, &t->inv);
    EACH(even, vec_lookup(t->times_d.p, p[b]))
    EACH(v, vec_lookup(t->times_d.q, q[b]))
    EACH(even, vec_xor(even[b], v[b]))
    EACH(even, vec_lookup(even[b], t->two_down))
    EACH(v, vec_lookup(t->times_e.p, p[b]))
    EACH(even, vec_xor(even[b], v[b]))
    EACH(v, vec_lookup(t->times_e.q, q[b]))
    EACH(even, vec_xor(even[b], v[b]))
    EACH(odd, vec_lookup(t->times_9.p, p[b]))
    EACH(v, vec_lookup(t->times_9.q, q[b]))
    EACH(odd, vec_xor(odd[b], v[b]))
    EACH(odd, vec_lookup(odd[b], t->two_down))
    EACH(v, vec_lookup(t->times_b.p, p[b]))
    EACH(odd, vec_xor(odd[b], v[b]))
    EACH(v, vec_lookup(t->times_b.q, q[b]))
    EACH(odd, vec_xor(odd[b], v[b]))
    EACH(even, vec_lookup(even[b], t->rows))
    EACH(odd, vec_lookup(odd[b], t->rows_down))
    EACH(even, vec_xor(even[b], key))
    EACH(x, vec_xor(even[b], odd[b]))
}

AES_INLINE void decrypt_blocks(const aes_key *k, vec before, uint8_t *buf, const int blocks) {
    const inverse_tables t = decryption_tables();
    const image last = image_of(table_dec_last_p, table_dec_last_q);
    const map enter = map_of(table_enter_dec_low, table_enter_dec_high);
    vec x[ABREAST];
    for (int b = 0; b < blocks; b++)
        x[b] = vec_xor(apply(&enter, vec_load(buf + 16 * b), t.inv.f), round_key(k, DECRYPTION));
    for (int r = 1; r < k->rounds; r++) {
        const vec key = round_key(k, DECRYPTION + r);
        decrypt_rounds(x, key, blocks, &t);
    }
    const vec key = round_key(k, DECRYPTION + k->rounds);
    for (int b = 0; b < blocks; b++) {
        const vec next = vec_load(buf + 16 * b);
        const vec y = vec_lookup(image_of_inverse(&last, x[b], &t.inv), t.rows);
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

AES_INLINE tables_of_expansion expansion_tables(void) {
    return (tables_of_expansion){inversion_tables(), image_of(table_enc_last_p, table_enc_last_q),
                                 map_of(table_enter_enc_low, table_enter_enc_high), constant(table_constant)};
}

AES_INLINE vec sub_bytes(vec x, const tables_of_expansion *t) {
    return vec_xor(image_of_inverse(&t->image, apply(&t->enter, x, t->inv.f), &t->inv), t->constant);
}

#include "aes_expand.h"

/* InvMixColumns: (14, 11, 13, 9) is (5, 0, 4, 0) times (2, 3, 1, 1). */
AES_INLINE vec inverse_mix_columns(vec x, const map *twice, const map *four_times, vec down, vec f) {
    x = vec_xor(x, apply(four_times, vec_xor(x, vec_lookup(vec_lookup(x, down), down)), f));
    const vec one_down = vec_lookup(x, down), t = vec_xor(x, one_down);
    return vec_xor(vec_xor(apply(twice, t, f), one_down), vec_lookup(vec_lookup(t, down), down));
}

static void key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    const int rounds = key_size == 16 ? 10 : 14;
    const vec f = fifteens(), down = constant(table_down), rows_back = constant(table_rows_back);
    const map enter_enc = map_of(table_enter_enc_low, table_enter_enc_high);
    const map enter_dec = map_of(table_enter_dec_low, table_enter_dec_high);
    const map twice = map_of(table_times_2_low, table_times_2_high);
    const map four_times = map_of(table_times_4_low, table_times_4_high);
    const vec enc = constant(table_constant_enc), dec = constant(table_constant_dec);
    uint8_t *schedule = (uint8_t *)k->schedule;
    expand(schedule, key, rounds);
    for (int r = 0; r <= rounds; r++) {
        const vec now = vec_load(schedule + 16 * r);
        vec e = apply(&enter_enc, now, f), d = now;
        if (r > 0) e = vec_lookup(vec_xor(e, enc), rows_back);
        if (r > 0 && r < rounds) d = inverse_mix_columns(d, &twice, &four_times, down, f);
        if (r > 0) d = vec_xor(apply(&enter_dec, d, f), dec);
        vec_store(schedule + 16 * r, e);
        vec_store(schedule + 16 * (DECRYPTION + rounds - r), d);
    }
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

typedef vec block;

AES_INLINE block load(const uint8_t *p) {
    return vec_load(p);
}

AES_INLINE void store(uint8_t *p, block b) {
    vec_store(p, b);
}

AES_INLINE block block_xor(block a, block b) {
    return vec_xor(a, b);
}

AES_INLINE block block_and(block a, block b) {
    return vec_and(a, b);
}

/* The state is kept as encrypt_round() wants it. */
typedef struct {
    round_tables round;
    map enter, leave;
    vec constant;
} tables;

AES_INLINE tables aegis_tables(void) {
    return (tables){encryption_tables(), map_of(table_enter_enc_low, table_enter_enc_high),
                    map_of(table_leave_enc_low, table_leave_enc_high), constant(table_constant_enc)};
}

AES_INLINE block enter(block b, const tables *t) {
    return apply(&t->enter, b, t->round.inv.f);
}

AES_INLINE block leave(block b, const tables *t) {
    return apply(&t->leave, b, t->round.inv.f);
}

AES_INLINE void update(block *s, const int n, const tables *t) {
    vec x[ABREAST];
    for (int i = 0; i < n; i++) x[i] = s[i == 0 ? n - 1 : i - 1];
    for (int i = 0; i < n; i++) s[i] = vec_xor(s[i], t->constant);
    encrypt_rounds(x, s, 0, n, &t->round);
    for (int i = 0; i < n; i++) s[i] = x[i];
}

#include "aegis_lane.h"

const aes_impl VPERM_NAME = {
    .name = VPERM_STRING,
    .cpu = VPERM_CPU,
    .key_init = key_init,
    .cbc_encrypt = cbc_encrypt,
    .cbc_encrypt_each = cbc_encrypt_each,
    .cbc_decrypt = cbc_decrypt,
    .aegis128 = aegis128,
    .aegis256 = aegis256,
};
