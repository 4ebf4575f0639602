# The changes to SQLite's JavaScript (ext/wasm); only the wasm builds use it. Form: see patches.cmake.
# What js/ can do from outside, with the finished API, is done there.

sqlite_patch("a key is set between opening and what the VFS runs after opening, which may read the file"
    FILE ext/wasm/api/sqlite3-api-oo1.c-pp.js
    [==[const pVfs = capi.sqlite3_js_db_vfs(pDb)]==]
    [==[const pVfs = dbCtorHelper.afterOpen?.(this, opt) || capi.sqlite3_js_db_vfs(pDb)]==])

sqlite_patch("the worker API hands key options on"
    FILE ext/wasm/api/sqlite3-api-worker1.c-pp.js
    [==[      oargs.vfs = args.vfs;]==]
    [==[      Object.assign(oargs, DB.dbCtorHelper.keyOptions?.(args));
      oargs.vfs = args.vfs;]==])

sqlite_patch("the worker starts this package's module"
    FILE ext/wasm/api/sqlite3-worker1.c-pp.js
    [==[import sqlite3InitModule from './sqlite3.mjs';]==]
    [==[import sqlite3InitModule from '../js/init.js';]==])

# Without it a UTF-16 database is read as if it were UTF-8, and nothing says so.
sqlite_patch("UTF-16 databases in WebAssembly"
    FILE ext/wasm/api/sqlite3-wasm.c
    [==[
#undef SQLITE_OMIT_UTF16
#define SQLITE_OMIT_UTF16 1
]==]
    [==[
]==])

# SQLite reads a WAL frame in one call when it recovers a WAL or makes checksums again: 24 bytes more than a
# page, where the shared buffer has room for the largest page and no more.
sqlite_patch("opfs: room for the largest page and its frame header in the shared buffer"
    FILE ext/wasm/api/opfs-common-shared.c-pp.js
    [==[state.fileBufferSize = 1024 * 64;]==]
    [==[state.fileBufferSize = 1024 * 68;]==])

# Another worker may have the pool open, or may just be closing it.
sqlite_patch("opfs-sahpool: when not every file can be opened, none stays open"
    FILE ext/wasm/api/sqlite3-vfs-opfs-sahpool.c-pp.js
    [==[      return Promise.all(files.map(async([name,h])=>{]==]
    [==[      const allOrNone = (promises)=>Promise.allSettled(promises).then((results)=>{
        if(results.some((r)=>'rejected'===r.status)) this.releaseAccessHandles();
        return Promise.all(promises);
      });
      return allOrNone(files.map(async([name,h])=>{]==])

sqlite_patch("opfs-sahpool: a failed start does not delete the databases"
    FILE ext/wasm/api/sqlite3-vfs-opfs-sahpool.c-pp.js
    [==[        await thePool.removeVfs().catch(()=>{});
        throw e;]==]
    [==[        capi.sqlite3_vfs_unregister(thePool.getVfs().pointer);
        thePool.getVfs().dispose();
        throw e;]==])

# As it comes, every journal counts as another connection's, so that none is ever played back, and two
# connections of one worker do not see each other's locks.
sqlite_patch("opfs-sahpool: what the other connections of this worker have locked"
    FILE ext/wasm/api/sqlite3-vfs-opfs-sahpool.c-pp.js
    [==[  /**
     Impls for the sqlite3_io_methods methods. Maintenance reminder:]==]
    [==[  const strongestOtherLock = (pool,pFile)=>{
    const path = pool.getOFileForS3File(pFile).path;
    let rc = capi.SQLITE_LOCK_NONE;
    for(const [p,pool2] of __mapSqlite3File){
      const file = pool2.getOFileForS3File(p);
      if(p!==pFile && pool2===pool && file.path===path) rc = Math.max(rc, file.lockType);
    }
    return rc;
  };

  /**
     Impls for the sqlite3_io_methods methods. Maintenance reminder:]==])

sqlite_patch("opfs-sahpool: a journal that nobody is writing is a hot one"
    FILE ext/wasm/api/sqlite3-vfs-opfs-sahpool.c-pp.js
    [==[      wasm.poke32(pOut, 1);]==]
    [==[      wasm.poke32(pOut, strongestOtherLock(pool,pFile)>=capi.SQLITE_LOCK_RESERVED ? 1 : 0);]==])

sqlite_patch("opfs-sahpool: connections of one worker lock each other out"
    FILE ext/wasm/api/sqlite3-vfs-opfs-sahpool.c-pp.js
    [==[      pool.log(`xLock ${lockType}`);
      pool.storeErr();
      const file = pool.getOFileForS3File(pFile);
]==]
    [==[      pool.log(`xLock ${lockType}`);
      pool.storeErr();
      const file = pool.getOFileForS3File(pFile);
      const other = strongestOtherLock(pool,pFile);
      if(other>=capi.SQLITE_LOCK_PENDING
         || (lockType>=capi.SQLITE_LOCK_RESERVED && other>=capi.SQLITE_LOCK_RESERVED)
         || (lockType===capi.SQLITE_LOCK_EXCLUSIVE && other>=capi.SQLITE_LOCK_SHARED)) return capi.SQLITE_BUSY;
]==])
