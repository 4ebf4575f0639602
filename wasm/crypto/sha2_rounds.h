/*
** The compression function of SHA-256 and SHA-512 (FIPS 180-4 6.2.2, 6.4.2). The file that includes this
** defines: word, ROUNDS, round_constant[ROUNDS], and sum0, sum1, sigma0, sigma1 on a word.
*/

/* One round; the caller renames the variables instead of moving them. *bc is b XOR c, which the round before had
** as its a XOR b. */
static inline void round_step(word a, word b, word *d, word e, word f, word g, word *h, word *bc, word kw) {
    word ab = a ^ b;
    *h += kw + ((e & (f ^ g)) ^ g) + sum1(e);
    *d += *h;
    *h += sum0(a) + ((ab & *bc) ^ b);
    *bc = ab;
}

/* The next word of the message schedule, in the place of the one 16 before it. */
static inline word schedule(word w[16], unsigned i) {
    w[i] += sigma0(w[(i + 1) % 16]) + w[(i + 9) % 16] + sigma1(w[(i + 14) % 16]);
    return w[i];
}

/* out = in changed by the block m, which may begin with out. No address of w leaves this function: the compiler
** keeps the words in registers, as far as they go. */
static inline void compress_words(word out[8], const word in[8], const word m[16]) {
    word w[16];
    word a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5], g = in[6], h = in[7];
    word bc = b ^ c;
    const word *k = round_constant;
    memcpy(w, m, sizeof w);
    round_step(a, b, &d, e, f, g, &h, &bc, k[0] + w[0]);
    round_step(h, a, &c, d, e, f, &g, &bc, k[1] + w[1]);
    round_step(g, h, &b, c, d, e, &f, &bc, k[2] + w[2]);
    round_step(f, g, &a, b, c, d, &e, &bc, k[3] + w[3]);
    round_step(e, f, &h, a, b, c, &d, &bc, k[4] + w[4]);
    round_step(d, e, &g, h, a, b, &c, &bc, k[5] + w[5]);
    round_step(c, d, &f, g, h, a, &b, &bc, k[6] + w[6]);
    round_step(b, c, &e, f, g, h, &a, &bc, k[7] + w[7]);
    round_step(a, b, &d, e, f, g, &h, &bc, k[8] + w[8]);
    round_step(h, a, &c, d, e, f, &g, &bc, k[9] + w[9]);
    round_step(g, h, &b, c, d, e, &f, &bc, k[10] + w[10]);
    round_step(f, g, &a, b, c, d, &e, &bc, k[11] + w[11]);
    round_step(e, f, &h, a, b, c, &d, &bc, k[12] + w[12]);
    round_step(d, e, &g, h, a, b, &c, &bc, k[13] + w[13]);
    round_step(c, d, &f, g, h, a, &b, &bc, k[14] + w[14]);
    round_step(b, c, &e, f, g, h, &a, &bc, k[15] + w[15]);
    for (k += 16; k < round_constant + ROUNDS; k += 16) {
        round_step(a, b, &d, e, f, g, &h, &bc, k[0] + schedule(w, 0));
        round_step(h, a, &c, d, e, f, &g, &bc, k[1] + schedule(w, 1));
        round_step(g, h, &b, c, d, e, &f, &bc, k[2] + schedule(w, 2));
        round_step(f, g, &a, b, c, d, &e, &bc, k[3] + schedule(w, 3));
        round_step(e, f, &h, a, b, c, &d, &bc, k[4] + schedule(w, 4));
        round_step(d, e, &g, h, a, b, &c, &bc, k[5] + schedule(w, 5));
        round_step(c, d, &f, g, h, a, &b, &bc, k[6] + schedule(w, 6));
        round_step(b, c, &e, f, g, h, &a, &bc, k[7] + schedule(w, 7));
        round_step(a, b, &d, e, f, g, &h, &bc, k[8] + schedule(w, 8));
        round_step(h, a, &c, d, e, f, &g, &bc, k[9] + schedule(w, 9));
        round_step(g, h, &b, c, d, e, &f, &bc, k[10] + schedule(w, 10));
        round_step(f, g, &a, b, c, d, &e, &bc, k[11] + schedule(w, 11));
        round_step(e, f, &h, a, b, c, &d, &bc, k[12] + schedule(w, 12));
        round_step(d, e, &g, h, a, b, &c, &bc, k[13] + schedule(w, 13));
        round_step(c, d, &f, g, h, a, &b, &bc, k[14] + schedule(w, 14));
        round_step(b, c, &e, f, g, h, &a, &bc, k[15] + schedule(w, 15));
    }
    out[0] = in[0] + a;
    out[1] = in[1] + b;
    out[2] = in[2] + c;
    out[3] = in[3] + d;
    out[4] = in[4] + e;
    out[5] = in[5] + f;
    out[6] = in[6] + g;
    out[7] = in[7] + h;
}
