/** Change requests that somebody has edited past the gateway: found, told, and not acted on. */
import path from 'node:path';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { ChangeRequest, type ChangeRequestResource } from '../../../src/domains/change-control/kind.js';
import { changeRequestEvidence } from '../../../src/domains/change-control/verify.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { Area } from '../../../src/domains/plant/kind.js';
import { AT, manifestOf, PLANT, startChanges } from '../../support/change-requests.js';

const test = await startChanges();
t.teardown(() => test.plant.stop());
const { plant, admin } = test;
await test.apply(...PLANT);
const to = (description: string) => ({ manifest: manifestOf('Area', 'hall', { description }) });
const requestOf = (name: string): ChangeRequestResource => {
  const request = plant.store.get(ChangeRequest, 'north', name);
  if (!request) throw new Error(`no request ${name}`);
  return request;
};

interface Edit {
  readonly what: string;
  readonly problem: RegExp;
  edit(request: ChangeRequestResource): { readonly spec?: ChangeRequestResource['spec']; readonly status?: ChangeRequestResource['status'] };
}

/** Of a request that waits: each would let somebody have what nobody has asked for. */
const EDITS: readonly Edit[] = [
  { what: 'another manifest', problem: /its content is not what/, edit: ({ spec }) => ({ spec: { ...spec, ...to('forged') } }) },
  { what: 'another reason', problem: /its content is not what/, edit: ({ spec }) => ({ spec: { ...spec, reason: 'forged' } }) },
  { what: 'no signature', problem: /has not signed/, edit: ({ spec }) => ({ spec: { ...spec, signatures: [] } }) },
  {
    what: 'another author',
    problem: /not what was signed with a key/,
    edit: ({ spec }) => ({ spec: { ...spec, signatures: spec.signatures.map((each) => ({ ...each, signer: { ...each.signer, accountId: 'somebody' } })) } }),
  },
  { what: 'the base of what is there now', problem: /rests on/, edit: ({ status }) => ({ status: { ...status, baseDigest: 'f'.repeat(64) } }) },
  {
    what: 'a longer time',
    problem: /rests on|its time/,
    edit: ({ status }) => ({ status: { ...status, ...(status.term ? { term: { ...status.term, durationMs: status.term.durationMs * 2 } } : {}) } }),
  },
  {
    what: 'a later begin',
    problem: /its time/,
    edit: ({ status }) => ({ status: { ...status, ...(status.term ? { term: { ...status.term, from: { ...status.term.from, wallMs: 9e12 } } } : {}) } }),
  },
  { what: 'the phase of one that is approved', problem: /which its signatures do not say/, edit: ({ status }) => ({ status: { ...status, phase: 'Applied' } }) },
];

for (const { what, problem, edit } of EDITS) {
  t.test(`CHANGE-05 D-C-10: ${what} is found, and the request decided by nobody`, async (t) => {
    const name = `edited-${EDITS.findIndex((each) => each.what === what)}`;
    await test.ask(to(name), name);
    const before = requestOf(name);
    const hall = plant.store.get(Area, 'north', 'hall');
    await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name, ...edit(before) }] });
    t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: false, firstInvalid: { name, reason: problem } });
    const answer = await test.decide('approve', name);
    t.equal(answer.status, 409, answer.text);
    t.match(answer.body.code, /^(evidence_mismatch|change_request_state)$/);
    if (answer.body.code === 'evidence_mismatch') t.match(plant.mismatches.at(-1), problem);
    t.equal(plant.store.get(Area, 'north', 'hall'), hall);
    await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name, spec: before.spec, status: before.status }] });
    t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: true });
  });
}

t.test('D-C-10: one that has ended and is made to wait again is told from the trail', async (t) => {
  await test.ask(to('again'), 'again');
  const waiting = requestOf('again').status;
  await test.decide('withdraw', 'again', test.author);
  const ended = requestOf('again').status;
  await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name: 'again', status: waiting }] });
  t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: false, firstInvalid: { name: 'again', reason: /the audit trail tells that it is Withdrawn/ } });
  t.match(await test.decide('approve', 'again'), { status: 409, body: { code: 'evidence_mismatch', problems: [/Withdrawn/] } });
  t.match(await test.decide('reject', 'again'), { status: 409, body: { code: 'evidence_mismatch' } });
  await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name: 'again', status: ended }] });
});

t.test('CHANGE-05 D-C-10: what was applied, and one that has gone, are compared with the trail', async (t) => {
  await test.ask(to('truly'), 'truly');
  await test.decide('approve', 'truly');
  const { status, spec } = requestOf('truly');
  await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name: 'truly', status: { ...status, appliedDigest: 'f'.repeat(64) } }] });
  t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: false, firstInvalid: { name: 'truly', reason: /site north: what came of it is not what was signed/ } });
  await plant.store.write({ removes: [{ kind: ChangeRequest.kind, site: 'north', name: 'truly' }] });
  t.match((await admin.get('/api/v1/change-control/verify')).body, {
    ok: false,
    firstInvalid: { name: 'truly', reason: /the audit trail tells of it, and it does not exist any more/ },
  });
  const queries = openQueries(plant.dataDir, () => plant.store.recorded);
  t.match(await changeRequestEvidence({ store: plant.store, keys: plant.keys, queries }), {
    problems: [{ part: 'change-requests', kind: 'ChangeRequest', site: 'north', name: 'truly' }],
  });
  await queries.close();
  await plant.store.write({ puts: [{ kind: ChangeRequest, site: 'north', name: 'truly', spec, status }] });
  t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: true });
});

t.test('D-C-10: a row that is edited on the disk is found after the start', async (t) => {
  await test.ask(to('on disk'), 'on-disk');
  const file = path.join(plant.dataDir, 'state.db');
  await plant.store.recorded;
  const database = new Database(file);
  const edited = database.prepare("UPDATE resources SET body = replace(body, 'on disk', 'forged!') WHERE kind = 'ChangeRequest' AND name = 'on-disk'").run();
  database.close();
  t.equal(edited.changes, 1);
  const again = await plant.restart();
  t.teardown(() => again.stop());
  const supervisor = await again.as('supervisor', 'admin');
  t.match((await supervisor.get('/api/v1/change-control/verify')).body, { ok: false, firstInvalid: { name: 'on-disk' } });
  t.match((await supervisor.post(`${AT}/on-disk/approve`, { reason: 'checked' })).status, 409);
});
