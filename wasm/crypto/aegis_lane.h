/*
** One lane of AEGIS-128L and AEGIS-256: the text that every implementation of the AES round includes
** (draft-irtf-cfrg-aegis-aead; the words of the draft are used).
**
** The file that includes it has defined, static:
**
**   block                               16 bytes
**   load(p), store(p, b), block_xor(a, b), block_and(a, b)
**   tables, aegis_tables()              what the next three need, loaded once for many steps
**   enter(b, &tables), leave(b, &tables)    to and from the linear form in which the state is kept
**   update(s, n, &tables)               s'[i] = MixColumns(ShiftRows(SubBytes(s[i-1 mod n]))) XOR s[i], in that form
*/
#include <string.h>

#include "aes_impl.h"
#include "bytes.h"
#include "secure.h"

enum { ABSORB, ENCRYPT, DECRYPT };

/* Blocks of the state; blocks of text in a step of one lane. */
enum { STATE_128 = 8, STATE_256 = 6 };
#define RATE(n) ((n) == STATE_128 ? 2u : 1u)

AES_INLINE block block_xor3(block a, block b, block c) {
    return block_xor(block_xor(a, b), c);
}

AES_INLINE block key_stream(const block *s, const int n, const int second, const tables *t) {
    block linear;
    if (n == STATE_256)
        linear = block_xor3(s[1], s[4], s[5]);
    else
        linear = second ? block_xor(s[2], s[5]) : block_xor(s[6], s[1]);
    const block *q = s + (second ? 6 : 2);
    return block_xor(leave(linear, t), block_and(leave(q[0], t), leave(q[1], t)));
}

/*
** `steps` steps over the text at p, and at p + second for the second block of a step; each step is `stride`
** bytes after the one before it. The state is copied: a local array whose address goes nowhere stays in
** registers.
*/
AES_INLINE void run_steps(block *state, const int n, const int mode, uint8_t *p, size_t steps, size_t stride,
                          size_t second, const block *context) {
    const tables t = aegis_tables();
    block s[STATE_128];
    for (int i = 0; i < n; i++) s[i] = state[i];
    for (; steps > 0; steps--, p += stride) {
        block m[2];
        for (unsigned i = 0; i < RATE(n); i++) {
            m[i] = load(p + i * second);
            if (mode == ABSORB) continue;
            block x = block_xor(m[i], key_stream(s, n, (int)i, &t));
            store(p + i * second, x);
            if (mode == DECRYPT) m[i] = x;
        }
        if (mode == ABSORB) {
            s[3] = block_xor(s[3], *context);
            s[n - 1] = block_xor(s[n - 1], *context);
        }
        update(s, n, &t);
        s[0] = block_xor(s[0], enter(m[0], &t));
        if (n == STATE_128) s[4] = block_xor(s[4], enter(m[1], &t));
    }
    for (int i = 0; i < n; i++) state[i] = s[i];
}

AES_OUTLINE void encrypt_128(block *s, uint8_t *p, size_t steps, size_t stride, size_t second) {
    run_steps(s, STATE_128, ENCRYPT, p, steps, stride, second, NULL);
}

AES_OUTLINE void decrypt_128(block *s, uint8_t *p, size_t steps, size_t stride, size_t second) {
    run_steps(s, STATE_128, DECRYPT, p, steps, stride, second, NULL);
}

AES_OUTLINE void absorb_128(block *s, const uint8_t *p, size_t steps, size_t stride, size_t second,
                            const block *context) {
    run_steps(s, STATE_128, ABSORB, (uint8_t *)p, steps, stride, second, context); /* which writes nothing */
}

AES_OUTLINE void encrypt_256(block *s, uint8_t *p, size_t steps, size_t stride, size_t second) {
    run_steps(s, STATE_256, ENCRYPT, p, steps, stride, second, NULL);
}

AES_OUTLINE void decrypt_256(block *s, uint8_t *p, size_t steps, size_t stride, size_t second) {
    run_steps(s, STATE_256, DECRYPT, p, steps, stride, second, NULL);
}

AES_OUTLINE void absorb_256(block *s, const uint8_t *p, size_t steps, size_t stride, size_t second,
                            const block *context) {
    run_steps(s, STATE_256, ABSORB, (uint8_t *)p, steps, stride, second, context);
}

static void text_steps(block *s, int n, int mode, uint8_t *p, size_t steps, size_t stride, size_t second) {
    if (n == STATE_128)
        (mode == DECRYPT ? decrypt_128 : encrypt_128)(s, p, steps, stride, second);
    else
        (mode == DECRYPT ? decrypt_256 : encrypt_256)(s, p, steps, stride, second);
}

static void absorb_steps(block *s, int n, const uint8_t *p, size_t steps, size_t stride, size_t second) {
    block no_context;
    memset(&no_context, 0, sizeof no_context);
    (n == STATE_128 ? absorb_128 : absorb_256)(s, p, steps, stride, second, &no_context);
}

/* The constants: the Fibonacci sequence mod 256. */
static const uint8_t fibonacci[32] = {0x00, 0x01, 0x01, 0x02, 0x03, 0x05, 0x08, 0x0d, 0x15, 0x22, 0x37,
                                      0x59, 0x90, 0xe9, 0x79, 0x62, 0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2,
                                      0x2f, 0xf1, 0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28, 0xdd};

/* A key or nonce half, a constant, in the form of the state. */
static block entered(const uint8_t p[16]) {
    const tables t = aegis_tables();
    return enter(load(p), &t);
}

static void start(block *s, int n, const aegis_lane *l) {
    const block c0 = entered(fibonacci), c1 = entered(fibonacci + 16);
    uint8_t input[256], context[16] = {0};
    context[0] = (uint8_t)l->lane;
    context[1] = (uint8_t)(l->lanes - 1);
    if (n == STATE_128) {
        block k = entered(l->key);
        s[0] = s[4] = block_xor(k, entered(l->nonce));
        s[1] = s[3] = c1;
        s[2] = c0;
        s[5] = s[7] = block_xor(k, c0);
        s[6] = block_xor(k, c1);
        memcpy(input, l->nonce, 16);
        memcpy(input + 16, l->key, 16);
    } else {
        block k0 = entered(l->key), k1 = entered(l->key + 16);
        s[0] = block_xor(k0, entered(l->nonce));
        s[1] = block_xor(k1, entered(l->nonce + 16));
        s[2] = c1;
        s[3] = c0;
        s[4] = block_xor(k0, c0);
        s[5] = block_xor(k1, c1);
        memcpy(input, l->key, 32);
        for (int i = 0; i < 32; i++) input[32 + i] = l->key[i] ^ l->nonce[i];
        for (int i = 64; i < 256; i += 64) memcpy(input + i, input, 64);
    }
    const block c = entered(context);
    if (n == STATE_128)
        absorb_128(s, input, 10, 0, 16, &c);
    else
        absorb_256(s, input, 16, 16, 0, &c);
    secure_zero(input, sizeof input);
}

/* The lane's blocks of the last, short step: zeros where the text has ended. */
static void take(uint8_t out[32], const uint8_t *p, size_t n, size_t first, size_t second) {
    memset(out, 0, 32);
    if (first < n) memcpy(out, p + first, n - first < 16 ? n - first : 16);
    if (second < n) memcpy(out + 16, p + second, n - second < 16 ? n - second : 16);
}

static void give(uint8_t *p, size_t n, size_t first, size_t second, const uint8_t out[32]) {
    if (first < n) memcpy(p + first, out, n - first < 16 ? n - first : 16);
    if (second < n) memcpy(p + second, out + 16, n - second < 16 ? n - second : 16);
}

/* The key stream of the step, then the plaintext with zeros behind it into the state. */
static void last_step(block *s, int n, int mode, uint8_t *p, size_t left, size_t first, size_t second) {
    uint8_t text[32], stream[32] = {0};
    block unused[STATE_128];
    memcpy(unused, s, (size_t)n * sizeof *s);
    text_steps(unused, n, ENCRYPT, stream, 1, 0, 16);
    take(text, p, left, first, second);
    if (mode == ENCRYPT) absorb_steps(s, n, text, 1, 0, 16);
    for (int i = 0; i < 32; i++) text[i] ^= stream[i];
    give(p, left, first, second, text);
    if (mode == DECRYPT) {
        take(text, p, left, first, second);
        absorb_steps(s, n, text, 1, 0, 16);
    }
    secure_zero(text, sizeof text);
    secure_zero(stream, sizeof stream);
    secure_zero(unused, sizeof unused);
}

/* tag ^= this lane's share. */
static void finish(block *s, int n, const aegis_lane *l, uint8_t tag[32]) {
    const tables form = aegis_tables();
    uint8_t lengths[16];
    uint64_t bits[2] = {(uint64_t)l->n_ad * 8, (uint64_t)l->n * 8};
    for (int i = 0; i < 4; i++) store32_le(lengths + 4 * i, (uint32_t)(bits[i / 2] >> i % 2 * 32));
    store(lengths, block_xor(load(lengths), leave(s[n == STATE_128 ? 2 : 3], &form)));
    absorb_steps(s, n, lengths, 7, 0, 0);
    for (int i = 0; i < 2; i++, tag += 16) {
        const block *q = s + n / 2 * i;
        block t = block_xor3(q[0], q[1], q[2]);
        if (n == STATE_128) t = block_xor(t, q[3]);
        store(tag, block_xor(load(tag), leave(t, &form)));
    }
    secure_zero(lengths, sizeof lengths);
}

static void lane(const aegis_lane *l, int n, int mode, uint8_t tag[32]) {
    block s[STATE_128];
    uint8_t text[32];
    const size_t first = 16 * (size_t)l->lane, second = 16 * (size_t)l->lanes; /* of a step, apart */
    const size_t stride = RATE(n) * 16 * (size_t)l->lanes;
    start(s, n, l);
    size_t steps = l->n_ad / stride;
    if (steps > 0) absorb_steps(s, n, l->ad + first, steps, stride, second);
    if (l->n_ad % stride != 0) {
        take(text, l->ad + steps * stride, l->n_ad % stride, first, first + second);
        absorb_steps(s, n, text, 1, 0, 16);
    }
    steps = l->n / stride;
    if (steps > 0) text_steps(s, n, mode, l->buf + first, steps, stride, second);
    if (l->n % stride != 0) last_step(s, n, mode, l->buf + steps * stride, l->n % stride, first, first + second);
    if (tag != NULL) finish(s, n, l, tag);
    secure_zero(s, sizeof s);
}

static void aegis128(const aegis_lane *l, int decrypt, uint8_t tag[32]) {
    lane(l, STATE_128, decrypt ? DECRYPT : ENCRYPT, tag);
}

static void aegis256(const aegis_lane *l, int decrypt, uint8_t tag[32]) {
    lane(l, STATE_256, decrypt ? DECRYPT : ENCRYPT, tag);
}
