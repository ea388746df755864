/**
 * 1,000 blocks per scan against straight-line C compiled in the same run (performance notes, section E): loops of ten
 * blocks, 2 AI, ADD, PID, GT, LT, OR, TON, SEL, AO, with quality and fault checks on our side only.
 * By hand: `node dist/tests/bench/blocks.bench.js`. Goal: at most 3.5 times C after 300 scans.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NetworkSet } from '../../runtime/network/network-set.js';
import { TextTable } from '../../runtime/network/texts.js';
import type { NetworkPlan } from '../../runtime/port.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { image, network, unitPlan, wires } from '../runtime/network/plans.js';

const LOOPS = Number(process.argv[2] ?? 100);
const BLOCKS = LOOPS * 10;
const SCANS = Math.round(3_000_000 / BLOCKS);
const ROUNDS = 7;

const CHANNELS = Array.from({ length: LOOPS }, (_, n) => [`a${n} input`, `b${n} input`, `o${n} output`]).flat();

function loop(n: number): NetworkPlan {
  const ai = { addr: '', rawMin: 4, rawMax: 20, engMin: 0, engMax: 100 };
  return network({
    name: `loop${n}`,
    shape: 'loop',
    blocks: [
      { name: 'a', type: 'AI', params: ai },
      { name: 'b', type: 'AI', params: ai },
      { name: 'sum', type: 'ADD' },
      { name: 'pid', type: 'PID', params: { kp: 2, ti: 'T#20s', td: 'T#1s', SP: 90 } },
      { name: 'high', type: 'GT', params: { IN2: 120 } },
      { name: 'low', type: 'LT', params: { IN2: 60 } },
      { name: 'any', type: 'OR' },
      { name: 'ton', type: 'TON', params: { PT: 'T#2s' } },
      { name: 'sel', type: 'SEL', params: { IN1: 5 } },
      { name: 'ao', type: 'AO', params: { addr: '', rawMin: 4, rawMax: 20 } },
    ],
    connections: wires(
      'a.OUT > sum.IN1',
      'b.OUT > sum.IN2',
      'sum.OUT > pid.PV',
      'sum.OUT > high.IN1',
      'sum.OUT > low.IN1',
      'high.OUT > any.IN1',
      'low.OUT > any.IN2',
      'any.OUT > ton.IN',
      'ton.Q > sel.G',
      'pid.OUT > sel.IN0',
      'sel.OUT > ao.IN',
    ),
    channels: [
      { block: 'a', image: 0, channel: 3 * n },
      { block: 'b', image: 0, channel: 3 * n + 1 },
      { block: 'ao', image: 0, channel: 3 * n + 2 },
    ],
  });
}

/** The same loop in C, one after the other without a loop, as a PLC compiler would write it. */
function writeC(): string {
  const scan = Array.from(
    { length: LOOPS },
    (_, n) => `
  { double *s = S + ${n * 24}; const double *p = P + ${n * 16};
    double a = p[0] + (in[${2 * n}] - p[1]) * p[2]; double b = p[0] + (in[${2 * n + 1}] - p[1]) * p[2];
    s[0] = a; s[1] = b; double sum = a + b; s[2] = sum;
    double error = p[3] - sum; double P_ = p[4] * error;
    s[4] = p[5] * (s[4] - p[6] * (sum - s[5])); s[5] = sum;
    double I = s[6] + p[7] * error; double u = P_ + I + s[4];
    if ((u > 100 && P_ > 0) || (u < 0 && P_ < 0)) { I = s[6]; u = P_ + I + s[4]; }
    s[6] = I; double out = u < 0 ? 0 : u > 100 ? 100 : u; s[7] = out; s[8] = error; s[9] = out != u;
    int high = sum > p[8]; int low = sum < p[9]; int any = high | low; s[10] = high; s[11] = low; s[12] = any;
    double et = any && s[14] ? s[13] + 100 : 0; if (et > p[10]) et = p[10]; s[13] = et; s[14] = any; int q = any && et >= p[10]; s[15] = q;
    double sel = q ? p[11] : out; s[16] = sel;
    double ao = sel < 0 ? 0 : sel > 100 ? 100 : sel; s[17] = ao; s[18] = 4 + ao * 0.16; }`,
  );
  return `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double S[${LOOPS * 24}], P[${LOOPS * 16}], in[${LOOPS * 2}];
__attribute__((noinline)) static void scan(void) {${scan.join('')}
}
int main(int argc, char **argv) {
  int scans = atoi(argv[1]);
  for (int n = 0; n < ${LOOPS}; n++) { double *p = P + n * 16; double v[] = {0, 4, 6.25, 90, 2, 1.0 / 1.8, 16, 0.01, 120, 60, 2000, 5}; for (int k = 0; k < 12; k++) p[k] = v[k]; }
  double sum = 0; struct timespec t0, t1;
  for (int k = 0; k < 300; k++) scan();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
  for (int k = 0; k < scans; k++) { for (int n = 0; n < ${LOOPS * 2}; n++) in[n] = 8 + ((k + n) % 64) * 0.125; scan(); sum += S[17]; }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
  printf("%.6f %.3f\\n", ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / scans / ${BLOCKS}, sum);
}`;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'blocks-bench-'));
const binary = path.join(folder, 'scan');
writeFileSync(`${binary}.c`, writeC());
execFileSync('gcc', ['-O2', '-o', binary, `${binary}.c`]);
const measureC = (): number => Number(execFileSync(binary, [String(SCANS)], { encoding: 'utf8' }).split(' ')[0]);

const io = image('io', ...CHANNELS);
const probe = new ProcessImage(CHANNELS.length, io.buffer);
const set = new NetworkSet(unitPlan({ images: [io], networks: Array.from({ length: LOOPS }, (_, n) => loop(n)) }), { texts: new TextTable(), clockMs: () => performance.now() });
probe.sampledAtMs.fill(1000);
set.io.quality.fill(0);
for (const report of set.reports()) if (report.state !== 'Running') throw new Error(report.message);

/** CPU time as in the C program; setting the inputs is part of it. */
function measureScan(): number {
  const { value } = set.io;
  const began = process.cpuUsage();
  for (let scan = 0; scan < SCANS; scan += 1) {
    for (let n = 0; n < LOOPS; n += 1) {
      value[3 * n] = 8 + ((scan + 2 * n) % 64) * 0.125;
      value[3 * n + 1] = 8 + ((scan + 2 * n + 1) % 64) * 0.125;
    }
    set.scan(1);
  }
  const { user, system } = process.cpuUsage(began);
  return ((user + system) * 1000) / SCANS / BLOCKS;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1];
const c: number[] = [];
const js: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  c.push(measureC());
  js.push(measureScan());
}
const [cNs, jsNs] = [median(c), median(js)];
console.log(`${BLOCKS} blocks, ${SCANS} scans, median of ${ROUNDS} interleaved rounds`);
console.log('variant                                        ns/block   x C');
console.log(`C straight-line, gcc -O2                       ${cNs.toFixed(2).padStart(8)}   1.00`);
console.log(`NetworkSet.scan, quality and faults, with I/O  ${jsNs.toFixed(2).padStart(8)}   ${(jsNs / cNs).toFixed(2)}`);
rmSync(folder, { recursive: true });
