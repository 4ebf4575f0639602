#!/usr/bin/env node
/**
 * Writes the woven part of the ChaCha20-Poly1305 page kernel: node scripts/weave.mjs OUT.h
 *
 * A processor has vector units and integer multipliers, and runs both at once if it finds work for both
 * within the few hundred instructions that it looks ahead. So two straight-line programs are woven
 * statement by statement: a vector one, a double round of ChaCha20 on eight blocks, and a scalar one,
 * Poly1305 of three blocks. Ten such turns, the last nine as a loop, make a group of 512 bytes.
 *
 * The compiler may not regroup them: after each statement an empty asm, V_PIN or PIN, says that the
 * value has changed. Pinning only one of the two programs does not help.
 *
 * Eight blocks, because a double round of four is a chain of 28 vector operations and current
 * processors take two cycles for each; with two groups of four they always have something to do. The
 * 32 state vectors do not fit in 16 registers, but loads and stores go to units that are idle here.
 * One double round a turn, because the loop must fit in the cache of decoded instructions, of which a
 * neighbour on the same core may use half.
 *
 * The counter is in column 0 only. What the first round makes of the other three columns is the same for
 * all blocks of a page: it is part of the input, and the first turn leaves it out.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Poly1305 blocks in the first turn and in each of the nine others. A group of 512 bytes has 32, a last one 31. */
const FIRST_BLOCKS = 4;
const LOOP_BLOCKS = 3;
const WOVEN_BLOCKS = FIRST_BLOCKS + 9 * LOOP_BLOCKS;

/** Steps of one group before the other has its turn: half a quarter round in each of its four columns. */
const STRIDE = 6 * 4;

/**
 * One assignment in C, and the variable that a pin follows for.
 * @typedef {{ text: string, pin?: string }} Statement
 */

/**
 * A quarter round on four blocks at once: four vectors, each of them one state word of the four blocks.
 * A rotation by 12 or 7 is one step of three statements. The shifted copy needs no pin: its other half has one.
 *
 * @param {string[]} words a, b, c, d
 * @param {string} copy name for the shifted copies
 * @returns {Statement[][]} steps
 */
function quarterRound([a, b, c, d], copy) {
  /** @type {(name: string, value: string) => Statement[]} */
  const set = (name, value) => [{ text: `${name} = ${value};`, pin: `V_PIN(${name});` }];
  /** @type {(rotated: string, n: number) => Statement[][]} */
  const half = (rotated, n) => [
    set(a, `V_ADD(${a}, ${b})`),
    set(d, `V_XOR(${d}, ${a})`),
    set(d, rotated),
    set(c, `V_ADD(${c}, ${d})`),
    set(b, `V_XOR(${b}, ${c})`),
    [
      { text: `V ${copy}_${n} = V_ROTL_HIGH(${b}, ${n});` },
      ...set(b, `V_ROTL_LOW(${b}, ${n})`),
      ...set(b, `V_ROTL_JOIN(${b}, ${copy}_${n}, ${n})`),
    ],
  ];
  return [...half(`V_ROTL16(${d}, masks)`, 12), ...half(`V_ROTL8(${d}, masks)`, 7)];
}

/**
 * The four columns of a group of four blocks, or its four diagonals, in step.
 *
 * @param {'x' | 'y'} group
 * @param {0 | 1} diagonal
 */
function round(group, diagonal) {
  const quarters = [0, 1, 2, 3].map((i) => {
    const words = [0, 1, 2, 3].map((row) => `${group}${4 * row + ((i + row * diagonal) % 4)}`);
    return quarterRound(words, `${group}${diagonal ? 'd' : 'c'}${i}`);
  });
  return quarters[0].flatMap((_, step) => quarters.map((quarter) => quarter[step]));
}

/**
 * Two programs side by side, each for STRIDE steps.
 *
 * @param {Statement[][]} x
 * @param {Statement[][]} y
 */
function inTurns(x, y) {
  /** @type {Statement[]} */
  const out = [];
  for (let i = 0; i < x.length; i += STRIDE) {
    out.push(...x.slice(i, i + STRIDE).flat(), ...y.slice(i, i + STRIDE).flat());
  }
  return out;
}

/** A double round of both groups: x is blocks 0 to 3, y is blocks 4 to 7. */
const doubleRound = () => [...inTurns(round('x', 0), round('y', 0)), ...inTurns(round('x', 1), round('y', 1))];

/** The first double round: of its columns only that with the counter. */
const firstDoubleRound = () => [
  ...inTurns(quarterRound(['x0', 'x4', 'x8', 'x12'], 'xc0'), quarterRound(['y0', 'y4', 'y8', 'y12'], 'yc0')),
  ...inTurns(round('x', 1), round('y', 1)),
];

/**
 * Poly1305 of the block at m + 16*i: the arithmetic of poly1305_limbs.h, each carry taken as soon as its
 * sum is there.
 *
 * @param {number} i
 * @returns {Statement[]}
 */
function poly1305Block(i) {
  /** @type {(name: string, value: string) => Statement} */
  const let64 = (name, value) => ({ text: `uint64_t ${name} = ${value};`, pin: `PIN(${name});` });
  /** @type {(name: string, op: string, value: string) => Statement} */
  const set = (name, op, value) => ({ text: `${name} ${op} ${value};`, pin: `PIN(${name});` });
  const [d0, d1, d2, d3] = [0, 1, 2, 3].map((k) => `d${k}_${i}`);

  // t * r for the four limbs, then what the bit above the block adds.
  /** @type {(d: string, factors: string[], constants: string[]) => Statement[]} */
  const sum = (d, factors, constants) => [
    ...factors.flatMap((r, k) =>
      k === 0
        ? [let64(d, `t0_${i} * ${r}`)]
        : [let64(`${d}_${k}`, `t${k}_${i} * ${r}`), set(d, '+=', `${d}_${k}`)],
    ),
    ...constants.map((s) => set(d, '+=', s)),
  ];
  return [
    ...[0, 1, 2, 3].map((k) => let64(`t${k}_${i}`, `h${k} + LOAD32(m + ${16 * i + 4 * k})`)),
    ...sum(d2, ['r2', 'r1', 'r0', 's3'], ['s2']),
    ...sum(d3, ['r3', 'r2', 'r1', 'r0'], ['s3', 'r0_top']),
    set(d3, '+=', `${d2} >> 32`),
    ...sum(d0, ['r0', 's3', 's2', 's1'], []),
    ...sum(d1, ['r1', 'r0', 's3', 's2'], ['s1']),
    set(d1, '+=', `${d0} >> 32`),
    let64(`c_${i}`, `(${d3} >> 34) * 5`),
    set('h0', '=', `(uint32_t)${d0}`),
    set('h0', '+=', `c_${i}`),
    set('h1', '=', `(uint32_t)${d1}`),
    set('h2', '=', `(uint32_t)${d2}`),
    set('h2', '+=', `${d1} >> 32`),
    set('h3', '=', `${d3} & 0x3ffffffff`),
  ];
}

/** @param {number} n blocks from m on */
const poly1305 = (n) => Array.from({ length: n }, (_, i) => poly1305Block(i)).flat();

/**
 * Spread two programs evenly over one; each keeps its own order.
 *
 * @param {Statement[]} a
 * @param {Statement[]} b
 */
function weave(a, b) {
  const out = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    // Of the two next statements, which has its middle first when both programs are one long?
    if ((2 * i + 1) * b.length <= (2 * j + 1) * a.length) out.push(a[i++]);
    else out.push(b[j++]);
  }
  return out;
}

/** @param {Statement[]} statements */
const lines = (statements) => statements.map(({ text, pin }) => `        ${text}${pin ? ` ${pin}` : ''}`).join('\n');

/**
 * A group from its input to its XOR, around the ten turns in `turns`.
 *
 * @param {string} turns
 */
function group(turns) {
  const words = Array.from({ length: 16 }, (_, i) => i);
  const input = (/** @type {string} */ name, /** @type {number} */ i) =>
    name === 'y' && i === 12 ? 's->counter_y' : `s->word[${i}]`;
  const begin = (/** @type {number} */ i) =>
    i % 4 === 0 ? `V x${i} = ${input('x', i)}, y${i} = ${input('y', i)};` : `V x${i} = s->column[${i}], y${i} = x${i};`;
  const end = (/** @type {string} */ name, /** @type {number} */ i) => `${name}${i} = V_ADD(${name}${i}, ${input(name, i)});`;
  const output = (/** @type {string} */ name, /** @type {number} */ offset) =>
    [0, 4, 8, 12].map((i) => {
      const four = [0, 1, 2, 3].map((k) => `${name}${i + k}`).join(', ');
      return `    xor_words(out + ${offset + 4 * i}, ${four});`;
    });
  return [
    ...words.map((i) => `    ${begin(i)}`),
    '    const v_masks masks = v_rotation_masks();',
    turns,
    '    PIN(s); /* the input is loaded again, not kept */',
    ...words.map((i) => `    ${end('x', i)} ${end('y', i)}`),
    ...output('x', 0),
    ...output('y', 256),
  ].join('\n');
}

/** The whole header. */
export function wovenHeader() {
  const limbs = ['h0', 'h1', 'h2', 'h3'];
  const constants = ['r0', 'r1', 'r2', 'r3', 's1', 's2', 's3', 'r0_top'];
  const chacha20 = `    {
${lines(firstDoubleRound())}
    }
    for (int i = 1; i < 10; i++) {
${lines(doubleRound())}
    }`;
  const both = `    uint64_t ${limbs.map((h) => `${h} = p->${h}`).join(', ')};
    const uint64_t ${constants.map((r) => `${r} = p->${r}`).join(', ')};
    {
${lines(weave(firstDoubleRound(), poly1305(FIRST_BLOCKS)))}
    }
    m += ${16 * FIRST_BLOCKS};
    for (int i = 1; i < 10; i++, m += ${16 * LOOP_BLOCKS}) {
${lines(weave(doubleRound(), poly1305(LOOP_BLOCKS)))}
    }
    ${limbs.map((h) => `p->${h} = ${h};`).join(' ')}
    for (size_t i = WOVEN_BLOCKS; i < n; i++, m += 16) poly1305_limbs_block(p, m, 1);`;

  return `/* Written by scripts/weave.mjs: change that file, not this one. */

/* ChaCha20 of a group: out[0..512) ^= key stream. x are blocks 0 to 3, y blocks 4 to 7. */
static inline void woven_chacha20(const stream_state *s, uint8_t *out) {
${group(chacha20)}
}

/* The same, and Poly1305 of n blocks at m, at least WOVEN_BLOCKS, before out is written. */
#define WOVEN_BLOCKS ${WOVEN_BLOCKS}
static inline void woven_chacha20_poly1305(const stream_state *s, poly1305_limbs *p, uint8_t *out, const uint8_t *m,
                                           size_t n) {
${group(both)}
}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (!out) {
    console.error('usage: node scripts/weave.mjs OUT.h');
    process.exit(2);
  }
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, wovenHeader());
}
