/** Measurements made elsewhere, delivered to a waiting phase (contract 1, Rules 5). */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ElementStatus, Phase, PhaseSpec } from '../../../src/domains/procedures/kind.js';
import { parse } from 'valibot';
import type { Put } from '../../../src/platform/store/store.js';
import { MES, SITE, startMesPlant } from './plant.js';

const plant = await startMesPlant();
t.teardown(() => plant.stop());
const { mes, operator, store } = plant;

/** A phase of the demonstration batch that waits for `viscosity`. */
async function waitingPhase(change: Partial<ElementStatus> = {}): Promise<{ name: string; id: string; path: string }> {
  const name = `phase-${randomUUID().slice(0, 8)}`;
  const id = randomUUID();
  const spec = parse(PhaseSpec, { templateRef: 'sample', unitRef: 'rx101', batchRef: batch, stepName: 'sample', stepPath: 'makeResin/sample' });
  const pendingPrompt = {
    id,
    text: 'viscosity',
    timestamp: '2026-01-01T00:00:00.000Z',
    stepName: 'wait',
    type: 'value',
    min: '200',
    max: '800',
    unit: 'mPa.s',
    resultKey: 'viscosity',
  } as const;
  await store.write({ puts: [{ kind: Phase, site: 'demo', name, spec, status: { ...Phase.initialStatus(spec), state: 'Running', pendingPrompt, ...change } } as Put] });
  return { name, id, path: `${MES}/phases/${name}/external-result` };
}

const made = await operator.post(`${SITE}/batches`, { batchID: 'B-1', masterRecipeRef: 'resin-a' });
const batch = made.body.name as string;

t.test('MES-23, MES-24, MES-49, MES-65: the pending list shows the wait, to keys and to people', async (t) => {
  const wait = await waitingPhase();
  const expected = { items: [{ phaseName: wait.name, batchID: 'B-1', id: wait.id, resultKey: 'viscosity', stepName: 'wait', min: '200', max: '800', unit: 'mPa.s' }] };
  const answer = await mes.get(`${MES}/external-results/pending`);
  t.same(answer.body, expected);
  t.same((await operator.get(`${MES}/external-results/pending`)).body, expected);
  t.equal((await mes.get(`${MES}/external-results/pending`, { headers: { 'if-none-match': String(answer.headers.etag) } })).status, 304);
});

t.test('MES-25, MES-50, MES-60, MES-61, MES-62, MES-63, MES-64: a delivery is refused in the order of the contract and delivers nothing', async (t) => {
  const { name, id, path } = await waitingPhase();
  const delivery = { resultID: id, resultKey: 'viscosity', value: '420', externalSystem: 'LIMS' };
  const deliver = (change: object) => mes.post(path, { ...delivery, ...change });
  t.match(await operator.post(path, delivery), { status: 403, body: { code: 'human_role' } });
  t.match(await mes.post(`${MES}/phases/none/external-result`, { nonsense: 1 }), { status: 404 });
  for (const field of ['resultID', 'resultKey', 'value', 'externalSystem']) {
    t.match(await deliver({ [field]: undefined }), { status: 400, body: { code: 'missing_field', field } });
    t.match(await deliver({ [field]: ' ' }), { status: 400, body: { code: 'missing_field', field } });
  }
  t.match(await deliver({ colour: 'red' }), { status: 400, body: { code: 'unknown_field' } });
  t.match(await deliver({ resultID: randomUUID(), resultKey: 'colour', value: 'x' }), { status: 409, body: { code: 'no_pending_result' } });
  t.match(await deliver({ resultKey: 'colour', value: 'x' }), { status: 400, body: { code: 'result_key_mismatch', field: 'resultKey', expected: 'viscosity' } });
  t.match(await deliver({ value: 'thick' }), { status: 400, body: { field: 'value' } });
  for (const value of ['199.999', '800.1', '1e400']) t.match(await deliver({ value }), { status: 400, body: { code: 'out_of_range', field: 'value', min: '200', max: '800' } });
  t.equal(store.get(Phase, 'demo', name)?.status.answer, undefined);
  t.same(plant.sent, []);
});

t.test('MES-37, MES-38, MES-26, RECORD-06: a valid delivery is stored with its provenance, unsigned, and reaches the unit once', async (t) => {
  const { name, id, path } = await waitingPhase();
  const delivery = { resultID: id, resultKey: 'viscosity', value: ' 420.0 ', externalSystem: 'LIMS', sampleID: 'S-77' };
  const [one, two] = await Promise.all([mes.post(path, delivery), mes.post(path, delivery)]);
  t.same([one.status, two.status].sort(), [200, 409], 'the first that arrives wins');
  const { body } = one.status === 200 ? one : two;
  t.match(body, { ok: true, phaseName: name, batchID: 'B-1', resultID: id, resultKey: 'viscosity', value: '420', unit: 'mPa.s', acceptedAt: /Z$/, correlationID: /./ });
  t.same(plant.sent, [{ unit: 'rx101', message: { type: 'answer', phase: name, waitId: id, value: 420 } }]);
  t.same(store.get(Phase, 'demo', name)?.status.answer, { waitId: id, value: 420 });
  const record = plant.audits.find((audit) => audit.action === 'ExternalResult' && audit.result === 'Success');
  t.match(record, { actorType: 'apiKey', target: { kind: 'Phase', name }, details: { externalSystem: 'LIMS', sampleID: 'S-77', value: '420' } });
  t.notOk(record?.signature);
  const consolidated = (await operator.get(`${SITE}/batches/${batch}/record`)).body;
  t.match(consolidated.externalResults, [
    { id: 1, phase: name, resultKey: 'viscosity', value: '420', externalSystem: 'LIMS', sampleID: 'S-77', credential: 'erp', auditRecordRef: record?.name },
  ]);
  t.match(consolidated.executionEvents.at(-1), { eventType: 'Operator', eventSubType: 'Parameter Data', value: '420', auditRecordRef: record?.name });
  t.notOk((await mes.get(`${MES}/external-results/pending`)).body.items.some((item: { id: string }) => item.id === id));
});

t.test('MES-40: a run that has ended, or a phase that waits for nothing, takes no delivery', async (t) => {
  for (const change of [{ state: 'Complete' }, { state: 'Aborted' }, { pendingPrompt: undefined }] as Partial<ElementStatus>[]) {
    const { id, path } = await waitingPhase(change);
    t.match(await mes.post(path, { resultID: id, resultKey: 'viscosity', value: '420', externalSystem: 'LIMS' }), { status: 409, body: { code: 'no_pending_result' } });
  }
  const question = await waitingPhase();
  const { pendingPrompt, ...status } = store.get(Phase, 'demo', question.name)?.status as ElementStatus;
  const { resultKey: _key, ...prompt } = pendingPrompt as NonNullable<typeof pendingPrompt>;
  await store.write({ puts: [{ kind: Phase, site: 'demo', name: question.name, status: { ...status, pendingPrompt: prompt } } as Put] });
  t.match(
    await mes.post(question.path, { resultID: question.id, resultKey: 'viscosity', value: '420', externalSystem: 'LIMS' }),
    { status: 409, body: { code: 'no_pending_result' } },
    'a question to the operator',
  );
});

t.test('MES-39, MES-66, RECORD-05: a person answers through the prompt; it is signed and has no provenance', async (t) => {
  const { name, id, path } = await waitingPhase();
  const answered = await operator.post(`${SITE}/phases/${name}/prompt-response`, { promptID: id, response: '430', reason: 'the laboratory called' });
  t.equal(answered.status, 200, answered.text);
  t.match(await mes.post(path, { resultID: id, resultKey: 'viscosity', value: '420', externalSystem: 'LIMS' }), { status: 409 });
  const consolidated = (await operator.get(`${SITE}/batches/${batch}/record`)).body;
  t.match(consolidated.operatorActions.at(-1), { signed: true, meaning: 'external-result-manual-entry', value: '430' });
  t.equal(consolidated.externalResults.length, 1);
  t.match(consolidated.signatures, [{ meaning: 'external-result-manual-entry', signer: { displayName: operator.username } }]);
});
