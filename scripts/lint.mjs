// Checks the shape and the meaning of the sources:
//
//   node scripts/lint.mjs [--fix]    --fix: let clang-format and eslint mend what they can
//
// clang-tidy needs the build directory of preset native-clang.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { BUILD, Failure, JOBS, ROOT, run, runMain, step } from './lib.mjs';

const C_DIRECTORIES = ['bench', 'native', 'test', 'wasm'];

/** @param {string} extension @returns {string[]} our C files, relative to ROOT */
function cFiles(extension) {
  return C_DIRECTORIES.flatMap((directory) =>
    fs
      .readdirSync(path.join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(extension))
      .map((name) => path.join(directory, name))
      .sort(),
  );
}

const bin = (/** @type {string} */ name) => path.join(ROOT, 'node_modules', '.bin', name);

/** @param {boolean} fix */
function clangFormat(fix) {
  return run('clang-format', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...cFiles('.c'), ...cFiles('.h')]);
}

/** All files of the codec in one, and where each of them begins: [line, file]. */
function joinCodec() {
  let text = '';
  /** @type {[number, string][]} */
  const starts = [];
  const unit = fs.readFileSync(path.join(ROOT, 'wasm', 'sqlite3mc.c'), 'utf8');
  for (const [, name] of unit.matchAll(/^#include "(codec\/.*\.c)"/gm)) {
    const file = path.join('wasm', name);
    starts.push([text.split('\n').length, file]);
    text += fs.readFileSync(path.join(ROOT, file), 'utf8').replace('#include "codec.h"', '');
  }
  return { text, starts };
}

/**
 * How clang-tidy is called for the sources: with the compile command of their unit. The files of the codec
 * are part of the unit that includes all of SQLite, which takes clang-tidy half a minute each time: they
 * are looked at as one file, after what stands before them in that unit.
 */
function tidyCommands() {
  const directory = path.join(BUILD, 'native-clang');
  const database = path.join(directory, 'compile_commands.json');
  if (!fs.existsSync(database)) throw new Failure('clang-tidy needs preset native-clang: run `npm run build native-clang`.');
  /** @type {{file: string, command: string}[]} */
  const units = JSON.parse(fs.readFileSync(database, 'utf8'));
  const unitFiles = new Set(units.map((unit) => path.relative(ROOT, unit.file)));
  const before = path.join(directory, 'before_codec.h');
  fs.writeFileSync(before, '#include <sqlite3.c>\n#include "sqlite3mc.h"\n#include "codec/codec.h"\n');
  const { text, starts } = joinCodec();
  const joined = path.join(directory, 'codec.c');
  fs.writeFileSync(joined, text);
  // compiler flags... -o object -c source
  const command = units.find((unit) => unit.file.endsWith('/wasm/sqlite3mc.c'))?.command ?? '';
  const flags = command
    .replace(/^\S+ | -[oc] \S+/g, '')
    .replaceAll('\\"', '"')
    .split(' ')
    .filter((flag) => flag && flag !== '-Werror');
  const codec = path.join(ROOT, 'wasm', 'codec');
  const commands = [[joined, '--', ...flags, `-I${codec}`, '-include', before]];
  for (const file of cFiles('.c')) {
    if (unitFiles.has(file) && !file.endsWith('wasm/sqlite3mc.c')) commands.push([file, '-p', directory]);
  }
  /** @param {string} output with places in the joined file */
  const places = (output) =>
    output.replaceAll(new RegExp(`${joined}:(\\d+)`, 'g'), (_, line) => {
      const [start, file] = /** @type {[number, string]} */ (starts.findLast(([first]) => first <= Number(line)));
      return `${file}:${Number(line) - start + 1}`;
    });
  return { commands, places };
}

async function clangTidy() {
  const { commands, places } = tidyCommands();
  let code = 0;
  let text = '';
  const work = async () => {
    for (let command = commands.shift(); command; command = commands.shift()) {
      const result = await run('clang-tidy', ['--quiet', ...command]);
      if (result.code === 0) continue;
      code = 1;
      text += result.text;
    }
  };
  await Promise.all(Array.from({ length: Number(JOBS) }, work));
  return { code, text: places(text).replace(/^\d+ warnings? .*generated\.\n|^Suppressed .*\n|^Use -header-filter.*\n/gm, '') };
}

/**
 * Run all checks and print their findings.
 * @param {boolean} fix
 * @returns {Promise<{passed: number, failed: number}>}
 */
export async function lint(fix = false) {
  /** @type {[string, () => Promise<{code: number, text: string}>][]} */
  const checks = [
    ['clang-format', () => clangFormat(fix)],
    ['clang-tidy', clangTidy],
    ['eslint', () => run(bin('eslint'), ['--max-warnings=0', ...(fix ? ['--fix'] : []), '.'])],
    ['tsc', () => run(bin('tsc'), ['-p', '.'])],
    // which looks at the types that are made from the sources
    ['types', () => run(bin('tsc'), ['-p', 'tsconfig.types.json'])],
    ['publint', () => run(bin('publint'), ['--strict'])],
  ];
  const total = { passed: 0, failed: 0 };
  for (const [name, check] of checks) {
    const { code, text } = await step(name, check, (result) => (result.code === 0 ? '' : 'FAILED'));
    total[code === 0 ? 'passed' : 'failed']++;
    if (code !== 0) console.log(text.trimEnd());
  }
  return total;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { fix: { type: 'boolean', default: false } } });
  runMain(async () => {
    if (!fs.existsSync(bin('eslint'))) throw new Failure('The npm packages are missing: run `node scripts/setup.mjs`.');
    const { failed } = await lint(values.fix);
    if (failed) process.exitCode = 1;
  });
}
