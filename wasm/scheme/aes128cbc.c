/*
** Scheme aes128cbc of SQLite3 Multiple Ciphers and wxSQLite3: AES-128-CBC without authentication, for
** files of old programs. Changes by others are not noticed, and a page that is written twice with
** the same content looks the same twice.
**
** Key: the chain of MD5 and RC4 of PDF 1.4's encryption, over the first 32 bytes of the password.
*/
#include "aes_pages.h"
#include "../crypto/rc4.h"

enum { KEY_SIZE = 16 };
enum { P_LEGACY, P_LEGACY_PAGE_SIZE };

typedef struct {
    uint8_t key[KEY_SIZE];
    int legacy;
} State;

static const McParam params[] = {
    {"legacy", 0, 0, 1, MC_PARAM_INT, NULL},
    {"legacy_page_size", 0, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
};

static int no(const int *value) {
    (void)value;
    return 0;
}

static int page_size(const int *value, int *hidden) {
    *hidden = value[P_LEGACY];
    return value[P_LEGACY] ? value[P_LEGACY_PAGE_SIZE] : 0;
}

/* n bytes to MD5(...MD5(bytes)), 51 times in all. */
static void md5_chain(uint8_t digest[16], const uint8_t *bytes, size_t n) {
    md5(digest, bytes, n);
    for (int i = 0; i < 50; i++) md5(digest, digest, 16);
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    uint8_t both[2 * AES_PAGES_PASSWORD_SIZE];
    uint8_t *password = both;
    uint8_t *owner = both + AES_PAGES_PASSWORD_SIZE;
    uint8_t digest[16];
    uint8_t round_key[16];
    aes_pages_pad((const uint8_t *)"", 0, owner);
    md5_chain(digest, owner, AES_PAGES_PASSWORD_SIZE);
    aes_pages_pad(secret->aPassword, secret->nPassword, password);
    memcpy(owner, password, AES_PAGES_PASSWORD_SIZE);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 16; k++) round_key[k] = (uint8_t)(digest[k] ^ i);
        rc4_xor(owner, AES_PAGES_PASSWORD_SIZE, round_key, sizeof(round_key));
    }
    md5_chain(s->key, both, sizeof(both));
    s->legacy = value[P_LEGACY];
    secure_zero(both, sizeof(both));
    return MC_SCHEME_OK;
}

static void page_key(const State *s, uint32_t pgno, aes_key *k) {
    uint8_t input[40];
    uint8_t key[KEY_SIZE];
    md5(key, input, aes_pages_key_input(s->key, KEY_SIZE, pgno, input));
    aes_key_init(k, key, KEY_SIZE);
    secure_zero(input, sizeof(input));
    secure_zero(key, sizeof(key));
}

static int seal(const void *state, uint32_t pgno, uint8_t *page, size_t size) {
    const State *s = state;
    aes_key k;
    page_key(s, pgno, &k);
    aes_pages_seal(&k, pgno, s->legacy, page, size);
    secure_zero(&k, sizeof(k));
    return MC_SCHEME_OK;
}

static int seal_many(const void *state, const uint32_t *pgno, uint8_t *const *page, int n, size_t size) {
    const State *s = state;
    aes_key k[MC_SEAL_MANY];
    uint8_t iv[MC_SEAL_MANY][16];
    aes_cbc_job job[MC_SEAL_MANY] = {{0}};
    for (int i = 0; i < n; i++) {
        page_key(s, pgno[i], &k[i]);
        aes_pages_iv(pgno[i], iv[i]);
        job[i].key = &k[i];
        job[i].iv = iv[i];
        job[i].buf = page[i];
    }
    aes_cbc_encrypt_each(job, n, size);
    secure_zero(k, sizeof(k));
    return MC_SCHEME_OK;
}

static int open_page(const void *state, uint32_t pgno, uint8_t *page, size_t size, int check) {
    const State *s = state;
    aes_key k;
    int rc;
    (void)check;
    page_key(s, pgno, &k);
    rc = aes_pages_open(&k, pgno, s->legacy, page, size);
    secure_zero(&k, sizeof(k));
    return rc;
}

const McScheme mc_scheme_aes128cbc = {
    .zName = "aes128cbc",
    .aParam = params,
    .nParam = sizeof(params) / sizeof(params[0]),
    .nState = sizeof(State),
    .nSalt = 0,
    .xAuthenticates = no,
    .xReserved = no,
    .xPageSize = page_size,
    .xPlaintextHeader = no,
    .xDerive = derive,
    .xSeal = seal,
    .xOpen = open_page,
    .xSealMany = seal_many,
};
