/*
** Entropy from the JavaScript host: crypto.getRandomValues, in browsers, workers and Node alike.
**
** The host is not trusted to be whole: a missing or throwing function, an answer that is not the
** array that was asked for, or bytes that were plainly never written are no entropy. The caller gets
** an error and the module lives on.
*/
#include "entropy.h"

#include <emscripten.h>
#include <string.h>

#include "secure.h"

/* Fill n bytes at p, 65,536 a call, which is the most that getRandomValues accepts. The array is
** made here because the heap may be shared memory, which it refuses. 0, or 1. */
// clang-format off
EM_JS(int, sqlite3mc_host_entropy, (uint8_t * p, size_t n), {
  try {
    for (let done = 0; done < n; done += 65536) {
      const want = Math.min(65536, n - done);
      const part = new Uint8Array(want);
      const got = globalThis.crypto.getRandomValues(part);
      if (got !== part || got.length !== want) return 1;
      HEAPU8.set(part, (p >>> 0) + done);
      part.fill(0);
    }
    return 0;
  } catch (e) {
    return 1;
  }
});
// clang-format on

/* A source that stops short leaves zeros at the end; one that does nothing leaves zeros only. Eight
** zero bytes in a row at an aligned place happen by chance once in 2^64 draws. */
static int has_hole(const uint8_t *p, size_t n) {
    static const uint8_t zero[8];
    for (size_t i = 0; i + 8 <= n; i += 8) {
        if (memcmp(p + i, zero, 8) == 0) return 1;
    }
    return 0;
}

/* Short requests draw 32 bytes too, so that has_hole() has something to look at. */
int entropy_get(uint8_t *out, size_t n) {
    uint8_t small[32] = {0};
    int rc;
    if (n < sizeof small) {
        rc = sqlite3mc_host_entropy(small, sizeof small) != 0 || has_hole(small, sizeof small);
        if (rc == 0 && n > 0) memcpy(out, small, n);
        secure_zero(small, sizeof small);
    } else {
        rc = sqlite3mc_host_entropy(out, n) != 0 || has_hole(out, n) || has_hole(out + n - 8, 8);
    }
    if (rc != 0) secure_zero(out, n);
    return rc;
}

/* A module instance does not fork. */
uint64_t entropy_process(void) {
    return 0;
}
