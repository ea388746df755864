/** What an answer to a prompt leaves behind: a signature and an audit record of each person who stands for it, and what the batch tells of it. */
import type { AuditEntry, RequestContext } from '../../platform/http/route.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Change, Store } from '../../platform/store/store.js';
import type { SecondPerson } from '../access/access.js';
import type { PendingPrompt } from '../procedures/kind.js';
import { scopeOf } from '../procedures/roots.js';
import { batchMessage, executionEvent, operatorAction } from '../runs/execution-log.js';
import { sign, type Signatory, type SignatureMeaning, type SigningKeys } from '../signatures/signature.js';
import type { PhaseResource } from './prompt-response.js';

export interface Answer {
  readonly phase: PhaseResource;
  readonly prompt: PendingPrompt;
  /** In its canonical form. */
  readonly response: string;
  readonly reason: string;
  readonly at: string;
}

/** A person, and what he signed. */
export interface Signed extends Pick<Signatory, 'accountId' | 'displayName'> {
  readonly meaning: SignatureMeaning;
  readonly signature: ReturnType<typeof sign>;
  readonly auditRecordRef: string;
}

export interface SignedAnswer extends Answer {
  readonly by: Signed;
  /** Names the signature of `by`. */
  readonly confirmed: Signed | undefined;
}

export function signAnswer(answer: Answer, by: Signatory, second: Signatory | undefined, { store, keys }: { readonly store: Store; readonly keys: SigningKeys }): SignedAnswer {
  const { phase, prompt, response, reason, at } = answer;
  const { site, name, generation } = phase.metadata;
  const subject = { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'Phase', namespace: `site-${site}`, name, revision: generation, digest: canonicalDigest(phase.spec) };
  const content = { promptID: prompt.id, phase: name, stepName: prompt.stepName, type: prompt.type, text: prompt.text, response };
  const signed = (meaning: SignatureMeaning, signatory: Signatory, place: number, more: object = {}): Signed => ({
    accountId: signatory.accountId,
    displayName: signatory.displayName,
    meaning,
    signature: sign({ meaning, signatory, reason, subject, content: { ...content, ...more }, signedAt: at }, keys),
    auditRecordRef: store.nextAuditName(place),
  });
  const first = signed(prompt.resultKey === undefined ? 'prompt-response' : 'external-result-manual-entry', by, 0);
  return { ...answer, by: first, confirmed: second && signed('prompt-confirmation', second, 1, { confirms: first.signature.record.id }) };
}

/** In the order of their names, that of whoever answered first. */
export function recordsOf(
  { phase, prompt, response, reason, by, confirmed }: SignedAnswer,
  { audit, sourceIP }: Pick<RequestContext<unknown, unknown>, 'audit' | 'sourceIP'>,
  second: SecondPerson | undefined,
): AuditDraft[] {
  const { site, name } = phase.metadata;
  const details = { promptID: prompt.id, type: prompt.type, text: prompt.text, response, batch: phase.spec.batchRef, sourceIP };
  const record = ({ signature }: Signed, more: object = {}): AuditDraft => {
    const entry = { target: { kind: 'Phase', name, site }, result: 'Success', operatorReason: reason, details: { ...details, ...more } } satisfies AuditEntry;
    return audit({ ...entry, signature: { ...signature.record } });
  };
  const first = record(by);
  if (!second || !confirmed) return [first];
  return [first, { ...record(confirmed, { confirms: by.signature.record.id, ...second.used }), actor: second.actor }];
}

export function factsOf({ phase, prompt, response, reason, at, by, confirmed }: SignedAnswer, store: Store, correlationID: string): NonNullable<Change['facts']> {
  const { site, name } = phase.metadata;
  const scope = scopeOf(store, phase);
  const element = { kind: 'Phase', name, path: phase.spec.stepPath };
  const person = ({ accountId, displayName }: Signed) => ({ accountId, displayName });
  const acted = (signed: Signed) =>
    operatorAction(site, scope, {
      ts: at,
      action: 'PromptAcknowledge',
      element,
      signed: true,
      reason,
      value: response,
      person: person(signed),
      meaning: signed.meaning,
      acknowledgedBy: signed.displayName,
      signatureRef: signed.signature.record.id,
      auditRecordRef: signed.auditRecordRef,
    });
  const said = confirmed ? `${by.displayName}, confirmed by ${confirmed.displayName}` : by.displayName;
  return [
    acted(by),
    ...(confirmed ? [acted(confirmed)] : []),
    executionEvent(site, scope, at, {
      eventType: 'Operator',
      eventSubType: 'Prompt Response',
      element,
      unit: phase.spec.unitRef,
      value: response,
      message: prompt.text,
      person: person(by),
      correlationID,
      auditRecordRef: by.auditRecordRef,
    }),
    batchMessage(site, scope, { ts: at, severity: 'Info', type: 'PromptResponse', text: `${prompt.text}: ${response} (${said})`, element, stepName: prompt.stepName }),
  ];
}
