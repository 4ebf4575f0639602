# Turns preprocessed JavaScript of SQLite into an ES module:
#   cmake -DFILE=file -DEXPORT=expression -P es_module.cmake
file(READ "${FILE}" text)
file(WRITE "${FILE}" "const Module = {};\n${text}\nexport default ${EXPORT};\n")
