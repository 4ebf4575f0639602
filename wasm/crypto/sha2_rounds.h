/*
** The compression function of SHA-256 and SHA-512 (FIPS 180-4 6.2.2, 6.4.2). The file that includes this
** defines: word, ROUNDS, round_constant[ROUNDS], and sum0, sum1, sigma0, sigma1 on a word.
*/

/* One round; the caller renames the variables instead of moving them. */
static inline void round_step(word a, word b, word c, word *d, word e, word f, word g, word *h, word kw) {
    word t = *h + kw + sum1(e) + ((e & (f ^ g)) ^ g);
    *d += t;
    *h = t + sum0(a) + ((a & b) | (c & (a | b)));
}

/* The next word of the message schedule, in the place of the one 16 before it. */
static inline word schedule(word w[16], unsigned i) {
    w[i] += sigma0(w[(i + 1) % 16]) + w[(i + 9) % 16] + sigma1(w[(i + 14) % 16]);
    return w[i];
}

/* No address of w leaves this function: the compiler keeps the words in registers, as far as they go. */
static inline void compress_words(word s[8], const word m[16]) {
    word w[16];
    word a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    const word *k = round_constant;
    memcpy(w, m, sizeof w);
    round_step(a, b, c, &d, e, f, g, &h, k[0] + w[0]);
    round_step(h, a, b, &c, d, e, f, &g, k[1] + w[1]);
    round_step(g, h, a, &b, c, d, e, &f, k[2] + w[2]);
    round_step(f, g, h, &a, b, c, d, &e, k[3] + w[3]);
    round_step(e, f, g, &h, a, b, c, &d, k[4] + w[4]);
    round_step(d, e, f, &g, h, a, b, &c, k[5] + w[5]);
    round_step(c, d, e, &f, g, h, a, &b, k[6] + w[6]);
    round_step(b, c, d, &e, f, g, h, &a, k[7] + w[7]);
    round_step(a, b, c, &d, e, f, g, &h, k[8] + w[8]);
    round_step(h, a, b, &c, d, e, f, &g, k[9] + w[9]);
    round_step(g, h, a, &b, c, d, e, &f, k[10] + w[10]);
    round_step(f, g, h, &a, b, c, d, &e, k[11] + w[11]);
    round_step(e, f, g, &h, a, b, c, &d, k[12] + w[12]);
    round_step(d, e, f, &g, h, a, b, &c, k[13] + w[13]);
    round_step(c, d, e, &f, g, h, a, &b, k[14] + w[14]);
    round_step(b, c, d, &e, f, g, h, &a, k[15] + w[15]);
    for (k += 16; k < round_constant + ROUNDS; k += 16) {
        round_step(a, b, c, &d, e, f, g, &h, k[0] + schedule(w, 0));
        round_step(h, a, b, &c, d, e, f, &g, k[1] + schedule(w, 1));
        round_step(g, h, a, &b, c, d, e, &f, k[2] + schedule(w, 2));
        round_step(f, g, h, &a, b, c, d, &e, k[3] + schedule(w, 3));
        round_step(e, f, g, &h, a, b, c, &d, k[4] + schedule(w, 4));
        round_step(d, e, f, &g, h, a, b, &c, k[5] + schedule(w, 5));
        round_step(c, d, e, &f, g, h, a, &b, k[6] + schedule(w, 6));
        round_step(b, c, d, &e, f, g, h, &a, k[7] + schedule(w, 7));
        round_step(a, b, c, &d, e, f, g, &h, k[8] + schedule(w, 8));
        round_step(h, a, b, &c, d, e, f, &g, k[9] + schedule(w, 9));
        round_step(g, h, a, &b, c, d, e, &f, k[10] + schedule(w, 10));
        round_step(f, g, h, &a, b, c, d, &e, k[11] + schedule(w, 11));
        round_step(e, f, g, &h, a, b, c, &d, k[12] + schedule(w, 12));
        round_step(d, e, f, &g, h, a, b, &c, k[13] + schedule(w, 13));
        round_step(c, d, e, &f, g, h, a, &b, k[14] + schedule(w, 14));
        round_step(b, c, d, &e, f, g, h, &a, k[15] + schedule(w, 15));
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}
