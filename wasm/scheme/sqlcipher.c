/*
** Scheme sqlcipher: the formats of SQLCipher 1 to 4 (legacy = 1..4) and, with legacy = 0, the variant of
** SQLite3 Multiple Ciphers that keeps bytes 16..23 of page 1 in plaintext.
**
** Page:   data || IV 16 || HMAC 20, 32 or 64 || filler to a multiple of 16
**         data = AES-256-CBC(key, IV)
**         HMAC under a second key over data || IV || page number
** Page 1: the first 16 bytes hold the salt; bytes 16..23 are plaintext where legacy = 0, which leaves a
**         length that is no multiple of 16: ciphertext stealing. The HMAC covers none of these. With a
**         plaintext header the first bytes are stored as they are and the salt is not stored.
** Keys:   PBKDF2 of the password and the salt; and of that key and the masked salt.
**
** Bytes that are reserved beyond those of the scheme lie before the IV and are treated as data.
*/
#include "../crypto/aes.h"
#include "../crypto/csprng.h"
#include "../crypto/hmac.h"
#include "../crypto/secure.h"
#include "scheme.h"
#include <string.h>

enum { KEY_SIZE = 32, IV_SIZE = 16 };
enum {
    P_LEGACY,
    P_LEGACY_PAGE_SIZE,
    P_KDF_ITER,
    P_FAST_KDF_ITER,
    P_HMAC_USE,
    P_HMAC_PGNO,
    P_HMAC_SALT_MASK,
    P_KDF_ALGORITHM,
    P_HMAC_ALGORITHM,
    P_HMAC_ALGORITHM_COMPAT,
    P_PLAINTEXT_HEADER_SIZE
};
enum { PGNO_NATIVE, PGNO_LITTLE_ENDIAN, PGNO_BIG_ENDIAN };

typedef struct {
    aes_key aes;
    hmac_key mac;
    uint8_t salt[MC_SALT_SIZE];
    size_t offset; /* first encrypted byte of page 1 */
    size_t reserved;
    int hmac_use;
    int hmac_pgno;
    int plain; /* plaintext_header_size */
} State;

/* The algorithms in the order of HMAC_SHA1, HMAC_SHA256, HMAC_SHA512. */
static const McParam params[] = {
    {"legacy", 0, 0, 4, MC_PARAM_INT, NULL},
    {"legacy_page_size", 4096, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
    {"kdf_iter", 256000, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"fast_kdf_iter", 2, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"hmac_use", 1, 0, 1, MC_PARAM_INT, NULL},
    {"hmac_pgno", PGNO_LITTLE_ENDIAN, PGNO_NATIVE, PGNO_BIG_ENDIAN, MC_PARAM_INT, NULL},
    {"hmac_salt_mask", 0x3a, 0, 255, MC_PARAM_INT, NULL},
    {"kdf_algorithm", HMAC_SHA512, HMAC_SHA1, HMAC_SHA512, MC_PARAM_INT, NULL},
    {"hmac_algorithm", HMAC_SHA512, HMAC_SHA1, HMAC_SHA512, MC_PARAM_INT, NULL},
    {"hmac_algorithm_compat", 1, 0, 1, MC_PARAM_INT, NULL},
    {"plaintext_header_size", 0, 0, 100, MC_PARAM_BLOCKS, NULL},
};

/* What a version of SQLCipher means by its number. */
static const McImplied *implies(int param, int value, int *n) {
    static const McImplied versions[4][5] = {
        {{P_LEGACY_PAGE_SIZE, 1024},
         {P_KDF_ITER, 4000},
         {P_HMAC_USE, 0},
         {P_KDF_ALGORITHM, HMAC_SHA1},
         {P_HMAC_ALGORITHM, HMAC_SHA1}},
        {{P_LEGACY_PAGE_SIZE, 1024},
         {P_KDF_ITER, 4000},
         {P_HMAC_USE, 1},
         {P_KDF_ALGORITHM, HMAC_SHA1},
         {P_HMAC_ALGORITHM, HMAC_SHA1}},
        {{P_LEGACY_PAGE_SIZE, 1024},
         {P_KDF_ITER, 64000},
         {P_HMAC_USE, 1},
         {P_KDF_ALGORITHM, HMAC_SHA1},
         {P_HMAC_ALGORITHM, HMAC_SHA1}},
        {{P_LEGACY_PAGE_SIZE, 4096},
         {P_KDF_ITER, 256000},
         {P_HMAC_USE, 1},
         {P_KDF_ALGORITHM, HMAC_SHA512},
         {P_HMAC_ALGORITHM, HMAC_SHA512}},
    };
    *n = 0;
    if (param != P_LEGACY || value < 1 || value > 4) return NULL;
    *n = 5;
    return versions[value - 1];
}

static int authenticates(const int *value) {
    return value[P_HMAC_USE];
}

static int reserved(const int *value) {
    int n = IV_SIZE;
    if (value[P_HMAC_USE]) n += (int)hmac_size(value[P_HMAC_ALGORITHM]);
    return (n + 15) / 16 * 16;
}

static int page_size(const int *value, int *hidden) {
    *hidden = value[P_LEGACY] > 0;
    return value[P_LEGACY] > 0 ? value[P_LEGACY_PAGE_SIZE] : 0;
}

/* Versions before 4 have none. */
static int plaintext_header(const int *value) {
    return value[P_LEGACY] >= 1 && value[P_LEGACY] <= 3 ? 0 : value[P_PLAINTEXT_HEADER_SIZE];
}

static size_t key_size(const int *value) {
    (void)value;
    return KEY_SIZE;
}

static void derive_mac_key(State *s, const int *value, const uint8_t *key, const uint8_t *salt) {
    int algorithm = value[P_HMAC_ALGORITHM_COMPAT] ? value[P_KDF_ALGORITHM] : value[P_HMAC_ALGORITHM];
    uint8_t masked[MC_SALT_SIZE];
    uint8_t mac_key[KEY_SIZE];
    for (int i = 0; i < MC_SALT_SIZE; i++) masked[i] = (uint8_t)(salt[i] ^ value[P_HMAC_SALT_MASK]);
    pbkdf2_hmac(algorithm, key, KEY_SIZE, masked, MC_SALT_SIZE, (uint32_t)value[P_FAST_KDF_ITER], mac_key, KEY_SIZE);
    hmac_key_init(&s->mac, value[P_HMAC_ALGORITHM], mac_key, KEY_SIZE);
    secure_zero(mac_key, sizeof(mac_key));
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    uint8_t key[KEY_SIZE];
    size_t first = value[P_LEGACY] ? 16 : 24;
    if (mc_raw_key(secret->aPassword, secret->nPassword, key, KEY_SIZE, NULL) == MC_RAW_NONE) {
        pbkdf2_hmac(value[P_KDF_ALGORITHM], secret->aPassword, secret->nPassword, secret->aSalt, MC_SALT_SIZE,
                    (uint32_t)value[P_KDF_ITER], key, KEY_SIZE);
    }
    aes_key_init(&s->aes, key, KEY_SIZE);
    if (value[P_HMAC_USE]) derive_mac_key(s, value, key, secret->aSalt);
    secure_zero(key, sizeof(key));
    memcpy(s->salt, secret->aSalt, MC_SALT_SIZE);
    s->reserved = (size_t)reserved(value);
    s->hmac_use = value[P_HMAC_USE];
    s->hmac_pgno = value[P_HMAC_PGNO];
    s->plain = plaintext_header(value);
    s->offset = (size_t)s->plain > first ? (size_t)s->plain : first;
    return MC_SCHEME_OK;
}

static void number(const State *s, uint32_t pgno, uint8_t out[4]) {
    if (s->hmac_pgno == PGNO_NATIVE) {
        memcpy(out, &pgno, 4);
        return;
    }
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(pgno >> 8 * (s->hmac_pgno == PGNO_BIG_ENDIAN ? 3 - i : i));
}

/* The HMAC of a page whose ciphertext and IV lie in [off, end). */
static void page_mac(const State *s, uint32_t pgno, const uint8_t *page, size_t off, size_t end, uint8_t *tag) {
    uint8_t pgno_bytes[4];
    number(s, pgno, pgno_bytes);
    hmac(&s->mac, tag, page + off, end - off, pgno_bytes, sizeof(pgno_bytes));
}

/* Write the HMAC of an encrypted page. */
static void store_mac(const State *s, uint32_t pgno, uint8_t *page, size_t off, uint8_t *iv) {
    uint8_t tag[HMAC_MAX_SIZE];
    if (!s->hmac_use) return;
    page_mac(s, pgno, page, off, (size_t)(iv - page) + IV_SIZE, tag);
    memcpy(iv + IV_SIZE, tag, hmac_size(s->mac.algorithm));
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    uint8_t *iv = page + size - s->reserved;
    size_t off = pgno == 1 ? s->offset : 0;
    if (csprng_bytes(iv, s->reserved) != 0) return MC_SCHEME_NO_ENTROPY; /* and what will be filler */
    aes_cbc_cs3_encrypt(&s->aes, iv, page + off, (size_t)(iv - page) - off);
    store_mac(s, pgno, page, off, iv);
    if (pgno == 1 && s->plain == 0) memcpy(page, s->salt, MC_SALT_SIZE);
    return MC_SCHEME_OK;
}

static int seal_many(const void *state, const uint32_t *pgno, uint8_t *const *page, int n, size_t size) {
    const State *s = state;
    size_t n_data = size - s->reserved;
    aes_cbc_job job[MC_SEAL_MANY] = {{0}};
    for (int i = 0; i < n; i++) {
        job[i].key = &s->aes;
        job[i].iv = page[i] + n_data;
        job[i].buf = page[i];
        if (csprng_bytes(page[i] + n_data, s->reserved) != 0) return MC_SCHEME_NO_ENTROPY;
    }
    aes_cbc_encrypt_each(job, n, n_data);
    for (int i = 0; i < n; i++) store_mac(s, pgno[i], page[i], 0, page[i] + n_data);
    return MC_SCHEME_OK;
}

/* Without a MAC a wrong key is told by what page 1 looks like: the constants in its header, the bytes
** that SQLite reserves as zeros, and a root page of a table. */
static int looks_like_page1(const uint8_t *page) {
    uint8_t unused = 0;
    for (int i = 72; i < 92; i++) unused |= page[i];
    return page[21] == 64 && page[22] == 32 && page[23] == 32 && unused == 0 && (page[100] == 5 || page[100] == 13);
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    uint8_t *iv = page + size - s->reserved;
    size_t off = pgno == 1 ? s->offset : 0;
    uint8_t tag[HMAC_MAX_SIZE];
    int good = 1;
    if (s->hmac_use) {
        page_mac(s, pgno, page, off, (size_t)(iv - page) + IV_SIZE, tag);
        good = secure_equal(tag, iv + IV_SIZE, hmac_size(s->mac.algorithm));
        secure_zero(tag, sizeof(tag));
    }
    if (!good && check) {
        secure_zero(page, size);
        return MC_SCHEME_BAD_PAGE;
    }
    aes_cbc_cs3_decrypt(&s->aes, iv, page + off, (size_t)(iv - page) - off);
    if (pgno == 1 && !s->hmac_use && !looks_like_page1(page)) {
        secure_zero(page, size);
        return MC_SCHEME_BAD_PAGE;
    }
    if (pgno == 1 && s->plain == 0) memcpy(page, mc_sqlite_magic, sizeof(mc_sqlite_magic));
    return good ? MC_SCHEME_OK : MC_SCHEME_UNVERIFIED;
}

const McScheme mc_scheme_sqlcipher = {
    .zName = "sqlcipher",
    .aParam = params,
    .nParam = sizeof(params) / sizeof(params[0]),
    .nState = sizeof(State),
    .nSalt = MC_SALT_SIZE,
    .xImplies = implies,
    .xAuthenticates = authenticates,
    .xReserved = reserved,
    .xPageSize = page_size,
    .xPlaintextHeader = plaintext_header,
    .xKeySize = key_size,
    .xDerive = derive,
    .xSeal = seal,
    .xOpen = open_page,
    .xSealMany = seal_many,
};
