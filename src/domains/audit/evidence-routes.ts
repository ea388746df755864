/** The verification of everything that is evidence: what the last run found, and a run now. */
import { type Route, routesFor } from '../../platform/http/route.js';
import { EvidenceRun, EvidenceState } from './bodies.js';
import { EVIDENCE_KIND, type Integrity } from './integrity.js';

const PATH = '/api/v1/system/integrity';
const route = routesFor<{ readonly evidence: Integrity }>();

export const EVIDENCE_ROUTES: readonly Route<{ readonly evidence: Integrity }>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'system:integrity',
    tier: 'supervise',
    summary: 'What the last verification of trail, archive, stored rows, records, signatures and recipes found; null before the first one',
    reply: EvidenceState,
    handle: (_, { evidence }): EvidenceState => ({ running: evidence.running, met: evidence.met, last: evidence.last ?? null }),
  }),
  route({
    method: 'POST',
    path: PATH,
    action: 'system:verify-integrity',
    tier: 'admin',
    audit: { action: 'Execute', category: 'integrity', target: () => ({ kind: EVIDENCE_KIND, name: '', site: '' }) },
    summary: 'Verifies everything now and keeps the result; one at a time',
    reply: EvidenceRun,
    errors: { 409: ['already_running'] },
    handle: ({ audit }, { evidence }): Promise<EvidenceRun> => evidence.run(audit),
  }),
];
