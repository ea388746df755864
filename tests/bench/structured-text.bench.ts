/**
 * The structured-text loop of the performance design E: compiled action against C (gcc -O2) and a tree walk, interleaved,
 * medians of the rounds. Goal: <= 3.5 times C and >= 8 times faster than the tree walk. Prints one line per variant.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compilePhase, type Frame, type Slots } from '../../runtime/chart/compile.js';
import { parseAction } from '../../runtime/language/parser.js';
import { TreeWalk, type WalkValue } from '../runtime/chart/tree-walk.js';

const ITERATIONS = 1000;
const ROUNDS = 9;
const CALLS = 300;
const WARM_UP_CALLS = 300;

const TEXT = `
FOR i := 1 TO ${ITERATIONS} DO
  x := x * 0.999 + i * 0.5;
  k := (i * 7 + k) MOD 1009;
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

const C_SOURCE = `
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <time.h>
struct v { int64_t i, k, n; double x, y; };
__attribute__((noinline)) int run(struct v *p) {
  int64_t i, k = p->k, n = p->n, count = 0; double x = p->x, y = p->y;
  for (i = 1; i <= ${ITERATIONS}; i++) {
    if (++count > 10000) return 1;
    x = x * 0.999 + i * 0.5;
    k = (i * 7 + k) % 1009;
    if (x > 100.0 && !(k == 5)) y = y + x / 3.0;
    else if (k < 500 || x < 1.0) y = y - 1.25;
    else y = y * 0.5;
    switch (k % 5) { case 0: n += 1; break; case 1: case 2: n += 2; break; case 3: case 4: n -= 1; break; }
  }
  p->i = i; p->k = k; p->n = n; p->x = x; p->y = y; return 0;
}
int main(int argc, char **argv) {
  int calls = atoi(argv[1]); struct v p = {0};
  for (int c = 0; c < ${WARM_UP_CALLS}; c++) { p.x = 0; p.y = 0; p.k = 0; p.n = 0; run(&p); }
  struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);
  for (int c = 0; c < calls; c++) { p.x = 0; p.y = 0; p.k = 0; p.n = 0; run(&p); }
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%.6f %lld %lld %.17g %.17g\\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls / ${ITERATIONS}, (long long)p.k, (long long)p.n, p.x, p.y);
  return 0;
}`;

const variables = [
  { name: 'i', type: 'INT' },
  { name: 'k', type: 'INT' },
  { name: 'n', type: 'INT' },
  { name: 'x', type: 'REAL' },
  { name: 'y', type: 'REAL' },
] as const;

const compiled = compilePhase(
  { running: { steps: [{ name: 's', initial: true, actionST: TEXT }], transitions: [] }, charts: {}, parameters: [], outputs: [], variables, signals: [] },
  { loopLimit: 10_000 },
);
const action = compiled.charts.get('running')?.steps[0].action?.run;
if (!action) throw new Error('the loop has no action');
const frame = { assigned: new Uint8Array(variables.length) } as unknown as Frame;
const slots: Slots = [0, 0, 0, 0, 0];

function timeCompiled(calls: number): number {
  const started = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) {
    slots.fill(0);
    action?.(frame, slots, [], 0, 100_000);
  }
  return Number(process.hrtime.bigint() - started) / calls / ITERATIONS;
}

const { statements } = parseAction(TEXT);
let walked: Map<string, WalkValue> = new Map();

function timeWalk(calls: number): number {
  const started = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) {
    walked = new Map(variables.map(({ name, type }) => [name, type === 'INT' ? { type, value: 0n } : { type, value: 0 }]));
    new TreeWalk(walked).run(statements);
  }
  return Number(process.hrtime.bigint() - started) / calls / ITERATIONS;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-st-'));
try {
  writeFileSync(path.join(folder, 'st.c'), C_SOURCE);
  execFileSync('gcc', ['-O2', '-o', path.join(folder, 'st'), path.join(folder, 'st.c')]);
  timeCompiled(WARM_UP_CALLS);
  timeWalk(5);
  const times = { c: [] as number[], compiled: [] as number[], walk: [] as number[] };
  let native = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    native = execFileSync(path.join(folder, 'st'), [String(CALLS * 10)], { encoding: 'utf8' }).trim();
    times.c.push(Number(native.split(' ')[0]));
    times.compiled.push(timeCompiled(CALLS));
    times.walk.push(timeWalk(5));
  }
  const [, k, n, x, y] = native.split(' ').map(Number);
  const same = slots[1] === k && slots[2] === n && slots[3] === x && slots[4] === y && Number(walked.get('k')?.value) === k && walked.get('y')?.value === y;
  const c = median(times.c);
  for (const [name, values] of Object.entries(times)) {
    console.log(`structured-text ${name.padEnd(9)} ${median(values).toFixed(1).padStart(7)} ns/iteration  ${(median(values) / c).toFixed(2).padStart(6)} x C`);
  }
  const ratio = median(times.compiled) / c;
  const gain = median(times.walk) / median(times.compiled);
  console.log(`structured-text results ${same ? 'equal' : 'DIFFERENT'}; goal <= 3.5 x C: ${ratio.toFixed(2)}; goal >= 8 x faster than the walk: ${gain.toFixed(1)}`);
  if (!same) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
