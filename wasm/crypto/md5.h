/*
** MD5 (RFC 1321). Broken as a hash; here for the key derivations of old formats.
*/
#ifndef SQLITE3MC_MD5_H
#define SQLITE3MC_MD5_H

#include <stddef.h>
#include <stdint.h>

void md5(uint8_t digest[16], const uint8_t *msg, size_t n);

#endif
