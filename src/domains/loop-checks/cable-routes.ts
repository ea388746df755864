/** Cable acceptances from outside (ADR 0079): begun, told what a person does to the cable, and their pages. */
import * as v from 'valibot';
import { readDuration } from '../../platform/base/duration-text.js';
import { conflict, invalid, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SigningKeys } from '../signatures/signature.js';
import type { CableAcceptances } from './cable-acceptances.js';
import { CABLE_PHASES, CableAcceptance, type CableResource, CableSheet, TRIALS } from './cable-kind.js';
import type { CableRun } from './cable-run.js';
import { conductorOf, MODULE, moduleOf, NOTE_CHARACTERS_MAX, type OfSheet, refuseUnknownModule, Sealing, sealingOf, sheetOf, sheetsOf } from './evidence.js';

export interface CableRouteDeps {
  readonly store: Store;
  readonly keys: SigningKeys;
  readonly acceptances: CableAcceptances;
}

const route = routesFor<CableRouteDeps>();
const DURATION = { min: 1000, max: 8 * 3_600_000 };

const CableAcceptanceBody = v.strictObject({
  id: v.string(),
  site: v.string(),
  phase: v.picklist(CABLE_PHASES),
  ...CableSheet.entries,
  /** The trial that is under way; `isOver`: it waits for its channels to be Good again. */
  open: v.nullable(v.strictObject({ trial: v.picklist(TRIALS), isOver: v.boolean() })),
  ...Sealing.entries,
});

nameSchemas({ CableAcceptanceBody });

function shown(page: CableResource, { store, keys, acceptances }: CableRouteDeps): ToldBy<typeof CableAcceptanceBody> {
  const { metadata, status, spec } = page;
  const running = acceptances.running(metadata.site, spec.module);
  const run = running?.id === metadata.name && status.phase !== 'Sealed' ? running : undefined;
  return { id: metadata.name, site: metadata.site, phase: status.phase, ...(run?.sheet ?? spec), open: run?.open ?? null, ...sealingOf(page, store, keys) };
}

const pageOf = (params: OfSheet, { store }: CableRouteDeps): CableResource => sheetOf(store, CableAcceptance, params);

/** Of a person who conducts it. @throws Refusal 409 `cable_acceptance_ended`, 403 `not_the_operator`. */
function runOf({ site, name, id }: OfSheet, accountId: string, { acceptances }: CableRouteDeps): CableRun {
  const run = acceptances.running(site, name);
  if (run?.id !== id) throw hasEnded(id);
  if (run.sheet.operator.accountId !== accountId)
    throw new Refusal('forbidden', `cable acceptance ${id} is conducted by ${run.sheet.operator.displayName}`, { code: 'not_the_operator' });
  return run;
}

function hasEnded(id: string): Refusal {
  return conflict('cable_acceptance_ended', `cable acceptance ${id} has ended`, { cableAcceptance: id });
}

export const cableRoutes = [
  route({
    method: 'POST',
    path: `${MODULE}/cable-acceptance`,
    action: 'iomodule:cable-acceptance',
    tier: 'engineer',
    freshToken: true,
    reason: 'policy',
    body: v.strictObject({ reason: v.optional(v.string(), ''), duration: v.optional(v.string(), '1h') }),
    reply: { 200: CableAcceptanceBody },
    errors: { 400: ['out_of_range'], 409: ['cable_acceptance_active'] },
    summary: 'Begin the acceptance of a cable: what the box shows is observed while a person pulls it, restarts the device, and the like; nothing is driven',
    audit: { action: 'Execute', category: 'cable-acceptance', target: ({ site, name }) => ({ kind: 'IOModule', name, site }) },
    exists: (params, { store }) => void moduleOf(store, params),
    async handle({ params, body, caller, sourceIP, audit }, deps) {
      const { store, acceptances } = deps;
      const module = moduleOf(store, params);
      const durationMs = readDuration(body.duration, 'duration');
      if (durationMs < DURATION.min || durationMs > DURATION.max) throw invalid('out_of_range', 'duration', `duration ${body.duration} is outside 1 s to 8 h`);
      const run = await acceptances.begin(module, { reason: body.reason, durationMs }, conductorOf(caller, sourceIP), (id, sheet) =>
        store.write({
          puts: [{ kind: CableAcceptance, site: params.site, name: id, spec: sheet }],
          audits: [audit({ operatorReason: body.reason, details: { cableAcceptance: id } })],
        }),
      );
      return shown(pageOf({ ...params, id: run.id }, deps), deps);
    },
  }),
  route({
    method: 'GET',
    path: `${MODULE}/cable-acceptances`,
    action: 'iomodule:list-cable-acceptances',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(CableAcceptanceBody),
    summary: 'Cable acceptances of the module with their trials, also of one that was deleted; query limit, cursor',
    exists: (params, { store }) => refuseUnknownModule(store, CableAcceptance, params),
    handle: (context, deps) =>
      listReply(context, {
        list: 'cable acceptances',
        items: sheetsOf(deps.store, CableAcceptance, context.params),
        keyOf: ({ metadata }) => [metadata.name],
        render: (page) => shown(page, deps),
      }),
  }),
  route({
    method: 'GET',
    path: `${MODULE}/cable-acceptances/{id}`,
    action: 'iomodule:read-cable-acceptance',
    tier: 'read',
    reply: CableAcceptanceBody,
    summary: 'One page: what was tried, when quality turned Bad and Good again, and what is not as promised',
    exists: (params, deps) => void pageOf(params, deps),
    handle: ({ params }, deps) => shown(pageOf(params, deps), deps),
  }),
  route({
    method: 'POST',
    path: `${MODULE}/cable-acceptances/{id}/mark`,
    action: 'iomodule:cable-acceptance',
    tier: 'engineer',
    body: v.strictObject({
      /** `begin`: a trial begins now; `end`: what was done is undone; `finish`: the page is whole. */
      mark: v.picklist(['begin', 'end', 'finish']),
      trial: v.optional(v.picklist(TRIALS)),
      note: v.optional(v.pipe(v.string(), v.maxLength(NOTE_CHARACTERS_MAX)), ''),
    }),
    reply: { 200: CableAcceptanceBody },
    errors: { 403: ['not_the_operator'], 409: ['cable_acceptance_ended', 'trial_open', 'no_trial'] },
    summary: 'Tell a cable acceptance what is done to the cable or the device at this moment',
    audit: { action: 'Acknowledge', category: 'cable-acceptance', target: ({ site, id }) => ({ kind: 'CableAcceptance', name: id, site }) },
    exists: (params, deps) => void pageOf(params, deps),
    async handle({ params, body, caller, audit }, deps) {
      const run = runOf(params, caller.accountId, deps);
      const { mark, trial, note } = body;
      if (mark !== 'end' && run.open)
        throw conflict('trial_open', `trial ${run.open.trial} is under way; ${run.open.isOver ? 'its channels are not Good again yet' : 'mark its end first'}`, {
          trial: run.open.trial,
        });
      if (mark === 'begin') {
        if (trial === undefined) throw invalid('missing_field', 'trial', `trial is needed: one of ${TRIALS.join(', ')}`);
        if (!(await run.beginTrial(trial, note))) throw hasEnded(run.id);
      } else if (mark === 'end') {
        if (!run.trialOver()) throw conflict('no_trial', 'no trial is under way that could end');
      } else run.end('finished', caller.displayName, caller.accountId);
      await deps.store.write({ audits: [audit({ result: 'Success', details: { mark, trial: trial ?? '', note } })] });
      if (mark === 'finish') await run.done;
      return shown(pageOf(params, deps), deps);
    },
  }),
];
