/** Prompts of phases, and their answers (contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { timestamp } from '../../platform/base/clock.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { compareKeys, listReply, type SortKey } from '../../platform/http/paged-list.js';
import { LIST, parameters, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type RequestContext, routesFor } from '../../platform/http/route.js';
import type { Put } from '../../platform/store/store.js';
import type { SecondPerson } from '../access/access.js';
import { BesideProof, PROOF_CODES } from '../access/proof.js';
import { batchMessage, executionEvent, operatorAction } from '../runs/execution-log.js';
import { Batch } from '../batches/kind.js';
import { scopeOf } from '../procedures/roots.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { PendingPrompt, Phase } from '../procedures/kind.js';
import { promptAges } from '../procedures/prompt-ages.js';
import { voidPrompts } from '../procedures/void-prompts.js';
import { requireSite } from '../plant/kind.js';
import { sign, type SignatureMeaning } from '../signatures/signature.js';
import type { ActiveStepDeps } from './active-step.js';
import { canonicalAnswer, pendingWait, requirePhase, requireSecond } from './prompt-response.js';

export interface PromptDeps extends ActiveStepDeps {
  /** Somebody else proves who he is beside the caller, for the one thing that `work` does. */
  readonly beside: <Result>(
    context: RequestContext<unknown, unknown>,
    proof: BesideProof,
    asked: { readonly action: string; readonly site: string },
    work: (second: SecondPerson) => Promise<Result>,
  ) => Promise<Result>;
}

const route = routesFor<PromptDeps>();
const ACTION = 'phase:prompt-response';

const AnswerBody = v.strictObject({
  promptID: v.string(),
  response: v.optional(v.string(), ''),
  reason: v.string(),
  /** Who confirms the answer, and what he proves himself with. */
  second: v.optional(BesideProof),
});
type AnswerContext = RequestContext<{ readonly site: string; readonly name: string }, v.InferOutput<typeof AnswerBody>>;

const { id, unit: engUnits, ...prompt } = PendingPrompt.entries;
/** `unit` is that of the phase; that of the value is `engUnits`. */
const Prompt = v.strictObject({ id, phase: v.string(), unit: v.string(), batch: v.string(), batchID: v.string(), ...prompt, engUnits, ageSeconds: v.number() });
export type Prompt = ToldBy<typeof Prompt>;

const PromptAnswer = v.strictObject({
  ok: v.literal(true),
  phase: v.string(),
  promptID: v.string(),
  response: v.string(),
  /** When, as the signature and the audit record say. */
  recordedAt: v.string(),
  /** SHA-256 (hex) of the signature. */
  signature: v.string(),
  auditRecordRef: v.string(),
  /** Who has confirmed it, with the SHA-256 (hex) of his signature. */
  confirmedBy: v.optional(v.strictObject({ accountId: v.string(), displayName: v.string(), signature: v.string(), auditRecordRef: v.string() })),
});
export type PromptAnswer = ToldBy<typeof PromptAnswer>;

nameSchemas({ PromptBody: Prompt, PromptAnswer });

/** The longest waiting first. */
const promptKey = ({ timestamp: since, phase, id }: { readonly timestamp: string; readonly phase: string; readonly id: string }): SortKey => [since, phase, id];

export const promptRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/prompts',
    action: 'phase:list-prompts',
    tier: 'read',
    reply: v.array(Prompt),
    query: parameters({ ...LIST, unit: text(), batch: text() }),
    summary: 'All pending prompts of the site; query unit, batch, limit, cursor',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params, path, query }, { store, clock }) => {
      const [ofUnit, ofBatch] = [query.get('unit') ?? '', query.get('batch') ?? ''];
      const waiting = phasesAtWork(store)
        .of(params.site)
        .filter(
          ({ metadata: { name }, spec, status }) =>
            voidPrompts(store).asked(params.site, name, status) && !status.answer && (ofUnit === '' || spec.unitRef === ofUnit) && (ofBatch === '' || spec.batchRef === ofBatch),
        );
      const items = waiting.map((phase): Prompt => {
        const { id, unit, ...prompt } = phase.status.pendingPrompt as NonNullable<typeof phase.status.pendingPrompt>;
        const batch = store.get(Batch, params.site, phase.spec.batchRef);
        const ageSeconds = Math.floor(promptAges(store).ageMs(params.site, phase.metadata.name, { id, ...prompt }, clock) / 1000);
        return { id, phase: phase.metadata.name, unit: phase.spec.unitRef, batch: phase.spec.batchRef, batchID: batch?.spec.batchID ?? '', ...prompt, engUnits: unit, ageSeconds };
      });
      items.sort((a, b) => compareKeys(promptKey(a), promptKey(b)));
      return listReply({ path, query }, { list: 'prompts', items, kept: ['unit', 'batch'], keyOf: promptKey, render: (prompt) => prompt });
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/phases/{name}/prompt-response',
    action: ACTION,
    tier: 'operate-lead',
    reason: 'nonempty',
    body: AnswerBody,
    reply: PromptAnswer,
    errors: {
      400: ['invalid_value', 'out_of_range', 'second_signer_required'],
      401: [...PROOF_CODES],
      403: ['second_signer_may_not'],
      409: ['prompt_not_pending', 'second_signer_same', 'second_signer_unavailable'],
    },
    summary: 'Answer a prompt; the answer is signed, and confirmed by a second person where the prompt says secondSigner',
    past: ({ site = '', name = '' }) => [{ kind: 'Phase', site, name }],
    audit: { action: 'PromptAcknowledge', category: 'prompt', target: ({ site, name }) => ({ kind: 'Phase', name, site }) },
    exists: ({ site, name }, { store }) => void requirePhase(store, site, name),
    handle: (context, deps): Promise<PromptAnswer> => {
      const { params, body } = context;
      const prompt = pendingWait(deps.store, requirePhase(deps.store, params.site, params.name), body.promptID, 'prompt_not_pending');
      canonicalAnswer(prompt, body.response);
      requireSecond(prompt, body.second !== undefined, deps.keys.authMode);
      if (!body.second) return answer(context, deps);
      return deps.beside(context, body.second, { action: ACTION, site: params.site }, (second) => {
        context.judgeAgain(); // and the prompt anew: passwords take time
        return answer(context, deps, second);
      });
    },
  }),
];

/** Reads, judges and stores in one turn. @param second has confirmed it. */
async function answer({ params, body, caller, sourceIP, audit, correlationID }: AnswerContext, deps: PromptDeps, second?: SecondPerson): Promise<PromptAnswer> {
  const { store, runtimes, clock, keys } = deps;
  const phase = requirePhase(store, params.site, params.name);
  const prompt = pendingWait(store, phase, body.promptID, 'prompt_not_pending');
  const given = canonicalAnswer(prompt, body.response);
  const at = timestamp(clock.wallMs());
  const { site, name, generation } = phase.metadata;
  const subject = { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'Phase', namespace: `site-${site}`, name, revision: generation, digest: canonicalDigest(phase.spec) };
  const content = { promptID: prompt.id, phase: name, stepName: prompt.stepName, type: prompt.type, text: prompt.text, response: given.text };
  const signed = (meaning: SignatureMeaning, signatory: SecondPerson['signatory'], more: object = {}) =>
    sign({ meaning, signatory, reason: body.reason, subject, content: { ...content, ...more }, signedAt: at }, keys);
  const meaning = prompt.resultKey === undefined ? 'prompt-response' : 'external-result-manual-entry';
  const signature = signed(meaning, caller);
  const confirmation = second && signed('prompt-confirmation', second.signatory, { confirms: signature.record.id });
  const [auditRecordRef, confirmationRef] = [store.nextAuditName(), store.nextAuditName(1)];
  const details = { promptID: prompt.id, type: prompt.type, text: prompt.text, response: given.text, batch: phase.spec.batchRef, sourceIP };
  const record = { target: { kind: 'Phase', name, site }, result: 'Success', operatorReason: body.reason } as const;
  const person = { accountId: caller.accountId, displayName: caller.displayName };
  const confirmer = second && { accountId: second.signatory.accountId, displayName: second.signatory.displayName };
  const element = { kind: 'Phase', name, path: phase.spec.stepPath };
  const scope = scopeOf(store, phase);
  const action = { ts: at, action: 'PromptAcknowledge', element, signed: true, reason: body.reason, value: given.text } as const;
  const said = confirmer ? `${caller.displayName}, confirmed by ${confirmer.displayName}` : caller.displayName;
  await store.write({
    puts: [{ kind: Phase, site, name, status: { ...phase.status, answer: { waitId: prompt.id, value: given.value } } } as Put, ...(second?.also.puts ?? [])],
    removes: second?.also.removes ?? [],
    audits: [
      audit({ ...record, details, signature: { ...signature.record } }),
      ...(second && confirmation
        ? [{ ...audit({ ...record, details: { ...details, confirms: signature.record.id, ...second.used }, signature: { ...confirmation.record } }), actor: second.actor }]
        : []),
    ],
    facts: [
      operatorAction(site, scope, { ...action, person, meaning, acknowledgedBy: caller.displayName, signatureRef: signature.record.id, auditRecordRef }),
      ...(confirmer && confirmation
        ? [
            operatorAction(site, scope, {
              ...action,
              person: confirmer,
              meaning: 'prompt-confirmation',
              acknowledgedBy: confirmer.displayName,
              signatureRef: confirmation.record.id,
              auditRecordRef: confirmationRef,
            }),
          ]
        : []),
      executionEvent(site, scope, at, {
        eventType: 'Operator',
        eventSubType: 'Prompt Response',
        element,
        unit: phase.spec.unitRef,
        value: given.text,
        message: prompt.text,
        person,
        correlationID,
        auditRecordRef,
      }),
      batchMessage(site, scope, { ts: at, severity: 'Info', type: 'PromptResponse', text: `${prompt.text}: ${given.text} (${said})`, element, stepName: prompt.stepName }),
    ],
  });
  runtimes.link(site, phase.spec.unitRef)?.send({ type: 'answer', phase: name, waitId: prompt.id, value: given.value });
  return {
    ok: true,
    phase: name,
    promptID: prompt.id,
    response: given.text,
    recordedAt: at,
    signature: signature.digest,
    auditRecordRef,
    ...(confirmer && confirmation ? { confirmedBy: { ...confirmer, signature: confirmation.digest, auditRecordRef: confirmationRef } } : {}),
  };
}
