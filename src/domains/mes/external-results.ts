/**
 * Measurements made outside the control system (contract 1, External result wait; decisions Q-MES-21 to Q-MES-26): which
 * phases wait, and the delivery that lets one go on. The wait is also the phase's prompt, so a person can answer instead.
 */
import { told } from '../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { Caller } from '../../platform/http/caller.js';
import type { AuditEntry } from '../../platform/http/route.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Put, Store } from '../../platform/store/store.js';
import { executionEvent, externalResult } from '../runs/execution-log.js';
import { Batch } from '../batches/kind.js';
import { canonicalNumber, pendingWait, requirePhase } from '../commands/prompt-response.js';
import { voidPrompts } from '../procedures/void-prompts.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { Phase } from '../procedures/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';

export const PendingResult = v.strictObject({
  phaseName: v.string(),
  batchID: v.string(),
  id: v.string(),
  resultKey: v.string(),
  stepName: v.string(),
  min: v.string(),
  max: v.string(),
  unit: v.string(),
});
export type PendingResult = ToldBy<typeof PendingResult>;

const ENDED: readonly string[] = ['Idle', 'Complete', 'Stopped', 'Aborted'];

/** Waits of a site that nobody has answered, the longest waiting first. */
export function pendingResults(store: Store, site: string): PendingResult[] {
  return phasesAtWork(store)
    .of(site)
    .filter(
      ({ metadata: { name }, status }) =>
        voidPrompts(store).asked(site, name, status)?.resultKey !== undefined && status.answer?.waitId !== status.pendingPrompt?.id && !ENDED.includes(status.state),
    )
    .sort((a, b) => ((a.status.pendingPrompt?.timestamp ?? '') < (b.status.pendingPrompt?.timestamp ?? '') ? -1 : 1))
    .map(({ metadata, spec, status }) => ({
      phaseName: metadata.name,
      batchID: store.get(Batch, site, spec.batchRef)?.spec.batchID ?? '',
      id: status.pendingPrompt?.id ?? '',
      resultKey: status.pendingPrompt?.resultKey ?? '',
      stepName: status.pendingPrompt?.stepName ?? '',
      min: status.pendingPrompt?.min ?? '',
      max: status.pendingPrompt?.max ?? '',
      unit: status.pendingPrompt?.unit ?? '',
    }));
}

/** Required members are looked at in `deliverResult`, so that blank counts as missing (decisions Q-MES-23). */
export const DeliveryBody = v.strictObject({
  resultID: v.string(),
  resultKey: v.string(),
  value: v.string(),
  externalSystem: v.string(),
  sampleID: v.optional(v.string(), ''),
});
export type Delivery = v.InferOutput<typeof DeliveryBody>;

export const Delivered = v.strictObject({
  ok: v.literal(true),
  phaseName: v.string(),
  batchID: v.string(),
  resultID: v.string(),
  resultKey: v.string(),
  value: v.string(),
  unit: v.string(),
  acceptedAt: v.string(),
  correlationID: v.string(),
});

nameSchemas({ PendingResult, ResultDelivery: DeliveryBody, ResultDelivered: Delivered });

export interface DeliveryRequest {
  readonly site: string;
  readonly phase: string;
  readonly delivery: Delivery;
  readonly caller: Caller;
  readonly correlationID: string;
  audit(entry: AuditEntry): AuditDraft;
}

export interface DeliveryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: UnitRuntimes;
}

/** Stored with the phase before it is acknowledged, then sent to the unit, which asks for it again after a restart. */
export async function deliverResult(
  { store, clock, runtimes }: DeliveryDeps,
  { site, phase: name, delivery, caller, correlationID, audit }: DeliveryRequest,
): Promise<ToldBy<typeof Delivered>> {
  for (const field of ['resultID', 'resultKey', 'value', 'externalSystem'] as const)
    if (delivery[field].trim() === '') throw invalid('missing_field', field, `field ${field} is required`);
  const phase = requirePhase(store, site, name);
  const wait = pendingWait(store, phase, delivery.resultID, 'no_pending_result');
  const { resultKey } = wait;
  if (resultKey === undefined) throw new Refusal('conflict', `phase ${name} waits for an operator, not for an external result`, { code: 'no_pending_result' });
  if (delivery.resultKey !== resultKey)
    throw invalid('result_key_mismatch', 'resultKey', `phase ${name} waits for ${resultKey}, not for ${delivery.resultKey}`, { expected: resultKey });
  const value = canonicalNumber(wait, delivery.value, 'value');
  const at = timestamp(clock.wallMs());
  const { min = '', max = '', unit = '', stepName } = wait;
  const { batchRef, unitRef, stepPath } = phase.spec;
  const { externalSystem, sampleID } = delivery;
  const batchID = store.get(Batch, site, batchRef)?.spec.batchID ?? '';
  const auditRecordRef = store.nextAuditName();
  await store.write({
    puts: [{ kind: Phase, site, name, status: { ...phase.status, answer: { waitId: wait.id, value: value.value } } } as Put],
    audits: [
      audit({
        target: { kind: 'Phase', name, site },
        details: { resultID: wait.id, resultKey, stepName, value: value.text, unit, min, max, externalSystem, sampleID, batch: batchRef, batchID },
      }),
    ],
    facts: [
      externalResult(site, batchRef, {
        ts: at,
        phase: name,
        stepName,
        resultKey,
        value: value.text,
        unit,
        min,
        max,
        externalSystem,
        sampleID,
        credential: caller.username,
        auditRecordRef,
      }),
      executionEvent(site, batchRef, at, {
        eventType: 'Operator',
        eventSubType: 'Parameter Data',
        element: { kind: 'Phase', name, path: stepPath },
        unit: unitRef,
        value: value.text,
        message: `${resultKey} delivered by ${externalSystem}${sampleID === '' ? '' : `, sample ${sampleID}`}`,
        told: told('result-delivered', { key: resultKey, system: externalSystem, sample: sampleID }),
        correlationID,
        auditRecordRef,
      }),
    ],
  });
  runtimes.link(site, unitRef)?.send({ type: 'answer', phase: name, waitId: wait.id, value: value.value });
  return { ok: true, phaseName: name, batchID, resultID: wait.id, resultKey, value: value.text, unit, acceptedAt: at, correlationID };
}
