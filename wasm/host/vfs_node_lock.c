/*
** Locks of the VFS "node".
**
** Three circles of contenders, from the inside out:
**
** 1. Connections of this module. The five lock states of SQLite between them are kept here, in NodeShare,
**    as os_unix.c keeps those of one process.
** 2. Other modules, threads and processes with this VFS. Node has no fcntl locks, so the whole database
**    has one owner at a time: who holds the lock file (js/node-lock.js). It is taken with the first
**    SHARED lock and may be handed over when no connection has a lock. In WAL mode a connection keeps
**    SHARED as long as it is open, so the wal-index can be in this module's memory.
** 3. Native SQLite. It can't see us; on Linux we see its locks, and answer SQLITE_BUSY to what they
**    exclude. So a journal that it is writing is never taken for a hot one. To look takes too long to be
**    done for each read transaction, so that there are no locks may be a tenth of a second old, except
**    before a transaction that writes, and when there is a journal (SQLite asks then whether it is hot)
**    or a -shm file.
*/
#include "vfs_node.h"

#include <string.h>

#include "node_host.h"

#define LOCK_TRY_MS 10 /* between two looks at the lock file, with SQLITE_FCNTL_LOCK_TIMEOUT */

/* Locks 0 to 2 of the wal-index are for writing, checkpoint and recovery; then come those of readers. */
#define SHM_READ0 3

#define NATIVE_WRITING (NODE_NATIVE_PENDING | NODE_NATIVE_EXCLUSIVE)
#define NATIVE_WRITER (NATIVE_WRITING | NODE_NATIVE_RESERVED)
#define NATIVE_ANY (NATIVE_WRITER | NODE_NATIVE_READ)

static NodeShare *pFirstShare;

static int nativeHas(const NodeShare *p, int look, int mask) {
    return (sqlite3mc_host_native_locks(p->hLock, look) & mask) != 0;
}

/* Connect pFile, whose fd and zPath are set, to the share of its file. */
int mcNodeShareOpen(NodeFile *pFile) {
    unsigned char id[16];
    NodeShare *p;
    int rc = sqlite3mc_host_identity(pFile->fd, pFile->zPath, id);
    if (rc == -NODE_EISDIR) return mcNodeError(pFile, rc, SQLITE_CANTOPEN_ISDIR);
    if (rc != 0) return mcNodeError(pFile, rc, SQLITE_IOERR_FSTAT);
    for (p = pFirstShare; p != 0 && memcmp(p->id, id, sizeof id) != 0; p = p->pNext) {
    }
    if (p == 0) {
        size_t nPath = strlen(pFile->zPath) + 1;
        p = sqlite3_malloc64(sizeof *p + nPath);
        if (p == 0) return SQLITE_NOMEM;
        memset(p, 0, sizeof *p);
        memcpy(p->id, id, sizeof id);
        p->zPath = memcpy(p + 1, pFile->zPath, nPath);
        p->hLock = sqlite3mc_host_lock_open(pFile->fd);
        if (p->hLock <= 0) {
            rc = mcNodeError(pFile, p->hLock, SQLITE_IOERR_LOCK);
            sqlite3_free(p);
            return rc;
        }
        p->pNext = pFirstShare;
        pFirstShare = p;
    }
    p->nRef++;
    pFile->pShare = p;
    return SQLITE_OK;
}

void mcNodeShareClose(NodeFile *pFile) {
    NodeShare *p = pFile->pShare;
    NodeShare **pp;
    if (p == 0) return;
    (void)mcNodeShmUnmap(&pFile->base, 0);
    (void)mcNodeUnlock(&pFile->base, SQLITE_LOCK_NONE);
    pFile->pShare = 0;
    if (--p->nRef > 0) return;
    sqlite3mc_host_lock_close(p->hLock);
    for (pp = &pFirstShare; *pp != p; pp = &(*pp)->pNext) {
    }
    *pp = p->pNext;
    sqlite3_free(p);
}

/*
** Before a WAL is opened. A native program that is connected in WAL mode has its wal-index in the -shm
** file, and the two must not be used together: SQLITE_BUSY. A database that nobody may own can be read,
** so its WAL is opened for reading only.
*/
int mcNodeCheckWal(const char *zPath, int *pReadOnly) {
    *pReadOnly = 0;
    for (const NodeShare *p = pFirstShare; p != 0; p = p->pNext) {
        size_t n = strlen(p->zPath);
        if (strncmp(p->zPath, zPath, n) != 0 || strcmp(zPath + n, "-wal") != 0) continue;
        if (p->nShm == 0 && nativeHas(p, NODE_LOOK_NOW, NATIVE_ANY)) return SQLITE_BUSY;
        *pReadOnly = p->nShared > 0 && !p->bOwner;
        break;
    }
    return SQLITE_OK;
}

/* Before the first SHARED lock of this module: become the owner of the database. */
static int takeOwnership(NodeFile *pFile) {
    NodeShare *p = pFile->pShare;
    int rc = sqlite3mc_host_lock_take(p->hLock);
    for (int ms = 0; rc == 1 && ms < pFile->msTimeout; ms += LOCK_TRY_MS) {
        sqlite3mc_host_sleep(LOCK_TRY_MS * 1000);
        rc = sqlite3mc_host_lock_take(p->hLock);
    }
    p->bOwner = rc == 0;
    switch (rc) {
    case 0:
        return SQLITE_OK;
    case 1:
        return SQLITE_BUSY;
    case -NODE_EACCES:
    case -NODE_EPERM:
    case -NODE_EROFS:
    case -NODE_ENAMETOOLONG:
        /* Nobody has it, and this process can't make it. Neither could it make a journal: read only. */
        return SQLITE_OK;
    default:
        return mcNodeError(pFile, rc, SQLITE_IOERR_LOCK);
    }
}

static int lockShared(NodeFile *pFile) {
    NodeShare *p = pFile->pShare;
    int rc = SQLITE_OK;
    if (p->eLock >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
    if (p->nShared == 0) rc = takeOwnership(pFile);
    if (rc == SQLITE_OK && nativeHas(p, NODE_LOOK_RECENT, NATIVE_WRITING | NODE_NATIVE_WAL)) {
        if (p->nShared == 0 && p->bOwner) sqlite3mc_host_lock_rest(p->hLock);
        rc = SQLITE_BUSY;
    }
    if (rc != SQLITE_OK) return rc;
    p->nShared++;
    if (p->eLock == SQLITE_LOCK_NONE) p->eLock = SQLITE_LOCK_SHARED;
    pFile->eLock = SQLITE_LOCK_SHARED;
    return SQLITE_OK;
}

/*
** A connection goes from NONE to SHARED, from SHARED to RESERVED or EXCLUSIVE, and from RESERVED or
** PENDING to EXCLUSIVE. SQLite asks for PENDING never; it is what a connection has that wants EXCLUSIVE
** and waits for the readers to finish: no new reader may start.
*/
int mcNodeLock(sqlite3_file *pBase, int eLock) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    if (pFile->eLock >= eLock) return SQLITE_OK;
    if (p == 0) return SQLITE_IOERR_LOCK;
    if (eLock == SQLITE_LOCK_SHARED) return lockShared(pFile);

    if (pFile->eLock == SQLITE_LOCK_NONE) return SQLITE_MISUSE;
    if (pFile->eLock != p->eLock) return SQLITE_BUSY; /* another connection has RESERVED or more */
    if (!p->bOwner) return SQLITE_READONLY_DIRECTORY;
    if (eLock == SQLITE_LOCK_RESERVED) {
        if (nativeHas(p, NODE_LOOK_NOW, NATIVE_WRITER)) return SQLITE_BUSY;
    } else {
        if (pFile->eLock == SQLITE_LOCK_RESERVED) pFile->eLock = p->eLock = SQLITE_LOCK_PENDING;
        if (p->nShared > 1 || nativeHas(p, NODE_LOOK_RECENT, NATIVE_ANY)) return SQLITE_BUSY;
    }
    pFile->eLock = p->eLock = eLock;
    return SQLITE_OK;
}

int mcNodeUnlock(sqlite3_file *pBase, int eLock) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    if (p == 0 || pFile->eLock <= eLock) return SQLITE_OK;
    if (pFile->eLock > SQLITE_LOCK_SHARED) p->eLock = SQLITE_LOCK_SHARED;
    if (eLock == SQLITE_LOCK_NONE && --p->nShared == 0) {
        p->eLock = SQLITE_LOCK_NONE;
        if (p->bOwner) sqlite3mc_host_lock_rest(p->hLock);
    }
    pFile->eLock = eLock;
    return SQLITE_OK;
}

/*
** Called when there is a journal: is it the journal of a living writer, or a hot one? SQLITE_BUSY if the
** writer is at the database itself. It is that only while its journal has content, so readers that don't
** come here need not look for it.
*/
int mcNodeCheckReservedLock(sqlite3_file *pBase, int *pResOut) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    int native;
    *pResOut = 0;
    if (p == 0) return SQLITE_IOERR_CHECKRESERVEDLOCK;
    native = sqlite3mc_host_native_locks(p->hLock, NODE_LOOK_NOW);
    if (native & NATIVE_WRITING) return SQLITE_BUSY;
    *pResOut = p->eLock > SQLITE_LOCK_SHARED || (native & NODE_NATIVE_RESERVED);
    return SQLITE_OK;
}

/*
** The wal-index. Native programs that connect while it is in use here are not kept out (they take a SHARED
** lock on the database for good); when one has, this module stops to write and to checkpoint.
*/
int mcNodeShmMap(sqlite3_file *pBase, int iRegion, int szRegion, int bExtend, void volatile **pp) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    *pp = 0;
    if (p == 0) return SQLITE_IOERR_SHMOPEN;
    if (!pFile->bShm) {
        pFile->bShm = 1;
        p->nShm++;
    }
    if (p->nRegion <= iRegion) {
        void **apNew;
        if (!bExtend) return SQLITE_OK;
        apNew = sqlite3_realloc64(p->apRegion, ((sqlite3_uint64)iRegion + 1) * sizeof *apNew);
        if (apNew == 0) return SQLITE_IOERR_NOMEM;
        p->apRegion = apNew;
        while (p->nRegion <= iRegion) {
            void *pRegion = sqlite3_malloc(szRegion);
            if (pRegion == 0) return SQLITE_IOERR_NOMEM;
            memset(pRegion, 0, (size_t)szRegion);
            apNew[p->nRegion++] = pRegion;
        }
    }
    *pp = p->apRegion[iRegion];
    return SQLITE_OK;
}

int mcNodeShmLock(sqlite3_file *pBase, int ofst, int n, int flags) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    const unsigned int mask = ((1u << n) - 1) << ofst;
    if (p == 0 || !pFile->bShm) return SQLITE_IOERR_SHMLOCK;

    if (flags & SQLITE_SHM_UNLOCK) {
        for (int i = ofst; i < ofst + n; i++) {
            if (pFile->mExclusive & (1u << i)) p->aShm[i] = 0;
            if (pFile->mShared & (1u << i)) p->aShm[i]--;
        }
        pFile->mExclusive &= ~mask;
        pFile->mShared &= ~mask;
        return SQLITE_OK;
    }
    if (flags & SQLITE_SHM_SHARED) {
        if (pFile->mShared & mask) return SQLITE_OK;
        if (p->aShm[ofst] < 0) return SQLITE_BUSY;
        p->aShm[ofst]++;
        pFile->mShared |= mask;
        return SQLITE_OK;
    }
    for (int i = ofst; i < ofst + n; i++) {
        if (p->aShm[i] != 0) return SQLITE_BUSY;
    }
    if (ofst < SHM_READ0 && nativeHas(p, NODE_LOOK_WAL, NATIVE_ANY)) return SQLITE_BUSY;
    for (int i = ofst; i < ofst + n; i++) p->aShm[i] = -1;
    pFile->mExclusive |= mask;
    return SQLITE_OK;
}

/* One thread: only the compiler could reorder. */
void mcNodeShmBarrier(sqlite3_file *pBase) {
    (void)pBase;
    __asm__ volatile("" ::: "memory");
}

int mcNodeShmUnmap(sqlite3_file *pBase, int bDelete) {
    NodeFile *pFile = (NodeFile *)pBase;
    NodeShare *p = pFile->pShare;
    (void)bDelete; /* there is no file */
    if (p == 0 || !pFile->bShm) return SQLITE_OK;
    (void)mcNodeShmLock(pBase, 0, SQLITE_SHM_NLOCK, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    pFile->bShm = 0;
    if (--p->nShm > 0) return SQLITE_OK;
    while (p->nRegion > 0) sqlite3_free(p->apRegion[--p->nRegion]);
    sqlite3_free(p->apRegion);
    p->apRegion = 0;
    return SQLITE_OK;
}
