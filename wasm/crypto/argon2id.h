/*
** Argon2id version 0x13 (RFC 9106), without secret and associated data.
**
** The second half of the first pass and all later passes read memory at addresses that depend on the
** password (that is Argon2id's design); all else does not.
*/
#ifndef SQLITE3MC_ARGON2ID_H
#define SQLITE3MC_ARGON2ID_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that a derivation needs, for m KiB and p lanes; 0: the parameters are not legal
** (t, p >= 1, m >= 8 p, RFC 9106 3.1) or the size is not addressable. */
size_t argon2id_memory(uint32_t t, uint32_t m, uint32_t p);

/* out_size >= 4 bytes from password and salt (8 bytes or more). memory: argon2id_memory() bytes, for which
** malloc's alignment is enough; holds secrets afterwards: wipe it. 0, or -1 (illegal argument; out
** is all zero). */
int argon2id(uint8_t *out, size_t out_size, const uint8_t *password, size_t password_size, const uint8_t *salt,
             size_t salt_size, uint32_t t, uint32_t m, uint32_t p, uint8_t *memory);

#endif
