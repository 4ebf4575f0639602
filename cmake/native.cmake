# Native products: the library, static and shared, and SQLite's shell over it.

add_library(sqlite3mc STATIC)
add_library(sqlite3mc_shared SHARED)
target_link_libraries(sqlite3mc PRIVATE sqlite3mc_objects)
target_link_libraries(sqlite3mc_shared PRIVATE sqlite3mc_objects)
set_target_properties(sqlite3mc_shared PROPERTIES
    OUTPUT_NAME sqlite3mc VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

add_executable(sqlite3mc_shell "${GEN}/shell.c")
add_dependencies(sqlite3mc_shell sqlite3mc_patched)
target_compile_definitions(sqlite3mc_shell PRIVATE ${SQLITE3MC_SQLITE_OPTIONS} SQLITE_HAS_CODEC)
target_link_libraries(sqlite3mc_shell PRIVATE sqlite3mc_objects)
set_target_properties(sqlite3mc_shell PROPERTIES OUTPUT_NAME sqlite3mc RUNTIME_OUTPUT_DIRECTORY bin)

include(GNUInstallDirs)
install(TARGETS sqlite3mc sqlite3mc_shared sqlite3mc_shell)
install(FILES wasm/sqlite3mc.h "${SQLITE_SRC}/sqlite3.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sqlite3mc")

function(sqlite3mc_test_program target)
endfunction()
