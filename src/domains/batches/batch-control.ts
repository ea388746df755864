/**
 * The parts that carry a batch out, joined: its controller, the orders to its phases, what the phases report, and the signals
 * between them. The appliance joins them on the plant, a rehearsal on a copy of it (ADR 0006).
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { Store } from '../../platform/store/store.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { BatchReconciler, type BatchReconcilerSettings } from './reconciler.js';
import type { PhaseCommands } from './phases/phase-commands.js';
import { PhaseReports, type PhaseRequests } from './phases/phase-reports.js';

export interface BatchControl {
  readonly reconciler: BatchReconciler;
  readonly reports: PhaseReports;
}

export interface BatchControlParts {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: BatchReconcilerSettings;
  /** Orders to the phases. */
  readonly phases: PhaseCommands;
  /** What charts ask the gateway for. */
  readonly requests: PhaseRequests;
  /** Lets the batch or the ad-hoc run be looked at soon. */
  wake(site: string, scope: string): void;
}

export function joinBatchControl(parts: BatchControlParts): BatchControl {
  const { store, log, phases, requests } = parts;
  const wake = (site: string, scope: string): void => parts.wake(site, scope);
  const reconciler = new BatchReconciler(parts);
  const reports = new PhaseReports({
    store,
    log,
    clock: parts.clock,
    requests,
    wake,
    orderAnswered: (site, phase, id, accepted) => phases.answered(site, phase, id, accepted),
    signalsChanged: (site, scope) => phases.sendSignals(site, scope),
  });
  for (const kind of [CoordinationBlock, SyncBarrier]) {
    store.watch(kind, ({ resource, past }) => {
      const { batchRef } = resource.spec as { readonly batchRef: string };
      if (!batchRef || past) return;
      phases.sendSignals(resource.metadata.site, batchRef);
      wake(resource.metadata.site, batchRef);
    });
  }
  return { reconciler, reports };
}
