/*
** The compression function G of Argon2 (RFC 9106 3.5, 3.6) on vectors of two 64-bit words. The file that
** includes this one defines a type V of 16 bytes and, on it: V_LOAD, V_STORE, V_XOR, V_ADD; V_ROTR32, V_ROTR24,
** V_ROTR16, V_ROTR63 of each word; V_ALIGN(a, b) = (a's second word, b's first); v_multiply(), the product of the
** low halves of words, for two pairs of vectors; and FILL_NAME, FILL_STRING, FILL_CPU.
*/

/* a + b + 2 * low(a) * low(b), for two pairs. */
static inline void multiply_add(V a[2], const V b[2]) {
    V m[2];
    v_multiply(m, a, b);
    for (int i = 0; i < 2; i++) a[i] = V_ADD(V_ADD(a[i], b[i]), V_ADD(m[i], m[i]));
}

/* GB on four columns of a 4x4 matrix of words. */
static inline void mix_columns(V a[2], V b[2], V c[2], V d[2]) {
    multiply_add(a, b);
    for (int i = 0; i < 2; i++) d[i] = V_ROTR32(V_XOR(d[i], a[i]));
    multiply_add(c, d);
    for (int i = 0; i < 2; i++) b[i] = V_ROTR24(V_XOR(b[i], c[i]));
    multiply_add(a, b);
    for (int i = 0; i < 2; i++) d[i] = V_ROTR16(V_XOR(d[i], a[i]));
    multiply_add(c, d);
    for (int i = 0; i < 2; i++) b[i] = V_ROTR63(V_XOR(b[i], c[i]));
}

/* P: the columns, then the diagonals, for which rows b, c, d turn by 1, 2, 3 words and back. */
static inline void permute(V v[8]) {
    V a[2] = {v[0], v[1]}, b[2] = {v[2], v[3]}, c[2] = {v[4], v[5]}, d[2] = {v[6], v[7]};
    mix_columns(a, b, c, d);
    V b1[2] = {V_ALIGN(b[0], b[1]), V_ALIGN(b[1], b[0])};
    V c2[2] = {c[1], c[0]};
    V d3[2] = {V_ALIGN(d[1], d[0]), V_ALIGN(d[0], d[1])};
    mix_columns(a, b1, c2, d3);
    v[0] = a[0], v[1] = a[1];
    v[2] = V_ALIGN(b1[1], b1[0]), v[3] = V_ALIGN(b1[0], b1[1]);
    v[4] = c2[1], v[5] = c2[0];
    v[6] = V_ALIGN(d3[0], d3[1]), v[7] = V_ALIGN(d3[1], d3[0]);
}

/* The block is a matrix of 8 x 8 vectors: P on each row, then P on each column. */
static void fill(argon2id_block *next, const argon2id_block *x, const argon2id_block *y, int add,
                 argon2id_block *scratch) {
    V v[8];
    for (int row = 0; row < 128; row += 16) {
        for (int i = 0; i < 8; i++) v[i] = V_XOR(V_LOAD(x->w + row + 2 * i), V_LOAD(y->w + row + 2 * i));
        permute(v);
        for (int i = 0; i < 8; i++) V_STORE(scratch->w + row + 2 * i, v[i]);
    }
    for (int column = 0; column < 16; column += 2) {
        for (int i = 0; i < 8; i++) v[i] = V_LOAD(scratch->w + 16 * i + column);
        permute(v);
        for (int i = 0; i < 8; i++) {
            v[i] = V_XOR(v[i], V_XOR(V_LOAD(x->w + 16 * i + column), V_LOAD(y->w + 16 * i + column)));
        }
        if (add) {
            for (int i = 0; i < 8; i++) v[i] = V_XOR(v[i], V_LOAD(next->w + 16 * i + column));
        }
        for (int i = 0; i < 8; i++) V_STORE(next->w + 16 * i + column, v[i]);
    }
}

const argon2id_impl FILL_NAME = {.name = FILL_STRING, .cpu = FILL_CPU, .fill = fill};
