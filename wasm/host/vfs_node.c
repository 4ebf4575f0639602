/*
** The VFS "node": files of the machine that Node runs on, by functions of the JavaScript host
** (node_host.h). It behaves as os_unix.c does where it can; docs/node-files.md says where it can't.
**
** The module has one thread, so nothing here is guarded by a mutex.
*/
#include "vfs_node.h"

#include <string.h>

#include "csprng.h"
#include "node_host.h"

#define NODE_MAX_PATH 4096
#define NODE_SECTOR 4096
#define NODE_ZEROS 65536 /* bytes that SQLITE_FCNTL_SIZE_HINT writes at once */

/* For xGetLastError. */
static int lastErrno;

int mcNodeError(NodeFile *pFile, int answer, int rc) {
    lastErrno = -answer;
    if (pFile != 0) pFile->lastErrno = -answer;
    switch (answer) {
    case -NODE_ENOSPC:
    case -NODE_EDQUOT:
    case -NODE_EFBIG:
        return SQLITE_FULL;
    default:
        return rc;
    }
}

/* ---------------------------------------------------------------------------------------------------
** An open file
*/

/* The file before the lock file: when that is gone, another process may be at work. */
static int nodeClose(sqlite3_file *pBase) {
    NodeFile *pFile = (NodeFile *)pBase;
    int rc = sqlite3mc_host_close(pFile->fd);
    mcNodeShareClose(pFile);
    return rc == 0 ? SQLITE_OK : mcNodeError(pFile, rc, SQLITE_IOERR_CLOSE);
}

static int nodeRead(sqlite3_file *pBase, void *p, int n, sqlite3_int64 offset) {
    NodeFile *pFile = (NodeFile *)pBase;
    int got = sqlite3mc_host_read(pFile->fd, p, n, (double)offset);
    if (got == n) return SQLITE_OK;
    if (got < 0 || got > n) return mcNodeError(pFile, got < 0 ? got : -NODE_EIO, SQLITE_IOERR_READ);
    memset((char *)p + got, 0, (size_t)(n - got));
    return SQLITE_IOERR_SHORT_READ;
}

static int nodeWrite(sqlite3_file *pBase, const void *p, int n, sqlite3_int64 offset) {
    NodeFile *pFile = (NodeFile *)pBase;
    int put = sqlite3mc_host_write(pFile->fd, p, n, (double)offset);
    if (put == n) return SQLITE_OK;
    /* Fewer bytes than asked for and no error: the disk takes no more. */
    return mcNodeError(pFile, put < 0 ? put : -NODE_ENOSPC, SQLITE_IOERR_WRITE);
}

static sqlite3_int64 roundToChunk(const NodeFile *pFile, sqlite3_int64 size) {
    if (pFile->szChunk <= 0) return size;
    return (size + pFile->szChunk - 1) / pFile->szChunk * pFile->szChunk;
}

static int nodeTruncate(sqlite3_file *pBase, sqlite3_int64 size) {
    NodeFile *pFile = (NodeFile *)pBase;
    int rc = sqlite3mc_host_truncate(pFile->fd, (double)roundToChunk(pFile, size));
    return rc == 0 ? SQLITE_OK : mcNodeError(pFile, rc, SQLITE_IOERR_TRUNCATE);
}

/* A file that was made by this connection is not safe before its directory is. */
static int nodeSync(sqlite3_file *pBase, int flags) {
    NodeFile *pFile = (NodeFile *)pBase;
    int rc = sqlite3mc_host_sync(pFile->fd);
    (void)flags;
    if (rc != 0) return mcNodeError(pFile, rc, SQLITE_IOERR_FSYNC);
    if (pFile->bSyncCreated) {
        rc = sqlite3mc_host_sync_directory(pFile->zPath);
        if (rc != 0) return mcNodeError(pFile, rc, SQLITE_IOERR_DIR_FSYNC);
        pFile->bSyncCreated = 0;
    }
    return SQLITE_OK;
}

static int nodeFileSize(sqlite3_file *pBase, sqlite3_int64 *pSize) {
    NodeFile *pFile = (NodeFile *)pBase;
    double size = sqlite3mc_host_size(pFile->fd);
    if (size < 0) return mcNodeError(pFile, (int)size, SQLITE_IOERR_FSTAT);
    *pSize = (sqlite3_int64)size;
    return SQLITE_OK;
}

/* Make the file as large as the next multiple of its chunk size, with blocks behind every byte. */
static int sizeHint(NodeFile *pFile, sqlite3_int64 hint) {
    sqlite3_int64 size;
    void *pZeros;
    int rc;
    if (pFile->szChunk <= 0) return SQLITE_OK;
    rc = nodeFileSize(&pFile->base, &size);
    if (rc != SQLITE_OK) return rc;
    hint = roundToChunk(pFile, hint);
    if (hint <= size) return SQLITE_OK;
    pZeros = sqlite3_malloc(NODE_ZEROS);
    if (pZeros == 0) return SQLITE_NOMEM;
    memset(pZeros, 0, NODE_ZEROS);
    while (rc == SQLITE_OK && size < hint) {
        int n = hint - size < NODE_ZEROS ? (int)(hint - size) : NODE_ZEROS;
        rc = nodeWrite(&pFile->base, pZeros, n, size);
        size += n;
    }
    sqlite3_free(pZeros);
    return rc;
}

static int tempName(char *z, int n);

/* *pArg < 0: answer the setting. Otherwise set it. */
static void modeBit(int *pBit, int *pArg) {
    if (*pArg < 0) {
        *pArg = *pBit;
    } else {
        *pBit = *pArg != 0;
    }
}

static int nodeFileControl(sqlite3_file *pBase, int op, void *pArg) {
    NodeFile *pFile = (NodeFile *)pBase;
    switch (op) {
    case SQLITE_FCNTL_LOCKSTATE:
        *(int *)pArg = pFile->eLock;
        return SQLITE_OK;
    case SQLITE_FCNTL_LAST_ERRNO:
        *(int *)pArg = pFile->lastErrno;
        return SQLITE_OK;
    case SQLITE_FCNTL_CHUNK_SIZE:
        pFile->szChunk = *(int *)pArg;
        return SQLITE_OK;
    case SQLITE_FCNTL_SIZE_HINT:
        return sizeHint(pFile, *(sqlite3_int64 *)pArg);
    case SQLITE_FCNTL_PERSIST_WAL:
        modeBit(&pFile->bPersistWal, pArg);
        return SQLITE_OK;
    case SQLITE_FCNTL_POWERSAFE_OVERWRITE:
        modeBit(&pFile->bPowersafe, pArg);
        return SQLITE_OK;
    case SQLITE_FCNTL_VFSNAME:
        *(char **)pArg = sqlite3_mprintf("node");
        return SQLITE_OK;
    case SQLITE_FCNTL_TEMPFILENAME: {
        char *z = sqlite3_malloc(NODE_MAX_PATH);
        if (z == 0) return SQLITE_NOMEM;
        if (tempName(z, NODE_MAX_PATH) != SQLITE_OK) z[0] = 0;
        *(char **)pArg = z;
        return SQLITE_OK;
    }
    case SQLITE_FCNTL_HAS_MOVED:
        *(int *)pArg = pFile->pShare != 0 && sqlite3mc_host_moved(pFile->fd);
        return SQLITE_OK;
    case SQLITE_FCNTL_LOCK_TIMEOUT: {
        int previous = pFile->msTimeout;
        pFile->msTimeout = *(int *)pArg;
        *(int *)pArg = previous;
        return SQLITE_OK;
    }
    case SQLITE_FCNTL_EXTERNAL_READER:
        *(int *)pArg = 0; /* the wal-index is this module's own */
        return SQLITE_OK;
    default:
        return SQLITE_NOTFOUND;
    }
}

static int nodeSectorSize(sqlite3_file *pBase) {
    (void)pBase;
    return NODE_SECTOR;
}

/*
** Not UNDELETABLE_WHEN_OPEN: with it SQLite keeps a journal in mode TRUNCATE or PERSIST open from one
** transaction to the next, which loses the journal when another connection, in mode DELETE, unlinks it.
*/
static int nodeDeviceCharacteristics(sqlite3_file *pBase) {
    NodeFile *pFile = (NodeFile *)pBase;
    return SQLITE_IOCAP_SUBPAGE_READ | (pFile->bPowersafe ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0);
}

static const sqlite3_io_methods nodeIoMethods = {
    .iVersion = 2,
    .xClose = nodeClose,
    .xRead = nodeRead,
    .xWrite = nodeWrite,
    .xTruncate = nodeTruncate,
    .xSync = nodeSync,
    .xFileSize = nodeFileSize,
    .xLock = mcNodeLock,
    .xUnlock = mcNodeUnlock,
    .xCheckReservedLock = mcNodeCheckReservedLock,
    .xFileControl = nodeFileControl,
    .xSectorSize = nodeSectorSize,
    .xDeviceCharacteristics = nodeDeviceCharacteristics,
    .xShmMap = mcNodeShmMap,
    .xShmLock = mcNodeShmLock,
    .xShmBarrier = mcNodeShmBarrier,
    .xShmUnmap = mcNodeShmUnmap,
};

/* ---------------------------------------------------------------------------------------------------
** The VFS
*/

/* A name that no file has, in the directory for temporary files. */
static int tempName(char *z, int n) {
    unsigned char random[16];
    char hex[2 * sizeof random + 1];
    const char *zDirectory = sqlite3_temp_directory;
    size_t used;
    if (csprng_bytes(random, sizeof random) != 0) return SQLITE_IOERR_GETTEMPPATH;
    for (size_t i = 0; i < sizeof random; i++) sqlite3_snprintf(3, hex + 2 * i, "%02x", random[i]);
    if (zDirectory != 0) {
        sqlite3_snprintf(n, z, "%s", zDirectory);
    } else if (sqlite3mc_host_temp_directory(z, n) != 0) {
        return SQLITE_IOERR_GETTEMPPATH;
    }
    used = strlen(z);
    sqlite3_snprintf(n - (int)used, z + used, "/sqlite3mc_%s", hex);
    return strlen(z) + 1 == (size_t)n ? SQLITE_IOERR_GETTEMPPATH : SQLITE_OK;
}

/* The database that a journal or WAL belongs to: what is before the last '-', unless a '.' comes later.
** Into z[0..n). 0 if there is none. */
static const char *databaseOf(const char *zPath, char *z, size_t n) {
    const char *p = zPath + strlen(zPath);
    while (p > zPath && *p != '-' && *p != '.') p--;
    if (p == zPath || *p != '-' || (size_t)(p - zPath) >= n) return 0;
    memcpy(z, zPath, (size_t)(p - zPath));
    z[p - zPath] = 0;
    return z;
}

/* SQLite asks for a file to read and write; one that may only be read is opened for that. A journal that
** can't be made, because its directory may not be changed, has an error code of its own. */
static int openHostFile(const char *zPath, int *pHostFlags, int isJournal, const char *zLike, int *pFd) {
    int answer = sqlite3mc_host_open(zPath, *pHostFlags, zLike);
    const int denied = answer == -NODE_EACCES || answer == -NODE_EPERM || answer == -NODE_EROFS;
    if (denied && (*pHostFlags & NODE_OPEN_WRITE) && !(*pHostFlags & NODE_OPEN_EXCLUSIVE)) {
        int fd = sqlite3mc_host_open(zPath, 0, 0);
        if (fd == -NODE_ENOENT && isJournal) return mcNodeError(0, answer, SQLITE_READONLY_DIRECTORY);
        if (fd >= 0) {
            *pHostFlags = 0;
            answer = fd;
        }
    }
    if (answer < 0) {
        sqlite3_log(SQLITE_CANTOPEN, "node: cannot open %s: errno %d", zPath, -answer);
        return mcNodeError(0, answer, SQLITE_CANTOPEN);
    }
    *pFd = answer;
    return SQLITE_OK;
}

static int nodeOpen(sqlite3_vfs *pVfs, const char *zPath, sqlite3_file *pBase, int flags, int *pOutFlags) {
    NodeFile *pFile = (NodeFile *)pBase;
    char zBuffer[NODE_MAX_PATH + 1];
    const char *zLike = 0;
    const char *zName = zPath;
    const int isDatabase = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    const int isJournal = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL)) != 0;
    int hostFlags = 0;
    int rc;
    (void)pVfs;

    memset(pFile, 0, sizeof *pFile);
    if (flags & SQLITE_OPEN_READWRITE) hostFlags |= NODE_OPEN_WRITE;
    if (flags & SQLITE_OPEN_CREATE) hostFlags |= NODE_OPEN_CREATE;
    if (flags & SQLITE_OPEN_EXCLUSIVE) hostFlags |= NODE_OPEN_EXCLUSIVE;
    if (flags & SQLITE_OPEN_DELETEONCLOSE) hostFlags |= NODE_OPEN_TEMPORARY;
    if (zName == 0) {
        rc = tempName(zBuffer, sizeof zBuffer);
        if (rc != SQLITE_OK) return rc;
        zName = zBuffer;
    } else if (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) {
        zLike = databaseOf(zName, zBuffer, sizeof zBuffer);
    } else if (isDatabase && (flags & SQLITE_OPEN_URI)) {
        zLike = sqlite3_uri_parameter(zName, "modeof");
    }
    if (zPath != 0 && (flags & SQLITE_OPEN_WAL)) {
        int readOnly;
        rc = mcNodeCheckWal(zPath, &readOnly);
        if (rc != SQLITE_OK) return rc;
        if (readOnly) hostFlags = 0;
    }

    rc = openHostFile(zName, &hostFlags, isJournal, zLike, &pFile->fd);
    if (rc != SQLITE_OK) return rc;
    pFile->zPath = zPath;
    pFile->bSyncCreated = isJournal && (hostFlags & NODE_OPEN_CREATE);
    if (isDatabase) {
        pFile->bPowersafe = sqlite3_uri_boolean(zPath, "psow", 1);
        pFile->bSyncCreated = (hostFlags & NODE_OPEN_CREATE) && sqlite3mc_host_size(pFile->fd) == 0;
        rc = mcNodeShareOpen(pFile);
        if (rc != SQLITE_OK) {
            (void)sqlite3mc_host_close(pFile->fd);
            return rc;
        }
    }
    if (pOutFlags != 0) {
        if (!(hostFlags & NODE_OPEN_WRITE)) {
            flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
            flags |= SQLITE_OPEN_READONLY;
        }
        *pOutFlags = flags;
    }
    pFile->base.pMethods = &nodeIoMethods;
    return SQLITE_OK;
}

static int nodeDelete(sqlite3_vfs *pVfs, const char *zPath, int bSyncDirectory) {
    int rc = sqlite3mc_host_unlink(zPath);
    (void)pVfs;
    if (rc == -NODE_ENOENT) return mcNodeError(0, rc, SQLITE_IOERR_DELETE_NOENT);
    if (rc != 0) return mcNodeError(0, rc, SQLITE_IOERR_DELETE);
    if (bSyncDirectory & 1) {
        rc = sqlite3mc_host_sync_directory(zPath);
        if (rc != 0) return mcNodeError(0, rc, SQLITE_IOERR_DIR_FSYNC);
    }
    return SQLITE_OK;
}

static int nodeAccess(sqlite3_vfs *pVfs, const char *zPath, int flags, int *pResOut) {
    int answer = sqlite3mc_host_access(zPath, flags == SQLITE_ACCESS_EXISTS ? NODE_ACCESS_EXISTS : NODE_ACCESS_WRITE);
    (void)pVfs;
    if (answer < 0) return mcNodeError(0, answer, SQLITE_IOERR_ACCESS);
    *pResOut = answer;
    return SQLITE_OK;
}

static int nodeFullPathname(sqlite3_vfs *pVfs, const char *zPath, int n, char *zOut) {
    int answer = sqlite3mc_host_full_path(zPath, zOut, n);
    (void)pVfs;
    if (answer < 0) return mcNodeError(0, answer, SQLITE_CANTOPEN_FULLPATH);
    return answer == 1 ? SQLITE_OK_SYMLINK : SQLITE_OK;
}

/* The number of good bytes. */
static int nodeRandomness(sqlite3_vfs *pVfs, int n, char *z) {
    (void)pVfs;
    return csprng_bytes(z, (size_t)n) == 0 ? n : 0;
}

static int nodeSleep(sqlite3_vfs *pVfs, int microseconds) {
    (void)pVfs;
    sqlite3mc_host_sleep(microseconds);
    return microseconds;
}

/* Milliseconds of the Julian day number. */
static int nodeCurrentTimeInt64(sqlite3_vfs *pVfs, sqlite3_int64 *pNow) {
    static const sqlite3_int64 epoch = 24405875 * (sqlite3_int64)8640000; /* 1970-01-01 00:00 */
    (void)pVfs;
    *pNow = epoch + (sqlite3_int64)sqlite3mc_host_now();
    return SQLITE_OK;
}

static int nodeCurrentTime(sqlite3_vfs *pVfs, double *pNow) {
    sqlite3_int64 now;
    int rc = nodeCurrentTimeInt64(pVfs, &now);
    *pNow = (double)now / 86400000.0;
    return rc;
}

static int nodeGetLastError(sqlite3_vfs *pVfs, int n, char *z) {
    (void)pVfs;
    if (n > 0 && z != 0) sqlite3_snprintf(n, z, lastErrno ? "errno %d" : "", lastErrno);
    return lastErrno;
}

/*
** Make the VFS "node" known to SQLite, as the default VFS if makeDefault is not 0. SQLITE_OK; or
** SQLITE_NOTFOUND if `Module.mcHost` is not there, as in a browser: then nothing has changed.
*/
int sqlite3mc_node_vfs_register(int makeDefault);

__attribute__((used, visibility("default"))) int sqlite3mc_node_vfs_register(int makeDefault) {
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .szOsFile = sizeof(NodeFile),
        .mxPathname = NODE_MAX_PATH,
        .zName = "node",
        .xOpen = nodeOpen,
        .xDelete = nodeDelete,
        .xAccess = nodeAccess,
        .xFullPathname = nodeFullPathname,
        .xRandomness = nodeRandomness,
        .xSleep = nodeSleep,
        .xCurrentTime = nodeCurrentTime,
        .xGetLastError = nodeGetLastError,
        .xCurrentTimeInt64 = nodeCurrentTimeInt64,
    };
    if (!sqlite3mc_host_available()) return SQLITE_NOTFOUND;
    return sqlite3_vfs_register(&vfs, makeDefault);
}
