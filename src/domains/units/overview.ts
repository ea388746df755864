/** Site and plant overview (contract 2, Tags; decisions Q-TAG-15): what a screen shows before anybody has touched it. */
import * as v from 'valibot';
import { allocationQueue, QueueEntry, waitersOf } from '../batches/start/allocation-queue.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { STATES } from '../../../runtime/vocabulary/states.js';
import { timestamp } from '../../platform/base/clock.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { unendedBatches } from '../batches/reading/open-batches.js';
import { asShown } from '../batches/recovery/unrecovered.js';
import { ControlModule } from '../control-modules/kind.js';
import { moduleHealth } from '../control-modules/dto.js';
import { ActiveWork, Unit } from '../plant/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import type { AlarmView } from '../alarms/counts.js';
import { AlarmDefinition } from '../alarms/kind.js';
import { isArmed } from '../alarms/sources.js';
import { modelRevisions } from './model-revision.js';

export interface OverviewDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly alarms: AlarmView;
  nowMs(): number;
}

const Counts = { active: v.number(), unacknowledged: v.number() };

export const SiteOverview = v.strictObject({
  site: v.string(),
  asOf: v.string(),
  /** Another number whenever units, modules, templates, their tags or alarm definitions were engineered since. */
  modelRevision: v.number(),
  /** Alarm definitions with an arming gate that is open now; those without one are armed while they are enabled. */
  armedByPhase: v.array(v.string()),
  units: v.array(
    v.strictObject({
      name: v.string(),
      processCell: v.string(),
      /** '' until the unit runtime was seen for the first time. */
      state: v.picklist(['', ...STATES]),
      mode: v.picklist(MODES),
      allocatedTo: v.string(),
      activeWork: v.nullable(ActiveWork),
      runtimeReady: v.boolean(),
      heldInside: v.boolean(),
      /** As of the unit itself. */
      allocationQueue: v.array(QueueEntry),
      alarms: v.strictObject({ ...Counts, highestSeverity: v.string() }),
    }),
  ),
  batches: v.array(
    v.strictObject({
      name: v.string(),
      batchID: v.string(),
      recipe: v.string(),
      state: v.string(),
      mode: v.picklist(MODES),
      units: v.array(v.string()),
      heldInside: v.boolean(),
      startedAt: v.nullable(v.string()),
    }),
  ),
  alarms: v.strictObject({ ...Counts, shelved: v.number(), bySeverity: v.record(v.string(), v.number()) }),
  controlModules: v.strictObject({ running: v.number(), down: v.number(), compileError: v.number(), unknown: v.number() }),
});
export type SiteOverview = ToldBy<typeof SiteOverview>;

nameSchemas({ SiteOverview });

export function siteOverview(site: string, { store, runtimes, alarms, nowMs }: OverviewDeps): SiteOverview {
  const all = alarms.ofSite(site);
  const waiters = waitersOf(store, site);
  return {
    site,
    asOf: timestamp(nowMs()),
    modelRevision: modelRevisions(store).of(site),
    armedByPhase: armedByPhase(store, site),
    units: store.list(Unit, site).map((unit) => {
      const { metadata, spec, status } = asShown(store, unit);
      const own = alarms.ofUnit(site, metadata.name);
      return {
        name: metadata.name,
        processCell: spec.processCellName,
        state: status.state,
        mode: status.mode,
        allocatedTo: status.allocatedTo,
        activeWork: status.activeWork,
        runtimeReady: runtimes.link(site, metadata.name)?.ready ?? false,
        heldInside: status.heldInside,
        allocationQueue: allocationQueue(store, site, metadata.name, waiters),
        alarms: { active: own.active, unacknowledged: own.unacknowledged, highestSeverity: own.highestSeverity },
      };
    }),
    batches: unendedBatches(store, site)
      .map((batch) => asShown(store, batch))
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        batchID: spec.batchID,
        recipe: spec.masterRecipeRef,
        state: status.phase,
        mode: spec.mode || 'Automatic',
        units: status.allocations.flatMap(({ unit }) => (unit === '' ? [] : [unit])),
        heldInside: status.heldInside,
        startedAt: status.startedAt || null,
      })),
    alarms: { active: all.active, unacknowledged: all.unacknowledged, shelved: all.shelved, bySeverity: all.bySeverity },
    controlModules: healthCounts(site, store),
  };
}

function armedByPhase(store: Store, site: string): string[] {
  return store.list(AlarmDefinition, site).flatMap(({ metadata, spec }) => (spec.armingGate !== null && isArmed(spec, store, site) ? [metadata.name] : []));
}

const COUNTED = { Running: 'running', Down: 'down', CompileError: 'compileError', Unknown: 'unknown' } as const;

/** Health of the modules as their logic has it (decisions Q-PROG-02); one without a unit is not executed (decisions 1.5). */
function healthCounts(site: string, store: StoreReader) {
  const counts = { running: 0, down: 0, compileError: 0, unknown: 0 };
  for (const { metadata } of store.list(ControlModule, site)) counts[COUNTED[moduleHealth(store, site, metadata.name).state]] += 1;
  return counts;
}
