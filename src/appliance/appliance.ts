/** What a started appliance is to whoever started it. */
import { contain, guarded } from '../platform/base/guarded.js';
import type { Log } from '../platform/base/log.js';
import type { RouteColumns } from '../platform/http/route.js';

export interface Appliance {
  readonly port: number;
  readonly rows: readonly RouteColumns[];
  readonly commissioningCode: string;
  /** Grows with each change of what is stored: who waits for one need not look before. */
  readonly resourceVersion: number;
  /** What is missing, where the appliance is in rescue; else empty. */
  readonly rescue: readonly string[];
  readonly waysOn: readonly string[];
  stop(): Promise<void>;
  /** After a fault that nobody caught; the process ends when it resolves, which takes three seconds at most. */
  fail(fault: unknown): Promise<void>;
}

/** A second for the devices, and what a slow disk needs for the last commits. */
const FAIL_SAFE_MS = 1000;
const LAST_COMMITS_MS = 2000;

/** What still counts when what the process would do next is not known. */
export interface LastWork {
  readonly log: Log;
  /** For the log: what was at work. */
  state(): object;
  takeFailSafe(): Promise<void>;
  closeLedger(): Promise<void>;
}

/** Tells what nobody caught; outputs take their fail-safe values and what was accepted reaches the disk. No other part is asked. */
export async function failInOrder(fault: unknown, last: LastWork): Promise<void> {
  guarded('log of a fault that nobody caught', () => {
    last.log.fatal({ fault: textOf(fault), ...last.state() }, 'nobody caught a fault of ours: outputs take their fail-safe values, and the process ends');
  });
  await Promise.all([within(FAIL_SAFE_MS, () => last.takeFailSafe()), within(LAST_COMMITS_MS, () => last.closeLedger())]);
}

/** Resolves when the work is done, has failed, or time is up. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  const done = guarded('last work of the process', work)?.catch((fault: unknown) => contain('last work of the process', fault));
  await Promise.race([timeUp, done]);
  clearTimeout(timer);
}

export function textOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
