/**
 * Tuning as a control engineer does it: a loop of a unit at work gets another gain, which is seen wherever a tag is read, and
 * nowhere as a jump. One appliance, real accounts, real unit runtimes; declarations and refusals are in
 * tests/domains/control-modules/tuning.
 */
import t from 'tap';
import { SocketClient } from '../platform/stream/clients.js';
import type { Answer } from '../support/gateway.js';
import { ApplianceTest, AT } from './appliance.js';

const GRANT = { group: '{prefix}-lead-operator', grant: ['controlmodule:tune'], deny: [] };
const test = await ApplianceTest.start({ LINESIDE_AUTH__ROLES: JSON.stringify([GRANT]) });
t.teardown(() => test.stop());
const [viewer, operator, lead, engineer] = [await test.as('viewer'), await test.as('operator'), await test.as('lead-operator'), await test.as('engineer')];
const UNIT = `${AT}/units/rx101`;
const REASON = 'asked for by the test';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

async function did(answer: Promise<Answer>, wanted = 200): Promise<Body> {
  const { status, text, body } = await answer;
  if (status !== wanted) throw new Error(`${status} ${text}`);
  return body;
}

/** The measurement stands 10 below the set point, so every gain makes another output: without an integral it is kp times 10. */
const LOOP = {
  name: 'tuned-loop',
  moduleType: 'tuned-loop',
  blocks: [
    { name: 'pv', type: 'CONST', params: { value: 40.5 } },
    { name: 'pid', type: 'PID', params: { kp: 2, SP: 50.5 } },
    { name: 'lag', type: 'LAG', params: { tau: 'T#5s' } },
  ],
  dataConnections: [
    { sourceBlock: 'pv', sourcePort: 'OUT', destBlock: 'pid', destPort: 'PV' },
    { sourceBlock: 'pid', sourcePort: 'OUT', destBlock: 'lag', destPort: 'IN' },
  ],
  tags: [{ name: 'out', dataType: 'Float', blockRef: 'pid', portRef: 'OUT' }],
  parameters: [
    { name: 'kp', blockRef: 'pid', param: 'kp', tunable: true, engMin: '0', engMax: '10' },
    { name: 'filter', blockRef: 'lag', param: 'tau', tunable: true },
  ],
};
const tune = (values: object, who = engineer) => who.put(`${AT}/controlmodules/loop1/parameters`, { values, reason: REASON });
const tagIs = (address: string, value: unknown): Promise<Body> => test.until(`${address} is ${String(value)}`, `${UNIT}/tags/${address}`, (tag) => tag.value === value);

await did(engineer.post('/api/v1/controlmoduletemplates', LOOP), 201);
await did(engineer.post(`${AT}/controlmodules`, { name: 'loop1', templateRef: 'tuned-loop', parentName: 'rx101' }), 201);
await tagIs('loop1.out', 20);

t.test('D-C-13: a tunable parameter is a tag that can be read and not written', async (t) => {
  t.match(
    (await viewer.get(`${AT}/tags?unit=rx101`)).body.filter(({ controlModule }: Body) => controlModule === 'loop1').map(({ address }: Body) => address),
    ['loop1.out', 'loop1.par.filter', 'loop1.par.kp'],
  );
  t.match((await viewer.get(`${UNIT}/tags/loop1.par.kp`)).body, { name: 'par.kp', value: 2, quality: 'Good', dataType: 'Float', accessLevel: 'read', engMin: '0', engMax: '10' });
  t.match((await viewer.get(`${AT}/controlmodules/loop1/tags/par.filter`)).body, { value: 'T#5s', dataType: 'Time', quality: 'Good' });
  t.match((await operator.post(`${UNIT}/runtime/read`, { addresses: ['loop1.par.kp'] })).body, { values: [{ value: 2 }] });
  await did(operator.post(`${AT}/mode`, { kind: 'ControlModule', name: 'loop1', mode: 'Manual' }));
  for (const at of [`${UNIT}/tags/loop1.par.kp`, `${AT}/controlmodules/loop1/tags/par.kp`])
    t.match(await operator.post(at, { value: 3 }), { status: 403, body: { code: 'read_only_tag' } }, at);
  await did(operator.post(`${AT}/mode`, { kind: 'ControlModule', name: 'loop1', mode: 'Automatic' }));
  const reader = {
    name: 'reader',
    inputs: [{ name: 'gain', dataType: 'Float' }],
    blocks: [{ name: 'twice', type: 'MUL', params: { IN2: 2 } }],
    variableBindings: [{ variable: 'gain', blockRef: 'twice', portRef: 'IN1' }],
    tags: [{ name: 'twice', dataType: 'Float', blockRef: 'twice', portRef: 'OUT' }],
  };
  await did(engineer.post('/api/v1/controlmoduletemplates', reader), 201);
  await did(
    engineer.post('/api/v1/apply', {
      apiVersion: 'physical.lineside.io/v1alpha1',
      kind: 'ControlModule',
      metadata: { name: 'reader1', namespace: 'site-demo' },
      spec: { templateRef: 'reader', parentName: 'rx101', inputBindings: [{ name: 'gain', source: 'loop1.par.kp' }] },
    }),
  );
  await tagIs('reader1.twice', 4);
});

t.test('D-C-13 AUTH-12: while a batch has the unit the gain changes without a jump, is read everywhere, and stands in the record of the batch', async (t) => {
  const CHART = {
    outputs: [{ name: 'gain', type: 'REAL' }],
    steps: [
      { name: 'ask', initial: true, actionST: "gain := READ('loop1.par.kp');" },
      { name: 'wait', actionST: '' },
      { name: 'done', actionST: "gain := READ('loop1.par.kp');" },
    ],
    transitions: [
      { from: 'ask', to: 'wait', conditionST: '' },
      { from: 'wait', to: 'done', conditionST: "READ('loop1.par.kp') > 3.5" },
    ],
  };
  await did(engineer.post(`${AT}/phasetemplates`, { name: 'waits-for-gain', spec: CHART }), 201);
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [{ name: 'ph', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'waits-for-gain' }] } };
  const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }] } };
  await did(engineer.post(`${AT}/recipes/master`, { name: 'tuned', spec: { equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }], procedure } }), 201);
  const { name } = await did(operator.post(`${AT}/batches`, { batchID: 'tuned-1', masterRecipeRef: 'tuned' }), 201);
  await did(operator.post(`${AT}/command`, { kind: 'Batch', name, command: 'Start', reason: REASON }));
  await test.until('the phase waits', `${AT}/batches/${name}`, (batch) => batch.phase === 'Running' && batch.blockedBecause.includes('par.kp'));

  t.match(await engineer.put('/api/v1/controlmoduletemplates/tuned-loop', { blocks: LOOP.blocks }), { status: 200 }, 'the same again');
  const edited = { ...LOOP.blocks[1], params: { kp: 3, SP: 50.5 } };
  t.match(await engineer.put('/api/v1/controlmoduletemplates/tuned-loop', { blocks: [LOOP.blocks[0], edited, LOOP.blocks[2]] }), {
    status: 409,
    body: { code: 'active_batch', batch: name },
  });
  t.match(await tune({ kp: 3 }, operator), { status: 403, body: { code: 'action_missing', action: 'controlmodule:tune' } });
  const socket = await SocketClient.open(`http://127.0.0.1:${test.port}`, viewer.token);
  t.teardown(() => socket.socket.close());
  socket.send({ type: 'subscribe', id: 't', channel: 'tags', filter: { site: 'demo', unit: 'rx101', addressPattern: 'loop1.*' } });
  t.match(await socket.next(), { type: 'subscribed' });

  t.match(
    await tune({ kp: 3 }, lead),
    { status: 200, body: { parameters: [{ name: 'kp', value: 3, tuned: { previous: 2, by: 'lead-operator', reason: REASON } }, {}] } },
    'granted to lead operators',
  );
  await tagIs('loop1.par.kp', 3);
  await tagIs('reader1.twice', 6);
  t.match((await tune({ kp: 4, filter: '1s' })).body, { parameters: [{ value: 4 }, { value: '1s' }] });
  await tagIs('loop1.par.filter', 'T#1s');
  const seen = new Map<string, Set<unknown>>();
  while (!seen.get('loop1.par.kp')?.has(4)) {
    const frame = await socket.next();
    for (const tag of (frame.tags as Body[] | undefined) ?? [frame as Body]) {
      const key = String(tag.address);
      seen.set(key, (seen.get(key) ?? new Set()).add(tag.value));
    }
  }
  t.same([...(seen.get('loop1.out') ?? [20])], [20], 'the output was 20 all the time');
  t.equal((await viewer.get(`${UNIT}/tags/loop1.out`)).body.value, 20);

  const { recordRef } = await test.until('the batch has its record', `${AT}/batches/${name}`, (batch) => batch.phase === 'Complete' && batch.recordRef !== '');
  const record = (await viewer.get(`${AT}/batchrecords/${recordRef}`)).body;
  t.match(
    record.spec.operatorActions.filter(({ action }: Body) => action === 'Tuning'),
    [
      { value: 'parameter loop1.par.kp 3', reason: REASON, person: { displayName: 'lead-operator' } },
      { value: 'parameter loop1.par.kp 4', person: { displayName: 'engineer' } },
      { value: 'parameter loop1.par.filter 1s' },
    ],
  );
  t.match(
    record.spec.executionEvents
      .filter(({ eventType, equipment }: Body) => eventType === 'Equipment' && equipment === 'loop1')
      .map(({ previousValue, value }: Body) => [previousValue, value]),
    [
      ['2', '3'],
      ['3', '4'],
      ['T#5s', '1s'],
    ],
  );
  const [, , { auditRecordRef }] = record.spec.operatorActions.filter(({ action }: Body) => action === 'Tuning');
  t.match((await viewer.get(`${AT}/audit/${auditRecordRef}`)).body, {
    category: 'tuning',
    before: { kp: 3, filter: 'T#5s' },
    after: { kp: 4, filter: '1s' },
    operatorReason: REASON,
  });
  t.match((await viewer.get(`${AT}/audit?category=tuning&limit=1`)).body.items, [{ result: 'Success' }]);
});
