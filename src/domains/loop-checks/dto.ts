/** A loop check as it is served: the sheet, how far it has come, and whether it still is what was signed. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SigningKeys } from '../signatures/signature.js';
import { Sealing, sealingOf } from './evidence.js';
import { LOOP_ENDS, LOOP_OUTCOMES, LOOP_PHASES, type LoopCheckResource, LoopSheet } from './kind.js';
import type { LoopCheckRun } from './run.js';

/** The step that is taken next: of a check that is confirmed step by step, the one that waits for a person. */
const Next = v.strictObject({ step: v.number(), channel: v.string(), value: v.number(), isWaiting: v.boolean() });

export const LoopCheckBody = v.strictObject({
  id: v.string(),
  site: v.string(),
  phase: v.picklist(LOOP_PHASES),
  ...LoopSheet.entries,
  stepsDone: v.number(),
  next: v.nullable(Next),
  /** How long a person may stay silent before the check ends; null while nobody is waited for. */
  attendLeftMs: v.nullable(v.number()),
  ...Sealing.entries,
});
export type LoopCheckBody = ToldBy<typeof LoopCheckBody>;

export const LoopCheckRow = v.strictObject({
  id: v.string(),
  ioModule: v.string(),
  phase: v.picklist(LOOP_PHASES),
  outcome: LoopSheet.entries.outcome,
  end: v.union([v.picklist(LOOP_ENDS), v.literal('')]),
  operator: v.string(),
  startedAt: v.string(),
  sealedAt: v.string(),
  channels: v.array(v.strictObject({ channel: v.string(), outcome: v.picklist(LOOP_OUTCOMES) })),
});
export type LoopCheckRow = ToldBy<typeof LoopCheckRow>;

nameSchemas({ LoopCheckBody, LoopCheckRow });

export function loopCheckBody(check: LoopCheckResource, read: StoreReader, keys: SigningKeys, run?: LoopCheckRun): LoopCheckBody {
  const { metadata, status } = check;
  const live = run?.id === metadata.name ? run : undefined;
  const spec = live && status.phase !== 'Sealed' ? live.sheet : check.spec;
  return {
    id: metadata.name,
    site: metadata.site,
    phase: status.phase,
    ...spec,
    stepsDone: spec.channels.reduce((sum, { steps }) => sum + steps.length, 0),
    next: live?.next ? { ...live.next, isWaiting: live.attendance?.isWaiting ?? false } : null,
    attendLeftMs: live?.attendance?.leftMs ?? null,
    ...sealingOf(check, read, keys),
  };
}

export function loopCheckRow({ metadata, spec, status }: LoopCheckResource): LoopCheckRow {
  return {
    id: metadata.name,
    ioModule: spec.module,
    phase: status.phase,
    outcome: spec.outcome,
    end: spec.end?.reason ?? '',
    operator: spec.operator.displayName,
    startedAt: spec.startedAt,
    sealedAt: status.sealedAt,
    channels: spec.channels.map(({ channel, outcome }) => ({ channel, outcome })),
  };
}
