/**
 * What the chart engine needs from the scan it runs in. Addresses become slots when a phase or a plan is loaded; inside
 * a scan nothing is looked up by name.
 */
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import type { QualityCode } from '../vocabulary/quality.js';
import type { Told } from '../vocabulary/told.js';
import type { UnitOutbound } from '../port.js';

export interface ChartHost {
  /** Slot of `<controlModule>.<tag>`, `<program>.<variable>` or `<ioModule>:<channel>`; -1 when there is none. */
  slot(address: string): number;
  type(slot: number): DataType;
  /** Value as published in this scan; TIME in ms, STRING as text. */
  read(slot: number): Value;
  quality(slot: number): QualityCode;
  /** A cyclic tag older than its I/O module, or the tag itself, allows. */
  stale(slot: number): boolean;
  /** The maximum age of a tag, in ms, whose sample is older; 0 of every other tag. */
  exceededAgeMs?(slot: number): number;
  /** Equipment mode of the control module that owns the slot; Automatic for program variables. */
  mode(slot: number): Mode;
  /** Null when taken over; else the failure rule of decisions 3.5 (`write-read-only`, `write-range`, `write-failed`). */
  write(slot: number, value: Value): { readonly rule: string; readonly message: string; readonly told?: Told } | null;
  /** Read-back of the last write through a chart: false while it is outstanding, a rule once it failed. */
  writeSettled(slot: number): { readonly settled: boolean; readonly rule?: string; readonly message?: string; readonly told?: Told };
  /** An I/O module that has been lost longer than `ioLostHoldDelayMs`. */
  ioLost(ioModule: string): boolean;
  /** Signal or barrier of a scope that the gateway has reported TRUE. */
  signal(scope: string, name: string): boolean;
  emit(message: UnitOutbound): void;
  /** Wall clock in ms, for records and prompts. */
  nowMs(): number;
  /** Monotonic clock in ms for time-outs that count wall time; without it the wall clock is used, never backwards. */
  monoMs?(): number;
  uuid(): string;
}
