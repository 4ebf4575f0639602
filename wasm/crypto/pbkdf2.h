/*
** PBKDF2 (RFC 8018 5.2).
*/
#ifndef SQLITE3MC_PBKDF2_H
#define SQLITE3MC_PBKDF2_H

#include <stddef.h>
#include <stdint.h>

/* out[0..outlen) = PBKDF2-HMAC-SHA256. iterations >= 1, outlen >= 1. Never fails. */
void pbkdf2_hmac_sha256(const uint8_t *password, size_t password_len, const uint8_t *salt, size_t salt_len,
                        uint32_t iterations, uint8_t *out, size_t outlen);

#endif
