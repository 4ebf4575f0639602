/*
** SHA-512 (FIPS 180-4).
*/
#ifndef SQLITE3MC_SHA512_H
#define SQLITE3MC_SHA512_H

#include <stddef.h>
#include <stdint.h>

void sha512(uint8_t digest[64], const uint8_t *msg, size_t n);

#endif
