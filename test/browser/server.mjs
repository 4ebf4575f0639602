/**
 * A static file server on 127.0.0.1 for the tests, with or without the headers that allow
 * SharedArrayBuffer.
 */
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/**
 * @param {string} root directory that "/" stands for
 * @param {boolean} isolated send COOP and COEP
 * @returns {Promise<{origin: string, close: () => Promise<void>}>}
 */
export async function serve(root, isolated) {
  const headers = isolated
    ? {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
        'Cross-Origin-Resource-Policy': 'same-origin',
      }
    : {};
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = path.join(root, path.normalize(decodeURIComponent(pathname)));
    if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404, headers).end();
      return;
    }
    const type = TYPES[/** @type {keyof TYPES} */ (path.extname(file))] ?? 'application/octet-stream';
    response.writeHead(200, { ...headers, 'Content-Type': type, 'Cache-Control': 'no-cache' });
    fs.createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
