/*
** The two halves of the VFS "node": vfs_node.c (files) and vfs_node_lock.c (what the connections to one
** database share: locks and the wal-index).
*/
#ifndef SQLITE3MC_VFS_NODE_H
#define SQLITE3MC_VFS_NODE_H

#include "sqlite3.h"

/*
** One for each database file that is open in this module, however many connections and paths lead to it.
** Found by device and inode: two paths to one file meet here.
**
** eLock is the strongest lock of any connection; above SHARED only one connection has it, and nShared
** counts all that have at least SHARED. While nShared > 0, this module has the database's lock file
** (bOwner), except where it may not be made and nobody has it: then connections can read only.
*/
typedef struct NodeShare NodeShare;
struct NodeShare {
    unsigned char id[16];
    NodeShare *pNext;
    char *zPath; /* of the first connection: the lock file's name follows from it */
    int nRef;    /* connections */
    int nShared;
    int eLock;
    int bOwner;
    int hLock; /* the host's handle of the lock file */

    /* The wal-index: in memory, as no other process uses the WAL while this module has the lock file. */
    int nShm; /* connections that use it */
    int nRegion;
    void **apRegion;
    int aShm[SQLITE_SHM_NLOCK]; /* number of shared locks, or -1: exclusive */
};

typedef struct NodeFile NodeFile;
struct NodeFile {
    sqlite3_file base;
    int fd;
    int lastErrno;    /* positive; 0: none yet */
    int szChunk;      /* SQLITE_FCNTL_CHUNK_SIZE */
    int msTimeout;    /* SQLITE_FCNTL_LOCK_TIMEOUT */
    int bSyncCreated; /* made by this xOpen: its directory is to be synced with it, once */
    int bPersistWal;
    int bPowersafe;

    /* Database files only. */
    NodeShare *pShare;
    const char *zPath; /* the string given to xOpen, which SQLite keeps as long as the file is open */
    int eLock;
    int bShm;
    unsigned int mShared; /* locks of the wal-index: bits 0 to 7 */
    unsigned int mExclusive;
};

/* vfs_node.c: remember a host's answer that is an error, and choose the SQLite error for it: SQLITE_FULL
** where the disk or quota is full, otherwise `rc`. pFile may be null. */
int mcNodeError(NodeFile *pFile, int answer, int rc);

/* vfs_node_lock.c */
int mcNodeShareOpen(NodeFile *pFile);
void mcNodeShareClose(NodeFile *pFile);
int mcNodeCheckWal(const char *zPath, int *pReadOnly);

int mcNodeLock(sqlite3_file *pBase, int eLock);
int mcNodeUnlock(sqlite3_file *pBase, int eLock);
int mcNodeCheckReservedLock(sqlite3_file *pBase, int *pResOut);
int mcNodeShmMap(sqlite3_file *pBase, int iRegion, int szRegion, int bExtend, void volatile **pp);
int mcNodeShmLock(sqlite3_file *pBase, int ofst, int n, int flags);
void mcNodeShmBarrier(sqlite3_file *pBase);
int mcNodeShmUnmap(sqlite3_file *pBase, int bDelete);

#endif
