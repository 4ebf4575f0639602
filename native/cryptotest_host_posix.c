/*
** What only a POSIX machine can be asked: its features, the generator under fork() and in threads.
*/
#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "cryptotest.h"
#include "csprng.h"
#include "entropy.h"

#if defined(__x86_64__) && defined(__GNUC__)

/* What the compiler's library finds out about this machine. */
static uint32_t cpu_features_by_compiler(void) {
    return (__builtin_cpu_supports("ssse3") ? CPU_SSSE3 : 0) | (__builtin_cpu_supports("aes") ? CPU_AESNI : 0);
}

#else

static uint32_t cpu_features_by_compiler(void) {
    return cpu_features();
}

#endif

static void test_cpu(void) {
    CHECK(cpu_features() == cpu_features_by_compiler(), "CPU features: %08lx, the compiler says %08lx",
          (unsigned long)cpu_features(), (unsigned long)cpu_features_by_compiler());
    group_done("the features of this machine are those that the compiler's library sees");
}

/* Parent, child and grandchild draw after the fork; all get different bytes. */
static void test_fork(void) {
    uint8_t drawn[3][32] = {{0}};
    int fd[2];
    CHECK(csprng_bytes(drawn[0], 32) == 0, "draw before fork");
    if (pipe(fd) != 0) {
        CHECK(0, "pipe failed");
        return;
    }
    pid_t child = fork();
    CHECK(child >= 0, "fork failed");
    if (child == 0) {
        uint8_t mine[32];
        pid_t grandchild = fork();
        int ok = grandchild >= 0 && csprng_bytes(mine, sizeof mine) == 0 && write(fd[1], mine, sizeof mine) == 32;
        if (grandchild > 0) waitpid(grandchild, NULL, 0);
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    CHECK(csprng_bytes(drawn[0], 32) == 0, "draw after fork");
    waitpid(child, &status, 0);
    CHECK(status == 0, "the child failed");
    for (int i = 1; i <= 2; i++) CHECK(read(fd[0], drawn[i], 32) == 32, "nothing from child %d", i);
    close(fd[0]);
    close(fd[1]);
    for (int i = 0; i < 3; i++) {
        CHECK(memcmp(drawn[i], drawn[(i + 1) % 3], 32) != 0, "two of parent, child, grandchild drew the same");
    }
    group_done("random bytes: parent, child and grandchild draw different ones");
}

#define THREADS 4
#define DRAWS 4000

static uint8_t drawn[THREADS][DRAWS][16];

/* Draws all the time; now and then the state is wiped under the others. */
static void *draw(void *arg) {
    uint8_t(*mine)[16] = (uint8_t(*)[16])arg;
    for (int i = 0; i < DRAWS; i++) {
        if (csprng_bytes(mine[i], 16) != 0) return arg;
        if (i % 500 == 499) csprng_wipe();
    }
    return NULL;
}

static void test_threads(void) {
    pthread_t thread[THREADS];
    /* Sort by the first two bytes, then compare within each bucket. */
    static uint16_t next[THREADS * DRAWS + 1];
    static uint16_t head[65536];
    int equal = 0;
    for (int t = 0; t < THREADS; t++) CHECK(pthread_create(&thread[t], NULL, draw, drawn[t]) == 0, "thread");
    for (int t = 0; t < THREADS; t++) {
        void *failed = NULL;
        pthread_join(thread[t], &failed);
        CHECK(failed == NULL, "a draw failed in a thread");
    }
    for (int i = 0; i < THREADS * DRAWS; i++) {
        const uint8_t *a = drawn[i / DRAWS][i % DRAWS];
        unsigned bucket = (unsigned)a[0] << 8 | a[1];
        for (unsigned k = head[bucket]; k != 0; k = next[k]) {
            equal += memcmp(a, drawn[(k - 1) / DRAWS][(k - 1) % DRAWS], 16) == 0;
        }
        next[i + 1] = head[bucket];
        head[bucket] = (uint16_t)(i + 1);
    }
    CHECK(equal == 0, "%d of %d draws in threads are equal", equal, THREADS * DRAWS);
    group_done("random bytes: four threads draw and wipe, all draws are distinct");
}

/* The kernel's interface, also for more bytes than one call gives. */
static void test_source(void) {
    static uint8_t a[100000], b[100000];
    CHECK(entropy_get(a, sizeof a) == 0 && entropy_get(b, sizeof b) == 0, "entropy_get failed");
    CHECK(memcmp(a, b, sizeof a) != 0, "entropy_get answers the same twice");
    for (size_t i = 0; i + 16 <= sizeof a; i += 16) {
        CHECK(!all_bytes(a + i, 16, 0), "entropy_get left a hole at %d", (int)i);
    }
    CHECK(entropy_get(a, 0) == 0, "entropy_get of nothing");
    CHECK(entropy_process() == entropy_process(), "the process changed");
    group_done("entropy of the system: long requests are filled to the end");
}

void test_host(void) {
    test_cpu();
    test_source();
    test_fork();
    test_threads();
}
