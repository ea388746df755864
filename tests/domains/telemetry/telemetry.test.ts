import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { Alarm, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { publishStates } from '../../../src/domains/batches/state-channel.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { TagCatalogue } from '../../../src/domains/tags/catalogue.js';
import { publishTags } from '../../../src/domains/tags/tag-sources.js';
import { openTelemetry, type TelemetrySettings } from '../../../src/domains/telemetry/open.js';
import { topicLevel } from '../../../src/domains/telemetry/telemetry.js';
import { ScriptedClock } from '../../platform/stream/scripted.js';
import { eventually } from '../../support/api-client.js';
import { startPlant } from '../tags/plant.js';
import { ACCOUNT, Line, Mosquitto, Subscriber } from './mosquitto.js';

const SETTINGS = { clientId: null, caFile: null, topicPrefix: 'lineside', sites: [], tagIntervalMs: 1000, tagRefreshMs: 60_000 } as const;

const STATUS: AlarmStatus = {
  state: 'ActiveUnacknowledged',
  unit: 'rx101',
  value: '81',
  priority: 500,
  occurrences: 1,
  activatedAt: '',
  clearedAt: '',
  acknowledgedAt: '',
  acknowledgedBy: '',
  shelvedUntil: '',
  shelvedBy: '',
  origin: 'definition',
};
const SPEC = {
  source: 'ControlModule/v101',
  type: 'Process',
  severity: 'High',
  message: 'too hot',
  definitionRef: '',
  conditionType: 'TagHigh',
  setpoint: '80',
  value: '81',
} as const;

const mosquitto = new Mosquitto();
t.before(() => mosquitto.start());
t.teardown(() => mosquitto.stop());

/** A plant that publishes over a line of its own, under a prefix of its own. */
async function published(t: { readonly name: string; teardown(call: () => unknown): void }, more: Partial<TelemetrySettings> = {}) {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock });
  const broker = await Subscriber.open(mosquitto);
  const line = new Line(mosquitto);
  const passwordFile = path.join(mosquitto.folder, 'of-the-box');
  writeFileSync(passwordFile, `${ACCOUNT.password}\n`);
  const { store, runtimes } = plant;
  const settings = { ...SETTINGS, username: ACCOUNT.username, passwordFile, url: `mqtt://127.0.0.1:${await line.open()}`, ...more };
  const open = openTelemetry(settings, { store, clock, log: pino({ level: 'silent' }), deviceId: 'box-1', retryMs: 20 });
  const hub = open.telemetry;
  publishTags({ hub, runtimes, catalogue: new TagCatalogue(store), store });
  publishAlarms({ hub, store, clock });
  publishStates({ hub, store });
  await open.start();
  t.teardown(async () => {
    await open.stop();
    await line.close();
    await broker.close();
    await plant.stop();
  });
  const alarm = (name: string, status: Partial<AlarmStatus> = {}) => store.write({ puts: [{ kind: Alarm, site: 'north', name, spec: SPEC, status: { ...STATUS, ...status } }] });
  const remove = (name: string) => store.write({ removes: [{ kind: 'Alarm', site: 'north', name }] });
  return { clock, plant, broker, line, open, alarm, remove };
}

/** Moves the clock in small steps with room for the wire between them, so that no answer is late by the clock alone. */
async function moving(clock: ScriptedClock, done: () => boolean): Promise<void> {
  while (!done()) {
    clock.advance(100);
    for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const HOT = 'lineside/north/alarms/hot-1';

t.test('EVT-17 (decisions Q-STREAM-17): alarm events are retained with their last word, and a deleted or forgotten alarm leaves a tombstone', async (t) => {
  const { clock, broker, alarm, remove } = await published(t);
  await alarm('hot-1');
  await broker.until(() => broker.retained.has(HOT));
  t.match(broker.json(HOT), {
    site: 'north',
    name: 'hot-1',
    source: 'ControlModule/v101',
    type: 'Process',
    severity: 'High',
    state: 'ActiveUnacknowledged',
    message: 'too hot',
    shelved: false,
    shelvedUntil: '',
    ts: /Z$/,
  });
  t.match(
    broker.arrived.find(({ topic }) => topic === HOT),
    { qos: 1, retain: true },
  );
  await alarm('hot-1', { state: 'ActiveAcknowledged' });
  await broker.until(() => (broker.json(HOT) as { state: string }).state === 'ActiveAcknowledged');
  await remove('hot-1');
  await broker.until(() => !broker.retained.has(HOT));
  t.match(broker.arrived.at(-1), { topic: HOT, payload: '', qos: 1, retain: true }, 'deleted: a tombstone');

  const now = new Date(clock.wallMs()).toISOString();
  await alarm('hot-2', { state: 'ClearedAcknowledged', acknowledgedAt: now, clearedAt: now });
  const second = 'lineside/north/alarms/hot-2';
  await broker.until(() => broker.retained.has(second));
  const resolvedAtMs = clock.monoMs();
  await moving(clock, () => !broker.retained.has(second));
  t.ok(clock.monoMs() - resolvedAtMs >= 15 * 60_000, 'resolved for 15 minutes: forgotten');
});

t.test('EVT-17: a broker that was away gets the last word of every alarm, and the tombstones of those deleted meanwhile', async (t) => {
  const { broker, line, alarm, remove } = await published(t, { topicPrefix: 'away' });
  const [first, second, third] = ['away/north/alarms/hot-1', 'away/north/alarms/hot-2', 'away/north/alarms/hot-3'];
  await alarm('hot-1');
  await alarm('hot-2');
  await broker.until(() => broker.retained.has(first) && broker.retained.has(second));
  line.cut();
  await broker.until(() => (broker.json('away/_device/box-1') as { online: boolean } | null)?.online === false);
  const tries = line.tries;
  await eventually('the broker is tried again', async () => line.tries > tries + 1);
  await remove('hot-1');
  for (const occurrences of [2, 3]) await alarm('hot-2', { occurrences, state: 'ClearedUnacknowledged' });
  await alarm('hot-2', { state: 'ActiveAcknowledged' });
  await alarm('hot-3');
  t.ok(broker.retained.has(first));
  const arrived = broker.arrived.length;
  line.mend();
  await broker.until(() => !broker.retained.has(first) && broker.retained.has(third));
  await broker.until(() => (broker.json(second) as { state: string }).state === 'ActiveAcknowledged');
  const words = broker.arrived.slice(arrived).filter(({ topic }) => topic === second);
  t.notOk(
    words.some(({ payload }) => payload.includes('ClearedUnacknowledged')),
    'of what a topic was meanwhile only the newest is sent',
  );
  await broker.until(() => (broker.json('away/_device/box-1') as { online: boolean }).online);
});

t.test('Q-STREAM-17: tags on change and at their refresh, at most once per interval; states; the device with its will', async (t) => {
  const { clock, plant, broker, line, open } = await published(t, { clientId: 'line-7', tagRefreshMs: 8000, topicPrefix: 'plant/line-7' });
  const device = 'plant/line-7/_device/box-1';
  await broker.until(() => broker.retained.has(device));
  t.match(broker.json(device), { online: true, ts: /Z$/ });
  const setpoint = 'plant/line-7/north/tags/rx101/v101.sp';
  const told = () => broker.arrived.filter(({ topic }) => topic === setpoint).length;
  await moving(clock, () => told() === 1);
  t.same(broker.json(setpoint), { site: 'north', unit: 'rx101', address: 'v101.sp', value: 20, quality: 'Good', ts: '2026-01-31T00:00:00.000Z' });
  t.match(
    broker.arrived.find(({ topic }) => topic === setpoint),
    { qos: 0, retain: true },
  );
  for (const value of [21, 22, 23]) {
    plant.link.set('v101.sp', value);
    clock.advance(300);
  }
  await moving(clock, () => (broker.json(setpoint) as { value: number }).value === 23);
  const passing = broker.arrived.filter(({ topic, payload }) => topic === setpoint && /"value":2[12]\b/.test(payload));
  t.ok(passing.length <= 1, 'three changes within a second are not three messages of their own');
  const before = told();
  await moving(clock, () => told() > before);
  t.pass('a tag that does not change is told again after the refresh');
  t.match(broker.json('plant/line-7/north/states/Unit/rx101'), { type: 'state', kind: 'Unit', name: 'rx101' });
  t.notOk(Object.hasOwn(broker.json('plant/line-7/north/states/Unit/rx101') as object, 'seq'));
  await plant.store.write({ removes: [{ kind: 'Unit', site: 'north', name: 'away' }] });
  await broker.until(() => !broker.retained.has('plant/line-7/north/states/Unit/away'));
  t.ok(plant.store.get(Unit, 'north', 'rx101'));

  line.cut();
  await broker.until(() => broker.retained.get(device) === '{"online":false}');
  t.ok(broker.arrived.at(-1)?.retain, 'the last will is retained');
  line.mend();
  await broker.until(() => (broker.json(device) as { online: boolean }).online);
  await open.stop();
  await broker.until(() => broker.retained.get(device) === '{"online":false}');
});

t.test('Q-STREAM-17: a name is one topic level, and only the sites asked for are published', async (t) => {
  t.equal(topicLevel('io-1:4x00001/2'), 'io-1:4x00001%2F2');
  t.equal(topicLevel('a+b#c%d'), 'a%2Bb%23c%25d');
  const { clock, broker, alarm, open } = await published(t, { sites: ['south'], topicPrefix: 'south-only' });
  await broker.until(() => broker.retained.has('south-only/_device/box-1'));
  await alarm('hot-1');
  clock.advance(5000);
  await alarm('hot-2');
  await open.stop(); // what was to be sent has been sent
  await broker.until(() => broker.retained.get('south-only/_device/box-1') === '{"online":false}');
  t.same(
    [...broker.retained.keys()].filter((topic) => topic.startsWith('south-only/')),
    ['south-only/_device/box-1'],
  );
});

t.test('Q-STREAM-17: a broker that refuses is tried again', async (t) => {
  const passwordFile = path.join(mosquitto.folder, 'late');
  writeFileSync(passwordFile, 'not yet');
  const { broker, line } = await published(t, { topicPrefix: 'late', passwordFile });
  await eventually('it was refused and tried again', async () => line.tries > 2);
  t.notOk(broker.retained.has('late/_device/box-1'));
  mosquitto.setPassword('not yet');
  await broker.until(() => broker.retained.has('late/_device/box-1'));
  t.match(broker.json('late/_device/box-1'), { online: true });
  mosquitto.setPassword(ACCOUNT.password);
});
