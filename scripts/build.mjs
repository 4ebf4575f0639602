// Configures and builds presets, one line each:
//
//   node scripts/build.mjs [preset...]     default: the three wasm modules that are published, into dist/
//
// Set-up must have run (node scripts/setup.mjs).
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD, CACHE, ENV_JSON, Failure, JOBS, PRESETS, ROOT, mustRun, readEnvironment, runMain, step } from './lib.mjs';

/**
 * @param {string} preset
 * @param {import('./lib.mjs').Environment} environment
 */
async function buildPreset(preset, environment) {
  const directory = path.join(BUILD, preset);
  const settings = [`-DSQLITE3MC_SQLITE_SRC=${environment.sqliteSrc}`];
  if (preset.startsWith('wasm')) {
    settings.push(`-DEMCC=${environment.emcc}`);
    // The newest Node tells most about relaxed SIMD; where it is not installed, this one runs the tests.
    if (preset === 'wasm-relaxed' && environment.node26) settings.push(`-DSQLITE3MC_NODE=${environment.node26}`);
  }
  // CMake keeps the compiler of its first run: another one needs a new start.
  const cache = path.join(directory, 'CMakeCache.txt');
  if (preset.startsWith('wasm') && fs.existsSync(cache)) {
    const known = /^EMCC:[A-Z]+=(.*)$/m.exec(fs.readFileSync(cache, 'utf8'));
    if (known?.[1] !== environment.emcc) fs.rmSync(directory, { recursive: true, force: true });
  }
  await mustRun('cmake', ['--preset', preset, ...settings]);
  await mustRun('cmake', ['--build', '--preset', preset, '-j', JOBS]);
}

/** @param {string[]} presets */
export async function build(presets) {
  if (!fs.existsSync(ENV_JSON)) throw new Failure('Nothing is set up yet: run `node scripts/setup.mjs`.');
  const environment = readEnvironment();
  for (const preset of presets) {
    const first = !fs.existsSync(path.join(CACHE, 'emscripten-cache')) && preset.startsWith('wasm');
    await step(`build ${preset}`, () => buildPreset(preset, environment), () =>
      first ? 'the first build makes the system libraries of Emscripten too' : '');
  }
  if (PRESETS.dist.every((preset) => presets.includes(preset))) {
    await mustRun(process.execPath, [path.join(ROOT, 'scripts', 'dist.mjs'), '--check']);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const presets = process.argv.slice(2);
  runMain(() => build(presets.length ? presets : PRESETS.dist));
}
