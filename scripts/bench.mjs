// Benchmarks, from nothing: set-up, the modules, then bench/kernel.mjs, bench/aes.mjs, bench/hash.mjs and, for
// each scheme, bench/database.mjs under Node 26.
// Prints their reports; their numbers are in build/bench.json as well.
//
//   node scripts/bench.mjs [--json] [--quick] [options of the four]
//
//   --json   print only the numbers
//   --quick  a minute or two instead of many, and rougher numbers
//   --scheme=NAME  only the databases of this scheme
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BUILD, Failure, ROOT, output, progress, readEnvironment, runMain, which } from './lib.mjs';
import { buildDist, buildKernelBench } from './build.mjs';

const SCHEMES = ['chacha20', 'aes256cbc', 'sqlcipher', 'aegis', 'ascon128'];

const json = process.argv.includes('--json');
const options = process.argv.slice(2).filter((option) => option !== '--json');
if (options.includes('--quick') && !options.some((option) => option.startsWith('--seconds='))) options.push('--seconds=8');

// Prints how much work is done in a fifth of a second: eight chains that keep all of a core's adders busy.
const PROBE = `
  let work = 0, a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  for (const end = performance.now() + 200; performance.now() < end; work++) {
    for (let i = 0; i < 2000; i++) {
      a = (a + b) ^ i, c = (c + d) ^ i, e = (e + f) ^ i, g = (g + h) ^ i;
      b = (b ^ c) | 0, d = (d ^ e) | 0, f = (f ^ g) | 0, h = (h ^ a) | 0;
      a = (a << 3) ^ (a >>> 9), c = (c << 5) ^ (c >>> 7), e = (e << 4) ^ (e >>> 8), g = (g << 6) ^ (g >>> 5);
    }
  }
  console.log(work, a, c, e, g);`;

/**
 * What keeps a program on one processor, the one with the least to do. On a shared host the other thread of
 * a core may belong to a neighbour, who takes a third from a vector kernel; and where the scheduler moves
 * the program about, it may measure one variant here and another there.
 * @param {string} node
 * @returns {string[]} command and arguments to put before the program's; none where there is no taskset
 */
function onOneProcessor(node) {
  if (!which('taskset')) return [];
  const pin = (/** @type {number} */ i) => ['taskset', '-c', String(i)];
  const [best] = os
    .cpus()
    .slice(0, 16)
    .map((_, i) => ({ i, work: Number.parseInt(output('taskset', [...pin(i).slice(1), node, '-e', PROBE]) ?? '0') }))
    .filter(({ work }) => work > 0)
    .sort((a, b) => b.work - a.work);
  return best ? pin(best.i) : [];
}

/**
 * @param {string} script of bench/
 * @param {string} node
 * @param {string[]} [more] options
 */
async function bench(script, node, more = []) {
  const file = path.join(ROOT, 'bench', script);
  const [command, ...args] = [...onOneProcessor(node), node, file, '--json', ...options, ...more];
  const child = spawnSync(command, args, {
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
  const chosen = options.find((option) => option.startsWith('--scheme='))?.slice(9);
  /** @type {Record<string, unknown>} */
  const databases = {};
  const kernel = chosen ? undefined : await bench('kernel.mjs', node);
  const aes = chosen ? undefined : await bench('aes.mjs', node);
  const hash = chosen ? undefined : await bench('hash.mjs', node);
  for (const scheme of chosen ? [chosen] : SCHEMES) databases[scheme] = await bench('database.mjs', node, chosen ? [] : [`--scheme=${scheme}`]);
  const result = { kernel, aes, hash, databases };
  fs.writeFileSync(path.join(BUILD, 'bench.json'), `${JSON.stringify(result, null, 2)}\n`);
  if (json) console.log(JSON.stringify(result, null, 2));
});
