/** The verification of everything that is evidence: what the last run found, and a run now. */
import { ok, type Route, routesFor } from '../../platform/http/route.js';
import { EVIDENCE_KIND, type Integrity } from './integrity.js';

const RUN = '{runId, startedAt, finishedAt, ok, checked, madeBefore: {rows, adoptedAt}, problems: [{part, kind, name, site, problem}]}';
const PATH = '/api/v1/system/integrity';
const route = routesFor<{ readonly evidence: Integrity }>();

export const EVIDENCE_ROUTES: readonly Route<{ readonly evidence: Integrity }>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'system:integrity',
    tier: 'supervise',
    summary: 'What the last verification of trail, archive, stored rows, records, signatures and recipes found; null before the first one',
    reply: `{running, met: problems since the last run, last: ${RUN} | null}`,
    handle: (_, { evidence }) => ok({ running: evidence.running, met: evidence.met, last: evidence.last ?? null }),
  }),
  route({
    method: 'POST',
    path: PATH,
    action: 'system:verify-integrity',
    tier: 'admin',
    audit: { action: 'Execute', category: 'integrity', target: () => ({ kind: EVIDENCE_KIND, name: '', site: '' }) },
    summary: 'Verifies everything now and keeps the result; 409 already_running while another run is under way',
    reply: RUN,
    handle: async ({ audit }, { evidence }) => ok(await evidence.run(audit)),
  }),
];
