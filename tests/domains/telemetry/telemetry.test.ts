import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { MqttClient } from 'mqtt';
import t from 'tap';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { Alarm, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { publishStates } from '../../../src/domains/batches/reading/state-channel.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { publishTags } from '../../../src/domains/tags/tag-sources.js';
import { openTelemetry, type TelemetrySettings } from '../../../src/domains/telemetry/open.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { Telemetry, topicLevel } from '../../../src/domains/telemetry/telemetry.js';
import { MqttPublisher } from '../../../src/platform/mqtt/publisher.js';
import { ScriptedClock } from '../../platform/stream/scripted.js';
import { eventually } from '../../support/api-client.js';
import { HOT_ALARM, startPlant } from '../tags/plant.js';
import { ACCOUNT, Line, Mosquitto, Subscriber } from './mosquitto.js';
import { at } from '../../support/at.js';

const SETTINGS = { clientId: null, caFile: null, topicPrefix: 'lineside', sites: [], tagIntervalMs: 1000, tagRefreshMs: 60_000 } as const;

const { spec: SPEC, status: STATUS } = HOT_ALARM;

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
  publishTags({ hub, runtimes, catalog: new TagCatalog(store), store });
  publishAlarms({ hub, store, clock });
  publishStates({ hub, store });
  await open.start();
  t.teardown(async () => {
    line.cut(); // a test that failed half-way still ends
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
async function moving(clock: ScriptedClock, what: string, done: () => boolean): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (!done()) {
    if (performance.now() > endMs) throw new Error(`gave up after ${clock.monoMs()} ms of the plant waiting until ${what}`);
    clock.advance(100);
    for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function onlineOf(broker: Subscriber, device: string): boolean | undefined {
  return (broker.json(device) as { online: boolean } | null)?.online;
}

function stateOf(broker: Subscriber, alarm: string): string | undefined {
  return (broker.json(alarm) as { state: string } | null)?.state;
}

const HOT = 'lineside/north/alarms/hot-1';

t.test('EVT-17 (decisions Q-STREAM-17): alarm events are retained with their last word, and a deleted or forgotten alarm leaves a tombstone', async (t) => {
  const { clock, broker, alarm, remove } = await published(t);
  await alarm('hot-1');
  await broker.until('the alarm is told', () => broker.retained.has(HOT));
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
  await broker.until('its acknowledgement is told', () => stateOf(broker, HOT) === 'ActiveAcknowledged');
  await remove('hot-1');
  await broker.until('the deleted alarm is gone', () => !broker.retained.has(HOT));
  t.match(
    broker.arrived.findLast(({ topic }) => topic === HOT),
    { payload: '', qos: 1, retain: true },
    'deleted: a tombstone',
  );

  const now = new Date(clock.wallMs()).toISOString();
  await alarm('hot-2', { state: 'ClearedAcknowledged', acknowledgedAt: now, clearedAt: now });
  const second = 'lineside/north/alarms/hot-2';
  await broker.until('the resolved alarm is told', () => broker.retained.has(second));
  const resolvedAtMs = clock.monoMs();
  await moving(clock, 'the resolved alarm is forgotten', () => !broker.retained.has(second));
  t.ok(clock.monoMs() - resolvedAtMs >= 15 * 60_000, 'resolved for 15 minutes: forgotten');
});

t.test('EVT-17: a broker that was away gets the last word of every alarm, and the tombstones of those deleted meanwhile', async (t) => {
  const { broker, line, alarm, remove } = await published(t, { topicPrefix: 'away' });
  const [first, second, third] = ['away/north/alarms/hot-1', 'away/north/alarms/hot-2', 'away/north/alarms/hot-3'];
  await alarm('hot-1');
  await alarm('hot-2');
  await broker.until('both alarms are told', () => broker.retained.has(first) && broker.retained.has(second));
  line.cut();
  await broker.until('the last will is published', () => onlineOf(broker, 'away/_device/box-1') === false);
  const tries = line.tries;
  await eventually('the broker is tried again', async () => line.tries > tries + 1);
  await remove('hot-1');
  for (const occurrences of [2, 3]) await alarm('hot-2', { occurrences, state: 'ClearedUnacknowledged' });
  await alarm('hot-2', { state: 'ActiveAcknowledged' });
  await alarm('hot-3');
  t.ok(broker.retained.has(first));
  const arrived = broker.arrived.length;
  line.mend();
  await broker.until('the deleted is gone and the new is told', () => !broker.retained.has(first) && broker.retained.has(third));
  await broker.until('the last word of the second is told', () => stateOf(broker, second) === 'ActiveAcknowledged');
  const words = broker.arrived.slice(arrived).filter(({ topic }) => topic === second);
  t.notOk(
    words.some(({ payload }) => payload.includes('ClearedUnacknowledged')),
    'of what a topic was meanwhile only the newest is sent',
  );
  await broker.until('the device is online', () => onlineOf(broker, 'away/_device/box-1') === true);
});

t.test('Q-STREAM-17: tags on change and at their refresh, at most once per interval; states; the device with its will', async (t) => {
  const { clock, plant, broker, line, open } = await published(t, { clientId: 'line-7', tagRefreshMs: 8000, topicPrefix: 'plant/line-7' });
  const device = 'plant/line-7/_device/box-1';
  await broker.until('the device is online', () => onlineOf(broker, device) === true);
  t.match(broker.json(device), { online: true, ts: /Z$/ });
  const setpoint = 'plant/line-7/north/tags/rx101/v101.sp';
  const told = () => broker.arrived.filter(({ topic }) => topic === setpoint).length;
  await moving(clock, 'the tag is told', () => told() > 0);
  t.same(broker.json(setpoint), { site: 'north', unit: 'rx101', address: 'v101.sp', value: 20, quality: 'Good', ts: '2026-01-31T00:00:00.000Z' });
  t.match(
    broker.arrived.find(({ topic }) => topic === setpoint),
    { qos: 0, retain: true },
  );
  for (const value of [21, 22, 23]) {
    plant.link.set('v101.sp', value);
    clock.advance(300);
  }
  await moving(clock, 'the last value is told', () => (broker.json(setpoint) as { value: number }).value === 23);
  const passing = broker.arrived.filter(({ topic, payload }) => topic === setpoint && /"value":2[12]\b/.test(payload));
  t.ok(passing.length <= 1, 'three changes within a second are not three messages of their own');
  const before = told();
  await moving(clock, 'the tag is told again', () => told() > before);
  t.pass('a tag that does not change is told again after the refresh');
  await broker.until('the states of both units are told', () => ['rx101', 'away'].every((unit) => broker.retained.has(`plant/line-7/north/states/Unit/${unit}`)));
  t.match(broker.json('plant/line-7/north/states/Unit/rx101'), { type: 'state', kind: 'Unit', name: 'rx101' });
  t.notOk(Object.hasOwn(broker.json('plant/line-7/north/states/Unit/rx101') as object, 'seq'));
  await plant.store.write({ removes: [{ kind: 'Unit', site: 'north', name: 'away' }] });
  await broker.until('the state of the removed unit is gone', () => !broker.retained.has('plant/line-7/north/states/Unit/away'));
  t.ok(plant.store.get(Unit, 'north', 'rx101'));

  line.cut();
  await broker.until('the last will is published', () => onlineOf(broker, device) === false);
  t.match(
    broker.arrived.findLast(({ topic }) => topic === device),
    { payload: '{"online":false}', retain: true },
    'the last will is retained',
  );
  line.mend();
  await broker.until('the device is online again', () => onlineOf(broker, device) === true);
  await open.stop();
  await broker.until('the device has said goodbye', () => onlineOf(broker, device) === false);
});

t.test('Q-STREAM-17: a name is one topic level, and only the sites asked for are published', async (t) => {
  t.equal(topicLevel('io-1:4x00001/2'), 'io-1:4x00001%2F2');
  t.equal(topicLevel('a+b#c%d'), 'a%2Bb%23c%25d');
  const { clock, broker, alarm, open } = await published(t, { sites: ['south'], topicPrefix: 'south-only' });
  await broker.until('the device is online', () => onlineOf(broker, 'south-only/_device/box-1') === true);
  await alarm('hot-1');
  clock.advance(5000);
  await alarm('hot-2');
  await open.stop(); // what was to be sent has been sent
  await broker.until('the device has said goodbye', () => onlineOf(broker, 'south-only/_device/box-1') === false);
  t.same(
    [...broker.retained.keys()].filter((topic) => topic.startsWith('south-only/')),
    ['south-only/_device/box-1'],
  );
});

t.test('Q-STREAM-17: a broker that refuses is tried again', async (t) => {
  const passwordFile = path.join(mosquitto.folder, 'of-the-late');
  writeFileSync(passwordFile, 'not yet');
  const { broker, line } = await published(t, { topicPrefix: 'late', username: 'late', passwordFile });
  await eventually('it was refused and tried again', async () => line.tries > 2);
  t.notOk(broker.retained.has('late/_device/box-1'));
  mosquitto.addAccount('late', 'not yet');
  await broker.until('the device is online', () => onlineOf(broker, 'late/_device/box-1') === true);
});

/** The publisher alone, which tells nothing anew after a connect: what arrives is what it kept. */
async function publisherOf(t: { teardown(call: () => unknown): void }, prefix: string, connected: () => void = () => undefined) {
  const clock = new ScriptedClock();
  const broker = await Subscriber.open(mosquitto);
  const line = new Line(mosquitto);
  let connects = 0;
  const publisher = new MqttPublisher({
    url: `mqtt://127.0.0.1:${await line.open()}`,
    clientId: prefix,
    ...ACCOUNT,
    ca: undefined,
    will: { topic: `${prefix}/will`, payload: 'gone', qos: 1 },
    clock,
    log: pino({ level: 'silent' }),
    retryMs: 20,
    onConnected: () => {
      connects += 1;
      connected();
    },
  });
  t.teardown(async () => {
    line.cut();
    await publisher.stop();
    await line.close();
    await broker.close();
  });
  await publisher.start();
  await eventually('it is connected', async () => connects === 1);
  const cutAndMend = async (): Promise<void> => {
    line.cut();
    await eventually('it is gone', async () => !publisher.connected);
    line.mend();
  };
  return { clock, broker, line, publisher, cutAndMend };
}

t.test('Q-STREAM-17: what was under way when the line was cut is sent again, the newest of a topic last', async (t) => {
  const { broker, line, publisher, cutAndMend } = await publisherOf(t, 'under-way');
  publisher.set('under-way/deleted', 'old', 1);
  await broker.until('the old word is told', () => broker.retained.get('under-way/deleted') === 'old');
  line.mute();
  const topics = Array.from({ length: 100 }, (_, index) => `under-way/${index}`);
  publisher.set('under-way/deleted', '', 1);
  for (const topic of topics) publisher.set(topic, 'first', 1);
  publisher.set(at(topics, 3), 'second', 1);
  publisher.set(at(topics, 80), 'second', 1);
  await cutAndMend();
  publisher.set(at(topics, 5), 'third', 1);
  const wanted = topics.map((_, index) => (index === 5 ? 'third' : index === 3 || index === 80 ? 'second' : 'first'));
  await broker.until('all has arrived', () => !broker.retained.has('under-way/deleted') && topics.every((topic, index) => broker.retained.get(topic) === wanted[index]));
  const words = (index: number) => broker.arrived.filter(({ topic }) => topic === topics[index]).map(({ payload }) => payload);
  t.same([words(3), words(5), words(80)], [['first', 'second'], ['first', 'third'], ['second']], 'sent again in order; what only waited is superseded');

  line.mute();
  publisher.set('under-way/twice', 'kept', 1);
  await cutAndMend();
  await eventually('it is tried again', async () => publisher.connected);
  await broker.until('it outlives a second cut', () => broker.retained.get('under-way/twice') === 'kept');
});

t.test('Q-STREAM-17: a message set while what was under way is sent again outlives a second cut', async (t) => {
  const { broker, line, publisher, cutAndMend } = await publisherOf(t, 'again');
  line.mute();
  publisher.set('again/first', 'kept', 1);
  line.cut();
  await eventually('it is gone', async () => !publisher.connected);
  const { swallowed } = line;
  line.greet();
  await eventually('the first is sent again', async () => line.swallowed > swallowed);
  publisher.set('again/second', 'kept', 1);
  publisher.set('again/first', 'newer', 1);
  await cutAndMend();
  await broker.until('both arrive', () => broker.retained.get('again/first') === 'newer' && broker.retained.get('again/second') === 'kept');
  const words = broker.arrived.filter(({ topic }) => topic === 'again/first').map(({ payload }) => payload);
  t.same(words, ['kept', 'newer']);
});

t.test('Q-STREAM-17: a line that is cut while its buffers are full costs no later message', async (t) => {
  const { broker, line, publisher, cutAndMend } = await publisherOf(t, 'full');
  line.stick();
  const large = 'x'.repeat(256 * 1024);
  for (let index = 0; index < 80; index += 1) publisher.set(`full/${index}`, large, 0);
  await cutAndMend();
  publisher.set('full/later', 'arrives', 1);
  await broker.until('a later message arrives', () => broker.retained.get('full/later') === 'arrives');
});

t.test('Q-STREAM-17: it stops whether the broker answers, says nothing or is away', async (t) => {
  const answering = await publisherOf(t, 'answers');
  for (let index = 0; index < 200; index += 1) answering.publisher.set(`answers/${index}`, 'said', 1);
  await answering.publisher.stop();
  await answering.broker.until('all was said', () => answering.broker.retained.get('answers/199') === 'said');
  t.equal(answering.clock.monoMs(), 0, 'no clock was needed');
  t.equal(answering.broker.arrived.filter(({ payload }) => payload === 'said').length, 200, 'all of it before the goodbye');

  const silent = await publisherOf(t, 'silent');
  silent.line.mute();
  silent.publisher.set('silent/word', 'lost', 1);
  const stopped = silent.publisher.stop();
  silent.clock.advance(2000);
  await stopped;
  silent.line.cut();
  await silent.broker.until('the last will says that it went', () => silent.broker.retained.get('silent/will') === 'gone');

  const idle = await publisherOf(t, 'idle');
  idle.line.mute();
  const ended = idle.publisher.stop(); // nothing is under way: only the goodbye is not heard
  await new Promise<void>((resolve) => setImmediate(resolve));
  idle.clock.advance(2000);
  await ended;
  idle.line.cut();
  await idle.broker.until('the last will says that it went', () => idle.broker.retained.get('idle/will') === 'gone');

  const alone = await publisherOf(t, 'alone');
  alone.line.cut();
  await eventually('it is gone', async () => !alone.publisher.connected);
  alone.publisher.set('alone/word', 'kept', 1);
  await alone.publisher.stop();
  t.equal(alone.clock.monoMs(), 0, 'a broker that is away is not waited for');
});

t.test('F4: what the telemetry or the library throws is told, and the publisher goes on with the topics behind it', async (t) => {
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const fail = (): never => {
    throw new Error('not today');
  };
  const { broker, publisher, cutAndMend } = await publisherOf(t, 'throws', fail);
  t.same(told, ['telemetry: connected: not today']);
  const { publish } = MqttClient.prototype;
  MqttClient.prototype.publish = () => {
    MqttClient.prototype.publish = publish;
    return fail();
  };
  publisher.set('throws/first', '1', 1);
  publisher.set('throws/second', '2', 1);
  await broker.until('the topic behind it is told', () => broker.retained.get('throws/second') === '2');
  t.same(told, ['telemetry: connected: not today', 'telemetry: publish: not today']);
  publisher.set('throws/first', 'again', 1);
  await broker.until('so is what the topic is next', () => broker.retained.get('throws/first') === 'again');
  await cutAndMend();
  await eventually('it is connected again', async () => publisher.connected);
  publisher.set('throws/third', '3', 1);
  await broker.until('it goes on behind a connect', () => broker.retained.get('throws/third') === '3');
});

t.test('F4: a unit whose tags throw keeps no other unit from the broker', async (t) => {
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const sent: string[] = [];
  const clock = new ScriptedClock();
  const publisher = { connected: true, set: (topic: string) => void sent.push(topic) };
  const telemetry = new Telemetry({ publisher, clock, sites: [], prefix: 'p', tagIntervalMs: 1000, tagRefreshMs: 60_000 } as unknown as ConstructorParameters<typeof Telemetry>[0]);
  const source = { site: 'north', addresses: ['a'], refresh: () => undefined, valueJson: () => '1', qualityWord: () => 'Good', timestampMs: () => 0 };
  const fail = (): never => {
    throw new Error('not this one');
  };
  telemetry.placeTags({ ...source, unit: 'odd', refresh: fail });
  telemetry.placeTags({ ...source, unit: 'rx1' });
  telemetry.start();
  t.teardown(() => telemetry.stop());
  clock.advance(1000);
  t.same(sent, ['p/north/tags/rx1/a']);
  t.match(new Set(told), new Set(['telemetry: tags: not this one']));
});
