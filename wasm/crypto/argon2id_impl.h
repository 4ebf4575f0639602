/*
** Inside Argon2id: the table that each implementation of the compression function exports, the selector's
** report, and the steps of a derivation.
*/
#ifndef SQLITE3MC_ARGON2ID_IMPL_H
#define SQLITE3MC_ARGON2ID_IMPL_H

#include <stddef.h>
#include <stdint.h>

/* A block of 1024 bytes: words in the machine's byte order. */
typedef struct argon2id_block {
    uint64_t w[128];
} argon2id_block;

typedef struct argon2id_impl {
    const char *name;
    uint32_t cpu; /* CPU_* bits that the machine must have (cpu.h) */
    /* next = G(x, y) of RFC 9106 3.5, XORed into what is there if `add`. Blocks are aligned to 8 bytes; next and
    ** scratch are none of the others. */
    void (*fill)(argon2id_block *next, const argon2id_block *x, const argon2id_block *y, int add,
                 argon2id_block *scratch);
} argon2id_impl;

extern const argon2id_impl argon2id_scalar;
extern const argon2id_impl argon2id_ssse3;
extern const argon2id_impl argon2id_neon;
extern const argon2id_impl argon2id_simd128;

/* Compiled in: the i-th table, best first; NULL after the last, which is always the scalar one. */
const argon2id_impl *argon2id_compiled(unsigned i);

/* In use: the first compiled table that this machine can run. */
const argon2id_impl *argon2id_in_use(void);

typedef struct argon2id_input {
    const uint8_t *password, *salt, *secret, *ad;
    size_t password_size, salt_size, secret_size, ad_size;
    uint32_t t, m, p; /* passes, KiB, lanes */
} argon2id_input;

/* A derivation under way. Holds secrets: wipe it, and the memory. */
typedef struct argon2id_state {
    const argon2id_impl *impl;
    argon2id_block *memory; /* lane after lane */
    uint32_t t, p, blocks, lane_length, segment_length;
    argon2id_block scratch, zero, input, half, addresses;
} argon2id_state;

/* The steps: start; for each pass, slice 0..3 and lane in this order argon2id_segment; finish. Until the end of
** slice 1 of the first pass no address depends on a secret. The input is legal, and memory of
** argon2id_memory() bytes. */
void argon2id_start(argon2id_state *s, const argon2id_impl *impl, const argon2id_input *in, size_t out_size,
                    uint8_t *memory);
void argon2id_segment(argon2id_state *s, uint32_t pass, uint32_t slice, uint32_t lane);
void argon2id_finish(argon2id_state *s, uint8_t *out, size_t out_size);

/* All of them, with a secret and associated data, by one implementation. */
void argon2id_derive(const argon2id_impl *impl, const argon2id_input *in, uint8_t *out, size_t out_size,
                     uint8_t *memory);

#endif
