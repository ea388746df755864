/** What became of signatures (ADR 0130): listed with their state, verified in words, withdrawn by who gave them. */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { invalid } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { mayVisit } from '../../platform/http/caller.js';
import { readLogQuery } from '../../platform/http/log-query.js';
import { LOG, parameters, text } from '../../platform/http/parameters.js';
import { logPage } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import { timePage } from '../../platform/http/time-page.js';
import { SignatureVerification, verification } from './checks.js';
import type { SignatureDeps } from './deps.js';
import { followed, followedTogether, signaturesOver } from './follow.js';
import { freshness } from './freshness.js';
import { SignatureRecord } from './kind.js';
import { ListedSignature, listed, VerifiedSignature, verified } from './served.js';
import { requireSite, siteOf, type Target } from './target.js';
import { WITHDRAWAL_CATEGORY } from './told.js';
import { withdraw } from './withdraw.js';

const route = routesFor<SignatureDeps>();
const PATH = '/api/v1/signatures';
const WithdrawBody = v.strictObject({ reason: v.string() });

nameSchemas({ SignatureWithdrawal: WithdrawBody });

export const signatureStateRoutes = [
  route({
    method: 'GET',
    path: PATH,
    action: 'signature:list',
    tier: 'read',
    query: parameters({ ...LOG, kind: text(), name: text(), site: text(), accountId: text(), meaning: text() }),
    reply: logPage(ListedSignature),
    summary: 'Signatures with their state, newest first; with kind and name (and site) all over that resource, those of its life cycle and its seal too',
    async handle({ query, caller }, deps) {
      const [kind, name, site] = [query.get('kind') ?? '', query.get('name') ?? '', query.get('site') ?? ''];
      if ((kind === '') !== (name === '')) throw invalid('invalid_query', kind === '' ? 'kind' : 'name', 'kind and name are given together');
      if (name === '' && site !== '') requireSite(caller, site);
      const target: Target = { kind, name, ...(site === '' ? {} : { site }) };
      if (name !== '') requireSite(caller, siteOf(target));
      const over = name === '' ? undefined : (await signaturesOver(deps, target)).map((told) => ({ id: told.id, record: told.record, target: told.target, told }));
      const all = over ?? deps.store.list(SignatureRecord).map(({ metadata, spec }) => ({ id: metadata.name, record: spec.record, target: spec.target, told: undefined }));
      const [accountId, meaning] = [query.get('accountId') ?? '', query.get('meaning') ?? ''];
      const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, ...paging } = readLogQuery(query);
      const entries = all
        .filter(({ record, target: of }) => {
          const place = siteOf(of);
          const atMs = Date.parse(record.signedAt);
          const asked = (accountId === '' || record.signer.accountId === accountId) && (meaning === '' || record.meaning === meaning);
          return asked && atMs >= fromMs && atMs < toMs && (place === '' || mayVisit(caller, place)) && (name !== '' || site === '' || place === site);
        })
        .map((item) => ({ atMs: Date.parse(item.record.signedAt) || 0, name: item.id, item }))
        .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1));
      const { items, nextCursor } = timePage('signatures', entries, paging);
      const told =
        over === undefined
          ? await followedTogether(
              deps,
              items.map(({ id }) => id),
            )
          : items.flatMap((item) => item.told ?? []);
      return { items: told.map(listed), nextCursor };
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{id}/verify`,
    action: 'signature:verify',
    tier: 'read',
    reply: SignatureVerification,
    errors: { 404: ['archive_unreadable'] },
    summary: 'Verifies one signature: its digest, value, key, row, record of the audit trail, and what it was given over, each in words',
    async handle({ params, caller }, deps) {
      const told = await followed(deps, params.id);
      requireSite(caller, siteOf(told.target));
      return verification(deps, told, timestamp(deps.clock.wallMs()));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{id}/withdraw`,
    action: 'signature:withdraw',
    tier: 'read',
    ...freshness,
    reason: 'nonempty',
    body: WithdrawBody,
    reply: { 200: VerifiedSignature },
    errors: { 403: ['not_the_signer'], 404: ['not_found'], 409: ['signature_not_withdrawable', 'signature_not_standing'] },
    summary: 'Takes a signature back, by who gave it or an administrator; it stays and is shown as withdrawn',
    audit: { action: 'Sign', category: WITHDRAWAL_CATEGORY, target: ({ id }) => ({ kind: 'SignatureRecord', name: id, site: '' }) },
    async handle({ params, caller, body, audit }, deps) {
      const stored = deps.store.get(SignatureRecord, '', params.id);
      if (stored) requireSite(caller, siteOf(stored.spec.target));
      await withdraw(deps, params.id, { caller, reason: body.reason.trim(), audit });
      return verified(await followed(deps, params.id));
    },
  }),
];
