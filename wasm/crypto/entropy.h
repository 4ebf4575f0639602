/*
** The one thing that the crypto layer asks of its platform: fresh random bytes.
** Implemented by wasm/host/entropy_wasm.c, native/entropy_posix.c, native/entropy_windows.c.
*/
#ifndef SQLITE3MC_ENTROPY_H
#define SQLITE3MC_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* Fill out[0..n) from the operating system or crypto.getRandomValues.
** 0: all n bytes are fresh. Anything else: no entropy; the content of out is zero. */
int entropy_get(uint8_t *out, size_t n);

/* A number that differs in a forked child (the process id; 0 where processes do not fork). */
uint64_t entropy_process(void);

#endif
