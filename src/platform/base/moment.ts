/**
 * How long an interruption took (D-C-07). Within one boot of the machine its own clock says it exactly; after another boot only
 * the wall clock can, and only when it follows a server and has not gone back. Where nobody knows, what was permitted ends.
 */
import type { DurationMs, WallMs } from './times.js';

export interface Moment {
  readonly wallMs: WallMs;
  readonly bootID: string;
  /** Since the boot of the machine, unlike the monotonic time of a process. */
  readonly bootMs: number;
}

/** In ms; undefined when it is unknown. */
export function elapsedSince(kept: Moment, now: Moment, synchronised: boolean): DurationMs | undefined {
  if (kept.bootID !== '' && kept.bootID === now.bootID && now.bootMs >= kept.bootMs) return now.bootMs - kept.bootMs;
  return synchronised && now.wallMs >= kept.wallMs ? now.wallMs - kept.wallMs : undefined;
}
