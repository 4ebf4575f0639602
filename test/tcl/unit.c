/*
** The big unit as SQLite's own TCL tests see it: with a default key for every database, if the environment
** variable SQLITE3MC_TEST_CIPHER names a scheme. Only in the program "testfixture" of the tests.
**
** The key comes with the connection or with ATTACH. A file that is a plain database already stays one: the
** tests bring some, and make others where the codec cannot be, below VFSs of their own.
*/
#include "../../wasm/sqlite3mc.c"

#include <stdlib.h>

/* A raw key where the scheme knows raw keys. */
static const char zTestKey[] = "x'54686973206973206d792076657279207365637265742070617373776f726431'";

static const McScheme *testScheme(void) {
    const char *zCipher = getenv("SQLITE3MC_TEST_CIPHER");
    return zCipher ? mc_scheme_by_name(zCipher) : 0;
}

/* For the command `sqlite3 -has-codec`: the tests take a codec for one that needs reserved bytes. */
int mcTestReservesBytes(void) {
    const McScheme *pScheme = testScheme();
    int aValue[MC_MAX_PARAM] = {0};
    for (int i = 0; pScheme && i < pScheme->nParam; i++) aValue[i] = pScheme->aParam[i].iDefault;
    return pScheme && pScheme->xReserved(aValue) > 0;
}

/* 1: the file is neither empty nor one that begins like a plain database. */
static int mayHaveKey(Pager *pPager) {
    i64 nFile = 0;
    int bSide = 0;
    if (isPlainDatabase(pPager)) return 0;
    if (sqlite3OsFileSize(sqlite3PagerFile(pPager), &nFile) != SQLITE_OK) return 0;
    if (nFile > 0) return 1;
    sqlite3OsAccess(pPager->pVfs, pPager->zJournal, SQLITE_ACCESS_EXISTS, &bSide);
    return !bSide;
}

static int keyByDefault(sqlite3 *db, int iDb) {
    const McScheme *pScheme = testScheme();
    Btree *pBt;
    char *zErr = 0;
    int rc = SQLITE_OK;
    if (pScheme == 0) return SQLITE_OK;
    if (mcUsable(db, iDb, 0, &pBt, &zErr) == SQLITE_OK && mcPagerCodec(sqlite3BtreePager(pBt)) == 0 &&
        mayHaveKey(sqlite3BtreePager(pBt))) {
        McSettings *pSet = mcSettings(db);
        if (pSet) pSet->scheme.iNext = mc_scheme_id(pScheme);
        rc = pSet ? setPassword(db, iDb, (const u8 *)zTestKey, sizeof(zTestKey) - 1, &zErr) : SQLITE_NOMEM;
    }
    sqlite3_free(zErr);
    return rc;
}

/* Each new connection. */
int mcTestConnection(sqlite3 *db) {
    int rc = mcConnectionSetup(db);
    return rc == SQLITE_OK ? keyByDefault(db, 0) : rc;
}

/* Each ATTACH without a key. */
static int mcTestAttach(sqlite3 *db, sqlite3_value *pArg, char **pzErr) {
    int rc = mcAttach(db, pArg, pzErr);
    return rc == SQLITE_OK && sqlite3_value_type(pArg) == SQLITE_NULL ? keyByDefault(db, db->nDb - 1) : rc;
}

/* The name of the VFS to open a database with: the shim over the one that is asked for, so that the VFSs of the
** tests see what goes to the disk. The tests make and delete theirs, so a shim is made anew each time. */
const char *mcTestVfs(const char *zVfs) {
    static char zShim[100];
    sqlite3_vfs *pVfs = sqlite3_vfs_find(zVfs);
    if (testScheme() == 0 || pVfs == 0 || pVfs->xOpen == mcOpen) return zVfs;
    sqlite3_snprintf(sizeof(zShim), zShim, "%s%s", MC_VFS_PREFIX, pVfs->zName);
    sqlite3mc_vfs_destroy(zShim);
    return zShim;
}

/* For tests that cannot be run on encrypted files and say so (do_not_use_codec): from here on there is no key
** in this process and those that it starts. */
void mcTestNoKey(sqlite3 *db) {
    unsetenv("SQLITE3MC_TEST_CIPHER");
    if (mcPagerCodec(sqlite3BtreePager(db->aDb[0].pBt))) sqlite3_key(db, "", 0);
}
