/**
 * The types that are published: made by tsc from js/, and used here by a program under --strict.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const tsc = (/** @type {string[]} */ ...args) =>
  spawnSync(process.execPath, [`${ROOT}node_modules/typescript/bin/tsc`, ...args], { cwd: ROOT, encoding: 'utf8' });

test('a strict TypeScript program uses the package by its name', () => {
  const made = tsc('-p', 'tsconfig.types.json');
  assert.equal(made.stdout + made.stderr, '');
  const options = ['--strict', '--noEmit', '--target', 'ES2022', '--module', 'NodeNext', '--lib', 'ES2023,DOM', '--types', 'node'];
  const used = tsc('--ignoreConfig', ...options, 'test/node/api-types.sample.mts');
  assert.equal(used.stdout + used.stderr, '');
});

test('every file that the types refer to is there', () => {
  const directory = `${ROOT}dist/types/`;
  const files = fs.readdirSync(directory);
  for (const file of files) {
    const text = fs.readFileSync(directory + file, 'utf8');
    for (const [, name] of text.matchAll(/["'](\.\.?\/[^"']+)["']/g)) {
      assert.ok(files.includes(name.replace(/^\.\//, '').replace(/\.js$/, '.d.ts')), `${file} refers to ${name}`);
    }
  }
});
