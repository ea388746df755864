/** A wall clock that somebody sets while the appliance runs, and between two starts: Debian's libfaketime; elapsed time stays as it is. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Debian keeps libraries by machine. */
const LIBRARY = readdirSync('/usr/lib')
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));
export const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

/** 2038 is where 32 bits of seconds end. */
export const STEPS: readonly { readonly what: string; readonly ms: () => number }[] = [
  { what: '3 s forth', ms: () => 3 * SECOND_MS },
  { what: '3 s back', ms: () => -3 * SECOND_MS },
  { what: '1 h forth', ms: () => HOUR_MS },
  { what: '1 h back', ms: () => -HOUR_MS },
  { what: '1 day forth', ms: () => DAY_MS },
  { what: '1 day back', ms: () => -DAY_MS },
  { what: '10 years forth', ms: () => 10 * YEAR_MS },
  { what: '10 years back', ms: () => -10 * YEAR_MS },
  { what: 'to the last second of 2037', ms: () => Date.parse('2038-01-19T03:14:00Z') - Date.now() },
];

export class WallClock {
  readonly #file: string;

  /** @throws Error that names the missing package. */
  constructor(work: string) {
    if (LIBRARY === undefined) throw new Error('clocks are changed with libfaketime; as root: apt-get install --no-install-recommends faketime');
    this.#file = path.join(work, 'clock');
    this.stepTo(0);
  }

  /** Ahead of the true time by so much, from now on. */
  stepTo(offsetMs: number): void {
    writeFileSync(this.#file, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs / SECOND_MS).toFixed(3)}\n`);
  }

  /** Real-time threads are off: one that waits in the library's lock would hold the machine. */
  get environment(): Record<string, string> {
    return { LD_PRELOAD: LIBRARY ?? '', FAKETIME_TIMESTAMP_FILE: this.#file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', LINESIDE_RUNTIME__REALTIME: 'false' };
  }
}
