/** Prompts of phases, and their answers (contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { timestamp } from '../../platform/base/clock.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { compareKeys, listReply, type SortKey } from '../../platform/http/paged-list.js';
import { LIST, parameters, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import type { Put } from '../../platform/store/store.js';
import { batchMessage, executionEvent, operatorAction } from '../runs/execution-log.js';
import { Batch } from '../batches/kind.js';
import { scopeOf } from '../procedures/roots.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { PendingPrompt, Phase } from '../procedures/kind.js';
import { promptAges } from '../procedures/prompt-ages.js';
import { voidPrompts } from '../procedures/void-prompts.js';
import { requireSite } from '../plant/kind.js';
import { sign } from '../signatures/signature.js';
import type { ActiveStepDeps } from './active-step.js';
import { canonicalAnswer, pendingWait, requirePhase } from './prompt-response.js';

const route = routesFor<ActiveStepDeps>();

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
    action: 'phase:prompt-response',
    tier: 'operate-lead',
    reason: 'nonempty',
    body: v.strictObject({ promptID: v.string(), response: v.optional(v.string(), ''), reason: v.string() }),
    reply: PromptAnswer,
    errors: { 400: ['invalid_value', 'out_of_range'], 409: ['prompt_not_pending'] },
    summary: 'Answer a prompt; the answer is signed',
    past: ({ site = '', name = '' }) => [{ kind: 'Phase', site, name }],
    audit: { action: 'PromptAcknowledge', category: 'prompt', target: ({ site, name }) => ({ kind: 'Phase', name, site }) },
    exists: ({ site, name }, { store }) => void requirePhase(store, site, name),
    handle: async ({ params, body, caller, sourceIP, audit, correlationID }, { store, runtimes, clock, keys }): Promise<PromptAnswer> => {
      const phase = requirePhase(store, params.site, params.name);
      const prompt = pendingWait(store, phase, body.promptID, 'prompt_not_pending');
      const answer = canonicalAnswer(prompt, body.response);
      const at = timestamp(clock.wallMs());
      const { site, name } = phase.metadata;
      const manualResult = prompt.resultKey !== undefined;
      const meaning = manualResult ? 'external-result-manual-entry' : 'prompt-response';
      const signature = sign(
        {
          meaning,
          signatory: caller,
          reason: body.reason,
          subject: {
            apiVersion: 'recipe.lineside.io/v1alpha1',
            kind: 'Phase',
            namespace: `site-${site}`,
            name,
            revision: phase.metadata.generation,
            digest: canonicalDigest(phase.spec),
          },
          content: { promptID: prompt.id, phase: name, stepName: prompt.stepName, type: prompt.type, text: prompt.text, response: answer.text },
          signedAt: at,
        },
        keys,
      );
      const auditRecordRef = store.nextAuditName();
      const person = { accountId: caller.accountId, displayName: caller.displayName };
      const element = { kind: 'Phase', name, path: phase.spec.stepPath };
      await store.write({
        puts: [{ kind: Phase, site, name, status: { ...phase.status, answer: { waitId: prompt.id, value: answer.value } } } as Put],
        audits: [
          audit({
            target: { kind: 'Phase', name, site },
            result: 'Success',
            operatorReason: body.reason,
            details: { promptID: prompt.id, type: prompt.type, text: prompt.text, response: answer.text, batch: phase.spec.batchRef, sourceIP },
            signature: { ...signature.record },
          }),
        ],
        facts: [
          operatorAction(site, scopeOf(store, phase), {
            ts: at,
            action: 'PromptAcknowledge',
            element,
            person,
            signed: true,
            meaning,
            reason: body.reason,
            value: answer.text,
            acknowledgedBy: caller.displayName,
            signatureRef: signature.record.id,
            auditRecordRef,
          }),
          executionEvent(site, scopeOf(store, phase), at, {
            eventType: 'Operator',
            eventSubType: 'Prompt Response',
            element,
            unit: phase.spec.unitRef,
            value: answer.text,
            message: prompt.text,
            person,
            correlationID,
            auditRecordRef,
          }),
          batchMessage(site, scopeOf(store, phase), {
            ts: at,
            severity: 'Info',
            type: 'PromptResponse',
            text: `${prompt.text}: ${answer.text} (${caller.displayName})`,
            element,
            stepName: prompt.stepName,
          }),
        ],
      });
      runtimes.link(site, phase.spec.unitRef)?.send({ type: 'answer', phase: name, waitId: prompt.id, value: answer.value });
      return { ok: true, phase: name, promptID: prompt.id, response: answer.text, recordedAt: at, signature: signature.digest, auditRecordRef };
    },
  }),
];
