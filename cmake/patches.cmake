# The changes to SQLite's source, applied by cmake/patch_sqlite.cmake when a build starts.
#
#   sqlite_patch("what it does" [==[anchor]==] [==[replacement]==])
#   sqlite_patch("what it does" FILE ext/wasm/api/some.js [==[anchor]==] [==[replacement]==])
#
# The anchor is text that occurs exactly once in the file (sqlite3.c unless FILE says otherwise);
# the replacement takes its place, so it repeats the anchor where it only adds. A newline right after
# [==[ is not part of the text. Patches apply in this order, each to the result of those before.
