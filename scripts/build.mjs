// Configures and builds presets, one line each:
//
//   node scripts/build.mjs [preset...]
//
// Without a preset: what is published, into dist/, and no test programs. Set-up must have run
// (node scripts/setup.mjs).
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD, CACHE, ENV_JSON, Failure, JOBS, PRESETS, ROOT, mustRun, readEnvironment, runMain, step } from './lib.mjs';

/**
 * @param {string} preset
 * @param {import('./lib.mjs').Environment} environment
 * @param {string[]} targets
 */
async function buildPreset(preset, environment, targets) {
  const directory = path.join(BUILD, preset);
  const settings = [`-DSQLITE3MC_SQLITE_SRC=${environment.sqliteSrc}`];
  if (preset.startsWith('wasm')) {
    settings.push(`-DEMCC=${environment.emcc}`, `-DSQLITE3MC_EMCC_VERSION=${environment.emccVersion}`);
    // The newest Node tells most about relaxed SIMD; where it is not installed, this one runs the tests.
    if (preset === 'wasm-relaxed' && environment.node26) settings.push(`-DSQLITE3MC_NODE=${environment.node26}`);
  }
  const cache = path.join(directory, 'CMakeCache.txt');
  const known = fs.existsSync(cache) ? fs.readFileSync(cache, 'utf8') : '';
  const changed = settings.filter((setting) => {
    const [name, value] = setting.slice(2).split('=');
    return new RegExp(`^${name}:\\w+=(.*)$`, 'm').exec(known)?.[1] !== value;
  });
  // CMake keeps the compiler of its first run: another one, or another version, needs a new start.
  if (known && changed.some((setting) => /EMCC/.test(setting))) fs.rmSync(directory, { recursive: true, force: true });
  // A configured directory looks after itself: the build tool runs CMake again when its files change.
  const configured = ['Makefile', 'build.ninja'].some((name) => fs.existsSync(path.join(directory, name)));
  if (changed.length || !configured) await mustRun('cmake', ['--preset', preset, ...settings]);
  await mustRun('cmake', ['--build', '--preset', preset, '-j', JOBS, '--target', ...targets]);
}

/**
 * @param {string[]} presets
 * @param {(preset: string) => string[]} [targets] of CMake
 */
async function buildAll(presets, targets = () => ['all']) {
  if (!fs.existsSync(ENV_JSON)) throw new Failure('Nothing is set up yet: run `node scripts/setup.mjs`.');
  const environment = readEnvironment();
  for (const preset of presets) {
    const first = !fs.existsSync(path.join(CACHE, 'emscripten-cache')) && preset.startsWith('wasm');
    await step(`build ${preset}`, () => buildPreset(preset, environment, targets(preset)), () =>
      first ? 'the first build makes the system libraries of Emscripten too' : '');
  }
}

const checkDist = () => mustRun(process.execPath, [path.join(ROOT, 'scripts', 'dist.mjs'), '--check']);

/** The published files, in dist/. */
export async function buildDist() {
  await buildAll(PRESETS.dist, () => ['sqlite3mc_module']);
  await checkDist();
}

/** The kernels alone, for bench/kernel.mjs. */
export const buildKernelBench = () => buildAll(PRESETS.dist, () => ['kernel_bench']);

/**
 * What of a build the usual tests need, where that is not all: these builds differ from others in their
 * vector code only. An emulator never gets more.
 * @type {Record<string, string[]>}
 */
const TESTED = {
  'native-aarch64': ['cryptotest'],
  'wasm-relaxed': ['sqlite3mc_module', 'cryptotest', 'fixtures_test'],
  'wasm-simd128': ['cryptotest'],
  'wasm-nosimd': ['sqlite3mc_module', 'cryptotest', 'fixtures_test'],
};

/**
 * All builds, with their tests.
 * @param {boolean} full every test in every build
 */
export async function buildEverything(full) {
  const whole = (/** @type {string} */ preset) => !TESTED[preset] || (full && !PRESETS.cross.includes(preset));
  await buildAll([...PRESETS.native, ...PRESETS.cross, ...PRESETS.wasm], (preset) => (whole(preset) ? ['all'] : TESTED[preset]));
  await checkDist();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const presets = process.argv.slice(2);
  runMain(() => (presets.length ? buildAll(presets) : buildDist()));
}
