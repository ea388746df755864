/**
 * Every message in and out of a unit runtime, a scan thread and an I/O probe: the runtime's only door.
 *
 * Messages are plain serialisable objects, so the same link runs over a MessagePort here and over a socket when a unit
 * runtime or a probe runs on another node. Values never travel this way on the hot path: they go through the tag table
 * and the process images (SharedArrayBuffers named in the plans).
 */
import type { Told } from './vocabulary/told.js';
import type { MonoMs, WallMs } from './vocabulary/times.js';
import type { CallOutcome, Discovery, Exchange } from './io/device-answers.js';
import type { Protocol } from './io/protocols.js';
import type { AlarmCondition, AlarmEdge, AlarmGate, AlarmPlan } from './vocabulary/alarm.js';
import type { Chart, ChartName, ExceptionChartName } from './vocabulary/chart.js';
import type { DataType, Value } from './vocabulary/data-types.js';
import type { Mode } from './vocabulary/modes.js';
import type { BlockSpec, CompositeType, Connection, NetworkVariable, VariableBinding } from './vocabulary/network.js';
import type { Command, State } from './vocabulary/states.js';
import type { ChartChange } from './vocabulary/steering.js';

// ---------------------------------------------------------------- unit plan

/** Everything one unit runtime executes. A new plan replaces the old one between two scans (hot swap). */
export interface UnitPlan {
  readonly site: string;
  readonly unit: string;
  /** Rises with every plan sent; echoed in `plan-loaded`. */
  readonly revision: number;
  /** How often the worker comes round; the intervals of charts and networks are multiples of it. */
  readonly scanIntervalMs: number;
  /** Scan interval of the unit, by which its charts run; when it is not given, `scanIntervalMs`. */
  readonly chartIntervalMs?: number;
  readonly timeScale: number;
  /** In execution order: control modules (a source of an input binding before its reader), then programs by name. */
  readonly networks: readonly NetworkPlan[];
  readonly composites: readonly CompositeType[];
  /** Slot of a tag in the tag table = its index here. */
  readonly tags: readonly TagPlan[];
  readonly table: SharedArrayBuffer;
  /** One Float64 per network, in the order of `networks`: how often it was scanned. */
  readonly scans?: SharedArrayBuffer;
  readonly images: readonly ImagePlan[];
  /** Modules of the unit that are not in Automatic when the plan is loaded. */
  readonly moduleModes: Readonly<Record<string, Mode>>;
  /** Interlock bypasses in force (D-PROG-03); when given, no other one stays. Without `blocks` all interlocks of the module. */
  readonly bypasses?: readonly { readonly module: string; readonly blocks?: readonly string[] }[];
  /** Alarm definitions on tags of the unit; which of them are armed is told by `alarm-gates`. */
  readonly alarms?: readonly AlarmPlan[];
  readonly settings: RuntimeSettings;
  /** Retained values saved by an earlier epoch (`retained` messages), by network. */
  readonly retained: Readonly<Record<string, RetainedNetwork>>;
}

export interface RuntimeSettings {
  readonly loopLimit: number;
  readonly statementBudget: number;
  readonly exceptionChartTimeoutMs: number;
  readonly retainIntervalMs: number;
  readonly readbackTimeoutMs: number;
  readonly ioLostHoldDelayMs: number;
  /** Resume takes a phase that is Pausing back to Running (decisions 3.2). */
  readonly resumeCancelsPause: boolean;
  /** Phases with an edge-local hold go to Held after so long a silence of the gateway (decisions Q-ST-02); 0: never. */
  readonly orphanTimeoutMs: number;
}

export interface NetworkPlan {
  /** Control-module or program name; unique on the unit. */
  readonly name: string;
  readonly owner: 'module' | 'program';
  /** Networks of one template have one shape and share one compiled function; a program's own name otherwise. */
  readonly shape: string;
  readonly scanIntervalMs: number;
  /** What people should know of it although it runs: what leads nowhere, an interval that is not the one asked for. */
  readonly note?: string;
  /** Hash of blocks, connections and bindings: key of the retained values. */
  readonly hash: string;
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  readonly variables: readonly NetworkVariable[];
  readonly variableBindings: readonly VariableBinding[];
  /** How each input variable is fed: a tag of the unit read with its quality, or a constant. What is to be read from and is not there, or is no value of the type, is Bad. */
  readonly inputs: readonly { readonly variable: string; readonly tag?: number; readonly value?: Value; readonly isMissing?: true }[];
  /** Channel of each I/O block (AI, AO, DI, DO), by block name, as indexes into `images` and its channels. */
  readonly channels: readonly { readonly block: string; readonly image: number; readonly channel: number }[];
}

export interface TagPlan {
  /** `<module>.<tag>` or `<program>.<variable>`. */
  readonly address: string;
  readonly network: string;
  readonly name: string;
  readonly type: DataType;
  readonly writable: boolean;
  /** Numeric limits of a write; absent when not declared. */
  readonly engMin?: number;
  readonly engMax?: number;
  readonly cyclic: boolean;
  /** A condition that reads an older sample is INVALID (ADR 0070); absent: no limit but that of the I/O module. */
  readonly maxAgeMs?: number;
  readonly binding:
    | { readonly kind: 'port'; readonly block: string; readonly port: string }
    | { readonly kind: 'variable'; readonly variable: string }
    | { readonly kind: 'channel'; readonly image: number; readonly channel: number }
    | { readonly kind: 'stored'; readonly initial: Value };
}

export interface ImagePlan {
  readonly module: string;
  readonly buffer: SharedArrayBuffer;
  readonly staleAfterMs: number;
  readonly channels: readonly {
    readonly name: string;
    readonly address: string;
    readonly direction: 'input' | 'output';
    readonly dataType: 'bool' | 'int' | 'float' | 'string';
    readonly hasReadback: boolean;
  }[];
}

export type { AlarmCondition, AlarmGate, AlarmPlan };

/** Values of blocks marked as retained, PID state, and values written through tags. */
export interface RetainedNetwork {
  readonly hash: string;
  /** `<block>` -> state and port values by name. */
  readonly blocks: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}

// ---------------------------------------------------------------- phases

export interface TypedName {
  readonly name: string;
  readonly type: DataType;
}

/** One phase as the unit runtime runs it. */
export interface PhasePlan {
  readonly name: string;
  /** Batch name, or the name of the ad-hoc root: the scope of its signals. */
  readonly scope: string;
  readonly running: Chart;
  readonly charts: Readonly<Partial<Record<ExceptionChartName, Chart>>>;
  readonly parameters: readonly (TypedName & { readonly value: string })[];
  readonly outputs: readonly TypedName[];
  readonly variables: readonly (TypedName & { readonly initial?: string })[];
  /** Control module bound to each role; an unmapped optional role is absent. */
  readonly roles: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly restartStep: string;
  readonly edgeLocalHold: boolean;
  readonly mode: Mode;
  /** Signals this phase produces while Running, with the condition evaluated in its running chart. */
  readonly signals: readonly { readonly name: string; readonly condition: string }[];
  /** All signal and barrier names this phase may read. */
  readonly knownSignals: readonly string[];
  /** I/O modules behind the roles; a lost one holds the phase (`io-lost`). */
  readonly ioModules: readonly string[];
  /** The last durable record of an interrupted run. */
  readonly checkpoint?: PhaseCheckpoint;
}

export type FailureClass = 'hold' | 'fail';

export interface Failure {
  readonly class: FailureClass;
  readonly rule: string;
  readonly message: string;
  readonly told?: Told;
  readonly step: string;
  /** Wall time in ms. */
  readonly sinceMs: number;
  /** An active failure blocks Restart; a momentary one does not (decisions 3.5). */
  readonly active: boolean;
  /** Address or module whose condition keeps the failure active. */
  readonly subject?: string;
}

export interface PromptWait {
  /** UUID; promptID, resultID and id of the wait are the same text. */
  readonly id: string;
  readonly kind: 'acknowledge' | 'choice' | 'value';
  readonly text: string;
  readonly stepName: string;
  readonly openedAtMs: number;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  /** Present on a wait of AWAIT_RESULT. */
  readonly resultKey?: string;
}

export interface StepRecord {
  readonly step: string;
  /** UUID of the activation. */
  readonly activation: string;
  /** Plant ms since activation, time in Held and Paused excluded. */
  readonly elapsedMs: number;
  readonly actionState: 'pending' | 'running' | 'suspended' | 'finished' | 'failed';
  /** Label of the compiled action to go on from, and the temporaries it needs; opaque to everyone else. */
  readonly resumePoint?: { readonly label: number; readonly temporaries: readonly Value[] };
  readonly wait?: PromptWait;
  readonly answer?: Value;
  /** How the suspended call stands; opaque to everyone but the chart engine. */
  readonly suspension?: WaitRecord['suspension'];
  /** Results of calls with an effect in conditions that leave the step; opaque to everyone but the chart engine. */
  readonly kept?: readonly (WaitRecord & { readonly site: string; readonly value?: Value })[];
}

/** A suspended call in a durable record. */
export interface WaitRecord {
  readonly wait?: PromptWait;
  readonly answer?: Value;
  readonly suspension?: {
    readonly builtin: string;
    readonly remainingMs: number;
    readonly answered: boolean;
    readonly failure?: { readonly rule: string; readonly message: string; readonly told?: Told };
  };
}

export interface ChartRecord {
  readonly chart: ChartName;
  /** Of the chart it was written of; '' when that is lost, and with it where the chart stood. */
  readonly hash: string;
  readonly steps: readonly StepRecord[];
  readonly completedSteps: readonly string[];
  readonly firedTransitions: readonly string[];
  readonly scanCount: number;
  readonly complete: boolean;
}

/** The durable record of a phase run: written at every change of decisions 2.6. */
export interface PhaseCheckpoint {
  readonly state: State;
  readonly mode: Mode;
  readonly runCount: number;
  /** Plant ms spent in Running and Pausing in this run. */
  readonly runElapsedMs: number;
  readonly running: ChartRecord;
  /** The exception chart being executed, when there is one. */
  readonly exception?: ChartRecord;
  /** Variables and outputs by name; a name that is absent is unset. INT beyond 2^53 as decimal text. */
  readonly variables: Readonly<Record<string, Value>>;
  /** Outputs assigned so far. */
  readonly assigned: readonly string[];
  readonly failure?: Failure;
  readonly holdIncomplete?: boolean;
  readonly pausedAt?: string;
  readonly returnTo?: State;
  readonly raisedSignals: readonly string[];
  readonly consumedSignals: readonly string[];
  readonly savedAtMs: number;
}

export interface TransitionReport {
  readonly index: number;
  readonly fromStep: string;
  readonly toStep: string;
  readonly conditionST: string;
  readonly evaluated: boolean;
  readonly met: boolean;
  readonly result: 'TRUE' | 'FALSE' | 'INVALID' | 'ERROR';
  readonly reason?: string;
  /** `now` renders the operands with their present values, for `blockedBecause`. */
  readonly subConditions: readonly { readonly expression: string; readonly met: boolean; readonly now?: string | undefined }[];
}

/** Where a chart stands, as `sfcStatus` serves it. */
export interface SfcStatus {
  readonly activeSteps: readonly string[];
  readonly completedSteps: readonly string[];
  readonly firedTransitions: readonly string[];
  readonly scanCount: number;
  readonly held: boolean;
  readonly transitionStates: readonly TransitionReport[];
  readonly variableSnapshot: Readonly<Record<string, string>>;
  readonly activeChart?: ChartName;
}

// ---------------------------------------------------------------- gateway -> unit runtime

export type UnitInbound =
  | { readonly type: 'plan'; readonly plan: UnitPlan }
  | { readonly type: 'phase'; readonly phase: PhasePlan }
  | { readonly type: 'drop-phase'; readonly phase: string }
  | {
      readonly type: 'command';
      readonly id: number;
      readonly phase: string;
      readonly command: Command;
      /** A system command may carry a failure, for example a child failure or a step time-out of a parent. */
      readonly failure?: { readonly class: FailureClass; readonly rule: string; readonly message: string; readonly told?: Told };
    }
  | { readonly type: 'phase-mode'; readonly phase: string; readonly mode: Mode }
  /** A person changes the active steps of the running chart (ADR 0007). */
  | { readonly type: 'active-step'; readonly phase: string; readonly change: ChartChange }
  | { readonly type: 'module-mode'; readonly module: string; readonly mode: Mode }
  /** Which alarm definitions are armed and which alarms stand; definitions that are not named stay as they are. */
  | { readonly type: 'alarm-gates'; readonly gates: readonly AlarmGate[] }
  /** Sets or ends the interlock bypass of a module (D-PROG-03); without `blocks` of all its interlocks. */
  | { readonly type: 'bypass'; readonly module: string; readonly active: boolean; readonly blocks?: readonly string[] }
  /** Resets the latched device faults of a module; `moves`: also of a device that would move at once. */
  | { readonly type: 'reset-devices'; readonly id: number; readonly module: string; readonly moves: boolean }
  | { readonly type: 'answer'; readonly phase: string; readonly waitId: string; readonly value: number | string }
  /** Names of the signals and barriers of a scope that are TRUE now; replaces the former set. */
  | { readonly type: 'signals'; readonly scope: string; readonly raised: readonly string[] }
  | { readonly type: 'write'; readonly id: number; readonly address: string; readonly value: Value }
  /** The caller of a `write` or of `reset-devices` waits no longer: unless it has been taken, it is not. Answered by a result. */
  | { readonly type: 'withdraw'; readonly id: number }
  | { readonly type: 'inspect'; readonly id: number; readonly what: 'network' | 'diagnostics' | 'phase'; readonly name: string }
  /** Answer to a `request`. */
  | { readonly type: 'request-result'; readonly id: number; readonly ok: boolean; readonly value?: Value; readonly rule?: string; readonly message?: string }
  | { readonly type: 'time-scale'; readonly timeScale: number }
  /** Begins a recording of the scan inputs (ADR 0005), until a limit is reached or `record-stop`; one at a time. */
  | { readonly type: 'record'; readonly recording: string; readonly durationMaxMs: number; readonly bytesMax: number }
  | { readonly type: 'record-stop'; readonly recording: string }
  /** A sign of life of the gateway, several times within `orphanTimeoutMs`. */
  | { readonly type: 'alive' }
  | { readonly type: 'stop' };

// ---------------------------------------------------------------- unit runtime -> gateway

export interface PhaseReport {
  readonly type: 'phase';
  readonly phase: string;
  readonly state: State;
  readonly previousState: State;
  readonly mode: Mode;
  /** What caused a state change: a command word, `complete`, `failure`, `restart`, or `` when only the chart moved. */
  readonly cause: string;
  readonly rule?: string;
  readonly checkpoint: PhaseCheckpoint;
  readonly sfc: SfcStatus;
  /** Status of the exception chart when one is active. */
  readonly chart?: SfcStatus;
  readonly prompt?: PromptWait;
  /** Outputs assigned so far, in canonical text. */
  readonly outputs: readonly { readonly name: string; readonly type: DataType; readonly value: string }[];
  readonly atMs: number;
}

export type UnitOutbound =
  | { readonly type: 'plan-loaded'; readonly revision: number; readonly networks: readonly NetworkReport[] }
  | ({ readonly type: 'network' } & NetworkReport)
  /** A text value: its id stands in the tag table for the text from now on. */
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  /** Texts that no value has any more; their ids are never used again. */
  | { readonly type: 'texts-released'; readonly ids: readonly number[] }
  | PhaseReport
  | {
      readonly type: 'command-result';
      readonly id: number;
      readonly phase: string;
      readonly command: Command;
      readonly accepted: boolean;
      readonly rule?: string;
      readonly message?: string;
      readonly told?: Told;
      readonly state: State;
    }
  | { readonly type: 'message'; readonly phase: string; readonly step: string; readonly severity: 'Info' | 'Warning' | 'Error'; readonly text: string; readonly atMs: number }
  /** Nobody will answer it any more; `state` is what the phase was in or went to. */
  | { readonly type: 'prompt-cancelled'; readonly phase: string; readonly prompt: PromptWait; readonly state: State; readonly atMs: number }
  /** A builtin that only the gateway can carry out. Suspending ones wait for `request-result`. */
  | {
      readonly type: 'request';
      readonly id: number;
      readonly phase: string;
      readonly step: string;
      readonly builtin: 'COMMAND' | 'MODE' | 'CALL_SERVICE' | 'MTP_COMMAND' | 'MTP_STATE' | 'MTP_COMMAND_ENABLED';
      readonly args: readonly Value[];
      /** When the chart asked: what has a limit (MTP_COMMAND) has it from then on. */
      readonly atMonoMs: MonoMs;
    }
  /** The chart does not wait for it any more, or is held: what has not gone out to a device by now does not go out. */
  | { readonly type: 'request-given-up'; readonly phase: string; readonly id: number }
  | { readonly type: 'signal-raised'; readonly phase: string; readonly scope: string; readonly signal: string; readonly atMs: number }
  | { readonly type: 'signal-read'; readonly phase: string; readonly scope: string; readonly name: string; readonly consumed: boolean; readonly atMs: number }
  | { readonly type: 'alarm'; readonly phase: string; readonly severity: 'Medium' | 'High'; readonly message: string; readonly told?: Told; readonly atMs: number }
  /** The condition of an alarm definition has come or gone; `lost` and `evaluable`: its tag stopped or began to be Good. */
  | {
      readonly type: 'alarm-edge';
      readonly definition: string;
      readonly edge: AlarmEdge;
      readonly value: Value;
      readonly atMs: number;
    }
  | { readonly type: 'event'; readonly phase: string; readonly text: string; readonly told?: Told; readonly atMs: number }
  | {
      readonly type: 'write-result';
      readonly id: number;
      readonly ok: boolean;
      readonly code?: 'unknown_tag' | 'read_only_tag' | 'out_of_range' | 'invalid_value' | 'write_failed' | 'device_unreachable' | 'outputs_withheld' | 'busy' | 'withdrawn';
      readonly message: string;
    }
  /** One entry per device that was in fault; `isLoaded`: the module is executed, so that it is known. */
  | { readonly type: 'reset-result'; readonly id: number; readonly isLoaded: boolean; readonly blocks: readonly DeviceReset[] }
  | { readonly type: 'inspect-result'; readonly id: number; readonly result: unknown }
  /** All overrides in force, told when one begins or ends (decisions 5.1 rule 7). */
  | { readonly type: 'overrides'; readonly overrides: readonly { readonly address: string; readonly value: Value }[] }
  /** A bypassed interlock would have tripped (D-PROG-03). */
  | { readonly type: 'shadow-trip'; readonly module: string; readonly block: string; readonly atMs: number }
  | { readonly type: 'retained'; readonly networks: Readonly<Record<string, RetainedNetwork>> }
  /** One part of a recording, in the order of the parts. */
  | { readonly type: 'recording'; readonly recording: string; readonly part: RecordingPart }
  | { readonly type: 'stopped' };

/** What became of the reset of one device block. */
export interface DeviceReset {
  readonly block: string;
  readonly outcome: 'reset' | 'not-at-rest' | 'would-move' | 'no-answer';
}

export interface NetworkReport {
  readonly network: string;
  readonly state: 'Running' | 'Degraded' | 'Error';
  readonly message: string;
  readonly faultedBlocks: readonly string[];
}

// ---------------------------------------------------------------- recordings (ADR 0005)

/** A plan without its shared memory: each buffer is replaced by its number of bytes. */
export interface RecordedPlan extends Omit<UnitPlan, 'table' | 'scans' | 'images'> {
  readonly table: number;
  readonly scans?: number;
  readonly images: readonly (Omit<ImagePlan, 'buffer'> & { readonly buffer: number })[];
}

export type RecordedMessage =
  | Exclude<UnitInbound, { readonly type: 'plan' | 'inspect' | 'record' | 'record-stop' | 'stop' }>
  | { readonly type: 'plan'; readonly plan: RecordedPlan };

export interface RecordingStart {
  /** Version of this form. */
  readonly form: number;
  /** Product and engine that made it, in words; added by the gateway. */
  readonly madeBy?: string;
  readonly site: string;
  readonly unit: string;
  /** Number of the last scan before the recording; the first one recorded follows it. */
  readonly scan: number;
  readonly wallMs: WallMs;
  /** Scans between two checksums. */
  readonly checksumEvery: number;
  readonly plan: RecordedPlan;
  /** State of the worker; opaque to everyone but the replay of the same version of the product. */
  readonly state: unknown;
}

/** Why a recording ended; without `fault` its state at the end is there. */
export type RecordingEnding = 'stopped' | 'duration' | 'bytes' | 'runtime-stopped' | 'fault';

export type RecordingPart =
  | { readonly kind: 'start'; readonly start: RecordingStart }
  /** Scans `first` to `last` (runtime/replay/inputs.ts). */
  | { readonly kind: 'scans'; readonly first: number; readonly last: number; readonly bytes: Uint8Array }
  /** A message taken before scan `scan`, with the clocks of that moment. */
  | { readonly kind: 'message'; readonly scan: number; readonly wallMs: WallMs; readonly monoMs: MonoMs; readonly message: RecordedMessage }
  /** Texts that got their ids before scan `scan`. */
  | { readonly kind: 'texts'; readonly scan: number; readonly texts: readonly string[] }
  | { readonly kind: 'end'; readonly scan: number; readonly wallMs: WallMs; readonly ending: RecordingEnding; readonly state?: unknown }
  /** The recording was refused: there is no plan, or another one is under way. */
  | { readonly kind: 'refused'; readonly message: string };

/** A scan by its number, or the first one at or after a wall time. */
export type ReplayBound = { readonly scan: number } | { readonly atMs: number };

/** What a replay thread is started with. */
export interface ReplayRequest {
  readonly file: string;
  /** `<network>.<block>.<port>`, or the address of a tag. */
  readonly ports: readonly string[];
  readonly from?: ReplayBound;
  /** Last scan, inclusive. */
  readonly to?: ReplayBound;
  /** A row for every scan; else only where a value or quality changed. */
  readonly everyScan: boolean;
  /** Only tell the ports there are. */
  readonly list: boolean;
}

export interface ReplayPort {
  readonly name: string;
  readonly type: DataType;
}

export interface ReplayRow {
  readonly scan: number;
  readonly atMs: number;
  readonly values: readonly Value[];
  readonly qualities: readonly string[];
}

export type ReplayOutbound =
  | {
      readonly type: 'opened';
      readonly site: string;
      readonly unit: string;
      readonly scan: number;
      readonly atMs: number;
      readonly madeBy: string;
    }
  /** `unknown`: ports asked for that the plan at the start does not have; a hot swap may bring them. */
  | { readonly type: 'ports'; readonly ports: readonly ReplayPort[]; readonly unknown: readonly string[] }
  | { readonly type: 'rows'; readonly rows: readonly ReplayRow[] }
  | {
      readonly type: 'verdict';
      readonly outcome: 'identical' | 'different' | 'damaged' | 'unusable';
      /** Scan of the difference or damage; the last one when there is none. */
      readonly scan: number;
      readonly scans: number;
      readonly checksums: number;
      /** The recording has its end: it was not cut off. */
      readonly ended: boolean;
      readonly message: string;
    };

// ---------------------------------------------------------------- rehearsal (ADR 0006)

/** The copy of a plant that a rehearsal runs on. */
export interface RehearsalPlan {
  /** Time scale 1: the plant clock does not follow the wall clock. */
  readonly units: readonly UnitPlan[];
  /** All of protocol simulation. */
  readonly modules: readonly ProbeModule[];
  /** Wall time at plant time 0. */
  readonly startWallMs: WallMs;
}

export type RehearsalInbound =
  | { readonly type: 'open'; readonly plan: RehearsalPlan }
  /** Hands over messages and goes on until a unit says something that counts, at most to this plant time. */
  | { readonly type: 'advance'; readonly untilMs: number; readonly messages: readonly RehearsalMessage<UnitInbound>[] };

export interface RehearsalMessage<Message> {
  readonly unit: string;
  readonly message: Message;
}

/** An output of an alarm block has become TRUE. */
export interface RehearsalAlarm {
  /** `<network>.<block>`. */
  readonly source: string;
  readonly unit: string;
  readonly output: string;
  /** ms of plant time. */
  readonly atMs: number;
}

/** Answer to every message: what was said since the last one. */
export interface RehearsalOutbound {
  readonly plantMs: number;
  readonly messages: readonly RehearsalMessage<UnitOutbound>[];
  readonly alarms: readonly RehearsalAlarm[];
  /** Modules whose simulation cannot run, with the reason. */
  readonly problems: readonly { readonly module: string; readonly message: string }[];
}

// ---------------------------------------------------------------- gateway <-> scan thread (ADR 0012)

/** What a scan thread is made with. */
export interface ScanThreadStart {
  /** Memory of `vocabulary/scan-thread.ts`. */
  readonly cells: SharedArrayBuffer;
  /** Port of the link; without it the parent port serves. */
  readonly port?: unknown;
}

/** A runtime is a unit for as long as the thread has it; its number, from 1 on, never comes again in this thread. */
export type ScanThreadInbound =
  | { readonly type: 'host'; readonly runtime: number }
  | { readonly type: 'unit'; readonly runtime: number; readonly message: UnitInbound }
  /** Ends a runtime between two turns, as it is: nothing is saved. */
  | { readonly type: 'drop'; readonly runtime: number }
  | { readonly type: 'close' };

export type ScanThreadOutbound =
  | { readonly type: 'ready'; readonly threadId: number; readonly osThreadId: number }
  | { readonly type: 'unit'; readonly runtime: number; readonly message: UnitOutbound }
  /** The last of a runtime: it was stopped or dropped, or it has thrown `fault`. */
  | { readonly type: 'ended'; readonly runtime: number; readonly fault: string };

// ---------------------------------------------------------------- gateway <-> probe

/** How a module and its device secure what they say (decisions 7.5); every default filled in. */
export interface DeviceSecurity {
  readonly securityPolicy: 'None' | 'Basic256Sha256' | 'Aes128_Sha256_RsaOaep' | 'Aes256_Sha256_RsaPss';
  readonly securityMode: 'None' | 'Sign' | 'SignAndEncrypt';
  readonly authType: 'Anonymous' | 'UserName' | 'Certificate';
  readonly serverTrust: 'pinned' | 'ca' | 'any';
  /** Of the certificate that a person has confirmed; '' when nobody has. */
  readonly serverCertificateSha256: string;
  /** Where this box keeps the identity that it shows, and whom it trusts. */
  readonly folder: string;
  /** `serverTrust` any is for development only. */
  readonly isDevelopment: boolean;
}

/** What an engineer asks an OPC UA server beside the modules that are served (decisions Q-IO-06). */
export type ExplorerAsk =
  | { readonly what: 'identity' }
  | { readonly what: 'endpoints' }
  | { readonly what: 'browse'; readonly nodeId: string; readonly maxNodes: number }
  | { readonly what: 'search'; readonly text: string; readonly root: string }
  | { readonly what: 'variables' | 'services'; readonly root: string }
  | { readonly what: 'read'; readonly nodeIds: readonly string[] }
  | { readonly what: 'write'; readonly nodeId: string; readonly value: Value; readonly dataType?: string }
  /** Which of the addresses lead to the server that is asked. */
  | { readonly what: 'same-server'; readonly urls: readonly string[] }
  | { readonly what: 'method-args'; readonly objectId: string; readonly methodId: string };

/** Whether two addresses lead to one server; `unknown`: it cannot be told, and why. */
export type ServerComparison = { readonly verdict: 'same' | 'other' } | { readonly verdict: 'unknown'; readonly message: string };

export interface ExplorerRequest {
  readonly id: number;
  readonly endpointUrl: string;
  readonly security: DeviceSecurity;
  readonly credentials?: ProbeCredentials | undefined;
  /** For all of it. */
  readonly timeoutMs: number;
  readonly ask: ExplorerAsk;
}

/** A driver has changed what this box is known by: it is on record, and told to people. */
export interface BoxNotice {
  readonly action: 'Create' | 'Update';
  /** Of the certificate there is now. */
  readonly sha256: string;
  readonly message: string;
}

/** `reason`: the server was not reached or refuses, or what was asked for is no address of it. */
export type ExplorerReply =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  | { readonly id: number; readonly ok: false; readonly reason: 'unreachable' | 'invalid'; readonly opcStatus: string; readonly message: string };

/** What the explorer thread tells beside its answers: a fault where nobody waits for what it does. */
export type ExplorerOutbound = ExplorerReply | { readonly type: 'fault'; readonly seam: string; readonly fault: string } | { readonly type: 'notice'; readonly notice: BoxNotice };

export type { CallOutcome };
export type { Discovery, Exchange };

export interface ProbeModule {
  readonly site: string;
  readonly module: string;
  readonly protocol: Protocol;
  readonly address: string;
  /** Equal for modules of one device: protocol, endpoint and unit behind it. */
  readonly device?: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly channels: readonly ProbeChannel[];
  readonly simulation?: SimulationSpec;
  readonly failSafe?: {
    readonly posture?: string;
    readonly timeoutMs: number;
    readonly heartbeatChannel?: string;
    readonly outputs: readonly { readonly channel: string; readonly value: Value }[];
  };
  /** Only of protocols that know more than a user name (opcua). */
  readonly security?: DeviceSecurity;
  /** Why nothing is written to the device by this box; absent: it is. */
  readonly withheld?: string;
  /** The register of the device that says which box drives it. */
  readonly ownership?: { readonly address: string; readonly intervalMs: number; readonly takeFrom?: string; readonly deviceId: string };
  /** What it signs in with; absent where nothing is configured. */
  readonly credentials?: ProbeCredentials;
  readonly image: SharedArrayBuffer;
}

/** What a module signs in with, as the gateway has resolved it (ADR 0075). Never logged, reported or shown. */
export interface ProbeCredentials {
  readonly username?: string;
  readonly password?: string;
  /** In PEM; the key has no passphrase and is that of the certificate. */
  readonly certificatePem?: string;
  readonly keyPem?: string;
  /** Why something that the module names is not here, as a sentence for the operator: a driver that needs it does not connect. */
  readonly missing?: string;
}

/** Slot of a channel in the process image = its index in `ProbeModule.channels`. */
export interface ProbeChannel {
  readonly name: string;
  readonly address: string;
  readonly direction: 'input' | 'output';
  readonly dataType: 'bool' | 'int' | 'float' | 'string';
  readonly readbackAddress: string;
  /** 0: the module's option. */
  readonly pollIntervalMs: number;
  readonly initial?: Value;
  /** Width of the value range of an output, when known: the read-back tolerance is 0.1 % of it (decisions 7.7). */
  readonly span?: number;
}

export interface Behavior {
  readonly address: string;
  readonly type: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
}

export interface SimulationFault {
  readonly name: string;
  readonly address: string;
  readonly type: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly triggerMode: 'Manual' | 'Timed';
  readonly triggerAfterMs: number;
}

export interface SimulationSpec {
  readonly seed: number;
  /** Preset behaviours (addresses already mapped) merged with the inline ones, in execution order. */
  readonly behaviors: readonly Behavior[];
  readonly faults: readonly SimulationFault[];
  /** Modules of the same controller that are no simulation and that a behaviour reads (ADR 0069); they may be served by another probe. */
  readonly reads?: readonly ImagePlan[];
  /** Held until they are released: taken by a thread that has not served the module before; one that has knows them. */
  readonly forces?: readonly SimulationForce[];
}

export interface SimulationForce {
  readonly address: string;
  readonly value: Value;
}

export interface ProbePlan {
  readonly probe: string;
  readonly revision: number;
  readonly timeScale: number;
  readonly modules: readonly ProbeModule[];
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly readbackTimeoutMs: number;
}

/**
 * What somebody who holds the outputs of a module asks of its probe (ADR 0078). Nothing that logic commands is written meanwhile. The
 * holder gives a sign within `leaseMs`, or the probe puts back by itself what he has set.
 */
export type HoldAsk =
  | { readonly kind: 'take'; readonly leaseMs: number }
  /** Writes one output; a sign as well. */
  | { readonly kind: 'set'; readonly channel: string; readonly value: Value; readonly leaseMs: number }
  | { readonly kind: 'renew'; readonly leaseMs: number }
  /**
   * Puts back what was set and lets go; `before` for a probe that does not know the holder, because it was started since. It writes to outputs of that
   * `device` alone (`ProbeModule.device`), at the very addresses. The answer has a row for each of `before`.
   */
  | { readonly kind: 'return'; readonly device: string; readonly before: readonly LeftOutput[] };

/** `not_held`: the probe has let go already, or another one holds the outputs. `fail_safe_taken`: the fail-safe values stand there. */
export type HoldRefusal = 'not_held' | 'fail_safe_taken' | 'unknown_channel' | 'invalid_value' | 'device_unreachable' | 'device_write_failed' | 'outputs_withheld';

export interface HeldOutput {
  readonly channel: string;
  /** What it goes back to; null where that is not known. */
  readonly value: Value;
  /** Where the value is from: the device was asked, it was written last, or it is the fail-safe value. */
  readonly source: 'read' | 'written' | 'fail-safe' | 'unknown';
  /** After a `return`: whether the device has it again. */
  readonly isReturned?: boolean;
  readonly message?: string;
}

/** An output as a holder has left it, with its place in the device. */
export interface LeftOutput extends HeldOutput {
  readonly address: string;
  readonly dataType: ProbeChannel['dataType'];
}

export type ProbeInbound =
  | { readonly type: 'plan'; readonly plan: ProbePlan }
  /** Asks the device now. `isForChart`: a chart waits for it; else a person does. */
  | { readonly type: 'read'; readonly id: number; readonly module: string; readonly channels: readonly string[]; readonly isForChart?: boolean }
  | { readonly type: 'write'; readonly id: number; readonly module: string; readonly channel: string; readonly value: Value }
  | { readonly type: 'release'; readonly id: number; readonly module: string; readonly channels: readonly string[] }
  /** Calls a method of the device; answered within `timeoutMs`. */
  | {
      readonly type: 'call';
      readonly id: number;
      readonly module: string;
      readonly objectId: string;
      readonly methodId: string;
      readonly args: readonly Value[];
      readonly timeoutMs: number;
    }
  | { readonly type: 'hold'; readonly id: number; readonly module: string; readonly holder: string; readonly ask: HoldAsk }
  /** Asks the device what it is and whether it has the channels configured; answered within `timeoutMs`. */
  | { readonly type: 'discover'; readonly id: number; readonly module: string; readonly timeoutMs: number }
  /** Asks for the bytes of the last request to the device and its answer. */
  | { readonly type: 'exchange'; readonly id: number; readonly module: string }
  | { readonly type: 'time-scale'; readonly timeScale: number }
  | { readonly type: 'statistics'; readonly id: number; readonly module: string }
  /** The process is about to end by a fault: fail-safe values are the last that is written. */
  | { readonly type: 'fail-safe'; readonly id: number }
  | { readonly type: 'stop' };

export interface ErrorCounts {
  readonly silent: number;
  readonly refused: number;
  readonly lost: number;
  readonly malformed: number;
}

/** What a probe has counted of the way to a device since it began with the module (ADR 0076). */
export interface ProbeStatistics {
  /** Wall time, for people. */
  readonly sinceMs: number;
  readonly polls: number;
  /** Polls that had not ended when the next one was due. */
  readonly latePolls: number;
  /** Connections after the first. */
  readonly reconnects: number;
  readonly failedConnects: number;
  /** Polls in which the kind was met. */
  readonly errors: ErrorCounts;
  /** Of the polls that were answered, in ms: `counts` by the bounds of `ROUND_TRIP_UP_TO_MS`, and one more for what took longer. */
  readonly roundTrip: { readonly sumMs: number; readonly maxMs: number; readonly counts: readonly number[] };
  /** Null of a module that is read. */
  readonly arrivals: ArrivalCounts | null;
  /** In the order of the channels of the module: samples that had a value, and why the others had none; the age is null where there was no good sample. */
  readonly channels: readonly { readonly lastGoodAgeMs: number | null; readonly good: number; readonly errors: ErrorCounts }[];
}

/** What came by itself (ADR 0096): of a module that follows its device. */
export interface ArrivalCounts {
  /** Messages with samples, and those that only say that the subscription lives. */
  readonly notifications: number;
  readonly keepAlives: number;
  /** Signs that samples flow. */
  readonly proofs: number;
  /** Reads of every point because something was missed; each is a poll too. */
  readonly rereads: number;
}

export interface ChannelSample {
  readonly channel: string;
  readonly address: string;
  readonly value: Value;
  readonly quality: 'Good' | 'Uncertain' | 'Bad';
  readonly atMs: number;
  readonly message: string;
  /** The operator holds this simulated channel. */
  readonly forced?: boolean;
}

/** What the thread of a probe is made with. */
export interface ProbeThread {
  /** Whether it asks for a priority above ordinary work. */
  readonly goAhead: boolean;
  /** One Int32 that the thread raises while its event loop comes round. */
  readonly rounds?: SharedArrayBuffer;
}

export type ProbeOutbound =
  | { readonly type: 'ready'; readonly threadId: number; readonly isAhead: boolean }
  /** A fault of ours that is of no one module: it was contained, and the modules go on. */
  | { readonly type: 'fault'; readonly seam: string; readonly fault: string }
  | { readonly type: 'notice'; readonly notice: BoxNotice }
  | {
      readonly type: 'module';
      readonly module: string;
      readonly state: 'Pending' | 'Connected' | 'Degraded' | 'Disconnected' | 'Failed';
      readonly message: string;
      readonly outputs: {
        /** Why nothing is written; empty: it is. */
        readonly withheld: string;
        /** It is withheld because another box drives the device. */
        readonly secondMaster: boolean;
        /** Outputs that do not read back what was written. */
        readonly mismatched: readonly string[];
        readonly failSafeTaken: boolean;
      };
      readonly atMs: number;
    }
  /** The module is away and is tried again at `atMs` (wall); 0: it is tried now, or there. */
  | { readonly type: 'next-attempt'; readonly module: string; readonly atMs: number }
  /** What was written because the device came, or because its outputs are no longer withheld. */
  | { readonly type: 'outputs-resumed'; readonly module: string; readonly outputs: readonly { readonly channel: string; readonly value: Value }[]; readonly atMs: number }
  | { readonly type: 'read-result'; readonly id: number; readonly values: readonly ChannelSample[] }
  | {
      readonly type: 'write-result';
      readonly id: number;
      readonly ok: boolean;
      readonly code?: 'unknown_channel' | 'device_unreachable' | 'device_write_failed' | 'invalid_value' | 'outputs_withheld';
      readonly message: string;
      /** The device was asked and has not answered: it may have taken the value. */
      readonly isUnknown?: boolean;
      readonly forced: boolean;
      readonly readback: Value;
    }
  | { readonly type: 'call-result'; readonly id: number; readonly outcome: CallOutcome }
  /** Not `ok`: why the device could not be asked. */
  | { readonly type: 'discover-result'; readonly id: number; readonly ok: boolean; readonly message: string; readonly discovery?: Discovery }
  | { readonly type: 'exchange-result'; readonly id: number; readonly exchange?: Exchange }
  | { readonly type: 'release-result'; readonly id: number; readonly released: readonly string[] }
  /** Undefined of a module that no wire serves. */
  | { readonly type: 'statistics-result'; readonly id: number; readonly statistics: ProbeStatistics | undefined }
  /** A module is no longer served: what became of the outputs of its holder with the last attempt. A value that may have reached the device is told in the message. */
  | { readonly type: 'hold-ended'; readonly module: string; readonly holder: string; readonly outputs: readonly HeldOutput[] }
  /** A module of an earlier plan that is in none since this revision is closed: nothing of this thread reaches its device or its image. */
  | { readonly type: 'let-go'; readonly module: string; readonly revision: number }
  /** `outputs`: what a `take` found, or what became of each with a `return`. */
  | {
      readonly type: 'hold-result';
      readonly id: number;
      readonly ok: boolean;
      readonly code?: HoldRefusal;
      readonly message: string;
      readonly isUnknown?: boolean;
      readonly outputs: readonly HeldOutput[];
    }
  /** Every module has written its fail-safe values, or cannot. */
  | { readonly type: 'fail-safe-result'; readonly id: number }
  | { readonly type: 'stopped' };
