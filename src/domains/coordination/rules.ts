/** Admission of coordination blocks and barriers (contract 3, Other kinds; decisions 1.6, 2.7). */
import { forAll, invalid, together } from '../../platform/base/refusal.js';
import { ruled } from '../../platform/store/kind.js';
import { conditionFault } from './condition.js';
import { CoordinationBlock, type CoordinationBlockSpec, type SignalEndpoint, SyncBarrier, type SyncBarrierSpec } from './kind.js';

const STEP_PATH = /^[A-Za-z][A-Za-z0-9_-]*(\/[A-Za-z][A-Za-z0-9_-]*)*$/;

/** @throws Refusal 400 for a Signal-mode block without a signal (contract 3, Errors). */
function admitBlock(spec: CoordinationBlockSpec): CoordinationBlockSpec {
  const { signal } = spec;
  if (!signal) throw invalid('missing_field', 'spec.signal', 'a block of mode Signal needs spec.signal');
  together(
    () => checkEndpoint(signal.producer, 'spec.signal.producer', spec.batchRef),
    () => forAll(signal.consumers, (consumer, index) => checkEndpoint(consumer, `spec.signal.consumers[${index}]`, spec.batchRef)),
    () => checkSignalCondition(signal),
  );
  return spec;
}

function checkSignalCondition(signal: NonNullable<CoordinationBlockSpec['signal']>): void {
  if (signal.condition !== '' && signal.producer.kind !== 'Phase') {
    throw invalid('invalid_field', 'spec.signal.condition', `a ${signal.producer.kind} raises its signal when it is complete; only a Phase may have a condition`);
  }
  const fault = conditionFault(signal.condition);
  if (fault) throw invalid('st_invalid', 'spec.signal.condition', `line ${fault.line}: ${fault.message}`);
}

function admitBarrier(spec: SyncBarrierSpec): SyncBarrierSpec {
  forAll(spec.participants, (participant, index) => checkEndpoint(participant, `spec.participants[${index}]`, spec.batchRef));
  if (spec.count > spec.participants.length) throw invalid('invalid_field', 'spec.count', `count ${spec.count} is more than the ${spec.participants.length} participants`);
  return spec;
}

/** Without batchRef the block is a pattern, and its endpoints are step paths. */
function checkEndpoint({ name }: SignalEndpoint, field: string, batchRef: string): void {
  if (batchRef === '' && !STEP_PATH.test(name)) throw invalid('invalid_field', `${field}.name`, `${name} is not a step path such as makeResin/charge/receive`);
}

export const coordinationBlockRules = ruled(CoordinationBlock, { refuses: { write: { 400: ['st_invalid'] } }, admit: admitBlock });
export const syncBarrierRules = ruled(SyncBarrier, { admit: admitBarrier });
