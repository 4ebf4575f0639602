/*
** Windows has no fork(); its entropy is asked for a long request.
*/
#include <string.h>

#include "cryptotest.h"
#include "entropy.h"

void test_host(void) {
    static uint8_t a[100000], b[100000];
    CHECK(entropy_get(a, sizeof a) == 0 && entropy_get(b, sizeof b) == 0, "entropy_get failed");
    CHECK(memcmp(a, b, sizeof a) != 0, "entropy_get answers the same twice");
    for (size_t i = 0; i + 16 <= sizeof a; i += 16) CHECK(!all_bytes(a + i, 16, 0), "a hole at %d", (int)i);
    group_done("entropy of the system: long requests are filled to the end");
}
