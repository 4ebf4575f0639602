/*
** The table that each implementation of AES and AEGIS exports, and the selector's report.
**
** AEGIS is built on the round function of AES, so one table has both. Functions of a table are called with
** checked arguments: pointers are not NULL, n is a multiple of 16. Pointers may have any alignment; an
** expanded key has that of uint64_t.
*/
#ifndef SQLITE3MC_AES_IMPL_H
#define SQLITE3MC_AES_IMPL_H

#include <stddef.h>
#include <stdint.h>

#include "aes.h"

/* Kernels: a part that has to be in its caller, and a loop that has to be a function of its own. */
#if defined(__GNUC__)
#define AES_INLINE static inline __attribute__((always_inline))
#define AES_OUTLINE static __attribute__((noinline))
#else
#define AES_INLINE static inline
#define AES_OUTLINE static
#endif

/*
** One lane of AEGIS over a message, which is encrypted or decrypted in place. The lanes of the X2 and X4
** variants do not touch until their tags are added: lane l of d is an AEGIS-128L or AEGIS-256 with a context of
** its own, for blocks l, l + d, l + 2 d, ... of the message. Zeros follow the last byte of ad and buf.
*/
typedef struct aegis_lane {
    unsigned lane, lanes;       /* lane < lanes, lanes is 1, 2 or 4 */
    const uint8_t *key, *nonce; /* 16 bytes each for AEGIS-128, 32 for AEGIS-256 */
    const uint8_t *ad;
    size_t n_ad;
    uint8_t *buf;
    size_t n;
} aegis_lane;

typedef struct aes_impl {
    const char *name;
    uint32_t cpu; /* CPU_* bits that the machine must have (cpu.h) */
    void (*key_init)(aes_key *k, const uint8_t *key, size_t key_size);
    void (*cbc_encrypt)(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);
    void (*cbc_encrypt_each)(const aes_cbc_job *job, int count, size_t n);
    void (*cbc_decrypt)(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n);
    /* tag[0..32) ^= the tag of the lane, if tag is not NULL. Only this lane's blocks of buf change. */
    void (*aegis128)(const aegis_lane *lane, int decrypt, uint8_t tag[32]);
    void (*aegis256)(const aegis_lane *lane, int decrypt, uint8_t tag[32]);
} aes_impl;

extern const aes_impl aes_bitsliced;
extern const aes_impl aes_ssse3;
extern const aes_impl aes_neon;
extern const aes_impl aes_simd128;
extern const aes_impl aes_aesni;
extern const aes_impl aes_armv8;

/* Compiled in: the i-th table, best first; NULL after the last, which is always the portable one. */
const aes_impl *aes_compiled(unsigned i);

/* In use: the first compiled table that this machine can run, or the one that was forced. */
const aes_impl *aes_in_use(void);

/*
** From now on the whole process uses the implementation of this name; NULL: the best again. Keys that are
** expanded already stay with theirs. 0, or -1: not compiled in, or not for this machine; nothing changes.
*/
int aes_force(const char *name);

#endif
