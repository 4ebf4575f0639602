/*
** ChaCha20 generator with fast key erasure (Bernstein 2017).
**
** The state is a key and a buffer of output. A refill runs the cipher once under the key: the first 32
** bytes of the stream replace the key, the others become the buffer, and bytes are zeroed as they are
** handed out. So a stolen state tells nothing about earlier output.
**
** Fresh entropy is XORed into the key at the first use, after RESEED_BYTES bytes or RESEED_CALLS calls,
** and in a process that is not the one that seeded it. If it fails, the state is wiped and every call
** fails until the source works again.
**
** Threads: one of them at a time owns the state. One that finds it taken does not wait but takes its
** bytes straight from the system. So there is no lock to be left locked in the child of a fork.
*/
#include "csprng.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "chacha20_poly1305.h"
#include "entropy.h"
#include "secure.h"

#define RESEED_BYTES ((uint64_t)1 << 20)
#define RESEED_CALLS ((uint32_t)1 << 16)

/* The longest stream under one key: the block counter does not wrap. */
#define STREAM_MAX ((size_t)1 << 30)

static atomic_flag owned = ATOMIC_FLAG_INIT;
static atomic_int wipe_wanted;

static struct {
    uint8_t key[32];
    uint8_t buffer[480];
    size_t left;      /* unused bytes, at the end of buffer */
    int seeded;       /* 0: key is all zero */
    uint32_t calls;   /* since the last seed */
    uint64_t bytes;   /* since the last seed */
    uint64_t process; /* entropy_process() at the last seed */
} state;

static const uint8_t zero_nonce[12];

static int all_zero(const uint8_t *p, size_t n) {
    uint8_t d = 0;
    for (size_t i = 0; i < n; i++) d |= p[i];
    return d == 0;
}

static int system_bytes(uint8_t *out, size_t n) {
    if (entropy_get(out, n) == 0 && (n < 16 || !all_zero(out, n))) return 0;
    secure_zero(out, n);
    return 1;
}

static int seed(uint64_t process) {
    uint8_t fresh[32];
    if (system_bytes(fresh, sizeof fresh) != 0) {
        secure_zero(&state, sizeof state);
        return 1;
    }
    for (size_t i = 0; i < sizeof fresh; i++) state.key[i] ^= fresh[i];
    secure_zero(fresh, sizeof fresh);
    secure_zero(state.buffer, sizeof state.buffer);
    state.left = 0;
    state.seeded = 1;
    state.calls = 0;
    state.bytes = 0;
    state.process = process;
    return 0;
}

static void refill(void) {
    uint8_t stream[sizeof state.key + sizeof state.buffer] = {0};
    chacha20_xor(stream, sizeof stream, state.key, zero_nonce, 0);
    memcpy(state.key, stream, sizeof state.key);
    memcpy(state.buffer, stream + sizeof state.key, sizeof state.buffer);
    state.left = sizeof state.buffer;
    secure_zero(stream, sizeof stream);
}

/* n bytes at most sizeof state.buffer. */
static void take(uint8_t *out, size_t n) {
    if (n > state.left) refill();
    uint8_t *from = state.buffer + sizeof state.buffer - state.left;
    memcpy(out, from, n);
    secure_zero(from, n);
    state.left -= n;
}

static int generate(uint8_t *out, size_t n) {
    uint64_t process = entropy_process();
    if (!state.seeded || state.process != process || state.calls >= RESEED_CALLS || state.bytes >= RESEED_BYTES) {
        if (seed(process) != 0) return 1;
    }
    state.calls++;
    state.bytes += n;
    if (n <= sizeof state.buffer) {
        take(out, n);
        return 0;
    }
    while (n > 0) {
        uint8_t key[32];
        size_t part = n < STREAM_MAX ? n : STREAM_MAX;
        take(key, sizeof key);
        memset(out, 0, part);
        chacha20_xor(out, part, key, zero_nonce, 0);
        secure_zero(key, sizeof key);
        out += part;
        n -= part;
    }
    return 0;
}

/* Give the state back. A wipe that was asked for meanwhile is done by whoever owns the state next. */
static void release(void) {
    do {
        if (atomic_exchange(&wipe_wanted, 0)) secure_zero(&state, sizeof state);
        atomic_flag_clear(&owned);
    } while (atomic_load(&wipe_wanted) && !atomic_flag_test_and_set(&owned));
}

int csprng_bytes(void *out, size_t n) {
    if (n == 0) return 0;
    if (atomic_flag_test_and_set(&owned)) return system_bytes(out, n);
    int rc = generate(out, n);
    release();
    if (rc != 0) secure_zero(out, n);
    return rc;
}

void csprng_wipe(void) {
    atomic_store(&wipe_wanted, 1);
    if (!atomic_flag_test_and_set(&owned)) release();
}
