/** Alarms of the product itself: each condition that exists raises one alarm with a stable name, and ends it. */
import { SYSTEM_TOPICS } from '../../../src/domains/alarms/system-conditions.js';
import t from 'tap';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { alarmView } from '../../../src/domains/alarms/counts.js';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { SystemAlarmReconciler } from '../../../src/domains/alarms/system-alarm-reconciler.js';
import { unstoredAlarms } from '../../../src/domains/alarms/unstored-alarms.js';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { RESTART_ASKED } from '../../../src/domains/placement/runtimes.js';
import { Phase, type PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';
import { ALARMS, startAlarmBench } from './bench.js';
import { elementItem } from '../../../src/domains/batches/reading/element-dto.js';
import { QUIET_FACTS } from '../../support/quiet-facts.js';

const bench = await startAlarmBench();
t.teardown(() => bench.stop());
const { plant, operator, engineer } = bench;

// biome-ignore lint/suspicious/noExplicitAny: kinds of every status
async function setStatus(kind: Kind<any, any>, name: string, change: object): Promise<void> {
  const found = plant.store.get(kind, 'demo', name);
  if (!found) throw new Error(`there is no ${kind.kind} ${name}`);
  await plant.store.write({ puts: [{ kind, site: 'demo', name, status: { ...(found.status as object), ...change } }] });
  await bench.settle();
}

interface Shown {
  readonly name: string;
  readonly state: string;
}

async function of(topic: string): Promise<Shown[]> {
  return ((await operator.get(ALARMS)).body as Shown[]).filter(({ name }) => name.startsWith(`system-${topic}-`));
}

async function acknowledge(name: string): Promise<void> {
  t.equal((await operator.post(`${ALARMS}/${name}/acknowledge`)).status, 200);
  await bench.settle();
}

t.test('ALARM-04 ALARM-05 ALARM-06 ALARM-07 Q-ALARM-14: a lost I/O module raises its DeviceHealth alarm, with all states of the table', async (t) => {
  await setStatus(IOModule, 'io-rx101', { state: 'Disconnected', message: 'no answer' });
  t.match(await of('device'), [
    {
      name: 'system-device-1',
      source: 'IOModule/io-rx101',
      type: 'Equipment',
      severity: 'High',
      state: 'ActiveUnacknowledged',
      message: 'I/O module io-rx101 is Disconnected: no answer',
      definitionRef: '',
      conditionType: 'DeviceHealth',
      value: 'Failure',
      unit: 'rx101',
      origin: 'system',
      evaluable: true,
    },
  ]);
  await bench.look();
  t.equal((await of('device')).length, 1, 'a look changes nothing');
  await setStatus(IOModule, 'io-rx101', { state: 'Degraded', message: 'channel 3' });
  t.match(await of('device'), [{ state: 'ActiveUnacknowledged', severity: 'Medium', value: 'OutOfSpecification', message: /channel 3/ }], 'what it says follows the module');
  await setStatus(IOModule, 'io-rx101', { state: 'Connected', message: '' });
  t.match(await of('device'), [{ state: 'ClearedUnacknowledged' }]);
  await setStatus(IOModule, 'io-rx101', { state: 'Failed', message: 'gone' });
  t.match(await of('device'), [{ name: 'system-device-1', state: 'ActiveUnacknowledged', occurrences: 2, value: 'Failure', severity: 'High' }]);
  await acknowledge('system-device-1');
  t.match((await operator.post(`${ALARMS}/system-device-1/shelve`, { duration: '1h' })).body, { ok: true, shelved: true });
  await bench.settle();
  await setStatus(IOModule, 'io-rx101', { state: 'Connected', message: '' });
  t.match(await of('device'), [{ state: 'ClearedAcknowledged', shelved: true }]);
  await setStatus(IOModule, 'io-rx101', { state: 'Disconnected', message: '' });
  t.match(
    await of('device'),
    [
      { name: 'system-device-1', shelved: false },
      { name: 'system-device-2', state: 'ActiveUnacknowledged', shelved: true },
    ],
    'Q-ALARM-02: a new one under the shelf of the one before',
  );
  await acknowledge('system-device-2');
  t.equal((await engineer.delete(`${ALARMS}/system-device-2`)).status, 204);
  await bench.look();
  t.match(
    await of('device'),
    [{ name: 'system-device-1' }, { name: 'system-device-3', state: 'ActiveUnacknowledged' }],
    'Q-ALARM-06: what is still so comes again, with a new number',
  );
  await setStatus(IOModule, 'io-rx101', { state: 'Connected', message: '' });
  const { items } = (await operator.get('/api/v1/sites/demo/alarmevents?alarm=system-device-1&order=asc')).body;
  t.same(
    items.map(({ event }: { event: string }) => event),
    ['Activated', 'Cleared', 'Activated', 'Acknowledged', 'Shelved', 'Cleared'],
  );
});

t.test('PROG-15: a program that skips faulted blocks raises a High equipment alarm that names them', async (t) => {
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Degraded', faultedBlocks: ['div1', 'div2'], message: '' });
  t.match(await of('program'), [
    {
      name: 'system-program-1',
      source: 'ControlProgram/rx101-energy',
      type: 'Equipment',
      severity: 'High',
      unit: 'rx101',
      value: 'div1, div2',
      message: 'program rx101-energy skips faulted blocks: div1, div2',
      conditionType: '',
    },
  ]);
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Running', faultedBlocks: [] });
  plant.clock.advance(1999);
  await bench.settle();
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Degraded', faultedBlocks: ['div1'] });
  t.match(await of('program'), [{ state: 'ActiveUnacknowledged', occurrences: 1, value: 'div1' }], 'one clean scan between two faults is no end of it');
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Running', faultedBlocks: [] });
  plant.clock.advance(1999);
  await bench.settle();
  t.match(await of('program'), [{ state: 'ActiveUnacknowledged' }]);
  plant.clock.advance(1);
  await bench.settle();
  t.match(await of('program'), [{ state: 'ClearedUnacknowledged' }]);
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Error', message: 'unknown type WOBBLE' });
  t.match(await of('program'), [{ state: 'ActiveUnacknowledged', occurrences: 2, value: 'Error', message: 'program rx101-energy is not loaded: unknown type WOBBLE' }]);
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Running', message: '' });
});

t.test('G10, D-UNIT-04: a unit runtime that ends unexpectedly raises a High system alarm; one that starts, or that somebody restarts, does not', async (t) => {
  const runtime = { ready: false, message: 'starting', podName: 'p', node: '', epoch: 1 };
  await setStatus(Unit, 'rx101', { runtime });
  t.same(await of('runtime'), []);
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, message: 'restarting' } });
  t.match(await of('runtime'), [{ name: 'system-runtime-1', source: 'Unit/rx101', type: 'System', severity: 'High', unit: 'rx101', state: 'ActiveUnacknowledged' }]);
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, ready: true, message: '', epoch: 2 } });
  t.match(await of('runtime'), [{ state: 'ClearedUnacknowledged' }]);

  // somebody has restarted it
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, message: RESTART_ASKED, epoch: 2 } });
  t.match(await of('runtime'), [{ state: 'ClearedUnacknowledged', occurrences: 1 }], 'what is asked for is no fault');
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, ready: true, message: '', epoch: 3 } });
  plant.clock.advance(10_000);
  await bench.settle();
  t.match(await of('runtime'), [{ state: 'ClearedUnacknowledged', occurrences: 1 }]);
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, message: RESTART_ASKED, epoch: 4 } });
  plant.clock.advance(9_999);
  await bench.settle();
  t.match(await of('runtime'), [{ state: 'ClearedUnacknowledged' }]);
  plant.clock.advance(1);
  await bench.settle();
  t.match(await of('runtime'), [{ state: 'ActiveUnacknowledged', occurrences: 2 }], 'one that does not come back is');
  await setStatus(Unit, 'rx101', { runtime: { ...runtime, ready: true, message: '', epoch: 5 } });
});

async function putPhase(name: string, batchRef: string, status: object): Promise<void> {
  const known = plant.store.get(Phase, 'demo', name);
  const spec = { templateRef: 'react', unitRef: 'rx101', mode: '', batchRef, parentRef: null } as unknown as PhaseSpec;
  await plant.store.write({ puts: [{ kind: Phase, site: 'demo', name, spec, status: { ...(known?.status ?? Phase.initialStatus(spec)), ...status } }] });
  await bench.settle();
}

const RECORD = { state: 'Held', holdIncomplete: true } as never;

t.test('decisions 3.1, 3.4: a phase held with holdIncomplete raises a High batch alarm until it works again', async (t) => {
  await putPhase('ph', '', { state: 'Held', checkpoint: RECORD });
  t.match(await of('phase'), [
    {
      name: 'system-phase-1',
      source: 'Phase/ph',
      type: 'Batch',
      severity: 'High',
      unit: 'rx101',
      state: 'ActiveUnacknowledged',
      message: 'phase ph is held, but its holding actions are incomplete',
    },
  ]);
  const shown = () => elementItem(plant.store.get(Phase, 'demo', 'ph') as never, { store: plant.store } as never);
  t.match(shown(), { holdIncomplete: true, conditions: [{ type: 'HoldIncomplete', status: 'True', reason: 'HoldingChartNotFinished' }] }, 'and the phase says it of itself');
  await bench.tell({ type: 'alarm', phase: 'ph', severity: 'High', message: 'ph: the holding chart timed out', atMs: plant.clock.wallMs() });
  t.equal((await of('phase')).length, 1, 'what the phase tells of the same thing is no second alarm');
  await putPhase('ph', '', { state: 'Stopping', checkpoint: { holdIncomplete: false } as never });
  t.match(await of('phase'), [{ state: 'ActiveUnacknowledged' }]);
  await putPhase('ph', '', { state: 'Running' });
  t.match(shown(), { holdIncomplete: false, conditions: [] });
  t.match(await of('phase'), [{ state: 'ClearedUnacknowledged' }]);
  await acknowledge('system-phase-1');
});

t.test('decisions 3.1: what a phase tells is raised once, and stands until the phase or its batch is over it', async (t) => {
  await putPhase('told', '', { state: 'Aborted' });
  await bench.tell({ type: 'alarm', phase: 'told', severity: 'High', message: 'told: the aborting chart failed', atMs: plant.clock.wallMs() });
  t.match((await of('phase')).at(-1), { name: 'system-phase-2', state: 'ActiveUnacknowledged', message: 'told: the aborting chart failed', source: 'Phase/told' });
  plant.clock.advance(5000);
  await bench.settle();
  t.match((await of('phase')).at(-1), { state: 'ActiveUnacknowledged' });
  await putPhase('told', '', { state: 'Idle' });
  t.match((await of('phase')).at(-1), { state: 'ClearedUnacknowledged' });

  await putPhase('slow', 'b-1', { state: 'Running' });
  const batch = { ...Batch.initialStatus({} as never), phase: 'Running' } as never;
  await plant.store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b-1', spec: {} as never, status: batch }] });
  await bench.tell({ type: 'alarm', phase: 'slow', severity: 'Medium', message: 'slow: step heat takes too long', atMs: plant.clock.wallMs() });
  t.match((await of('phase')).at(-1), { name: 'system-phase-3', severity: 'Medium', state: 'ActiveUnacknowledged' });
  await setStatus(Batch, 'b-1', { phase: 'Aborted' });
  plant.clock.advance(5000);
  await bench.settle();
  t.match((await of('phase')).at(-1), { state: 'ClearedUnacknowledged' }, 'the batch is over');
  await plant.store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'b-1' }] });
});

t.test('Q-NONCE-04: alarm system-nonce-store at 80 %; storage that is low', async (t) => {
  t.same([...(await of('nonce-store')), ...(await of('storage'))], []);
  bench.facts.nonceStoreNearlyFull = true;
  bench.facts.storageLow = true;
  await bench.look();
  t.match(await of('nonce-store'), [{ name: 'system-nonce-store-1', source: 'System/lineside', type: 'System', severity: 'High', unit: '' }]);
  t.match(await of('storage'), [{ name: 'system-storage-1', severity: 'High', message: /storage\.reserveBytes/ }]);
  bench.facts.nonceStoreNearlyFull = false;
  bench.facts.storageLow = false;
  plant.clock.advance(5000);
  await bench.settle();
  t.match([...(await of('nonce-store')), ...(await of('storage'))], [{ state: 'ClearedUnacknowledged' }, { state: 'ClearedUnacknowledged' }], 'it is looked at every 5 s');
});

t.test('8.6: audit records that cannot be archived are an alarm, until they can', async (t) => {
  bench.facts.archiveFault = 'ENOSPC: no space left on device, write';
  await bench.look();
  t.match(await of('audit-archive'), [
    { name: 'system-audit-archive-1', source: 'System/lineside', type: 'System', severity: 'Medium', message: /ENOSPC.*stay in the live trail/ },
  ]);
  bench.facts.archiveFault = null;
  plant.clock.advance(5000);
  await bench.settle();
  t.match(await of('audit-archive'), [{ state: 'ClearedUnacknowledged' }]);
});

t.test('8.6: an archive that is not as it was written is a High alarm, until a check finds nothing', async (t) => {
  bench.facts.archiveDamage = 'the check of 2026-01-31T09:00:00.000Z found audit-1.ndjson.gz not as it was written (hash at record 7)';
  await bench.look();
  t.match(await of('archive-integrity'), [
    { name: 'system-archive-integrity-1', source: 'System/lineside', type: 'System', severity: 'High', message: /^the archive of the audit trail is damaged: .*record 7/ },
  ]);
  bench.facts.archiveDamage = null;
  plant.clock.advance(5000);
  await bench.settle();
  t.match(await of('archive-integrity'), [{ state: 'ClearedUnacknowledged' }]);
});

t.test('faults of the product that are contained again and again are a High alarm, until they end', async (t) => {
  bench.facts.containedFault = 'watcher of Batch: x is undefined';
  plant.clock.advance(5000);
  await bench.settle();
  t.match(await of('internal-fault'), [
    { name: 'system-internal-fault-1', source: 'System/lineside', severity: 'High', message: /contained, last watcher of Batch: x is undefined/ },
  ]);
  bench.facts.containedFault = null;
  plant.clock.advance(5000);
  await bench.settle();
  t.match(await of('internal-fault'), [{ state: 'ClearedUnacknowledged' }]);
});

t.test('Q-ALARM-02: a value that is not Good raises a DeviceHealth alarm of its module, but not beside a lost I/O module', async (t) => {
  const name = 'xv101-fault';
  await bench.edge(name, 'lost');
  t.same(await of('signal'), []);
  plant.clock.advance(9999);
  await bench.edge(name, 'evaluable');
  plant.clock.advance(1);
  await bench.settle();
  t.same(await of('signal'), [], 'a device that answers late is not lost');
  await bench.edge(name, 'lost');
  plant.clock.advance(10_000);
  await bench.settle();
  t.match(await of('signal'), [
    {
      name: 'system-signal-1',
      source: 'ControlModule/xv101',
      type: 'Equipment',
      severity: 'Medium',
      unit: 'rx101',
      conditionType: 'DeviceHealth',
      value: 'OutOfSpecification',
      message: 'alarms on xv101.fault cannot be judged: the value is not good',
    },
  ]);
  await setStatus(IOModule, 'io-rx101', { state: 'Disconnected', message: '' });
  plant.clock.advance(5000);
  await bench.settle();
  t.match(await of('signal'), [{ state: 'ClearedUnacknowledged' }], 'the alarm of the I/O module says it');
  await setStatus(IOModule, 'io-rx101', { state: 'Connected', message: '' });
  await bench.edge(name, 'evaluable');
  await acknowledge('system-signal-1');
});

t.test('ALARM-20 Q-ALARM-02: numbers of system alarms are never used again, also after their alarms are forgotten', async (t) => {
  const removes = plant.store.list(Alarm, 'demo').map(({ metadata }) => ({ kind: 'Alarm', site: 'demo', name: metadata.name }));
  await plant.store.write({ removes });
  await setStatus(ControlProgram, 'rx101-energy', { state: 'Degraded', faultedBlocks: ['div1'] });
  t.match(await of('program'), [{ name: 'system-program-2' }]);
});

t.test('G4 EVT-02: a storage that refuses changes is an alarm at once, from memory, and is stored under the same name when it accepts again', async (t) => {
  const { ledger, clock, store } = await freshStore(t);
  const register = new AlarmRegister({ store, clock });
  const reconciler = new SystemAlarmReconciler({
    store,
    clock,
    register,
    facts: QUIET_FACTS,
  });
  const frames: Record<string, unknown>[] = [];
  publishAlarms({ hub: { publish: ({ frame, unrecorded }) => frames.push({ ...frame, unrecorded }) }, store, clock });
  const site: Put = { kind: Site, site: '', name: 'north', spec: {} } as unknown as Put;
  await store.write({ puts: [site] });
  const look = () => reconciler.reconcile({ site: 'north', name: 'storage/ledger' });
  t.ok(
    [...reconciler.keys()].some(({ name }) => name === 'storage/ledger'),
    'it is looked at after a start too',
  );
  look();
  t.same(unstoredAlarms(store).list('north'), []);
  const view = alarmView(store);

  // somebody else used the next number: the ledger refuses what does not follow, as it refuses everything on a full disk
  const reloaded = () => new Promise<void>((resolve) => store.watchReload(resolve));
  const refuse = async (sequence: number): Promise<void> => {
    await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence, body: {} }], nonces: [] });
    const refusing = reloaded();
    await t.rejects(store.write({ facts: [{ stream: 'notes/north', body: () => ({}) }] }));
    await refusing;
  };
  const accept = async (): Promise<void> => {
    const accepting = reloaded();
    clock.advance(60_000);
    await accepting;
    await t.resolves(store.recorded, 'what failed is taken back: no frame waits for it any more');
    look();
  };
  const listed = () => unstoredAlarms(store).list('north');
  await refuse(1);
  t.equal(store.accepting, false);
  t.match(listed(), [
    {
      metadata: { name: 'system-storage-1' },
      spec: { source: 'System/ledger', type: 'System', severity: 'High', message: /^the storage refuses changes since 2026-01-31T09:00:00.000Z: .* control goes on$/ },
      status: { state: 'ActiveUnacknowledged', activatedAt: '2026-01-31T09:00:00.000Z', origin: 'system' },
    },
  ]);
  t.match(unstoredAlarms(store).get('north', 'system-storage-1'), { status: { state: 'ActiveUnacknowledged' } });
  t.match(view.ofSite('north'), { active: 1, unacknowledged: 1, highestSeverity: 'High' });
  t.match(frames.splice(0), [{ type: 'alarm', name: 'system-storage-1', state: 'ActiveUnacknowledged', severity: 'High', unrecorded: true }], 'it waits for no record');
  t.same(look(), { lookAgainMs: 5000 }, 'nothing can be written now');
  t.same(store.list(Alarm), []);

  await accept();
  t.equal(store.accepting, true);
  t.match(store.list(Alarm, 'north'), [
    {
      metadata: { name: 'system-storage-1' },
      spec: { source: 'System/ledger', severity: 'High', message: 'the storage refused changes from 2026-01-31T09:00:00.000Z to 2026-01-31T09:01:00.000Z' },
      status: { state: 'ClearedUnacknowledged', activatedAt: '2026-01-31T09:00:00.000Z' },
    },
  ]);
  t.same(listed(), store.list(Alarm, 'north'), 'what is listed is what is stored');
  t.match(frames.splice(0).at(-1), { name: 'system-storage-1', state: 'ClearedUnacknowledged', unrecorded: undefined });
  look();
  t.equal(store.list(Alarm, 'north').length, 1);

  clock.advance(60_000);
  await refuse(2);
  t.match(listed(), [{ metadata: { name: 'system-storage-1' }, status: { state: 'ActiveUnacknowledged', occurrences: 2 } }], 'the one nobody has acknowledged stands again');
  t.match(frames.splice(0), [{ name: 'system-storage-1', state: 'ActiveUnacknowledged' }]);
  t.match(store.list(Alarm, 'north'), [{ status: { state: 'ClearedUnacknowledged', occurrences: 1 } }], 'and is stored as it was');
  await accept();
  t.match(store.list(Alarm, 'north'), [{ status: { state: 'ClearedUnacknowledged', occurrences: 2 } }]);
});

t.test('no topic begins as another one does: the alarm of one is not taken for that of the other', async (t) => {
  t.same(
    SYSTEM_TOPICS.flatMap((topic) => SYSTEM_TOPICS.filter((other) => other.startsWith(`${topic}-`)).map((other) => `${other} begins as ${topic}`)),
    [],
  );
});
