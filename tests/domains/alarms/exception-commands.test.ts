/** The command of an alarm (ADEF-10): it waits for its place behind the command of a person, is given once, and not after the alarm has gone. */
import { pino } from 'pino';
import t from 'tap';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { COMMAND_ANNOTATION, type PendingCommand } from '../../../src/domains/runs/pending-command.js';
import { alarmCommands, watchSuperseded } from '../../../src/domains/commands/alarm-commands.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { ALARMS, SPEC, startAlarmBench } from './bench.js';
import { at } from '../../support/at.js';

const bench = await startAlarmBench();
t.teardown(() => bench.stop());
const { plant, operator } = bench;
const due = (name: string) => plant.store.get(Alarm, 'demo', name)?.status.exceptionDue;

t.test('ADEF-10 Q-CMD-04: the command of an alarm waits for its place while the alarm stands, and is given once', async (t) => {
  await bench.define('full', { ...SPEC, exceptionAction: 'Hold' });
  bench.facts.commandWaits = true;
  await bench.edge('full', 'raised');
  t.same(bench.commands, []);
  t.same(due('full-1'), [{ kind: 'Batch', name: 'rx101' }], 'what is due stands on the alarm');
  plant.clock.advance(100);
  await bench.settle();
  await operator.post(`${ALARMS}/full-1/acknowledge`);
  await bench.settle();
  t.same(bench.commands, [], 'it waits, also while somebody acknowledges');
  bench.facts.commandWaits = false;
  plant.clock.advance(100);
  await bench.settle();
  t.same(bench.commands, [['demo', ['rx101'], 'Hold', 'full-1']]);
  t.equal(due('full-1'), undefined);
  await bench.look();
  plant.clock.advance(1000);
  await bench.settle();
  t.equal(bench.commands.length, 1, 'once per activation');
  await bench.edge('full', 'cleared');
});

t.test('ADEF-10 Q-ALARM-02: an alarm that has gone commands no more; its return does', async (t) => {
  bench.commands.length = 0;
  bench.facts.commandWaits = true;
  await bench.edge('full', 'raised');
  await bench.edge('full', 'cleared');
  bench.facts.commandWaits = false;
  plant.clock.advance(100);
  await bench.settle();
  t.same(bench.commands, []);
  t.equal(due('full-2'), undefined);
  await bench.edge('full', 'raised');
  t.same(bench.commands, [['demo', ['rx101'], 'Hold', 'full-2']]);
  bench.exceptions.again('demo', 'full-2', { kind: 'Batch', name: 'rx101' });
  await bench.settle();
  t.equal(bench.commands.length, 2, 'one that was pushed aside is given again');
  await bench.edge('full', 'cleared');
  bench.exceptions.again('demo', 'full-2', { kind: 'Batch', name: 'rx101' });
  await bench.settle();
  t.equal(bench.commands.length, 2, 'not after the alarm has gone');
});

t.test('CMD-13 CMD-14 ADEF-10: a pending command of a person is not pushed aside; the next free place is taken in one change', async (t) => {
  const { store, clock } = plant;
  const giver = alarmCommands({ store, clock, runtimes: {} as never, reasonLengthMin: 100, log: pino({ level: 'silent' }) });
  const unit = store.get(Unit, 'demo', 'rx101');
  if (!unit) throw new Error('there is no rx101');
  const pending = { command: 'Pause', reason: '', by: { accountId: 'a', displayName: 'A', actorType: 'human' }, at: '', correlationID: 'c-1' };
  const status = { ...Batch.initialStatus({} as never), phase: 'Running' };
  const putBatch = (more: object): Put => ({ kind: Batch, site: 'demo', name: 'b-1', ...more }) as Put;
  await store.write({
    puts: [
      putBatch({ spec: { batchID: 'B' }, status: { ...status, pendingCommand: pending }, annotations: { other: 'kept' } }),
      { kind: Unit, site: 'demo', name: 'rx101', status: { ...unit.status, allocatedTo: 'b-1' } } as Put,
    ],
  });
  const target = at(giver.targets('demo', ['rx101', 'rx101', 'mx101']), 0);
  t.same(giver.targets('demo', ['rx101', 'rx101', 'mx101']), [{ kind: 'Batch', name: 'b-1' }], 'the root of the work, once');
  const beside = { kind: Alarm, site: 'demo', name: 'full-2', status: { ...store.get(Alarm, 'demo', 'full-2')?.status, value: 'beside' } } as unknown as Put;
  const slot = () => store.get(Batch, 'demo', 'b-1')?.status.pendingCommand as PendingCommand;

  plant.audits.length = 0;
  t.equal(giver.give('demo', target, 'Hold', 'full-2', beside), 'busy');
  t.match(slot(), { command: 'Pause', correlationID: 'c-1' });
  t.same(plant.audits, []);
  t.not(store.get(Alarm, 'demo', 'full-2')?.status.value, 'beside');

  await store.write({ puts: [putBatch({ status })] });
  t.equal(giver.give('demo', target, 'Hold', 'full-2', beside), 'given');
  t.match(slot(), { command: 'Hold', reason: 'alarm full-2', by: { actorType: 'component' } });
  const { annotations } = store.get(Batch, 'demo', 'b-1')?.metadata ?? {};
  t.equal(annotations?.other, 'kept');
  t.same(JSON.parse(annotations?.[COMMAND_ANNOTATION] ?? ''), slot(), 'CMD-13: the annotation is a copy');
  t.equal(store.get(Alarm, 'demo', 'full-2')?.status.value, 'beside');
  t.match(plant.audits, [
    { action: 'Command', result: 'Accepted', component: 'alarm-controller', operatorReason: 'alarm full-2', details: { command: 'Hold' }, correlationID: slot().correlationID },
  ]);

  const again: unknown[] = [];
  watchSuperseded({ store, again: (...what) => again.push(what) });
  const ours = slot().correlationID;
  plant.audits.length = 0;
  await store.write({ puts: [putBatch({ status: { ...status, pendingCommand: { ...pending, correlationID: 'c-2' } } })] });
  t.same(again, [['demo', 'full-2', { kind: 'Batch', name: 'b-1' }]], 'a person who comes in between does not make the alarm forget it');
  t.match(plant.audits, [{ action: 'Command', result: 'Rejected', rule: 'superseded', correlationID: ours, details: { command: 'Hold', by: 'c-2' } }], 'CMD-16');
  await store.write({ puts: [putBatch({ status: { ...status, pendingCommand: { ...pending, correlationID: 'c-3' } } })] });
  t.equal(again.length, 1, 'what people push aside of each other is no matter of the alarm');

  await store.write({ puts: [putBatch({ status: { ...status, phase: 'Complete' }, annotations: {} })] });
  t.equal(giver.give('demo', target, 'Hold', 'full-2', beside), 'over', 'work that has ended');
  t.equal(giver.give('demo', { kind: 'Batch', name: 'none' }, 'Hold', 'full-2', beside), 'over');
  t.equal(giver.give('demo', { kind: 'Phase', name: 'none' }, 'Hold', 'full-2', beside), 'over');
  t.same(giver.targets('demo', ['rx101']), []);
});
