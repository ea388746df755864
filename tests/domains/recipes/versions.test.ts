/** Versions of a product that know each other (D-C-14): what a new one supersedes, comparing two recipes, activation in the place of others. */
import t from 'tap';
import { Batch } from '../../../src/domains/batches/kind.js';
import type { SignedRecord } from '../../../src/domains/signatures/kind.js';
import { MasterRecipe } from '../../../src/domains/recipes/kind.js';
import { recipeMismatch } from '../../../src/domains/recipes/evidence.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import type { Answer, Client } from '../../support/gateway.js';
import { MES, SITE, startMesPlant } from '../mes/plant.js';

const plant = await startMesPlant({ roles: [{ group: '{prefix}-activators', tier: 'supervise', grant: [], deny: ['masterrecipe:withdraw'] }] });
t.teardown(() => plant.stop());
const { store, mes, operator } = plant;
const engineer = await plant.as('engineer');
const supervisor = await plant.as('supervisor');
const MASTER = `${SITE}/recipes/master`;
const REASON = { reason: 'reviewed' };
const RESIN = { workOrderID: 'WO', quantity: '28', engineeringUnit: 'kg' };

const read = async (name: string) => (await engineer.get(`${MASTER}/${name}`)).body;
/** The supervisor with the token that he has by now. */
let signer: Pick<Client, 'post'> = supervisor;
const activate = (name: string, more: object = {}, who: Pick<Client, 'post'> = signer): Promise<Answer> => who.post(`${MASTER}/${name}/activate`, { ...REASON, ...more });
const phases = (...names: string[]): (string | undefined)[] => names.map((name) => store.get(MasterRecipe, 'demo', name)?.status.phase);
const order = (workOrderID: string, productDefinition: string) => mes.post(`${MES}/work-orders?dispatch=immediate`, { ...RESIN, workOrderID, productDefinition });

/** A recipe that is Released and nothing more. */
async function released(name: string, spec: object): Promise<void> {
  t.equal((await engineer.post(MASTER, { name, spec })).status, 201);
  await release(name);
}

async function release(name: string): Promise<void> {
  for (const action of ['approve', 'release']) t.equal((await signer.post(`${MASTER}/${name}/${action}`, REASON)).status, 200, `${action} ${name}`);
}

/** The records of a request, in the order in which they stand in the trail. */
function recordsOf(answer: Answer): UnchainedAudit[] {
  return plant.audits.filter(({ correlationID }) => correlationID === answer.headers['x-correlation-id']);
}

t.test('D-C-14: a new version names the recipe and version that it was made from, and both are read from either side', async (t) => {
  const made = await engineer.post(`${MASTER}/resin-a/new-version`);
  t.match(made, { status: 201, body: { name: 'resin-a-v2-0-0', spec: { supersedes: { name: 'resin-a', version: '1.0.0' } }, supersededBy: [], notes: [] } });
  t.match(await read('resin-a'), { supersededBy: [{ name: 'resin-a-v2-0-0', version: '2.0.0', phase: 'Draft' }] });
  t.notOk('supersedes' in (await read('resin-a')).spec, 'what never superseded anything says nothing');
  t.match((await engineer.post(`${MASTER}/resin-a-v2-0-0/new-version`, { bump: 'patch' })).body, {
    name: 'resin-a-v2-0-1',
    spec: { supersedes: { name: 'resin-a-v2-0-0', version: '2.0.0' } },
  });
  t.equal((await engineer.put(`${MASTER}/resin-a-v2-0-0`, await read('resin-a-v2-0-0'))).status, 200, 'it is sent back as it is read');
  t.match((await engineer.get(`${MASTER}/resin-a-v2-0-0/revisions/1`)).body.spec, { supersedes: { name: 'resin-a' } });
});

t.test('D-C-14: what is superseded is a lower version of the same product; what is not there is told and not refused', async (t) => {
  await engineer.post(MASTER, { name: 's-1', spec: { productID: 'S' } });
  await engineer.post(MASTER, { name: 'other', spec: { productID: 'O' } });
  const make = (supersedes: object, more: object = {}) => engineer.post(MASTER, { name: 's-2', spec: { productID: 'S', version: '2.0.0', supersedes, ...more } });
  const s1 = { name: 's-1', version: '1.0.0' };
  for (const [supersedes, more, field] of [
    [s1, { productID: '' }, 'spec.supersedes'],
    [{ ...s1, version: '2.0.0' }, {}, 'spec.supersedes.version'],
    [{ ...s1, version: '1.5.0' }, {}, 'spec.supersedes.version'],
    [{ ...s1, version: 'one' }, {}, 'spec.supersedes.version'],
    [{ ...s1, name: 's-2' }, {}, 'spec.supersedes.name'],
    [{ ...s1, name: 'other' }, {}, 'spec.supersedes.name'],
    [{ version: '1.0.0' }, {}, 'spec.supersedes.name'],
    [{ ...s1, since: 'then' }, {}, 'spec.supersedes.since'],
  ] as const) {
    t.match(await make(supersedes, more), { status: 400, body: { field } }, `${JSON.stringify({ supersedes, ...more })}`);
  }
  t.match(await make({ name: 'gone', version: '1.0.0' }), { status: 201, body: { notes: ['it supersedes version 1.0.0, recipe gone, which does not exist here'] } });
  t.match(await engineer.put(`${MASTER}/s-2`, { spec: { supersedes: s1 } }), { status: 200, body: { notes: [], revision: 2 } });
  t.equal((await engineer.put(`${MASTER}/s-1`, { spec: { version: '1.1.0' } })).status, 200);
  t.match(await engineer.put(`${MASTER}/s-2`, { spec: { description: 'edited' } }), {
    status: 200,
    body: { notes: ['it supersedes version 1.0.0, recipe s-1, which is version 1.1.0 now'] },
  });
  t.equal((await engineer.delete(`${MASTER}/s-1`)).status, 204, 'nothing is kept for being superseded');
  t.match(await engineer.put(`${MASTER}/s-2`, { spec: { supersedes: null } }), { status: 200, body: { notes: [] } });
  t.notOk('supersedes' in (await read('s-2')).spec);
});

t.test('D-C-14: revisions of two recipes are compared, in the document and in words', async (t) => {
  const at = `${MASTER}/resin-a/revisions/diff`;
  const edited = await engineer.put(`${MASTER}/resin-a-v2-0-0`, { spec: { description: 'stronger' } });
  t.equal(edited.body.revision, 2);
  const { body } = await engineer.get(`${at}?v1=1&v2=2&otherRecipe=resin-a-v2-0-0`);
  t.match(body, { name: 'resin-a', v1: 1, v2: 2, otherRecipe: 'resin-a-v2-0-0' });
  t.same(body.changes.map(({ path }: { path: string }) => path).sort(), ['/description', '/supersedes', '/version'], 'and nothing else: the chart and its templates are the same');
  t.ok(body.summary.includes('supersedes version 1.0.0 (recipe resin-a), was no version'), body.summary.join('\n'));
  t.ok(body.summary.includes('version changed from 1.0.0 to 2.0.0'));
  const back = (await engineer.get(`${MASTER}/resin-a-v2-0-0/revisions/diff?v1=2&v2=1&otherRecipe=resin-a`)).body;
  t.match(back.changes, [{ path: '/version', from: '2.0.0', to: '1.0.0' }], 'from there to here');
  t.same((await engineer.get(`${at}?v1=1&v2=1&otherRecipe=resin-a`)).body.changes, [], 'itself');
  t.notOk('otherRecipe' in (await engineer.get(`${at}?v1=1&v2=1`)).body);
});

t.test('D-C-14: an unknown recipe, one of another site and a missing revision are told apart', async (t) => {
  const at = `${MASTER}/resin-a/revisions/diff`;
  const admin = await plant.as('admin');
  await store.write({ puts: [{ kind: MasterRecipe, site: 'elsewhere', name: 'theirs', spec: store.get(MasterRecipe, 'demo', 'resin-a')?.spec }] });
  for (const [query, status, words] of [
    ['v1=1&v2=1&otherRecipe=nobody', 404, 'recipe nobody does not exist in site demo; revisions are compared within one site'],
    ['v1=1&v2=1&otherRecipe=theirs', 404, 'recipe theirs does not exist in site demo; revisions are compared within one site'],
    ['v1=1&v2=9&otherRecipe=resin-a-v2-0-0', 404, 'revision 9 of recipe resin-a-v2-0-0 does not exist'],
    ['v1=9&v2=1&otherRecipe=resin-a-v2-0-0', 404, 'revision 9 of recipe resin-a does not exist'],
    ['v1=1&v2=1&otherRecipe=', 400, /^query otherRecipe must be the name of a recipe of the same site/],
    ['v1=1&v2=1&otherRecipe=elsewhere/theirs', 400, /^query otherRecipe must be/],
    ['v1=1&otherRecipe=resin-a-v2-0-0', 400, /^query v2 must be a revision number/],
    ['v1=1&v2=1&otherrecipe=resin-a-v2-0-0', 400, /otherRecipe/],
  ] as const) {
    t.match(await admin.get(`${at}?${query}`), { status, body: { error: words } }, query);
  }
});

t.test('D-C-14: an activation tells the other Effective versions of the product, and keeps them unless it is asked', async (t) => {
  await release('resin-a-v2-0-0');
  t.equal((await order('WO-told', 'resin-a')).status, 201);
  const answer = await activate('resin-a-v2-0-0');
  t.match(answer, {
    status: 200,
    body: { name: 'resin-a-v2-0-0', phase: 'Effective', actionBy: supervisor.username, reason: 'reviewed', signature: /^[0-9a-f]{64}$/, withdrawn: [] },
  });
  t.same(answer.body.otherEffective, [{ name: 'resin-a', version: '1.0.0', revision: 1, heldBy: (await read('resin-a')).heldBy }]);
  t.equal((await read('resin-a')).heldBy.length, 1);
  t.same(phases('resin-a', 'resin-a-v2-0-0'), ['Effective', 'Effective']);
  t.equal(recordsOf(answer).length, 1);
  t.match((await read('resin-a-v2-0-0')).notes, ['version 1.0.0 of product RESIN-A is Effective too: recipe resin-a']);
});

t.test('D-C-14, MES-08: an order runs the definition that it names; nothing puts another version in its place', async (t) => {
  const named = await order('WO-old', 'resin-a');
  t.match(named, { status: 201, body: { productDefinition: 'resin-a' } });
  t.match(await order('WO-new', 'resin-a-v2-0-0'), { status: 201, body: { productDefinition: 'resin-a-v2-0-0' } });
  const batches = store.list(Batch, 'demo');
  const recipeOf = (id: string) => batches.find(({ status }) => status.workOrder?.request.workOrderID === id)?.spec.masterRecipeRef;
  t.same(['WO-told', 'WO-old', 'WO-new'].map(recipeOf), ['resin-a', 'resin-a', 'resin-a-v2-0-0']);
  t.match(await order('WO-product', 'RESIN-A'), { status: 400, body: { code: 'unknown_reference', field: 'productDefinition' } }, 'a product is no definition');
  t.match(
    (await mes.get(`${MES}/product-definitions`)).body.map(({ name }: { name: string }) => name).filter((name: string) => name.startsWith('resin')),
    ['resin-a', 'resin-a-v2-0-0'],
  );
  t.match(await mes.post(`${MES}/work-orders?dispatch=immediate`, { ...RESIN, workOrderID: 'WO-old', productDefinition: 'resin-a-v2-0-0' }), {
    status: 409,
    body: { code: 'work_order_mismatch', field: 'productDefinition' },
  });
});

t.test('D-C-14: a version that an open batch uses is not withdrawn, and neither is anything else of the request done', async (t) => {
  await release('resin-a-v2-0-1');
  const version = store.resourceVersion;
  const refused = await activate('resin-a-v2-0-1', { previous: 'withdraw' });
  const held = (await read('resin-a-v2-0-0')).heldBy;
  t.match(refused, {
    status: 409,
    body: { code: 'recipe_in_use', recipe: 'resin-a-v2-0-0', batch: held[0], error: new RegExp(`^recipe resin-a-v2-0-0 cannot be withdrawn: batch ${held[0]} uses it`) },
  });
  t.same(refused.body.inUse, [
    { recipe: 'resin-a-v2-0-0', heldBy: held },
    { recipe: 'resin-a', heldBy: (await read('resin-a')).heldBy },
  ]);
  t.same(phases('resin-a', 'resin-a-v2-0-0', 'resin-a-v2-0-1'), ['Effective', 'Effective', 'Released']);
  t.equal(store.resourceVersion, version, 'nothing was written');
  t.match(recordsOf(refused), [{ result: 'Rejected', reason: 'RecipeInUse', action: 'Lifecycle', target: { kind: 'MasterRecipe', name: 'resin-a-v2-0-1' } }]);
});

t.test('D-C-14: one of two versions is free and one is not: the free one stays as well', async (t) => {
  t.equal((await mes.delete(`${MES}/work-orders/WO-new`)).status, 204);
  t.match(await activate('resin-a-v2-0-1', { previous: 'withdraw' }), { status: 409, body: { code: 'recipe_in_use', recipe: 'resin-a', inUse: [{ recipe: 'resin-a' }] } });
  t.same(phases('resin-a', 'resin-a-v2-0-0', 'resin-a-v2-0-1'), ['Effective', 'Effective', 'Released']);
  for (const id of ['WO-told', 'WO-old']) t.equal((await mes.delete(`${MES}/work-orders/${id}`)).status, 204);
});

t.test('D-C-14, RECIPE-15, RECIPE-16: an activation in the place of others needs a young token, a reason and both permissions', async (t) => {
  const withdraw = { previous: 'withdraw' };
  t.match(await activate('resin-a-v2-0-1', withdraw, engineer), { status: 403, body: { action: 'masterrecipe:activate' } });
  const half = await plant.as('activators');
  t.match(await activate('resin-a-v2-0-1', withdraw, half), { status: 403, body: { code: 'action_missing', action: 'masterrecipe:withdraw' } });
  t.match(await activate('resin-a-v2-0-1', { ...withdraw, reason: ' ' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await activate('resin-a-v2-0-1', { previous: 'delete' }), { status: 400, body: { field: 'previous', allowed: ['keep', 'withdraw'] } });
  t.match(await supervisor.post(`${MASTER}/resin-a-v2-0-1/release`, { ...REASON, ...withdraw }), { status: 400, body: { field: 'previous' } }, 'of no other step');
  plant.clock.advance(301_000);
  t.match(await activate('resin-a-v2-0-1', withdraw), { status: 401, body: { code: 'reauthentication_required' } });
  t.same(phases('resin-a', 'resin-a-v2-0-0', 'resin-a-v2-0-1'), ['Effective', 'Effective', 'Released']);
});

t.test('D-C-14: four signatures of one person in one transaction, each of its own recipe, each to be verified', async (t) => {
  signer = await signIn();
  const made = await engineer.post(`${MASTER}/resin-a/new-version`, { bump: 'minor' });
  t.equal(made.body.name, 'resin-a-v2-1-0');
  await release('resin-a-v2-1-0');
  t.match(await activate('resin-a-v2-1-0'), { status: 200, body: { otherEffective: [{ name: 'resin-a-v2-0-0' }, { name: 'resin-a' }] } });

  const version = store.resourceVersion;
  const answer = await activate('resin-a-v2-0-1', { previous: 'withdraw' });
  t.match(answer, { status: 200, body: { name: 'resin-a-v2-0-1', phase: 'Effective', otherEffective: [] } });
  t.match(
    answer.body.withdrawn,
    [
      { name: 'resin-a-v2-1-0', version: '2.1.0' },
      { name: 'resin-a-v2-0-0', version: '2.0.0' },
      { name: 'resin-a', version: '1.0.0' },
    ].map((each) => ({ ...each, phase: 'Withdrawn', actionBy: supervisor.username, reason: 'reviewed', signature: /^[0-9a-f]{64}$/ })),
    'the highest first',
  );
  t.same(phases('resin-a', 'resin-a-v2-0-0', 'resin-a-v2-1-0', 'resin-a-v2-0-1'), ['Withdrawn', 'Withdrawn', 'Withdrawn', 'Effective']);

  const records = recordsOf(answer);
  t.match(
    records.map(({ target, details }) => [target?.name, details]),
    [
      ...['resin-a-v2-1-0', 'resin-a-v2-0-0', 'resin-a'].map((name) => [name, { action: 'withdraw', replacedBy: { name: 'resin-a-v2-0-1', version: '2.0.1', revision: 1 } }]),
      ['resin-a-v2-0-1', { action: 'activate', previous: 'withdraw', withdrawn: [{ name: 'resin-a-v2-1-0' }, { name: 'resin-a-v2-0-0', version: '2.0.0' }, { name: 'resin-a' }] }],
    ],
  );
  const told = [...answer.body.withdrawn, answer.body] as { name: string; signature: string }[];
  t.equal(new Set(told.map(({ signature }) => signature)).size, 4);
  for (const [at, record] of records.entries()) {
    const signature = record.signature as unknown as SignedRecord & { digest: string };
    const { name } = record.target ?? { name: '' };
    t.match(record, { action: 'Lifecycle', category: 'recipe-lifecycle', result: 'Success', operatorReason: 'reviewed' });
    t.match(signature, { meaning: at < 3 ? 'recipe-withdraw' : 'recipe-activate', digest: told[at]?.signature, signer: { displayName: supervisor.username }, subject: { name } });
    t.match(await engineer.get(`/api/v1/signatures/${told[at]?.signature}`), {
      status: 200,
      body: { valid: true, problems: [], target: { kind: 'MasterRecipe', name, site: 'demo' } },
    });
    const recipe = store.get(MasterRecipe, 'demo', name);
    t.equal(recipe && recipeMismatch(store, recipe), undefined, 'its revision carries the signature');
    t.equal(recipe?.status.lifecycle.at(-1)?.signature, told[at]?.signature);
    t.ok((recipe?.metadata.resourceVersion ?? 0) > version);
  }
  t.equal(new Set(['resin-a', 'resin-a-v2-0-0', 'resin-a-v2-1-0', 'resin-a-v2-0-1'].map((name) => store.get(MasterRecipe, 'demo', name)?.metadata.updatedAt)).size, 1);
  t.match(await plant.queries.verify(), { ok: true }, 'the chain of the audit trail');
});

t.test('D-C-14, MES-08: an order for a version that was withdrawn is refused, and not run by the one in its place', async (t) => {
  t.match(await order('WO-late', 'resin-a'), { status: 400, body: { code: 'unknown_reference', field: 'productDefinition', error: /the recipe is Withdrawn/ } });
  t.match(await mes.get(`${MES}/product-definitions/resin-a`), { status: 404 });
  t.match(await operator.post(`${SITE}/batches`, { batchID: 'late', masterRecipeRef: 'resin-a' }), { status: 409, body: { code: 'recipe_not_effective' } });
  t.match(await order('WO-late', 'resin-a-v2-0-1'), { status: 201, body: { productDefinition: 'resin-a-v2-0-1' } });
});

t.test('D-C-14: a recipe without a product has no versions to tell or to withdraw', async (t) => {
  t.equal((await engineer.post(MASTER, { name: 'loose', spec: {} })).status, 201);
  t.equal((await engineer.post(MASTER, { name: 'looser', spec: {} })).status, 201);
  for (const name of ['loose', 'looser']) await release(name);
  t.match(await activate('loose'), { status: 200, body: { otherEffective: [], withdrawn: [] } });
  t.match(await activate('looser', { previous: 'withdraw' }), { status: 400, body: { code: 'no_product_id', field: 'previous' } });
  t.same(phases('loose', 'looser'), ['Effective', 'Released']);
  t.match(await activate('looser', { previous: 'keep' }), { status: 200, body: { otherEffective: [] } });
});

t.test('D-C-14: of two activations at once one comes first: one version is left, and whatever was answered is so', async (t) => {
  await released('q-0', { productID: 'Q', version: '1.0.0' });
  t.equal((await activate('q-0')).status, 200);
  for (const [at, name] of ['q-1', 'q-2', 'q-3'].entries()) await released(name, { productID: 'Q', version: `2.0.${at}` });
  const names = ['q-1', 'q-2', 'q-3'];
  const answers = await Promise.all(names.map((name) => activate(name, { previous: 'withdraw' })));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  t.same(phases('q-0', ...names).sort(), ['Effective', 'Withdrawn', 'Withdrawn', 'Withdrawn']);
  const withdrawn = answers.flatMap(({ body }) => body.withdrawn.map(({ name }: { name: string }) => name)).sort();
  t.equal(new Set(withdrawn).size, 3, 'each was withdrawn once');
  t.match(await plant.queries.verify(), { ok: true });
  await t.test('twice the same one: the second is a conflict', async (t) => {
    await released('q-4', { productID: 'Q', version: '3.0.0' });
    const twice = await Promise.all([activate('q-4', { previous: 'withdraw' }), activate('q-4', { previous: 'withdraw' })]);
    t.same(twice.map(({ status }) => status).sort(), [200, 409]);
    t.match(twice.find(({ status }) => status === 409)?.body, { code: 'recipe_phase', phase: 'Effective' });
  });
});

t.test('D-C-14: an order for the old version at the moment of its withdrawal either keeps it or is refused', async (t) => {
  let last = 'q-4';
  for (let round = 0; round < 6; round += 1) {
    const name = `q-r${round}`;
    await released(name, { productID: 'Q', version: `4.0.${round}` });
    const send = [() => operator.post(`${SITE}/batches`, { batchID: name, masterRecipeRef: last }), () => activate(name, { previous: 'withdraw' })];
    const [first, second] = (await Promise.all((round % 2 === 0 ? send : send.reverse()).map((each) => each()))) as [Answer, Answer];
    const [ordered, activated] = round % 2 === 0 ? [first, second] : [second, first];
    t.ok([`201 409`, `409 200`].includes(`${ordered.status} ${activated.status}`), `${ordered.text}\n${activated.text}`);
    if (ordered.status === 201) {
      t.match(activated.body, { code: 'recipe_in_use', recipe: last, batch: ordered.body.name });
      t.same(phases(last, name), ['Effective', 'Released']);
      t.equal((await engineer.delete(`${SITE}/batches/${ordered.body.name}`)).status, 204);
      t.equal((await activate(name, { previous: 'withdraw' })).status, 200);
    } else {
      t.match(ordered.body, { code: 'recipe_not_effective', phase: 'Withdrawn' });
      t.same(phases(last, name), ['Withdrawn', 'Effective']);
    }
    last = name;
  }
});

/** The supervisor with a token that is young again. */
async function signIn(): Promise<Pick<Client, 'post'>> {
  const answer = await plant.request('POST', '/api/v1/auth/login', { body: { username: supervisor.username, password: supervisor.password } });
  return { post: (path: string, body?: unknown) => plant.request('POST', path, { token: answer.body.accessToken, body }) };
}
