/*
** Key expansion (FIPS 197 5.2) on vectors of four words. The file that includes it has defined, static:
**
**   vec                       16 bytes, a round key
**   vec_load(p), vec_store(p, v), vec_xor(a, b)
**   vec_lookup(table, index)  the bytes of `table` at index[0..16), zero where the index is 128
**   tables_of_expansion, expansion_tables()   what SubBytes needs
**   sub_bytes(v, &tables)
*/
#include "secure.h"

/* The last word to all places, rotated and not; the words up by one place and by two, zeros behind them. */
static const uint8_t last_word_rotated[16] = {13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12};
static const uint8_t last_word[16] = {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15};
static const uint8_t up_one[16] = {128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t up_two[16] = {128, 128, 128, 128, 128, 128, 128, 128, 0, 1, 2, 3, 4, 5, 6, 7};

/* rounds + 1 keys of 16 bytes to `out`; rounds is 10 or 14. */
static void expand(uint8_t *out, const uint8_t *key, int rounds) {
    const tables_of_expansion t = expansion_tables();
    const vec rotated = vec_load(last_word_rotated), straight = vec_load(last_word);
    const vec one = vec_load(up_one), two = vec_load(up_two);
    const int wide = rounds == 14; /* a round key is half of the key, not all of it */
    uint8_t round_constant[16] = {0};
    unsigned rc = 1;
    vec before = vec_load(key), last = wide ? vec_load(key + 16) : before;
    vec_store(out, before);
    if (wide) vec_store(out + 16, last);
    for (int r = wide ? 2 : 1; r <= rounds; r++) {
        vec x = vec_lookup(last, wide && r % 2 == 1 ? straight : rotated);
        x = sub_bytes(x, &t);
        if (!wide || r % 2 == 0) {
            for (int i = 0; i < 16; i += 4) round_constant[i] = (uint8_t)rc;
            x = vec_xor(x, vec_load(round_constant));
            rc = rc << 1 ^ (rc >> 7) * 0x11b;
        }
        before = vec_xor(before, vec_lookup(before, one));
        before = vec_xor(before, vec_lookup(before, two));
        x = vec_xor(x, before);
        before = wide ? last : x;
        last = x;
        vec_store(out + 16 * r, x);
    }
}
