/* global ENV, Module */
// For test programs in WebAssembly: Emscripten gives them an environment of their own; they get this one's. A
// program that never reads it has no ENV.
Module['preRun'] = () => {
  if (typeof ENV !== 'undefined') Object.assign(ENV, process.env);
};
