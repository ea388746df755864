/** A unit runtime with everything it carries from scan to scan: the start of a replay, and what it must have at its end. */
import type { TextsState } from '../network/texts.js';
import type { AlarmsState } from '../vocabulary/alarm-set.js';
import type { PhasesState } from '../chart/snapshot.js';
import type { NetworkState } from '../network/network-state.js';
import type { AlarmScheduleState } from '../scan/alarm-schedule.js';
import type { SilenceState } from '../scan/controller-silence.js';
import type { UuidState } from '../scan/uuids.js';

export interface UnitState {
  /** In the order of their ids, those of the block library left out. */
  readonly texts: TextsState;
  readonly uuids: UuidState;
  readonly silence: SilenceState;
  readonly signals: readonly (readonly [string, readonly string[]])[];
  readonly timeScale: number;
  readonly plantMs: number;
  /** Scans since the charts ran last. */
  readonly sinceCharts: number;
  readonly networks: NetworkState;
  readonly phases: PhasesState;
  readonly alarms: AlarmsState;
  readonly alarmPasses: AlarmScheduleState;
  /** What the tag table shows: an on-change tag keeps its time. */
  readonly published: { readonly values: Float64Array; readonly timestamps: Float64Array; readonly quality: Uint8Array };
}
