/*
** cryptotest: the primitives against known answers, and every implementation against every other. The same
** program runs natively and, as wasm, under Node. One line per group, then "N passed, N failed".
*/
#include "cryptotest.h"

#include <stdarg.h>
#include <stdio.h>

#include "cpu.h"

static unsigned long passed, failed;             /* of all groups */
static unsigned long group_passed, group_failed; /* of the group that runs */

void check_at(int ok, const char *file, int line, const char *format, ...) {
    va_list ap;
    if (ok) {
        group_passed++;
        return;
    }
    group_failed++;
    if (group_failed > 10) return; /* a broken kernel fails thousands of times */
    printf("%s:%d: ", file, line);
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    printf("\n");
}

void group_done(const char *name) {
    printf("%-76s %8lu passed", name, group_passed);
    if (group_failed > 0) printf(", %lu FAILED", group_failed);
    printf("\n");
    fflush(stdout);
    passed += group_passed;
    failed += group_failed;
    group_passed = group_failed = 0;
}

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators"). */
void test_bytes(uint8_t *out, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        out[i] = (uint8_t)(z ^ z >> 31);
    }
}

static int digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

size_t unhex(uint8_t *out, size_t room, const char *hex) {
    size_t n = 0;
    for (; hex[0] != 0 && hex[1] != 0 && n < room; hex += 2) out[n++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
    CHECK(hex[0] == 0, "a vector is longer than %lu bytes", (unsigned long)room);
    return n;
}

int all_bytes(const uint8_t *p, size_t n, uint8_t value) {
    for (size_t i = 0; i < n; i++) {
        if (p[i] != value) return 0;
    }
    return 1;
}

const chacha20_poly1305_impl *usable(unsigned i) {
    const chacha20_poly1305_impl *impl;
    for (unsigned k = 0; (impl = chacha20_poly1305_compiled(k)) != NULL; k++) {
        if ((impl->cpu & ~cpu_features()) == 0 && i-- == 0) return impl;
    }
    return NULL;
}

/* What is compiled in, what the machine has, what is in use: three reports. */
static void report(void) {
    uint32_t have = cpu_features();
    const chacha20_poly1305_impl *impl;
    printf("compiled in:");
    for (unsigned i = 0; (impl = chacha20_poly1305_compiled(i)) != NULL; i++) printf(" %s", impl->name);
    printf("; this machine has:");
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const char *name = cpu_feature_name(bit);
        if ((have & bit) != 0) printf(" %s", name != NULL ? name : "?");
        CHECK((have & bit) == 0 || name != NULL, "CPU bit %08lx has no name", (unsigned long)bit);
    }
    printf("; in use: %s\n", chacha20_poly1305_in_use()->name);
}

static void test_selector(void) {
    const chacha20_poly1305_impl *impl, *last = NULL;
    for (unsigned i = 0; (impl = chacha20_poly1305_compiled(i)) != NULL; i++) last = impl;
    CHECK(last == &chacha20_poly1305_scalar, "the last implementation is not the portable one");
    CHECK(chacha20_poly1305_in_use() == usable(0), "not the best implementation is in use");
    CHECK(chacha20_poly1305_in_use() == chacha20_poly1305_in_use(), "the choice changed");
    for (unsigned i = 0; (impl = chacha20_poly1305_compiled(i)) != NULL; i++) {
        int can = (impl->cpu & ~cpu_features()) == 0;
        CHECK(chacha20_poly1305_force(impl->name) == (can ? 0 : -1), "%s: forced, or not, wrongly", impl->name);
        CHECK(!can || chacha20_poly1305_in_use() == impl, "%s was forced, and is not in use", impl->name);
    }
    CHECK(chacha20_poly1305_force("nosuch") == -1 && chacha20_poly1305_in_use() == last,
          "a wrong name changed the choice");
    CHECK(chacha20_poly1305_force(NULL) == 0 && chacha20_poly1305_in_use() == usable(0), "not the best one again");
    group_done("the best implementation that this machine can run is in use, or the one that was forced");
}

int main(void) {
    report();
    test_selector();
    test_primitives();
    test_hashes();
    test_pages();
    test_random();
    test_aes();
    test_modes();
    test_host();
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
