/*
** Scheme aes128cbc of SQLite3 Multiple Ciphers and wxSQLite3: AES-128-CBC without authentication, for
** files of old programs. Changes by others are not noticed, and a page that is written twice with
** the same content looks the same twice.
**
** Key: the chain of MD5 and RC4 of PDF 1.4's encryption, over the first 32 bytes of the password.
*/
#include "../crypto/rc4.h"

enum { P_LEGACY, P_LEGACY_PAGE_SIZE };

#define AES_PAGES_KEY_SIZE 16
#define AES_PAGES_HASH md5
#define AES_PAGES_LEGACY P_LEGACY
#include "aes_pages.h"

static const McParam params[] = {
    {"legacy", 0, 0, 1, MC_PARAM_INT, NULL},
    {"legacy_page_size", 0, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
};

/* n bytes to MD5(...MD5(bytes)), 51 times in all. */
static void md5_chain(uint8_t digest[16], const uint8_t *bytes, size_t n) {
    md5(digest, bytes, n);
    for (int i = 0; i < 50; i++) md5(digest, digest, 16);
}

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    uint8_t both[2 * PASSWORD_SIZE];
    uint8_t *password = both;
    uint8_t *owner = both + PASSWORD_SIZE;
    uint8_t digest[16];
    uint8_t round_key[16];
    pad_password((const uint8_t *)"", 0, owner);
    md5_chain(digest, owner, PASSWORD_SIZE);
    pad_password(secret->aPassword, secret->nPassword, password);
    memcpy(owner, password, PASSWORD_SIZE);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 16; k++) round_key[k] = (uint8_t)(digest[k] ^ i);
        rc4_xor(owner, PASSWORD_SIZE, round_key, sizeof(round_key));
    }
    md5_chain(s->key, both, sizeof(both));
    s->legacy = value[P_LEGACY];
    secure_zero(both, sizeof(both));
    return MC_SCHEME_OK;
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
