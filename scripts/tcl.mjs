// SQLite's own TCL tests ("veryquick") on our unit: plain, and with every database encrypted. What fails there
// and does not fail on the unpatched source on the same machine must stand in test/tcl/expected.json, with
// its reason.
//
//   node scripts/tcl.mjs [--runs=plain,chacha20,aes256cbc] [--stock=all] [--match=text] [--jobs=n] [--built]
//
//   --runs   which runs; default: all three. Other schemes go, too
//   --match  only the scripts with that text in their path
//   --built  the programs are built already
//   --stock  all: run every script on the stock program as well; default: those that failed on ours
//
// Tcl must be there: node scripts/setup.mjs --full. Each script runs in a process and a directory of its own. Output of what failed: build/tcl/RUN/SCRIPT.log.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { BUILD, Failure, JOBS, ROOT, mustRun, readEnvironment, run, runMain, step } from './lib.mjs';

/** @typedef {{script: string, tests: number, failed: string[]}} ScriptResult */

const RUNS = ['plain', 'chacha20', 'aes256cbc'];
const DIRECTORY = path.join(BUILD, 'tcl');
const EXPECTED = path.join(ROOT, 'test', 'tcl', 'expected.json');
/** A script that takes longer is ended and counts as failed. */
const PATIENCE = 20 * 60 * 1000;

/** @param {string} program */
const fixture = (program) => path.join(BUILD, 'native', 'test', 'tcl', program);

async function build() {
  const cmake = ['--preset', 'native', '-DSQLITE3MC_TCL=ON'];
  await mustRun('cmake', cmake);
  const targets = ['testfixture_stock', 'testfixture_mc'];
  await mustRun('cmake', ['--build', '--preset', 'native', '-j', JOBS, '--target', ...targets]);
}

/** The scripts of veryquick, as SQLite's own runner lists them, those that it takes for long ones first. */
async function listScripts() {
  const directory = path.join(DIRECTORY, 'list');
  fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(directory, { recursive: true });
  const { sqliteSrc } = readEnvironment();
  const runner = path.join(sqliteSrc, 'test', 'testrunner.tcl');
  await mustRun(fixture('testfixture_stock'), [runner, '--dryrun', 'veryquick'], { cwd: directory });
  const reader = path.join(directory, 'list.tcl');
  const sql = "SELECT cmd FROM jobs WHERE cmd LIKE '%.test' ORDER BY priority DESC, jobid";
  fs.writeFileSync(reader, `sqlite3 db testrunner.db\ndb eval {${sql}} {puts $cmd}\n`);
  const { code, text } = await run(fixture('testfixture_stock'), [reader], { cwd: directory });
  const scripts = text.split('\n').filter(Boolean).map((line) => line.split(' ').at(-1) ?? '');
  if (code !== 0 || scripts.length < 1000) throw new Failure(`veryquick has no list of scripts:\n${text.slice(-2000)}`);
  return scripts;
}

/**
 * Run one script. Tests that failed by name; "(no end)" if it crashed, hung or did not come to its end.
 * @param {string} run @param {string} script @returns {Promise<ScriptResult>}
 */
function runScript(run, script) {
  const name = path.basename(script, '.test');
  const log = path.join(DIRECTORY, run, `${name}.log`);
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sqlite3mc-tcl-'));
  const encrypted = run !== 'stock' && run !== 'plain';
  const env = { ...process.env, SQLITE3MC_TEST_CIPHER: encrypted ? run : undefined, TMPDIR: directory };
  const program = fixture(run === 'stock' ? 'testfixture_stock' : 'testfixture_mc');
  return new Promise((resolve) => {
    const child = spawn(program, [script], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
    child.on('close', () => {
      clearTimeout(timer);
      fs.rmSync(directory, { recursive: true, force: true });
      const sum = /^(\d+) errors out of (\d+) tests/m.exec(text);
      const list = /^!Failures on these tests: (.*)$/m.exec(text)?.[1] ?? '';
      const failed = list.split(' ').filter(Boolean);
      if (!sum || (sum[1] !== '0' && !failed.length)) failed.push('(no end)');
      if (failed.length) fs.writeFileSync(log, text);
      resolve({ script, tests: Number(sum?.[2] ?? 0), failed });
    });
  });
}

/** @param {string} run @param {string[]} scripts @param {number} jobs */
async function runScripts(run, scripts, jobs) {
  fs.rmSync(path.join(DIRECTORY, run), { recursive: true, force: true });
  fs.mkdirSync(path.join(DIRECTORY, run), { recursive: true });
  /** @type {ScriptResult[]} */
  const results = [];
  const left = [...scripts];
  const worker = async () => {
    for (let script = left.shift(); script; script = left.shift()) results.push(await runScript(run, script));
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  // Some tests measure time or wait for other processes: what failed beside another script is run again alone.
  for (const [i, result] of results.entries()) {
    if (jobs > 1 && result.failed.length) results[i] = await runScript(run, result.script);
  }
  return results;
}

/** @param {ScriptResult[]} results */
const failures = (results) =>
  results.flatMap(({ script, failed }) => failed.map((test) => `${path.basename(script, '.test')}: ${test}`)).sort();

/** @param {ScriptResult[]} results */
const countOf = (results) => results.reduce((sum, { tests }) => sum + tests, 0);

/**
 * Which entries of expected.json hold for a run: {reason, runs, tests}. The tests are regular expressions for
 * "script: test".
 * @param {string} run
 */
function expectedIn(run) {
  /** @type {{reason: string, runs: string[], tests: string[]}[]} */
  const entries = JSON.parse(fs.readFileSync(EXPECTED, 'utf8'));
  return entries
    .filter(({ runs }) => runs.includes(run) || (run !== 'plain' && runs.includes('encrypted')))
    .map((entry) => ({ ...entry, pattern: new RegExp(`^(?:${entry.tests.join('|')})$`) }));
}

/**
 * The TCL tests as suites for scripts/test.mjs: a failure is a test that fails on ours, neither on the stock
 * program nor as expected.
 * @param {{runs?: string[], match?: string, stockAll?: boolean, jobs?: number, built?: boolean,
 *   report?: typeof step}} [options] report: how steps are shown
 */
export async function tclTests({ runs = RUNS, match = '', stockAll = false, jobs = Number(JOBS), built = false, report = step } = {}) {
  if (!built) await report('build of the TCL tests', build);
  const all = await listScripts();
  const scripts = all.filter((script) => script.includes(match));
  /** @type {Map<string, ScriptResult[]>} */
  const results = new Map();
  for (const name of runs) {
    const done = await report(`TCL, ${name}`, () => runScripts(name, scripts, jobs), (list) =>
      `${countOf(list)} tests in ${list.length} scripts, ${failures(list).length} failed`);
    results.set(name, done);
  }
  const failed = new Set([...results.values()].flat().filter((result) => result.failed.length).map(({ script }) => script));
  const again = stockAll ? scripts : scripts.filter((script) => failed.has(script));
  const stock = await report('TCL, unpatched SQLite', () => runScripts('stock', again, jobs), (list) =>
    `${countOf(list)} tests in ${list.length} scripts, ${failures(list).length} failed`);
  const onStock = new Set(failures(stock));
  const total = { passed: 0, failed: 0, text: '' };
  if (onStock.size) total.text += `Fail on the unpatched source too:\n${[...onStock].map((line) => `  ${line}\n`).join('')}`;
  for (const [name, list] of results) {
    const expected = expectedIn(name);
    /** @type {Record<string, string[]>} */
    const byReason = {};
    const unexpected = [];
    for (const test of failures(list)) {
      if (onStock.has(test)) continue;
      const reason = expected.find(({ pattern }) => pattern.test(test))?.reason;
      if (reason) (byReason[reason] ??= []).push(test);
      else unexpected.push(test);
    }
    for (const [reason, tests] of Object.entries(byReason)) {
      total.text += `${name}: ${tests.length} tests fail as expected: ${reason}\n  ${tests.join('\n  ')}\n`;
    }
    if (unexpected.length) total.text += `${name}: FAILED\n  ${unexpected.join('\n  ')}\n`;
    total.failed += unexpected.length;
    total.passed += countOf(list) - failures(list).length;
  }
  return total;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: RUNS.join(',') },
      match: { type: 'string', default: '' },
      stock: { type: 'string', default: '' },
      jobs: { type: 'string', default: JOBS },
      built: { type: 'boolean', default: false },
    },
  });
  runMain(async () => {
    const result = await tclTests({
      runs: values.runs.split(','),
      match: values.match,
      stockAll: values.stock === 'all',
      jobs: Number(values.jobs),
      built: values.built,
    });
    console.log(result.text.trimEnd());
    console.log(`${result.passed} passed, ${result.failed} failed`);
    if (result.failed) process.exitCode = 1;
  });
}
