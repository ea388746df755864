/** A scenario is data: under what load, what goes wrong, what must hold afterwards, and how often it is tried. */
import type { Bench } from './bench.js';

/** One time that something went wrong, and what was found. */
export interface Round {
  /** What was done, with the figures that a seed gives again. */
  readonly what: string;
  /** What the process was in the middle of; counted in the report. */
  readonly inside?: string | undefined;
  /** Each a sentence; none when everything held. */
  readonly problems: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** The promise or decision that it tries. */
  readonly proves: string;
  readonly load: 'none' | 'mixed';
  /** How often in CI (`short`) and by hand (`long`). */
  readonly count: { readonly short: number; readonly long: number };
  /** Whoever it needs beside Node and a compiler, as scripts/peers.mjs calls it. */
  readonly peer?: string;
  /** Judges times: nothing else runs meanwhile. */
  readonly alone?: true;
  readonly run: (bench: Bench, rounds: number) => AsyncIterable<Round>;
}

export interface Report {
  readonly scenario: string;
  readonly proves: string;
  readonly seed: number;
  readonly rounds: number;
  /** What the process was in the middle of -> how often. */
  readonly inside: Readonly<Record<string, number>>;
  readonly acknowledged: number;
  readonly failed: readonly Round[];
  readonly seconds: number;
}
