/*
** Entropy from a POSIX system: getrandom (Linux), getentropy (BSD, Apple), else /dev/urandom.
*/
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <sys/random.h>
#endif

#include "secure.h"

#if defined(__linux__) && defined(SYS_getrandom)

/* The system call, not the library's function, which old C libraries do not have. It blocks only
** until the kernel's generator was seeded once after boot. 0, or -1. */
static int system_call(uint8_t *out, size_t n) {
    while (n > 0) {
        long got = syscall(SYS_getrandom, out, n < 256 ? n : (size_t)256, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || (size_t)got > n) return -1;
        out += got;
        n -= (size_t)got;
    }
    return 0;
}

#elif defined(__APPLE__) || defined(__OpenBSD__) || defined(__FreeBSD__) || defined(__NetBSD__)

static int system_call(uint8_t *out, size_t n) {
    while (n > 0) {
        size_t part = n < 256 ? n : 256;
        if (getentropy(out, part) != 0) return -1;
        out += part;
        n -= part;
    }
    return 0;
}

#else

static int system_call(uint8_t *out, size_t n) {
    (void)out;
    (void)n;
    return -1;
}

#endif

static int open_urandom(void) {
    int fd;
    do {
        fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Only a character device will do: a plain file left at this place in a chroot is no entropy. */
static int device(uint8_t *out, size_t n) {
    struct stat st;
    int fd = open_urandom();
    if (fd < 0) return -1;
    int rc = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) ? 0 : -1;
    while (rc == 0 && n > 0) {
        ssize_t got = read(fd, out, n < 65536 ? n : (size_t)65536);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            rc = -1;
        } else {
            out += got;
            n -= (size_t)got;
        }
    }
    close(fd);
    return rc;
}

int entropy_get(uint8_t *out, size_t n) {
    if (system_call(out, n) == 0 || device(out, n) == 0) return 0;
    secure_zero(out, n);
    return -1;
}

/* Process ids are used again: a grandchild may have the id that its grandparent had. So forks are
** counted too. A child made without the C library's fork() still has an own id. */
static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void) {
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, count_fork);
}

uint64_t entropy_process(void) {
    (void)pthread_once(&once, watch_forks);
    return (uint64_t)atomic_load(&forks) << 32 | (uint32_t)getpid();
}
