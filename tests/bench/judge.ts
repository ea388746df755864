/**
 * How a bench comes to its verdict (docs/benchmarks.md): other programs of the machine only ever add to a figure, so what
 * belongs to the product shows in its least disturbed round; the median shows what a round of this machine is like.
 */

import { appendFileSync } from 'node:fs';
import path from 'node:path';

/** The upper one of the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** The value that a share of all does not exceed (nearest rank): 0.95 of twenty is the second largest. */
export function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
}

/** The round that other programs disturbed least: they slow down a variant the more, the better it uses the core. */
export function least(values: readonly number[]): number {
  return Math.min(...values);
}

/** The word behind a figure; a missed goal fails the bench. */
export function verdict(met: boolean): 'ok' | 'MISSED' {
  if (!met) process.exitCode = 1;
  return met ? 'ok' : 'MISSED';
}

/**
 * Tells a figure to the gate (`npm run bench:gate`), which holds it to its row of docs/benchmarks.json; by itself a bench
 * tells nobody. `figure` as in that row.
 */
export function tell(figure: string, value: number): void {
  const file = process.env.BENCH_FIGURES;
  if (file === undefined) return;
  const bench = path.basename(process.argv[1] ?? '', '.bench.js');
  appendFileSync(file, `${JSON.stringify({ bench, figure, value })}\n`);
}
