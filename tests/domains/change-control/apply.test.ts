/** Change requests through generic apply. */
import t from 'tap';
import { ChangeRequest } from '../../../src/domains/change-control/kind.js';
import { AT, HALL, manifestOf, PLANT, startChanges } from '../../support/change-requests.js';

const test = await startChanges();
t.teardown(() => test.plant.stop());
const { plant, author } = test;
await test.apply(...PLANT);
const request = (name: string, spec: object = {}) => manifestOf('ChangeRequest', name, { ...HALL, ...spec });
const apply = (body: unknown, query = '') => author.post(`/api/v1/apply${query}`, body);

t.test('APPLY-05: apply creates a change request and never writes one that exists', async (t) => {
  t.match(await apply(request('one')), { status: 200, body: { kind: 'ChangeRequest', namespace: 'site-north', name: 'one', operation: 'created', generation: 1 } });
  t.match(await apply(request('one')), { status: 409, body: { code: 'already_exists' } }, 'not even with the same words');
  t.match(await apply([manifestOf('Area', 'two'), request('one', { reason: 'another' })]), { status: 409, body: { index: 1 } });
  t.match((await author.get(`${AT}/one`)).body, {
    spec: { signatures: [{ meaning: 'change-create', signer: { displayName: author.username } }] },
    status: { phase: 'Pending', author: author.username },
  });
  t.match(test.audits('one').at(0), { action: 'Create', category: 'change-control', operatorReason: HALL.reason, signature: { meaning: 'change-create' } });
});

t.test('APPLY-06: signatures that are sent are refused, whatever stands in them', async (t) => {
  const [made] = plant.store.list(ChangeRequest);
  t.match(await apply(request('forged', { signatures: made?.spec.signatures })), { status: 400, body: { field: 'spec.signatures' } });
  t.match(await apply(request('forged', { signatures: [{}] })), { status: 400 });
  t.match(await apply({ ...request('told'), status: { phase: 'Approved' } }), { status: 200, body: { warnings: [/status is ignored/] } });
  t.equal(await test.phaseOf('told'), 'Pending');
});

t.test('APPLY-08: target and reason are needed, and the answer is 200', async (t) => {
  t.match(await apply(request('x', { target: undefined })), { status: 400, body: { field: 'spec.target' } });
  t.match(await apply(request('x', { reason: undefined })), { status: 400, body: { field: 'spec.reason' } });
  t.match(await apply(request('x', { reason: '' })), { status: 400, body: { field: 'spec.reason' } });
  t.match(await apply(request('dry'), '?dryRun=true'), { status: 200, body: { operation: 'created', dryRun: true } });
  t.notOk(plant.store.get(ChangeRequest, 'north', 'dry'));
  t.same((await author.get('/api/v1/export?site=north&kinds=ChangeRequest&status=true')).body, [], 'an export holds what another box takes');
  t.equal((await test.decide('approve', 'one')).body.status.phase, 'Applied', 'it is decided as every other');
});

t.test('APPLY-07: a change request is applied with a token of the last five minutes', async (t) => {
  plant.clock.advance(300_001);
  t.match(await apply(request('late')), { status: 401, body: { code: 'reauthentication_required' } });
  t.match(await apply([manifestOf('Area', 'two'), request('late')]), { status: 401 });
  t.match(await apply(manifestOf('Area', 'two')), { status: 200 });
});
