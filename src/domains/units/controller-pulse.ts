/** Tells every unit runtime several times within `runtime.orphanTimeout` that the batch controller is there (decisions Q-ST-02). */
import type { Clock } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import type { UnitLink } from '../placement/runtimes.js';

const PULSES_PER_TIMEOUT = 5;

/** A time-out of 0 needs no pulse. The result stops it. */
export function startControllerPulse(clock: Clock, links: () => readonly UnitLink[], orphanTimeoutMs: number): () => void {
  if (orphanTimeoutMs === 0) return () => undefined;
  let cancel = (): void => undefined;
  const beat = (): void => {
    for (const link of links()) if (link.ready) guarded('pulse of the batch controller', () => link.send({ type: 'alive' }));
    cancel = clock.after(orphanTimeoutMs / PULSES_PER_TIMEOUT, beat);
  };
  beat();
  return () => cancel();
}
