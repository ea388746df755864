/**
 * What an audit record says about the clock it was stamped with: `details.clock` (decisions 8.6). Order is by sequence,
 * never by time; this lets a reader see a clock step or a restart between two records.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import type { Moment } from '../base/moment.js';

/** systemd-timesyncd and chrony's wait service leave this mark once the clock follows a server. */
const SYNCHRONISED_MARK = '/run/systemd/timesync/synchronized';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const LOOK_AGAIN_MS = 10_000;

export interface ClockWitness {
  readonly bootID: string;
  /** Nanoseconds since boot, as text. */
  readonly monotonicNs: string;
  readonly synchronised: boolean;
}

export function witnessOf(clock: Clock): () => ClockWitness {
  const bootID = readBootID();
  let synchronised = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monoMs();
    if (now - lookedAtMs >= LOOK_AGAIN_MS) {
      synchronised = existsSync(SYNCHRONISED_MARK);
      lookedAtMs = now;
    }
    return { bootID, monotonicNs: String(process.hrtime.bigint()), synchronised };
  };
}

/** Where time stands, for what must know after a start how long it was away. */
export function momentOf(clock: Clock, witness: () => ClockWitness): Moment {
  const { bootID, monotonicNs } = witness();
  return { wallMs: clock.wallMs(), bootID, bootMs: Number(BigInt(monotonicNs) / 1_000_000n) };
}

function readBootID(): string {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    return '';
  }
}
