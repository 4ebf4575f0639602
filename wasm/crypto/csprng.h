/*
** The generator of nonces, salts and filler bytes: ChaCha20 with fast key erasure
** (Bernstein, "Fast-key-erasure random-number generators", 2017), seeded and reseeded from
** entropy_get(), and reseeded in a forked child.
*/
#ifndef SQLITE3MC_CSPRNG_H
#define SQLITE3MC_CSPRNG_H

#include <stddef.h>

/* Fill out[0..n). 0: ok. Anything else: no entropy; out is all zero and must not be used. */
int csprng_bytes(void *out, size_t n);

/* Wipe the generator's state. The next call of csprng_bytes() seeds it again. */
void csprng_wipe(void);

#endif
