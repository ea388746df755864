/** Networks in place: what loading makes of the plans, and the arrays they live in. */
import type { NetworkPlan } from '../port.js';
import type { DataType } from '../vocabulary/data-types.js';
import type { HotFunctions } from './arena.js';
import type { CompiledShape, Layout } from './compile.js';
import type { LinkedNetwork } from './link.js';

/** One network in place. */
export interface Instance {
  readonly plan: NetworkPlan;
  /** Undefined while the network cannot be loaded. */
  readonly loaded: LoadedNetwork | undefined;
  state: 'Running' | 'Degraded' | 'Error';
  message: string;
  faulted: readonly string[];
  /** Hash over the faulted blocks of the last scan: tells a change without comparing names. */
  faultHash: number;
}

export interface LoadedNetwork {
  readonly linked: LinkedNetwork;
  readonly layout: Layout;
  readonly shape: CompiledShape;
  /** First slot, constant, fault flag and channel number. */
  sb: number;
  pb: number;
  fb: number;
  wb: number;
  run: Run | undefined;
}

/** Networks of one shape that one call of the generated function scans. */
export interface Run {
  readonly shape: CompiledShape;
  compiled: HotFunctions;
  readonly periodMs: number;
  /** Unit scans per period. */
  readonly every: number;
  readonly instances: Instance[];
  /** Place in the order of runs. */
  readonly depth: number;
  /** Copies before the run, in pairs: destination and source slot in `S`; slot and channel number. */
  wires: Int32Array;
  channels: Int32Array;
  /** Inputs from tags with a maximum age, in threes: destination slot, channel number, bit of the age. */
  ages: Int32Array;
  outputs: OutputWire[];
  /** Unit scans since the last execution; negative before the first. */
  since: number;
  scanCount: number;
  lastMs: number;
  /** The next scan takes its time: the first, and those after somebody looked. The clock costs ten blocks and allocates. */
  timesNext: boolean;
  hadFaults: boolean;
}

/** From a slot to a channel of a process image. */
export interface OutputWire {
  readonly image: number;
  readonly channel: number;
  readonly slot: number;
}

/** A slot of which the value survives a restart. */
export interface RetainedSlot {
  readonly network: string;
  /** Empty for variables and stored tags. */
  readonly block: string;
  readonly name: string;
  readonly slot: number;
  readonly type: DataType;
  /** Saved only once a tag write replaced the constant. */
  readonly onlyWritten: boolean;
}
