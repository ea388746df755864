/** Signatures over the content of resources (decisions Q-AUTH-04, 8.6). */
import t from 'tap';
import { isSignatureValid } from '../../../src/domains/signatures/signature.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { SignatureRecord } from '../../../src/domains/signatures/kind.js';
import { canonicalDigest } from '../../../src/platform/ledger/canonical-json.js';
import { requireMeaning } from '../../../src/domains/signatures/meanings.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import { GOOD, startSigning, TARGET } from './start.js';

t.test('AUTH-31 Q-AUTH-04: a signature states content, meaning and signer, is audited as Sign, and changes nothing', async (t) => {
  const { test, keys } = await startSigning(t);
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const unit = test.store.get(Unit, 'north', 'rx101');
  const answer = await viewer.post('/api/v1/signatures', GOOD);
  t.equal(answer.status, 201);
  t.equal(answer.headers.location, `/api/v1/signatures/${answer.body.id}`);
  t.match(answer.body, { ...GOOD, digest: canonicalDigest(unit?.spec), signature: /^[0-9a-f]{64}$/, keyId: keys.auditKeyId, signedBy: { displayName: viewer.username } });
  t.same(Object.keys(answer.body), ['id', 'target', 'meaning', 'reason', 'digest', 'signature', 'keyId', 'signedBy', 'signedAt', 'correlationID']);
  t.equal(answer.body.correlationID, answer.headers['x-correlation-id']);
  t.equal(test.store.get(Unit, 'north', 'rx101'), unit, 'the unit is the same object still');
  const stored = test.store.get(SignatureRecord, '', answer.body.id);
  t.ok(stored && isSignatureValid(stored.spec.record, keys));
  const { value: _value, ...base } = stored?.spec.record as NonNullable<typeof stored>['spec']['record'];
  t.equal(answer.body.signature, canonicalDigest(base));
  t.match(test.audits.at(-1), {
    action: 'Sign',
    category: 'signature',
    result: 'Success',
    site: 'north',
    target: TARGET,
    operatorReason: GOOD.reason,
    signature: { id: answer.body.id, digest: answer.body.signature },
  });
  const words = `Reviewed, signed by ${viewer.username} (${answer.body.signedBy.accountId}) at ${answer.body.signedAt}: ${GOOD.reason}`;
  const read = { ...answer.body, state: 'Valid', why: '', words, valid: true, problems: [], auditRecordRef: test.audits.at(-1)?.name };
  t.same((await viewer.get(`/api/v1/signatures/${answer.body.id}`)).body, read);
  t.same((await viewer.get(`/api/v1/signatures/${answer.body.signature}`)).status, 200, 'by its digest too');
  const second = await test.restart();
  t.teardown(() => second.stop());
  t.same((await second.request('GET', `/api/v1/signatures/${answer.body.id}`, { token: viewer.token })).body, read, 'a restart keeps it');
});

t.test('Q-AUTH-04 Q-AUTH-06: what is refused', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const confined = await test.as('viewer', 'site-south');
  const post = async (body: unknown, client = viewer) => {
    const { status, body: answer } = await client.post('/api/v1/signatures', body);
    return [status, answer.code];
  };
  t.same(await post({ ...GOOD, target: { ...TARGET, name: 'rx999' } }), [404, 'not_found']);
  t.same(await post({ ...GOOD, target: { ...TARGET, kind: 'Account' } }), [404, 'not_found'], 'internal kinds cannot be signed');
  t.same(await post({ ...GOOD, target: { kind: 'Unit', name: 'rx101' } }), [400, 'missing_field']);
  t.same(await post({ ...GOOD, target: { kind: 'Site', name: 'north', site: 'north' } }), [400, 'invalid_field']);
  t.same(await post({ ...GOOD, meaning: '' }), [400, 'invalid_field']);
  t.same(await post({ ...GOOD, meaning: 'x'.repeat(65) }), [400, 'invalid_field']);
  t.same(await post({ ...GOOD, reason: '  ' }), [400, 'reason_too_short']);
  t.same(await post({ ...GOOD, more: 1 }), [400, 'unknown_field']);
  t.same(await post(GOOD, confined), [403, 'site_scope']);
  t.same(await post({ ...GOOD, target: { kind: 'Site', name: 'north' } }, confined), [403, 'site_scope'], 'a site lies in its own scope');
  const { id } = (await viewer.post('/api/v1/signatures', GOOD)).body;
  t.match(await confined.get(`/api/v1/signatures/${id}`), { status: 403, body: { code: 'site_scope' } });
  for (const unknown of ['none', '00000000-0000-4000-8000-000000000000', '0'.repeat(64)]) t.match(await viewer.get(`/api/v1/signatures/${unknown}`), { status: 404 });
  test.clock.advance(300_001);
  t.same(await post(GOOD), [401, 'reauthentication_required']);
});

t.test('D-C-16: a meaning is accepted where it is offered, and nowhere else', async (t) => {
  const { test } = await startSigning(t);
  t.teardown(() => test.stop());
  const [viewer, supervisor] = [await test.as('viewer'), await test.as('supervisor')];
  const names = (client: typeof viewer) =>
    client
      .get('/api/v1/signature-meanings?kind=Unit&name=rx101&site=north')
      .then(({ body }) => body.items.filter(({ applicable }: { applicable: boolean }) => applicable).map(({ meaning }: { meaning: string }) => meaning));
  t.same(await names(viewer), ['Witnessed', 'Reviewed', 'Verified']);
  const all = (await viewer.get('/api/v1/signature-meanings?kind=Batch')).body.items;
  t.match(
    all.find(({ meaning }: { meaning: string }) => meaning === 'Approved'),
    { kinds: ['Batch'], states: ['Complete', 'Stopped', 'Aborted', 'Failed'], tier: 'supervise' },
  );
  t.match(await viewer.post('/api/v1/signatures', { ...GOOD, meaning: 'Approved' }), {
    status: 409,
    body: { code: 'meaning_not_applicable', meaning: 'Approved', kind: 'Unit', applicable: ['Witnessed', 'Reviewed', 'Verified'] },
  });
  t.match(await supervisor.post('/api/v1/signatures', { ...GOOD, meaning: 'looks fine' }), { status: 409, body: { code: 'meaning_not_applicable' } });
  t.match(await viewer.post('/api/v1/signatures', { ...GOOD, meaning: 'witness' }), { status: 201, body: { meaning: 'Witnessed' } });
});

t.test('D-C-16: a batch is not approved before it is final, nor its record before it is reviewed, nor either by a reader', (t) => {
  const caller = (...actions: string[]) => ({ may: (action: string) => actions.includes(action) }) as unknown as Caller;
  const [reader, supervisor] = [caller('signature:create'), caller('signature:create', 'batchrecord:review')];
  const of = (kind: string, phase: string) => ({ kind, metadata: { name: 'b1' }, spec: {}, status: { phase } }) as unknown as Resource;
  const may = (kind: string, phase: string, who: Caller, meaning = 'Approved') => {
    try {
      return requireMeaning(meaning, kind, of(kind, phase), who) === meaning;
    } catch {
      return false;
    }
  };
  t.notOk(may('Batch', 'Held', supervisor));
  t.ok(may('Batch', 'Complete', supervisor));
  t.notOk(may('Batch', 'Complete', reader));
  t.notOk(may('Batch', 'Held', reader, 'Reviewed'));
  t.ok(may('Batch', 'Held', reader, 'Witnessed'));
  t.notOk(may('BatchRecord', 'Open', supervisor));
  t.ok(may('BatchRecord', 'Reviewed', supervisor));
  t.notOk(may('MasterRecipe', 'Draft', supervisor), 'a recipe is approved by its life cycle');
  t.end();
});
