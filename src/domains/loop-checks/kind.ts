/**
 * The sheet of a loop check of the outputs of one I/O module (IEC 62382; ADR 0078): what was set, what was seen, what became of the
 * outputs afterwards. Evidence: it is written by the check that it tells of, and never again once it is sealed.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { Scalar } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { CONDUCTED, EVIDENCE_OUTCOMES, evidenceKind, type EvidenceStatus } from './evidence-kind.js';

/** `Returning`: the check is over and its outputs are on their way back; `Sealed`: the sheet is whole and signed. */
export const LOOP_PHASES = ['Running', 'Returning', 'Sealed'] as const;

/**
 * What was found of one output. `wrong-channel`: another one moved; `inverted`: the reading falls where it should rise; `scaled`: it is a
 * straight line of another slope or origin; `stuck`: it does not move; `no-readback`: nothing but the register that was written shows what the device has; `slow`: it
 * agrees later than `settle`; `noisy`: it does not stand still; `deviates`: it moves, and along no straight line.
 */
export const LOOP_OUTCOMES = ['pass', 'wrong-channel', 'inverted', 'scaled', 'stuck', 'no-readback', 'slow', 'noisy', 'deviates', 'not-checked'] as const;
export type LoopOutcome = (typeof LOOP_OUTCOMES)[number];

/** Why a check ended. All but the first are before its last step. */
export const LOOP_ENDS = [
  'complete',
  'aborted',
  'unattended',
  'unit-at-work',
  'automatic-mode',
  'module-changed',
  'outputs-withheld',
  'device-lost',
  'hold-lost',
  'fail-safe-taken',
  'not-taken',
  'not-recorded',
  'restart',
  'shutdown',
  'altered',
] as const;
export type LoopEnd = (typeof LOOP_ENDS)[number];

/** What a channel showed of one step: the output itself as it is read back, or the input that is wired to it. */
export const LoopReading = v.strictObject({
  source: v.picklist(['readback', 'output', 'input']),
  /** `channel`, or `module:channel` of another module. */
  channel: v.string(),
  expected: v.number(),
  /** BOOL as 0 or 1; null where it had no value of quality Good. */
  value: v.nullable(v.number()),
  agrees: v.boolean(),
  /** From the write until it agreed; null where it did not. */
  settledMs: v.nullable(v.number()),
  /** Highest less lowest of the last samples. */
  spread: v.number(),
});
export type LoopReading = ToldBy<typeof LoopReading>;

export const LoopStep = v.strictObject({
  /** From 1, over all outputs of the check. */
  step: v.number(),
  /** Of the range; absent of a BOOL. */
  percent: v.optional(v.number()),
  commanded: Scalar,
  at: v.string(),
  confirmedBy: v.string(),
  /** What the person in the field has said of the step before. */
  note: v.string(),
  readings: v.array(LoopReading),
});
export type LoopStep = ToldBy<typeof LoopStep>;

export const LoopChannel = v.strictObject({
  channel: v.string(),
  address: v.string(),
  dataType: v.picklist(['bool', 'int', 'float']),
  low: v.number(),
  high: v.number(),
  /** What is wired to it, where that was told. */
  input: v.nullable(v.strictObject({ module: v.string(), channel: v.string(), gain: v.number(), offset: v.number() })),
  outcome: v.picklist(LOOP_OUTCOMES),
  message: v.string(),
  /** Of `scaled` and `inverted`: reading = factor * expected + offset. */
  factor: v.optional(v.number()),
  offset: v.optional(v.number()),
  /** Other channels that went with it. */
  moved: v.array(v.string()),
  steps: v.array(LoopStep),
});
export type LoopChannel = ToldBy<typeof LoopChannel>;

export const LoopOutput = v.strictObject({
  channel: v.string(),
  value: v.nullable(Scalar),
  source: v.picklist(['read', 'written', 'fail-safe', 'unknown']),
  isReturned: v.optional(v.boolean()),
  message: v.optional(v.string()),
});
export type LoopOutput = ToldBy<typeof LoopOutput>;

export const LoopSheet = v.strictObject({
  ...CONDUCTED,
  /** Equal for modules of one device: protocol, endpoint and unit behind it. Absent of a sheet of 0.3.0 and before. */
  device: v.optional(v.string()),
  /** `confirm`: each step waits for a person; `hold`: the check goes on while a person gives a sign. */
  attend: v.picklist(['confirm', 'hold']),
  attendTimeoutMs: v.number(),
  settleMs: v.number(),
  /** Per cent of the range within which a reading agrees. */
  tolerance: v.number(),
  /** Other modules that were watched. */
  neighbours: v.array(v.string()),
  /** What every output of the module had. */
  before: v.array(LoopOutput),
  channels: v.array(LoopChannel),
  outcome: v.picklist(EVIDENCE_OUTCOMES),
  end: v.nullable(v.strictObject({ reason: v.picklist(LOOP_ENDS), message: v.string(), at: v.string(), by: v.string() })),
  /** Of the outputs that were set: what became of them. */
  returned: v.array(LoopOutput),
});
export type LoopSheet = ToldBy<typeof LoopSheet>;

export type LoopStatus = EvidenceStatus<(typeof LOOP_PHASES)[number]>;

nameSchemas({ LoopReading, LoopStep, LoopChannel, LoopOutput, LoopSheet });

export type LoopCheckResource = Resource<LoopSheet, LoopStatus>;

export const LoopCheck: Kind<LoopSheet, LoopStatus> = evidenceKind('LoopCheck', LOOP_PHASES, 'POST /api/v1/sites/{site}/iomodules/{name}/loop-check');
