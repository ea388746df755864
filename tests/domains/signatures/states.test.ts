/** What becomes of signatures: withdrawn, superseded, changed past the gateway (21 CFR 11.50, 11.70; D-C-10, D-C-15; ADR 0130). */
import t from 'tap';
import { Unit } from '../../../src/domains/plant/kind.js';
import { verifySignatures } from '../../../src/domains/signatures/evidence.js';
import { SignatureRecord, type SignatureResource } from '../../../src/domains/signatures/kind.js';
import { type JudgeParts, toldSignatures } from '../../../src/domains/signatures/told.js';
import { canonicalDigest } from '../../../src/platform/ledger/canonical-json.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { AuditRecord } from '../../../src/platform/store/audit-record.js';
import type { Put } from '../../../src/platform/store/store.js';
import type { Client, GatewayTest } from '../../support/gateway.js';
import { GOOD, startSigning, TARGET } from './start.js';

const OVER = '/api/v1/signatures?kind=Unit&name=rx101&site=north';
const WHY = { reason: 'signed the wrong unit' };

async function signed(client: Client, more: object = {}): Promise<string> {
  const { status, body, text } = await client.post('/api/v1/signatures', { ...GOOD, ...more });
  t.equal(status, 201, text);
  return body.id;
}

const statesOf = (answer: { body: { items: { id: string; state: string }[] } }): Record<string, string> =>
  Object.fromEntries(answer.body.items.map(({ id, state }) => [id, state]));

t.test('AUTH-31: what is signed is what was shown: another digest is refused by name', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const { digest, revision } = (await viewer.get('/api/v1/signature-meanings?kind=Unit&name=rx101&site=north')).body;
  t.equal(digest, canonicalDigest(test.store.get(Unit, 'north', 'rx101')?.spec));
  t.equal(revision, 1);
  const other = '0'.repeat(64);
  t.match(await viewer.post('/api/v1/signatures', { ...GOOD, digest: other }), { status: 409, body: { code: 'shown_digest_differs', shown: other, present: digest } });
  t.match(await viewer.post('/api/v1/signatures', { ...GOOD, digest: 'short' }), { status: 400, body: { code: 'invalid_field', field: 'digest' } });
  const id = await signed(viewer, { digest });
  t.match(test.store.get(SignatureRecord, '', id)?.spec.record.content, { action: 'sign', proof: 'fresh-token', shown: digest });
});

t.test('D-C-16: a signature is withdrawn by who gave it or an administrator, with a reason, and stays visible', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const [viewer, supervisor, admin] = [await test.as('viewer'), await test.as('supervisor'), await test.as('admin')];
  const id = await signed(viewer);
  const withdraw = (client: Client, of = id, body: object = WHY) => client.post(`/api/v1/signatures/${of}/withdraw`, body);
  t.match(await withdraw(supervisor), { status: 403, body: { code: 'not_the_signer' } });
  t.match(await withdraw(viewer, id, { reason: ' ' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await withdraw(viewer, '00000000-0000-4000-8000-000000000000'), { status: 404, body: { code: 'not_found' } });
  const answer = await withdraw(viewer);
  t.match(answer, { status: 200, body: { id, valid: true, problems: [], state: 'Withdrawn' } });
  t.match(answer.body.words, /^Reviewed, signed by .* — WITHDRAWN: withdrawn by .*: signed the wrong unit$/);
  t.match(test.audits.at(-1), {
    action: 'Sign',
    category: 'signature-withdrawal',
    target: TARGET,
    operatorReason: WHY.reason,
    details: { withdrawn: id, meaning: 'Reviewed' },
    signature: { meaning: 'signature-withdraw' },
  });
  t.match(await withdraw(viewer), { status: 409, body: { code: 'signature_not_standing', state: 'Withdrawn' } });
  t.match(statesOf(await viewer.get(OVER)), { [id]: 'Withdrawn' });
  t.match(statesOf(await viewer.get('/api/v1/signatures')), { [id]: 'Withdrawn' });
  const byAdmin = await signed(viewer, { meaning: 'Verified' });
  t.match(await withdraw(admin, byAdmin), { status: 200, body: { state: 'Withdrawn' } });
  const again = await signed(viewer);
  t.match(statesOf(await viewer.get(OVER)), { [id]: 'Withdrawn', [again]: 'Valid' }, 'a new one stands beside it');
  test.clock.advance(300_001);
  t.match(await withdraw(viewer, again), { status: 401, body: { code: 'reauthentication_required' } });
  const second = await test.restart();
  t.teardown(() => second.stop());
  const late = await second.as('viewer');
  t.match(statesOf(await late.get(OVER)), { [id]: 'Withdrawn', [byAdmin]: 'Withdrawn', [again]: 'Valid' }, 'a restart keeps it');
});

t.test('D-C-15: signatures of several people stand beside each other; of one person the newer counts, whatever the clock says', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const [viewer, supervisor] = [await test.as('viewer'), await test.as('supervisor')];
  const first = await signed(viewer);
  const other = await signed(supervisor);
  test.clock.jump(-3_600_000);
  const second = await signed(viewer);
  t.match(test.audits.at(-1)?.details, { supersedes: [first] });
  t.match(statesOf(await viewer.get(OVER)), { [first]: 'Superseded', [other]: 'Valid', [second]: 'Valid' });
  t.match((await viewer.get(`/api/v1/signatures/${first}/verify`)).body, { valid: true, state: 'Superseded', why: new RegExp(second) });
  t.match(await viewer.post(`/api/v1/signatures/${first}/withdraw`, WHY), { status: 409, body: { code: 'signature_not_standing', supersededBy: second } });
  const unit = test.store.get(Unit, 'north', 'rx101');
  await test.store.write({ puts: [{ kind: Unit, site: 'north', name: 'rx101', spec: { ...unit?.spec, description: 'another vessel' } } as Put] });
  t.match(statesOf(await viewer.get(OVER)), { [other]: 'Superseded', [second]: 'Superseded' }, 'what was signed is not there any more');
  const { body } = await viewer.get(`/api/v1/signatures/${second}/verify`);
  t.match(body, { valid: true, state: 'Superseded', why: 'Unit rx101 was changed since' });
  t.match(Object.fromEntries(body.checks.map(({ check, ok }: { check: string; ok: boolean }) => [check, ok])), {
    digest: true,
    value: true,
    key: true,
    row: true,
    chain: true,
    content: false,
    standing: false,
  });
});

t.test('D-C-15: of two who withdraw at once one does; a signature that comes meanwhile supersedes or is refused nothing', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const [viewer, supervisor, admin] = [await test.as('viewer'), await test.as('supervisor'), await test.as('admin')];
  const id = await signed(viewer);
  const both = await Promise.all([viewer, admin].map((client) => client.post(`/api/v1/signatures/${id}/withdraw`, WHY)));
  t.same(both.map(({ status }) => status).sort(), [200, 409]);
  const two = await Promise.all([viewer, supervisor].map((client) => client.post('/api/v1/signatures', GOOD)));
  t.same(
    two.map(({ status }) => status),
    [201, 201],
    'two who sign at once have both signed',
  );
  const [mine, theirs] = two.map(({ body }) => body.id);
  const [taken, renewed] = await Promise.all([viewer.post(`/api/v1/signatures/${mine}/withdraw`, WHY), viewer.post('/api/v1/signatures', GOOD)]);
  t.equal(renewed?.status, 201);
  const states = statesOf(await viewer.get(OVER));
  t.equal(states[mine], taken?.status === 200 ? 'Withdrawn' : 'Superseded', 'whichever came first, and never both');
  t.match(states, { [theirs]: 'Valid', [renewed?.body.id]: 'Valid', [id]: 'Withdrawn' });
  const same = await Promise.all([1, 2, 3].map(() => viewer.post('/api/v1/signatures', { ...GOOD, meaning: 'Verified' })));
  const after = statesOf(await viewer.get(OVER));
  t.same(same.map(({ body }) => after[body.id]).sort(), ['Superseded', 'Superseded', 'Valid'], 'of one person one stands');
});

t.test('D-C-10: whatever field of a stored signature is changed, verifying it and all evidence says so', async (t) => {
  const { test, keys } = await startSigning(t);
  t.teardown(() => test.stop());
  const [viewer, supervisor] = [await test.as('viewer'), await test.as('supervisor')];
  const [first, second, plain] = [await signed(viewer), await signed(viewer), await signed(supervisor)];
  const taken = await signed(supervisor, { meaning: 'Verified' });
  t.equal((await supervisor.post(`/api/v1/signatures/${taken}/withdraw`, WHY)).status, 200);
  const queries = openQueries(test.dataDir, () => test.store.recorded);
  t.teardown(() => queries.close());
  t.same(await evidence(test, keys, queries), [], 'nothing is wrong with what nobody touched');
  for (const id of [first, second, plain, taken]) {
    const stored = test.store.get(SignatureRecord, '', id) as SignatureResource;
    for (const [what, spec, status] of edits(stored)) {
      await test.store.write({ puts: [{ kind: SignatureRecord, site: '', name: id, spec, status } as Put] });
      const { body, text } = await viewer.get(`/api/v1/signatures/${id}/verify`);
      t.match({ valid: body.valid, state: body.state }, { valid: false, state: 'Broken' }, `${what}: ${text}`);
      if (what !== 'correlationID') t.not((await evidence(test, keys, queries)).length, 0, `${what}: the verification of all evidence`);
      await test.store.write({ puts: [{ kind: SignatureRecord, site: '', name: id, spec: stored.spec, status: stored.status } as Put] });
    }
    t.match((await viewer.get(`/api/v1/signatures/${id}/verify`)).body, { valid: true }, 'and is genuine again');
  }
  await test.store.write({ removes: [{ kind: SignatureRecord.kind, site: '', name: plain }] });
  t.match((await viewer.get(`/api/v1/signatures/${plain}`)).body, { valid: false, state: 'Broken', why: /does not exist any more/ });
  t.match(await evidence(test, keys, queries), [/^the signature of /]);
});

t.test('D-C-10: a row of a signature that has lost its shape stops nobody from signing, and the audit trail tells of what it held', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const [lost, kept] = [await signed(viewer), await signed(viewer, { meaning: 'Verified' })];
  await test.store.write({ puts: [{ kind: SignatureRecord, site: '', name: lost, spec: { digest: '' } } as unknown as Put] });
  const second = await test.restart();
  t.teardown(() => second.stop());
  const late = await second.as('viewer');
  const next = await signed(late);
  t.match(statesOf(await late.get('/api/v1/signatures')), { [kept]: 'Valid', [next]: 'Valid' });
  t.match(statesOf(await late.get(OVER)), { [lost]: 'Broken', [kept]: 'Valid', [next]: 'Valid' });
  t.match((await late.get(`/api/v1/signatures/${lost}`)).body, { valid: false, state: 'Broken', why: /does not exist any more/ });
});

t.test('D-C-10: an audit record with something else in place of a signature carries none', (t) => {
  const record = { result: 'Success', category: 'signature', details: {} };
  const told = (signature: unknown) => ({ items: [{ ...record, signature } as unknown as AuditRecord], unreadable: [] });
  const parts = { read: { get: () => undefined } } as unknown as JudgeParts;
  for (const signature of [{ id: 'a' }, { id: 'a', subject: null }, { id: 1 }, undefined]) t.same(toldSignatures(told(signature), parts), []);
  t.end();
});

type Edit = readonly [what: string, spec: SignatureResource['spec'], status: SignatureResource['status']];

/** Each leaf of the record, what is kept beside it, and what is said to have become of it. */
function edits({ spec, status }: SignatureResource): Edit[] {
  const all: Edit[] = [];
  const walk = (value: unknown, path: string, put: (changed: unknown) => Edit[1]): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [member, inner] of Object.entries(value)) walk(inner, `${path}.${member}`, (changed) => put({ ...value, [member]: changed }));
    } else all.push([path, put(Array.isArray(value) ? [...value, 'more'] : typeof value === 'number' ? value + 1 : `${value as string}x`), status]);
  };
  walk(spec, 'spec', (changed) => changed as Edit[1]);
  const { withdrawal, supersededBy } = status;
  if (withdrawal) {
    all.push(['no withdrawal', spec, {}]);
    all.push(['withdrawal by another', spec, { withdrawal: { ...withdrawal, record: { ...withdrawal.record, reason: 'another reason' } } }]);
  } else {
    all.push(['a withdrawal that is none', spec, { ...status, withdrawal: { record: spec.record, digest: spec.digest } }]);
  }
  if (supersededBy === undefined) all.push(['superseded by nothing', spec, { ...status, supersededBy: spec.record.id }]);
  else all.push(['not superseded', spec, {}], ['superseded by another', spec, { supersededBy: spec.record.id }]);
  return all.map(([what, ...rest]) => [what.endsWith('correlationID') ? 'correlationID' : what, ...rest]);
}

async function evidence({ store }: GatewayTest, keys: Awaited<ReturnType<typeof startSigning>>['keys'], queries: ReturnType<typeof openQueries>): Promise<string[]> {
  const found: string[] = [];
  const unread = new Set<string>();
  async function* trail(category: string) {
    yield* (await queries.auditPage({ category, order: 'asc', limit: 500 })).items;
  }
  await verifySignatures({ store, queries, keys, trail, unread, report: (_part, _target, problems) => found.push(...problems) });
  return found;
}
