/** What a batch leaves behind is past, and everything that is served of it is byte for byte what it was (ADR 0037). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { PAST_AT_ONCE, SITE, SMALL, startPlant } from '../support/plant.js';

const plant = await startPlant({ environment: { LINESIDE_BATCH__PASTAFTER: '0', LINESIDE_BATCH__RECORDPASTAFTER: '0' } });
t.teardown(() => plant.end());
const MES = '/api/v1/mes/sites/demo';
const BACKUP = '/api/v1/backup/crds';
const LEAVING = ['Procedure', 'UnitProcedure', 'Operation', 'Phase', 'ControlRecipe', 'BatchRecord', 'Batch'];
/** In SQL: copies that batches have of patterns. */
const IS_COPY = "(kind IN ('CoordinationBlock', 'SyncBarrier') AND json_extract(body, '$.spec.batchRef') <> '')";
const LEVELS = ['procedures', 'unitprocedures', 'operations', 'phases'];

// a pattern that names a unit, so that the copies of each batch do
const units = { producer: 'rx101', consumer: 'mx101' };
await patternWith(units);

const batches = [await finished({}), await finished(SMALL)];

// biome-ignore lint/suspicious/noExplicitAny: a body of the interface
async function exportedPattern(): Promise<any> {
  return (await plant.api.get('/api/v1/export?kinds=CoordinationBlock')).body.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'reactor-ready');
}

async function patternWith({ producer, consumer }: { readonly producer: string; readonly consumer: string }): Promise<void> {
  const pattern = await exportedPattern();
  pattern.spec.signal.producer.unitRef = producer;
  pattern.spec.signal.consumers[0].unitRef = consumer;
  await posted('/api/v1/apply', pattern, 200);
}

async function finished(spec: Readonly<Record<string, unknown>>): Promise<string> {
  const batch = await plant.runBatch(spec);
  await plant.finish(batch);
  await plant.look('its record has settled', async () => {
    const { body } = await plant.api.get(`${SITE}/batchrecords/${batch}`);
    const settled = body?.conditions?.find(({ type }: { type: string }) => type === 'PhaseHistorySettled')?.status;
    return { done: settled === 'True' || undefined, seen: settled };
  });
  // its units show nothing of it any more, so that nothing about it waits for the next batch
  await plant.command(batch, 'Reset');
  await plant.look('its units are reset', async () => {
    const units = (await plant.api.get(`${SITE}/units`)).body as readonly { state: string; allocatedTo: string }[];
    return {
      done: units.every(({ state, allocatedTo }) => ['Idle', ''].includes(state) && allocatedTo === '') || undefined,
      seen: JSON.stringify(units.map((unit) => unit.state)),
    };
  });
  return batch;
}

/** Everything that is asked of a batch, its elements and its recipe. */
async function paths(): Promise<string[]> {
  const found = [`${SITE}/batches`, `${SITE}/batches?order=recent&limit=1`, `${SITE}/recipes/control`, `${SITE}/recipes/control?limit=1`, `${SITE}/prompts`];
  for (const level of LEVELS) {
    for (const query of ['', '?limit=3', '?adhoc=true', '?adhoc=false&limit=2', '?atWork=true', '?atWork=false', '?unit=rx101', '?unit=rx101&limit=1', '?batch=nobody'])
      found.push(`${SITE}/${level}${query}`);
    const all = (await plant.api.get(`${SITE}/${level}`)).body as readonly { name: string }[];
    for (const { name } of all) found.push(`${SITE}/${level}/${name}`, `/api/v1/used-by?kind=${kindOf(level)}&site=demo&name=${name}`);
    found.push(`${SITE}/${level}/${batches[0]}-nothing-of-it`);
  }
  for (const batch of batches) {
    const own = `${SITE}/batches/${batch}`;
    found.push(own, `${own}/record`, `${own}/record?format=b2mml`, `${own}/events`, `${own}/messages`, `${own}/timeline`, `${SITE}/batchrecords/${batch}`);
    const { batchID } = (await plant.api.get(own)).body;
    found.push(`/api/v1/used-by?kind=BatchRecord&site=demo&name=${batch}`, `/api/v1/signature-meanings?kind=BatchRecord&site=demo&name=${batch}`);
    for (const format of ['json', 'b2mml']) found.push(`${MES}/production-performance/${batchID}?format=${format}`);
    found.push(`${MES}/work-orders/${batchID}`, `/api/v1/signature-meanings?kind=Batch&site=demo&name=${batch}`, `/api/v1/search?q=${batchID}`);
    for (const list of ['tags', 'states', 'alarms']) found.push(`/api/v1/historian/batch/${batchID}/${list}`);
    found.push(`${SITE}/recipes/control/${batch}`, `/api/v1/used-by?kind=ControlRecipe&site=demo&name=${batch}`);
    for (const level of LEVELS) found.push(`${SITE}/${level}?batch=${batch}`, `${SITE}/${level}?batch=${batch}&limit=2`);
  }
  for (const query of [
    'state=Complete',
    'state=Pending',
    'search=resin',
    'search=nobody',
    `name=${batches[1]}`,
    'order=recent',
    'limit=1',
    'order=recent&limit=1',
    'state=Complete&limit=1',
  ])
    found.push(`${SITE}/batches?${query}`);
  for (const query of ['', '?limit=1', '?format=b2mml', '?format=b2mml-mesa']) found.push(`${MES}/work-orders${query}`);
  for (const query of [
    '',
    '?limit=1',
    '?order=asc&limit=1',
    '?phase=Open',
    '?phase=Finalized',
    '?productID=nobody',
    '?search=resin',
    '?search=nobody',
    '?from=2020-01-01T00:00:00Z',
    '?to=2020-01-01T00:00:00Z',
  ])
    found.push(`${SITE}/batchrecords${query}`);
  for (const query of ['', '?limit=1', '?state=Complete', '?state=Aborted', '?format=b2mml', '?format=b2mml-mesa']) found.push(`${MES}/production-performance${query}`);
  found.push(`${SITE}/batchrecords/nobody`, `${MES}/production-performance/nobody`, `${SITE}/batchrecord-seals`, BACKUP);
  for (const words of [batches[0] as string, 'charge', 'rx101', 'resin']) found.push(`/api/v1/search?q=${words}&limit=200`);
  found.push('/api/v1/export', '/api/v1/export?status=true&kinds=Phase,Procedure,Operation,UnitProcedure,Batch');
  for (const unit of Object.values(units)) found.push(`/api/v1/used-by?kind=Unit&site=demo&name=${unit}`);
  for (const batch of batches)
    for (const [kind, name] of [
      ['Batch', batch],
      ['CoordinationBlock', `${batch}-reactor-ready`],
    ])
      found.push(`/api/v1/used-by?kind=${kind}&site=demo&name=${name}`);
  found.push('/api/v1/used-by?kind=PhaseTemplate&site=demo&name=charge', '/api/v1/used-by?kind=MasterRecipe&site=demo&name=resin-a');
  return found;
}

function kindOf(level: string): string {
  return { procedures: 'Procedure', unitprocedures: 'UnitProcedure', operations: 'Operation', phases: 'Phase' }[level] ?? '';
}

async function answers(asked: readonly string[]): Promise<Map<string, unknown>> {
  const seen = new Map<string, unknown>();
  for (const each of asked) {
    const { status, text, headers } = await plant.api.get(each);
    seen.set(each, { status, text: each === BACKUP ? resting(text) : stable(text), etag: headers.get('etag'), link: headers.get('link'), total: headers.get('x-total-count') });
  }
  return seen;
}

/** What has ended; devices and units go on meanwhile. */
function resting(text: string): string {
  const { resources } = JSON.parse(text) as { resources: readonly { kind: string; spec?: { batchRef?: string } }[] };
  return JSON.stringify(resources.filter(({ kind, spec }) => LEAVING.includes(kind) || spec?.batchRef));
}

/** A document says when it was made. */
function stable(text: string): string {
  return text.replaceAll(/<(TimeStamp|PublishedDate)>[^<]*</g, '<$1><').replace(/"checkedAt":"[^"]*"/, '');
}

/** How many of the kinds that leave with a run are in memory, as the disk has it; of one batch, or of all. */
function present(batch = '%'): number {
  const state = new Database(path.join(plant.dataDir, 'state.db'), { readonly: true });
  try {
    return state
      .prepare(`SELECT COUNT(*) FROM resources WHERE past = '' AND (kind IN (${LEAVING.map((kind) => `'${kind}'`).join()}) OR ${IS_COPY}) AND name LIKE ?`)
      .pluck()
      .get(`${batch}%`) as number;
  } finally {
    state.close();
  }
}

const areAllPast = () =>
  plant.look('all of them are past', async () => {
    const left = present();
    return { done: left === 0 || undefined, seen: `${left} are present` };
  });

/** The one of a start may be under way. */
// biome-ignore lint/suspicious/noExplicitAny: a body of the interface
const verified = (): Promise<any> =>
  plant.look('everything is verified', async () => {
    const { status, body } = await plant.api.post('/api/v1/system/integrity', {});
    return { done: status === 200 ? body : undefined, seen: `${status} ${JSON.stringify(body)}` };
  });

const [sealed = '', open = ''] = batches;
await posted(`${SITE}/batchrecords/${sealed}/comments`, { text: 'looked at' }, 201);
await posted(`${SITE}/batchrecords/${sealed}/finalize`, { reason: 'complete' }, 200);

// biome-ignore lint/suspicious/noExplicitAny: a body of the interface
async function posted(at: string, body: object, status: number): Promise<any> {
  const answer = await plant.api.post(at, body);
  if (answer.status !== status) throw new Error(`${at} answered ${answer.status} ${answer.text}`);
  return answer.body;
}

const asked = await paths();
const dryReset = () => plant.api.post(`${SITE}/command`, { kind: 'Batch', name: batches[0], command: 'Reset', dryRun: true, reason: 'nothing to do' });

t.test('lists, details, records, search, used-by and export of batches that are past are what they were', async (t) => {
  await plant.restart(); // both looks are behind a start
  const before = await answers(asked);
  const dry = await dryReset();
  const integrity = await verified();
  for (const unit of Object.values(units)) {
    const uses = (await plant.api.get(`/api/v1/used-by?kind=Unit&site=demo&name=${unit}`)).body.items as readonly { kind: string; name: string }[];
    for (const batch of batches)
      t.ok(
        uses.some(({ kind, name }) => kind === 'CoordinationBlock' && name === `${batch}-reactor-ready`),
        `${unit} is named by a copy of ${batch}`,
      );
  }
  await plant.restart(PAST_AT_ONCE);
  await areAllPast();
  const after = await answers(asked);
  for (const each of asked) t.same(after.get(each), before.get(each), each);
  const { items } = (await plant.api.get('/api/v1/used-by?kind=PhaseTemplate&site=demo&name=charge&through=true')).body;
  for (const batch of batches)
    t.equal(
      items.find(({ kind, name }: { kind: string; name: string }) => kind === 'Batch' && name === batch)?.via.at(-1)?.name,
      'resin-a',
      'what an edit reaches is told of what is past',
    );
  t.same((await dryReset()).body, dry.body);
  const now = await verified();
  t.same([now.ok, now.checked.controlRecipes, now.checked.records], [true, integrity.checked.controlRecipes, integrity.checked.records]);
  t.equal(present(), 0, 'nothing came back by being read');
  t.ok([...after.values()].filter((answer) => (answer as { status: number }).status === 200).length > 60);
});

t.test('what is asked of an ended element is refused as ever, and a new one with its name too', async (t) => {
  const batch = open;
  const phase = (await plant.api.get(`${SITE}/phases?batch=${batch}`)).body[0].name as string;
  const refused = async (at: string, body: object, status: number, code: string): Promise<void> => {
    const answer = await plant.api.post(at, body);
    t.match([answer.status, answer.body.code], [status, code], `${at} ${answer.text}`);
  };
  await refused(`${SITE}/command`, { kind: 'Phase', name: phase, command: 'Abort', reason: 'asked for by the test' }, 400, 'wrong_command_target');
  await refused(`${SITE}/phases/${phase}/prompt-response`, { promptID: 'x', response: '', reason: 'asked for by the test' }, 409, 'prompt_not_pending');
  const spec = { templateRef: 'charge', unitRef: 'rx101' };
  await refused(`${SITE}/phases`, { name: phase, spec }, 409, 'already_exists');
  const applied = await plant.api.post('/api/v1/apply', { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'Phase', metadata: { name: phase, namespace: 'site-demo' }, spec });
  t.match([applied.status, applied.body.code], [409, 'element_owned'], applied.text);
  const pattern = await exportedPattern();
  await refused('/api/v1/apply', { ...pattern, metadata: { ...pattern.metadata, name: `${batch}-reactor-ready` } }, 409, 'run_ended');
  t.equal((await plant.api.put(`${SITE}/phases/${phase}`, { description: 'other' })).status, 409);
  t.equal((await plant.api.delete(`${SITE}/phases/${phase}`)).body.code, 'element_owned');
  t.match((await plant.api.put(`${SITE}/batches/${batch}`, { description: 'told afterwards' })).status, 200, 'nobody is kept from writing');
});

t.test('of those that change a past batch at once none writes over another', async (t) => {
  await areAllPast();
  const at = `${SITE}/batches/${open}`;
  const etag = (await plant.api.get(at)).headers.get('etag') ?? '';
  const told = await Promise.all(
    ['one', 'two', 'three'].map(async (description) => ({ description, status: (await plant.api.send('PUT', at, { description }, { 'If-Match': etag })).status })),
  );
  t.same(told.map(({ status }) => status).sort(), [200, 412, 412]);
  t.equal((await plant.api.get(at)).body.description, told.find(({ status }) => status === 200)?.description);
});

t.test('ADR 0014: a batch whose elements would have the names of past ones is not started, and the past stays what it was', async (t) => {
  await posted(`${SITE}/phasetemplates`, { name: 'moment', spec: { steps: [{ name: 'now', initial: true }] } }, 201);
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [{ name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'moment' }] } };
  for (const name of ['b_a', 'a']) {
    const chart = { steps: [{ name, stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [operation] } }] };
    const equipmentRequirements = [{ capability: 'reactor', defaultUnit: 'rx101' }];
    await posted(`${SITE}/recipes/master`, { name: `named-${name.replace('_', '-')}`, spec: { equipmentRequirements, procedure: { chart } } }, 201);
  }
  const ended = await finished({ name: 'x', masterRecipeRef: 'named-b-a' });
  t.equal(ended, 'x');
  await areAllPast();
  const element = `${SITE}/unitprocedures/x-b-a`;
  const before = (await plant.api.get(element)).text;
  const batch = await plant.createBatch({ name: 'x-b', masterRecipeRef: 'named-a' });
  const blocked = (await posted(`${SITE}/batches/preflight`, { batch }, 200)).checks.filter(({ check, ok }: { check: string; ok: boolean }) => check === 'batch-id' && !ok);
  t.match(blocked[0], { element: 'x-b-a', message: 'UnitProcedure x-b-a, which the batch would make, belongs to Batch x' });
  t.equal((await plant.command(batch, 'Start')).status, 200);
  await plant.look('the start is judged', async () => {
    const { phase, commandRejection } = await plant.batch(batch);
    return { done: commandRejection?.rule === 'name-in-use' || undefined, seen: `${phase} ${JSON.stringify(commandRejection)}` };
  });
  t.equal((await plant.batch(batch)).phase, 'Pending');
  t.equal((await plant.api.get(element)).text, before);
  t.equal(present('x'), 1, 'nothing came back: it is the batch that was not started');
  const description = 'changed while an order comes';
  const both = await Promise.all([plant.command(ended, 'Hold'), plant.api.put(`${SITE}/batches/${ended}`, { description })]);
  t.same(
    both.map(({ status }) => status),
    [200, 200],
  );
  await plant.look('the order to the past batch is judged', async () => {
    const { commandRejection, ...shown } = await plant.batch(ended);
    return { done: (commandRejection?.command === 'Hold' && shown.description === description) || undefined, seen: JSON.stringify([commandRejection, shown.description]) };
  });
  for (const name of [ended, batch]) t.equal((await plant.api.delete(`${SITE}/batches/${name}`)).status, 204, name);
});

t.test('a record that is past is kept as it is, and comes back to be reviewed and sealed', async (t) => {
  await areAllPast();
  const record = `${SITE}/batchrecords/${open}`;
  const code = async (answer: Promise<{ status: number; body: { code?: string } | undefined }>) => [(await answer).status, (await answer).body?.code];
  t.same(await code(plant.api.post(`${SITE}/batchrecords/${sealed}/comments`, { text: 'too late' })), [409, 'record_sealed']);
  t.same(await code(plant.api.post(`${SITE}/batchrecords/${sealed}/review`, { outcome: 'Accepted' })), [409, 'record_sealed']);
  t.same(await code(plant.api.post(`${SITE}/batchrecords/${sealed}/finalize`, { reason: 'again' })), [409, 'record_sealed']);
  t.same(await code(plant.api.put(`${SITE}/batches/${sealed}`, { description: 'too late' })), [409, 'record_sealed']);
  t.equal(present(), 0, 'what is refused brings nothing back');
  const before = (await plant.api.get(record)).body;
  const comment = await posted(`${record}/comments`, { text: 'seen afterwards' }, 201);
  t.same((await plant.api.get(record)).body.comments, [...before.comments, comment]);
  await areAllPast();
  const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
  const told = await Promise.all([
    ...texts.map((text) => posted(`${record}/comments`, { text }, 201)),
    posted(`${record}/review`, { outcome: 'Rejected', comment: 'at the same moment' }, 200),
  ]);
  const { comments, review } = (await plant.api.get(record)).body;
  t.same(
    comments
      .slice(before.comments.length + 1)
      .map(({ text }: { text: string }) => text)
      .sort(),
    [...texts].sort(),
    'of those that come at once none is lost',
  );
  t.same(review, told.at(-1).review);
  await areAllPast();
  await posted(`${record}/review`, { outcome: 'Accepted', comment: 'as it should be' }, 200);
  await areAllPast();
  const signed = await posted('/api/v1/signatures', { target: { kind: 'BatchRecord', name: open, site: 'demo' }, meaning: 'Approved', reason: 'asked for by the test' }, 201);
  t.match((await plant.api.get(`/api/v1/signatures/${signed.id}`)).body, { valid: true });
  await posted(`${record}/finalize`, { reason: 'complete' }, 200);
  await areAllPast();
  t.match((await plant.api.get(record)).body, { phase: 'Finalized', spec: before.spec, createdAt: before.createdAt, seal: { ok: true } });
  t.match((await plant.api.get(`${SITE}/batchrecord-seals`)).body, { ok: true, checked: 2 });
  t.same(
    (await plant.api.get(`${SITE}/batchrecords?phase=Finalized&order=asc`)).body.items.map(({ name }: { name: string }) => name),
    batches,
  );
});

t.test('a past record that was damaged is listed, not read, and named; the others are as ever', async (t) => {
  const record = `${SITE}/batchrecords/${sealed}`;
  const before = await answers([`${SITE}/batchrecords`, `${SITE}/batchrecords/${open}`, `${MES}/production-performance`]);
  const body = edited(`UPDATE resources SET body = 'nothing' WHERE kind = 'BatchRecord' AND name = '${sealed}'`);
  await plant.restart(PAST_AT_ONCE);
  for (const [at, answer] of before) t.same((await answers([at])).get(at), answer, at);
  const refused = { status: 404, body: { code: 'unreadable_row', error: /^BatchRecord \S+ is stored, and its row cannot be read.*integrity/ } };
  t.match(await plant.api.get(record), refused, 'it is there, and the answer says so');
  t.match(await plant.api.post(`${record}/comments`, { text: 'of nothing' }), refused);
  t.match(await plant.api.get(`/api/v1/used-by?kind=BatchRecord&site=demo&name=${sealed}`), refused);
  const { body: consolidated } = await plant.api.get(`${SITE}/batches/${sealed}/record`);
  t.match(consolidated, { record: null, integrity: { ok: false, problems: [/cannot be read/] } }, 'what is put together without it is not told to be whole');
  const { body: listed } = await plant.api.get(`${MES}/production-performance`);
  const { text: asXml } = await plant.api.get(`${MES}/production-performance?format=b2mml`);
  t.equal(asXml.split('<ProductionResponse>').length - 1, listed.length, 'as XML the list has as many as it has as JSON');
  const { batchID } = listed.find(({ batchName }: { batchName: string }) => batchName === sealed);
  t.match(await plant.api.get(`${MES}/production-performance/${batchID}`), refused);
  const problems = (await verified()).problems.map(({ kind, name, problem }: Record<string, string>) => `${kind} ${name}: ${problem}`);
  t.ok(problems.includes(`BatchRecord ${sealed}: the audit trail tells of it, and it is stored and cannot be read`), problems.join('\n'));
  t.match((await plant.api.get(`${SITE}/batchrecord-seals`)).body, { ok: false, problems: [{ name: sealed, problems: ['it was sealed and is stored and cannot be read'] }] });
  edited(`UPDATE resources SET body = '${body.replaceAll("'", "''")}' WHERE kind = 'BatchRecord' AND name = '${sealed}'`);
  await plant.restart(PAST_AT_ONCE);
  t.match((await verified()).problems, []);
});

/** Past the gateway. @returns the body of the record that was sealed, as it was. */
function edited(text: string): string {
  const state = new Database(path.join(plant.dataDir, 'state.db'));
  try {
    const body = state.prepare("SELECT body FROM resources WHERE kind = 'BatchRecord' AND name = ?").pluck().get(sealed) as string;
    if (state.prepare(text).run().changes !== 1) throw new Error(`nothing was edited: ${text}`);
    return body;
  } finally {
    state.close();
  }
}

t.test('Reset of a batch that is past is judged, and leaves it as it was', async (t) => {
  const [batch = ''] = batches;
  const before = (await plant.api.get(`${SITE}/phases?batch=${batch}`)).body;
  const reset = await plant.command(batch, 'Reset');
  t.match(
    (await plant.audit(reset)).map((record) => record.result),
    ['Accepted', 'Success'],
  );
  t.same((await plant.api.get(`${SITE}/phases?batch=${batch}`)).body, before);
});

t.test('a batch becomes past by itself when it has ended, whatever its units show', async (t) => {
  const batch = await plant.runBatch(SMALL);
  const done = await plant.finish(batch);
  t.match(done, { phase: 'Complete' });
  const phases = await plant.phases(batch);
  await plant.look('it is past', async () => ({ done: present(batch) === 0 || undefined, seen: `${present(batch)} are present` }));
  t.same(await plant.phases(batch), phases);
  batches.push(batch);
});

t.test('a batch that is past is removed whole in development', async (t) => {
  const [batch = '', other = ''] = batches;
  await areAllPast();
  const removed = await plant.api.delete(`${SITE}/batches/${batch}`);
  t.equal(removed.status, 204, removed.text);
  for (const level of LEVELS) t.same((await plant.api.get(`${SITE}/${level}?batch=${batch}`)).body, [], level);
  t.equal((await plant.api.get(`${SITE}/recipes/control/${batch}`)).status, 404);
  const record = await plant.api.get(`${SITE}/batchrecords/${batch}`);
  t.equal(record.status, 200, 'its record stays');
  const again = { name: batch, spec: { ...SMALL, batchID: 'another', masterRecipeRef: record.body.spec.recipe.name } };
  for (const [spec, why] of [
    [again.spec, 'its name'],
    [{ ...again.spec, batchID: record.body.spec.batch.batchID }, 'its ID'],
  ] as const) {
    const { status, body } = await plant.api.post(`${SITE}/batches`, why === 'its name' ? { ...again, spec } : { spec });
    t.match([status, body.code, body.batchRecord], [409, 'batch_id_in_use', batch], why);
  }
  t.equal((await plant.api.get(`/api/v1/historian/batch/${record.body.spec.batch.batchID}/tags`)).status, 200);
  await plant.restart(PAST_AT_ONCE);
  for (const level of LEVELS) t.same((await plant.api.get(`${SITE}/${level}?batch=${batch}`)).body, [], level);
  t.ok((await plant.api.get(`${SITE}/phases?batch=${other}`)).body.length > 0);
  await areAllPast();
  t.match(await verified(), { ok: true, checked: { controlRecipes: batches.length - 1 } });
});

t.test('a past record whose entry was damaged is in the lists behind a start, and its IDs are its own', async (t) => {
  const lists = [`${SITE}/batchrecords`, `${MES}/production-performance`, `${SITE}/batchrecords/${sealed}`];
  const before = await answers(lists);
  edited(`UPDATE resources SET past_entry = '{"uid":' WHERE kind = 'BatchRecord' AND name = '${sealed}'`);
  await plant.restart(PAST_AT_ONCE);
  for (const [at, answer] of before) t.same((await answers([at])).get(at), answer, at);
});

t.test('a damaged row of what is past is discarded, on record; a row that can be read is not, and brings nothing back', async (t) => {
  const batch = batches.at(-1) as string;
  await areAllPast();
  const [{ name: phase = '' } = {}] = (await plant.api.get(`${SITE}/phases?batch=${batch}`)).body as { name: string }[];
  const discard = (kind: string, name: string) => plant.api.post('/api/v1/system/stored-data/discard', { kind, site: 'demo', name, reason: 'damaged on the disk by the test' });
  t.match(await discard('Phase', phase), { status: 404, body: { code: 'not_found' } });
  t.equal(present(), 0);
  await plant.stop();
  const state = new Database(path.join(plant.dataDir, 'state.db'));
  const damage = state.prepare(`UPDATE resources SET body = '{"broken' WHERE kind = ? AND name = ?`);
  for (const [kind, name] of [
    ['Phase', phase],
    ['ControlRecipe', batch],
  ])
    t.equal(damage.run(kind, name).changes, 1);
  state.close();
  await plant.start(PAST_AT_ONCE);
  t.match(await plant.api.get(`${SITE}/phases/${phase}`), { status: 404, body: { code: 'unreadable_row', error: /stored-data\/discard/ } });
  const problems = (await verified()).problems.map(({ kind, name, problem }: Record<string, string>) => `${kind} ${name}: ${problem}`);
  t.ok(problems.includes(`ControlRecipe ${batch}: batch ${batch} was run by it, and it is stored and cannot be read`), problems.join('\n'));
  t.match(await discard('Phase', phase), { status: 200, body: { discarded: { kind: 'Phase', name: phase } } });
  t.match(await plant.api.get(`${SITE}/phases/${phase}`), { status: 404, body: { code: 'not_found' } });
  t.match((await plant.api.get(`/api/v1/audit?kind=Phase&name=${phase}&action=Delete`)).body.items, [
    { result: 'Success', operatorReason: 'damaged on the disk by the test', details: { fault: /is not JSON/, unreadable: true } },
  ]);
  t.match((await plant.api.get('/api/v1/system/health')).body.storage.unfit, [{ kind: 'ControlRecipe', name: batch }], 'what else of the run is damaged is named now');
});
