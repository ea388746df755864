/** Loop checks from outside (contract 3, I/O module): begun, confirmed step by step, aborted, and their sheets. */
import * as v from 'valibot';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SigningKeys } from '../signatures/signature.js';
import type { LoopChecks } from './checks.js';
import { LoopCheckBody, loopCheckBody, LoopCheckRow, loopCheckRow } from './dto.js';
import { conductorOf, MODULE, moduleOf, NOTE_CHARACTERS_MAX, type OfSheet, refuseUnknownModule, sheetOf, sheetsOf } from './evidence.js';
import { LoopCheck } from './kind.js';
import { LoopCheckRequest } from './plan.js';
import type { LoopCheckRun } from './run.js';

export interface LoopCheckDeps {
  readonly store: Store;
  readonly keys: SigningKeys;
  readonly checks: LoopChecks;
}

const route = routesFor<LoopCheckDeps>();

/** @throws Refusal 409 `loop_check_ended`. */
function runOf({ site, id }: OfSheet, { checks }: LoopCheckDeps): LoopCheckRun {
  const run = checks.running(site);
  if (run?.id !== id || run.hasEnded) throw conflict('loop_check_ended', `loop check ${id} has ended`, { loopCheck: id });
  return run;
}

function shown(params: OfSheet, { store, keys, checks }: LoopCheckDeps): LoopCheckBody {
  return loopCheckBody(sheetOf(store, LoopCheck, params), store, keys, checks.running(params.site));
}

const targetOf = ({ site, id }: OfSheet) => ({ kind: 'LoopCheck', name: id, site });

export const loopCheckRoutes = [
  route({
    method: 'POST',
    path: `${MODULE}/loop-check`,
    action: 'iomodule:loop-check',
    tier: 'engineer',
    freshToken: true,
    reason: 'policy',
    body: LoopCheckRequest,
    reply: { 200: LoopCheckBody },
    errors: {
      400: ['unknown_channel', 'out_of_range', 'unknown_reference'],
      403: ['automatic_mode'],
      409: [
        'simulated_module',
        'outputs_withheld',
        'output_claimed',
        'output_held',
        'posture_observed',
        'active_batch',
        'loop_check_active',
        'nothing_to_check',
        'not_returnable',
        'precondition_failed',
      ],
      503: ['device_unreachable'],
    },
    summary: 'Begin a loop check: the outputs of the module are gone through one after the other under the hand of a person, and a signed sheet tells what was found',
    audit: { action: 'Execute', category: 'loop-check', target: ({ site, name }) => ({ kind: 'IOModule', name, site }) },
    exists: (params, { store }) => void moduleOf(store, params),
    async handle({ params, body, caller, sourceIP, audit }, deps) {
      const { store, checks, keys } = deps;
      const check = await checks.begin(moduleOf(store, params), body, conductorOf(caller, sourceIP), (id, sheet) =>
        store.write({
          puts: [{ kind: LoopCheck, site: params.site, name: id, spec: sheet }],
          audits: [audit({ operatorReason: body.reason, details: { loopCheck: id, channels: sheet.channels.map(({ channel }) => channel), before: sheet.before } })],
        }),
      );
      return loopCheckBody(check, store, keys, checks.running(params.site));
    },
  }),
  route({
    method: 'GET',
    path: `${MODULE}/loop-checks`,
    action: 'iomodule:list-loop-checks',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(LoopCheckRow),
    summary: 'Loop checks of the module with their outcomes, also of one that was deleted; query limit, cursor',
    exists: (params, { store }) => refuseUnknownModule(store, LoopCheck, params),
    handle: (context, { store }) =>
      listReply(context, { list: 'loop checks', items: sheetsOf(store, LoopCheck, context.params), keyOf: ({ metadata }) => [metadata.name], render: loopCheckRow }),
  }),
  route({
    method: 'GET',
    path: `${MODULE}/loop-checks/{id}`,
    action: 'iomodule:read-loop-check',
    tier: 'read',
    reply: LoopCheckBody,
    summary: 'One sheet: what was set, what was seen, what became of the outputs; while it is under way, what it waits for',
    exists: (params, { store }) => void sheetOf(store, LoopCheck, params),
    handle: ({ params }, deps) => shown(params, deps),
  }),
  route({
    method: 'POST',
    path: `${MODULE}/loop-checks/{id}/confirm`,
    action: 'iomodule:loop-check',
    tier: 'engineer',
    body: v.strictObject({
      /** The step that shall be taken; needed where each waits for a person, so that nothing is confirmed twice. */
      step: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      /** What the person in the field sees. */
      note: v.optional(v.pipe(v.string(), v.maxLength(NOTE_CHARACTERS_MAX)), ''),
    }),
    reply: { 200: LoopCheckBody },
    errors: { 403: ['not_the_operator'], 409: ['loop_check_ended', 'loop_check_step'] },
    summary: 'Let a loop check take the step that waits, or give it the sign that somebody is there',
    audit: { action: 'Acknowledge', category: 'loop-check', target: targetOf },
    exists: (params, { store }) => void sheetOf(store, LoopCheck, params),
    async handle({ params, body, caller, audit }, deps) {
      const run = runOf(params, deps);
      refuseOthers(run, caller.accountId);
      const { attendance } = run;
      if (run.sheet.attend === 'confirm' && (!attendance?.isWaiting || run.next?.step !== body.step))
        throw conflict(
          'loop_check_step',
          `step ${body.step ?? '(none)'} does not wait for a confirmation; ${attendance?.isWaiting ? `step ${run.next?.step} does` : 'the last one is still looked at'}`,
          {
            loopCheck: run.id,
            waiting: attendance?.isWaiting ? (run.next?.step ?? null) : null,
          },
        );
      attendance?.confirm(caller.displayName, body.note);
      await deps.store.write({ audits: [audit({ result: 'Success', details: { step: body.step ?? null, note: body.note } })] });
      return shown(params, deps);
    },
  }),
  route({
    method: 'POST',
    path: `${MODULE}/loop-checks/{id}/abort`,
    action: 'iomodule:abort-loop-check',
    tier: 'operate',
    body: v.strictObject({ reason: v.optional(v.pipe(v.string(), v.maxLength(NOTE_CHARACTERS_MAX)), '') }),
    reply: { 200: LoopCheckBody },
    errors: { 409: ['loop_check_ended'] },
    summary: 'End a loop check now; its outputs go back to what they had',
    audit: { action: 'Command', category: 'loop-check', target: targetOf },
    exists: (params, { store }) => void sheetOf(store, LoopCheck, params),
    async handle({ params, body, caller, audit }, deps) {
      const run = runOf(params, deps);
      run.end('aborted', body.reason, caller.displayName, caller.accountId);
      await deps.store.write({ audits: [audit({ result: 'Success', operatorReason: body.reason })] });
      return shown(params, deps);
    },
  }),
];

/** Whoever has begun it stands at the loop. @throws Refusal 403 `not_the_operator`. */
function refuseOthers({ id, sheet }: LoopCheckRun, accountId: string): void {
  if (sheet.operator.accountId === accountId) return;
  throw new Refusal('forbidden', `loop check ${id} is conducted by ${sheet.operator.displayName}; it can be aborted by anybody who operates`, { code: 'not_the_operator' });
}
