/** The chart engine as the scan drives it; `runtime/chart/phase-set.ts` is the one there is. */
import type { ChartHost } from '../chart/host.js';
import type { PhasesState } from '../chart/snapshot.js';
import type { PhasePlan, RuntimeSettings, UnitInbound } from '../port.js';
import type { Checksum } from '../vocabulary/checksum.js';
import type { Mode } from '../vocabulary/modes.js';
import type { ChartChange } from '../vocabulary/steering.js';

export interface PhaseEngine {
  load(plan: PhasePlan): void;
  drop(name: string): void;
  /** Scope of a loaded phase; undefined when there is none of that name. */
  scopeOf(name: string): string | undefined;
  /** Whether a phase of the scope is loaded. */
  hasScope(scope: string): boolean;
  /** Slots may have moved: a new plan was loaded. */
  rebind(): void;
  command(message: Extract<UnitInbound, { type: 'command' }>): void;
  setMode(phase: string, mode: Mode): void;
  steer(phase: string, change: ChartChange): void;
  answer(phase: string, waitId: string, value: number | string): void;
  requestResult(message: Extract<UnitInbound, { type: 'request-result' }>): void;
  signalsChanged(): void;
  /** The batch controller has been silent for `orphanTimeoutMs`. */
  controllerLost(): void;
  scan(dtMs: number): void;
  inspect(name: string): unknown;
  /** Everything it carries from scan to scan, and the way back (deterministic replay). */
  snapshot(): PhasesState;
  restore(saved: PhasesState): void;
  sum(checksum: Checksum): void;
}

export type PhaseEngineFactory = (host: ChartHost, settings: RuntimeSettings) => PhaseEngine;
