/*
** A VFS that watches what reaches the real one, and breaks it on request.
**
** "spy" stands below the shim ("multipleciphers-spy") and above the real VFS. It counts calls, looks
** for plaintext in everything that is written, reports any sector size and device characteristics,
** and can make one call fail, or end the life of the process at one call: from then on nothing
** reaches the files, whatever SQLite tries while it closes. "spy1" is the same VFS as an old program
** would have registered it: version 1, without xSectorSize and xDeviceCharacteristics.
**
** One global state: the tests run one after the other, with any number of connections.
*/
#ifndef SQLITE3MC_TEST_SPY_VFS_H
#define SQLITE3MC_TEST_SPY_VFS_H

#include "sqlite3.h"

/* What was called. Masks, so that a fault can be for several. */
enum {
    SPY_OPEN = 1,
    SPY_READ = 2,
    SPY_WRITE = 4,
    SPY_SYNC = 8,
    SPY_TRUNCATE = 16,
    SPY_DELETE = 32,
    SPY_SIZE = 64,
    SPY_FETCH = 128,
    SPY_CREATE = 256, /* an open that made the file */
    SPY_ACCESS = 512,
    SPY_LOCK = 1024,
    SPY_MUTATING = SPY_WRITE | SPY_SYNC | SPY_TRUNCATE | SPY_DELETE | SPY_CREATE,
};

/* On which file. */
enum {
    SPY_MAIN = 1,
    SPY_JOURNAL = 2,
    SPY_WAL = 4,
    SPY_SUPER = 8,
    SPY_TEMP = 16, /* temporary databases, sorter files, statement journals */
    SPY_ANY = 31,
};

/* How the chosen call fails. */
typedef enum SpyFault {
    SPY_IOERR,        /* once, the I/O error of the call */
    SPY_FULL,         /* once, SQLITE_FULL */
    SPY_NOMEM,        /* once, SQLITE_IOERR_NOMEM */
    SPY_SHORT,        /* a read gives half, a write writes half and fails */
    SPY_FLIP,         /* a read gives one wrong bit */
    SPY_FULL_FOREVER, /* SQLITE_FULL, and so do all such calls from then on */
    SPY_KILL,         /* the process ends before the call */
    SPY_KILL_TORN,    /* the process ends in the middle of the write */
    SPY_KILL_POWER,   /* the power fails: what was not synced may be lost, in any selection */
} SpyFault;

/* Register both VFSs and the shims over them. */
void spyRegister(void);
/* Forget counts, faults, markers, settings. */
void spyReset(void);

#define SPY_VFS "multipleciphers-spy"
#define SPY1_VFS "multipleciphers-spy1"

/* The n-th call (from 1) of one of these operations on one of these files fails. n = 0: none. */
void spyFaultAt(SpyFault fault, int ops, int files, int n);
/* The fault happened. */
int spyFaulted(void);
/* Let the dead process's files be opened again. With SPY_KILL_POWER the unsynced writes that are
** lost are taken back now, chosen by `seed`; call it when all connections are closed. */
void spyRevive(unsigned seed);

/* Calls since the reset of one of these operations on one of these files. */
int spyCount(int ops, int files);

/* Writes since the reset that held this text (or, with spyScan(0), end the search). */
void spyScan(const void *marker, int n);
int spyLeaks(void);
/* Where the first leak was: "journal, 512 bytes at 4096". */
const char *spyLeakPlace(void);

/* Called for every write that reaches the real VFS. */
typedef void (*SpyWatcher)(void *context, int file, const unsigned char *data, int n, sqlite3_int64 offset);
void spyWatch(SpyWatcher watcher, void *context);

/* Sector size (0: the real one) and device characteristics (-1: the real ones). */
void spyDevice(int sectorSize, int characteristics);

#endif
