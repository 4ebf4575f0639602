# The compile-time options of SQLite: one list for every build. The names are SQLite's own
# (https://sqlite.org/compile.html); what needs a reason has one.

set(SQLITE3MC_SQLITE_OPTIONS
    # A shared cache would hand pages of one key to a connection with another.
    SQLITE_OMIT_SHARED_CACHE
    SQLITE_USE_URI=1
    # The codec's entry points: at the start and end of the library, and for each new connection. _MUTEXED: no
    # thread opens a database before the encrypting VFS is there, and a start that fails is tried again.
    SQLITE_EXTRA_INIT_MUTEXED=sqlite3mc_initialize
    SQLITE_EXTRA_SHUTDOWN=sqlite3mc_shutdown
    SQLITE_EXTRA_AUTOEXT=mcConnectionSetup
    SQLITE_ENABLE_BYTECODE_VTAB
    SQLITE_ENABLE_COLUMN_METADATA
    SQLITE_ENABLE_DBPAGE_VTAB
    SQLITE_ENABLE_DBSTAT_VTAB
    SQLITE_ENABLE_FTS5
    SQLITE_ENABLE_MATH_FUNCTIONS
    SQLITE_ENABLE_OFFSET_SQL_FUNC
    SQLITE_ENABLE_PERCENTILE
    SQLITE_ENABLE_PREUPDATE_HOOK
    SQLITE_ENABLE_RTREE
    SQLITE_ENABLE_SESSION
    SQLITE_ENABLE_STMTVTAB
    SQLITE_ENABLE_UNKNOWN_SQL_FUNCTION)

if(SQLITE3MC_WASM)
    list(APPEND SQLITE3MC_SQLITE_OPTIONS
         SQLITE_THREADSAFE=0
         SQLITE_OMIT_LOAD_EXTENSION
         # As in SQLite's own WebAssembly build: temporary data stays in memory unless temp_store=FILE, because
         # some VFSs of browsers have no room for temporary files (a full pool, kvvfs).
         SQLITE_TEMP_STORE=2
         # The JavaScript API and ext/wasm/api/sqlite3-wasm.c expect these three.
         SQLITE_OMIT_DEPRECATED
         SQLITE_OS_KV_OPTIONAL=1
         "SQLITE_DEFAULT_UNIX_VFS=\"unix-none\""
         # Hooks that SQLite's own JavaScript test suite calls.
         SQLITE_WASM_ENABLE_C_TESTS)
else()
    list(APPEND SQLITE3MC_SQLITE_OPTIONS SQLITE_THREADSAFE=1)
    if(SQLITE3MC_SANITIZE)
        list(APPEND SQLITE3MC_SQLITE_OPTIONS SQLITE_DEBUG)
    endif()
endif()
