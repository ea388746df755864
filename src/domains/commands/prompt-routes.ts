/** Prompts of phases, and their answers (contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { timestamp } from '../../platform/base/clock.js';
import { compareKeys, listReply, type SortKey } from '../../platform/http/paged-list.js';
import { LIST, parameters, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type RequestContext, routesFor } from '../../platform/http/route.js';
import type { Put } from '../../platform/store/store.js';
import type { SecondPerson } from '../access/access.js';
import { BesideProof, PROOF_CODES } from '../access/proof.js';
import { Batch } from '../batches/kind.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { PendingPrompt, Phase } from '../procedures/kind.js';
import { promptAges } from '../procedures/prompt-ages.js';
import { voidPrompts } from '../procedures/void-prompts.js';
import { requireSite } from '../plant/kind.js';
import type { ActiveStepDeps } from './active-step.js';
import { canonicalAnswer, pendingWait, requirePhase, requireSecond } from './prompt-response.js';
import { factsOf, recordsOf, signAnswer, type SignedAnswer } from './signed-answer.js';

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
async function answer(context: AnswerContext, { store, runtimes, clock, keys }: PromptDeps, second?: SecondPerson): Promise<PromptAnswer> {
  const { params, body, caller, correlationID } = context;
  const phase = requirePhase(store, params.site, params.name);
  const prompt = pendingWait(store, phase, body.promptID, 'prompt_not_pending');
  const { text, value } = canonicalAnswer(prompt, body.response);
  const { site, name } = phase.metadata;
  const signed = signAnswer({ phase, prompt, response: text, reason: body.reason, at: timestamp(clock.wallMs()) }, caller, second?.signatory, { store, keys });
  await store.write({
    puts: [{ kind: Phase, site, name, status: { ...phase.status, answer: { waitId: prompt.id, value } } } as Put, ...(second?.also.puts ?? [])],
    removes: second?.also.removes ?? [],
    audits: recordsOf(signed, context, second),
    facts: factsOf(signed, store, correlationID),
  });
  runtimes.link(site, phase.spec.unitRef)?.send({ type: 'answer', phase: name, waitId: prompt.id, value });
  return answered(signed);
}

function answered({ phase, prompt, response, at, by, confirmed }: SignedAnswer): PromptAnswer {
  return {
    ok: true,
    phase: phase.metadata.name,
    promptID: prompt.id,
    response,
    recordedAt: at,
    signature: by.signature.digest,
    auditRecordRef: by.auditRecordRef,
    ...(confirmed && {
      confirmedBy: {
        accountId: confirmed.accountId,
        displayName: confirmed.displayName,
        signature: confirmed.signature.digest,
        auditRecordRef: confirmed.auditRecordRef,
      },
    }),
  };
}
