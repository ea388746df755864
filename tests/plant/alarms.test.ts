/** Alarms on a plant that works: a batch heats its reactor over two limits; what is raised, told, done about it and kept. */
import t from 'tap';
import { WebSocket } from 'ws';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly value: string;
  readonly evaluable: boolean;
  readonly occurrences: number;
  readonly activatedAt: string;
}

const TEMPERATURE = { sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'pv' };

async function define(definition: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await plant.api.post(`${SITE}/alarmdefinitions`, definition);
  if (answer.status !== 201) throw new Error(`POST alarmdefinitions: ${answer.status} ${answer.text}`);
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

t.test('ADEF-05 ADEF-08 ADEF-10 ALARM-16 ALARM-26 EVT-02: a reactor that gets warm raises, tells and clears an alarm, and is held by another', async (t) => {
  await define({ ...TEMPERATURE, name: 'warm', threshold: '55', deadband: '2', debounceSeconds: 1, message: 'the reactor is warm' });
  await define({ ...TEMPERATURE, name: 'too-warm', threshold: '70', deadband: '15', severity: 'High', message: 'held, because it is too warm', exceptionAction: 'Hold' });
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

  await plant.until(batch, 'Held');
  await untilAlarm('too-warm', 'ActiveUnacknowledged');
  await untilAlarm('rx101-held', 'ActiveUnacknowledged');
  const commands = (await plant.api.get(`${SITE}/audit?kind=Batch&name=${batch}&action=Command&order=asc`)).body.items;
  t.match(
    commands.filter((record: { component?: string }) => record.component === 'alarm-controller'),
    [{ result: 'Accepted', operatorReason: 'alarm too-warm-1', details: { command: 'Hold' }, actorType: 'component' }],
    'Q-CMD-04: the command of the alarm bears its name',
  );

  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.until(batch, 'Running');
  await untilAlarm('rx101-held', 'ClearedUnacknowledged');
  await plant.finish(batch);
  await untilAlarm('warm', 'ClearedAcknowledged');
  t.match(await untilAlarm('too-warm', 'ClearedUnacknowledged'), { occurrences: 1 });

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
  t.match(kept('too-warm-1'), { severity: 'High', acknowledgedAt: '', acknowledgedBy: '', clearedAt: /^20/, exceptionAction: 'Hold', message: 'held, because it is too warm' });
  t.match(
    record.executionEvents
      .filter((event: { eventType: string; message: string }) => event.eventType === 'Alarm' && event.message.includes('alarm warm-1,'))
      .map((event: { value: string }) => event.value),
    ['ActiveUnacknowledged', 'ActiveAcknowledged', 'ClearedAcknowledged'],
    'decisions 8.3: they stand among the events of the batch',
  );
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
  t.match(await untilAlarm('too-warm', 'ClearedUnacknowledged'), { name: 'too-warm-1' });
  await plant.look('the agitator is judged again', async () => {
    const [alarm] = (await plant.api.get(`${SITE}/alarms?definition=still`)).body as Shown[];
    return { done: alarm.evaluable || undefined, seen: `${alarm.name} is ${alarm.state}` };
  });
  t.match(await untilAlarm('still', 'ActiveUnacknowledged'), { name: 'still-1', activatedAt: before.activatedAt, occurrences: 1 });
  t.equal((await plant.api.delete(`${SITE}/alarms/still-1`)).status, 409, 'ALARM-17');
  await plant.api.post(`${SITE}/alarms/still-1/acknowledge`);
  await untilAlarm('still', 'ActiveAcknowledged');
  t.equal((await plant.api.delete(`${SITE}/alarms/still-1`)).status, 204);
  t.match(await untilAlarm('still', 'ActiveUnacknowledged'), { name: 'still-2' }, 'Q-ALARM-06: the condition is still true');
});
