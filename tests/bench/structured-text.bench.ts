/**
 * The structured-text loop of the performance design E: compiled action against C (gcc -O2) and a tree walk, interleaved,
 * medians of the rounds. Once with INT values as programs have them, then with a counter and with products beyond 2^53, which
 * must be exact in 64 bits. Goals: <= 3.5 times C, <= 7 times C with wide INT, and >= 13 times faster than the tree walk.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compilePhase } from '../../runtime/chart/compile.js';
import { parseAction } from '../../runtime/language/parser.js';
import { TreeWalk, type WalkValue } from '../runtime/chart/tree-walk.js';
import { median, tell, verdict } from './judge.js';
import type { Frame, Slots } from '../../runtime/chart/functions.js';
import { at } from '../support/at.js';

const ITERATIONS = 1000;
const ROUNDS = 9;
const CALLS = 300;
const WARM_UP_CALLS = 300;
const WALK_CALLS = 5;

interface Program {
  readonly name: string;
  /** Start of the counter `w`. */
  readonly start: bigint;
  readonly ratioMax: number;
  /** What makes `k`, in structured text and in C. */
  readonly text: string;
  readonly c: string;
}

const PROGRAMS: readonly Program[] = [
  { name: 'usual INT', start: 0n, ratioMax: 3.5, text: 'k := (i * 7 + k) MOD 1009;', c: 'k = (i * 7 + k) % 1009;' },
  { name: 'INT beyond 2^53', start: 2n ** 60n, ratioMax: 7, text: 'w := w + i * 7; k := (w + k) MOD 1009;', c: 'w = w + i * 7; k = (w + k) % 1009;' },
  {
    name: 'wide products',
    start: 1n,
    ratioMax: 7,
    text: 'w := (w * 1103515245 + 12345) MOD 2147483648; k := w / 65536 MOD 1009;',
    c: 'w = (w * 1103515245 + 12345) % 2147483648LL; k = w / 65536 % 1009;',
  },
];
const GAIN_MIN = 13;

const textOf = ({ text }: Program): string => `
FOR i := 1 TO ${ITERATIONS} DO
  x := x * 0.999 + i * 0.5;
  ${text}
  IF x > 100.0 AND NOT (k = 5) THEN
    y := y + x / 3.0;
  ELSIF k < 500 OR x < 1.0 THEN
    y := y - 1.25;
  ELSE
    y := y * 0.5;
  END_IF;
  CASE k MOD 5 OF
    0: n := n + 1;
    1, 2: n := n + 2;
    3..4: n := n - 1;
  END_CASE;
END_FOR;`;

const sourceOf = ({ c, start }: Program): string => `
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <time.h>
struct v { int64_t i, k, n, w; double x, y; };
__attribute__((noinline)) int run(struct v *p) {
  int64_t i, k = p->k, n = p->n, w = p->w, count = 0; double x = p->x, y = p->y;
  for (i = 1; i <= ${ITERATIONS}; i++) {
    if (++count > 10000) return 1;
    x = x * 0.999 + i * 0.5;
    ${c}
    if (x > 100.0 && !(k == 5)) y = y + x / 3.0;
    else if (k < 500 || x < 1.0) y = y - 1.25;
    else y = y * 0.5;
    switch (k % 5) { case 0: n += 1; break; case 1: case 2: n += 2; break; case 3: case 4: n -= 1; break; }
  }
  p->i = i; p->k = k; p->n = n; p->w = w; p->x = x; p->y = y; return 0;
}
static void start(struct v *p) { p->x = 0; p->y = 0; p->k = 0; p->n = 0; p->w = ${start}LL; }
int main(int argc, char **argv) {
  int calls = atoi(argv[1]); struct v p = {0};
  for (int c = 0; c < ${WARM_UP_CALLS}; c++) { start(&p); run(&p); }
  struct timespec a, b; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  for (int c = 0; c < calls; c++) { start(&p); run(&p); }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
  printf("%.6f %lld %lld %lld %.17g %.17g\\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls / ${ITERATIONS}, (long long)p.k, (long long)p.n, (long long)p.w, p.x, p.y);
  return 0;
}`;

const VARIABLES = [
  { name: 'i', type: 'INT' },
  { name: 'k', type: 'INT' },
  { name: 'n', type: 'INT' },
  { name: 'w', type: 'INT' },
  { name: 'x', type: 'REAL' },
  { name: 'y', type: 'REAL' },
] as const;

/** Results as the C program prints them; the loop variable is left out. */
type Results = readonly string[];

interface Variant {
  readonly ns: number[];
  readonly measure: () => number;
  readonly results: () => Results;
}

const show = (values: readonly unknown[]): Results => values.map((value) => (typeof value === 'bigint' ? String(value) : String(Number(value))));

/** CPU time per iteration: other programs of the machine must not count. */
function timed(calls: number, work: () => void): number {
  const began = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) work();
  const { user, system } = process.cpuUsage(began);
  return ((user + system) * 1000) / calls / ITERATIONS;
}

function compiledVariant(program: Program): Variant {
  const element = {
    running: { steps: [{ name: 's', initial: true, actionST: textOf(program) }], transitions: [] },
    charts: {},
    parameters: [],
    outputs: [],
    variables: VARIABLES,
    signals: [],
  };
  const action = compilePhase(element, { loopLimit: 10_000 }).charts.get('running')?.steps[0]?.action?.run;
  if (!action) throw new Error('the loop has no action');
  const frame = { assigned: new Uint8Array(VARIABLES.length) } as unknown as Frame;
  const slots: Slots = VARIABLES.map(() => 0);
  const begin = program.start > BigInt(Number.MAX_SAFE_INTEGER) ? program.start : Number(program.start);
  const run = (): void => {
    slots.fill(0);
    slots[3] = begin;
    action(frame, slots, [], 0, 100_000);
  };
  timed(WARM_UP_CALLS, run);
  return { ns: [], measure: () => timed(CALLS, run), results: () => show(slots.slice(1)) };
}

function walkVariant(program: Program): Variant {
  const { statements } = parseAction(textOf(program));
  let values = new Map<string, WalkValue>();
  const run = (): void => {
    values = new Map(VARIABLES.map(({ name, type }) => [name, type === 'INT' ? { type, value: name === 'w' ? program.start : 0n } : { type, value: 0 }]));
    new TreeWalk(values).run(statements);
  };
  timed(WALK_CALLS, run);
  return { ns: [], measure: () => timed(WALK_CALLS, run), results: () => show(VARIABLES.slice(1).map(({ name }) => values.get(name)?.value)) };
}

function nativeVariant(program: Program, folder: string): Variant {
  const binary = path.join(folder, 'st');
  writeFileSync(`${binary}.c`, sourceOf(program));
  execFileSync('gcc', ['-O2', '-o', binary, `${binary}.c`]);
  let printed: string[] = [];
  const measure = (): number => {
    printed = execFileSync(binary, [String(CALLS * 10)], { encoding: 'utf8' })
      .trim()
      .split(' ');
    return Number(printed[0]);
  };
  const results = (): Results => [...printed.slice(1, 4), ...printed.slice(4).map((value) => String(Number(value)))];
  return { ns: [], measure, results };
}

const againstC = ({ ns }: Variant, c: Variant): number => median(ns.map((value, round) => value / at(c.ns, round)));

function compare(program: Program, folder: string): void {
  const variants = { c: nativeVariant(program, folder), compiled: compiledVariant(program), walk: walkVariant(program) };
  for (let round = 0; round < ROUNDS; round += 1) for (const variant of Object.values(variants)) variant.ns.push(variant.measure());
  const { c, compiled, walk } = variants;
  for (const [name, variant] of Object.entries(variants)) {
    console.log(`${program.name.padEnd(17)}${name.padEnd(9)}${median(variant.ns).toFixed(1).padStart(8)} ns/iteration ${againstC(variant, c).toFixed(2).padStart(8)} x C`);
  }
  const same = [compiled, walk].every((variant) => variant.results().join() === c.results().join());
  const ratio = againstC(compiled, c);
  const gain = median(walk.ns.map((value, round) => value / at(compiled.ns, round)));
  tell(`${program.name}, x C`, ratio);
  tell(`${program.name}, x faster than the walk`, gain);
  const good = same && ratio <= program.ratioMax && gain >= GAIN_MIN;
  const words = `results ${same ? 'equal' : `DIFFERENT: ${Object.values(variants).map((variant) => variant.results().join(' '))}`}`;
  console.log(
    `${program.name.padEnd(17)}${words}; goal <= ${program.ratioMax} x C: ${ratio.toFixed(2)}; goal >= ${GAIN_MIN} x faster than the walk: ${gain.toFixed(1)}  ${verdict(good)}`,
  );
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-st-'));
try {
  for (const program of PROGRAMS) compare(program, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
