/*
** The way from C to `Module.mcHost`, see node_host.h. Each function is one import of the module; the
** object is looked up at each call, so it may be set after the module has been made.
**
** HEAPU8 is passed at each call too: the array is another one after the memory has grown. 38 is
** NODE_ENOSYS, 36 NODE_ENAMETOOLONG.
*/
#include "node_host.h"

#include <emscripten.h>

// clang-format off
EM_JS_DEPS(sqlite3mc_node_host, "$UTF8ToString,$stringToUTF8,$lengthBytesUTF8");

EM_JS(int, sqlite3mc_host_available, (void), {
  return Module["mcHost"] ? 1 : 0;
});

EM_JS(int, sqlite3mc_host_open, (const char *zPath, int flags, const char *zLike), {
  const host = Module["mcHost"];
  return host ? host.open(UTF8ToString(zPath), flags, zLike ? UTF8ToString(zLike) : null) : -38;
});

EM_JS(int, sqlite3mc_host_close, (int fd), {
  const host = Module["mcHost"];
  return host ? host.close(fd) : -38;
});

EM_JS(int, sqlite3mc_host_identity, (int fd, const char *zPath, unsigned char *id), {
  const host = Module["mcHost"];
  return host ? host.identity(fd, UTF8ToString(zPath), HEAPU8, id >>> 0) : -38;
});

EM_JS(int, sqlite3mc_host_moved, (int fd), {
  const host = Module["mcHost"];
  return host ? host.moved(fd) : 0;
});

EM_JS(int, sqlite3mc_host_read, (int fd, void *p, int n, double offset), {
  const host = Module["mcHost"];
  return host ? host.read(fd, HEAPU8, p >>> 0, n, offset) : -38;
});

EM_JS(int, sqlite3mc_host_write, (int fd, const void *p, int n, double offset), {
  const host = Module["mcHost"];
  return host ? host.write(fd, HEAPU8, p >>> 0, n, offset) : -38;
});

EM_JS(int, sqlite3mc_host_truncate, (int fd, double size), {
  const host = Module["mcHost"];
  return host ? host.truncate(fd, size) : -38;
});

EM_JS(double, sqlite3mc_host_size, (int fd), {
  const host = Module["mcHost"];
  return host ? host.size(fd) : -38;
});

EM_JS(int, sqlite3mc_host_sync, (int fd), {
  const host = Module["mcHost"];
  return host ? host.sync(fd) : -38;
});

EM_JS(int, sqlite3mc_host_unlink, (const char *zPath), {
  const host = Module["mcHost"];
  return host ? host.unlink(UTF8ToString(zPath)) : -38;
});

EM_JS(int, sqlite3mc_host_sync_directory, (const char *zPath), {
  const host = Module["mcHost"];
  return host ? host.syncDirectory(UTF8ToString(zPath)) : -38;
});

EM_JS(int, sqlite3mc_host_access, (const char *zPath, int what), {
  const host = Module["mcHost"];
  return host ? host.access(UTF8ToString(zPath), what) : -38;
});

EM_JS(int, sqlite3mc_host_full_path, (const char *zPath, char *out, int n), {
  const host = Module["mcHost"];
  if (!host) return -38;
  const full = host.fullPath(UTF8ToString(zPath));
  if (typeof full === "number") return full;
  if (lengthBytesUTF8(full.path) >= n) return -36;
  stringToUTF8(full.path, out, n);
  return full.links ? 1 : 0;
});

EM_JS(int, sqlite3mc_host_temp_directory, (char *out, int n), {
  const host = Module["mcHost"];
  if (!host) return -38;
  const directory = host.tempDirectory();
  if (typeof directory === "number") return directory;
  if (lengthBytesUTF8(directory) >= n) return -36;
  stringToUTF8(directory, out, n);
  return 0;
});

EM_JS(int, sqlite3mc_host_lock_open, (int fd), {
  const host = Module["mcHost"];
  return host ? host.lockOpen(fd) : -38;
});

EM_JS(int, sqlite3mc_host_lock_take, (int handle), {
  const host = Module["mcHost"];
  return host ? host.lockTake(handle) : -38;
});

EM_JS(void, sqlite3mc_host_lock_rest, (int handle), {
  const host = Module["mcHost"];
  if (host) host.lockRest(handle);
});

EM_JS(void, sqlite3mc_host_lock_close, (int handle), {
  const host = Module["mcHost"];
  if (host) host.lockClose(handle);
});

EM_JS(int, sqlite3mc_host_native_locks, (int handle, int look), {
  const host = Module["mcHost"];
  return host ? host.nativeLocks(handle, look) : 0;
});

EM_JS(void, sqlite3mc_host_sleep, (int microseconds), {
  const host = Module["mcHost"];
  if (host) host.sleep(microseconds);
});

EM_JS(double, sqlite3mc_host_now, (void), {
  const host = Module["mcHost"];
  return host ? host.now() : 0;
});
// clang-format on
