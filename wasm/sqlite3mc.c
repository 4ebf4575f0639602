/*
** The one big unit: SQLite, with the changes of cmake/patches.cmake, and the codec, which needs
** SQLite's internals. The cipher schemes and the primitives are units of their own.
**
** Built as it is for native code, and included by SQLite's sqlite3-wasm.c for WebAssembly.
*/
#ifndef SQLITE_API
#define SQLITE_API __attribute__((used, visibility("default")))
#endif

#include <sqlite3.c>

#include "sqlite3mc.h"

#include "codec/codec.h"

#include "codec/settings.c"

#include "codec/key.c"

#include "codec/codec.c"

#include "codec/vfs.c"

#include "codec/temp.c"

#include "codec/recovery.c"

#include "codec/attach.c"

#include "codec/rekey.c"

#include "codec/backup.c"

#include "codec/pragma.c"

#include "codec/machine.c"

#include "codec/functions.c"

#include "codec/value.c"

#include "codec/verify.c"

#include "codec/register.c"

#include "codec/api.c"
