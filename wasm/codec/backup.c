/*
** Which databases may be copied into each other page by page (sqlite3_backup_init).
*/
#include "codec.h"

/* Page size and reserved bytes of a database as its first page tells them; *pbEmpty: it has no pages. */
static int readGeometry(Btree *pBt, int *pnPage, int *pnReserve, int *pbEmpty) {
    int bWasIdle = sqlite3BtreeTxnState(pBt) == SQLITE_TXN_NONE;
    int rc = sqlite3BtreeBeginTrans(pBt, 0, 0);
    if (rc != SQLITE_OK) return rc;
    *pnPage = sqlite3BtreeGetPageSize(pBt);
    *pnReserve = sqlite3BtreeGetReserveNoMutex(pBt);
    *pbEmpty = sqlite3BtreeLastPage(pBt) == 0;
    if (bWasIdle) sqlite3BtreeCommit(pBt);
    return SQLITE_OK;
}

/*
** Both plain: SQLite decides. One encrypted and one not: refused. Both encrypted: pages are copied in
** plaintext and sealed anew, which needs the same page size and the same reserved bytes; an empty
** target takes them over. Errors are left in pDestDb, as sqlite3_backup_init() does.
*/
static int mcBackupCheck(sqlite3 *pDestDb, Btree *pDest, sqlite3 *pSrcDb, Btree *pSrc) {
    McCodec *pDestCodec = mcPagerCodec(sqlite3BtreePager(pDest));
    McCodec *pSrcCodec = mcPagerCodec(sqlite3BtreePager(pSrc));
    int nSrcPage, nSrcReserve, bSrcEmpty, nDestPage, nDestReserve, bDestEmpty;
    int rc;
    (void)pSrcDb;
    if (pDestCodec == 0 && pSrcCodec == 0) return SQLITE_OK;
    if (pDestCodec == 0 || pSrcCodec == 0) {
        sqlite3ErrorWithMsg(pDestDb, SQLITE_ERROR,
                            "backup is not supported with incompatible source and target databases");
        return SQLITE_ERROR;
    }
    sqlite3BtreeEnter(pSrc);
    rc = readGeometry(pSrc, &nSrcPage, &nSrcReserve, &bSrcEmpty);
    sqlite3BtreeLeave(pSrc);
    if (rc == SQLITE_OK) rc = readGeometry(pDest, &nDestPage, &nDestReserve, &bDestEmpty);
    if (rc != SQLITE_OK) {
        sqlite3Error(pDestDb, rc);
        return rc;
    }
    if (bSrcEmpty) return SQLITE_OK;
    if (bDestEmpty && nSrcReserve >= mcKeyReserved(pDestCodec->pKey)) {
        mcSetGeometry(pDest, nSrcPage, nSrcReserve);
        nDestPage = sqlite3BtreeGetPageSize(pDest);
        nDestReserve = sqlite3BtreeGetReserveNoMutex(pDest);
    }
    if (nSrcPage != nDestPage || nSrcReserve != nDestReserve) {
        sqlite3ErrorWithMsg(
            pDestDb, SQLITE_ERROR,
            "backup is not supported between encrypted databases of different page size or reserved bytes "
            "(%d/%d and %d/%d)",
            nSrcPage, nSrcReserve, nDestPage, nDestReserve);
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}
