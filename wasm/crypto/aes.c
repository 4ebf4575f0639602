/*
** AES: argument checks, the choice of an implementation, and ciphertext stealing, which is the same for all.
**
** The choice is made once, at the first call, from what is compiled in and what the machine has. Two threads
** that make it at the same time come to the same answer, so a plain atomic pointer is enough.
*/
#include "aes.h"

#include <stdatomic.h>
#include <string.h>

#include "aes_impl.h"
#include "cpu.h"
#include "secure.h"

static const aes_impl *const compiled[] = {
#if defined(__wasm_simd128__)
    &aes_simd128,
#elif defined(__x86_64__) || defined(_M_X64)
    &aes_aesni,
    &aes_ssse3,
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
    &aes_armv8,
    &aes_neon,
#endif
    &aes_bitsliced,
};

#define COMPILED (sizeof compiled / sizeof compiled[0])

static _Atomic(const aes_impl *) chosen;

const aes_impl *aes_compiled(unsigned i) {
    return i < COMPILED ? compiled[i] : NULL;
}

/* The last one is portable: it needs nothing. */
static const aes_impl *best(void) {
    uint32_t have = cpu_features();
    unsigned i = 0;
    while (i + 1 < COMPILED && (compiled[i]->cpu & ~have) != 0) i++;
    return compiled[i];
}

const aes_impl *aes_in_use(void) {
    const aes_impl *impl = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (impl != NULL) return impl;
    const aes_impl *none = NULL;
    impl = best();
    /* Another thread may have forced one meanwhile. */
    if (!atomic_compare_exchange_strong_explicit(&chosen, &none, impl, memory_order_relaxed, memory_order_relaxed))
        impl = none;
    return impl;
}

int aes_force(const char *name) {
    const aes_impl *impl = name == NULL ? best() : NULL;
    for (unsigned i = 0; i < COMPILED && name != NULL; i++) {
        if (strcmp(compiled[i]->name, name) == 0 && (compiled[i]->cpu & ~cpu_features()) == 0) impl = compiled[i];
    }
    if (impl == NULL) return -1;
    atomic_store_explicit(&chosen, impl, memory_order_relaxed);
    return 0;
}

int aes_key_init(aes_key *k, const uint8_t *key, size_t key_size) {
    if (key_size != 16 && key_size != 32) return -1;
    k->impl = aes_in_use();
    k->rounds = key_size == 16 ? 10 : 14;
    k->impl->key_init(k, key, key_size);
    return 0;
}

int aes_cbc_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    if (n % 16 != 0) return -1;
    if (n > 0) k->impl->cbc_encrypt(k, iv, buf, n);
    return 0;
}

int aes_cbc_encrypt_each(const aes_cbc_job *job, int count, size_t n) {
    if (n % 16 != 0 || count < 1 || count > AES_CBC_JOBS) return -1;
    for (int i = 1; i < count; i++) {
        if (job[i].key->impl != job->key->impl || job[i].key->rounds != job->key->rounds) return -1;
    }
    if (count == 1) return aes_cbc_encrypt(job->key, job->iv, job->buf, n);
    if (n > 0) job->key->impl->cbc_encrypt_each(job, count, n);
    return 0;
}

int aes_cbc_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    if (n % 16 != 0) return -1;
    if (n > 0) k->impl->cbc_decrypt(k, iv, buf, n);
    return 0;
}

int aes_cbc_cs3_encrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    if (n < 16) return -1;
    size_t tail = n % 16, full = n - tail;
    k->impl->cbc_encrypt(k, iv, buf, full);
    if (tail == 0) return 0;
    uint8_t *last = buf + full - 16;
    uint8_t block[16] = {0};
    memcpy(block, last + 16, tail);
    k->impl->cbc_encrypt(k, last, block, 16);
    memcpy(last + 16, last, tail);
    memcpy(last, block, 16);
    return 0;
}

int aes_cbc_cs3_decrypt(const aes_key *k, const uint8_t iv[16], uint8_t *buf, size_t n) {
    static const uint8_t zero[16];
    if (n < 16) return -1;
    size_t tail = n % 16, full = n - tail;
    if (tail != 0) {
        /* block = Cm XOR (tail || zeros): with the bytes of Cm that were stored, all of Cm is known. */
        uint8_t *last = buf + full - 16;
        uint8_t block[16];
        memcpy(block, last, 16);
        k->impl->cbc_decrypt(k, zero, block, 16);
        memcpy(last, last + 16, tail);
        memcpy(last + tail, block + tail, 16 - tail);
        for (size_t i = 0; i < tail; i++) last[16 + i] ^= block[i];
        secure_zero(block, sizeof block);
    }
    k->impl->cbc_decrypt(k, iv, buf, full);
    return 0;
}
