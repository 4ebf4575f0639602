/*
** The generator. Its text is compiled here a second time, under other names and over a source that the test
** can break: the real one cannot be made to fail.
*/
#include <string.h>

#include "cryptotest.h"
#include "csprng.h"
#include "entropy.h"

static int source_fails, source_zero;      /* how the faked source behaves */
static unsigned source_calls;              /* how often it was asked */
static uint64_t process_id = 1, last_seed; /* of the faked process; counts the draws */

static int faked_entropy_get(uint8_t *out, size_t n) {
    source_calls++;
    if (source_fails) {
        memset(out, 0xee, n); /* an error is an error, whatever is in the buffer */
        return -1;
    }
    test_bytes(out, n, ++last_seed << 32);
    if (source_zero) memset(out, 0, n);
    return 0;
}

static uint64_t faked_entropy_process(void) {
    return process_id;
}

#undef SQLITE3MC_CSPRNG_H
#define csprng_bytes faked_csprng_bytes
#define csprng_wipe faked_csprng_wipe
#define entropy_get faked_entropy_get
#define entropy_process faked_entropy_process
#include "../wasm/crypto/csprng.c"
#undef csprng_bytes
#undef csprng_wipe
#undef entropy_get
#undef entropy_process

#define DRAWS 1000

static void test_real(void) {
    static uint8_t drawn[DRAWS][16];
    static uint8_t large[100000];
    for (int i = 0; i < DRAWS; i++) CHECK(csprng_bytes(drawn[i], 16) == 0, "csprng_bytes failed");
    int equal = 0;
    for (int i = 0; i < DRAWS; i++) {
        for (int k = 0; k < i; k++) equal += memcmp(drawn[i], drawn[k], 16) == 0;
    }
    CHECK(equal == 0, "%d of %d draws are equal", equal, DRAWS);
    csprng_wipe();
    CHECK(csprng_bytes(drawn[0], 16) == 0 && memcmp(drawn[0], drawn[1], 16) != 0, "after csprng_wipe");

    /* Each length is filled to its end, and no further. */
    for (size_t n = 0; n < 2000; n += n < 600 ? 1 : 97) {
        memset(large, 0, sizeof large);
        CHECK(csprng_bytes(large, n) == 0, "csprng_bytes of %d bytes failed", (int)n);
        CHECK(n < 16 || !all_bytes(large + n - 8, 8, 0), "csprng_bytes of %d bytes: the end is missing", (int)n);
        CHECK(all_bytes(large + n, sizeof large - n, 0), "csprng_bytes of %d bytes wrote past its end", (int)n);
    }
    /* Half of the bits are ones: of 800,000, within 6 standard deviations. */
    CHECK(csprng_bytes(large, sizeof large) == 0, "csprng_bytes of %d bytes failed", (int)sizeof large);
    long ones = 0;
    for (size_t i = 0; i < sizeof large; i++) {
        for (int bit = 0; bit < 8; bit++) ones += large[i] >> bit & 1;
    }
    CHECK(ones > 400000 - 2684 && ones < 400000 + 2684, "%ld of 800,000 bits are ones", ones);
    group_done("random bytes: distinct, filled to the end, balanced");
}

static void fresh_generator(void) {
    source_fails = source_zero = 0;
    faked_csprng_wipe();
}

static void test_failures(void) {
    uint8_t out[2000], before[32], after[32];

    fresh_generator();
    source_fails = 1;
    memset(out, 0xa5, sizeof out);
    CHECK(faked_csprng_bytes(out, sizeof out) != 0, "no entropy at the start, not noticed");
    CHECK(all_bytes(out, sizeof out, 0), "no entropy at the start, bytes given");
    source_fails = 0;
    CHECK(faked_csprng_bytes(out, 32) == 0, "entropy is back, not noticed");

    fresh_generator();
    source_zero = 1;
    memset(out, 0xa5, sizeof out);
    CHECK(faked_csprng_bytes(out, 16) != 0 && all_bytes(out, 16, 0), "a source of zeros was taken");
    source_zero = 0;
    CHECK(faked_csprng_bytes(out, 16) == 0, "the source is back, not noticed");

    /* A reseed that fails is an error too, and the old key is not used any more. */
    fresh_generator();
    CHECK(faked_csprng_bytes(before, 32) == 0, "draw");
    process_id++;
    source_fails = 1;
    CHECK(faked_csprng_bytes(out, 32) != 0 && all_bytes(out, 32, 0), "no entropy in the child, bytes given");
    CHECK(all_bytes((const uint8_t *)&state, sizeof state, 0), "the state outlived a failed reseed");
    process_id--;
    CHECK(faked_csprng_bytes(out, 32) != 0, "the old key is used after a failed reseed");
    source_fails = 0;
    CHECK(faked_csprng_bytes(after, 32) == 0 && memcmp(before, after, 32) != 0, "draw after a failed reseed");
    group_done("random bytes: a source that fails or gives zeros is an error, later ones work");
}

static void test_reseed(void) {
    uint8_t out[512], parent[32], child[32];

    fresh_generator();
    source_calls = 0;
    for (int i = 0; i < 1000; i++) faked_csprng_bytes(out, 16);
    CHECK(source_calls == 1, "%u seeds for 1000 small draws", source_calls);
    for (size_t i = 0; i < (1 << 20) / sizeof out; i++) faked_csprng_bytes(out, sizeof out);
    CHECK(source_calls == 2, "%u seeds after 1 MiB", source_calls);
    for (int i = 0; i < 1 << 16; i++) faked_csprng_bytes(out, 1);
    CHECK(source_calls == 3, "%u seeds after 2^16 calls", source_calls);

    /* A child of fork() starts with its parent's state. Replay: the same state, another process. */
    fresh_generator();
    faked_csprng_bytes(out, 16);
    uint8_t saved[sizeof state];
    memcpy(saved, &state, sizeof state);
    CHECK(faked_csprng_bytes(parent, 32) == 0, "draw of the parent");
    memcpy(&state, saved, sizeof state);
    CHECK(faked_csprng_bytes(child, 32) == 0 && memcmp(parent, child, 32) == 0, "the replay is no replay");
    memcpy(&state, saved, sizeof state);
    process_id++;
    CHECK(faked_csprng_bytes(child, 32) == 0 && memcmp(parent, child, 32) != 0, "parent and child draw the same");
    group_done("random bytes: reseeded after 1 MiB, after 2^16 calls, in a child process");
}

/* Fast key erasure: what was given out cannot be found in, or computed from, the state. */
static void test_erasure(void) {
    uint8_t out[100];
    fresh_generator();
    for (int round = 0; round < 20; round++) {
        CHECK(faked_csprng_bytes(out, sizeof out) == 0, "draw");
        const uint8_t *p = (const uint8_t *)&state;
        int found = 0;
        for (size_t i = 0; i + 8 <= sizeof state; i++) {
            for (size_t k = 0; k + 8 <= sizeof out; k++) found += memcmp(p + i, out + k, 8) == 0;
        }
        CHECK(found == 0, "%d pieces of the last draw are in the state", found);
        CHECK(all_bytes(state.buffer, sizeof state.buffer - state.left, 0), "used bytes are not erased");
    }
    faked_csprng_wipe();
    CHECK(all_bytes((const uint8_t *)&state, sizeof state, 0), "csprng_wipe leaves something");

    /* While another thread owns the state, bytes come from the system, and a wipe is not forgotten. */
    CHECK(faked_csprng_bytes(out, 16) == 0, "draw");
    CHECK(atomic_flag_test_and_set(&owned) == 0, "the state is owned after a draw");
    source_calls = 0;
    CHECK(faked_csprng_bytes(out, 16) == 0 && source_calls == 1, "a busy generator did not ask the system");
    source_fails = 1;
    CHECK(faked_csprng_bytes(out, 16) != 0 && all_bytes(out, 16, 0), "busy, no entropy, bytes given");
    source_fails = 0;
    faked_csprng_wipe();
    CHECK(state.seeded, "the wipe did not wait for the owner");
    release();
    CHECK(all_bytes((const uint8_t *)&state, sizeof state, 0), "the owner forgot the wipe");
    group_done("random bytes: erased as they are given out, wiped on request");
}

void test_random(void) {
    test_real();
    test_failures();
    test_reseed();
    test_erasure();
}
