/** Site and plant overview (contract 2, Tags; decisions Q-TAG-15): what a screen shows before anybody has touched it. */
import { timestamp } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { unitOf } from '../control-modules/rules.js';
import { Unit } from '../plant/kind.js';
import type { UnitRuntimes } from './runtimes.js';

/** Alarm counts of a unit or site, given by the alarm domain. */
export interface AlarmCounts {
  readonly active: number;
  readonly unacknowledged: number;
  readonly shelved: number;
  readonly bySeverity: Readonly<Record<string, number>>;
  readonly highestSeverity: string;
}

export interface AlarmView {
  ofUnit(site: string, unit: string): AlarmCounts;
  ofSite(site: string): AlarmCounts;
}

export interface OverviewDeps {
  readonly store: StoreReader;
  readonly runtimes: UnitRuntimes;
  readonly alarms: AlarmView;
  nowMs(): number;
}

export function siteOverview(site: string, { store, runtimes, alarms, nowMs }: OverviewDeps) {
  const all = alarms.ofSite(site);
  return {
    site,
    asOf: timestamp(nowMs()),
    units: store.list(Unit, site).map(({ metadata, spec, status }) => {
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
        alarms: { active: own.active, unacknowledged: own.unacknowledged, highestSeverity: own.highestSeverity },
      };
    }),
    batches: store
      .list(Batch, site)
      .filter((batch) => !isFinalBatch(batch.status.phase))
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        batchID: spec.batchID,
        recipe: spec.masterRecipeRef,
        state: status.phase,
        mode: spec.mode || 'Automatic',
        units: status.allocations.map((allocation) => allocation.unit),
        heldInside: status.heldInside,
        startedAt: status.startedAt || null,
      })),
    alarms: { active: all.active, unacknowledged: all.unacknowledged, shelved: all.shelved, bySeverity: all.bySeverity },
    controlModules: healthCounts(site, store, runtimes),
  };
}

/** A module runs while the runtime of its unit does; one without a unit is not executed (decisions 1.5). */
function healthCounts(site: string, store: StoreReader, runtimes: UnitRuntimes) {
  const counts = { running: 0, down: 0, compileError: 0, unknown: 0 };
  for (const module of store.list(ControlModule, site)) {
    const unit = unitOf(store, site, module.spec);
    const link = unit === '' ? undefined : runtimes.link(site, unit);
    if (!link) counts.unknown += 1;
    else if (link.ready) counts.running += 1;
    else counts.down += 1;
  }
  return counts;
}
