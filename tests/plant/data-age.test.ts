/** Maximum ages of tags in the plant (ADR 0070): a condition that reads an older value is INVALID, and what waits says so. */
import t from 'tap';
import type { ApiAnswer } from '../support/api-client.js';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;

/** A request that must succeed. */
async function did(answer: Promise<ApiAnswer>): Promise<ApiAnswer['body']> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}

const stuck = [{ name: 'stuck', address: 'level', type: 'StuckValue', triggerMode: 'Manual' }];
const simulation = (faults: readonly object[]) => ({ behaviors: [{ address: 'level', type: 'NoisyConstant', params: { value: 42 } }], faults });
const { controllerRef } = (await api.get(`${SITE}/iomodules/io-rx101`)).body;
const options = { staleAfter: '1h' };
const channels = [{ name: 'level', address: 'level', dataType: 'float' }];
await did(api.post(`${SITE}/iomodules`, { name: 'io-aged', controllerRef, protocol: 'simulation', options, channels, simulation: simulation([]) }));

const template = {
  name: 'watched',
  moduleType: 'watched-level',
  blocks: [{ name: 'ai', type: 'AI', params: { addr: 'io-aged:level', rawMax: 100, engMax: 100 } }],
  tags: [
    { name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT', maxAge: '1s' },
    { name: 'any', dataType: 'Float', blockRef: 'ai', portRef: 'OUT' },
  ],
};
await did(api.post('/api/v1/controlmoduletemplates', template));
await did(api.post(`${SITE}/controlmodules`, { name: 'li199', parentName: 'rx101', templateRef: 'watched' }));

const pv = () => api.get(`${SITE}/units/rx101/tags/li199.pv`);
const shown = (what: string, wanted: (body: Record<string, unknown>) => boolean) =>
  plant.look(what, async () => {
    const { body, text } = await pv();
    return { done: wanted(body ?? {}) ? body : undefined, seen: text };
  });

t.test('ADR 0070, SIM-10, SFC-INVALID: a transition that reads a value older than its maximum age is INVALID, the tag stays Good, and blockedBecause says why', async (t) => {
  const fresh = await shown('the level is known', ({ value, isWithinAge }) => value === 42 && isWithinAge === true);
  t.match(fresh, { maxAge: '1s', quality: 'Good' });
  t.match((await api.get('/api/v1/controlmoduletemplates/watched')).body, { tags: [{ name: 'pv', maxAge: '1s' }, { name: 'any' }] });
  t.ok(fresh.ageMs >= 0 && fresh.ageMs <= 1000, `${fresh.ageMs} ms`);
  t.notOk('ageMs' in (await api.get(`${SITE}/units/rx101/tags/li199.any`)).body, 'a tag without a maximum age tells none');

  t.equal((await api.put(`${SITE}/iomodules/io-aged`, { simulation: simulation(stuck) })).status, 200);
  t.match(await shown('it is too old', ({ isWithinAge }) => isWithinAge === false), { value: 42, quality: 'Good', maxAge: '1s' });

  const steps = [{ name: 'wait', initial: true }, { name: 'ask', actionST: "said := PROMPT('Go on?');" }, { name: 'done' }];
  const transitions = [
    { from: 'wait', to: 'ask', conditionST: "READ('li199.pv') > 10.0" },
    { from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" },
  ];
  await plant.recipeOf('waits', { steps, transitions });
  const batch = await plant.runBatch({ masterRecipeRef: 'waits' });
  const { blockedBecause } = await plant.look('it waits for the level', async () => {
    const found = await plant.batch(batch);
    return { done: /maximum age/.test(found.blockedBecause) ? found : undefined, seen: found.blockedBecause };
  });
  t.match(blockedBecause, /step wait.*li199\.pv is .*s old, older than its maximum age of 1s/);

  t.equal((await api.put(`${SITE}/iomodules/io-aged`, { simulation: simulation([]) })).status, 200);
  await plant.look('a fresh sample fires it', async () => {
    const found = await plant.batch(batch);
    return { done: /Go on\?/.test(found.blockedBecause) || undefined, seen: found.blockedBecause };
  });
  await plant.command(batch, 'Abort', 'the test has seen enough');
  await plant.until(batch, 'Aborted');
});

t.test('CMT-10: a tag that is published onChange has no maximum age, nor has one that is not sampled', async (t) => {
  const refused = async (tag: object, message: RegExp) =>
    t.match(await api.post('/api/v1/controlmoduletemplates', { ...template, name: 'wrong', tags: [{ name: 'pv', dataType: 'Float', maxAge: '1s', ...tag }] }), {
      status: 400,
      body: { code: 'invalid_field', field: 'tags[0].maxAge', error: message },
    });
  const block = { blockRef: 'ai', portRef: 'OUT' };
  await refused({ ...block, publishMode: 'onChange' }, /onChange/);
  await refused({ ...block, maxAge: '0s' }, /above zero/);
  await refused({ ...block, maxAge: 'soon' }, /duration/);
  await refused({}, /not sampled/);
  t.match(await api.post(`${SITE}/controlmodules`, { name: 'li198', parentName: 'rx101', templateRef: 'watched', tags: [{ name: 'pv', publishMode: 'onChange' }] }), {
    status: 400,
    body: { field: 'tags[0].maxAge' },
  });
  const own = await api.post(`${SITE}/controlmodules`, { name: 'li197', parentName: 'tk201', templateRef: 'watched', tags: [{ name: 'pv', maxAge: '' }] });
  t.equal(own.status, 201, `an instance may take it out: ${own.text}`);
  t.notOk('maxAge' in (await api.get(`${SITE}/controlmodules/li197/tags/pv`)).body);
});

t.test('ADR 0070: alarms, permissives and actions read an aged value as Bad, each with its declared policy; an instance may shadow the age of its template', async (t) => {
  const age = (faults: readonly object[], isWithinAge: boolean) =>
    did(api.put(`${SITE}/iomodules/io-aged`, { simulation: simulation(faults) })).then(() => shown(`within its age: ${isWithinAge}`, (body) => body.isWithinAge === isWithinAge));
  const patient = { name: 'li196', parentName: 'rx101', templateRef: 'watched', tags: [{ name: 'pv', maxAge: '1h' }] };
  await did(api.post(`${SITE}/controlmodules`, patient));
  await age(stuck, false);
  t.match(await did(api.get(`${SITE}/units/rx101/tags/li196.pv`)), { maxAge: '1h', isWithinAge: true, value: 42 }, 'the same channel, with an age of its own');

  const high = (name: string, tagName: string) =>
    did(
      api.post(`${SITE}/alarmdefinitions`, {
        name,
        sourceKind: 'ControlModule',
        sourceName: 'li199',
        conditionType: 'TagHigh',
        tagName,
        threshold: '10',
        severity: 'High',
        message: name,
      }),
    );
  await high('aged-high', 'pv');
  await high('any-high', 'any');
  const raised = (name: string) =>
    plant.look(`${name} is raised`, async () => {
      const { body, text } = await api.get(`${SITE}/alarmdefinitions/${name}`);
      return { done: body.activeAlarmRef !== '' ? body : undefined, seen: text };
    });
  await raised('any-high');
  t.equal((await did(api.get(`${SITE}/alarmdefinitions/aged-high`))).activeAlarmRef, '', 'the definition on the aged tag stands still');

  const exported = (await did(api.get('/api/v1/export?site=demo&kinds=Unit'))) as { metadata: { name: string }; spec: object }[];
  const reactor = exported.find(({ metadata }) => metadata.name === 'rx101');
  const permit = (conditionST: string) =>
    did(api.post('/api/v1/apply', { ...reactor, spec: { ...reactor?.spec, permissives: [{ name: 'filled', conditionST, message: 'fill it' }] } }));
  await plant.recipeOf('reads', {
    variables: [{ name: 'seen', type: 'REAL' }],
    steps: [{ name: 'look', initial: true, actionST: "seen := READ('li199.pv');" }, { name: 'done' }],
    transitions: [{ from: 'look', to: 'done', conditionST: 'seen > 10.0' }],
  });
  await permit("READ('li199.pv') > 10.0");
  const batch = await plant.createBatch({ masterRecipeRef: 'reads' });
  t.match((await plant.audit(await plant.command(batch, 'Start')))[1], { result: 'Rejected', rule: 'permissive-filled' }, 'an aged value does not permit');
  await permit("READ('li199.any') > 10.0");
  t.match((await plant.audit(await plant.command(batch, 'Start')))[1], { result: 'Success' });
  const held = await plant.look('the phase is held', async () => {
    const found = await plant.batch(batch);
    return { done: found.phase === 'Held' ? found : undefined, seen: JSON.stringify([found.phase, found.blockedBecause]) };
  });
  t.match(JSON.stringify(held), /li199\.pv/, 'and says what it has read');

  await age([], true);
  await raised('aged-high');
  await plant.command(batch, 'Abort', 'the test has seen enough');
  await plant.until(batch, 'Aborted');
  const restarted = await api.post(`${SITE}/iomodules/io-aged/ioprobe/restart`, { reason: 'to see the age over it', acknowledgeFailSafe: true });
  t.equal(restarted.status, 200, restarted.text);
  t.match(await shown('fresh behind a restart of its probe', ({ isWithinAge, quality }) => isWithinAge === true && quality === 'Good'), { value: 42 });
});
