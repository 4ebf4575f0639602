/**
 * Starts the WebAssembly module: chooses which of the three files fits this engine, and hands it to the
 * Emscripten glue. Nothing is remembered between two calls; each gives a module of its own.
 *
 * The glue calls `locateFile(file, directory)`, `instantiateWasm(imports, done)`, `print` and `printErr` of
 * the object that it is called with.
 */

/** @typedef {'relaxed' | 'simd' | 'nosimd'} Variant */

/**
 * @typedef {object} InitOptions
 * @property {Variant} [variant] which file to load; by default the best that this engine accepts
 * @property {(file: string, directory: string) => string} [locateFile] where `file` ("sqlite3mc.wasm",
 *   "sqlite3mc-relaxed.wasm" or "sqlite3mc-nosimd.wasm") is, as a URL
 * @property {ArrayBuffer | Uint8Array} [wasmBinary] the bytes of the .wasm file; nothing is loaded then
 * @property {(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module?: WebAssembly.Module) => void)
 *   => unknown} [instantiateWasm] replaces loading and instantiation
 * @property {(text: string) => void} [print] standard output, by default console.log
 * @property {(text: string) => void} [printErr] standard error, by default console.error
 */

// Bundlers know `new URL('literal', import.meta.url)`; computed names they do not see.
const FILES = {
  relaxed: () => new URL('../dist/sqlite3mc-relaxed.wasm', import.meta.url),
  simd: () => new URL('../dist/sqlite3mc.wasm', import.meta.url),
  nosimd: () => new URL('../dist/sqlite3mc-nosimd.wasm', import.meta.url),
};
const NAMES = { relaxed: 'sqlite3mc-relaxed.wasm', simd: 'sqlite3mc.wasm', nosimd: 'sqlite3mc-nosimd.wasm' };

/**
 * Does the engine accept a function of type () -> v128 with this body?
 * @param {number[]} body instructions, without the final `end`
 */
function validates(...body) {
  return WebAssembly.validate(
    Uint8Array.of(
      ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // "\0asm", version 1
      ...[1, 5, 1, 0x60, 0, 1, 0x7b], // one type: () -> v128
      ...[3, 2, 1, 0], // one function, of type 0
      ...[10, body.length + 4, 1, body.length + 2, 0, ...body, 0x0b], // its code, no locals
    ),
  );
}

const SPLAT_0 = [0x41, 0x00, 0xfd, 0x0f]; // i32.const 0, i8x16.splat
const RELAXED_SWIZZLE = [0xfd, 0x80, 0x02]; // i8x16.relaxed_swizzle

/**
 * The best variant that this engine accepts.
 * @returns {Variant}
 */
export function bestVariant() {
  if (validates(...SPLAT_0, ...SPLAT_0, ...RELAXED_SWIZZLE)) return 'relaxed';
  return validates(...SPLAT_0) ? 'simd' : 'nosimd';
}

/**
 * @param {(options: object) => Promise<any>} glue default export of dist/sqlite3mc-core.mjs
 * @param {InitOptions} [options] those above; others go to Emscripten as they are
 * @returns {Promise<{core: any, variant: Variant | undefined}>} Emscripten's module object, and what was
 *   loaded (undefined where the caller brought the code)
 */
export async function loadCore(glue, options = {}) {
  const { variant: wanted, locateFile, wasmBinary, ...rest } = options;
  if (wanted !== undefined && !Object.hasOwn(FILES, wanted)) {
    throw new TypeError(`variant: expected 'relaxed', 'simd' or 'nosimd', not ${JSON.stringify(wanted)}`);
  }
  const variant = wanted ?? bestVariant();
  const url = FILES[variant]().href;

  const instantiate =
    rest.instantiateWasm ??
    (wasmBinary &&
      (async (/** @type {WebAssembly.Imports} */ imports, /** @type {any} */ done) => {
        const { instance, module } = await WebAssembly.instantiate(/** @type {BufferSource} */ (wasmBinary), imports);
        done(instance, module);
      }));
  // One that throws or rejects would leave the glue waiting for ever.
  /** @type {(reason: unknown) => void} */
  let fail = () => {};
  const failed = new Promise((_, reject) => (fail = reject));
  const hook = instantiate && {
    instantiateWasm(/** @type {WebAssembly.Imports} */ imports, /** @type {any} */ done) {
      new Promise((resolve) => resolve(instantiate(imports, done))).catch(fail);
      return {};
    },
  };
  const core = glue({
    ...rest,
    ...hook,
    // The glue knows one file name only; the variant's takes its place.
    locateFile: (/** @type {string} */ file, /** @type {string} */ directory) => {
      if (!file.endsWith('.wasm')) return locateFile?.(file, directory) ?? directory + file;
      return locateFile?.(NAMES[variant], new URL('.', url).href) ?? url;
    },
  });
  return {
    core: await Promise.race([core, failed]),
    variant: instantiate ? undefined : variant,
  };
}
