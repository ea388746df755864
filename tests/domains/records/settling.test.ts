/** How a batch record comes to rest, and how a sealed one defends itself (contract 3, Batch record; decisions 3.3, 8.1). */
import { renameSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Batch, type BatchSpec, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { Phase, type PhaseSpec } from '../../../src/domains/procedures/kind.js';
import { partialData } from '../../../src/domains/records/conditions.js';
import { BatchRecord, type FailoverEvent } from '../../../src/domains/records/kind.js';
import { RecordReconciler } from '../../../src/domains/records/reconciler.js';
import Database from '../../../src/platform/base/sqlite.js';
import { archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import type { Put } from '../../../src/platform/store/store.js';
import { archive } from '../../support/archive-data.js';
import { SITE, startPlant } from '../../support/plant.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

/** @returns the file that all records of the audit trail are in now but the last. */
async function archiveAll(dataDir: string): Promise<string> {
  const state = new Database(path.join(dataDir, 'state.db'), { readonly: true });
  const { last } = state.prepare('SELECT max(sequence) AS last FROM audit').get() as { readonly last: number };
  state.close();
  await archive(dataDir, 1, last - 1);
  return path.join(archiveFolder(dataDir), archiveFileName(1, last - 1));
}

const settling = (record: { readonly conditions: readonly { readonly type: string }[] }) => record.conditions.find(({ type }) => type === 'PhaseHistorySettled');

t.test('RECORD-10, decisions 3.3: a batch that does not wait for its elements says so in its record, which is repaired when they have come to rest', async (t) => {
  const plant = await startPlant({ environment: { LINESIDE_RUNTIME__SFC__SETTLEDEADLINE: '1s' } });
  t.teardown(() => plant.end());
  const { api } = plant;
  const spec = {
    steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
    charts: {
      stopping: {
        steps: [{ name: 'drain', initial: true, actionST: "seen := PROMPT('Is it empty?');" }, { name: 'drained' }],
        transitions: [{ from: 'drain', to: 'drained', conditionST: "seen = 'Acknowledged'" }],
      },
    },
  };
  t.equal((await api.post(`${SITE}/phasetemplates`, { name: 'slow-to-stop', spec })).status, 201);
  const phase = { name: 'drain', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'slow-to-stop' };
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [phase] } };
  const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [operation] } }] } };
  const recipe = { name: 'slow', spec: { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure } };
  t.equal((await api.post(`${SITE}/recipes/master`, recipe)).status, 201);

  const batch = await plant.runBatch({ masterRecipeRef: 'slow' });
  await plant.untilPhase(batch, 'slow-to-stop', 'Running');
  await plant.command(batch, 'Stop');
  await plant.until(batch, 'Stopped');
  const RECORD = `${SITE}/batchrecords/${batch}`;
  const record = (reason: string) =>
    plant.look(`the record says ${reason}`, async () => {
      const { body, status } = await api.get(RECORD);
      const condition = status === 200 ? settling(body) : undefined;
      return { done: (condition as { reason?: string } | undefined)?.reason === reason ? body : undefined, seen: JSON.stringify(condition) };
    });
  const first = await record('SettleDeadlineExceeded');
  t.match(settling(first), { status: 'False', message: /still moving/ });
  t.match(first, { outcome: 'Stopped', conditions: [{}, { type: 'PartialData', status: 'False' }], spec: { failoverEvents: [] } });
  const [moving] = await plant.phases(batch);
  t.equal(moving.state, 'Stopping', 'the phase drives its stopping chart to the end');
  t.equal((await plant.answer(await plant.untilPrompt(batch), '')).status, 200);

  const last = await record('AllPhasesAtRest');
  const history = last.spec.phaseHistory.find(({ kind }: { kind: string }) => kind === 'Phase');
  t.equal(history.states.at(-1).state, 'Stopped', 'the late state joined the history');
  t.same(last.spec.executionEvents, first.spec.executionEvents, 'RECORD-07: events were frozen at the end of the batch');
  t.not(last.digest, first.digest);

  t.equal((await api.post(`${RECORD}/comments`, { text: 'stopped in good order' })).status, 201);
  t.equal((await api.post(`${RECORD}/review`, { outcome: 'Accepted', comment: 'seen' })).status, 200);
  t.notOk((await api.get(RECORD)).body.seal, 'nothing is sealed yet');
  t.match(await api.post(`${RECORD}/finalize`, { reason: 'complete as it is' }), { status: 200, body: { phase: 'Finalized' } });
  const sealed = (await api.get(RECORD)).body;
  t.same(sealed.seal, { ok: true, problems: [] });
  t.match((await api.get(`${SITE}/batches/${batch}/record`)).body.integrity, { ok: true, problems: [] });
  t.match((await api.get(`${SITE}/batchrecord-seals`)).body, { ok: true, checked: 1, checkedAt: /Z$/, problems: [] });

  const manifest = { apiVersion: 'record.lineside.io/v1alpha1', kind: 'BatchRecord', metadata: { name: batch, namespace: 'site-demo' }, spec: sealed.spec };
  t.match(await api.post('/api/v1/apply', manifest), { status: 422, body: { error: /read-only evidence record/ } }, 'RECORD-11: apply changes no record, sealed or not');
  t.equal((await api.delete(RECORD)).status, 405, 'nor is there a route that would');
  t.same((await api.get(RECORD)).body, sealed);
  const witness = { target: { kind: 'BatchRecord', name: batch, site: 'demo' }, meaning: 'Witnessed', reason: 'looked at by the test' };
  t.equal((await api.post('/api/v1/signatures', witness)).status, 201);

  await plant.stop();
  const archived = await archiveAll(plant.dataDir);
  const away = `${archived}.away`;
  renameSync(archived, away);
  await plant.start();
  const unread = `it cannot be compared with the audit trail: part of it is archived in ${path.basename(archived)}, not in the archive folder or not readable: put it back`;
  t.same((await plant.api.get(RECORD)).body.seal, { ok: false, problems: [unread] }, 'what is told in a file that was taken away is not held against the record');
  const unsigned = { code: 'archive_unreadable', files: [path.basename(archived)], error: `the record of batch ${batch} cannot be signed: ${unread}` };
  t.match(await plant.api.post('/api/v1/signatures', witness), { status: 409, body: unsigned }, 'D-C-10: nor is it signed for');
  renameSync(away, archived);
  t.same((await plant.api.get(RECORD)).body.seal, { ok: true, problems: [] });
  t.equal((await plant.api.post('/api/v1/signatures', witness)).status, 201);

  await plant.stop();
  const database = new Database(path.join(plant.dataDir, 'state.db'));
  const change = `replace(replace(body, '"outcome":"Accepted"', '"outcome":"Rejected"'), '"state":"Stopped"', '"state":"Complete"')`;
  t.equal(database.prepare(`UPDATE resources SET body = ${change} WHERE kind = 'BatchRecord' AND name = ?`).run(batch).changes, 1);
  database.close();
  await plant.start();
  const found = (await plant.api.get(RECORD)).body;
  t.match(
    found.seal,
    { ok: false, problems: ['its content does not have its digest', 'its content is not what was signed', 'its review is not that of the audit trail'] },
    'RECORD-11: a change past the gateway is found',
  );
  t.match(await plant.api.post('/api/v1/signatures', witness), { status: 409, body: { code: 'evidence_mismatch', problems: found.seal.problems } }, 'nobody signs for it');
  t.equal((await plant.api.get('/api/v1/audit/verify')).body.ok, true, 'the audit trail, which says so, is whole');
  const documents = async () => {
    const document = `${SITE}/batches/${batch}/record`;
    const { integrity } = (await plant.api.get(document)).body;
    const made = (await plant.api.get(`/api/v1/mes/sites/demo/production-performance/${encodeURIComponent(last.spec.batch.batchID)}`)).body;
    return { integrity, made, text: (await plant.api.get(`${document}?format=xml`)).text };
  };
  const told = await documents();
  t.match(told.made, { integrity: found.seal }, 'and the MES');
  t.match(told.text, /<CommentText>This record is not what was recorded: its content does not have its digest; /, 'and whoever is handed the document');
  const seals = async () => (await plant.api.get(`${SITE}/batchrecord-seals`)).body;
  t.match(await seals(), { ok: false, checked: 1, problems: [{ name: batch, auditRecordRef: /^audit-/, problems: found.seal.problems }] });

  const past = async (statement: string): Promise<void> => {
    await plant.stop();
    const state = new Database(path.join(plant.dataDir, 'state.db'));
    t.equal(state.prepare(statement).run(batch).changes, 1);
    state.close();
    await plant.start();
  };
  const status = `json_extract(body, '$.status')`;
  await past(`UPDATE resources SET body = json_set(body, '$.status', json_set(${status}, '$.phase', 'Reviewed')) WHERE kind = 'BatchRecord' AND name = ?`);
  t.match(
    await seals(),
    { ok: false, problems: [{ name: batch, problems: ['it was sealed and is Reviewed', ...found.seal.problems] }] },
    'RECORD-11: a seal that was taken off is found',
  );
  t.match((await documents()).integrity, { ok: false, problems: ['it was sealed and is Reviewed', ...found.seal.problems] });
  await past(`DELETE FROM resources WHERE kind = 'BatchRecord' AND name = ?`);
  const gone = await seals();
  t.match(
    gone,
    { ok: false, checked: 1, problems: [{ name: batch, sealedBy: /./, problems: ['it was sealed and does not exist any more'] }] },
    'RECORD-11: a deletion past the gateway is found',
  );
  t.equal((await plant.api.get(RECORD)).status, 404, 'no open record takes its place');
  const { auditRecordRef, sealedAt } = gone.problems[0];
  t.match((await plant.api.get(`${SITE}/audit/${auditRecordRef}`)).body, { action: 'Sign', target: { name: batch }, timestamp: sealedAt }, 'by the audit record of the signature');
  t.equal((await plant.api.get('/api/v1/audit/verify')).body.ok, true);

  await past(`UPDATE resources SET past = '', past_entry = '', body = json_set(body, '$.status', json_set(${status}, '$.recordRef', '')) WHERE kind = 'Batch' AND name = ?`); // present: nobody looks for what a past one is without
  await plant.look('a record is made as if there had been none', async () => {
    const answer = await plant.api.get(RECORD);
    return { done: answer.status === 200 && (settling(answer.body) as { status?: string } | undefined)?.status === 'True' ? true : undefined, seen: answer.text };
  });
  t.match(await plant.api.post(`${RECORD}/finalize`, { reason: 'again' }), { status: 409, body: { code: 'evidence_mismatch' } }, 'D-C-10: what takes its place is not sealed');
  const [again] = (await seals()).problems;
  t.match(again, { name: batch, auditRecordRef }, 'RECORD-11: nor does it hide the first');
  t.ok(again.problems.includes('it was sealed and is Open'));
});

t.test('RECORD-10: a repair that would lose entries is not done', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const { store } = plant;
  const at = '2026-01-01T00:00:10.000Z';
  const spec = { batchID: 'B1', masterRecipeRef: 'gone' } as BatchSpec;
  const status: BatchStatus = { ...Batch.initialStatus(spec), phase: 'Aborted', settleBy: at, endedAt: at };
  const phaseSpec = { batchRef: 'b1', stepPath: 'up/op/ph', unitRef: 'rx101', materials: [], parameterValues: [] } as unknown as PhaseSpec;
  const output = { name: 'level', type: 'REAL', value: '1.0', unit: '%' } as const;
  const moving = { ...Phase.initialStatus(phaseSpec), state: 'Aborting', outputs: [output] } as const;
  await store.write({
    puts: [{ kind: Batch, site: 'demo', name: 'b1', spec, status } as Put, { kind: Phase, site: 'demo', name: 'b1-ph', spec: phaseSpec, status: moving } as unknown as Put],
  });
  const reconciler = new RecordReconciler({ store, facts: { facts: async () => [], factPageJson: async () => new Uint8Array() } });
  t.match([...reconciler.keys()], [{ site: 'demo', name: 'b1' }]);
  t.match(await reconciler.reconcile({ site: 'demo', name: 'b1' }), { lookAgainMs: Number });
  const made = store.get(BatchRecord, 'demo', 'b1');
  t.match(made?.status.conditions[0], { reason: 'SettleDeadlineExceeded' });
  t.equal(made?.spec.outputs.length, 1);
  t.match(await reconciler.reconcile({ site: 'demo', name: 'b1' }), { lookAgainMs: Number });
  t.equal(store.get(BatchRecord, 'demo', 'b1')?.metadata.resourceVersion, made?.metadata.resourceVersion, 'while elements move nothing is written');

  await store.write({ removes: [{ kind: 'Phase', site: 'demo', name: 'b1-ph' }] });
  t.equal(await reconciler.reconcile({ site: 'demo', name: 'b1' }), 'settled');
  const kept = store.get(BatchRecord, 'demo', 'b1');
  t.match(kept?.status.conditions[0], { status: 'False', reason: 'RepairWouldLoseEntries', message: 'the record stays as it was made: a repair would lose outputs' });
  t.same(kept?.spec, made?.spec);
  t.equal(kept?.status.digest, made?.status.digest);
  t.same([...reconciler.keys()], []);
  t.equal(plant.audits.at(-1)?.details?.settling, 'RepairWouldLoseEntries');
});

t.test('RECORD-01: a batch that is deleted while its record is being made does not come back', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const { store } = plant;
  const spec = { batchID: 'B2', masterRecipeRef: 'gone' } as BatchSpec;
  await store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b2', spec, status: { ...Batch.initialStatus(spec), phase: 'Complete' } } as Put] });
  const deleting = async () => {
    if (store.get(Batch, 'demo', 'b2')) await store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'b2' }] });
    return [];
  };
  const reconciler = new RecordReconciler({ store, facts: { facts: deleting, factPageJson: async () => new Uint8Array() } });
  t.equal(await reconciler.reconcile({ site: 'demo', name: 'b2' }), 'settled');
  t.notOk(store.get(Batch, 'demo', 'b2') ?? store.get(BatchRecord, 'demo', 'b2'));
});

t.test('RECORD-08, RECORD-09: a bound of a failover gap without its audit record is flagged; without failovers nothing is', async (t) => {
  const bound = (name: string) => ({ at: '2026-01-01T00:00:00.000Z', auditRecordRef: name });
  const failover: FailoverEvent = {
    unit: 'rx101',
    reboundAt: '2026-01-01T00:00:05.000Z',
    cause: 'node lost',
    controlGap: { from: bound('audit-1'), to: bound('audit-2'), bounds: 'Exact' },
    dataGap: { from: bound('audit-1'), to: bound('audit-3'), bounds: 'Containing' },
  };
  t.match(partialData([], []), { type: 'PartialData', status: 'False' });
  t.match(partialData([failover], []), { status: 'False', reason: 'AllBoundsEvidenced' });
  const open = { ...failover, dataGap: { ...failover.dataGap, to: { at: '', auditRecordRef: '' } } };
  t.match(partialData([failover, open], []), { status: 'True', reason: 'UnevidencedBound', message: /rx101/ });
  t.match(partialData([], ['events 17']), { status: 'True', reason: 'UnreadableEntries', message: /left out: events 17$/ }, 'what is damaged and left out is told');
});
