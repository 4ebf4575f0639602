/*
** RC4. Broken, and not constant time: its table is indexed by secrets. Here to read old files.
*/
#ifndef SQLITE3MC_RC4_H
#define SQLITE3MC_RC4_H

#include <stddef.h>
#include <stdint.h>

/* buf[0..n) ^= key stream from its start. key_size 1..256. */
void rc4_xor(uint8_t *buf, size_t n, const uint8_t *key, size_t key_size);

#endif
