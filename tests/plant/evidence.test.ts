/** Evidence is compared (D-C-10): what was edited past the gateway is named, does not run, and is not sealed. */
import path from 'node:path';
import t from 'tap';
import Database from '../../src/platform/base/sqlite.js';
import { SITE, SMALL, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { dataDir } = plant;
const INTEGRITY = '/api/v1/system/integrity';

/** Edits what a stopped appliance has stored. */
async function edited(...texts: readonly string[]): Promise<void> {
  await plant.stop();
  const database = new Database(path.join(dataDir, 'state.db'));
  for (const text of texts) if (database.prepare(text).run().changes === 0) t.fail(`nothing was edited: ${text}`);
  database.close();
  await plant.start();
}

const said = async (): Promise<string[]> =>
  (await plant.verified()).body.problems.map(({ part, kind, name, problem }: Record<string, string>) => `${part} ${kind} ${name}: ${problem}`);

async function record(batch: string) {
  return plant.look('the record is settled', async () => {
    const { body, text } = await plant.api.get(`${SITE}/batchrecords/${batch}`);
    return { done: body?.conditions?.[0]?.status === 'True' ? body : undefined, seen: text.slice(0, 200) };
  });
}

const batch = await plant.runBatch(SMALL);
await plant.finish(batch);
await record(batch);

t.test('nothing is found where nothing was edited; the run is on record', async (t) => {
  const { status, body } = await plant.verified();
  t.equal(status, 200);
  t.same(body.problems, []);
  t.match(body, { ok: true, checked: { records: 1, controlRecipes: 1 }, madeBefore: { rows: 0, adoptedAt: '' } });
  t.ok(body.checked.auditRecords > 10 && body.checked.resources > 10 && body.checked.facts > 10 && body.checked.recipes >= 1);
  t.match((await plant.api.get(INTEGRITY)).body, { running: false, met: [], last: { runId: body.runId } });
  t.match((await plant.api.get('/api/v1/system/health')).body, { integrity: { ok: true, checkedAt: body.finishedAt, problems: 0 } });
  t.match((await plant.api.get('/api/v1/audit?category=integrity&limit=1')).body.items, [
    { action: 'Execute', target: { kind: 'IntegrityReport', name: body.runId }, details: { ok: true } },
  ]);
});

t.test('the control recipe that is served is what its digest covers', async (t) => {
  const { canonicalDigest } = await import('../../src/platform/ledger/canonical-json.js');
  const { body } = await plant.api.get(`${SITE}/recipes/control/${batch}`);
  t.equal(canonicalDigest(body.spec), body.digest);
});

t.test('an open record that was edited is not sealed, and named; a recipe that was edited does not start', async (t) => {
  const held = await plant.runBatch(SMALL);
  await plant.until(held, 'Running');
  await plant.command(held, 'Hold');
  await plant.until(held, 'Held');
  t.match((await plant.api.get(`${SITE}/batches/${batch}/events?limit=1`)).body, { recorded: true });
  await edited(
    "UPDATE facts SET body = json_set(body, '$.value', 'Stopped') WHERE stream = 'events/demo/" + batch + "' AND sequence = 3",
    "UPDATE resources SET body = json_set(body, '$.spec.batch.description', 'better than it was') WHERE kind = 'BatchRecord'",
    "UPDATE resources SET body = json_set(body, '$.spec.recipe.parameters[0].value', '49') WHERE kind = 'ControlRecipe' AND name = '" + held + "'",
    "UPDATE resources SET body = json_set(body, '$.spec.description', 'another recipe') WHERE kind = 'MasterRecipe' AND name = 'resin-a'",
  );
  t.match((await plant.api.get(`${SITE}/batches/${batch}/events?limit=1`)).body, { items: [{}], recorded: false }, 'what is served says that it is not what was recorded');
  t.match((await plant.api.get(`${SITE}/batches/${batch}/messages?limit=1`)).body, { recorded: true });
  const sealed = await plant.api.post(`${SITE}/batchrecords/${batch}/finalize`, { reason: 'complete' });
  t.match(sealed, { status: 409, body: { code: 'evidence_mismatch', problems: ['its content does not have its digest', /not what the audit trail tells/] } });

  const other = await plant.createBatch(SMALL);
  const checks = (await plant.api.post(`${SITE}/batches/preflight`, { batchID: 'B-look', masterRecipeRef: 'resin-a', ...SMALL })).body.checks;
  t.match(checks?.[0], { check: 'recipe-effective', ok: false, severity: 'error', message: /resin-a is not what it was/ });
  await plant.command(other, 'Start');
  await plant.look('Start is rejected', async () => {
    const { commandRejection } = await plant.batch(other);
    return { done: commandRejection?.rule === 'evidence-mismatch' || undefined, seen: JSON.stringify(commandRejection) };
  });
  await plant.api.delete(`${SITE}/batches/${other}`);

  await plant.until(held, 'Held');
  t.match(await plant.command(held, 'Restart'), { status: 200 });
  const failed = await plant.until(held, 'Failed');
  t.match(failed, { failure: { rule: 'control-recipe-integrity', message: new RegExp(`control recipe ${held} is not what was made`) } });

  const problems = await said();
  for (const expected of [
    /resources BatchRecord/,
    /records BatchRecord .* does not have its digest/,
    /recipes MasterRecipe resin-a: /,
    new RegExp(`control-recipes ControlRecipe ${held}: `),
  ])
    t.ok(
      problems.some((problem) => expected.test(problem)),
      `${expected} in ${problems.join('\n')}`,
    );
  const alarms = await plant.look('the alarm stands', async () => {
    const items = (await plant.api.get(`${SITE}/alarms`)).body;
    const [alarm] = (items.items ?? items).filter(({ name }: { name: string }) => name.startsWith('system-integrity'));
    return { done: alarm, seen: JSON.stringify(items).slice(0, 300) };
  });
  t.match(alarms, { severity: 'High', message: /evidence is not what was recorded/ });
});
