/*
** Scheme aes256cbc of SQLite3 Multiple Ciphers and wxSQLite3: AES-256-CBC without authentication, for
** files of old programs. Changes by others are not noticed, and a page that is written twice with
** the same content looks the same twice.
**
** Key: SHA-256 4002 times over the first 32 bytes of the password. Parameter kdf_iter is accepted and has
** no effect, as in the reference.
*/
#include "../crypto/sha256.h"

enum { P_KDF_ITER, P_LEGACY, P_LEGACY_PAGE_SIZE };

#define AES_PAGES_KEY_SIZE 32
#define AES_PAGES_HASH sha256
#define AES_PAGES_LEGACY P_LEGACY
#include "aes_pages.h"

enum { ITERATIONS = 4001 };

static const McParam params[] = {
    {"kdf_iter", ITERATIONS, 1, 0x7fffffff, MC_PARAM_INT, NULL},
    {"legacy", 0, 0, 1, MC_PARAM_INT, NULL},
    {"legacy_page_size", 0, 0, 65536, MC_PARAM_PAGE_SIZE, NULL},
};

static int derive(void *state, const int *value, const McSecret *secret) {
    State *s = state;
    uint8_t password[PASSWORD_SIZE];
    pad_password(secret->aPassword, secret->nPassword, password);
    sha256(s->key, password, sizeof(password));
    for (int i = 0; i < ITERATIONS; i++) sha256(s->key, s->key, AES_PAGES_KEY_SIZE);
    s->legacy = value[P_LEGACY];
    secure_zero(password, sizeof(password));
    return MC_SCHEME_OK;
}

const McScheme mc_scheme_aes256cbc = {
    .zName = "aes256cbc",
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
