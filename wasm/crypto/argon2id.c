/*
** Argon2id (RFC 9106) but for its compression function: the choice of an implementation of that, which block
** refers to which, and what is hashed at both ends.
*/
#include "argon2id.h"

#include <stdatomic.h>
#include <string.h>

#include "argon2id_impl.h"
#include "blake2b.h"
#include "bytes.h"
#include "cpu.h"
#include "secure.h"

enum { BLOCK_SIZE = 1024, SLICES = 4, VERSION = 0x13, TYPE_ID = 2 };

/* Limits of RFC 9106 3.1. */
#define MAX_LANES 0xffffff
#define MAX_LENGTH 0xffffffff

static const argon2id_impl *const compiled[] = {
#if defined(__wasm_simd128__)
    &argon2id_simd128,
#elif defined(__x86_64__) || defined(_M_X64)
    &argon2id_ssse3,
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
    &argon2id_neon,
#endif
    &argon2id_scalar,
};

const argon2id_impl *argon2id_compiled(unsigned i) {
    return i < sizeof compiled / sizeof compiled[0] ? compiled[i] : NULL;
}

const argon2id_impl *argon2id_in_use(void) {
    static _Atomic(const argon2id_impl *) chosen;
    const argon2id_impl *impl = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (impl != NULL) return impl;
    uint32_t have = cpu_features();
    unsigned i = 0;
    while (i + 1 < sizeof compiled / sizeof compiled[0] && (compiled[i]->cpu & ~have) != 0) i++;
    atomic_store_explicit(&chosen, compiled[i], memory_order_relaxed);
    return compiled[i];
}

static uint32_t whole_blocks(uint32_t m, uint32_t p) {
    return m / (SLICES * p) * (SLICES * p);
}

size_t argon2id_memory(uint32_t t, uint32_t m, uint32_t p) {
    if (t < 1 || p < 1 || p > MAX_LANES || m / 8 < p) return 0;
    uint64_t size = (uint64_t)whole_blocks(m, p) * BLOCK_SIZE;
    return size <= SIZE_MAX ? (size_t)size : 0;
}

/* H' of RFC 9106 3.3: out[0..n) from in. */
static void hash_long(uint8_t *out, size_t n, const uint8_t *in, size_t in_size) {
    uint8_t length[4], v[64];
    blake2b_state s;
    store32_le(length, (uint32_t)n);
    blake2b_init(&s, n < 64 ? n : 64, NULL, 0);
    blake2b_update(&s, length, sizeof length);
    blake2b_update(&s, in, in_size);
    blake2b_final(&s, v);
    while (n > 64) {
        memcpy(out, v, 32);
        out += 32;
        n -= 32;
        blake2b_init(&s, n < 64 ? n : 64, NULL, 0);
        blake2b_update(&s, v, sizeof v);
        blake2b_final(&s, v);
    }
    memcpy(out, v, n);
    secure_zero(v, sizeof v);
}

static void hash_number(blake2b_state *s, size_t x) {
    uint8_t number[4];
    store32_le(number, (uint32_t)x);
    blake2b_update(s, number, sizeof number);
}

static void hash_string(blake2b_state *s, const uint8_t *p, size_t n) {
    hash_number(s, n);
    blake2b_update(s, p, n);
}

void argon2id_start(argon2id_state *s, const argon2id_impl *impl, const argon2id_input *in, size_t out_size,
                    uint8_t *memory) {
    uint8_t h0[64 + 8], bytes[BLOCK_SIZE];
    blake2b_state hash;

    memset(s, 0, sizeof *s);
    s->impl = impl;
    s->memory = (argon2id_block *)(void *)memory;
    s->t = in->t;
    s->p = in->p;
    s->blocks = whole_blocks(in->m, in->p);
    s->lane_length = s->blocks / in->p;
    s->segment_length = s->lane_length / SLICES;

    blake2b_init(&hash, 64, NULL, 0);
    hash_number(&hash, in->p);
    hash_number(&hash, out_size);
    hash_number(&hash, in->m);
    hash_number(&hash, in->t);
    hash_number(&hash, VERSION);
    hash_number(&hash, TYPE_ID);
    hash_string(&hash, in->password, in->password_size);
    hash_string(&hash, in->salt, in->salt_size);
    hash_string(&hash, in->secret, in->secret_size);
    hash_string(&hash, in->ad, in->ad_size);
    blake2b_final(&hash, h0);

    for (uint32_t lane = 0; lane < s->p; lane++) {
        argon2id_block *first = s->memory + (size_t)lane * s->lane_length;
        store32_le(h0 + 68, lane);
        for (uint32_t i = 0; i < 2; i++) {
            store32_le(h0 + 64, i);
            hash_long(bytes, sizeof bytes, h0, sizeof h0);
            for (int k = 0; k < 128; k++) first[i].w[k] = load64_le(bytes + 8 * k);
        }
    }
    secure_zero(h0, sizeof h0);
    secure_zero(bytes, sizeof bytes);
}

/* The next 128 addresses of a segment whose addresses depend on nothing but their place. */
static void next_addresses(argon2id_state *s) {
    s->input.w[6]++;
    s->impl->fill(&s->half, &s->zero, &s->input, 0, &s->scratch);
    s->impl->fill(&s->addresses, &s->zero, &s->half, 0, &s->scratch);
}

/* RFC 9106 3.4.2: the block that random word j refers to, from block `index` of a segment. The blocks to choose
** from are those of the lane's last three full segments (in the first pass: of what there is of them), and
** in its own lane those of this segment; never the block before, which is the other input of G. */
static const argon2id_block *reference(const argon2id_state *s, uint64_t j, uint32_t pass, uint32_t slice,
                                       uint32_t lane, uint32_t index) {
    uint32_t from = lane;
    if (pass > 0 || slice > 0) from = (uint32_t)(j >> 32) % s->p;
    uint32_t count = pass > 0 ? s->lane_length - s->segment_length : slice * s->segment_length;
    if (from == lane) count += index;
    if (from == lane || index == 0) count--;

    uint64_t x = (j & 0xffffffff) * (j & 0xffffffff) >> 32;
    uint64_t at = count - 1 - (count * x >> 32);
    if (pass > 0) at += (uint64_t)(slice + 1) * s->segment_length;
    at %= s->lane_length;
    return s->memory + (size_t)from * s->lane_length + (size_t)at;
}

void argon2id_segment(argon2id_state *s, uint32_t pass, uint32_t slice, uint32_t lane) {
    const int independent = pass == 0 && slice < SLICES / 2;
    uint32_t index = pass == 0 && slice == 0 ? 2 : 0;
    argon2id_block *first = s->memory + (size_t)lane * s->lane_length;
    argon2id_block *block = first + slice * s->segment_length + index;
    const argon2id_block *previous = slice == 0 && index == 0 ? first + s->lane_length - 1 : block - 1;

    if (independent) {
        const uint64_t place[7] = {pass, lane, slice, s->blocks, s->t, TYPE_ID, 0};
        memcpy(s->input.w, place, sizeof place);
        if (index % 128 != 0) next_addresses(s);
    }
    for (; index < s->segment_length; index++) {
        if (independent && index % 128 == 0) next_addresses(s);
        uint64_t j = independent ? s->addresses.w[index % 128] : previous->w[0];
        s->impl->fill(block, previous, reference(s, j, pass, slice, lane, index), pass > 0, &s->scratch);
        previous = block++;
    }
}

void argon2id_finish(argon2id_state *s, uint8_t *out, size_t out_size) {
    uint8_t bytes[BLOCK_SIZE];
    for (int k = 0; k < 128; k++) {
        uint64_t x = 0;
        for (uint32_t lane = 1; lane <= s->p; lane++) x ^= s->memory[(size_t)lane * s->lane_length - 1].w[k];
        store64_le(bytes + 8 * k, x);
    }
    hash_long(out, out_size, bytes, sizeof bytes);
    secure_zero(bytes, sizeof bytes);
}

void argon2id_derive(const argon2id_impl *impl, const argon2id_input *in, uint8_t *out, size_t out_size,
                     uint8_t *memory) {
    argon2id_state s;
    argon2id_start(&s, impl, in, out_size, memory);
    for (uint32_t pass = 0; pass < in->t; pass++) {
        for (uint32_t slice = 0; slice < SLICES; slice++) {
            for (uint32_t lane = 0; lane < in->p; lane++) argon2id_segment(&s, pass, slice, lane);
        }
    }
    argon2id_finish(&s, out, out_size);
    secure_zero(&s, sizeof s);
}

int argon2id(uint8_t *out, size_t out_size, const uint8_t *password, size_t password_size, const uint8_t *salt,
             size_t salt_size, uint32_t t, uint32_t m, uint32_t p, uint8_t *memory) {
    const argon2id_input in = {.password = password,
                               .password_size = password_size,
                               .salt = salt,
                               .salt_size = salt_size,
                               .t = t,
                               .m = m,
                               .p = p};
    if (argon2id_memory(t, m, p) == 0 || memory == NULL || out_size < 4 || out_size > MAX_LENGTH || salt_size < 8 ||
        salt_size > MAX_LENGTH || password_size > MAX_LENGTH) {
        memset(out, 0, out_size);
        return -1;
    }
    argon2id_derive(argon2id_in_use(), &in, out, out_size, memory);
    return 0;
}
