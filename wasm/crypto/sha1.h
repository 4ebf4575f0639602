/*
** SHA-1 (FIPS 180-4). Broken as a hash; here for old formats.
*/
#ifndef SQLITE3MC_SHA1_H
#define SQLITE3MC_SHA1_H

#include <stddef.h>
#include <stdint.h>

void sha1(uint8_t digest[20], const uint8_t *msg, size_t n);

#endif
