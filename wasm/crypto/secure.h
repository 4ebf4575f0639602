/*
** Wiping and constant-time comparison of secrets.
*/
#ifndef SQLITE3MC_SECURE_H
#define SQLITE3MC_SECURE_H

#include <stddef.h>

/* Overwrite n bytes at p with zeros. The compiler and the linker may not drop it. */
void secure_zero(void *p, size_t n);

/* 1 if the n bytes at a and b are equal, else 0. Time depends on n only. */
int secure_equal(const void *a, const void *b, size_t n);

#endif
