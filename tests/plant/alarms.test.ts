/** Alarms on a plant that works: a batch heats its reactor over two limits; what is raised, told, done about it and kept. */
import t from 'tap';
import { WebSocket } from 'ws';
import { EventClient } from '../platform/stream/clients.js';
import { eventually } from '../support/api-client.js';
import { SITE, startPlant } from '../support/plant.js';
import { at } from '../support/at.js';

const plant = await startPlant();
t.teardown(() => plant.end());

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly value: string;
  readonly evaluable: boolean;
  readonly occurrences: number;
  readonly activatedAt: string;
  readonly acknowledgedAt: string;
  readonly acknowledgedBy: string;
}

const TEMPERATURE = { sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'pv' };

async function define(definition: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await plant.api.post(`${SITE}/alarmdefinitions`, definition);
  if (answer.status !== 201) throw new Error(`POST alarmdefinitions: ${answer.status} ${answer.text}`);
}

const DRAIN_RESET = {
  name: 'drain-reset',
  sourceKind: 'ControlModule',
  sourceName: 'xv105',
  conditionType: 'TagTrue',
  tagName: 'reset',
  severity: 'High',
  message: 'held, because the drain is being reset',
};

await define({ ...DRAIN_RESET, exceptionAction: 'Hold' });

/** By hand; phases have the module in Automatic again. */
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

/** Waits until the only alarm of the definition is in the state. */
function untilAlarm(definition: string, state: string): Promise<Shown> {
  return plant.look(`alarm ${definition} is ${state}`, async () => {
    const alarms = (await plant.api.get(`${SITE}/alarms?definition=${definition}`)).body as Shown[];
    return { done: alarms.find((alarm) => alarm.state === state), seen: alarms.map((alarm) => `${alarm.name} is ${alarm.state}`).join(', ') };
  });
}

async function listen(): Promise<{ readonly frames: Record<string, unknown>[]; close(): void }> {
  const frames: Record<string, unknown>[] = [];
  const socket = new WebSocket(`${plant.base.replace('http', 'ws')}/api/v1/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Record<string, unknown>;
    if (frame.type === 'alarm') frames.push(frame);
  });
  socket.send(JSON.stringify({ type: 'subscribe', id: 'a', channel: 'alarms', filter: { site: 'demo' } }));
  return { frames, close: () => socket.close() };
}

t.test('ADEF-05 ADEF-08 ADEF-10 ALARM-16 ALARM-26 EVT-02: a reactor that gets warm raises, tells and clears an alarm; another holds it', async (t) => {
  await define({ ...TEMPERATURE, name: 'warm', threshold: '55', deadband: '2', debounceSeconds: 1, message: 'the reactor is warm' });
  await define({ ...TEMPERATURE, name: 'seen-before', threshold: '5', severity: 'Low', message: 'the reactor is not frozen' });
  await define({ ...TEMPERATURE, name: 'elsewhere', sourceName: 'li201', conditionType: 'TagLow', threshold: '500' });
  await untilAlarm('seen-before', 'ActiveUnacknowledged');
  await plant.api.post(`${SITE}/alarms/seen-before-1/acknowledge`, { comment: 'it is summer' });
  const seenBefore = await untilAlarm('seen-before', 'ActiveAcknowledged');
  const stream = await listen();
  const batch = await plant.runBatch();

  const raised = await plant.look('the reactor is warm', async () => {
    for (const prompt of await plant.prompts(batch)) await plant.answer(prompt, '7.2');
    const [alarm] = (await plant.api.get(`${SITE}/alarms?definition=warm`)).body as Shown[];
    return { done: alarm, seen: (await plant.batch(batch)).phase as string };
  });
  t.match(raised, { name: 'warm-1', state: 'ActiveUnacknowledged', setpoint: '55', unit: 'rx101', evaluable: true, origin: 'definition', occurrences: 1 });
  t.ok(Number(raised.value) > 55, `it was raised at ${raised.value}`);
  t.match((await plant.api.get(`${SITE}/alarmdefinitions/warm`)).body, { activeAlarmRef: 'warm-1', armed: true });

  const acknowledged = await plant.api.post(`${SITE}/alarms/warm-1/acknowledge`, { comment: 'seen' });
  t.equal(acknowledged.status, 200);
  t.match(await plant.audit(acknowledged), [
    { action: 'Acknowledge', result: 'Accepted' },
    { result: 'Success', component: 'alarm-controller' },
  ]);
  await untilAlarm('warm', 'ActiveAcknowledged');

  await drainReset(true);
  await plant.until(batch, 'Held');
  await untilAlarm('drain-reset', 'ActiveUnacknowledged');
  await untilAlarm('rx101-held', 'ActiveUnacknowledged');
  const commands = (await plant.api.get(`${SITE}/audit?kind=Batch&name=${batch}&action=Command&order=asc`)).body.items;
  t.match(
    commands.filter((record: { component?: string }) => record.component === 'alarm-controller'),
    [{ result: 'Accepted', operatorReason: 'alarm drain-reset-1', details: { command: 'Hold' }, actorType: 'component' }],
    'Q-CMD-04: the command of the alarm bears its name',
  );

  const failure = { rule: 'alarm-exception', class: 'hold', active: true, message: 'alarm drain-reset-1: held, because the drain is being reset', alarms: ['drain-reset-1'] };
  t.match(await plant.batch(batch), { failure, validCommands: ['Stop', 'Abort'], blockedBy: [{ reason: 'failure', failure: { active: true } }] }, 'decisions 3.5');
  const refused = { rule: 'failure-active', message: `Restart is not possible while alarm-exception is active: ${failure.message}` };
  t.match((await plant.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Restart', dryRun: true })).body, { accepted: false, ...refused });
  t.match(await plant.audit(await plant.command(batch, 'Restart')), [{ result: 'Accepted' }, { result: 'Rejected', rule: 'failure-active' }]);
  t.match((await plant.batch(batch)).commandRejection, refused, 'the refusal names the alarm');
  const toDo = async (): Promise<object[]> => {
    const { checks } = (await plant.api.post(`${SITE}/batches/preflight`, { batch, command: 'Restart' })).body as { checks: { check: string }[] };
    return checks.filter(({ check }) => check === 'alarms');
  };
  const decided = { check: 'alarms', element: 'drain-reset-1', about: { kind: 'Alarm', name: 'drain-reset-1', unit: 'rx101' } };
  t.match(
    await toDo(),
    [{ ...decided, ok: false, decidedBy: { address: 'xv105.reset', value: 'true', wanted: '=', limit: 'false' } }],
    'BATCH-02: what has to be so before Restart, with its value now',
  );
  await plant.api.post(`${SITE}/alarms/drain-reset-1/acknowledge`);
  await untilAlarm('drain-reset', 'ActiveAcknowledged');
  t.match((await plant.batch(batch)).failure, { active: true }, 'an acknowledged alarm still is active');

  await drainReset(false);
  await untilAlarm('drain-reset', 'ClearedAcknowledged');
  const free = await plant.look('the alarm has cleared', async () => {
    const body = await plant.batch(batch);
    return { done: body.failure?.active === false ? body : undefined, seen: JSON.stringify(body.failure) };
  });
  t.match(free, { validCommands: ['Restart', 'Stop', 'Abort'], blockedBy: [{ reason: 'failure', command: 'Restart' }] });
  t.match(await toDo(), [{ ...decided, ok: true, decidedBy: { value: 'false' } }], 'what has been put right is still told');
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  t.notOk((await plant.until(batch, 'Running')).failure);
  await untilAlarm('rx101-held', 'ClearedUnacknowledged');
  await plant.finish(batch);
  await untilAlarm('warm', 'ClearedAcknowledged');
  t.match(await untilAlarm('drain-reset', 'ClearedAcknowledged'), { occurrences: 1 });

  const states = (): unknown[] => stream.frames.filter((frame) => frame.name === 'warm-1').map((frame) => frame.state);
  await plant.look('the stream has told of the end', async () => ({ done: states().length >= 3 || undefined, seen: states().join(', ') }));
  t.same(states(), ['ActiveUnacknowledged', 'ActiveAcknowledged', 'ClearedAcknowledged'], 'one frame per transition');
  t.match(
    stream.frames.find((frame) => frame.name === 'warm-1'),
    { site: 'demo', severity: 'Medium', message: 'the reactor is warm', shelved: false, shelvedUntil: '' },
  );
  stream.close();

  const { items } = (await plant.api.get(`${SITE}/alarmevents?definition=warm&order=asc`)).body;
  t.same(
    items.map(({ event }: { event: string }) => event),
    ['Activated', 'Acknowledged', 'Cleared'],
  );
  await plant.look('the historian has the same events', async () => {
    const kept = ((await plant.api.get('/api/v1/historian/alarms?site=demo&order=asc')).body.items as { alarm: string }[]).filter(({ alarm }) => alarm === 'warm-1');
    return { done: JSON.stringify(kept) === JSON.stringify(items) || undefined, seen: JSON.stringify(kept) };
  });

  const record = await plant.look('the record of the batch is made', async () => {
    const { body } = await plant.api.get(`${SITE}/batches/${batch}/record`);
    return { done: body.provisional === false ? body : undefined, seen: `provisional ${body.provisional}` };
  });
  const kept = (name: string): unknown => record.alarms.find((alarm: { name: string }) => alarm.name === name);
  t.match(kept('warm-1'), {
    definitionRef: 'warm',
    source: 'ControlModule/tic101',
    raisedAt: raised.activatedAt,
    acknowledgedBy: /./,
    acknowledgedAt: /^20/,
    clearedAt: /^20/,
    exceptionAction: '',
  });
  t.match(kept('drain-reset-1'), { severity: 'High', acknowledgedAt: /^20/, clearedAt: /^20/, exceptionAction: 'Hold', message: 'held, because the drain is being reset' });
  t.match(
    record.executionEvents
      .filter((event: { eventType: string; message: string }) => event.eventType === 'Alarm' && event.message.includes('alarm warm-1,'))
      .map((event: { value: string }) => event.value),
    ['ActiveUnacknowledged', 'ActiveAcknowledged', 'ClearedAcknowledged'],
    'decisions 8.3: they stand among the events of the batch',
  );
  const { allocatedAt } = record.equipment.find(({ unit }: { unit: string }) => unit === 'rx101');
  t.same(
    kept('seen-before-1'),
    {
      name: 'seen-before-1',
      definitionRef: 'seen-before',
      source: 'ControlModule/tic101',
      severity: 'Low',
      message: 'the reactor is not frozen',
      raisedAt: seenBefore.activatedAt,
      acknowledgedAt: seenBefore.acknowledgedAt,
      acknowledgedBy: seenBefore.acknowledgedBy,
      clearedAt: '',
      exceptionAction: '',
      standingAt: allocatedAt,
    },
    'an alarm that stood when the batch got the unit is in its record, with its own times',
  );
  t.ok(Date.parse(seenBefore.activatedAt) < Date.parse(allocatedAt));
  t.match(
    record.executionEvents.filter((event: { message: string }) => event.message.includes('alarm seen-before-1,')),
    [{ ts: allocatedAt, eventType: 'Alarm', unit: 'rx101', equipment: 'tic101', value: 'ActiveAcknowledged', message: /^Standing since 20\S+: alarm seen-before-1, the reactor/ }],
  );
  t.notOk(record.alarms.find((alarm: { name: string; standingAt?: string }) => alarm.name === 'warm-1').standingAt, 'what came in the batch is told apart from it');
  t.match((await plant.api.get(`${SITE}/batches/${batch}/record?format=b2mml`)).text, /Standing since 20\S+: alarm seen-before-1/);
  t.equal((await plant.command(batch, 'Reset')).status, 200);
});

t.test('decisions 3.1, 3.5: an alarm that comes while the work is Held already keeps it Held; so it does the root of an ad-hoc run', async (t) => {
  await plant.look('rx101 is Idle', async () => {
    const { state } = await plant.unit('rx101');
    return { done: state === 'Idle' || undefined, seen: state };
  });
  const launched = await plant.api.post(`${SITE}/units/rx101/execute-phase`, {
    phaseTemplateRef: 'heat',
    parameterValues: [{ name: 'target', value: '90' }],
  });
  t.equal(launched.status, 201, launched.text);
  const { name } = launched.body;
  const command = (word: string) => plant.api.post(`${SITE}/command`, { kind: 'Phase', name, command: word, reason: 'asked for by the test' });
  const until = (what: string, found: (body: { state: string; failure?: { alarms?: string[]; active: boolean }; commandRejection?: object }) => boolean) =>
    plant.look(`the phase is ${what}`, async () => {
      const { body } = await plant.api.get(`${SITE}/phases/${name}`);
      return { done: found(body) ? body : undefined, seen: `${body.state} ${JSON.stringify(body.failure)}` };
    });
  await until('Running', ({ state }) => state === 'Running');
  t.equal((await command('Hold')).status, 200);
  t.notOk((await until('Held', ({ state }) => state === 'Held')).failure, 'held by a person');
  await drainReset(true);
  const held = await until('held by the alarm too', ({ failure }) => failure?.active === true);
  t.match(held, {
    state: 'Held',
    failure: { rule: 'alarm-exception', alarms: [/^drain-reset-/] },
    commandRejection: { command: 'Hold', rule: 'already-held' },
    validCommands: ['Stop', 'Abort'],
  });
  t.match(await plant.audit(await command('Restart')), [{ result: 'Accepted' }, { result: 'Rejected', rule: 'failure-active' }]);
  await drainReset(false);
  await until('free', ({ failure }) => failure?.active === false);
  t.equal((await command('Restart')).status, 200);
  await until('Running without a failure', ({ state, failure }) => state === 'Running' && failure === undefined);
  await drainReset(true);
  t.match(await until('held by the alarm', ({ state, failure }) => state === 'Held' && failure?.active === true), { failure: { alarms: [/^drain-reset-/] } });
  t.equal((await command('Stop')).status, 200);
  await until('Stopped', ({ state }) => state === 'Stopped');
  await drainReset(false);
  await untilAlarm('drain-reset', 'ClearedUnacknowledged');
});

t.test('ALARM-05 decisions Q-ALARM-02: alarms survive a restart: the cleared one waits, the active one stands', async (t) => {
  await define({
    name: 'still',
    sourceKind: 'ControlModule',
    sourceName: 'ag101',
    conditionType: 'TagFalse',
    tagName: 'running',
    type: 'Equipment',
    message: 'the agitator stands still',
  });
  const before = await untilAlarm('still', 'ActiveUnacknowledged');
  await plant.restart();
  t.match(await untilAlarm('drain-reset', 'ClearedUnacknowledged'), { name: /^drain-reset-/ });
  await plant.look('the agitator is judged again', async () => {
    const alarm = at((await plant.api.get(`${SITE}/alarms?definition=still`)).body as Shown[], 0);
    return { done: alarm.evaluable || undefined, seen: `${alarm.name} is ${alarm.state}` };
  });
  t.match(await untilAlarm('still', 'ActiveUnacknowledged'), { name: 'still-1', activatedAt: before.activatedAt, occurrences: 1 });
  t.equal((await plant.api.delete(`${SITE}/alarms/still-1`)).status, 409, 'ALARM-17');
  await plant.api.post(`${SITE}/alarms/still-1/acknowledge`);
  await untilAlarm('still', 'ActiveAcknowledged');
  t.equal((await plant.api.delete(`${SITE}/alarms/still-1`)).status, 204);
  t.match(await untilAlarm('still', 'ActiveUnacknowledged'), { name: 'still-2' }, 'Q-ALARM-06: the condition is still true');
});

t.test(
  'ALARM-10 ALARM-13 ALARM-14 STREAM-02 SSE-13 EVT-11: a shelf that runs out while the appliance is down ends at its start, another goes on; an id of the run before gets everything',
  async (t) => {
    const shelved = await untilAlarm('still', 'ActiveUnacknowledged');
    await define({ ...TEMPERATURE, name: 'cold', conditionType: 'TagLow', threshold: '200', message: 'never warm enough' });
    const lasting = await untilAlarm('cold', 'ActiveUnacknowledged');
    for (const { name } of [shelved, lasting]) await plant.api.post(`${SITE}/alarms/${name}/acknowledge`);
    for (const definition of ['still', 'cold']) await untilAlarm(definition, 'ActiveAcknowledged');
    const lastId = async (headers: Record<string, string> = {}): Promise<{ readonly ids: string[]; readonly names: string[] }> => {
      const count = ((await plant.api.get(`${SITE}/alarms`)).body as Shown[]).length;
      const events = await EventClient.open(plant.base, `${SITE}/events/sse?channel=alarms`, headers);
      const frames = await events.take(count);
      events.close();
      return { ids: frames.map(({ id }) => id), names: frames.map(({ data }) => data.name) };
    };
    const before = await lastId();
    t.equal((await plant.api.post(`${SITE}/alarms/${lasting.name}/shelve`, { duration: '1h' })).status, 200);
    const { body } = await plant.api.post(`${SITE}/alarms/${shelved.name}/shelve`, { duration: '1s' });
    t.match(body, { ok: true, shelved: true, state: 'ActiveAcknowledged' });
    await plant.stop();
    await eventually('the shelf has run out', async () => Date.now() > Date.parse(body.shelvedUntil));
    await plant.start();
    const after = (name: string) =>
      plant.look(`the shelf of ${name} is judged`, async () => {
        const { events, ...alarm } = { ...(await plant.api.get(`${SITE}/alarms/${name}`)).body, events: (await plant.api.get(`${SITE}/alarmevents?alarm=${name}`)).body.items };
        const last = events[0]?.event as string;
        return { done: last === 'Unshelved' || alarm.shelved ? { ...alarm, last } : undefined, seen: last };
      });
    t.match(await after(shelved.name), { state: 'ActiveAcknowledged', shelved: false, last: 'Unshelved' });
    t.match(await after(lasting.name), { state: 'ActiveAcknowledged', shelved: true, last: 'Shelved' });
    t.match((await plant.api.get(`${SITE}/audit?kind=Alarm&name=${shelved.name}&action=Unshelve`)).body.items, [{ component: 'alarm-controller', result: 'Success' }]);
    const again = await lastId({ 'Last-Event-ID': before.ids.at(-1) as string });
    t.same(
      before.names.filter((name) => !again.names.includes(name)),
      [],
      'every alarm, as if nothing had been seen',
    );
    t.not(at(again.ids, 0).split('-')[0], at(before.ids, 0).split('-')[0], 'another instance');
  },
);
