// The other process of node-host-harness.mjs: JSON lines in, JSON lines out.
import readline from 'node:readline';

import { makeSqlite } from './node-host-harness.mjs';

const lib = await makeSqlite();
/** @type {Record<string, any>} */
const v = {};

for await (const line of readline.createInterface({ input: process.stdin })) {
  let answer;
  try {
    const value = await new Function('lib', 'v', `return (${JSON.parse(line)});`)(lib, v);
    answer = { value: value === undefined || typeof value === 'object' ? null : value };
  } catch (error) {
    answer = error.resultCode === undefined ? { error: String(error.stack) } : { value: { code: error.resultCode } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
