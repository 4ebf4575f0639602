/*
** AES and AEGIS with instructions for a round of AES: the algorithm, written once. A file for an instruction set
** defines what follows and includes this one.
**
**   vec                       16 bytes
**   vec_load(p), vec_store(p, v), vec_xor(a, b), vec_and(a, b)
**   vec_lookup(table, index)  the bytes of `table` at index[0..16), zero where the index is 128
**   encrypt_blocks(x, n, keys, rounds), decrypt_blocks(...)   x[0..n): AES, the keys one after the other in memory
**   full_round(x, key)        MixColumns(ShiftRows(SubBytes(x))) XOR key
**   last_round(x)             ShiftRows(SubBytes(x))
**   inverse_mix_columns(x)
**   HARDWARE_NAME, HARDWARE_STRING, HARDWARE_CPU   the table's name, its text, the CPU_* bits it needs
*/
#include <string.h>

#include "aes_impl.h"
#include "cpu.h"

/* In place of the tables that others need. */
typedef char tables, tables_of_expansion;

static inline tables_of_expansion expansion_tables(void) {
    return 0;
}

/* On four equal words: ShiftRows has no effect. */
static inline vec sub_bytes(vec x, const tables_of_expansion *t) {
    (void)t;
    return last_round(x);
}

#include "aes_expand.h"

/* The expanded key: 15 round keys for encryption, then, at DECRYPTION, as many in the order of decryption. */
enum { DECRYPTION = 15 };

static void key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    const int rounds = key_size == 16 ? 10 : 14;
    uint8_t *enc = (uint8_t *)k->schedule, *dec = enc + 16 * DECRYPTION;
    expand(enc, key, rounds);
    for (int r = 0; r <= rounds; r++) {
        vec x = vec_load(enc + 16 * (rounds - r));
        if (r > 0 && r < rounds) x = inverse_mix_columns(x);
        vec_store(dec + 16 * r, x);
    }
}

static void cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    const uint8_t *keys = (const uint8_t *)k->schedule;
    vec x = vec_load(iv);
    for (; n > 0; n -= 16, buf += 16) {
        x = vec_xor(x, vec_load(buf));
        encrypt_blocks(&x, 1, keys, k->rounds);
        vec_store(buf, x);
    }
}

/* Two to four chains side by side. */
static void cbc_encrypt_each(const aes_cbc_job *job, int count, size_t n) {
    const int rounds = job->key->rounds;
    vec x[AES_CBC_JOBS];
    for (int b = 0; b < AES_CBC_JOBS; b++) x[b] = vec_load(job[b < count ? b : 0].iv);
    for (size_t at = 0; at < n; at += 16) {
        for (int b = 0; b < AES_CBC_JOBS; b++) {
            const aes_cbc_job *j = &job[b < count ? b : 0];
            x[b] = vec_xor(x[b], vec_xor(vec_load(j->buf + at), vec_load((const uint8_t *)j->key->schedule)));
        }
        for (int r = 1; r < rounds; r++) {
            for (int b = 0; b < AES_CBC_JOBS; b++) {
                x[b] = full_round(x[b], vec_load((const uint8_t *)job[b < count ? b : 0].key->schedule + 16 * r));
            }
        }
        for (int b = 0; b < AES_CBC_JOBS; b++) {
            const aes_cbc_job *j = &job[b < count ? b : 0];
            x[b] = vec_xor(last_round(x[b]), vec_load((const uint8_t *)j->key->schedule + 16 * rounds));
        }
        for (int b = 0; b < count; b++) vec_store(job[b].buf + at, x[b]);
    }
}

#define ABREAST 8

static inline vec cbc_decrypt_blocks(const aes_key *k, vec before, uint8_t *buf, const int blocks) {
    const uint8_t *keys = (const uint8_t *)k->schedule + 16 * DECRYPTION;
    vec x[ABREAST];
    for (int b = 0; b < blocks; b++) x[b] = vec_load(buf + 16 * b);
    decrypt_blocks(x, blocks, keys, k->rounds);
    for (int b = 0; b < blocks; b++) {
        const vec next = vec_load(buf + 16 * b);
        vec_store(buf + 16 * b, vec_xor(x[b], before));
        before = next;
    }
    return before;
}

static void cbc_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    vec before = vec_load(iv);
    for (; n >= 16 * ABREAST; n -= 16 * ABREAST, buf += 16 * ABREAST)
        before = cbc_decrypt_blocks(k, before, buf, ABREAST);
    for (; n > 0; n -= 16, buf += 16) before = cbc_decrypt_blocks(k, before, buf, 1);
}

/* ---------------------------------------------------------------------------------------------- AEGIS */

typedef vec block;

static inline block load(const uint8_t *p) {
    return vec_load(p);
}

static inline void store(uint8_t *p, block b) {
    vec_store(p, b);
}

static inline block block_xor(block a, block b) {
    return vec_xor(a, b);
}

static inline block block_and(block a, block b) {
    return vec_and(a, b);
}

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

static inline void update(block *s, const int n, const tables *t) {
    const block last = s[n - 1];
    (void)t;
    for (int i = n - 1; i > 0; i--) s[i] = full_round(s[i - 1], s[i]);
    s[0] = full_round(last, s[0]);
}

#include "aegis_lane.h"

const aes_impl HARDWARE_NAME = {
    .name = HARDWARE_STRING,
    .cpu = HARDWARE_CPU,
    .key_init = key_init,
    .cbc_encrypt = cbc_encrypt,
    .cbc_encrypt_each = cbc_encrypt_each,
    .cbc_decrypt = cbc_decrypt,
    .aegis128 = aegis128,
    .aegis256 = aegis256,
};
