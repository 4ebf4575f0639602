/*
** SHA-256 (FIPS 180-4).
*/
#ifndef SQLITE3MC_SHA256_H
#define SQLITE3MC_SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(uint8_t digest[32], const uint8_t *msg, size_t n);

#endif
