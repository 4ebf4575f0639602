/* global ENV, Module */
// For test programs in WebAssembly: Emscripten gives them an environment of their own; they get this one's.
Module['preRun'] = () => Object.assign(ENV, process.env);
