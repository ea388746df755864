/** Batches and ad-hoc runs: both owners of a procedure tree, what wakes them, and what their phases report. */
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenPut } from '../../platform/reconcile/wakes.js';
import type { StoreEvent } from '../../platform/store/store.js';
import type { ChannelHub } from '../../platform/stream/hub.js';
import type { SettingValues } from '../../settings.js';
import { Alarm, type AlarmSpec, type AlarmStatus, isActive } from '../alarms/kind.js';
import { Unit } from '../plant/kind.js';
import { voidPrompts } from '../procedures/void-prompts.js';
import { isAdhoc, ROOT_KINDS } from '../procedures/roots.js';
import { AdhocReconciler } from './adhoc-reconciler.js';
import { type AdhocDeps, adhocRoutes } from './adhoc-routes.js';
import { type BatchControlParts, joinBatchControl } from './batch-control.js';
import { Batch } from './kind.js';
import { watchClock } from './reading/clock-span.js';
import { makeMissingAnew } from './recovery/made-anew.js';
import { forgetEndedElements } from './reading/ended-elements.js';
import { publishStates, type StateListener } from './reading/state-channel.js';
import type { BatchReconcilerSettings } from './reconciler.js';
import { elementRoutes } from './element-routes.js';
import { type BatchRouteDeps, batchRoutes } from './routes.js';
import { HeldByAlarm } from './tree/held-by-alarm.js';
import { batchesOnUnit } from './unit-wakes.js';

export interface BatchParts extends Omit<BatchControlParts, 'wake' | 'settings'> {
  readonly settings: Pick<SettingValues, 'holdPropagation' | 'resumeCancelsPause' | 'settleDeadlineMs' | 'reasonLengthMin'>;
  readonly production: boolean;
  readonly storageLow: () => boolean;
  readonly timeScale: () => number;
  readonly mismatch: NonNullable<BatchReconcilerSettings['mismatch']>;
  readonly facts: BatchRouteDeps['facts'];
  readonly queries: BatchRouteDeps['queries'];
  /** The historian's copy of the changes of state; absent without a historian. */
  readonly recordState: StateListener | undefined;
  readonly keys: AdhocDeps['keys'];
}

export function joinBatches(parts: BatchParts) {
  const { store, runtimes, clock, log, phases, production, storageLow, timeScale, mismatch, facts, queries, keys, recordState } = parts;
  const { holdPropagation, resumeCancelsPause, settleDeadlineMs, reasonLengthMin } = parts.settings;
  const settings = { holdPropagation, resumeCancelsPause, settleDeadlineMs, production, storageLow, timeScale, mismatch };
  /** Lets a batch or an ad-hoc run be looked at soon; each looks at what is its own. */
  const wake = (site: string, scope: string): void => {
    batchLoop.wake(site, scope);
    adhocLoop.wake(site, scope);
  };
  makeMissingAnew(store, clock); // before recovery looks for what was at work
  const { reconciler, reports } = joinBatchControl({ ...parts, settings, wake });
  const adhoc = new AdhocReconciler({ store, runtimes, phases, clock, settings });
  const heldByAlarm = new HeldByAlarm(store);
  // both owners hear of both: a name tells which of them has it
  const wokenByAll = [
    on(
      Unit,
      () => true,
      ({ resource, before }) => batchesOnUnit(store, resource, before).map((name) => ({ site: resource.metadata.site, name })),
    ),
    // what an alarm has held can be restarted once it clears
    on(Alarm, clearsOrComes, ({ resource: { metadata } }) => heldByAlarm.of(metadata.site, metadata.name).map((name) => ({ site: metadata.site, name }))),
  ];
  const batchLoop = new ReconcileLoop(reconciler, clock, log, [on(Batch, whenPut), ...wokenByAll]);
  const adhocLoop = new ReconcileLoop(adhoc, clock, log, [
    ...Object.values(ROOT_KINDS).map((kind) => on(kind, (event) => whenPut(event) && isAdhoc(event.resource))),
    ...wokenByAll,
  ]);
  runtimes.onMessage((link, message) => reports.take(link, message));
  voidPrompts(store).runtimeEnded();
  runtimes.onChange((link, what) => {
    if (what === 'down') voidPrompts(store).runtimeEnded(link.site, link.unit);
    if (what !== 'ready') return;
    phases.reload(link);
    batchLoop.wakeAll();
    adhocLoop.wakeAll();
  });
  // what phases reported while nothing could be written
  store.watchReload(() => reports.takeKept());
  let stopClockWatch = (): void => undefined;
  return {
    routes: [
      routeSet(elementRoutes, { store, clock, runtimes, production }),
      routeSet(batchRoutes, { store, clock, runtimes, production, facts, queries, storageLow, reasonLengthMin }),
      routeSet(adhocRoutes(production), { store, clock, runtimes, production, storageLow, keys }),
    ],
    reconcilers: [batchLoop, adhocLoop],
    wake,
    publish(hub: ChannelHub): void {
      publishStates({ hub, store, ...(recordState ? { listener: recordState } : {}) });
      forgetEndedElements({ hub, store });
    },
    start(): void {
      stopClockWatch = watchClock(
        clock,
        () => reconciler.lookAtClock(),
        () => batchLoop.wakeAll(),
      );
    },
    stop: (): void => stopClockWatch(),
  };
}

/** An alarm that commands has come or cleared. */
function clearsOrComes({ type, resource, before }: StoreEvent<AlarmSpec, AlarmStatus>): boolean {
  const [now, was] = [resource.status, before?.status];
  return Boolean(now.exceptionAction) && !(type === 'put' && was && isActive(was.state) === isActive(now.state));
}
