/** Change requests over the real pipeline: what is asked for, who decides it, and what comes of it. */
import t from 'tap';
import { Area } from '../../../src/domains/plant/kind.js';
import { ChangeRequest } from '../../../src/domains/change-control/kind.js';
import { shownDigest } from '../../../src/domains/change-control/target.js';
import { isSignatureValid } from '../../../src/domains/signatures/signature.js';
import { signIn } from '../../support/gateway.js';
import { AT, HALL, manifestOf, PLANT, REQUESTS, startChanges, target } from '../../support/change-requests.js';

const test = await startChanges();
t.teardown(() => test.plant.stop());
const { plant, admin, author, approver } = test;
const reader = await plant.as('viewer');
t.equal((await test.apply(...PLANT)).status, 200);
const hall = () => plant.store.get(Area, 'north', 'hall')?.spec.description;

t.test('CHANGE-01 CHANGE-02 CHANGE-06: a request says target, operation and reason; Update where it says none', async (t) => {
  const answer = await test.ask({ risk: 'High', description: 'as drawn' }, 'first');
  t.match(answer, {
    status: 201,
    headers: { location: `${AT}/first`, etag: String },
    body: {
      namespace: 'site-north',
      name: 'first',
      spec: { target: HALL.target, operation: 'Update', reason: HALL.reason, risk: 'High', description: 'as drawn', evidence: [], signatures: [{ meaning: 'change-create' }] },
      status: {
        phase: 'Pending',
        author: author.username,
        decidedBy: '',
        decidedAt: '',
        decisionReason: '',
        appliedAt: '',
        error: '',
        appliedDigest: '',
        baseDigest: /^[0-9a-f]{64}$/,
      },
    },
  });
  t.match((await author.post(REQUESTS, { name: 'flat', ...HALL })).body, { name: 'flat', spec: { reason: HALL.reason } }, 'flat as well');
  t.match((await author.post(REQUESTS, { spec: HALL })).body, { name: /^change-\d+$/ }, 'a name is given where none is sent');
  t.match(await reader.post(REQUESTS, { spec: HALL }), { status: 403, body: { action: 'changerequest:create' } });
  for (const [member, body] of [
    ['spec.target', { reason: 'x' }],
    ['spec.reason', { target: HALL.target }],
  ] as const)
    t.match(await author.post(REQUESTS, { spec: body }), { status: 400, body: { code: 'missing_field', field: member } });
  t.match(await test.ask({ operation: 'Replace' }), { status: 400, body: { field: 'spec.operation' } });
  t.match(await test.ask({ reason: '  ' }), { status: 400, body: { field: 'spec.reason' } });
  t.match(await test.ask({}, 'first'), { status: 409, body: { code: 'already_exists' } });
  t.match(await test.ask({}, 'Not a name'), { status: 400, body: { code: 'invalid_name' } });
});

t.test('CHANGE-01: whatever people name their requests, the box finds a name', async (t) => {
  for (const name of ['change-99999999', 'change-999999999', 'change-1000000000', 'change-100000000']) t.match(await test.ask({}, name), { status: 201 }, name);
  const names = [await author.post(REQUESTS, { spec: HALL }), await author.post(REQUESTS, { spec: HALL })].map(({ body }) => body.name);
  t.match(names, [/^change-\d+$/, /^change-\d+$/]);
  t.not(names[0], names[1]);
});

t.test('ADR 0111: an operator who sets the mode of equipment for the first time changes nothing that was asked for', (t) => {
  const digests = ['', 'Automatic', 'Manual'].map((mode) => shownDigest({ description: 'reactor', mode }));
  t.equal(new Set(digests).size, 1);
  t.not(shownDigest({ description: 'reactor', mode: 'Signal' }), digests[0], 'what is no mode of equipment counts');
  t.end();
});

t.test('CHANGE-03: signatures are empty on input and stamped by the gateway, over the content of the request', async (t) => {
  t.match(await test.ask({ signatures: [{ meaning: 'change-approve' }] }), { status: 400, body: { code: 'invalid_field', field: 'spec.signatures' } });
  const { body } = await test.ask({ signatures: [] }, 'signed');
  const [{ digest, ...record }] = body.spec.signatures;
  t.ok(isSignatureValid(record, plant.keys));
  t.match(record, {
    meaning: 'change-create',
    reason: HALL.reason,
    signer: { displayName: author.username },
    content: { action: 'create', operation: 'Update', target: HALL.target },
  });
  t.match(record.subject, { kind: 'ChangeRequest', name: 'signed', namespace: 'site-north', revision: 1 });
  t.match(test.audits('signed'), [
    { action: 'Create', category: 'change-control', result: 'Success', operatorReason: HALL.reason, details: { phase: 'Pending' }, signature: { digest } },
  ]);
});

t.test('decisions Q-CHANGE-02: an approval with a manifest applies it at once, and the record of the target names the request', async (t) => {
  const { body: asked } = await test.ask({}, 'approved');
  t.equal(hall(), 'hall 1');
  const answer = await test.decide('approve', 'approved');
  t.match(answer, {
    status: 200,
    body: {
      spec: { signatures: [{ meaning: 'change-create' }, { meaning: 'change-approve', signer: { displayName: approver.username }, reason: 'checked' }] },
      status: { phase: 'Applied', decidedBy: approver.username, decisionReason: 'checked', appliedAt: String, appliedDigest: /^[0-9a-f]{64}$/, error: '' },
    },
  });
  t.not(answer.body.status.appliedDigest, asked.status.baseDigest);
  t.equal(hall(), 'hall 2');
  t.match(plant.audits.slice(-2), [
    { action: 'Update', target: { kind: 'Area', name: 'hall' }, displayName: approver.username, operatorReason: HALL.reason, details: { via: 'apply', changeRequest: 'approved' } },
    { action: 'Lifecycle', target: { kind: 'ChangeRequest', name: 'approved' }, details: { phase: 'Applied' }, signature: { meaning: 'change-approve' } },
  ]);
  t.equal(plant.audits.at(-1)?.correlationID, plant.audits.at(-2)?.correlationID);
  for (const action of ['approve', 'reject', 'withdraw'] as const)
    t.match(await test.decide(action, 'approved', action === 'withdraw' ? author : approver), { status: 409, body: { code: 'change_request_state', phase: 'Applied' } }, action);
});

t.test('decisions Q-CHANGE-02: without a manifest it stays Approved, as evidence', async (t) => {
  await test.ask({ manifest: undefined }, 'evidence');
  t.match(await test.decide('approve', 'evidence'), { status: 200, body: { status: { phase: 'Approved', appliedAt: '' } } });
  t.equal(hall(), 'hall 2');
  t.match(await test.decide('withdraw', 'evidence', author), { status: 409, body: { code: 'change_request_state' } });
});

t.test('decisions Q-CHANGE-02: Create makes what is not there, and Delete removes what is, as their routes would', async (t) => {
  const annex = { target: target('Area', 'annex'), manifest: manifestOf('Area', 'annex', { description: 'new' }) };
  t.match(await test.ask(annex), { status: 404, body: { code: 'not_found', field: 'spec.target.name' } });
  t.match(await test.ask({ operation: 'Create' }), { status: 409, body: { code: 'already_exists' } });
  await test.ask({ ...annex, operation: 'Create' }, 'create');
  t.match((await test.decide('approve', 'create')).body, { status: { phase: 'Applied', baseDigest: '' } });
  t.ok(plant.store.get(Area, 'north', 'annex'));
  await test.apply(manifestOf('ProcessCell', 'cell', { areaName: 'annex' }));
  const remove = { target: target('Area', 'annex'), operation: 'Delete', manifest: undefined };
  t.match(await test.ask({ ...remove, manifest: annex.manifest }), { status: 400, body: { field: 'spec.manifest' } });
  await test.ask(remove, 'delete-held');
  t.match((await test.decide('approve', 'delete-held')).body, { status: { phase: 'Failed', error: /ProcessCell cell/ } }, 'what holds it holds it');
  t.ok(plant.store.get(Area, 'north', 'annex'));
  await admin.delete('/api/v1/sites/north/processcells/cell');
  await test.ask(remove, 'delete');
  t.match((await test.decide('approve', 'delete')).body, { status: { phase: 'Applied', appliedDigest: '' } });
  t.notOk(plant.store.get(Area, 'north', 'annex'));
  t.match(plant.audits.slice(-2), [
    { action: 'Delete', target: { kind: 'Area', name: 'annex', site: 'north' }, details: { via: 'change-request', changeRequest: 'delete' } },
    { action: 'Lifecycle', details: { phase: 'Applied' } },
  ]);
  t.match((await admin.get(`${AT}/delete`)).body.changes, [{ path: 'spec.description', from: 'new', to: null }]);
});

t.test('decisions Q-CHANGE-02: what was edited meanwhile, or is refused, makes the request Failed and says why', async (t) => {
  await test.ask({ manifest: manifestOf('Area', 'hall', { description: 'hall 3' }) }, 'late');
  await admin.put('/api/v1/sites/north/areas/hall', { description: 'hall 2b' });
  t.match((await admin.get(`${AT}/late`)).body, { targetChanged: true, changes: [{ path: 'spec.description', from: 'hall 2b', to: 'hall 3' }] });
  t.match(await test.decide('approve', 'late'), { status: 200, body: { status: { phase: 'Failed', error: /Area hall was changed after change request late was made/ } } });
  t.equal(hall(), 'hall 2b');
  t.match(test.audits('late').at(-1), { result: 'Failed', details: { phase: 'Failed', error: /was changed/ }, signature: { meaning: 'change-approve' } });
  await test.ask({ target: target('ProcessCell', 'c'), operation: 'Create', manifest: manifestOf('ProcessCell', 'c', { areaName: 'gone' }) }, 'dangling');
  t.match((await test.decide('approve', 'dangling')).body, { status: { phase: 'Failed', error: /gone/ } });
  await test.ask({ manifest: manifestOf('Area', 'hall', { description: 'hall 2b' }) }, 'same');
  t.same((await admin.get(`${AT}/same`)).body.changes, [], 'what is so already changes nothing');
});

t.test('CHANGE-04: create, approve and reject need a token of the last five minutes; withdraw does not', async (t) => {
  await test.ask({}, 'stale');
  plant.clock.advance(300_001);
  t.match(await test.ask({}, 'stale-2'), { status: 401, body: { code: 'reauthentication_required' } });
  for (const action of ['approve', 'reject'] as const) t.match(await test.decide(action, 'stale'), { status: 401, body: { code: 'reauthentication_required' } }, action);
  t.match(await test.decide('withdraw', 'stale', author, {}), { status: 200, body: { status: { phase: 'Withdrawn', decidedBy: author.username } } });
});

t.test('CHANGE-08: tiers, reasons, and who may decide what he has asked for', async (t) => {
  const fresh = await signIn(plant, ['supervisor']);
  const asker = await signIn(plant, ['engineer']);
  await test.ask({}, 'own', fresh);
  for (const action of ['approve', 'reject'] as const) {
    t.match(await test.decide(action, 'own', fresh), { status: 403, body: { code: 'self_approval' } }, `${action} of his own`);
    t.match(await test.decide(action, 'own', asker), { status: 403, body: { action: `changerequest:${action}` } }, action);
    t.match(await test.decide(action, 'own', fresh, { reason: ' ' }), { status: 400, body: { code: 'reason_too_short' } });
    t.match(await test.decide(action, 'own', fresh, { reason: 'x', more: 1 }), { status: 400, body: { code: 'unknown_field' } });
  }
  t.match(await test.decide('withdraw', 'own', asker), { status: 403, body: { code: 'not_the_author' } });
  t.match(await test.decide('withdraw', 'own', reader), { status: 403, body: { action: 'changerequest:withdraw' } });
  t.equal((await test.decide('withdraw', 'own', await signIn(plant, ['admin']))).status, 200, 'an administrator withdraws that of another');
  await test.ask({}, 'rejected', asker);
  t.match(await test.decide('reject', 'rejected', fresh, { reason: 'not needed' }), {
    status: 200,
    body: { spec: { signatures: [{}, { meaning: 'change-reject' }] }, status: { phase: 'Rejected', decisionReason: 'not needed' } },
  });
  t.match(
    plant.audits.filter(({ result, target: { name } }) => result === 'Rejected' && name === 'own').map(({ reason }) => reason),
    ['SelfApproval', 'ActionMissing', 'ReasonTooShort', 'UnknownField', 'SelfApproval'],
  );
});

t.test('CHANGE-07 CHANGE-05: list, read, history, verify and backends, each with its tier', async (t) => {
  const all = (await reader.get('/api/v1/changerequests')).body;
  t.ok(all.length > 5);
  t.same(
    (await reader.get('/api/v1/changerequests?phase=Applied,Approved')).body.map(({ name }: { name: string }) => name),
    ['approved', 'create', 'delete', 'evidence'],
  );
  const page = await reader.get('/api/v1/changerequests?limit=2');
  t.equal(page.body.length, 2);
  t.match(page.headers, { 'x-total-count': String(all.length), link: /cursor=/ });
  t.match(await reader.get(`${AT}/first`), { status: 200, body: { blastRadius: { uses: [], truncated: false, units: [], batches: [] } } });
  t.match(await reader.get(`${AT}/none`), { status: 404 });
  t.match(await reader.get('/api/v1/changerequests/north/first'), { status: 404 });
  const history = (await reader.get('/api/v1/sites/north/change-control/history?limit=1000')).body.items;
  t.match(
    history.filter(({ changeRequest }: { changeRequest: string }) => changeRequest === 'approved'),
    [
      { phase: 'Pending', decidedBy: '', reason: HALL.reason },
      {
        phase: 'Applied',
        namespace: 'site-north',
        target: HALL.target,
        operation: 'Update',
        author: author.username,
        decidedBy: approver.username,
        reason: 'checked',
        auditRecordRef: /^a/,
      },
    ],
  );
  for (const { auditRecordRef, phase } of history)
    t.match(
      plant.audits.find(({ name }) => name === auditRecordRef),
      { details: { phase } },
    );
  t.match(await reader.get('/api/v1/change-control/verify'), { status: 403 });
  t.match(await approver.get('/api/v1/change-control/verify'), { status: 200, body: { ok: true, checked: all.length, firstInvalid: null, checkedAt: String } });
  t.strictSame((await reader.get('/api/v1/system/changerequest-backends')).body, [
    { name: 'builtin', type: 'internal', enabled: true, default: true, description: 'Change requests are kept, signed and applied by this appliance.' },
  ]);
});

t.test('decisions Q-AUTH-14: who is confined to a site sees and decides its requests alone', async (t) => {
  const southern = await signIn(plant, ['supervisor', 'site-south']);
  t.same((await southern.get('/api/v1/changerequests')).body, []);
  for (const [method, path] of [
    ['GET', `${AT}/first`],
    ['POST', `${AT}/first/approve`],
    ['POST', `${AT}/first/reject`],
    ['POST', `${AT}/first/withdraw`],
    ['POST', REQUESTS],
    ['GET', '/api/v1/sites/north/change-control/history'],
    ['GET', '/api/v1/changerequests?site=north'],
  ] as const)
    t.match(await plant.request(method, path, { token: southern.token, ...(method === 'POST' ? { body: {} } : {}) }), { status: 403, body: { code: 'site_scope' } }, path);
  t.match((await southern.get('/api/v1/change-control/verify')).body, { ok: true, checked: 0 });
  t.match(await southern.post('/api/v1/sites/south/changerequests', { spec: { ...HALL, manifest: undefined } }), { status: 404 }, 'a target of north is not there in south');
});

t.test('decisions Q-CHANGE-02: what the approver may not change himself he cannot approve, and the request waits for somebody who may', async (t) => {
  const [asker, supervisor] = [await signIn(plant, ['engineer']), await signIn(plant, ['supervisor'])];
  const spec = { target: target('Controller', 'edge'), operation: 'Create', reason: 'new cabinet', manifest: manifestOf('Controller', 'edge', { displayName: 'x' }) };
  const made = await asker.post(REQUESTS, { name: 'edge', spec });
  t.equal(made.status, 201, made.text);
  t.match(await test.decide('approve', 'edge', supervisor), { status: 403, body: { code: 'action_missing', action: 'controller:create' } });
  t.equal(await test.phaseOf('edge'), 'Pending');
});

t.test('CHANGE-01: hostile bodies are refused with the member that is wrong, and nothing is kept of them', async (t) => {
  const asker = await signIn(plant, ['engineer']);
  const before = plant.store.list(ChangeRequest).length;
  const bad: readonly (readonly [object, string])[] = [
    [{ target: target('Batch', 'b1') }, 'spec.target.kind'],
    [{ target: target('ChangeRequest', 'first') }, 'spec.target.kind'],
    [{ target: target('__proto__', 'x') }, 'spec.target.kind'],
    [{ target: { ...HALL.target, apiVersion: 'v1' } }, 'spec.target.apiVersion'],
    [{ manifest: manifestOf('Area', 'other') }, 'spec.manifest.metadata.name'],
    [{ manifest: manifestOf('ProcessCell', 'hall') }, 'spec.manifest.kind'],
    [{ manifest: manifestOf('Area', 'hall', {}, { namespace: 'site-south' }) }, 'spec.manifest.metadata.namespace'],
    [{ manifest: manifestOf('Area', 'hall', { more: 1 }) }, 'spec.manifest.spec.more'],
    [{ manifest: { spec: {} } }, 'spec.manifest.apiVersion'],
    [{ manifest: [] }, 'spec.manifest'],
    [{ manifest: manifestOf('Area', 'hall', { description: 'a\u0000b' }) }, 'spec.manifest.spec.description'],
    [{ reason: 'x'.repeat(2000) }, 'spec.reason'],
    [{ status: { phase: 'Approved' } }, 'spec.status'],
    [{ evidence: [{ kind: 'Area', name: 'hall', digest: 'x' }] }, 'spec.evidence[0].kind'],
    [{ evidence: [{ kind: 'SignatureRecord', name: 'none', digest: 'x' }] }, 'spec.evidence[0].name'],
    [
      { target: target('IOModule', 'io'), operation: 'Create', manifest: manifestOf('IOModule', 'io', { protocol: 'opcua', options: { password: 'hunter2' } }) },
      'spec.manifest.spec',
    ],
  ];
  for (const [spec, field] of bad) t.match(await asker.post(REQUESTS, { spec: { ...HALL, ...spec } }), { status: 400, body: { field } }, field);
  t.match(await asker.post(REQUESTS, { name: 'x', spec: HALL, status: { phase: 'Approved' } }), { status: 400, body: { code: 'unknown_field' } });
  t.equal(plant.store.list(ChangeRequest).length, before);
});
