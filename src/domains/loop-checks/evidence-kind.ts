/**
 * What the kinds of a loop check and of a cable acceptance are alike in: evidence about one I/O module that a person has conducted,
 * sealed once and never written again.
 */
import * as v from 'valibot';
import { asWritten } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import { SignedRecord } from '../signatures/kind.js';

/** Members that every sheet begins with. */
export const CONDUCTED = {
  module: v.string(),
  protocol: v.string(),
  address: v.string(),
  /** Generation of the module that it is about. */
  moduleGeneration: v.number(),
  operator: v.strictObject({ accountId: v.string(), displayName: v.string() }),
  reason: v.string(),
  startedAt: v.string(),
};

export const EVIDENCE_OUTCOMES = ['pass', 'fault', 'incomplete'] as const;

export interface EvidenceStatus<Phase extends string> {
  readonly phase: Phase | 'Running' | 'Sealed';
  /** D(spec) of a sealed one. */
  readonly digest: string;
  readonly sealedAt: string;
  readonly signature: SignedRecord | null;
}

/** `phases`: all that one goes through, from Running to Sealed; `begunBy`: the route that begins one. */
export function evidenceKind<Spec, Phase extends string>(kind: string, phases: readonly (Phase | 'Running' | 'Sealed')[], begunBy: string): Kind<Spec, EvidenceStatus<Phase>> {
  return {
    kind,
    group: 'record',
    scope: 'site',
    besideSite: true,
    action: 'iomodule',
    spec: asWritten<Spec>(),
    body: 'document',
    apply: { how: 'no', reason: `it is evidence, written by ${begunBy}` },
    initialStatus: () => ({ phase: 'Running', digest: '', sealedAt: '', signature: null }),
    status: { phase: v.picklist(phases), digest: v.string(), sealedAt: v.string(), signature: v.nullable(SignedRecord) },
    foundByName: true,
  };
}
