# WebAssembly products: sqlite3mc.wasm with its core glue, and SQLite's official JavaScript API as ES
# modules beside it. The link makes <build>/out/sqlite3mc.{mjs,wasm}; scripts/dist.mjs copies them, and
# the modules, to dist/ and sees to it that all builds share one glue.

set(SQLITE3MC_EMCC_VERSION "" CACHE STRING "scripts/build.mjs starts anew when it changes")
set(OUT "${CMAKE_CURRENT_BINARY_DIR}/out")
file(MAKE_DIRECTORY "${OUT}")

# SQLite's JavaScript preprocessor is a C program that needs SQLite itself; it runs on this machine.
find_program(HOST_CC NAMES cc gcc clang REQUIRED)
set(CPP "${CMAKE_CURRENT_BINARY_DIR}/c-pp")
add_custom_command(
    OUTPUT "${CPP}"
    COMMAND "${HOST_CC}" -O0 -o "${CPP}" "${SQLITE_SRC}/ext/wasm/libcmpp.c" "${SQLITE_SRC}/sqlite3.c" "-I${SQLITE_SRC}"
            -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_UTF16 -DSQLITE_OMIT_SHARED_CACHE
            -DSQLITE_OMIT_WAL -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 "-DCMPP_DEFAULT_DELIM=\"//#\"" -DCMPP_MAIN
            -DCMPP_OMIT_D_MODULE -DCMPP_OMIT_D_PIPE -lm
    DEPENDS "${SQLITE_SRC}/ext/wasm/libcmpp.c" "${SQLITE_SRC}/sqlite3.c"
    COMMENT "Building c-pp"
    VERBATIM)

# sqlite_js(<output> [EXPORT <expression>] [FLAGS -D...] SOURCES files...)
# Preprocesses files of SQLite into one. With EXPORT the result becomes an ES module with that default
# export, in which `Module` is an object of its own.
set(SQLITE_JS_OUTPUTS)
function(sqlite_js output)
    cmake_parse_arguments(JS "" "EXPORT" "FLAGS;SOURCES" ${ARGN})
    set(sources)
    foreach(file IN LISTS JS_SOURCES)
        if(IS_ABSOLUTE "${file}")
            list(APPEND sources "${file}")
        else()
            list(APPEND sources "${GEN}/${file}")
        endif()
    endforeach()
    set(finish)
    if(output MATCHES "\\.mjs$")
        set(finish COMMAND "${CMAKE_COMMAND}" "-DFILE=${output}" "-DEXPORT=${JS_EXPORT}"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/es_module.cmake")
    endif()
    add_custom_command(
        OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" -E rm -f "${output}"
        COMMAND "${CPP}" -o "${output}" -Dtarget:es6-module ${JS_FLAGS} ${sources}
        ${finish}
        WORKING_DIRECTORY "${GEN}/ext/wasm" # "//#include api/..." is relative to it
        DEPENDS "${CPP}" ${sources} "${GEN}/ext/wasm/api/opfs-common-inline.c-pp.js" cmake/es_module.cmake
        VERBATIM)
    set(SQLITE_JS_OUTPUTS ${SQLITE_JS_OUTPUTS} "${output}" PARENT_SCOPE)
endfunction()

# The version that sqlite3.version reports in JavaScript.
file(STRINGS "${SQLITE_SRC}/sqlite3.h" _lines REGEX "^#define SQLITE_(VERSION|VERSION_NUMBER|SOURCE_ID)[ ]")
foreach(line IN LISTS _lines)
    if(line MATCHES "SQLITE_VERSION +\"([^\"]+)\"")
        set(_version "${CMAKE_MATCH_1}")
    elseif(line MATCHES "SQLITE_VERSION_NUMBER +([0-9]+)")
        set(_number "${CMAKE_MATCH_1}")
    elseif(line MATCHES "SQLITE_SOURCE_ID +\"([^\"]+)\"")
        set(_source_id "${CMAKE_MATCH_1}")
    endif()
endforeach()
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" _ "${_version}")
math(EXPR _download "${CMAKE_MATCH_1} * 1000000 + ${CMAKE_MATCH_2} * 10000 + ${CMAKE_MATCH_3} * 100")
file(CONFIGURE OUTPUT "${GEN}/build-version.js" @ONLY CONTENT
"globalThis.sqlite3ApiBootstrap.initializers.push(function(sqlite3){
  sqlite3.version = {\"libVersion\": \"@_version@\", \"libVersionNumber\": @_number@, \"sourceId\": \"@_source_id@\",
    \"downloadVersion\": @_download@, \"scm\": {}};
});
")

set(_head ${SQLITE_JS_HEAD} "${GEN}/build-version.js")
# Bundlers have to see that the OPFS proxy is a file of the package.
sqlite_js("${OUT}/sqlite3-api.mjs" EXPORT Module.runSQLite3PostLoadInit
    FLAGS -Dtarget:es6-bundler-friendly
    SOURCES ${_head} ${SQLITE_JS_COMMON} ${SQLITE_JS_BROWSER} ${SQLITE_JS_FOOT})
# Node: no OPFS, and no kvvfs, which touches localStorage (Node 25 and newer warn about that).
sqlite_js("${OUT}/sqlite3-api-node.mjs" EXPORT Module.runSQLite3PostLoadInit
    FLAGS -Dtarget:es6-bundler-friendly -Dtarget:node
    SOURCES ${_head} ${SQLITE_JS_COMMON} ${SQLITE_JS_FOOT})
sqlite_js("${OUT}/sqlite3-opfs-async-proxy.js" SOURCES ext/wasm/api/sqlite3-opfs-async-proxy.c-pp.js)
sqlite_js("${OUT}/sqlite3-worker1.mjs" SOURCES ext/wasm/api/sqlite3-worker1.c-pp.js)
sqlite_js("${OUT}/sqlite3-worker1-promiser.mjs" SOURCES ext/wasm/api/sqlite3-worker1-promiser.c-pp.js)

# The exported C functions: SQLite's list (with the key functions, -Denable-see), and ours. In the API
# that switch would have the constructors write keys into SQL; js/keys.js takes its place.
set(EXPORTS "${GEN}/exports.txt")
file(CONFIGURE OUTPUT "${GEN}/exports-sqlite3mc.txt" CONTENT
"_sqlite3mc_version
_sqlite3mc_cipher_count
_sqlite3mc_cipher_index
_sqlite3mc_cipher_name
_sqlite3mc_cipher_name_copy
_sqlite3mc_config
_sqlite3mc_config_cipher
_sqlite3mc_codec_data
_sqlite3mc_progress
_sqlite3mc_verify
_sqlite3mc_identify
_sqlite3mc_register_cipher
_sqlite3mc_random
_sqlite3mc_pbkdf2
_sqlite3mc_vfs_create
_sqlite3mc_vfs_destroy
_sqlite3mc_vfs_shutdown
_sqlite3mc_node_vfs_register
")
sqlite_js("${EXPORTS}" FLAGS -Denable-see SOURCES ext/wasm/api/EXPORTED_FUNCTIONS.c-pp "${GEN}/exports-sqlite3mc.txt")
add_custom_target(sqlite3mc_js DEPENDS ${SQLITE_JS_OUTPUTS})
add_dependencies(sqlite3mc_js sqlite3mc_patched)

# Linked at -O2: -O3, -Os and -Oz shorten the export names, which SQLite's JavaScript looks up. C only:
# without the two -s...=0 the first link of a new machine builds libc++ and OpenGL too.
set(LINK_OPTIONS -O2 -sDEFAULT_TO_CXX=0 -sAUTO_NATIVE_LIBRARIES=0 -sWASM_BIGINT=1 -sALLOW_MEMORY_GROWTH
    -sALLOW_TABLE_GROWTH -sSTACK_SIZE=512KB -sGLOBAL_BASE=4096)

add_executable(sqlite3mc_module)
target_link_libraries(sqlite3mc_module PRIVATE sqlite3mc_objects)
add_dependencies(sqlite3mc_module sqlite3mc_js)
set_target_properties(sqlite3mc_module PROPERTIES
    OUTPUT_NAME sqlite3mc SUFFIX .mjs RUNTIME_OUTPUT_DIRECTORY "${OUT}" LINKER_LANGUAGE C LINK_DEPENDS "${EXPORTS}")
target_link_options(sqlite3mc_module PRIVATE ${LINK_OPTIONS}
    --no-entry -sMODULARIZE -sEXPORT_ES6 -sEXPORT_NAME=sqlite3mcCore -sENVIRONMENT=web,worker,node
    -sDYNAMIC_EXECUTION=0 -sIMPORTED_MEMORY -sINITIAL_MEMORY=8MB
    "-sEXPORTED_FUNCTIONS=@${EXPORTS}" -sEXPORTED_RUNTIME_METHODS=wasmMemory,wasmExports)

set(SQLITE3MC_DIST_NAME_ssse3 sqlite3mc)
set(SQLITE3MC_DIST_NAME_relaxed sqlite3mc-relaxed)
set(SQLITE3MC_DIST_NAME_none sqlite3mc-nosimd)
if(SQLITE3MC_DIST_NAME_${SQLITE3MC_WASM_SIMD})
    add_custom_command(TARGET sqlite3mc_module POST_BUILD
        COMMAND "${NODE}" "${CMAKE_CURRENT_SOURCE_DIR}/scripts/dist.mjs" "${OUT}" "${SQLITE3MC_DIST_NAME_${SQLITE3MC_WASM_SIMD}}"
        VERBATIM)
endif()

# Test programs run under Node with the real file system. Node 20 has relaxed SIMD only behind a flag.
if(SQLITE3MC_NODE)
    set(NODE_RUN "${SQLITE3MC_NODE}")
else()
    set(NODE_RUN "${NODE}")
endif()
execute_process(COMMAND "${NODE_RUN}" --version OUTPUT_VARIABLE _node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(SQLITE3MC_WASM_SIMD STREQUAL "relaxed" AND _node_version MATCHES "^v20\\.")
    list(APPEND NODE_RUN --experimental-wasm-relaxed-simd)
endif()
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/package.json" "{ \"type\": \"commonjs\" }\n")
function(sqlite3mc_test_program target)
    target_link_options(${target} PRIVATE ${LINK_OPTIONS} -sENVIRONMENT=node -sNODERAWFS -sEXIT_RUNTIME -sINITIAL_MEMORY=64MB
                        "--pre-js=${PROJECT_SOURCE_DIR}/test/native/environment.js")
    set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "${NODE_RUN}")
endfunction()
