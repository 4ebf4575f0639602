# Copies the files of SQLite that a build uses into a directory of the build, with the patches of
# patches.cmake applied:
#
#   cmake -DSQLITE_SRC=dir -DOUT=dir -DFILES=a|b|c -P patch_sqlite.cmake
#
# A patch whose anchor is not there, or is there twice, or whose file is not in the list, ends the build.
cmake_minimum_required(VERSION 3.22)
string(REPLACE "|" ";" FILES "${FILES}")

# Each file's text is kept in a variable of its own, TEXT_<path>, and written once at the end.
foreach(file IN LISTS FILES)
    if(NOT EXISTS "${SQLITE_SRC}/${file}")
        message(FATAL_ERROR "${SQLITE_SRC} has no ${file}: run `node scripts/setup.mjs`.")
    endif()
    file(READ "${SQLITE_SRC}/${file}" "TEXT_${file}")
endforeach()

function(sqlite_patch name)
    if(ARGC EQUAL 3)
        set(file sqlite3.c)
        set(anchor "${ARGV1}")
        set(replacement "${ARGV2}")
    elseif(ARGC EQUAL 5 AND "${ARGV1}" STREQUAL "FILE")
        set(file "${ARGV2}")
        set(anchor "${ARGV3}")
        set(replacement "${ARGV4}")
    else()
        message(FATAL_ERROR "sqlite_patch(${name}): wrong arguments, see the head of patches.cmake.")
    endif()
    if(NOT file IN_LIST FILES)
        message(FATAL_ERROR "sqlite_patch(${name}): ${file} is not among the files that the build patches.")
    endif()
    set(text "${TEXT_${file}}")
    string(FIND "${text}" "${anchor}" first)
    string(FIND "${text}" "${anchor}" last REVERSE)
    if(first EQUAL -1)
        message(FATAL_ERROR "sqlite_patch(${name}): the anchor is not in ${file}. Is this another version of SQLite?")
    elseif(NOT first EQUAL last)
        message(FATAL_ERROR "sqlite_patch(${name}): the anchor occurs more than once in ${file}.")
    endif()
    string(REPLACE "${anchor}" "${replacement}" text "${text}")
    set("TEXT_${file}" "${text}" PARENT_SCOPE)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/patches.cmake")
if("ext/wasm/api/sqlite3-api-oo1.c-pp.js" IN_LIST FILES)
    include("${CMAKE_CURRENT_LIST_DIR}/patches_js.cmake")
endif()

foreach(file IN LISTS FILES)
    file(WRITE "${OUT}/${file}" "${TEXT_${file}}")
endforeach()
