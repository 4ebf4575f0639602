/**
 * The worker of a test: starts SQLite, then runs the functions that the test sends (as source text) one
 * after another. `tools` is kept from one to the next.
 */
import sqlite3InitModule from '/js/index.js';

const tools = { sqlite3: await sqlite3InitModule() };

onmessage = async ({ data: { id, source, args } }) => {
  try {
    const run = (0, eval)(`(${source})`);
    postMessage({ id, result: await run(tools, ...args) });
  } catch (error) {
    postMessage({ id, error: { name: error.name, message: error.message, code: error.resultCode, stack: error.stack } });
  }
};
postMessage({ id: 0 });
