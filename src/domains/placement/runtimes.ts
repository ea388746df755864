/**
 * The unit runtimes as the gateway's domains see them: one link per unit, wherever its worker runs. Values are read from
 * the shared tag table; messages carry commands, configuration and events only.
 */
import type { MonoMs, WallMs } from '../../platform/base/times.js';
import type { AlarmPlan, DeviceReset, PhasePlan, TagPlan, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { QualityCode } from '../../../runtime/vocabulary/quality.js';

export interface TagReading {
  /** Native JSON form (decisions Q-TAG-01); null when there is none. TIME is served as `T#1m30s`. */
  readonly value: Value;
  readonly quality: QualityCode;
  /** Wall ms; 0 when the tag was never written. */
  readonly atMs: WallMs;
  /** Of a tag with a maximum age (ADR 0070). */
  readonly age?: TagAge;
}

export interface TagAge {
  readonly maxAgeMs: number;
  /** Of the sample behind the tag; null while there is none. */
  readonly ageMs: number | null;
}

/** Whether a condition may read it: a tag without a maximum age has none. */
export function isWithinAge(age: TagAge | undefined): boolean {
  return age === undefined || (age.ageMs !== null && age.ageMs <= age.maxAgeMs);
}

/** `message` of a link whose worker does not scan yet. */
export const STARTING = 'starting';

/** `message` of a link whose worker somebody has restarted, until the new one scans: what is wanted is no fault. */
export const RESTART_ASKED = 'restarting, as asked for';

export interface WriteResult {
  readonly ok: boolean;
  readonly code?: 'unknown_tag' | 'read_only_tag' | 'out_of_range' | 'invalid_value' | 'write_failed' | 'device_unreachable' | 'outputs_withheld' | 'busy' | 'runtime_unreachable';
  readonly message: string;
}

export interface DeviceResetResult {
  /** The runtime has answered, and executes the module. */
  readonly ok: boolean;
  /** Why not; '' when it has. */
  readonly message: string;
  /** One entry per device that was in fault. */
  readonly blocks: readonly DeviceReset[];
}

export interface ScanStatistics {
  readonly scanCount: number;
  readonly heartbeatAtMs: number;
  /** The same by the monotonic clock of the process; 0 before the first scan. */
  readonly heartbeatMonoMs: MonoMs;
  readonly lastScanUs: number;
  readonly maxScanUs: number;
  readonly latenessUs: number;
  readonly maxLatenessUs: number;
  readonly missed: number;
  readonly overruns: number;
}

/** Real-time priority of scan threads. */
export interface Realtime {
  readonly granted: boolean;
  /** Why not; empty when granted. */
  readonly reason: string;
}

/** Link to the worker of one unit. It outlives restarts of the worker: `epoch` rises with each. */
export interface UnitLink {
  readonly site: string;
  readonly unit: string;
  readonly epoch: number;
  readonly ready: boolean;
  readonly message: string;
  readonly startedAtMs: WallMs;
  /** The same by the monotonic clock of the process, to be compared with `heartbeatMonoMs`. */
  readonly startedMonoMs: MonoMs;
  /** Of the thread the worker runs on now. */
  readonly realtime: Realtime;
  /** Plant time to wall time. */
  readonly timeScale: number;
  /** Revision of the plan the worker has loaded; the tag list belongs to it. */
  readonly planRevision: number;
  readonly tags: readonly TagPlan[];
  /** Index of a tag in `tags`; -1 when unknown. */
  tagIndex(address: string): number;
  /** Copies one consistent snapshot for the `reading` calls that follow; false when nothing was ever published. */
  refresh(): boolean;
  /** Reading of the last snapshot. */
  reading(index: number): TagReading;
  statistics(): ScanStatistics;
  /** How often the network was scanned since its plan was loaded; 0 while it is not in the plan. */
  networkScans(network: string): number;
  /** Hash of the network as it is scanned, which may not be the last one sent; empty while it is not in the plan. */
  networkHash(network: string): string;
  /** The alarm definition as it is scanned, which may not be the last one sent; undefined while it is not in the plan. */
  alarmPlan(definition: string): AlarmPlan | undefined;
  /** Settles when the unit has taken the value or never will: not ok is never a value that takes effect later. */
  write(address: string, value: Value): Promise<WriteResult>;
  /** Resets latched device faults of a module (ADR 0030); `moves`: also of a device that would move at once. */
  resetDevices(module: string, moves: boolean): Promise<DeviceResetResult>;
  inspect(what: 'network' | 'diagnostics' | 'phase', name: string): Promise<unknown>;
  loadPhase(plan: PhasePlan): void;
  send(message: UnitInbound): void;
}

export interface UnitRuntimes {
  link(site: string, unit: string): UnitLink | undefined;
  links(): readonly UnitLink[];
  /** Every message of every worker, after the link has taken what it keeps itself (texts, results). */
  onMessage(listener: (link: UnitLink, message: UnitOutbound) => void): void;
  /** A worker became ready, stopped, or loaded a new plan. */
  onChange(listener: (link: UnitLink, what: 'ready' | 'down' | 'plan') => void): void;
}
