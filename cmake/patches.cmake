# The changes to SQLite's source, applied by cmake/patch_sqlite.cmake when a build starts.
#
#   sqlite_patch("what it does" [==[anchor]==] [==[replacement]==])
#   sqlite_patch("what it does" FILE ext/wasm/api/some.js [==[anchor]==] [==[replacement]==])
#
# The anchor is text that occurs exactly once in the file (sqlite3.c unless FILE says otherwise);
# the replacement takes its place, so it repeats the anchor where it only adds. A newline right after
# [==[ is not part of the text. Patches apply in this order, each to the result of those before.

sqlite_patch("declare what SQLite calls of the codec" [==[
#endif /* SQLITEINT_H */
]==] [==[
struct Pager;
struct PgHdr;
struct Wal;
static int mcPragma(sqlite3*, int, const char*, char**);
static void mcForgetAhead(struct Pager*);
static void mcSealAhead(struct Pager*, struct PgHdr*);
static int mcAttach(sqlite3*, sqlite3_value*, char**);
static int mcBackupCheck(sqlite3*, Btree*, sqlite3*, Btree*);
static int mcVacuumReserve(Btree*, Btree*, int);
static int mcCopyProgress(Btree*, Pgno, Pgno);
static int mcFixedPageSize(Btree*, int);
static int mcInheritFrom(sqlite3*, int);
static int mcIsEncrypted(struct Pager*);
static int mcKeepsPageSize(Btree*);
static int mcJournalMayPlayBack(struct Pager*);
static void mcPlaybackStarts(struct Pager*);
static int mcWalMayCheckpoint(struct Wal*, int);
static void mcExpectPage(struct Wal*, Pgno);
#ifdef SQLITE_ENABLE_SNAPSHOT
static int mcSamePage(struct Wal*, u8*, u8*, int);
#endif
static const void *mcSealFrame(struct Wal*, Pgno, const void*, const void**, int*);
static sqlite3_vfs *mcFindVfs(const char*);
#endif /* SQLITEINT_H */
]==])

sqlite_patch("make the encrypting VFS multipleciphers-X when a database is opened with it" [==[
  *ppVfs = sqlite3_vfs_find(zVfs);
]==] [==[
  *ppVfs = sqlite3_vfs_find(zVfs);
  if( *ppVfs==0 ) *ppVfs = mcFindVfs(zVfs);
]==])

sqlite_patch("play a hot journal back only under its own key" [==[
        rc = pagerSyncHotJournal(pPager);
        if( rc==SQLITE_OK ){
          rc = pager_playback(pPager, !pPager->tempFile);
]==] [==[
        rc = mcJournalMayPlayBack(pPager);
        if( rc==SQLITE_OK ) rc = pagerSyncHotJournal(pPager);
        if( rc==SQLITE_OK ){
          rc = pager_playback(pPager, !pPager->tempFile);
]==])

sqlite_patch("tell the codec when a journal is played back" [==[
  pPager->journalOff = 0;
  needPagerReset = isHot;
]==] [==[
  pPager->journalOff = 0;
  needPagerReset = isHot;
  mcPlaybackStarts(pPager);
]==])

sqlite_patch("know where a journal may end early" [==[
  int nPlayback = 0;       /* Total number of pages restored from journal */
]==] [==[
  int nPlayback = 0;       /* Total number of pages restored from journal */
  int bOpenEnd = 0;        /* Records are counted by the size of the file */
]==])

sqlite_patch("note that the records of a journal are not counted" [==[
    if( nRec==0xffffffff ){
      assert( pPager->journalOff==JOURNAL_HDR_SZ(pPager) );
]==] [==[
    bOpenEnd = nRec==0xffffffff || nRec==0;
    if( nRec==0xffffffff ){
      assert( pPager->journalOff==JOURNAL_HDR_SZ(pPager) );
]==])

sqlite_patch("end a journal at a record that was not written in full, as a wrong checksum does; a hot one was vetted" [==[
      rc = pager_playback_one_page(pPager,&pPager->journalOff,0,1,0);
]==] [==[
      rc = pager_playback_one_page(pPager,&pPager->journalOff,0,1,0);
      if( rc==SQLITE_IOERR_DATA && (bOpenEnd || isHot) && mcIsEncrypted(pPager) ){
        rc = SQLITE_DONE;
      }
]==])

sqlite_patch("checkpoint a WAL only under its own key" [==[
        rc = walCheckpoint(pWal, db, eMode2, xBusy2, pBusyArg, sync_flags,zBuf);
]==] [==[
        rc = mcWalMayCheckpoint(pWal, nBuf);
        if( rc==SQLITE_OK ){
          rc = walCheckpoint(pWal, db, eMode2, xBusy2, pBusyArg, sync_flags,zBuf);
        }
]==])

sqlite_patch("tell which page is to be read from the WAL" [==[
    rc = sqlite3WalReadFrame(pPager->pWal, iFrame,pPager->pageSize,pPg->pData);
]==] [==[
    mcExpectPage(pPager->pWal, pPg->pgno);
    rc = sqlite3WalReadFrame(pPager->pWal, iFrame,pPager->pageSize,pPg->pData);
]==])

sqlite_patch("tell which page is to be copied from the WAL" [==[
      rc = sqlite3OsRead(pWal->pWalFd, zBuf, szPage, iOffset);
]==] [==[
      mcExpectPage(pWal, iDbpage);
      rc = sqlite3OsRead(pWal->pWalFd, zBuf, szPage, iOffset);
]==])

sqlite_patch("tell which page is to be compared with the WAL" [==[
        rc = sqlite3OsRead(pWal->pWalFd, pBuf1, szPage, iWalOff);
]==] [==[
        mcExpectPage(pWal, pgno);
        rc = sqlite3OsRead(pWal->pWalFd, pBuf1, szPage, iWalOff);
]==])

sqlite_patch("compare it without its nonce and tag" [==[
        if( rc!=SQLITE_OK || 0==memcmp(pBuf1, pBuf2, szPage) ){
]==] [==[
        if( rc!=SQLITE_OK || mcSamePage(pWal, pBuf1, pBuf2, szPage) ){
]==])

sqlite_patch("seal a WAL frame before its checksum is made" [==[
  u8 aFrame[WAL_FRAME_HDRSIZE];   /* Buffer to assemble frame-header in */
  pData = pPage->pData;
  walEncodeFrame(p->pWal, pPage->pgno, nTruncate, pData, aFrame);
]==] [==[
  u8 aFrame[WAL_FRAME_HDRSIZE];   /* Buffer to assemble frame-header in */
  const void *pSummed;            /* What the checksum covers */
  rc = SQLITE_OK;
  pData = (void*)mcSealFrame(p->pWal, pPage->pgno, pPage->pData, &pSummed, &rc);
  if( rc ) return rc;
  walEncodeFrame(p->pWal, pPage->pgno, nTruncate, (u8*)pSummed, aFrame);
]==])

sqlite_patch("seal a WAL frame that is written again in place" [==[
        pData = p->pData;
        rc = sqlite3OsWrite(pWal->pWalFd, pData, szPage, iOff);
]==] [==[
        const void *pSummed;
        rc = SQLITE_OK;
        pData = (void*)mcSealFrame(pWal, p->pgno, p->pData, &pSummed, &rc);
        if( rc ) return rc;
        rc = sqlite3OsWrite(pWal->pWalFd, pData, szPage, iOff);
]==])

sqlite_patch("refuse a backup between databases that cannot take each other's pages" [==[
    if( 0==p->pSrc || 0==pDest
     || checkReadTransaction(pDestDb, pDest)!=SQLITE_OK
]==] [==[
    if( 0==p->pSrc || 0==pDest
     || checkReadTransaction(pDestDb, pDest)!=SQLITE_OK
     || mcBackupCheck(pDestDb, pDest, pSrcDb, p->pSrc)!=SQLITE_OK
]==])

sqlite_patch("look at the databases of a backup again when it begins" [==[
    if( p->bDestLocked==0 && rc==SQLITE_OK
     && setDestPgsz(pDest, p->pSrc)==SQLITE_NOMEM
]==] [==[
    if( p->bDestLocked==0 && rc==SQLITE_OK && p->pDestDb ){
      rc = mcBackupCheck(p->pDestDb, pDest, p->pSrcDb, p->pSrc);
    }
    if( p->bDestLocked==0 && rc==SQLITE_OK
     && setDestPgsz(pDest, p->pSrc)==SQLITE_NOMEM
]==])

sqlite_patch("write every page of an encrypted database: a hole would not open" [==[
  if( !pPager->tempFile && (pPg->flags&PGHDR_DIRTY) && pPager->nSavepoint==0 ){
]==] [==[
  if( !pPager->tempFile && (pPg->flags&PGHDR_DIRTY) && pPager->nSavepoint==0
   && !mcIsEncrypted(pPager)
  ){
]==])

sqlite_patch("a list of pages begins: what was sealed for another one is not for it" [==[
  /* Before the first write, give the VFS a hint of what the final
]==] [==[
  mcForgetAhead(pPager);

  /* Before the first write, give the VFS a hint of what the final
]==])

sqlite_patch("seal some of the pages of a list at once" [==[
      pData = pList->pData;

      /* Write out the page data. */
]==] [==[
      pData = pList->pData;
      mcSealAhead(pPager, pList);

      /* Write out the page data. */
]==])

sqlite_patch("give an attached database its key" [==[
  sqlite3_free_filename( zPath );
]==] [==[
  if( rc==SQLITE_OK && !REOPEN_AS_MEMDB(db) ){
    char *zKeyErr = 0;
    rc = mcAttach(db, argv[2], &zKeyErr);
    if( zKeyErr ) zErrDyn = sqlite3MPrintf(db, "%s", zKeyErr);
    sqlite3_free(zKeyErr);
  }
  sqlite3_free_filename( zPath );
]==])

sqlite_patch("answer the PRAGMAs of the codec" [==[
  rc = sqlite3_file_control(db, zDb, SQLITE_FCNTL_PRAGMA, (void*)aFcntl);
]==] [==[
  rc = mcPragma(db, iDb, zDb, aFcntl);
  if( rc==SQLITE_NOTFOUND ){
    rc = sqlite3_file_control(db, zDb, SQLITE_FCNTL_PRAGMA, (void*)aFcntl);
  }
]==])

sqlite_patch("give the target of VACUUM INTO the key of its source" [==[
  rc = execSqlF(db, pzErrMsg, "ATTACH %Q AS %s", zOut, zDbVacuum);
]==] [==[
  rc = mcInheritFrom(db, iDb);
  if( rc==SQLITE_OK ){
    rc = execSqlF(db, pzErrMsg, "ATTACH %Q AS %s", zOut, zDbVacuum);
    mcInheritFrom(db, 0);
  }
]==])

sqlite_patch("keep the page size of a database that hides it" [==[
  pBt->nReserveWanted = (u8)nReserve;
]==] [==[
  pageSize = mcFixedPageSize(p, pageSize);
  pBt->nReserveWanted = (u8)nReserve;
]==])

sqlite_patch("tell how far a rekey by VACUUM has copied back, and let it be cancelled" [==[
        rc = sqlite3PagerGet(pSrcPager, iSrcPg, &pSrcPg,PAGER_GET_READONLY);
        if( rc==SQLITE_OK ){
]==] [==[
        if( p->pDestDb==0 ) rc = mcCopyProgress(p->pDest, iSrcPg, nSrcPage);
        if( rc==SQLITE_OK ){
          rc = sqlite3PagerGet(pSrcPager, iSrcPg, &pSrcPg,PAGER_GET_READONLY);
        }
        if( rc==SQLITE_OK ){
]==])

sqlite_patch("let a rekey or a key choose the reserved bytes of VACUUM" [==[
  nRes = sqlite3BtreeGetRequestedReserve(pMain);
]==] [==[
  nRes = mcVacuumReserve(pMain, pTemp, sqlite3BtreeGetRequestedReserve(pMain));
]==])

sqlite_patch("keep the page size of an encrypted database in VACUUM" [==[
  if( sqlite3PagerGetJournalMode(sqlite3BtreePager(pMain))
                                               ==PAGER_JOURNALMODE_WAL
   && pOut==0
]==] [==[
  if( (sqlite3PagerGetJournalMode(sqlite3BtreePager(pMain))
                                               ==PAGER_JOURNALMODE_WAL
       || mcKeepsPageSize(pMain))
   && pOut==0
]==])

sqlite_patch("keep the message of an error in a connection's set-up" [==[
  if( rc ) sqlite3Error(db, rc);

  /* Enable the lookaside-malloc subsystem */
]==] [==[
  if( rc && rc!=db->errCode ) sqlite3Error(db, rc);

  /* Enable the lookaside-malloc subsystem */
]==])
