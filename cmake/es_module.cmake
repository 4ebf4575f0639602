# Finishes a preprocessed ES module of SQLite:
#   cmake -DFILE=file [-DEXPORT=expression] -P es_module.cmake
# TypeScript is not to check it. With EXPORT it gets that default export, and a `Module` of its own.
file(READ "${FILE}" text)
if(EXPORT)
    set(text "const Module = {};\n${text}\nexport default ${EXPORT};\n")
endif()
file(WRITE "${FILE}" "// @ts-nocheck\n${text}")
