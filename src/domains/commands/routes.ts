/** Commands, mode and prompts (contract 2, Tags; contract 3, Commands, prompts and ad-hoc execution). */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { actorOf } from '../../platform/http/caller.js';
import { compareKeys, listReply, type SortKey } from '../../platform/http/paged-list.js';
import { routesFor } from '../../platform/http/route.js';
import type { Put } from '../../platform/store/store.js';
import type { DryRunFacts } from '../batches/dry-run.js';
import { batchMessage, executionEvent, operatorAction } from '../batches/execution-log.js';
import { Batch } from '../batches/kind.js';
import { scopeOf } from '../procedures/roots.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { Phase } from '../procedures/kind.js';
import { promptAges } from '../procedures/prompt-ages.js';
import { requireSite } from '../plant/kind.js';
import { sign } from '../recipes/signature.js';
import { ActiveStepBody, type ActiveStepDeps, changeActiveStep, requireElement, type SteeredKind } from './active-step.js';
import { CommandBody, dryRunCommand, sendCommand } from './command.js';
import { ModeBody, setMode } from './mode.js';
import { canonicalAnswer, pendingWait, requirePhase } from './prompt-response.js';

export type CommandRouteDeps = ActiveStepDeps & DryRunFacts;

const route = routesFor<CommandRouteDeps>();
const inSite = ({ site }: { readonly site: string }, { store }: CommandRouteDeps): void => void requireSite(store, site);

/** The longest waiting first. */
const promptKey = ({ timestamp: since, phase, id }: { readonly timestamp: string; readonly phase: string; readonly id: string }): SortKey => [since, phase, id];

/** Not shown in the contract; ADR 0007. */
const activeStepRoutes = (
  [
    ['Phase', 'phases'],
    ['Operation', 'operations'],
    ['UnitProcedure', 'unitprocedures'],
    ['Procedure', 'procedures'],
  ] as const satisfies readonly (readonly [SteeredKind, string])[]
).map(([kind, path]) =>
  route({
    method: 'POST',
    path: `/api/v1/sites/{site}/${path}/{name}/active-step`,
    action: `${kind.toLowerCase()}:active-step`,
    tier: 'operate-lead',
    reason: 'policy',
    freshToken: true,
    body: ActiveStepBody,
    reply: '{ok, kind, name, change, step?, leave?, transition?, signature, auditRecordRef}',
    summary: `Change the active steps of a ${kind} in Manual; the change is signed`,
    audit: { action: 'Execute', category: 'active-step', target: ({ site, name }) => ({ kind, name, site }) },
    exists: (params, { store }) => void requireElement(store, kind, params as never),
    handle: (context, deps) => changeActiveStep(kind, context as never, deps),
  }),
);

export const commandRoutes = [
  ...activeStepRoutes,
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/command',
    whileStorageRefuses: true,
    action: 'command:send',
    tier: 'operate',
    body: CommandBody,
    reply: '{ok, kind, name, command, message, recorded?}; with dryRun {ok, kind, name, command, accepted, rule?, message?, effects: [{kind, name, path, from, to, through?}]}',
    summary: 'Record a command; the batch controller judges it afterwards. With dryRun: what it would do',
    computes: (body) => (body as CommandBody | undefined)?.dryRun === true,
    audit: { action: 'Command', category: 'command' },
    exists: inSite,
    handle: ({ params, body, caller, sourceIP, correlationID, audit }, deps) =>
      body.dryRun
        ? dryRunCommand(deps, params.site, body)
        : sendCommand(deps, params.site, body, { actor: actorOf(caller, sourceIP), correlationID, audit: (entry) => audit(entry) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/mode',
    action: 'mode:set',
    tier: 'operate',
    body: ModeBody,
    reply: '{ok, kind, name, mode, previousMode, message}',
    summary: 'Set the mode of a control module, unit or procedural element',
    audit: { action: 'Update', category: 'mode' },
    exists: inSite,
    handle: ({ params, body, audit }, deps) => setMode(deps, params.site, body, (entry) => audit({ result: 'Success', ...entry })),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/prompts',
    action: 'phase:list-prompts',
    tier: 'read',
    reply: 'array, oldest first',
    summary: 'All pending prompts of the site; query unit, batch, limit, cursor',
    exists: inSite,
    handle: ({ params, path, query }, { store, clock }) => {
      const [ofUnit, ofBatch] = [query.get('unit') ?? '', query.get('batch') ?? ''];
      const waiting = phasesAtWork(store)
        .of(params.site)
        .filter(({ spec, status }) => status.pendingPrompt && !status.answer && (ofUnit === '' || spec.unitRef === ofUnit) && (ofBatch === '' || spec.batchRef === ofBatch));
      const items = waiting.map((phase) => {
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
    reply: '{ok, phase, promptID, response, signature, auditRecordRef}',
    summary: 'Answer a prompt; the answer is signed',
    audit: { action: 'PromptAcknowledge', category: 'prompt', target: ({ site, name }) => ({ kind: 'Phase', name, site }) },
    exists: ({ site, name }, { store }) => void requirePhase(store, site, name),
    handle: async ({ params, body, caller, sourceIP, audit, correlationID }, { store, runtimes, clock, keys }) => {
      const phase = requirePhase(store, params.site, params.name);
      const prompt = pendingWait(phase, body.promptID, 'prompt_not_pending');
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
            signature: signature.record as unknown as Record<string, unknown>,
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
      return { ok: true, phase: name, promptID: prompt.id, response: answer.text, signature: signature.digest, auditRecordRef };
    },
  }),
];
