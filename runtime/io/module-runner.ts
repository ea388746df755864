/** What the probe asks of whatever serves one I/O module, and what that may ask of the probe. */
import type { ChannelSample, HeldOutput, HoldAsk, HoldRefusal, ProbeModule, ProbeOutbound, ProbeStatistics } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import type { WallMs } from '../vocabulary/times.js';
import type { CallOutcome } from './driver.js';
import type { Clock } from '../vocabulary/clock.js';
import type { DiscoverReply } from './discovery.js';
import type { Exchange } from './device-answers.js';

export type ModuleState = Extract<ProbeOutbound, { type: 'module' }>['state'];
export type HoldReply = Omit<Extract<ProbeOutbound, { type: 'hold-result' }>, 'type' | 'id'>;
export type WriteReply = Omit<Extract<ProbeOutbound, { type: 'write-result' }>, 'type' | 'id'>;

export interface ProbeSettings {
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly readbackTimeoutMs: number;
}

/** What a module tells of its outputs beside its state. */
export type OutputFacts = Extract<ProbeOutbound, { type: 'module' }>['outputs'];

export const OUTPUTS_UNKNOWN: OutputFacts = { withheld: '', secondMaster: false, mismatched: [], failSafeTaken: false };

export interface RunnerHost {
  readonly clock: Clock;
  /** In [0, 1): jitter of the back-off. */
  random(): number;
  settings(): ProbeSettings;
  report(module: string, state: ModuleState, message: string, outputs: OutputFacts): void;
  /** A module waits until then before it tries its device again; 0: it does not wait. */
  nextAttempt(module: string, atMs: WallMs): void;
  /** What was written when the device came, or when its outputs were no longer withheld. */
  resumed(module: string, outputs: readonly { readonly channel: string; readonly value: Value }[]): void;
  /** What became of held outputs when their module was no longer served. */
  holdEnded(module: string, holder: string, outputs: readonly HeldOutput[]): void;
  /** Something of ours has thrown while it served the module: the module begins anew, the others go on. */
  fault(module: string, fault: unknown): void;
}

export interface ModuleRunner {
  /** Takes over channels, image and fail-safe values in place (decisions D-IO-03). */
  update(module: ProbeModule): void;
  /** Looks at outputs, heartbeat and fail-safe; called at every wake and at least every 50 ms. */
  lookAtOutputs(): void;
  /** `isForChart`: a chart waits for it, so it goes before what people ask. */
  read(channels: readonly string[], isForChart: boolean): Promise<readonly ChannelSample[]>;
  write(channel: string, value: Value): Promise<WriteReply>;
  /** Calls a method of the device. */
  call(objectId: string, methodId: string, args: readonly Value[], timeoutMs: number): Promise<CallOutcome>;
  /** Asks the device what it is and whether it has the channels configured. */
  discover(timeoutMs: number): Promise<DiscoverReply>;
  /** The last request to the device and its answer; undefined where none is known. */
  lastExchange(): Exchange | undefined;
  /** Ends forcing; only simulated modules have any. */
  release(channels: readonly string[]): readonly string[];
  /** Outputs in the hand of one holder (ADR 0078). */
  hold(holder: string, ask: HoldAsk): Promise<HoldReply>;
  /** Writes the fail-safe values, and nothing after them; resolves when the device has them or does not take them. */
  takeFailSafe(): Promise<void>;
  /** What was counted of the way to the device; absent where there is none. */
  statistics?(): ProbeStatistics;
  close(): Promise<void>;
}

export function writeRefused(code: NonNullable<WriteReply['code']>, message: string): WriteReply {
  return { ok: false, code, message, forced: false, readback: null };
}

export function badSample(channel: string, address: string, atMs: number, message: string): ChannelSample {
  return { channel, address, value: null, quality: 'Bad', atMs, message };
}

export function holdRefused(code: HoldRefusal, message: string): HoldReply {
  return { ok: false, code, message, outputs: [] };
}
