// From nothing to an encrypted database: set-up, the three wasm modules, and examples/node/encrypted.mjs.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { buildDist } from './build.mjs';
import { Failure, ROOT, runMain } from './lib.mjs';

/** @param {string[]} args */
function node(...args) {
  const child = spawnSync(process.execPath, [path.join(ROOT, args[0]), ...args.slice(1)], { stdio: 'inherit' });
  if (child.status !== 0) throw new Failure(`${args[0]} failed.`);
}

runMain(async () => {
  console.log('set-up');
  node('scripts/setup.mjs', '--for=start');
  console.log('build');
  await buildDist();
  console.log('\nexamples/node/encrypted.mjs');
  node('examples/node/encrypted.mjs');
});
