/*
** What a cipher scheme is to the rest of the library: a name, a list of integer parameters, a key
** derivation, and two pure functions that turn a page of plaintext into the bytes of the file and
** back. A scheme does no I/O, allocates nothing and keeps no state of its own.
**
** A new scheme is one file in this directory and one line in registry.c.
*/
#ifndef SQLITE3MC_SCHEME_H
#define SQLITE3MC_SCHEME_H

#include <stddef.h>
#include <stdint.h>

/* Most schemes, most parameters that one of them may have, size of the salt of all schemes with a salt. */
#define MC_MAX_SCHEME 16
#define MC_MAX_PARAM 64
#define MC_SALT_SIZE 16

#define MC_SEAL_MANY 4

/* Results of the functions below. */
enum {
    MC_SCHEME_OK = 0,
    MC_SCHEME_BAD_PAGE,   /* the page does not verify: wrong key, wrong parameters or damage */
    MC_SCHEME_UNVERIFIED, /* the page was opened although its tag is wrong, as asked */
    MC_SCHEME_NO_ENTROPY, /* no random bytes to be had; the page was not sealed */
    MC_SCHEME_NO_MEMORY,
    MC_SCHEME_PARAMETERS /* legal values that do not go together; no key was derived */
};

/* How the value of a parameter is checked beyond minimum and maximum. */
enum {
    MC_PARAM_INT = 0,
    MC_PARAM_PAGE_SIZE, /* 0 or a power of two, 512..65536 */
    MC_PARAM_BLOCKS     /* a multiple of 16 */
};

typedef struct McParam {
    const char *zName;
    int iDefault;
    int iMin;
    int iMax;
    int eKind;                  /* MC_PARAM_... */
    const char *const *azValue; /* NULL, or the names of the values iMin..iMax */
} McParam;

/* Another parameter that is set together with one. */
typedef struct McImplied {
    int iParam;
    int iValue;
} McImplied;

/* A password and the salt to use it with. nPassword in bytes; aSalt: MC_SALT_SIZE bytes. */
typedef struct McSecret {
    const struct McScheme *pScheme;
    const uint8_t *aPassword;
    size_t nPassword;
    const uint8_t *aSalt;
    /* Memory for a derivation that needs much of it: NULL if there is none. xFree wipes it. */
    void *(*xAlloc)(size_t n);
    void (*xFree)(void *p, size_t n);
} McSecret;

typedef struct McScheme McScheme;
struct McScheme {
    const char *zName;
    const McParam *aParam; /* nParam of them */
    int nParam;
    size_t nState; /* bytes of the key state, which belongs to the caller and is wiped by it */
    int nSalt;     /* MC_SALT_SIZE, or 0: the scheme has no salt */

    /* The parameters that setting parameter iParam to the value sets too; *pn of them. NULL function:
    ** there are none. */
    const McImplied *(*xImplies)(int iParam, int iValue, int *pn);

    /* What is wrong with these values together, each of which is legal: a sentence without a dot. NULL:
    ** nothing. NULL function: they always go together. */
    const char *(*xConflict)(const int *aValue);

    /* 1 if every page carries a tag, so that xOpen tells a wrong key from a right one. */
    int (*xAuthenticates)(const int *aValue);

    /* Bytes that the scheme needs at the end of each page. */
    int (*xReserved)(const int *aValue);

    /* Page size that the reader must assume because page 1 hides it, or 0: bytes 16..23 of page 1
    ** are plaintext and tell it. *pbHidden: 1 if they are not plaintext. */
    int (*xPageSize)(const int *aValue, int *pbHidden);

    /* Bytes of page 1 that are stored in plaintext by request, the magic text included; more than
    ** 0 means that the file does not hold the salt. */
    int (*xPlaintextHeader)(const int *aValue);

    /* Bytes of a raw key (mc_raw_key). NULL: the scheme knows no raw keys. */
    size_t (*xKeySize)(const int *aValue);

    /* Fill pState (any alignment that holds a uint64_t) from password and salt. */
    int (*xDerive)(void *pState, const int *aValue, const McSecret *pSecret);

    /*
    ** Plaintext page to stored page and back, in place. pgno from 1; nPage: page size in bytes. The
    ** scheme uses the last xReserved() bytes of the page; a file may reserve more, which count as data.
    ** xSeal takes its nonce from the generator.
    ** xOpen: bCheck 0 opens a page although its tag is wrong (rescue of damaged files), which for page 1
    ** is MC_SCHEME_UNVERIFIED. On MC_SCHEME_BAD_PAGE the page is all zero.
    */
    int (*xSeal)(const void *pState, uint32_t pgno, uint8_t *aPage, size_t nPage);
    int (*xOpen)(const void *pState, uint32_t pgno, uint8_t *aPage, size_t nPage, int bCheck);

    /* The same as n calls of xSeal, 2 to MC_SEAL_MANY, none of them for page 1; all pages or, on an error,
    ** none are sealed. NULL: nothing is won by it. */
    int (*xSealMany)(const void *pState, const uint32_t *aPgno, uint8_t *const *apPage, int n, size_t nPage);
};

/* The first 16 bytes of a plain SQLite database. */
extern const uint8_t mc_sqlite_magic[16];

/* The registered schemes in order of their ids (1, 2, ...); NULL past the last one. */
const McScheme *mc_scheme_by_id(int iScheme);

/* The id of a registered scheme. */
int mc_scheme_id(const McScheme *p);

/* By name, ASCII letters of either case. NULL: unknown. */
const McScheme *mc_scheme_by_name(const char *zName);

/* The scheme of a connection that chose none. */
const McScheme *mc_scheme_default(void);

/*
** Add a scheme at run time, and make it the default if asked. It must stay where it is until
** mc_scheme_unregister() says so. 1: done. 0: there are MC_MAX_SCHEME schemes, or one of that name. Calls
** must not overlap; look-ups may run beside them.
*/
int mc_scheme_register(const McScheme *p, int bDefault);

/* Take the scheme that was added last out again. NULL: none is left. Nothing may run beside it. */
const McScheme *mc_scheme_unregister(void);

/* Index of a parameter by name (either case) in p->aParam, or -1. */
int mc_scheme_param(const McScheme *p, const char *zName);

/* 1 if the two names are equal, ASCII letters of either case. */
int mc_same_name(const char *a, const char *b);

/* 1 if v is a legal value of the parameter. */
int mc_param_legal(const McParam *p, int v);

/*
** Raw keys, the password forms that skip the key derivation (K = key size in bytes, S = 16):
**   raw: + K or K+S bytes, or 2K or 2(K+S) hex digits         (tested in the order K+S, K, 2K, 2(K+S))
**   x' or X' + 2K or 2(K+S) hex digits + one byte, normally '
**   raw:bin: + K or K+S bytes          raw:hex: + 2K or 2(K+S) hex digits
** Result: MC_RAW_NONE (an ordinary password), MC_RAW_KEY, MC_RAW_KEY_SALT, or MC_RAW_MALFORMED (begins
** with raw:hex: or raw:bin: but is neither). aKey: K bytes. aKey and aSalt may be NULL.
*/
enum { MC_RAW_NONE = 0, MC_RAW_KEY, MC_RAW_KEY_SALT, MC_RAW_MALFORMED };
int mc_raw_key(const uint8_t *aPassword, size_t nPassword, uint8_t *aKey, size_t nKey, uint8_t aSalt[MC_SALT_SIZE]);

/* n/2 bytes from n hex digits of either case. 1: done. 0: n is odd or a character is no hex digit
** (aOut is then wiped). */
int mc_hex_decode(const char *zHex, size_t n, uint8_t *aOut);

#endif
