import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { SystemAlarmReconciler } from '../../../src/domains/alarms/system-alarm-reconciler.js';
import { Alarm, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { publishStates } from '../../../src/domains/batches/reading/state-channel.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { alarmRecorder, stateRecorder } from '../../../src/domains/historian/sampling.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { Telemetry } from '../../../src/domains/telemetry/telemetry.js';
import type { HistoryEvent } from '../../../src/platform/history/words.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { Ledger } from '../../../src/platform/ledger/protocol.js';
import { type Applied, type Put, Store } from '../../../src/platform/store/store.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import { SocketClient } from '../../platform/stream/clients.js';
import { everywhere, person, type Received, ScriptedClock, ScriptedSessions, ScriptedWire } from '../../platform/stream/scripted.js';
import { HOT_ALARM, type Plant, startPlant } from './plant.js';
import { at } from '../../support/at.js';
import { QUIET_FACTS } from '../../support/quiet-facts.js';

async function subscribed(t: { teardown(call: () => unknown): void }, plant: Plant, channel: string): Promise<{ client: SocketClient; snapshot: Received[] }> {
  const client = await SocketClient.open(plant.url);
  t.teardown(() => client.close());
  await client.ask({ type: 'subscribe', id: 'x', channel });
  client.send({ type: 'unsubscribe', id: 'none' }); // its answer comes behind the snapshot
  const snapshot: Received[] = [];
  for (let frame = await client.next(); frame.type !== 'error'; frame = await client.next()) snapshot.push(frame);
  return { client, snapshot };
}

t.test('HEALTH-01 HEALTH-02 EVT-04 STREAM-09: module health follows the reports of the runtime, one frame per change', async (t) => {
  const plant = await startPlant({ clock: new ScriptedClock() });
  t.teardown(() => plant.stop());
  await plant.store.recorded;
  const { client, snapshot } = await subscribed(t, plant, 'cmhealth');
  t.match(snapshot.map(({ name, state }) => [name, state]).sort(), [
    ['v101', 'Running'],
    ['v102', 'Running'],
    ['v900', 'Unknown'],
  ]);
  t.match(snapshot[0], { type: 'cmhealth', site: 'north', kind: 'ControlModule', replay: true, ts: /Z$/ });
  t.equal(snapshot[0].message, undefined);
  plant.runtimes.say({
    type: 'plan-loaded',
    revision: 1,
    networks: [
      { network: 'v101', state: 'Running', message: '', faultedBlocks: [] },
      { network: 'v102', state: 'Running', message: '', faultedBlocks: [] },
    ],
  });
  plant.runtimes.say({ type: 'network', network: 'v101', state: 'Error', message: 'block pid has no type', faultedBlocks: [] });
  t.match(await client.next(), { type: 'cmhealth', name: 'v101', state: 'CompileError', message: 'block pid has no type' });
  plant.runtimes.say({ type: 'network', network: 'v101', state: 'Degraded', message: 'block ai is faulted', faultedBlocks: ['ai'] });
  t.match(await client.next(), { name: 'v101', state: 'Running' });
  plant.runtimes.tell('down');
  t.match(await client.take(3), [{ type: 'broker-status' }, { name: 'v101', state: 'Down' }, { name: 'v102', state: 'Down' }]);
  t.equal(plant.healths.of('north', 'v101').state, 'Down');
});

t.test('EVT-02 EVT-09 EVT-10 STREAM-08 EVT-16: alarms are announced per transition, after their record, and forgotten in time', async (t) => {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock });
  t.teardown(() => plant.stop());
  const { spec, status } = HOT_ALARM;
  const set = (more: Partial<AlarmStatus>) => plant.store.apply({ puts: [{ kind: Alarm, site: 'north', name: 'hot-1', spec, status: { ...status, ...more } }] });
  const { client } = await subscribed(t, plant, 'alarms');
  const raised = set({});
  const first = client.next();
  let durable = false;
  void raised.durable.then(() => (durable = true));
  t.match(await first, { type: 'alarm', site: 'north', name: 'hot-1', severity: 'High', state: 'ActiveUnacknowledged', message: 'too hot', shelved: false, shelvedUntil: '' });
  t.ok(durable, 'the frame came after its change was on disk');
  set({ value: '83' });
  const until = new Date(clock.wallMs() + 60_000).toISOString();
  set({ state: 'ActiveAcknowledged', shelvedUntil: until });
  t.match(await client.next(), { state: 'ActiveAcknowledged', shelved: true, shelvedUntil: until }, 'a new value alone is no transition');
  const now = new Date(clock.wallMs()).toISOString();
  set({ state: 'ClearedAcknowledged', acknowledgedAt: now, clearedAt: now });
  t.match(await client.next(), { state: 'ClearedAcknowledged' });
  clock.advance(14 * 60_000);
  t.equal((await subscribed(t, plant, 'alarms')).snapshot.length, 1);
  clock.advance(60_000);
  t.equal((await subscribed(t, plant, 'alarms')).snapshot.length, 0);
  await set({}).durable;
  t.equal((await subscribed(t, plant, 'alarms')).snapshot.length, 1);
  await plant.store.write({ removes: [{ kind: 'Alarm', site: 'north', name: 'hot-1' }] });
  t.equal((await subscribed(t, plant, 'alarms')).snapshot.length, 0);
});

t.test('TAG-15 TAG-16: descriptors follow the engineering: a new tag appears, a removed module goes', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const module = plant.store.get(ControlModule, 'north', 'v101');
  await plant.store.write({
    puts: [{ kind: ControlModule, site: 'north', name: 'v101', spec: { ...module!.spec, tags: [{ name: 'extra', dataType: 'Float' }] } }],
    removes: [{ kind: 'ControlModule', site: 'north', name: 'v102' }],
  });
  const { body } = await plant.request('GET', '/api/v1/sites/north/tags/browse?unit=rx101');
  t.match(
    body.find(({ name }: { name: string }) => name === 'extra'),
    { address: 'v101.extra', value: null, quality: 'Uncertain' },
  );
  t.notOk(body.some(({ controlModule }: { controlModule: string }) => controlModule === 'v102'));
});

t.test('EVT-02 EVT-04 HEALTH-02: while the storage refuses changes its alarm and the health of modules still reach the panels', async (t) => {
  const clock = new ScriptedClock();
  const disk = { full: false };
  const plant = await startPlant({
    clock,
    beforeCommit: async () => {
      if (disk.full) throw new Error('the disk is full');
    },
  });
  t.teardown(() => plant.stop());
  await plant.store.recorded;
  const { store, hub } = plant;
  const reconciler = new SystemAlarmReconciler({
    store,
    clock,
    register: new AlarmRegister({ store, clock }),
    facts: QUIET_FACTS,
  });
  publishAlarms({ hub, store, clock });
  const alarms = await subscribed(t, plant, 'alarms');
  const health = await subscribed(t, plant, 'cmhealth');
  disk.full = true;
  await t.rejects(store.write({ audits: [] }), { name: 'Refusal' });
  t.match(await alarms.client.next(), {
    type: 'alarm',
    name: 'system-storage-1',
    site: 'north',
    severity: 'High',
    state: 'ActiveUnacknowledged',
    message: /^the storage refuses changes since/,
  });
  plant.runtimes.tell('down');
  t.match(await health.client.take(3), [{ type: 'broker-status' }, { name: 'v101', state: 'Down' }, { name: 'v102', state: 'Down' }]);
  const late = await subscribed(t, plant, 'alarms');
  t.match(
    late.snapshot.filter(({ type }) => type === 'alarm'),
    [{ name: 'system-storage-1', site: 'north', replay: true }, { site: 'south' }],
  );

  disk.full = false;
  const accepts = new Promise<void>((resolve) => store.watchReload(resolve));
  clock.advance(2000);
  await accepts;
  reconciler.reconcile({ site: 'north', name: 'storage/ledger' });
  const told = [];
  for (let frame = await alarms.client.next(); told.push(frame) && frame.state !== 'ClearedUnacknowledged'; frame = await alarms.client.next());
  t.match(told.at(-1), { name: 'system-storage-1', site: 'north', state: 'ClearedUnacknowledged', message: /^the storage refused changes from/ });
});

t.test('EVT-08 STREAM-07: a scan thread stopped within its publication leaves the tags as they were, not Uncertain', async (t) => {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock });
  t.teardown(() => plant.stop());
  plant.hub.start();
  const client = await SocketClient.open(plant.url);
  t.teardown(() => client.close());
  client.send({ type: 'subscribe', id: 'x', channel: 'tags', filter: { addressPattern: 'v101.sp' } });
  t.match(await client.take(2), [{ type: 'subscribed' }, { value: 20, quality: 'Good' }]);
  const whole = plant.link.refresh;
  plant.link.refresh = () => false;
  clock.advance(200);
  t.match(await client.next(), { value: 20, quality: 'Good' });
  plant.link.refresh = whole;
  plant.link.set('v101.sp', 21);
  clock.advance(200);
  t.match(await client.next(), { value: 21, quality: 'Good' });
});

t.test('EVT-03 (decisions Q-STREAM-01): one frame for each change of state or mode, with the state before; an ended batch is told and forgotten', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  publishStates({ hub: plant.hub, store: plant.store });
  await plant.store.recorded;
  const { client, snapshot } = await subscribed(t, plant, 'states');
  t.match(snapshot.map(({ kind, name }) => `${kind}/${name}`).sort(), ['Unit/away', 'Unit/rx101']);
  const unit = plant.store.get(Unit, 'north', 'rx101');
  const set = (more: object) => plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'rx101', status: { ...unit?.status, ...more } as never }] });
  await set({ state: 'Running' });
  t.match(await client.next(), { type: 'state', site: 'north', kind: 'Unit', name: 'rx101', unit: 'rx101', state: 'Running', ts: /Z$/ });
  await set({ state: 'Running', allocatedTo: 'b-1' });
  await set({ state: 'Held', allocatedTo: 'b-1' });
  const held = await client.next();
  t.match(held, { state: 'Held', previousState: 'Running', batchRef: 'b-1' }, 'an allocation alone is no transition');
  t.equal((await subscribed(t, plant, 'states')).snapshot.find(({ name }) => name === 'rx101')?.state, 'Held');
});

/**
 * A store over the real ledger, and a client of its states and alarms. `refuse` spends the number of the next fact, so that
 * the ledger refuses the next change that has one, as it refuses every change on a full disk.
 */
async function refusable(t: { teardown(call: () => unknown): void }) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-untold-'));
  const disk = await openLedger(dir);
  t.teardown(async () => {
    await disk.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const reads = { refused: 0 };
  const ledger: Ledger = {
    load: async (windowMs) => {
      if (reads.refused > 0 && reads.refused--) throw new Error('the disk cannot be read');
      return disk.load(windowMs);
    },
    commit: (transaction) => disk.commit(transaction),
    probe: () => disk.probe(),
    close: () => disk.close(),
  };
  const clock = new ScriptedClock();
  const store = new Store(ledger, clock);
  await store.open(0);
  const states = ['u1', 'u2', 'u3'].map((name): Put => unit(name, 'Idle'));
  await store.write({ puts: [...states, { kind: Alarm, site: 'north', name: 'hot-1', ...HOT_ALARM }] });
  const hub = new Hub({ clock, sessions: new ScriptedSessions(), places: everywhere, recorded: () => store.recorded });
  publishStates({ hub, store });
  publishAlarms({ hub, store, clock });
  await store.recorded;
  const open = async (channel: 'states' | 'alarms'): Promise<ScriptedWire> => {
    const wire = new ScriptedWire();
    hub.open('websocket', wire, '10.0.0.1', person(), () => undefined).subscribe('x', channel, {});
    return wire;
  };
  const reloaded = (): Promise<void> => new Promise((resolve) => store.watchReload(resolve));
  let facts = 0;
  return {
    store,
    clock,
    reads,
    open,
    /** What is given is changed in one turn, each change by itself; the last of the turn is refused. */
    async refuse(...changes: readonly Parameters<Store['apply']>[0][]): Promise<PromiseSettledResult<void>[]> {
      facts += 1;
      await disk.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes', sequence: facts, body: {} }], nonces: [] });
      const durable = changes.map((change) => store.apply(change).durable);
      const settled = await Promise.allSettled([...durable, store.apply({ facts: [{ stream: 'notes', body: () => ({}) }] }).durable]);
      await told();
      return settled;
    },
    async accept(): Promise<void> {
      const again = reloaded();
      clock.advance(60_000);
      await again;
      await told();
    },
  };
}

const told = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function unit(name: string, state: string): Put {
  return { kind: Unit, site: 'north', name, spec: {}, status: { state, mode: 'Automatic' } } as unknown as Put;
}

const shown = (frames: readonly Received[]): unknown[] => frames.filter(({ type }) => type === 'state').map(({ name, previousState, state }) => [name, previousState, state]);

t.test('EVT-03 G4: a state that is on disk is told though its frame was dropped with a refused change of the same turn; one that is not, is told to be over', async (t) => {
  const { store, open, refuse, accept } = await refusable(t);
  const wire = await open('states');
  t.same(shown(wire.take()).sort(), [
    ['u1', '', 'Idle'],
    ['u2', '', 'Idle'],
    ['u3', '', 'Idle'],
  ]);
  const settled = await refuse(
    { puts: [unit('u1', 'Running')] },
    { puts: [unit('u1', 'Held')] },
    { removes: [{ kind: 'Unit', site: 'north', name: 'u3' }] },
    { puts: [unit('u2', 'Running')], facts: [{ stream: 'notes', body: () => ({}) }] },
  );
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  t.equal(store.accepting, false);
  const frames = wire.take();
  t.same(
    shown(frames),
    [
      ['u1', 'Idle', 'Held'],
      ['u2', 'Running', 'Idle'],
    ],
    'at once, with the state that the client has; what was taken back is told to be so, for who has read it meanwhile',
  );
  const numbers = frames.map(({ seq }) => seq as number);
  const late = await open('states');
  t.same(shown(late.take()).sort(), [
    ['u1', 'Idle', 'Held'],
    ['u2', 'Running', 'Idle'],
  ]);
  await accept();
  t.equal(store.accepting, true);
  t.same(shown(wire.take()), [], 'what was told is not told twice');
  await store.write({ puts: [unit('u2', 'Running')] });
  await told();
  const after = wire.take();
  t.same(shown(after), [['u2', 'Idle', 'Running']]);
  numbers.push(...after.map(({ seq }) => seq as number));
  t.same(
    numbers,
    numbers.map((_, n) => at(numbers, 0) + n),
    'no number is missing',
  );
});

t.test('EVT-03 G4: where the disk cannot even be read, the states are told when it can; a state that came and went a thousand times is told once', async (t) => {
  const { open, refuse, accept, reads } = await refusable(t);
  const wire = await open('states');
  wire.take();
  reads.refused = 1;
  await refuse(...Array.from({ length: 1000 }, (_, n) => ({ puts: [unit('u1', n % 2 === 0 ? 'Running' : 'Held')] })));
  t.same(shown(wire.take()), [], 'nobody knows what is true');
  await accept();
  t.same(shown(wire.take()), [['u1', 'Idle', 'Held']]);
  await refuse({ puts: [unit('u1', 'Running')] }, { puts: [unit('u1', 'Held')] });
  t.same(shown(wire.take()), [['u1', 'Running', 'Held']], 'once, though it changed twice');
  await accept();
  await refuse({ puts: [unit('u1', 'Complete')] });
  t.same(shown(wire.take()), [['u1', 'Held', 'Complete']]);
});

t.test('what the recorder of states and alarms throws is told, and ends neither the process nor the change', async (t) => {
  const { store, clock } = await refusable(t);
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const fail = (): never => {
    throw new Error('no place for it');
  };
  const register = new AlarmRegister({ store, clock, record: fail });
  publishStates({ hub: { publish: () => undefined }, store, listener: stateRecorder({ recordState: fail }, store, clock.wallMs() + 1) });
  clock.advance(1000);
  await store.write({ puts: [unit('u1', 'Running')] });
  await register.write({ site: 'north', name: 'hot-2', ...HOT_ALARM, event: 'Activated' }).durable;
  await new Promise((resolve) => setImmediate(resolve));
  t.same(told, ['historian: state of an element: no place for it', 'record of an alarm: no place for it']);
});

t.test('8.9 G4: the historian keeps the states and alarm transitions that are on disk, and none that the store has taken back', async (t) => {
  const { store, clock, refuse, accept } = await refusable(t);
  const kept: unknown[] = [];
  const keep = ({ body }: Pick<HistoryEvent, 'body'>): unknown => kept.push(['name', 'from', 'to', 'alarm', 'event'].flatMap((member) => body[member] ?? []));
  const register = new AlarmRegister({ store, clock, record: alarmRecorder({ recordAlarm: keep }) });
  const raise = (name: string): Applied => register.write({ site: 'north', name, ...HOT_ALARM, event: 'Activated' });
  const note = { facts: [{ stream: 'notes', body: () => ({}) }] };
  // heard before the recorder hears of the same change, and changes something of its own: which is refused, and the change is not
  const also = new Map<string, () => Applied>();
  store.watch(Unit, ({ resource }) => also.get(`${resource.metadata.name} ${(resource.status as { state: string }).state}`)?.());
  publishStates({ hub: { publish: () => undefined }, store, listener: stateRecorder({ recordState: keep }, store, clock.wallMs() + 1) });
  clock.advance(1000);

  await store.write({ puts: [unit('u1', 'Running')] });
  await raise('hot-2').durable;
  t.same(kept.splice(0), [
    ['u1', 'Idle', 'Running'],
    ['hot-2', 'Activated'],
  ]);
  also.set('u1 Idle', () => store.apply(note)).set('u2 Running', () => raise('hot-3'));
  const settled = await refuse({ puts: [unit('u1', 'Held')] }, { puts: [unit('u1', 'Idle')] }, { puts: [unit('u2', 'Running')], ...note });
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  t.same(
    kept.splice(0),
    [
      ['u1', 'Running', 'Held'],
      ['u1', 'Held', 'Idle'],
    ],
    'what went to the disk before the refusal, in its order, and nothing else',
  );
  await accept();
  await store.write({ puts: [unit('u2', 'Held')] });
  t.same(kept.splice(0), [['u2', 'Idle', 'Held']], 'from the state that is on disk');
});

t.test('EVT-02 G4: an alarm whose frame was dropped with a refused change is told, and a deleted one forgotten', async (t) => {
  const { store, open, refuse } = await refusable(t);
  const wire = await open('alarms');
  t.match(wire.take().slice(1), [{ name: 'hot-1', state: 'ActiveUnacknowledged' }]);
  const { spec, status } = HOT_ALARM;
  await store.write({ puts: [{ kind: Alarm, site: 'north', name: 'cold-1', spec, status }] });
  await told();
  wire.take();
  await refuse(
    { puts: [{ kind: Alarm, site: 'north', name: 'hot-1', spec, status: { ...status, state: 'ActiveAcknowledged' } }] },
    { removes: [{ kind: 'Alarm', site: 'north', name: 'cold-1' }] },
  );
  t.match(wire.take(), [{ name: 'hot-1', state: 'ActiveAcknowledged' }]);
  t.match((await open('alarms')).take().slice(1), [{ name: 'hot-1', state: 'ActiveAcknowledged', replay: true }]);
});

t.test('EVT-17 G4: while the storage refuses changes, what is retained for MQTT says what is on disk, and the alarm of the storage', async (t) => {
  const { store, clock, refuse } = await refusable(t);
  const retained = new Map<string, Received>();
  const publisher = { connected: true, set: (topic: string, payload: string) => retained.set(topic, payload && JSON.parse(payload)) };
  const hub = new Telemetry({ publisher, store, clock, prefix: 'l', sites: [], tagIntervalMs: 1000, tagRefreshMs: 60_000 });
  publishStates({ hub, store });
  publishAlarms({ hub, store, clock });
  await store.write({ puts: [{ kind: Site, site: '', name: 'north', spec: {} } as unknown as Put] });
  new SystemAlarmReconciler({
    store,
    clock,
    register: new AlarmRegister({ store, clock }),
    facts: QUIET_FACTS,
  });
  await refuse({ puts: [unit('u1', 'Held')] });
  t.match(retained.get('l/north/states/Unit/u1'), { state: 'Held', previousState: 'Idle' });
  t.match(retained.get('l/north/alarms/system-storage-1'), { state: 'ActiveUnacknowledged', source: 'System/ledger' });
});
