/*
** The watching and failing VFS of spy_vfs.h.
*/
#include "spy_vfs.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 11, FILES = 5 };

/* A write, or the cut of a truncate, that a power failure may take back. */
typedef struct Unsynced {
    char *path;
    sqlite3_int64 offset;
    sqlite3_int64 sizeBefore;
    int n;
    int truncated; /* a truncate to `offset`; `before` holds the tail */
    unsigned char *before;
    int beforeLen;
    unsigned char *after;
} Unsynced;

static struct {
    sqlite3_vfs *real;
    int counts[OPS][FILES];
    SpyFault fault;
    int faultOps, faultFiles, faultAt, faultSeen, faulted, dead;
    const unsigned char *marker;
    int markerLen, leaks;
    char leakPlace[80];
    SpyWatcher watcher;
    void *watcherContext;
    int sectorSize, characteristics;
    Unsynced *log;
    int logCount;
} g;

typedef struct SpyFile {
    sqlite3_file base;
    sqlite3_file *real;
    int kind; /* one of the file masks */
    char *path;
} SpyFile;

static int bitIndex(int mask) {
    int i = 0;
    while (!(mask & (1 << i))) {
        i++;
    }
    return i;
}

static const char *kindName(int kind) {
    static const char *const names[FILES] = {"main file", "journal", "WAL", "super-journal", "temporary file"};
    return names[bitIndex(kind)];
}

static int kindOf(int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) {
        return SPY_MAIN;
    }
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) {
        return SPY_JOURNAL;
    }
    if (flags & SQLITE_OPEN_WAL) {
        return SPY_WAL;
    }
    return flags & SQLITE_OPEN_SUPER_JOURNAL ? SPY_SUPER : SPY_TEMP;
}

static int endsWith(const char *text, const char *tail) {
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && !strcmp(text + n - m, tail);
}

static int kindOfName(const char *name) {
    if (endsWith(name, "-journal")) {
        return SPY_JOURNAL;
    }
    if (endsWith(name, "-wal")) {
        return SPY_WAL;
    }
    return strstr(name, "-mj") ? SPY_SUPER : SPY_MAIN;
}

/* ---- faults ----------------------------------------------------------------------------------- */

/* Count the call. 1 if this is the one that has to fail. */
static int spyCall(int op, int kind) {
    g.counts[bitIndex(op)][bitIndex(kind)]++;
    if (g.dead || !g.faultAt || !(g.faultOps & op) || !(g.faultFiles & kind)) {
        return 0;
    }
    g.faultSeen++;
    if (g.faultSeen < g.faultAt || (g.faultSeen > g.faultAt && g.fault != SPY_FULL_FOREVER)) {
        return 0;
    }
    g.faulted = 1;
    if (g.fault == SPY_KILL || g.fault == SPY_KILL_TORN || g.fault == SPY_KILL_POWER) {
        g.dead = 1;
    }
    return 1;
}

static int faultCode(int ioerr) {
    if (g.fault == SPY_FULL || g.fault == SPY_FULL_FOREVER) {
        return SQLITE_FULL;
    }
    return g.fault == SPY_NOMEM ? SQLITE_IOERR_NOMEM : ioerr;
}

void spyFaultAt(SpyFault fault, int ops, int files, int n) {
    g.fault = fault;
    g.faultOps = ops;
    g.faultFiles = files;
    g.faultAt = n;
    g.faultSeen = g.faulted = g.dead = 0;
}

int spyFaulted(void) {
    return g.faulted;
}

int spyCount(int ops, int files) {
    int sum = 0;
    for (int o = 0; o < OPS; o++) {
        for (int f = 0; f < FILES; f++) {
            if (ops & (1 << o) && files & (1 << f)) {
                sum += g.counts[o][f];
            }
        }
    }
    return sum;
}

/* ---- power failure ---------------------------------------------------------------------------- */

static void freeUnsynced(Unsynced *u) {
    free(u->path);
    free(u->before);
    free(u->after);
}

static void dropLog(const char *path) {
    int kept = 0;
    for (int i = 0; i < g.logCount; i++) {
        if (path && strcmp(g.log[i].path, path) != 0) {
            g.log[kept++] = g.log[i];
        } else {
            freeUnsynced(&g.log[i]);
        }
    }
    g.logCount = kept;
    if (!kept) {
        free(g.log);
        g.log = 0;
    }
}

static void *copyOf(const void *data, size_t n) {
    void *copy = malloc(n ? n : 1);
    if (!copy) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    if (data) {
        memcpy(copy, data, n);
    }
    return copy;
}

static void logChange(SpyFile *f, const void *data, int n, sqlite3_int64 offset) {
    if (g.fault != SPY_KILL_POWER || !g.faultAt || !f->path) {
        return;
    }
    Unsynced u = {.offset = offset, .n = n, .truncated = data == 0};
    f->real->pMethods->xFileSize(f->real, &u.sizeBefore);
    sqlite3_int64 end = data ? offset + n : u.sizeBefore;
    end = end < u.sizeBefore ? end : u.sizeBefore;
    u.beforeLen = end > offset ? (int)(end - offset) : 0;
    u.before = copyOf(0, (size_t)u.beforeLen);
    if (u.beforeLen) {
        f->real->pMethods->xRead(f->real, u.before, u.beforeLen, offset);
    }
    u.after = data ? copyOf(data, (size_t)n) : 0;
    u.path = copyOf(f->path, strlen(f->path) + 1);
    Unsynced *more = realloc(g.log, sizeof(Unsynced) * (size_t)(g.logCount + 1));
    if (!more) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    g.log = more;
    g.log[g.logCount++] = u;
}

/* Take every unsynced change back, newest first; then do those again that reached the disk. */
static void losePower(unsigned seed) {
    for (int i = g.logCount; i-- > 0;) {
        Unsynced *u = &g.log[i];
        if (fileSize(u->path) >= 0) {
            if (u->beforeLen) {
                fileWrite(u->path, u->offset, u->before, u->beforeLen);
            }
            fileTruncate(u->path, u->sizeBefore);
        }
    }
    for (int i = 0; i < g.logCount; i++) {
        Unsynced *u = &g.log[i];
        seed = seed * 1103515245u + 12345u;
        if (seed & 0x10000 && fileSize(u->path) >= 0) {
            if (u->truncated) {
                fileTruncate(u->path, u->offset);
            } else {
                fileWrite(u->path, u->offset, u->after, u->n);
            }
        }
    }
    dropLog(0);
}

void spyRevive(unsigned seed) {
    if (g.dead && g.fault == SPY_KILL_POWER) {
        losePower(seed);
    }
    g.dead = 0;
    g.faultAt = 0;
    dropLog(0);
}

/* ---- watching --------------------------------------------------------------------------------- */

void spyScan(const void *marker, int n) {
    g.marker = marker;
    g.markerLen = n;
    g.leaks = 0;
    g.leakPlace[0] = 0;
}

int spyLeaks(void) {
    return g.leaks;
}

const char *spyLeakPlace(void) {
    return g.leakPlace;
}

void spyWatch(SpyWatcher watcher, void *context) {
    g.watcher = watcher;
    g.watcherContext = context;
}

void spyDevice(int sectorSize, int characteristics) {
    g.sectorSize = sectorSize;
    g.characteristics = characteristics;
}

static void look(const SpyFile *f, const unsigned char *data, int n, sqlite3_int64 offset) {
    for (int i = 0; g.marker && i + g.markerLen <= n; i++) {
        if (data[i] == g.marker[0] && !memcmp(data + i, g.marker, (size_t)g.markerLen)) {
            if (g.leaks++ == 0) {
                snprintf(g.leakPlace, sizeof g.leakPlace, "%s, %d bytes at %lld", kindName(f->kind), n,
                         (long long)offset);
            }
            break;
        }
    }
    if (g.watcher) {
        g.watcher(g.watcherContext, f->kind, data, n, offset);
    }
}

/* ---- file methods ----------------------------------------------------------------------------- */

#define REAL(f) (((SpyFile *)(f))->real)

static int spyClose(sqlite3_file *file) {
    SpyFile *f = (SpyFile *)file;
    int rc = f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;
    free(f->path);
    f->path = 0;
    return rc;
}

static int spyRead(sqlite3_file *file, void *out, int n, sqlite3_int64 offset) {
    SpyFile *f = (SpyFile *)file;
    if (spyCall(SPY_READ, f->kind)) {
        if (g.fault == SPY_SHORT) {
            int rc = f->real->pMethods->xRead(f->real, out, n / 2, offset);
            memset((char *)out + n / 2, 0, (size_t)(n - n / 2));
            return rc == SQLITE_OK ? SQLITE_IOERR_SHORT_READ : rc;
        }
        if (g.fault == SPY_FLIP) {
            int rc = f->real->pMethods->xRead(f->real, out, n, offset);
            ((unsigned char *)out)[n / 3] ^= 4;
            return rc;
        }
        return faultCode(SQLITE_IOERR_READ);
    }
    if (g.dead) {
        return SQLITE_IOERR_READ;
    }
    return f->real->pMethods->xRead(f->real, out, n, offset);
}

static int spyWrite(sqlite3_file *file, const void *data, int n, sqlite3_int64 offset) {
    SpyFile *f = (SpyFile *)file;
    int chosen = spyCall(SPY_WRITE, f->kind);
    if (chosen && (g.fault == SPY_SHORT || g.fault == SPY_KILL_TORN)) {
        look(f, data, n / 2, offset);
        f->real->pMethods->xWrite(f->real, data, n / 2, offset);
        return SQLITE_IOERR_WRITE;
    }
    if (chosen || g.dead) {
        return g.dead ? SQLITE_IOERR_WRITE : faultCode(SQLITE_IOERR_WRITE);
    }
    look(f, data, n, offset);
    logChange(f, data, n, offset);
    return f->real->pMethods->xWrite(f->real, data, n, offset);
}

static int spyTruncate(sqlite3_file *file, sqlite3_int64 size) {
    SpyFile *f = (SpyFile *)file;
    if (spyCall(SPY_TRUNCATE, f->kind) || g.dead) {
        return g.dead ? SQLITE_IOERR_TRUNCATE : faultCode(SQLITE_IOERR_TRUNCATE);
    }
    logChange(f, 0, 0, size);
    return f->real->pMethods->xTruncate(f->real, size);
}

static int spySync(sqlite3_file *file, int flags) {
    SpyFile *f = (SpyFile *)file;
    if (spyCall(SPY_SYNC, f->kind) || g.dead) {
        return g.dead ? SQLITE_IOERR_FSYNC : faultCode(SQLITE_IOERR_FSYNC);
    }
    /* Not passed on: the machine of the test keeps its power, and flushing is slow. */
    (void)flags;
    if (f->path) {
        dropLog(f->path);
    }
    return SQLITE_OK;
}

static int spyFileSize(sqlite3_file *file, sqlite3_int64 *size) {
    SpyFile *f = (SpyFile *)file;
    if (spyCall(SPY_SIZE, f->kind) || g.dead) {
        return SQLITE_IOERR_FSTAT;
    }
    return f->real->pMethods->xFileSize(f->real, size);
}

static int spyLock(sqlite3_file *file, int level) {
    if (spyCall(SPY_LOCK, ((SpyFile *)file)->kind) || g.dead) {
        return SQLITE_IOERR_LOCK;
    }
    return REAL(file)->pMethods->xLock(REAL(file), level);
}

/* A dead process holds no locks, so unlocking works. */
static int spyUnlock(sqlite3_file *file, int level) {
    return REAL(file)->pMethods->xUnlock(REAL(file), level);
}

static int spyCheckReserved(sqlite3_file *file, int *out) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), out);
}

static int spyFileControl(sqlite3_file *file, int op, void *arg) {
    if (g.dead && op != SQLITE_FCNTL_FILE_POINTER) {
        return SQLITE_NOTFOUND;
    }
    return REAL(file)->pMethods->xFileControl(REAL(file), op, arg);
}

static int spySectorSize(sqlite3_file *file) {
    return g.sectorSize ? g.sectorSize : REAL(file)->pMethods->xSectorSize(REAL(file));
}

static int spyCharacteristics(sqlite3_file *file) {
    return g.characteristics >= 0 ? g.characteristics : REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}

static int spyShmMap(sqlite3_file *file, int region, int size, int extend, void volatile **out) {
    if (g.dead) {
        return SQLITE_IOERR_SHMMAP;
    }
    return REAL(file)->pMethods->xShmMap(REAL(file), region, size, extend, out);
}

static int spyShmLock(sqlite3_file *file, int offset, int n, int flags) {
    if (g.dead && flags & SQLITE_SHM_LOCK) {
        return SQLITE_IOERR_SHMLOCK;
    }
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, n, flags);
}

static void spyShmBarrier(sqlite3_file *file) {
    REAL(file)->pMethods->xShmBarrier(REAL(file));
}

static int spyShmUnmap(sqlite3_file *file, int deleteIt) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), deleteIt && !g.dead);
}

static int spyFetch(sqlite3_file *file, sqlite3_int64 offset, int n, void **out) {
    spyCall(SPY_FETCH, ((SpyFile *)file)->kind);
    *out = 0;
    return g.dead ? SQLITE_OK : REAL(file)->pMethods->xFetch(REAL(file), offset, n, out);
}

static int spyUnfetch(sqlite3_file *file, sqlite3_int64 offset, void *p) {
    return REAL(file)->pMethods->xUnfetch(REAL(file), offset, p);
}

static const sqlite3_io_methods spyMethods = {
    3,
    spyClose,
    spyRead,
    spyWrite,
    spyTruncate,
    spySync,
    spyFileSize,
    spyLock,
    spyUnlock,
    spyCheckReserved,
    spyFileControl,
    spySectorSize,
    spyCharacteristics,
    spyShmMap,
    spyShmLock,
    spyShmBarrier,
    spyShmUnmap,
    spyFetch,
    spyUnfetch,
};

static const sqlite3_io_methods spy1Methods = {
    .iVersion = 1,
    .xClose = spyClose,
    .xRead = spyRead,
    .xWrite = spyWrite,
    .xTruncate = spyTruncate,
    .xSync = spySync,
    .xFileSize = spyFileSize,
    .xLock = spyLock,
    .xUnlock = spyUnlock,
    .xCheckReservedLock = spyCheckReserved,
    .xFileControl = spyFileControl,
};

/* ---- VFS methods ------------------------------------------------------------------------------ */

static int spyOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags) {
    SpyFile *f = (SpyFile *)file;
    int kind = kindOf(flags), exists = 1;
    f->base.pMethods = 0;
    if (name && flags & SQLITE_OPEN_CREATE) {
        g.real->xAccess(g.real, name, SQLITE_ACCESS_EXISTS, &exists);
    }
    if (spyCall(SPY_OPEN, kind) || (!exists && spyCall(SPY_CREATE, kind)) || g.dead) {
        return g.dead ? SQLITE_CANTOPEN : faultCode(SQLITE_CANTOPEN);
    }
    f->kind = kind;
    f->path = name ? copyOf(name, strlen(name) + 1) : 0;
    f->real = (sqlite3_file *)(f + 1);
    int rc = g.real->xOpen(g.real, name, f->real, flags, outFlags);
    if (f->real->pMethods) {
        f->base.pMethods = vfs->iVersion == 1 ? &spy1Methods : &spyMethods;
    } else {
        free(f->path);
        f->path = 0;
    }
    return rc;
}

static int spyDelete(sqlite3_vfs *vfs, const char *name, int syncDir) {
    (void)vfs;
    if (spyCall(SPY_DELETE, kindOfName(name)) || g.dead) {
        return g.dead ? SQLITE_IOERR_DELETE : faultCode(SQLITE_IOERR_DELETE);
    }
    dropLog(name);
    return g.real->xDelete(g.real, name, syncDir);
}

static int spyAccess(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    if (spyCall(SPY_ACCESS, kindOfName(name)) || g.dead) {
        *out = 0;
        return SQLITE_IOERR_ACCESS;
    }
    return g.real->xAccess(g.real, name, flags, out);
}

static int spyFullPathname(sqlite3_vfs *vfs, const char *name, int n, char *out) {
    (void)vfs;
    return g.real->xFullPathname(g.real, name, n, out);
}

static int spyRandomness(sqlite3_vfs *vfs, int n, char *out) {
    (void)vfs;
    return g.real->xRandomness(g.real, n, out);
}

static int spySleep(sqlite3_vfs *vfs, int us) {
    (void)vfs;
    return g.real->xSleep(g.real, us);
}

/* SQLite built without deprecated parts has a VFS without xCurrentTime. */
static int spyCurrentTime(sqlite3_vfs *vfs, double *out) {
    sqlite3_int64 now = 0;
    (void)vfs;
    if (g.real->xCurrentTime) {
        return g.real->xCurrentTime(g.real, out);
    }
    int rc = g.real->xCurrentTimeInt64(g.real, &now);
    *out = (double)now / 86400000.0;
    return rc;
}

static int spyGetLastError(sqlite3_vfs *vfs, int n, char *out) {
    (void)vfs;
    return g.real->xGetLastError ? g.real->xGetLastError(g.real, n, out) : 0;
}

static int spyCurrentTime64(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    (void)vfs;
    return g.real->xCurrentTimeInt64(g.real, out);
}

void spyReset(void) {
    dropLog(0);
    memset(g.counts, 0, sizeof g.counts);
    g.faultAt = g.faultSeen = g.faulted = g.dead = 0;
    spyScan(0, 0);
    spyWatch(0, 0);
    spyDevice(0, -1);
}

void spyRegister(void) {
    static sqlite3_vfs spy, spy1;
    if (g.real) {
        return;
    }
    g.real = sqlite3_vfs_find(realVfs());
    spy = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(SpyFile) + g.real->szOsFile,
        .mxPathname = g.real->mxPathname,
        .zName = "spy",
        .xOpen = spyOpen,
        .xDelete = spyDelete,
        .xAccess = spyAccess,
        .xFullPathname = spyFullPathname,
        .xRandomness = spyRandomness,
        .xSleep = spySleep,
        .xCurrentTime = spyCurrentTime,
        .xGetLastError = spyGetLastError,
        .xCurrentTimeInt64 = spyCurrentTime64,
    };
    spy1 = spy;
    spy1.iVersion = 1;
    spy1.zName = "spy1";
    spy1.xCurrentTimeInt64 = 0;
    CHECK_INT(sqlite3_vfs_register(&spy, 0), SQLITE_OK);
    CHECK_INT(sqlite3_vfs_register(&spy1, 0), SQLITE_OK);
    CHECK_INT(sqlite3mc_vfs_create("spy", 0), SQLITE_OK);
    CHECK_INT(sqlite3mc_vfs_create("spy1", 0), SQLITE_OK);
    spyReset();
}
