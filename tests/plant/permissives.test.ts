/** Permissives of a unit on the demonstration plant: work does not start while one is not TRUE (decisions 1.5, 3.2). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

/** The manifest of the reactor as exported, with these permissives. */
async function permit(permissives: readonly object[]) {
  const exported = (await plant.api.get('/api/v1/export?site=demo&kinds=Unit')).body as { metadata: { name: string }; spec: object }[];
  const reactor = exported.find(({ metadata }) => metadata.name === 'rx101');
  return plant.api.post('/api/v1/apply', { ...reactor, spec: { ...reactor?.spec, permissives } });
}

t.test('a batch starts once the permissives of its units are TRUE; until then it stays Pending and says which is missing', async (t) => {
  const put = await permit([
    { name: 'calm', conditionST: "READ('ag101.running') = FALSE AND READ('li101.pv') < 55.0", message: '' },
    { name: 'hot', conditionST: "READ('tic101.pv') > 500.0", message: 'preheat the reactor' },
  ]);
  t.equal(put.status, 200, put.text);
  const batch = await plant.createBatch();
  const answer = await plant.command(batch, 'Start');
  t.match((await plant.audit(answer))[1], { result: 'Rejected', rule: 'permissive-hot' });
  t.match(await plant.batch(batch), {
    phase: 'Pending',
    commandRejection: { rule: 'permissive-hot', message: 'unit rx101: preheat the reactor' },
    blockedBecause: /preheat the reactor/,
  });
  t.equal((await plant.unit('mx101')).allocatedTo, '', 'no unit is taken');

  t.equal((await permit([{ name: 'known', conditionST: "READ('nobody.pv') < 1.0", message: '' }])).status, 200);
  t.match((await plant.audit(await plant.command(batch, 'Start')))[1], { result: 'Rejected', rule: 'permissive-known' }, 'what has no value does not permit');

  t.equal((await permit([{ name: 'cold', conditionST: "READ('tic101.pv') < 500.0", message: '' }])).status, 200);
  t.match((await plant.audit(await plant.command(batch, 'Start')))[1], { result: 'Success' });
  await plant.until(batch, 'Running');
  await plant.command(batch, 'Abort', 'the test has seen enough');
  await plant.until(batch, 'Aborted');
});

t.test('a permissive that is no condition is refused with its place', async (t) => {
  for (const [permissives, code, field] of [
    [[{ name: 'a', conditionST: "READ('li101.pv') <", message: '' }], 'st_invalid', 'permissives[0].conditionST'],
    [[{ name: 'a', conditionST: '1.0 + 2.0', message: '' }], 'st_invalid', 'permissives[0].conditionST'],
    [
      [
        { name: 'a', conditionST: 'TRUE' },
        { name: 'a', conditionST: 'level > 3.0' },
      ],
      'invalid_field',
      'permissives[1].name',
    ],
    [[{ name: 'a', conditionST: 'level > 3.0', message: '' }], 'st_invalid', 'permissives[0].conditionST'],
  ] as const) {
    const answer = await permit(permissives);
    t.match(answer, { status: 400, body: { code, field } }, JSON.stringify(permissives));
  }
});

t.test('decisions 1.5: a unit taken on demand is withheld while a permissive is not TRUE, and taken as soon as it is', async (t) => {
  t.equal((await permit([{ name: 'hot', conditionST: "READ('tic101.pv') > 500.0", message: 'preheat the reactor' }])).status, 200);
  const { spec } = (await plant.api.get(`${SITE}/recipes/master/clean-train`)).body;
  const made = await plant.api.post(`${SITE}/recipes/master`, { name: 'clean-on-demand', spec: { ...spec, productID: 'CLEAN-OD', allocation: 'OnDemand' } });
  t.equal(made.status, 201, made.text);
  const batch = await plant.runBatch({ masterRecipeRef: 'clean-on-demand' });
  await plant.look('the batch says what it waits for', async () => {
    const { blockedBecause } = await plant.batch(batch);
    return { done: blockedBecause.includes('unit rx101: preheat the reactor') || undefined, seen: blockedBecause };
  });
  t.equal((await plant.unit('rx101')).allocatedTo, '');
  t.equal((await permit([])).status, 200);
  await plant.finish(batch);
});
