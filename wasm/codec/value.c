/*
** Encryption of single values in SQL, in the format of SQLite3 Multiple Ciphers 2.4. It has nothing to do with
** the encryption of the file.
**
**   value = EC 01 algorithm 00 || nonce 16 || encrypted (type || content) || tag 16
**   algorithm 3, chacha20:  counter = BE32(nonce[12..16)) XOR M
**                           otk     = SHA-512(scope) XOR one block of key stream (key, nonce[0..12), counter)
**                           encrypted under otk[32..64), nonce[0..12), counter + 1
**                           tag     = Poly1305 under otk[0..32) over all before it
**   algorithm 6, ascon128:  otk     = Ascon-Hash(key || nonce || BE32(M)); Ascon-128 under otk[0..16), nonce, with
**                           the first 20 bytes as associated data; the scope has no effect
**   type 1: integer, 8 bytes big endian; 2: real, IEEE 754, 8 bytes big endian; 3: text, UTF-8; 4: blob; 5: NULL
**
** The key belongs to the connection and is wiped with it.
*/
#include "codec.h"

#include "../crypto/ascon.h"
#include "../crypto/bytes.h"
#include "../crypto/chacha20_poly1305.h"
#include "../crypto/sha256.h"
#include "../crypto/sha512.h"

#define MC_VLE "sqlite3mc-vle"
#define VLE_CHACHA20 3
#define VLE_ASCON128 6
#define VLE_M 0x1cafeba9
#define VLE_HEADER 4
#define VLE_NONCE 16
#define VLE_TAG 16
#define VLE_DATA (VLE_HEADER + VLE_NONCE)     /* offset of the encrypted bytes */
#define VLE_OVERHEAD (VLE_DATA + 1 + VLE_TAG) /* with the type */
#define VLE_ITERATIONS 64007

enum { VLE_INTEGER = 1, VLE_REAL, VLE_TEXT, VLE_BLOB, VLE_NULL };

typedef struct McVle {
    u8 eAlgorithm;
    u8 aKey[32];
} McVle;

static void vleFree(void *p) {
    secure_zero(p, sizeof(McVle));
    sqlite3_free(p);
}

static const char *algorithmName(int eAlgorithm) {
    return eAlgorithm == VLE_CHACHA20 ? "chacha20" : "ascon128";
}

/* The bytes of a text or a blob; 0: it is neither. */
static const u8 *mcBytesOf(sqlite3_value *p, int *pn) {
    int eType = sqlite3_value_type(p);
    const u8 *a = 0;
    if (eType == SQLITE_TEXT) a = sqlite3_value_text(p);
    if (eType == SQLITE_BLOB) a = sqlite3_value_blob(p);
    *pn = a ? sqlite3_value_bytes(p) : 0;
    return eType == SQLITE_BLOB && a == 0 ? (const u8 *)"" : a;
}

/* An algorithm by its name or the beginning of it; 0: unknown. */
static int algorithmOf(const char *z) {
    int n = sqlite3Strlen30(z);
    if (n > 0 && n <= 8 && sqlite3StrNICmp(z, "chacha20", n) == 0) return VLE_CHACHA20;
    if (n > 0 && n <= 8 && sqlite3StrNICmp(z, "ascon128", n) == 0) return VLE_ASCON128;
    return 0;
}

/* Read options, "kdf_iter=n"; SQLITE_ERROR with a message for anything else. */
static int readOptions(const char *z, int *pnIteration, char **pzErr) {
    static const McParam param = {"kdf_iter", VLE_ITERATIONS, 1, 0x7fffffff, MC_PARAM_INT, 0};
    char zValue[16];
    while (*z) {
        const char *zEnd = z + strcspn(z, ",");
        const char *zEqual = memchr(z, '=', (size_t)(zEnd - z));
        int nName = (int)((zEqual ? zEqual : zEnd) - z);
        if (nName != 8 || sqlite3StrNICmp(z, param.zName, nName) != 0 || zEqual == 0) {
            *pzErr = sqlite3_mprintf("Unknown option '%.*s'", nName, z);
            return SQLITE_ERROR;
        }
        sqlite3_snprintf(sizeof(zValue), zValue, "%.*s", (int)(zEnd - zEqual - 1), zEqual + 1);
        if (mcParseValue(&param, param.zName, zValue, pnIteration, pzErr) != SQLITE_OK) return SQLITE_ERROR;
        z = *zEnd ? zEnd + 1 : zEnd;
    }
    return SQLITE_OK;
}

/* sqlite3mc_vle_key(password [, salt [, algorithm [, options]]]) */
static void vleKeyFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    static const char zDefaultSalt[] = "vle:default-salt";
    sqlite3 *db = sqlite3_context_db_handle(pCtx);
    int nPassword, nSalt, nIteration = VLE_ITERATIONS;
    const u8 *aPassword = mcBytesOf(apArg[0], &nPassword);
    const u8 *aSalt = (const u8 *)zDefaultSalt;
    const char *zAlgorithm = nArg > 2 ? (const char *)sqlite3_value_text(apArg[2]) : 0;
    const char *zOptions = nArg > 3 ? (const char *)sqlite3_value_text(apArg[3]) : 0;
    int eAlgorithm = zAlgorithm ? algorithmOf(zAlgorithm) : VLE_CHACHA20;
    u8 aHash[32];
    char *zErr = 0;
    McVle *p;
    nSalt = (int)sizeof(zDefaultSalt) - 1;
    if (nArg > 1 && sqlite3_value_type(apArg[1]) != SQLITE_NULL) aSalt = mcBytesOf(apArg[1], &nSalt);
    if (aPassword == 0 || nPassword == 0) {
        sqlite3_result_error(pCtx, "The password must be a TEXT or BLOB that is not empty", -1);
    } else if (aSalt == 0) {
        sqlite3_result_error(pCtx, "The salt must be TEXT, BLOB or NULL", -1);
    } else if (eAlgorithm == 0) {
        sqlite3_result_error(pCtx, "Unsupported cipher type", -1);
    } else if (zOptions && readOptions(zOptions, &nIteration, &zErr) != SQLITE_OK) {
        mcResultError(pCtx, zErr);
    } else if ((p = sqlite3_malloc(sizeof(*p))) == 0) {
        sqlite3_result_error_nomem(pCtx);
    } else {
        sha256(aHash, aSalt, (size_t)nSalt);
        p->eAlgorithm = (u8)eAlgorithm;
        if (eAlgorithm == VLE_CHACHA20) {
            pbkdf2_hmac(HMAC_SHA256, aPassword, (size_t)nPassword, aHash, MC_SALT_SIZE, (uint32_t)nIteration, p->aKey,
                        sizeof(p->aKey));
        } else {
            ascon_pbkdf2(p->aKey, aPassword, (size_t)nPassword, aHash, MC_SALT_SIZE, (uint32_t)nIteration);
        }
        /* On failure SQLite has called vleFree(). */
        if (sqlite3_set_clientdata(db, MC_VLE, p, vleFree) != SQLITE_OK) {
            sqlite3_result_error_nomem(pCtx);
        } else {
            char *z = sqlite3_mprintf("Ok. Options(kdf_iter=%d)", nIteration);
            if (z) sqlite3_result_text(pCtx, z, -1, sqlite3_free);
            if (z == 0) sqlite3_result_error_nomem(pCtx);
        }
    }
}

/* The one-time keys of a value; returns the counter of its data (chacha20). */
static uint32_t valueKey(const McVle *p, const u8 *aNonce, const u8 *aScope, int nScope, u8 aOtk[64]) {
    u8 aHash[64];
    uint32_t iCounter = load32_be(aNonce + 12) ^ VLE_M;
    if (p->eAlgorithm == VLE_CHACHA20) {
        sha512(aHash, aScope, (size_t)nScope);
        chacha20_block(p->aKey, aNonce, iCounter, aOtk);
        for (int i = 0; i < 64; i++) aOtk[i] ^= aHash[i];
    } else {
        u8 aM[4];
        store32_be(aM, VLE_M);
        ascon_hash(aOtk, p->aKey, sizeof(p->aKey), aNonce, VLE_NONCE, aM, sizeof(aM));
    }
    return iCounter + 1;
}

/* Encrypt a value in place: its type and content stand at VLE_DATA. n: bytes of the whole. */
static void sealValue(const McVle *p, const u8 *aScope, int nScope, u8 *a, size_t n) {
    u8 *aNonce = a + VLE_HEADER, *aTag = a + n - VLE_TAG;
    size_t nData = n - VLE_DATA - VLE_TAG;
    u8 aOtk[64];
    uint32_t iCounter = valueKey(p, aNonce, aScope, nScope, aOtk);
    if (p->eAlgorithm == VLE_CHACHA20) {
        chacha20_xor(a + VLE_DATA, nData, aOtk + 32, aNonce, iCounter);
        poly1305(aTag, a, n - VLE_TAG, aOtk);
    } else {
        ascon128_encrypt(a + VLE_DATA, nData, aTag, a, VLE_DATA, aOtk, aNonce);
    }
    secure_zero(aOtk, sizeof(aOtk));
}

/* Decrypt it in place. 1: the tag was right. 0: it was wrong, and the encrypted bytes are zero or as they were. */
static int openValue(const McVle *p, const u8 *aScope, int nScope, u8 *a, size_t n) {
    u8 *aNonce = a + VLE_HEADER, *aTag = a + n - VLE_TAG;
    size_t nData = n - VLE_DATA - VLE_TAG;
    u8 aOtk[64], aSum[VLE_TAG];
    uint32_t iCounter = valueKey(p, aNonce, aScope, nScope, aOtk);
    int bGood;
    if (p->eAlgorithm == VLE_CHACHA20) {
        poly1305(aSum, a, n - VLE_TAG, aOtk);
        bGood = secure_equal(aSum, aTag, VLE_TAG);
        if (bGood) chacha20_xor(a + VLE_DATA, nData, aOtk + 32, aNonce, iCounter);
        secure_zero(aSum, sizeof(aSum));
    } else {
        bGood = ascon128_decrypt(a + VLE_DATA, nData, aTag, a, VLE_DATA, aOtk, aNonce) == 0;
    }
    secure_zero(aOtk, sizeof(aOtk));
    return bGood;
}

/* The key of the connection and the scope argument (absent or NULL: empty), or an error. */
static const McVle *keyAndScope(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg, const u8 **paScope, int *pn) {
    const McVle *p = sqlite3_get_clientdata(sqlite3_context_db_handle(pCtx), MC_VLE);
    *paScope = (const u8 *)"";
    *pn = 0;
    if (p == 0) {
        sqlite3_result_error(pCtx, "VLE key not set", -1);
        return 0;
    }
    if (nArg > 1 && sqlite3_value_type(apArg[1]) != SQLITE_NULL) *paScope = mcBytesOf(apArg[1], pn);
    if (*paScope == 0) {
        /* Passed over silently, a number would bind the value to nothing. */
        sqlite3_result_error(pCtx, "The scope must be TEXT, BLOB or NULL", -1);
        return 0;
    }
    return p;
}

/* Type and content of a value. a: room for 9 bytes. *paContent, *pn: content, in a or in the value. */
static u8 contentOf(sqlite3_value *pValue, u8 *a, const u8 **paContent, int *pn) {
    i64 i;
    double r;
    *paContent = a;
    *pn = 8;
    switch (sqlite3_value_type(pValue)) {
    case SQLITE_INTEGER:
        i = sqlite3_value_int64(pValue);
        store64_be(a, (uint64_t)i);
        return VLE_INTEGER;
    case SQLITE_FLOAT:
        r = sqlite3_value_double(pValue);
        memcpy(&i, &r, 8);
        store64_be(a, (uint64_t)i);
        return VLE_REAL;
    case SQLITE_TEXT:
        *paContent = mcBytesOf(pValue, pn);
        return VLE_TEXT;
    case SQLITE_BLOB:
        *paContent = mcBytesOf(pValue, pn);
        return VLE_BLOB;
    default:
        *pn = 0;
        return VLE_NULL;
    }
}

/* sqlite3mc_vle_encrypt(value [, scope]) */
static void vleEncryptFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    const u8 *aScope, *aContent;
    int nScope, nContent;
    const McVle *p = keyAndScope(pCtx, nArg, apArg, &aScope, &nScope);
    u8 aNumber[8];
    u8 eType;
    u8 *a;
    size_t n;
    if (p == 0) return;
    eType = contentOf(apArg[0], aNumber, &aContent, &nContent);
    n = (size_t)nContent + VLE_OVERHEAD;
    a = aContent ? sqlite3_malloc64(n) : 0;
    if (a == 0) {
        sqlite3_result_error_nomem(pCtx);
        return;
    }
    a[0] = 0xec;
    a[1] = 1;
    a[2] = p->eAlgorithm;
    a[3] = 0;
    if (csprng_bytes(a + VLE_HEADER, VLE_NONCE) != 0) {
        sqlite3_free(a);
        sqlite3_result_error(pCtx, "no random bytes for a nonce", -1);
        return;
    }
    a[VLE_DATA] = eType;
    memcpy(a + VLE_DATA + 1, aContent, (size_t)nContent);
    sealValue(p, aScope, nScope, a, n);
    secure_zero(aNumber, sizeof(aNumber));
    sqlite3_result_blob64(pCtx, a, n, sqlite3_free);
}

/* The value whose type and content these n bytes are; 0: they are none. */
static int resultValue(sqlite3_context *pCtx, const u8 *a, size_t n) {
    u8 eType = a[0];
    i64 i = 0;
    double r;
    a++;
    n--;
    if (eType == VLE_TEXT) {
        sqlite3_result_text64(pCtx, (const char *)a, n, SQLITE_TRANSIENT, SQLITE_UTF8);
        return 1;
    }
    if (eType == VLE_BLOB) {
        sqlite3_result_blob64(pCtx, a, n, SQLITE_TRANSIENT);
        return 1;
    }
    if (eType == VLE_NULL) return n == 0; /* the result is NULL unless set */
    if ((eType != VLE_INTEGER && eType != VLE_REAL) || n != 8) return 0;
    i = (i64)load64_be(a);
    memcpy(&r, &i, 8);
    if (eType == VLE_INTEGER) {
        sqlite3_result_int64(pCtx, i);
    } else {
        sqlite3_result_double(pCtx, r);
    }
    return 1;
}

/* sqlite3mc_vle_decrypt(blob [, scope]) */
static void vleDecryptFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg) {
    const u8 *aScope;
    int nScope;
    const McVle *p = keyAndScope(pCtx, nArg, apArg, &aScope, &nScope);
    const u8 *aIn;
    u8 *a;
    size_t n;
    if (p == 0) return;
    if (sqlite3_value_type(apArg[0]) != SQLITE_BLOB) {
        sqlite3_result_error(pCtx, "Decryption requires a BLOB", -1);
        return;
    }
    aIn = sqlite3_value_blob(apArg[0]);
    n = (size_t)sqlite3_value_bytes(apArg[0]);
    if (n < VLE_OVERHEAD) {
        sqlite3_result_error(pCtx, "Encrypted content too short", -1);
        return;
    }
    if (aIn[0] != 0xec || aIn[1] != 1 || aIn[3] != 0 || (aIn[2] != VLE_CHACHA20 && aIn[2] != VLE_ASCON128)) {
        sqlite3_result_error(pCtx, "Invalid VLE header in encrypted value", -1);
        return;
    }
    if (aIn[2] != p->eAlgorithm) {
        mcResultError(pCtx, sqlite3_mprintf("The value was encrypted by %s, the VLE key is for %s",
                                            algorithmName(aIn[2]), algorithmName(p->eAlgorithm)));
        return;
    }
    a = sqlite3_malloc64(n);
    if (a == 0) {
        sqlite3_result_error_nomem(pCtx);
        return;
    }
    memcpy(a, aIn, n);
    if (!openValue(p, aScope, nScope, a, n)) {
        sqlite3_result_error(pCtx, "AEAD authentication failed", -1);
    } else if (!resultValue(pCtx, a + VLE_DATA, n - VLE_DATA - VLE_TAG)) {
        sqlite3_result_error(pCtx, "Encrypted value of an unknown type", -1);
    }
    secure_zero(a, n);
    sqlite3_free(a);
}
