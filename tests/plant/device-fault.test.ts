/** A device in latched fault under a phase: it is named where the work waits, and reset with one request (ADR 0029, ADR 0030). */
import t from 'tap';
import type { ApiAnswer } from '../support/api-client.js';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;
const RESET = `${SITE}/controlmodules/xv105/reset-fault`;

const stands = (channel: string, value: boolean) => api.post(`${SITE}/iomodules/io-rx101/write`, { channel, value });
const release = (channel: string) => api.post(`${SITE}/iomodules/io-rx101/release`, { channel });
const tag = async (name: string) => (await api.get(`${SITE}/controlmodules/xv105/tags/${name}`)).body.value;

t.test('ADR 0029, ADR 0030: what waits for a device names it; its reset is one request in Automatic, and moves nothing unasked', async (t) => {
  // it asks before its end: what is done to a device belongs to the record of the batch that holds it
  const steps = [{ name: 'open', initial: true, actionST: "WRITE('drain.cmd', TRUE);" }, { name: 'ask', actionST: "said := PROMPT('Go on?');" }, { name: 'done' }];
  const transitions = [
    { from: 'open', to: 'ask', conditionST: "READ('drain.opened')" },
    { from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" },
  ];
  const template = { roles: [{ name: 'drain', requiredType: 'on-off-valve' }], steps, transitions };
  await plant.recipeOf('drains', template);
  t.match(await api.post(RESET, {}), { status: 200, body: { reset: [] } }, 'nothing is in fault');
  // with its alarm the batch would be held: what is looked at here is a fault that nobody is told of
  t.equal((await api.delete(`${SITE}/alarmdefinitions/xv105-fault`)).status, 204);

  const devices = async () =>
    (await api.post(`${SITE}/batches/preflight`, { batchID: 'looked-at', masterRecipeRef: 'drains' })).body.checks.filter(({ check }: { check: string }) => check === 'devices');
  t.match(await devices(), [
    { ok: false, severity: 'warning', element: 'xv105', message: 'a fault of xv105 raises no alarm', liftedBy: { tier: 'engineer', action: /xv105\.fault/ } },
  ]);
  for (const [channel, value] of [
    ['xv105.zso', false],
    ['xv105.zsc', true],
  ] as const)
    t.equal((await stands(channel, value)).status, 200);
  const batch = await plant.runBatch({ masterRecipeRef: 'drains' });
  const seen = await plant.look('the wait names the valve', async () => {
    const { blockedBecause, blockedBy } = await plant.batch(batch);
    return { done: /xv105 is in Fault/.test(blockedBecause) ? blockedBy : undefined, seen: blockedBecause };
  });
  t.match(
    seen.find(({ reason }: { reason: string }) => reason === 'device-fault'),
    { element: { path: 'up/op/phase' }, controlModule: 'xv105', by: ['operate'] },
  );
  t.match(await api.get(`${SITE}/controlmodules/xv105`), { body: { mode: 'Automatic' } });
  t.match(await devices(), [{ message: 'xv105 is in Fault', liftedBy: { tier: 'operate', action: /reset/ } }, { message: /no alarm/ }]);
  for (const channel of ['xv105.zso', 'xv105.zsc']) t.equal((await release(channel)).status, 200);
  const askedUntil = (what: string, body: object, wanted: (answer: ApiAnswer) => boolean) =>
    plant.look(what, async () => {
      const answer = await api.post(RESET, body);
      return { done: wanted(answer) ? answer : undefined, seen: answer.text };
    });
  const refused = await askedUntil('its command stands', {}, ({ body }) => body.code === 'would_move');
  t.match(refused, { status: 409, body: { controlModule: 'xv105' } });
  t.equal(await tag('fault'), true, 'a refusal changes nothing');
  // the valve had begun to open behind the limit switches that were written by hand: released, they show it on its way back
  const reset = await askedUntil('it is at rest', { moves: true, reason: 'looked at the valve' }, ({ body }) => body.code !== 'not_at_rest');
  t.match(reset, { status: 200, body: { controlModule: 'xv105', reset: ['v'] } });
  t.equal((await plant.answer(await plant.untilPrompt(batch), '')).status, 200);
  const ended = await plant.until(batch, 'Complete');
  t.equal(ended.recordPending, ended.recordRef === '', 'who is too early for the record is told so');
  t.notOk(
    (
      await plant.look('the record is there', async () => {
        const body = await plant.batch(batch);
        return { done: body.recordRef === '' ? undefined : body, seen: body.phase };
      })
    ).recordPending,
  );

  const records = await plant.audit(reset, 2);
  t.match(
    records.map(({ action, category, target, result }: Record<string, unknown>) => ({ action, category, target, result })),
    [
      { action: 'Command', category: 'device-reset', target: { kind: 'ControlModule', name: 'xv105' }, result: 'Accepted' },
      { category: 'device-reset', result: 'Success' },
    ],
  );
  t.ok(
    (await plant.events(batch)).some(({ eventType, equipment, previousValue }) => eventType === 'Equipment' && equipment === 'xv105' && previousValue === 'Fault'),
    'it is in the record of the batch',
  );
  t.ok(
    (await plant.events(batch)).some(
      ({ eventType, message, previousValue }) => eventType === 'Equipment' && previousValue === 'forced' && /xv105\.zso of io-rx101/.test(String(message)),
    ),
    'and so is the end of a force on a channel of its unit',
  );
  t.match(await api.post(`${SITE}/controlmodules/li101/reset-fault`, {}), { status: 409, body: { code: 'no_device' } });
});

t.test('ADR 0029: a valve that failed by a broken wire is in fault, whatever the quality of its signals; the condition names the tag that is Bad', async (t) => {
  const mode = async (wanted: string) => t.equal((await api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv105', mode: wanted })).status, 200);
  await mode('Manual');
  t.equal((await api.post(`${SITE}/controlmodules/xv105/tags/cmd`, { value: false })).status, 200);
  await plant.look('the valve is closed', async () => {
    const closed = await tag('closed');
    return { done: closed === true && (await tag('zso')) === false ? closed : undefined, seen: String(closed) };
  });
  await mode('Automatic');
  const { simulation } = (await api.get(`${SITE}/iomodules/io-rx101`)).body;
  const wire = { name: 'wire', address: 'xv105.zso', type: 'WireBreak', params: { value: 0 } };
  t.equal((await api.put(`${SITE}/iomodules/io-rx101`, { simulation: { ...simulation, faults: [wire] } })).status, 200);
  const measured = async (what: string, isBad: boolean) =>
    plant.look(what, async () => {
      const { quality } = (await api.get(`${SITE}/controlmodules/xv105/tags/opened`)).body;
      return { done: (quality === 'Bad') === isBad ? quality : undefined, seen: quality };
    });
  await measured('the wire is broken', true);

  const batch = await plant.runBatch({ masterRecipeRef: 'drains' });
  const { blockedBecause } = await plant.look('the wait names the valve', async () => {
    const body = await plant.batch(batch);
    return { done: /xv105 is in Fault/.test(body.blockedBecause) ? body : undefined, seen: body.blockedBecause };
  });
  t.match(blockedBecause, /xv105 is in Fault \(Bad\); reset it/);
  t.match(blockedBecause, /step open: READ\('drain\.opened'\), now drain\.opened \(xv105\) is Bad/);
  const devices = async (body: object) =>
    (await api.post(`${SITE}/batches/preflight`, body)).body.checks.filter(({ check, ok }: { check: string; ok: boolean }) => check === 'devices' && !ok);
  t.match(await devices({ batchID: 'looked-at', masterRecipeRef: 'drains' }), [{ message: 'xv105 is in Fault (Bad)', severity: 'warning' }, { message: /no alarm/ }]);
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  await plant.until(batch, 'Held');
  t.match(await devices({ batch, command: 'Restart' }), [{ message: 'xv105 is in Fault (Bad)', severity: 'warning', liftedBy: { action: /reset/ } }]);

  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');

  const steps = [{ name: 'open', initial: true, actionST: "WRITE('drain.cmd', TRUE);", timeout: '10s' }, { name: 'done' }];
  await plant.recipeOf('drains-in-time', {
    roles: [{ name: 'drain', requiredType: 'on-off-valve' }],
    steps,
    transitions: [{ from: 'open', to: 'done', conditionST: "READ('drain.opened')" }],
  });
  const late = await plant.runBatch({ masterRecipeRef: 'drains-in-time' });
  await plant.until(late, 'Held');
  const held = await plant.batch(late);
  const why = /step open has exceeded its timeout; it waited for READ\('drain\.opened'\) \(drain\.opened is Bad\); .*xv105 is in Fault \(Bad\); reset it/;
  t.match(held.blockedBecause, why, 'held by its timeout, the condition and the valve are named');
  t.match(held.blockedBy, [
    { reason: 'failure', command: 'Restart' },
    { reason: 'device-fault', controlModule: 'xv105', by: ['operate'] },
  ]);
  t.match(
    (await plant.phases(late)).map(({ blockedBecause }) => blockedBecause),
    [/step-timeout: step open/],
  );

  t.equal((await api.put(`${SITE}/iomodules/io-rx101`, { simulation: { ...simulation, faults: [] } })).status, 200);
  await measured('the wire is mended', false);
  t.equal((await plant.command(late, 'Abort')).status, 200);
  await plant.until(late, 'Aborted');
});
