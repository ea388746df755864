/**
 * The parts that carry a batch out, joined: its controller, the orders to its phases, what the phases report, and the signals
 * between them. The appliance joins them on the plant, a rehearsal on a copy of it (ADR 0006).
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { Store } from '../../platform/store/store.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { BatchController, type ControllerSettings } from './reconciler.js';
import { PhaseCommands } from './phases/phase-commands.js';
import { PhaseDesk, type PhaseRequests } from './phases/phase-reports.js';

export interface BatchControl {
  readonly controller: BatchController;
  readonly phases: PhaseCommands;
  readonly desk: PhaseDesk;
}

export function joinBatchControl(parts: {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: ControllerSettings;
  /** What charts ask the gateway for. */
  readonly requests: PhaseRequests;
  /** Lets the batch or the ad-hoc run be looked at soon. */
  wake(site: string, scope: string): void;
}): BatchControl {
  const { store, log, requests } = parts;
  const wake = (site: string, scope: string): void => parts.wake(site, scope);
  const phases = new PhaseCommands(store, parts.runtimes);
  const controller = new BatchController({ ...parts, phases });
  const desk = new PhaseDesk({
    store,
    log,
    clock: parts.clock,
    requests,
    wake,
    orderAnswered: (site, phase, id, accepted) => phases.answered(site, phase, id, accepted),
    signalsChanged: (site, scope) => phases.sendSignals(site, scope),
  });
  for (const kind of [CoordinationBlock, SyncBarrier]) {
    store.watch(kind, ({ resource }) => {
      const { batchRef } = resource.spec as { readonly batchRef: string };
      if (!batchRef) return;
      phases.sendSignals(resource.metadata.site, batchRef);
      wake(resource.metadata.site, batchRef);
    });
  }
  return { controller, phases, desk };
}
