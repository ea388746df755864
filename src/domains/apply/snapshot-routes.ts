/** Routes of the snapshots of the configuration: what was before each apply, and the way back to it (ADR 0134). */
import * as v from 'valibot';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { flag, LIST, parameters } from '../../platform/http/parameters.js';
import { listReply } from '../../platform/http/paged-list.js';
import { inPieces, routesFor } from '../../platform/http/route.js';
import type { Selector } from '../../platform/store/selector.js';
import { applyActorOf } from './actor-of-request.js';
import { Applied, applyManifests } from './apply.js';
import { ExportedManifest } from './export.js';
import { APPLY_ERRORS, type ApplyRouteDeps } from './routes.js';
import { Snapshot, type Snapshots } from './snapshots.js';

export interface SnapshotRouteDeps extends ApplyRouteDeps {
  readonly snapshots: Snapshots;
}

const route = routesFor<SnapshotRouteDeps>();

/** Of an answer, and of the work between two turns. */
const CHARACTERS_AT_ONCE = 64_000;
/** All that was not there then. */
const EVERYTHING: Selector = { isPositive: false, matches: () => true };

function visible(manifests: readonly ExportedManifest[], caller: Caller): ExportedManifest[] {
  return manifests.filter(({ kind, metadata: { name, namespace = '' } }) => {
    const site = kind === 'Site' ? name : namespace.replace(/^site-/, '');
    return site === '' || mayVisit(caller, site);
  });
}

/** A large plant has some 20 MB of them. */
async function* textOf(manifests: readonly ExportedManifest[]): AsyncGenerator<string, void> {
  let text = '[';
  for (const [index, manifest] of manifests.entries()) {
    text += (index === 0 ? '' : ',') + JSON.stringify(manifest);
    if (text.length < CHARACTERS_AT_ONCE) continue;
    yield text;
    text = '';
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield `${text}]`;
}

export const snapshotRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/snapshots',
    action: 'snapshot:list',
    tier: 'engineer',
    summary: 'Snapshots of the configuration, the newest last: one was taken before each apply that changed something; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(Snapshot),
    handle: async (context, { snapshots }) => listReply(context, { list: 'snapshots', items: await snapshots.list(), keyOf: ({ name }) => [name], render: (snapshot) => snapshot }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/snapshots/{name}',
    action: 'snapshot:read',
    tier: 'engineer',
    summary: 'The manifests of a snapshot, as an export tells them',
    reply: v.array(ExportedManifest),
    errors: { 404: ['not_found'], 409: ['snapshot_damaged'] },
    handle: async ({ params, caller }, { snapshots }) => inPieces(textOf(visible(await snapshots.read(params.name), caller))),
  }),
  route({
    method: 'POST',
    path: '/api/v1/snapshots/{name}/return',
    action: 'apply:create',
    tier: 'engineer',
    query: parameters({ dryRun: flag('judge everything, tell `changes` and what is there and was not then, as `removed`; store nothing') }),
    summary: 'Apply what was configured then, in one transaction. What was not there then is removed afterwards, by a DELETE of each: a dry run tells it',
    computes: (_body, query) => query.get('dryRun') === 'true',
    reply: { 200: v.array(Applied) },
    errors: { ...APPLY_ERRORS, 409: [...APPLY_ERRORS[409], 'snapshot_damaged'] },
    audit: { action: 'Update', category: 'apply', target: ({ name }) => ({ kind: 'Snapshot', name, site: '' }) },
    async handle(context, deps) {
      const manifests = visible(await deps.snapshots.read(context.params.name), context.caller);
      context.judgeAgain();
      const dryRun = context.query.get('dryRun') === 'true';
      const actor = applyActorOf(context, { snapshot: context.params.name });
      return applyManifests(manifests, actor, deps, { dryRun, toPrune: EVERYTHING, inArray: true, leavesAsIs: true });
    },
  }),
];
