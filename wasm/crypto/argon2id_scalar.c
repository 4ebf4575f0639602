/*
** The compression function of Argon2 in portable C: a vector is a pair of words.
*/
#include "argon2id_impl.h"

typedef struct {
    uint64_t first, second;
} V;

static inline uint64_t rotr64(uint64_t x, int n) {
    return x >> n | x << (64 - n);
}

static inline V rotate(V a, int n) {
    return (V){rotr64(a.first, n), rotr64(a.second, n)};
}

static inline V v_load(const uint64_t *p) {
    return (V){p[0], p[1]};
}

static inline void v_store(uint64_t *p, V a) {
    p[0] = a.first;
    p[1] = a.second;
}

static inline V v_xor(V a, V b) {
    return (V){a.first ^ b.first, a.second ^ b.second};
}

static inline V v_add(V a, V b) {
    return (V){a.first + b.first, a.second + b.second};
}

static inline V v_align(V a, V b) {
    return (V){a.second, b.first};
}

static inline void v_multiply(V m[2], const V a[2], const V b[2]) {
    for (int i = 0; i < 2; i++) {
        m[i].first = (a[i].first & 0xffffffff) * (b[i].first & 0xffffffff);
        m[i].second = (a[i].second & 0xffffffff) * (b[i].second & 0xffffffff);
    }
}

#define V_LOAD(p) v_load(p)
#define V_STORE(p, a) v_store(p, a)
#define V_XOR(a, b) v_xor(a, b)
#define V_ADD(a, b) v_add(a, b)
#define V_ALIGN(a, b) v_align(a, b)
#define V_ROTR32(a) rotate(a, 32)
#define V_ROTR24(a) rotate(a, 24)
#define V_ROTR16(a) rotate(a, 16)
#define V_ROTR63(a) rotate(a, 63)

#define FILL_NAME argon2id_scalar
#define FILL_STRING "scalar"
#define FILL_CPU 0

#include "argon2id_fill.h"
