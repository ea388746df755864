/** Why work is held and was: the first cause stays the first, and is there to be read after the Restart (decisions 3.5). */
import t from 'tap';
import { cleaning, SITE, startPlant } from '../support/plant.js';
import { unitThreads } from '../support/unit-threads.js';

const threads = unitThreads();
const plant = await startPlant();
t.teardown(() => plant.end());

const alarm = { sourceKind: 'ControlModule', sourceName: 'xv105', conditionType: 'TagTrue', tagName: 'reset', severity: 'High', message: 'the drain is being reset' };
const defined = await plant.api.post(`${SITE}/alarmdefinitions`, { ...alarm, name: 'drain-reset', exceptionAction: 'Hold' });
if (defined.status !== 201) throw new Error(defined.text);

async function drainReset(value: boolean): Promise<void> {
  for (const [path, body] of [
    ['mode', { kind: 'ControlModule', name: 'xv105', mode: 'Manual' }],
    ['units/rx101/tags/xv105.reset', { value }],
    ['mode', { kind: 'ControlModule', name: 'xv105', mode: 'Automatic' }],
  ] as const) {
    const answer = await plant.api.post(`${SITE}/${path}`, body);
    if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const seen = (batch: string, what: string, probe: (body: any) => boolean) =>
  plant.look(what, async () => {
    const body = await plant.batch(batch);
    const { phase, heldBy, failure, furtherFailures, commandRejection } = body;
    return { done: probe(body) ? body : undefined, seen: JSON.stringify({ phase, heldBy, failure, furtherFailures, commandRejection }) };
  });

t.test('the first cause of a hold stays the first: an alarm that comes later joins it, and keeps Restart from going on', async (t) => {
  const batch = await plant.runBatch(cleaning(30));
  await plant.untilPhase(batch, 'cip', 'Running');
  await threads.get('rx101')?.terminate();
  await plant.until(batch, 'Held');
  const first = await seen(batch, 'the batch says why', ({ heldBy }) => heldBy !== undefined);
  t.match(first, {
    failure: { rule: 'runtime-restart' },
    heldBy: { rule: 'runtime-restart', told: { code: 'restarted-in' }, since: /Z$/, by: { kind: 'component', displayName: 'system' }, alarm: '', element: { kind: 'Phase' } },
  });
  await plant.runtimesReady();
  await drainReset(true);
  const after = await seen(batch, 'the alarm has joined', ({ furtherFailures }) => furtherFailures?.length > 0);
  t.match(after, {
    failure: { rule: 'runtime-restart' },
    furtherFailures: [
      { rule: 'alarm-exception', active: true, message: /the drain is being reset/, told: { code: 'alarms-hold', parts: { alarms: /./, texts: 'the drain is being reset' } } },
    ],
    commandRejection: {
      command: 'Hold',
      rule: 'already-held',
      told: { code: 'not-possible', parts: { command: 'Hold', state: 'Held' } },
      by: { kind: 'component', displayName: 'alarm-controller' },
      alarm: /./,
    },
    blockedBecause: /^runtime-restart: .*; alarm-exception: alarm .*the drain is being reset/,
  });
  t.same(after.heldBy, first.heldBy, 'who asked, when and why stay as they were');
  t.notOk(after.validCommands.includes('Restart'));
  t.match((await plant.audit(await plant.command(batch, 'Restart')))[1], { result: 'Rejected', rule: 'failure-active', details: { message: /drain is being reset/ } });
  await drainReset(false);
  await seen(batch, 'the alarm has gone', ({ validCommands }) => validCommands.includes('Restart'));
  await plant.command(batch, 'Restart');
  const on = await seen(batch, 'it goes on', ({ phase }) => phase === 'Running' || phase === 'Complete');
  t.notOk(on.heldBy);
  t.match(on.holds, [{ rule: 'runtime-restart', since: first.heldBy.since, until: /Z$/ }], 'it is still told that it was held, and why');

  await plant.finish(batch);
  const told = (await plant.events(batch)).filter(({ value }) => value === 'HoldCause');
  t.match(told, [{ previousValue: 'runtime-restart', told: { code: 'failure', parts: { rule: 'runtime-restart' }, because: { code: 'restarted-in' } } }], 'so do its events');
  const refused = (await plant.events(batch)).find(({ previousValue }) => previousValue === 'failure-active');
  const why = { code: 'failure-active', parts: { command: 'Restart', rule: 'alarm-exception' }, because: { code: 'alarms-hold' } };
  t.match(refused, { message: /^Restart is not possible while alarm-exception is active: /, told: why }, 'the sentence stays, the code stands beside it');
});

t.test('a Hold by a person says who, when and with which reason, also after the Restart and in the record', async (t) => {
  const batch = await plant.runBatch(cleaning(30));
  await plant.untilPhase(batch, 'cip', 'Running');
  await plant.command(batch, 'Hold', 'process observation at the drain');
  await plant.until(batch, 'Held');
  const held = await seen(batch, 'the batch says why', ({ heldBy }) => heldBy !== undefined);
  t.match(held.heldBy, {
    rule: 'Hold',
    message: /^Hold by /,
    told: { code: 'held-by', parts: { who: held.heldBy.by.displayName, reason: 'process observation at the drain' } },
    reason: 'process observation at the drain',
    by: { kind: 'person', accountId: /./, displayName: /./ },
    alarm: '',
    element: null,
  });
  t.notOk(held.failure);
  t.match((await plant.api.get(`${SITE}/batches`)).body.find(({ name }: { name: string }) => name === batch).heldBy, { rule: 'Hold' }, 'lists say it too');
  await plant.command(batch, 'Restart');
  const done = await plant.finish(batch);
  t.match(done.holds, [{ rule: 'Hold', reason: 'process observation at the drain', until: /Z$/ }]);
  const record = await plant.look('the record', async () => {
    const answer = await plant.api.get(`${SITE}/batchrecords/${batch}`);
    return { done: answer.status === 200 ? answer.body : undefined, seen: answer.text };
  });
  t.match(
    record.spec.executionEvents.find(({ value }: { value: string }) => value === 'HoldCause'),
    { message: /process observation at the drain/, told: { code: 'held-by' }, person: { accountId: /./ } },
  );
});

t.test('an ad-hoc run says it as well', async (t) => {
  const unit = await plant.unit('rx101');
  if (unit.lastWork || unit.state !== 'Idle') for (const { name } of (await plant.api.get(`${SITE}/batches`)).body) await plant.command(name, 'Reset');
  await plant.look('rx101 is Idle', async () => {
    const { state } = await plant.unit('rx101');
    return { done: state === 'Idle' || undefined, seen: state };
  });
  const { name } = (await plant.api.post(`${SITE}/units/rx101/execute-phase`, { phaseTemplateRef: 'heat', parameterValues: [{ name: 'target', value: '90' }] })).body;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const until = (what: string, probe: (body: any) => boolean) =>
    plant.look(what, async () => {
      const { body } = await plant.api.get(`${SITE}/phases/${name}`);
      return { done: probe(body) ? body : undefined, seen: `${body.state} ${JSON.stringify(body.heldBy)}` };
    });
  const order = (command: string) => plant.api.post(`${SITE}/command`, { kind: 'Phase', name, command, reason: 'smells of solvent' });
  await until('it runs', ({ state }) => state === 'Running');
  await order('Hold');
  t.match(await until('it is held', ({ state }) => state === 'Held'), { heldBy: { rule: 'Hold', reason: 'smells of solvent', by: { kind: 'person' } } });
  await order('Restart');
  t.notOk((await until('it runs', ({ state, heldBy }) => state === 'Running' && heldBy === undefined)).heldBy);
  await order('Abort');
  await until('it is aborted', ({ state }) => state === 'Aborted');
});
