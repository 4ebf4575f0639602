// All tests, from nothing: set-up, builds, lints, C tests, Node tests, browser tests. Every suite runs even
// if one before it failed; the last line is the sum.
//
//   node scripts/test.mjs [--full]    --full: all C tests in all builds
//
// Uses nothing but Node until set-up has run.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildEverything } from './build.mjs';
import { BUILD, Failure, JOBS, PRESETS, ROOT, output, readEnvironment, run, runMain, step } from './lib.mjs';
import { lint } from './lint.mjs';
import { tclTests } from './tcl.mjs';

/** @typedef {{passed: number, failed: number, skipped?: number, text?: string}} Result */

/**
 * Which C tests run in which build: a ctest label expression; '' is all, '!x' all but x. The slow ones, which
 * fail every call and every allocation, run natively; --full runs them in all builds.
 * @type {Record<string, string>}
 */
const C_TESTS = {
  native: '',
  'native-clang': '!slow',
  'native-asan': '!slow',
  'native-aarch64': 'crypto',
  wasm: '!slow',
  'wasm-relaxed': 'crypto|fixtures',
  'wasm-simd128': 'crypto',
  'wasm-nosimd': 'crypto|fixtures',
};

/**
 * Builds whose C tests, unless all are asked for, run for some of the schemes: one with and one without
 * tags.
 * @type {Record<string, string>}
 */
const C_SCHEMES = { wasm: 'chacha20,aes256cbc,sqlcipher', 'native-clang': 'chacha20,aes256cbc', 'native-asan': 'chacha20,aes256cbc' };

/** @param {string} labels */
function labelArguments(labels) {
  if (!labels) return [];
  return labels.startsWith('!') ? ['-LE', labels.slice(1)] : ['-L', labels];
}

/**
 * The C tests of one build. A program that prints "N passed, N failed" counts as that many tests, another
 * one as a single test.
 * @param {string} preset
 * @param {boolean} full
 * @returns {Promise<Result>}
 */
async function cTests(preset, full) {
  const labels = full ? '' : C_TESTS[preset];
  const env = { ...process.env };
  if (!full && C_SCHEMES[preset]) env.SQLITE3MC_TEST_SCHEMES = C_SCHEMES[preset];
  const { text } = await run('ctest', ['--preset', preset, '-V', '-j', JOBS, ...labelArguments(labels)], { env });
  const total = { passed: 0, failed: 0, text: '' };
  let programs = 0;
  for (const [, number, name, outcome] of text.matchAll(/^ *\d+\/\d+ Test +#(\d+): (\S+) \.*(.*?) +[\d.]+ sec/gm)) {
    const passed = outcome.trim() === 'Passed';
    const lines = text.split('\n').filter((line) => line.startsWith(`${number}: `));
    const sum = lines.map((line) => /^\d+: (\d+) passed, (\d+) failed$/.exec(line)).findLast(Boolean);
    programs++;
    total.passed += sum ? Number(sum[1]) : Number(passed);
    total.failed += sum ? Number(sum[2]) : 0;
    if (passed) continue;
    if (!sum || sum[2] === '0') total.failed++; // it crashed, or a sanitizer had something to say at the end
    total.text += `${name} [${preset}]: ${outcome.trim()}\n${lines.slice(-200).join('\n')}\n`;
  }
  if (!programs) throw new Failure(`ctest --preset ${preset} ran no test:\n${text.slice(-2000)}`);
  return total;
}

/** @returns {Promise<Result>} */
async function nodeTests() {
  const directory = path.join(ROOT, 'test', 'node');
  const tests = fs.readdirSync(directory).filter((name) => name.endsWith('.test.mjs'));
  const args = ['--test', '--test-reporter=tap', ...tests.map((name) => path.join('test', 'node', name))];
  const { code, text } = await run(process.execPath, args);
  const sum = (/** @type {string} */ name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? NaN);
  const result = {
    passed: sum('pass'),
    failed: sum('fail') + sum('cancelled'),
    skipped: sum('skipped') + sum('todo'),
    text: code === 0 ? '' : text,
  };
  if (Number.isNaN(result.passed + result.failed)) throw new Failure(`node --test gave no sum:\n${text.slice(-4000)}`);
  if (code !== 0 && result.failed === 0) result.failed = 1;
  return result;
}

/** @returns {Promise<Result>} */
async function browserTests() {
  const report = path.join(BUILD, 'playwright.json');
  fs.rmSync(report, { force: true });
  const { chromium, firefox } = readEnvironment();
  const { code, text } = await run(
    process.execPath,
    [path.join(ROOT, 'node_modules', '@playwright', 'test', 'cli.js'), 'test', '-c', 'test/browser', '--reporter=list,json'],
    {
      env: {
        ...process.env,
        PLAYWRIGHT_JSON_OUTPUT_NAME: report,
        CHROMIUM: chromium ?? undefined,
        FIREFOX: firefox ?? undefined,
      },
    },
  );
  if (!fs.existsSync(report)) throw new Failure(`Playwright made no report:\n${text.slice(-4000)}`);
  const { stats } = JSON.parse(fs.readFileSync(report, 'utf8'));
  const result = {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    text: code === 0 ? '' : text,
  };
  if (code !== 0 && result.failed === 0) result.failed = 1;
  return result;
}

/** The first line of each tool's version text that has a number. */
function showVersions() {
  const { emcc, chromium, firefox } = readEnvironment();
  console.log('tools');
  for (const tool of ['node', 'npm', 'cmake', 'gcc', 'clang', 'clang-format', 'clang-tidy', emcc, chromium, firefox]) {
    const line = (tool && output(tool, ['--version']))?.split('\n').find((text) => /\d/.test(text));
    console.log(`  ${path.basename(tool ?? '').padEnd(14)} ${line?.trim() ?? 'not found'}`);
  }
}

const { values: options } = parseArgs({ options: { full: { type: 'boolean', default: false } } });

runMain(async () => {
  console.log('set-up');
  const setup = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'setup.mjs'), '--for=test', ...(options.full ? ['--full'] : [])], { stdio: 'inherit' });
  if (setup.status !== 0) throw new Failure('The tests did not run: set-up is not complete.');

  showVersions();

  console.log('build');
  await buildEverything(options.full);

  const total = { passed: 0, failed: 0, skipped: 0 };
  /** Suites that gave no sum. @type {string[]} */
  const broken = [];
  /** @param {string} name @param {() => Promise<Result>} suite */
  const runSuite = async (name, suite) => {
    try {
      const result = await step(name, suite, ({ passed, failed, skipped }) =>
        `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
      total.passed += result.passed;
      total.failed += result.failed;
      total.skipped += result.skipped ?? 0;
      if (result.text) console.log(result.text.trimEnd());
    } catch (error) {
      broken.push(name);
      console.log(error instanceof Failure ? error.message : error.stack);
    }
  };

  console.log('lint');
  try {
    const { passed, failed } = await lint();
    total.passed += passed;
    total.failed += failed;
  } catch (error) {
    broken.push('lint');
    console.log(error instanceof Failure ? error.message : error.stack);
  }

  console.log('tests');
  for (const preset of Object.keys(C_TESTS)) {
    await runSuite(`C, ${preset}`, () => cTests(preset, options.full && !PRESETS.cross.includes(preset)));
  }
  if (options.full) await runSuite("SQLite's own, in TCL", () => tclTests({ report: (_, work) => work() }));
  await runSuite('Node', nodeTests);
  await runSuite('Chromium and Firefox', browserTests);

  console.log();
  if (broken.length) throw new Failure(`Without a result: ${broken.join(', ')}. No sum of all tests is known.`);
  if (total.skipped) console.log(`${total.skipped} skipped`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  if (total.failed) process.exitCode = 1;
});
