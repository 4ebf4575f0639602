/*
** The generator over a JavaScript host whose crypto.getRandomValues is broken in every way we know.
*/
#include <emscripten.h>
#include <string.h>

#include "cryptotest.h"
#include "csprng.h"
#include "entropy.h"

/* Puts a broken `crypto` in place (1 to 9), or the real one back (0). */
// clang-format off
EM_JS(void, break_crypto, (int how), {
  const real = Module.realCrypto = Module.realCrypto || globalThis.crypto;
  const fill = (array, n) => { real.getRandomValues(array.subarray(0, n)); return array; };
  const broken = [
    () => real,
    () => undefined,
    () => ({}),
    () => ({ getRandomValues() { throw new Error('QuotaExceededError'); } }),
    () => ({ getRandomValues(array) { return array.fill(0); } }),
    () => ({ getRandomValues(array) { return fill(array, array.length - 8); } }),
    () => ({ getRandomValues(array) { return fill(array, 8); } }),
    () => ({ getRandomValues(array) { return fill(array, array.length).subarray(0, array.length - 1); } }),
    () => ({ getRandomValues() { return undefined; } }),
    () => ({ getRandomValues(array) { fill(array, array.length).fill(0, 8, 16); return array; } }),
  ];
  Object.defineProperty(globalThis, 'crypto', { configurable: true, writable: true, value: broken[how]() });
});

/* A host that counts calls and refuses more than 65,536 bytes, as the real one does. */
EM_JS(int, count_crypto_calls, (int start), {
  const real = Module.realCrypto;
  if (!start) return Module.cryptoCalls;
  Module.cryptoCalls = 0;
  Object.defineProperty(globalThis, 'crypto', { configurable: true, writable: true, value: {
    getRandomValues(array) {
      if (array.length > 65536) throw new Error('more than 65,536 bytes');
      Module.cryptoCalls++;
      return real.getRandomValues(array);
    } } });
  return 0;
});
// clang-format on

void test_host(void) {
    static const char *const name[] = {"",         "missing",          "without the function", "throwing",
                                       "all zero", "short by 8 bytes", "short after 8 bytes",  "another array",
                                       "no array", "leaving a hole"};
    static uint8_t out[200000];
    for (int how = 1; how <= 9; how++) {
        break_crypto(how);
        for (size_t n = 1; n <= sizeof out; n = n < 64 ? n + 1 : n * 5) {
            memset(out, 0xa5, sizeof out);
            CHECK(entropy_get(out, n) != 0, "crypto is %s: %d bytes of entropy", name[how], (int)n);
            CHECK(all_bytes(out, n, 0) && all_bytes(out + n, sizeof out - n, 0xa5), "crypto is %s: %d bytes left",
                  name[how], (int)n);
        }
        csprng_wipe();
        memset(out, 0xa5, sizeof out);
        CHECK(csprng_bytes(out, 16) != 0, "crypto is %s, not noticed", name[how]);
        CHECK(all_bytes(out, 16, 0), "crypto is %s, bytes given", name[how]);
        break_crypto(0);
        CHECK(csprng_bytes(out, 16) == 0 && !all_bytes(out, 16, 0), "crypto was %s and is well again", name[how]);
    }
    group_done("crypto.getRandomValues broken in nine ways: an error, then it works again");

    count_crypto_calls(1);
    CHECK(entropy_get(out, sizeof out) == 0, "entropy_get of 200,000 bytes");
    CHECK(count_crypto_calls(0) == 4, "%d calls for 200,000 bytes", count_crypto_calls(0));
    for (size_t i = 0; i + 16 <= sizeof out; i += 16) {
        CHECK(!all_bytes(out + i, 16, 0), "entropy_get left a hole at %d", (int)i);
    }
    break_crypto(0);
    group_done("entropy of the host is asked for in chunks of 65,536 bytes");
}
