/** Batch records of a real run: the whole appliance with the demonstration plant (contract 3, Batch record; decisions 8). */
import t from 'tap';
import { canonicalDigest } from '../../../src/platform/ledger/canonical-json.js';
import { schemaFaults, texts } from '../mes/schema.js';
import { SITE, startPlant } from '../../support/plant.js';

const MES = '/api/v1/mes/sites/demo';
const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;

const order = await api.post(`${MES}/work-orders?dispatch=immediate`, { workOrderID: 'WO-9', productDefinition: 'resin-a', quantity: '28' });
const name = order.body.batchName as string;
const RECORD = `${SITE}/batchrecords/${name}`;
const CONSOLIDATED = `${SITE}/batches/${name}/record`;

/** The record once its history has settled. */
async function settled() {
  return plant.look('the record is settled', async () => {
    const { body, text } = await api.get(RECORD);
    return {
      done: body?.conditions?.some((condition: { type: string; status: string }) => condition.type === 'PhaseHistorySettled' && condition.status === 'True') ? body : undefined,
      seen: text.slice(0, 200),
    };
  });
}

t.test('decisions 8.2: before the start and while it runs the consolidated record is provisional', async (t) => {
  const before = (await api.get(CONSOLIDATED)).body;
  t.match(before, { provisional: true, batch: { batchID: 'WO-9', startedAt: '' }, record: null, historian: { configured: true, tags: [] } });
  t.equal((await api.get(RECORD)).status, 404);
  t.equal((await plant.command(name, 'Start')).status, 200);
  await plant.until(name, 'Running');
  const running = (await api.get(CONSOLIDATED)).body;
  t.match(running, { provisional: true, record: null });
  t.ok(running.executionEvents.length > 0 && running.phaseHistory.length > 0);
  const xml = await api.get(`${CONSOLIDATED}?format=b2mml-mesa`);
  t.equal(schemaFaults(xml.text), '', 'valid although provisional');
  t.same(texts(xml.text, '/b:BatchProductionRecord/b:RecordStatus'), ['Open']);
});

t.test('RECORD-01, RECORD-02, RECORD-03, RECORD-07: the record is made at the end, with provenance and frozen events', async (t) => {
  await plant.finish(name);
  const record = await settled();
  t.match(record, {
    name,
    phase: 'Open',
    outcome: 'Complete',
    comments: [],
    spec: { batch: { batchID: 'WO-9', workOrderID: 'WO-9', lotID: 'WO-9' }, recipe: { name: 'resin-a', version: '1.0.0' } },
  });
  t.equal(record.digest, canonicalDigest(record.spec));
  t.ok(record.spec.parameterValues.every((value: { source: string }) => ['formula-scaled', 'override', 'default'].includes(value.source)));
  for (const output of ['ph', 'viscosity', 'avgTemp', 'packed'])
    t.ok(
      record.spec.outputs.some((candidate: { name: string }) => candidate.name === output),
      output,
    );
  t.same(
    record.spec.executionEvents.map((event: { id: number }) => event.id),
    record.spec.executionEvents.map((_: unknown, at: number) => at + 1),
  );
  t.equal((await plant.batch(name)).recordRef, name);
});

t.test('RECORD-04, RECORD-12: actions of people name the person, the signature and the audit record', async (t) => {
  const { spec } = (await api.get(RECORD)).body;
  const action = spec.operatorActions.find((candidate: { meaning: string }) => candidate.meaning === 'prompt-response');
  t.match(action, { action: 'PromptAcknowledge', signed: true, person: { displayName: /./ }, acknowledgedBy: /./, signatureRef: /./, auditRecordRef: /^audit-\d{12}$/ });
  const audit = (await api.get(`${SITE}/audit/${action.auditRecordRef}`)).body;
  t.match(audit, { action: 'PromptAcknowledge', target: { kind: 'Phase' } });
  const [start] = spec.operatorActions;
  t.match(start, { action: 'Command', value: 'Start', signed: false, element: { kind: 'Batch', name }, person: { displayName: /./ } });
  t.match((await api.get(`${SITE}/audit/${start.auditRecordRef}`)).body, { action: 'Command', result: 'Success', target: { kind: 'Batch', name } });
});

t.test('RECORD-12: the list is filtered, paged and says what is settled', async (t) => {
  const list = (query = '') => api.get(`${SITE}/batchrecords${query}`);
  const { body } = await list();
  t.match(body, { items: [{ name, batch: name, batchID: 'WO-9', recipe: 'resin-a', version: '1.0.0', phase: 'Open', outcome: 'Complete', settled: true }], nextCursor: null });
  const [{ endedAt, productID }] = body.items;
  t.equal((await list(`?productID=${productID}&phase=Open&from=${endedAt}`)).body.items.length, 1);
  t.equal((await list('?phase=Finalized')).body.items.length, 0);
  t.equal((await list('?productID=other')).body.items.length, 0);
  t.match((await list('?search=wo-9')).body, { items: [{ name }], total: 1 });
  t.match((await list('?search=nobody')).body, { items: [], total: 0 });
  t.equal((await list(`?to=${endedAt}`)).body.items.length, 0, 'the end is exclusive');
  t.match(await list('?phase=Lost'), { status: 400, body: { field: 'phase' } });
  t.match(await list('?from=yesterday'), { status: 400, body: { field: 'from' } });
});

t.test('BATCH-04, decisions 8.2: the consolidated record carries audit trail, signatures and what the historian holds, under one digest', async (t) => {
  const { body } = await api.get(CONSOLIDATED);
  const { integrity, ...rest } = body;
  t.equal(integrity.digest, canonicalDigest(rest));
  t.match(body, { provisional: false, record: { name, phase: 'Open' }, historian: { configured: true } });
  const kinds = new Set(body.audit.map((record: { target: { kind: string } }) => record.target.kind));
  for (const kind of ['Batch', 'Phase', 'BatchRecord']) t.ok(kinds.has(kind), kind);
  t.same(
    body.audit.map((record: { sequence: number }) => record.sequence),
    body.audit.map((record: { sequence: number }) => record.sequence).toSorted((a: number, b: number) => a - b),
  );
  t.ok(
    body.audit.some((record: { action: string; result: string }) => record.action === 'Command' && record.result === 'Success'),
    'the verdict on Start',
  );
  t.ok(body.signatures.length >= 2 && body.signatures.every((signature: { value: string }) => signature.value !== ''));
  t.ok(body.historian.tags.length > 0);
  for (const tag of body.historian.tags) t.ok(tag.samples > 0 && tag.from >= body.batch.startedAt && tag.to <= body.batch.endedAt, tag.address);
  t.ok(body.materials.inputs.length > 0 && body.materials.outputs.length > 0);
});

t.test('BATCH-04, decisions 8.8, D-RECIPE-05: BatchML is valid, in two forms that differ in the namespace only', async (t) => {
  const mesa = await api.get(`${CONSOLIDATED}?format=b2mml-mesa&historian=true`);
  t.equal(schemaFaults(mesa.text), '');
  t.ok(texts(mesa.text, '//b:DataSet').length > 0, 'recorded values on request');
  for (const query of ['?format=xml', '?format=b2mml']) t.match((await api.get(CONSOLIDATED + query)).text, /<BatchProductionRecord xmlns="urn:wbf:b2mml:v0700"/);
  const { text, headers } = await api.get(CONSOLIDATED, { accept: 'application/xml' });
  t.equal(headers.get('content-type'), 'application/xml; charset=utf-8');
  t.equal(texts(text, '//b:DataSet').length, 0);
  t.equal(schemaFaults(text.replace('urn:wbf:b2mml:v0700', 'http://www.mesa.org/xml/B2MML')), '');
  const types = texts(text, '//b:RecipeElement/b:RecipeElementType');
  for (const type of ['UnitProcedure', 'Operation', 'Phase']) t.ok(types.includes(type), type);
  t.equal(texts(text, '/b:BatchProductionRecord//b:ControlRecipe/b:RecipeElement').length, 3, 'unit procedures stand at the top');
  t.ok(texts(text, '//b:Link/b:LinkType').includes('ParallelDivergent') || texts(text, '//b:Link').length > 0);
  t.same(texts(text, '//b:Sample//b:TestName'), [], 'nothing was delivered by a system in this run');
  t.match(await api.get(`${CONSOLIDATED}?format=pdf`), { status: 400, body: { field: 'format' } });
});

t.test('MES-02, MES-21, MES-22, MES-48: production performance shows the finished batch', async (t) => {
  const list = await api.get(`${MES}/production-performance`);
  t.match(list.body, [{ batchID: 'WO-9', batchName: name, workOrderID: 'WO-9', productDefinition: 'resin-a', state: 'Complete', recordName: name, recordPhase: 'Open' }]);
  t.same((await api.get(`${MES}/production-performance?state=Aborted`)).body, []);
  t.match(await api.get(`${MES}/production-performance?state=Lost`), { status: 400, body: { field: 'state' } });
  const { body } = await api.get(`${MES}/production-performance/WO-9`);
  t.match(body, { state: 'Complete', historian: { configured: true, tags: [{ href: /^\/api\/v1\/historian\/batch\/WO-9\/tags\?/ }] } });
  for (const part of ['parameters', 'outputs', 'equipment', 'materialInputs', 'materialOutputs', 'operatorActions', 'executionEvents', 'auditTrail'])
    t.ok(body[part].length > 0, part);
  const values = await api.get(body.historian.tags[0].href);
  t.ok(values.status === 200 && values.body.items.length > 0, 'the link leads to the values');
  for (const target of ['production-performance', 'production-performance/WO-9']) {
    const mesa = await api.get(`${MES}/${target}?format=b2mml-mesa`);
    t.equal(schemaFaults(mesa.text), '', target);
    t.same(texts(mesa.text, '//b:OperationsResponse/b:ResponseState'), ['Completed']);
    t.match((await api.get(`${MES}/${target}?format=b2mml`)).text, /<ProductionPerformance xmlns="urn:wbf:b2mml:v0700"/);
  }
});

t.test('RECORD-15: a record is commented and reviewed before it is sealed', async (t) => {
  const commented = await api.post(`${RECORD}/comments`, { text: 'pH taken twice', reference: 'ph' });
  t.match(commented, { status: 201, body: { text: 'pH taken twice', reference: 'ph', by: /./, at: /Z$/ } });
  t.match(await api.post(`${RECORD}/comments`, { text: '' }), { status: 400, body: { field: 'text' } });
  t.match(await api.post(`${RECORD}/review`, { outcome: 'Perfect' }), { status: 400, body: { field: 'outcome' } });
  t.match(await api.post(`${RECORD}/review`, { outcome: 'Accepted', comment: 'complete' }), {
    status: 200,
    body: { name, phase: 'Reviewed', review: { outcome: 'Accepted', comment: 'complete' } },
  });
  t.match((await api.get(RECORD)).body, { phase: 'Reviewed', comments: [{ text: 'pH taken twice' }], review: { outcome: 'Accepted' } });
});

/** The signature of somebody who is not the one that seals it. */
async function signedAs(meaning: string): Promise<void> {
  const signed = await api.post('/api/v1/signatures', { target: { kind: 'BatchRecord', name, site: 'demo' }, meaning, reason: 'asked for by the test' });
  t.equal(signed.status, 201, signed.text);
}

t.test('a record that was signed as what it is can be sealed afterwards, and sealed one can be signed', async (t) => {
  await signedAs('Approved');
  t.match((await api.get(CONSOLIDATED)).body.integrity, { ok: true, problems: [] });
  t.match((await plant.verified()).body, { ok: true, problems: [] });
});

t.test('RECORD-11, RECORD-13, RECORD-14: finalize signs and seals; nothing changes a sealed record', async (t) => {
  t.match(await api.post(`${RECORD}/finalize`, { reason: '  ' }), { status: 400, body: { code: 'reason_too_short' } });
  const sealed = await api.post(`${RECORD}/finalize`, { reason: 'released to the customer' });
  t.match(sealed, { status: 200, body: { name, phase: 'Finalized', actionBy: /./, actionAt: /Z$/, reason: 'released to the customer', signature: /^[0-9a-f]{64}$/ } });
  const { body } = await api.get(RECORD);
  t.match(body, { phase: 'Finalized', finalized: { signature: sealed.body.signature } });
  const consolidated = (await api.get(CONSOLIDATED)).body;
  const signature = consolidated.signatures.find((candidate: { meaning: string }) => candidate.meaning === 'record-finalize');
  t.match(signature, { subject: { kind: 'BatchRecord', name, digest: body.digest }, reason: 'released to the customer' });
  const { value: _value, ...base } = signature;
  t.equal(canonicalDigest(base), sealed.body.signature, 'the digest in the answer is that of the signed record');
  t.match(await api.post(`${RECORD}/finalize`, { reason: 'again' }), { status: 409, body: { code: 'record_sealed' } });
  t.match(await api.post(`${RECORD}/review`, { outcome: 'Rejected' }), { status: 409, body: { code: 'record_sealed' } });
  t.match(await api.post(`${RECORD}/comments`, { text: 'late' }), { status: 409, body: { code: 'record_sealed' } });
  t.match(await api.put(`${SITE}/batches/${name}`, { description: 'other' }), { status: 409, body: { code: 'record_sealed' } });
  await signedAs('Witnessed');
  const { id } = (await api.get(`/api/v1/signatures?kind=BatchRecord&name=${name}&site=demo&meaning=Approved`)).body.items[0];
  t.equal((await api.post(`/api/v1/signatures/${id}/withdraw`, { reason: 'asked for by the test' })).status, 200);
  const told = (await api.get(CONSOLIDATED)).body.signatureStates.find((each: { id: string }) => each.id === id);
  t.match(told, { state: 'Withdrawn', words: /^Approved, signed by .* — WITHDRAWN: / }, 'a withdrawn one stays in the record, with its state');
  t.ok((await api.get(`${CONSOLIDATED}?format=b2mml-mesa`)).text.includes('— WITHDRAWN: '), 'and in BatchML');
  const { signatures, ...again } = (await api.get(RECORD)).body;
  t.same({ ...again, signatures: body.signatures }, body);
  t.same(
    signatures.map(({ meaning, state }: { meaning: string; state: string }) => [meaning, state]),
    [
      ['Approved', 'Withdrawn'],
      ['record-finalize', 'Valid'],
      ['Witnessed', 'Valid'],
      ['signature-withdraw', 'Valid'],
    ],
  );
  t.match(body.seal, { ok: true, problems: [] });
  t.match((await api.get(`${SITE}/batchrecord-seals`)).body, { ok: true, checked: 1, problems: [] });
  t.match((await plant.verified()).body, { ok: true, problems: [] });
  t.same(texts((await api.get(`${MES}/production-performance/WO-9?format=b2mml-mesa`)).text, '//b:ResponseState'), ['Closed']);
});

t.test('RECORD-01: an aborted batch has its record too, and another outcome', async (t) => {
  const batch = await plant.runBatch();
  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');
  await plant.look('its record is there', async () => {
    const { body, status } = await api.get(`${SITE}/batchrecords/${batch}`);
    return { done: status === 200 ? body : undefined, seen: String(status) };
  });
  const summaries = (await api.get(`${MES}/production-performance`)).body;
  t.same(
    summaries.map((summary: { state: string }) => summary.state),
    ['Aborted', 'Complete'],
    'the latest first',
  );
  t.equal(schemaFaults((await api.get(`${SITE}/batches/${batch}/record?format=b2mml-mesa`)).text), '');
});

t.test('ADR 0132: a legal hold keeps what is in its scope from every delete until it is lifted, and shows in the lists', async (t) => {
  const batch = (await api.get(`${SITE}/batchrecords?limit=1`)).body.items[0].name as string;
  const why = { reason: 'claim 7 of the customer' };
  t.match(await api.post('/api/v1/legal-holds', { name: 'claim-7', ...why, scope: { site: 'demo', batchRecords: ['none'] } }), {
    status: 400,
    body: { code: 'unknown_reference', field: 'scope.batchRecords[0]' },
  });
  t.match(await api.post('/api/v1/legal-holds', { name: 'claim-7', ...why, scope: { site: 'demo', batchRecords: [batch] } }), { status: 201, body: { state: 'Standing' } });
  t.match((await api.get('/api/v1/legal-holds/claim-7')).body, { holds: [batch], holdsTotal: 1 });
  const shown = async () => (await api.get(`${SITE}/batchrecords?limit=1`)).body.items[0].legalHolds;
  t.same(await shown(), ['claim-7']);
  t.same((await api.get(`${SITE}/batchrecords/${batch}`)).body.legalHolds, ['claim-7']);
  t.match(await api.delete(`${SITE}/batches/${batch}`), { status: 409, body: { code: 'legal_hold', hold: 'claim-7' } });
  const { endedAt } = (await api.get(`${SITE}/batchrecords?limit=1`)).body.items[0];
  t.match(await api.post('/api/v1/legal-holds', { name: 'that-hour', ...why, scope: { site: 'demo', from: endedAt, to: endedAt } }), { status: 201 });
  t.match(await api.post('/api/v1/legal-holds/claim-7/lift', why), { status: 200, body: { state: 'Lifted', liftReason: why.reason } });
  t.match(await api.post('/api/v1/legal-holds/claim-7/lift', why), { status: 409, body: { code: 'legal_hold_lifted' } });
  t.match(await api.delete(`${SITE}/batches/${batch}`), { status: 409, body: { code: 'legal_hold', hold: 'that-hour' } }, 'another hold keeps it still');
  t.match(await api.post('/api/v1/legal-holds/that-hour/lift', why), { status: 200 });
  t.same(await shown(), []);
  t.match(await api.delete(`${SITE}/batches/${batch}`), { status: 204 });
});
