/*
** What the VFS "node" asks of JavaScript: files, lock files and time, as functions of the object
** `Module.mcHost` that js/node-host.js makes. In a browser there is no such object; then every function
** here answers -NODE_ENOSYS (0 where 0 means "nothing"), and nothing else happens.
**
** An int that can be an error is negative then: minus an errno with Linux's numbers, on every platform.
** Paths are UTF-8. Offsets and sizes are doubles: exact up to 2^53, and no BigInt is made for them.
*/
#ifndef SQLITE3MC_NODE_HOST_H
#define SQLITE3MC_NODE_HOST_H

enum {
    NODE_EPERM = 1,
    NODE_ENOENT = 2,
    NODE_EIO = 5,
    NODE_EACCES = 13,
    NODE_EISDIR = 21,
    NODE_EFBIG = 27,
    NODE_ENOSPC = 28,
    NODE_EROFS = 30,
    NODE_ENAMETOOLONG = 36,
    NODE_ENOSYS = 38,
    NODE_EDQUOT = 122
};

/* 1: there is a host. 0: there is none. */
int sqlite3mc_host_available(void);

/* Open a file; never through a symbolic link. A file descriptor, or an error. A created file gets mode,
** owner and group of zLike if that is not null (owner and group as far as the user may). */
#define NODE_OPEN_WRITE 1
#define NODE_OPEN_CREATE 2
#define NODE_OPEN_EXCLUSIVE 4
#define NODE_OPEN_TEMPORARY 8 /* mode 0600, and gone when closed */
int sqlite3mc_host_open(const char *zPath, int flags, const char *zLike);
int sqlite3mc_host_close(int fd);

/* To be called once for an open database file, before the functions that need a database file. Into id:
** device and inode number, 16 bytes that no other file has. 0, or an error; -NODE_EISDIR for a directory. */
int sqlite3mc_host_identity(int fd, const char *zPath, unsigned char *id);
/* 1 if the path of the database file no longer leads to it, 0 if it does. */
int sqlite3mc_host_moved(int fd);

/* Bytes done: fewer than n at the end of the file, or when the disk took no more. Or an error. */
int sqlite3mc_host_read(int fd, void *p, int n, double offset);
int sqlite3mc_host_write(int fd, const void *p, int n, double offset);
int sqlite3mc_host_truncate(int fd, double size);
double sqlite3mc_host_size(int fd);
int sqlite3mc_host_sync(int fd);

int sqlite3mc_host_unlink(const char *zPath);
/* fsync the directory that zPath is in, where directories can be. */
int sqlite3mc_host_sync_directory(const char *zPath);
#define NODE_ACCESS_EXISTS 0 /* is there, and is not an empty file */
#define NODE_ACCESS_WRITE 1  /* may be read and written */
int sqlite3mc_host_access(const char *zPath, int what);

/* The absolute path without symbolic links, into out[0..n). 0, or 1 if there were links, or an error. */
int sqlite3mc_host_full_path(const char *zPath, char *out, int n);
/* The directory for temporary files, into out[0..n). 0 or an error. */
int sqlite3mc_host_temp_directory(char *out, int n);

/* The lock file of the database file fd: this module against all other modules, threads and processes that
** use the same protocol. Open: a handle (> 0) or an error, touches no file. Take: 0 held, 1 held by
** another owner, or an error. Rest: no connection has a lock now, another owner may have it: the host gives
** it up when it sees fit. Close: gives it up at once, and frees the handle. */
int sqlite3mc_host_lock_open(int fd);
int sqlite3mc_host_lock_take(int handle);
void sqlite3mc_host_lock_rest(int handle);
void sqlite3mc_host_lock_close(int handle);

/* Locks that programs which use fcntl (native SQLite) have on the database of a lock handle. Linux only; 0
** elsewhere, and when it can't be known. While the kernel lists its locks, which takes up to milliseconds,
** nobody on the machine can lock a file: it should not be asked for nothing. */
#define NODE_NATIVE_READ 1      /* at least a SHARED lock */
#define NODE_NATIVE_RESERVED 2  /* a writer that does not yet write to the database */
#define NODE_NATIVE_PENDING 4   /* a writer that waits for readers to finish */
#define NODE_NATIVE_EXCLUSIVE 8 /* a writer that writes */
#define NODE_NATIVE_WAL 16      /* connected in WAL mode: uses the -shm file */
enum {
    NODE_LOOK_NOW,    /* what is so now */
    NODE_LOOK_RECENT, /* that there are no locks may be a tenth of a second old */
    NODE_LOOK_WAL     /* NOW if there is a -shm file, as there is with a connection in WAL mode; else RECENT */
};
int sqlite3mc_host_native_locks(int handle, int look);

void sqlite3mc_host_sleep(int microseconds);
/* Milliseconds since 1970-01-01 00:00 UTC. */
double sqlite3mc_host_now(void);

#endif
