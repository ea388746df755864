/** What an alarm came of (ADR 0139): nothing that is over, nothing that only the clock put first, nobody's own follower, and no alarm that did not command. */
import t from 'tap';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { causeOf } from '../../../src/domains/alarms/first-out.js';
import { Alarm, AlarmDefinition, type AlarmSpec, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { Batch, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { SPEC, startAlarmBench } from './bench.js';

const bench = await startAlarmBench();
t.teardown(() => bench.stop());
const { plant } = bench;
const { store, clock } = plant;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function refOf(definition: string): string {
  return store.get(AlarmDefinition, 'demo', definition)?.status.activeAlarmRef ?? '';
}

function causeNow(definition: string): AlarmStatus['cause'] {
  return store.get(Alarm, 'demo', refOf(definition))?.status.cause;
}

/** An alarm of nobody's definition, as a release before or an apply has left it. */
async function put(name: string, spec: Partial<AlarmSpec>, status: Partial<AlarmStatus>): Promise<void> {
  const whole: AlarmSpec = {
    source: 'ControlModule/tic101',
    type: 'Process',
    severity: 'High',
    message: name,
    definitionRef: '',
    conditionType: 'TagHigh',
    setpoint: '90',
    value: '95',
    ...spec,
  };
  await store.write({ puts: [{ kind: Alarm, site: 'demo', name, spec: whole, status: { ...Alarm.initialStatus(whole), ...status } } as Put] });
  await bench.settle();
}

t.afterEach(async () => {
  const removes = [Alarm, AlarmDefinition].flatMap((kind) => store.list(kind as typeof Alarm, 'demo').map(({ metadata: { name } }) => ({ kind: kind.kind, site: 'demo', name })));
  await store.write({ removes });
  await bench.settle();
});

t.test('D-ALARM-01: an alarm that has cleared, and only nobody has acknowledged, explains no alarm of the same source or device', async (t) => {
  await bench.define('high', { ...SPEC, sourceName: 'tic101' });
  await bench.define('low', { ...SPEC, sourceName: 'tic101', conditionType: 'TagLow' });
  await bench.edge('high', 'raised');
  await bench.edge('high', 'cleared');
  await put('system-device-1', { source: 'IOModule/sim-rx101', conditionType: 'DeviceHealth' }, { state: 'ClearedUnacknowledged' });
  clock.advance(2 * DAY_MS);
  await bench.edge('low', 'raised');
  t.notOk(causeNow('low'), 'it came and went two days before');
  await bench.edge('low', 'cleared');
  await bench.edge('high', 'raised');
  await bench.edge('low', 'raised');
  t.same(causeNow('low'), { alarm: refOf('high'), by: 'source' }, 'while it stands it does');
});

t.test('D-ALARM-01: which one came first is no matter of the wall clock, and an alarm without a time did not come before all others', async (t) => {
  for (const name of ['one', 'two']) await bench.define(name, { ...SPEC, sourceName: name === 'one' ? 'li101' : 'pi101' });
  await bench.define('after', { ...SPEC, sourceName: 'tic101', follows: ['two', 'one'] });
  await bench.edge('one', 'raised');
  clock.jump(-HOUR_MS);
  clock.advance(1000);
  await bench.edge('two', 'raised');
  await bench.edge('after', 'raised');
  t.same(causeNow('after'), { alarm: refOf('one'), by: 'definition' }, 'the clock was set back between them');
  clock.jump(HOUR_MS);
  await bench.define('high', { ...SPEC, sourceName: 'ag101', conditionType: 'TagFalse', tagName: 'running' });
  await bench.edge('high', 'raised', 0);
  clock.advance(1000);
  await put('applied', { source: 'ControlModule/ag101' }, {});
  await bench.define('higher', { ...SPEC, sourceName: 'ag101', conditionType: 'TagFalse', tagName: 'running' });
  await bench.edge('higher', 'raised', 0);
  t.same(causeNow('higher'), { alarm: refOf('high'), by: 'source' }, 'what was applied later is not the first for want of a time');
});

t.test('D-ALARM-01: no alarm comes of one that came of it, over however many', async (t) => {
  const standing = { state: 'ActiveUnacknowledged', unit: 'rx101' } as const;
  await put('root', {}, { ...standing, activatedAt: '2026-01-31T08:00:00.000Z', cause: { alarm: 'own', by: 'source' } });
  await put('follower', {}, { ...standing, activatedAt: '2026-01-31T08:00:01.000Z', cause: { alarm: 'root', by: 'source' } });
  await put('own', {}, { ...standing, state: 'ClearedUnacknowledged', activatedAt: '2026-01-31T08:00:02.000Z' });
  const own = store.get(Alarm, 'demo', 'own');
  if (!own) throw new Error('there is no alarm');
  t.equal(causeOf(store, 'demo', own.spec, 'rx101', 'own'), undefined, 'each would be explained by the other');
  await put('root', {}, { ...standing, activatedAt: '2026-01-31T08:00:00.000Z', cause: { alarm: 'follower', by: 'source' } });
  t.equal(causeOf(store, 'demo', own.spec, 'rx101')?.by, 'source', 'a circle that a release before has left is walked once');
});

t.test('D-ALARM-01: an alarm of the system that comes back is explained by what stands then', async (t) => {
  const register = new AlarmRegister({ store, clock });
  const condition = { source: 'ControlModule/tic101', type: 'Equipment', severity: 'High', message: 'no signal', conditionType: '', value: '', units: ['rx101'] } as const;
  await put('hot', {}, { state: 'ActiveUnacknowledged', unit: 'rx101', activatedAt: '2026-01-31T08:00:00.000Z' });
  const name = register.raiseSystem('demo', 'signal', condition, clock.wallMs());
  const of = () => store.get(Alarm, 'demo', name);
  t.same(of()?.status.cause, { alarm: 'hot', by: 'source' });
  const again = of();
  if (!again) throw new Error('there is no alarm');
  await put('hot', {}, { state: 'ClearedAcknowledged', unit: 'rx101', activatedAt: '2026-01-31T08:00:00.000Z' });
  register.comesBack('demo', name, again.spec, { ...again.status, state: 'ActiveUnacknowledged' }, register.now());
  t.notOk(of()?.status.cause, 'what explained it is resolved');
});

t.test('D-ALARM-01: alarms of the box itself, which are about one and the same source, explain nothing of each other', async (t) => {
  const register = new AlarmRegister({ store, clock });
  const condition = { source: 'System/lineside', type: 'System', severity: 'High', message: 'the certificate ends', conditionType: '', value: '', units: [] } as const;
  register.raiseSystem('demo', 'certificate', condition, clock.wallMs());
  clock.advance(DAY_MS);
  const name = register.raiseSystem('demo', 'storage', { ...condition, message: 'the disk is full' }, clock.wallMs());
  t.notOk(store.get(Alarm, 'demo', name)?.status.cause);
  await bench.settle();
});

t.test('D-ALARM-01: a unit that a person holds is held by no alarm that stood there; one that was commanded names the alarm of whatever unit', async (t) => {
  const definition = { ...SPEC, sourceKind: 'Unit', sourceName: 'rx101', conditionType: 'StateEquals', stateValue: 'Held', tagName: '', threshold: '' } as const;
  await bench.define('held', definition);
  await put('trip', { source: 'ControlModule/li101' }, { state: 'ActiveAcknowledged', unit: 'rx101', exceptionAction: 'Hold', activatedAt: '2026-01-30T08:00:00.000Z' });
  await put('else', { source: 'ControlModule/li201' }, { state: 'ActiveAcknowledged', unit: 'tk201', exceptionAction: 'Hold', activatedAt: '2026-01-31T09:00:00.000Z' });
  const unit = store.get(Unit, 'demo', 'rx101');
  const by = { kind: 'person', accountId: 'u1', displayName: 'Lea' } as const;
  const hold = { rule: 'Hold', message: 'Hold by Lea', reason: 'foam', by, alarm: '', element: null, since: '2026-01-31T09:00:00.000Z', until: '' };
  const spec = { batchID: 'W-1', masterRecipeRef: 'resin-a' };
  const work = async (status: Partial<BatchStatus>, state: string): Promise<void> => {
    const puts = [
      { kind: Batch, site: 'demo', name: 'w-1', spec, status },
      { kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, state, allocatedTo: 'w-1' } },
    ];
    await store.write({ puts: puts as unknown as Put[] });
    await bench.settle();
  };
  const base = { ...Batch.initialStatus(spec as never), startedAt: '2026-01-31T07:00:00.000Z', phase: 'Held' } as BatchStatus;
  await work({ ...base, holds: [hold] }, 'Held');
  t.notOk(causeNow('held'), 'the trip is a day old and commanded nothing of this');
  await work({ ...base, phase: 'Running', holds: [{ ...hold, until: '2026-01-31T09:00:00.000Z' }] }, 'Running');
  await work({ ...base, holds: [{ ...hold, by: { ...by, kind: 'component' }, alarm: 'else' }] }, 'Held');
  t.same(causeNow('held'), { alarm: 'else', by: 'command' }, 'the batch says which alarm it was');
  await work({ ...base, phase: 'Running', holds: [{ ...hold, until: '2026-01-31T08:00:00.000Z' }] }, 'Running');
  await work({ ...base, phase: 'Holding', holds: [{ ...hold, until: '2026-01-31T08:00:00.000Z' }] }, 'Held');
  t.notOk(causeNow('held'), 'nobody has written yet why, and the trip is older than the last hold');
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: unit?.status } as Put] });
});
