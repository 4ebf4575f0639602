/**
 * Playwright's `test` with two fixtures: `isolated` and `plain` are the origins of a server with and
 * without COOP/COEP. startWorker() gives a worker of the page with SQLite in it.
 */
import { test as base } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { serve } from './server.mjs';

const ROOT = process.env.SQLITE3MC_TEST_ROOT ?? fileURLToPath(new URL('../..', import.meta.url));

/** @param {boolean} isolated */
const origin = (isolated) => [
  async (/** @type {{}} */ {}, /** @type {(origin: string) => Promise<void>} */ use) => {
    const server = await serve(ROOT, isolated);
    await use(server.origin);
    await server.close();
  },
  { scope: 'worker' },
];

export const test = /** @type {any} */ (base).extend({ isolated: origin(true), plain: origin(false) });
export { expect } from '@playwright/test';

/**
 * Opens the test page (again). Workers of the page that was there are gone then.
 * @param {import('@playwright/test').Page} page
 * @param {string} origin
 */
export async function open(page, origin) {
  await page.goto(`${origin}/test/browser/page.html`);
  await page.evaluate(() => {
    const workers = /** @type {any[]} */ ((window.workers = []));
    window.startWorker = (patience) =>
      new Promise((resolve, reject) => {
        const worker = new Worker('worker.mjs', { type: 'module' });
        const waiting = new Map();
        const timer = setTimeout(() => {
          worker.terminate();
          resolve(undefined);
        }, patience);
        worker.onerror = (event) => reject(new Error(`worker: ${event.message} (${event.filename}:${event.lineno})`));
        worker.onmessage = ({ data }) => {
          clearTimeout(timer);
          if (data.id === 0) resolve(workers.push({ worker, waiting }) - 1);
          else waiting.get(data.id)(data);
        };
      });
    let lastId = 0;
    window.callWorker = (index, source, args) =>
      new Promise((resolve) => {
        const { worker, waiting } = workers[index];
        waiting.set(++lastId, resolve);
        worker.postMessage({ id: lastId, source, args });
      });
  });
}

/** A worker that has not started by then, in milliseconds, is given up. */
const START_PATIENCE = 30_000;

/**
 * A worker of the page, with SQLite started and no file opened yet.
 *
 * In a new process, Firefox (ESR 153, two cores) sometimes blocks a worker for ever while it starts a
 * WebAssembly program, the one of @sqlite.org/sqlite-wasm as well as ours: the thread sleeps in the engine and
 * runs no timer. Another worker of the same page then starts. So a second one is tried, and no third.
 * @param {import('@playwright/test').Page} page
 */
export async function startWorker(page) {
  const start = () => page.evaluate((patience) => window.startWorker(patience), START_PATIENCE);
  let index = await start();
  if (index === undefined) {
    console.log('    a worker did not start; another one is tried');
    index = await start();
  }
  if (index === undefined) throw new Error('Two workers did not start.');
  return {
    /**
     * Runs `fn(tools, ...args)` in the worker. It cannot use variables of the test.
     * @param {(tools: any, ...args: any[]) => any} fn
     * @param {any[]} args
     */
    async run(fn, ...args) {
      const { result, error } = await page.evaluate(([i, source, values]) => window.callWorker(i, source, values), [index, String(fn), args]);
      if (error) throw Object.assign(new Error(`${error.name}: ${error.message}`), { code: error.code, remoteStack: error.stack });
      return result;
    },
    /** Ends the worker in the middle of whatever it does. */
    terminate: () => page.evaluate((i) => window.workers[i].worker.terminate(), index),
  };
}
