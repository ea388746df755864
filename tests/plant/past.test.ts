/** What a batch leaves behind is past, and everything that is served of it is byte for byte what it was (ADR 0037). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { PAST_AT_ONCE, SITE, SMALL, startPlant } from '../support/plant.js';

const plant = await startPlant({ environment: { LINESIDE_BATCH__PASTAFTER: '0' } });
t.teardown(() => plant.end());
const LEVELS = ['procedures', 'unitprocedures', 'operations', 'phases'];

const batches = [await finished({}), await finished(SMALL)];

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
    found.push(`${SITE}/recipes/control/${batch}`, `/api/v1/used-by?kind=ControlRecipe&site=demo&name=${batch}`);
    for (const level of LEVELS) found.push(`${SITE}/${level}?batch=${batch}`, `${SITE}/${level}?batch=${batch}&limit=2`);
  }
  for (const words of [batches[0] as string, 'charge', 'rx101', 'resin']) found.push(`/api/v1/search?q=${words}&limit=200`);
  found.push('/api/v1/export', '/api/v1/export?status=true&kinds=Phase,Procedure,Operation,UnitProcedure,Batch');
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
    seen.set(each, { status, text: stable(text), etag: headers.get('etag'), link: headers.get('link'), total: headers.get('x-total-count') });
  }
  return seen;
}

/** A document says when it was made. */
function stable(text: string): string {
  return text.replaceAll(/<(TimeStamp|PublishedDate)>[^<]*</g, '<$1><');
}

/** How many of the kinds that leave with a run are in memory, as the disk has it; of one batch, or of all. */
function present(batch = '%'): number {
  const state = new Database(path.join(plant.dataDir, 'state.db'), { readonly: true });
  try {
    return state
      .prepare("SELECT COUNT(*) FROM resources WHERE past = '' AND kind IN ('Procedure', 'UnitProcedure', 'Operation', 'Phase', 'ControlRecipe') AND name LIKE ?")
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

const asked = await paths();
const dryReset = () => plant.api.post(`${SITE}/command`, { kind: 'Batch', name: batches[0], command: 'Reset', dryRun: true, reason: 'nothing to do' });

t.test('lists, details, records, search, used-by and export of batches that are past are what they were', async (t) => {
  await plant.restart(); // both looks are behind a start
  const before = await answers(asked);
  const dry = await dryReset();
  const integrity = await verified();
  await plant.restart(PAST_AT_ONCE);
  await areAllPast();
  const after = await answers(asked);
  for (const each of asked) t.same(after.get(each), before.get(each), each);
  t.same((await dryReset()).body, dry.body);
  const now = await verified();
  t.same([now.ok, now.checked.controlRecipes], [true, integrity.checked.controlRecipes]);
  t.equal(present(), 0, 'nothing came back by being read');
  t.ok([...after.values()].filter((answer) => (answer as { status: number }).status === 200).length > 60);
});

t.test('what is asked of an ended element is refused as ever, and a new one with its name too', async (t) => {
  const [batch] = batches;
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
  t.equal((await plant.api.put(`${SITE}/phases/${phase}`, { description: 'other' })).status, 409);
  t.equal((await plant.api.delete(`${SITE}/phases/${phase}`)).body.code, 'element_owned');
  t.match((await plant.api.put(`${SITE}/batches/${batch}`, { description: 'told afterwards' })).status, 200, 'nobody is kept from writing');
});

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
  t.equal((await plant.api.get(`${SITE}/batchrecords/${batch}`)).status, 200, 'its record stays');
  await plant.restart(PAST_AT_ONCE);
  for (const level of LEVELS) t.same((await plant.api.get(`${SITE}/${level}?batch=${batch}`)).body, [], level);
  t.ok((await plant.api.get(`${SITE}/phases?batch=${other}`)).body.length > 0);
  await areAllPast();
  t.match(await verified(), { ok: true, checked: { controlRecipes: batches.length - 1 } });
});
