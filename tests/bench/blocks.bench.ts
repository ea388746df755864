/**
 * 1,000 and 10,000 blocks per scan against straight-line C compiled in the same run (performance notes, section E): loops
 * of ten blocks, 2 AI, ADD, PID, GT, LT, OR, TON, SEL, AO, with quality and fault checks on our side only. An object
 * interpreter and an array of closures show what other designs cost. All take turns, and the least
 * disturbed round of each counts. Goals: at most 3.2 times C, within 100 scans after a download, and no byte allocated per scan.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { NetworkSet } from '../../runtime/network/network-set.js';
import { TextTable } from '../../runtime/network/texts.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { image, unitPlan } from '../runtime/network/plans.js';
import { least, median, tell, verdict } from './judge.js';
import { channelsOf, loop } from './loop-network.js';
import { arrayOfClosures, objectInterpreter, type Peer } from './loop-peers.js';
import { at } from '../support/at.js';

const SIZES = [100, 1000];
const ROUNDS = 9;
/** Block executions of one variant in one round. */
const WORK = 8_000_000;
const RATIO_MAX = 3.2;
/** Scans after a download by which the ratio must be reached, and scans of the stretch that is then timed. */
const TIER_UP_SCANS = 100;
const STRETCH_SCANS = 300;
const DOWNLOADS = 5;
/** The first scans after a download are paced as a scan clock paces them: the engine compiles in between. */
const PERIOD_MS = 10;
/** Rounds without a collection that are wanted, and how often they are tried. */
const ALLOCATION_ROUNDS = 3;
const ALLOCATION_ROUNDS_MAX = 20;
const ALLOCATION_SCANS = 100_000;

/** The same loop in C, one after the other without a loop, as a PLC compiler would write it. */
function writeC(loops: number): string {
  const scan = Array.from(
    { length: loops },
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
static double S[${loops * 24}], P[${loops * 16}], in[${loops * 2}];
__attribute__((noinline)) static void scan(void) {${scan.join('')}
}
int main(int argc, char **argv) {
  int scans = atoi(argv[1]);
  for (int n = 0; n < ${loops}; n++) { double *p = P + n * 16; double v[] = {0, 4, 6.25, 90, 2, 1.0 / 1.8, 16, 0.01, 120, 60, 2000, 5}; for (int k = 0; k < 12; k++) p[k] = v[k]; }
  double sum = 0; struct timespec t0, t1;
  for (int k = 0; k < 300; k++) scan();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
  for (int k = 0; k < scans; k++) { for (int n = 0; n < ${loops * 2}; n++) in[n] = 8 + ((k + n) % 64) * 0.125; scan(); sum += S[17]; }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
  printf("%.6f %.3f\\n", ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / scans / ${loops * 10}, sum);
}`;
}

/** The set of a plan that was just downloaded: nothing of it is compiled yet. */
class Download {
  readonly set: NetworkSet;
  readonly loops: number;
  #scans = 0;

  constructor(loops: number) {
    this.loops = loops;
    const io = image('io', ...channelsOf(loops));
    const plan = unitPlan({ images: [io], networks: Array.from({ length: loops }, (_, n) => loop(n)) });
    this.set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => performance.now() });
    const { sampledAtMs, sampledMonoMs } = new ProcessImage(3 * loops, io.buffer);
    sampledAtMs.fill(1000);
    sampledMonoMs.fill(1000);
    this.set.io.quality.fill(0);
    for (const report of this.set.reports()) if (report.state !== 'Running') throw new Error(report.message);
  }

  /** The scans by which it must be hot; time per block. */
  begin(): number {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    let ns = 0;
    for (let scan = 0; scan < TIER_UP_SCANS; scan += 1) {
      Atomics.wait(cell, 0, 0, PERIOD_MS);
      const began = process.hrtime.bigint();
      this.scan(1);
      ns += Number(process.hrtime.bigint() - began);
    }
    return ns / TIER_UP_SCANS / (10 * this.loops);
  }

  /** Setting the inputs is part of it, as in the C program. */
  scan(scans: number): void {
    const { value } = this.set.io;
    for (let scan = 0; scan < scans; scan += 1, this.#scans += 1) {
      for (let n = 0; n < this.loops; n += 1) {
        value[3 * n] = 8 + ((this.#scans + 2 * n) % 64) * 0.125;
        value[3 * n + 1] = 8 + ((this.#scans + 2 * n + 1) % 64) * 0.125;
      }
      this.set.scan(1);
    }
  }
}

function peerScans(peer: Peer, loops: number): (scans: number) => void {
  const inputs = new Float64Array(2 * loops);
  let sum = 0;
  return (scans) => {
    for (let scan = 0; scan < scans; scan += 1) {
      for (let n = 0; n < inputs.length; n += 1) inputs[n] = 8 + ((scan + n) % 64) * 0.125;
      sum += peer(inputs);
    }
    if (Number.isNaN(sum)) throw new Error('the peer computes nonsense');
  };
}

/** CPU time of this process per block, as the C program takes it. */
function timed(work: (scans: number) => void, scans: number, blocks: number): number {
  const began = process.cpuUsage();
  work(scans);
  const { user, system } = process.cpuUsage(began);
  return ((user + system) * 1000) / scans / blocks;
}

const row = (name: string, ns: number, ratio: number, note = ''): void => console.log(`${name.padEnd(48)}${ns.toFixed(2).padStart(8)}${ratio.toFixed(2).padStart(8)}  ${note}`);

interface Variant {
  readonly name: string;
  readonly measure: () => number;
  readonly ns: number[];
}

function compare(loops: number, measureC: (scans: number) => number): void {
  const blocks = 10 * loops;
  const scans = Math.round(WORK / blocks);
  const variant = (name: string, work: (scans: number) => void, share = 1): Variant => ({ name, measure: () => timed(work, Math.ceil(scans / share), blocks), ns: [] });
  // The first child of the process makes the engine throw away what it assumed of arrays; what is measured comes after.
  measureC(scans);
  const ours = new Download(loops);
  ours.begin();
  const variants: Variant[] = [
    { name: 'C straight-line, gcc -O2', measure: () => measureC(scans), ns: [] },
    variant('NetworkSet.scan, quality and faults, with I/O', (count) => ours.scan(count)),
    variant('array of closures, neither quality nor faults', peerScans(arrayOfClosures(loops), loops)),
    variant('object interpreter, neither quality nor faults', peerScans(objectInterpreter(loops), loops), 20),
  ];
  for (const { measure } of variants.slice(2)) measure();
  for (let round = 0; round < ROUNDS; round += 1)
    for (let n = 0; n < variants.length; n += 1) at(variants, (n + round) % variants.length).ns.push(at(variants, (n + round) % variants.length).measure());
  const c = at(variants, 0).ns;
  console.log(`${blocks} blocks, ${scans} scans a round, least of ${ROUNDS} rounds`.padEnd(48).concat('ns/block     x C'));
  variants.forEach(({ name, ns }, n) => {
    const ratio = least(ns) / least(c);
    if (n === 1) tell(`${blocks} blocks, x C`, ratio);
    row(name, least(ns), ratio, n === 1 ? `goal ${RATIO_MAX}  ${verdict(ratio <= RATIO_MAX)}` : '');
  });
  tierUp(loops, measureC);
  if (loops === SIZES[0]) allocation(ours);
}

/** How fast the scans after the first hundred are, each download with functions nobody has run before. */
function tierUp(loops: number, measureC: (scans: number) => number): void {
  const blocks = 10 * loops;
  const first: number[] = [];
  const later: number[] = [];
  const native: number[] = [];
  for (let download = 0; download < DOWNLOADS; download += 1) {
    const fresh = new Download(loops);
    first.push(fresh.begin());
    later.push(timed((count) => fresh.scan(count), STRETCH_SCANS, blocks));
    native.push(measureC(STRETCH_SCANS));
  }
  row(`scans 1 to ${TIER_UP_SCANS} after a download`, least(first), least(first) / least(native));
  const ratio = least(later) / least(native);
  tell(`${blocks} blocks from the 101st scan after a download, x C`, ratio);
  row(`scans ${TIER_UP_SCANS + 1} to ${TIER_UP_SCANS + STRETCH_SCANS} after a download`, least(later), ratio, `goal ${RATIO_MAX}  ${verdict(ratio <= RATIO_MAX)}`);
}

/** What the scans leave on the heap, less what looking at it leaves. */
function allocation(ours: Download): void {
  const looks = quietRounds(() => {});
  const spent = quietRounds(() => ours.scan(ALLOCATION_SCANS));
  const bytes = (median(spent) - median(looks)) / ALLOCATION_SCANS;
  tell('allocated per scan, bytes', bytes);
  const rounds = spent.length < ALLOCATION_ROUNDS ? `, only ${spent.length} of ${ALLOCATION_ROUNDS_MAX} rounds without a collection` : '';
  console.log(`allocated per scan over ${ALLOCATION_SCANS} scans: ${bytes.toFixed(4)} bytes${rounds}  goal 0  ${verdict(bytes < 0.01)}`);
}

/** Rounds that no collection disturbed, as many as wanted; none when each round allocates so much that there always is one. */
function quietRounds(work: () => void): number[] {
  const spent: number[] = [];
  for (let round = 0; round < ALLOCATION_ROUNDS_MAX && spent.length < ALLOCATION_ROUNDS; round += 1) {
    const bytes = allocatedIn(work);
    if (bytes !== undefined) spent.push(bytes);
  }
  return spent;
}

/** Bytes that the work left on the heap; undefined when there was a collection, which says nothing of what was allocated. */
function allocatedIn(work: () => void): number | undefined {
  const profiler = new GCProfiler();
  profiler.start();
  const before = getHeapStatistics().used_heap_size;
  work();
  const bytes = getHeapStatistics().used_heap_size - before;
  return profiler.stop().statistics.length > 0 ? undefined : bytes;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'blocks-bench-'));
try {
  for (const loops of SIZES) {
    const binary = path.join(folder, `scan${loops}`);
    writeFileSync(`${binary}.c`, writeC(loops));
    execFileSync('gcc', ['-O2', '-o', binary, `${binary}.c`]);
    compare(loops, (scans) => Number(execFileSync(binary, [String(scans)], { encoding: 'utf8' }).split(' ')[0]));
  }
} finally {
  rmSync(folder, { recursive: true });
}
