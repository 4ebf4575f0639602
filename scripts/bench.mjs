// Benchmarks, from nothing: set-up, the modules, then bench/kernel.mjs and bench/database.mjs under Node 26.
// Prints both reports; their numbers are in build/bench.json as well.
//
//   node scripts/bench.mjs [--json] [--quick] [options of the two]
//
//   --json   print only the numbers
//   --quick  a minute instead of several, and rougher numbers
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD, Failure, ROOT, progress, readEnvironment, runMain } from './lib.mjs';
import { buildDist, buildKernelBench } from './build.mjs';

const json = process.argv.includes('--json');
const options = process.argv.slice(2).filter((option) => option !== '--json');
if (options.includes('--quick') && !options.some((option) => option.startsWith('--seconds='))) options.push('--seconds=8');

/**
 * @param {string} script of bench/
 * @param {string} node
 */
async function bench(script, node) {
  const file = path.join(ROOT, 'bench', script);
  const child = spawnSync(node, [file, '--json', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (child.status !== 0) throw new Failure(`bench/${script} failed.`);
  const result = JSON.parse(child.stdout);
  if (!json) {
    const { report } = await import(file);
    console.log(`\n${report(result)}`);
  }
  return result;
}

runMain(async () => {
  if (json) progress.stream = process.stderr;
  const quiet = json ? ['ignore', 2, 2] : 'inherit';
  const setup = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'setup.mjs'), '--for=bench'], {
    stdio: /** @type {import('node:child_process').StdioOptions} */ (quiet),
  });
  if (setup.status !== 0) throw new Failure('Set-up is not complete.');
  await buildDist();
  await buildKernelBench();
  const { node26 } = readEnvironment();
  const node = node26 ?? process.execPath;
  const result = { kernel: await bench('kernel.mjs', node), database: await bench('database.mjs', node) };
  fs.writeFileSync(path.join(BUILD, 'bench.json'), `${JSON.stringify(result, null, 2)}\n`);
  if (json) console.log(JSON.stringify(result, null, 2));
});
