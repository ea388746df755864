/** How signals and barriers move on (contract 3, Other kinds; decisions 2.7): the rules by themselves, with the clock in hand. */
import t from 'tap';
import type { State } from '../../../runtime/vocabulary/states.js';
import { CoordinationBlock, type CoordinationBlockSpec, SyncBarrier, type SyncBarrierSpec } from '../../../src/domains/coordination/kind.js';
import { advanceBarrier, advanceBlock, arrive, consume, type CoordinationWorld, type EndpointFacts, timeoutLeftMs } from '../../../src/domains/coordination/progress.js';
import { timestamp } from '../../../src/platform/base/clock.js';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

/** Elements by name; '?' before the state says that it waits to start. */
function world(states: Readonly<Record<string, State | '?'>>, seconds = 0): CoordinationWorld {
  return {
    nowMs: T0 + seconds * 1000,
    activeMs: seconds * 1000,
    facts({ name }): EndpointFacts | undefined {
      const state = states[name];
      if (state === undefined) return undefined;
      return state === '?' ? { state: 'Idle', waitsToStart: true } : { state, waitsToStart: false };
    },
  };
}

function block(waitFor: 'Start' | 'Chart', more: { readonly condition?: string; readonly timeoutSeconds?: number } = {}): CoordinationBlockSpec {
  const { condition = '', timeoutSeconds = 0 } = more;
  return {
    mode: 'Signal',
    batchRef: 'b',
    description: '',
    timeoutSeconds,
    signal: { signalName: 'go', condition, producer: { kind: 'Phase', name: 'giver', unitRef: '' }, consumers: [{ kind: 'Phase', name: 'taker', unitRef: '', waitFor }] },
  };
}

const BLOCK = CoordinationBlock.initialStatus(block('Chart'));

t.test('COORD-03: Idle until producer or consumer runs, then Active; raised when the producer is Complete; Satisfied once it was read', async (t) => {
  const spec = block('Chart');
  const idle = advanceBlock(spec, BLOCK, world({ giver: 'Idle', taker: 'Idle' })).status;
  t.match(idle, { phase: 'Idle', signalRaised: false, consumerStatuses: [{ kind: 'Phase', name: 'taker', waiting: false, consumed: false }] });
  const active = advanceBlock(spec, idle, world({ giver: 'Running', taker: 'Running' }, 1)).status;
  t.match(active, { phase: 'Active', activeAt: timestamp(T0 + 1000), signalRaised: false, consumerStatuses: [{ waiting: true, consumed: false }] });
  t.equal(consume(spec, active, 'somebody', T0), undefined, 'reading is free to every element, only consumers count');
  const raised = advanceBlock(spec, active, world({ giver: 'Complete', taker: 'Running' }, 2)).status;
  t.match(raised, { phase: 'Active', signalRaised: true, signalRaisedAt: timestamp(T0 + 2000), satisfiedAt: '' });
  const read = consume(spec, raised, 'taker', T0 + 3000);
  t.match(read, { phase: 'Satisfied', satisfiedAt: timestamp(T0 + 3000), consumerStatuses: [{ name: 'taker', waiting: false, consumed: true, consumedAt: timestamp(T0 + 3000) }] });
  t.equal(read && consume(spec, read, 'taker', T0 + 4000), undefined, 'the first TRUE read counts');
  t.same(read && advanceBlock(spec, read, world({ giver: 'Resetting', taker: 'Idle' }, 9)), { status: read }, 'raised stays raised');
});

t.test('decisions 2.7: with a condition the end of the producer raises nothing', async (t) => {
  const { status } = advanceBlock(block('Chart', { condition: 'ready' }), BLOCK, world({ giver: 'Complete', taker: 'Running' }));
  t.match(status, { phase: 'Active', signalRaised: false });
});

t.test('a condition from before it was checked that can never be tested: its block has failed once somebody waits, and says why', async (t) => {
  const spec = block('Start', { condition: "MTP_STATE('opc/dose') = 'Completed'" });
  const { status } = advanceBlock(spec, BLOCK, world({ giver: 'Running', taker: 'Idle' }));
  t.match(status, { phase: 'Active', signalRaised: false }, 'nobody is told before it matters');
  const message = 'signal go is never raised: MTP_STATE cannot be called in the condition of a signal, which may call READ and ABS';
  t.match(advanceBlock(spec, status, world({ giver: 'Running', taker: '?' })), {
    status: { phase: 'Failed', message },
    failure: { rule: 'coordination-failed', message, waiting: [{ name: 'taker' }] },
  });
});

t.test('decisions 2.7: a consumer that waits to start has consumed the signal by starting', async (t) => {
  const spec = block('Start');
  const waiting = advanceBlock(spec, BLOCK, world({ giver: 'Idle', taker: '?' })).status;
  t.match(waiting, { phase: 'Active', consumerStatuses: [{ waiting: true }] }, 'a producer that never comes is found out too');
  const raised = advanceBlock(spec, waiting, world({ giver: 'Complete', taker: '?' }, 1)).status;
  t.match(raised, { phase: 'Active', signalRaised: true });
  t.match(advanceBlock(spec, raised, world({ giver: 'Complete', taker: 'Running' }, 2)).status, { phase: 'Satisfied', satisfiedAt: timestamp(T0 + 2000) });
});

t.test('COORD-01: timeoutSeconds counts from Active; each waiting consumer fails once; 0 is none', async (t) => {
  const spec = block('Chart', { timeoutSeconds: 5 });
  const states = { giver: 'Running', taker: 'Running' } as const;
  const active = advanceBlock(spec, BLOCK, world(states)).status;
  t.equal(timeoutLeftMs(spec, active, 2000), 3000);
  t.equal(timeoutLeftMs(spec, BLOCK, 0), undefined, 'nobody is at work');
  t.equal(timeoutLeftMs(block('Chart'), active, 0), undefined);
  t.equal(advanceBlock(spec, active, world(states, 4.999)).failure, undefined);
  t.equal(advanceBlock(spec, active, { ...world(states, 86_400), activeMs: 4999 }).failure, undefined, 'D-C-07: a wall clock that is set times nobody out');
  const late = advanceBlock(spec, active, world(states, 5));
  t.match(late, {
    status: { phase: 'TimedOut', message: 'signal go was not raised within 5 s' },
    failure: { rule: 'coordination-timeout', message: 'signal go was not raised within 5 s', waiting: [{ name: 'taker' }] },
  });
  t.equal(advanceBlock(spec, late.status, world(states, 60)).failure, undefined, 'it is told once');
  t.equal(timeoutLeftMs(spec, late.status, 60_000), undefined);
  const raisedLate = advanceBlock(spec, late.status, world({ ...states, giver: 'Complete' }, 70)).status;
  t.match(raisedLate, { phase: 'TimedOut', signalRaised: true });
  t.match(consume(spec, raisedLate, 'taker', T0 + 71_000), { phase: 'Satisfied', message: '' }, 'after a Restart the batch goes on');
  t.equal(advanceBlock(block('Chart'), active, world(states, 1e6)).status.phase, 'Active');
  t.same(advanceBlock(spec, active, world({ giver: 'Running', taker: 'Held' }, 6)).failure?.waiting, [], 'who is held already does not wait');
});

t.test('decisions 2.7: a producer that ended without raising fails the block', async (t) => {
  for (const state of ['Stopped', 'Aborted'] as const) {
    const { status, failure } = advanceBlock(block('Chart'), BLOCK, world({ giver: state, taker: 'Running' }));
    t.match(status, { phase: 'Failed', message: `giver is ${state} and has not raised signal go` });
    t.match(failure, { rule: 'coordination-failed', waiting: [{ name: 'taker' }] });
  }
  const raised = { ...BLOCK, phase: 'Active', signalRaised: true } as const;
  t.equal(advanceBlock(block('Chart'), raised, world({ giver: 'Aborted', taker: 'Running' })).status.phase, 'Active');
});

const PARTICIPANTS: SyncBarrierSpec = {
  batchRef: 'b',
  description: '',
  timeoutSeconds: 10,
  count: 0,
  participants: [
    { kind: 'Operation', name: 'one', unitRef: '', waitFor: 'Start' },
    { kind: 'Phase', name: 'two', unitRef: '', waitFor: 'Chart' },
    { kind: 'Phase', name: 'three', unitRef: '', waitFor: 'Chart' },
  ],
};
const BARRIER = SyncBarrier.initialStatus(PARTICIPANTS);
const barrier = (spec: SyncBarrierSpec, status: typeof BARRIER, at: CoordinationWorld) => advanceBarrier('meet', spec, status, at);

t.test('decisions 2.7: who would start arrives, who reads arrives, and the barrier is satisfied when enough have', async (t) => {
  const first = barrier(PARTICIPANTS, BARRIER, world({ one: '?', two: 'Idle', three: 'Idle' }, 1)).status;
  t.match(first, { phase: 'Active', activeAt: timestamp(T0 + 1000), arrivals: [{ kind: 'Operation', name: 'one', arrivedAt: timestamp(T0 + 1000) }], satisfiedAt: '' });
  t.same(barrier(PARTICIPANTS, first, world({ one: '?', two: 'Idle', three: 'Idle' }, 2)), { status: first });
  t.equal(arrive(PARTICIPANTS, first, 'somebody', T0), undefined, 'others may read it');
  const second = arrive(PARTICIPANTS, first, 'two', T0 + 2000);
  t.match(second, { phase: 'Active', satisfiedAt: '' });
  t.equal(second && arrive(PARTICIPANTS, second, 'two', T0 + 2500), undefined);
  t.match(second && arrive(PARTICIPANTS, second, 'three', T0 + 3000), { phase: 'Satisfied', satisfiedAt: timestamp(T0 + 3000) });
  t.match(arrive({ ...PARTICIPANTS, count: 2 }, first, 'two', T0 + 2000), { phase: 'Satisfied' }, 'count of them are enough');
});

t.test('decisions 2.7: a barrier times out for those who have arrived, and fails when it cannot be reached', async (t) => {
  const states = { one: '?', two: 'Running', three: 'Idle' } as const;
  const active = barrier(PARTICIPANTS, BARRIER, world(states)).status;
  const late = barrier(PARTICIPANTS, active, world(states, 10));
  t.match(late, { status: { phase: 'TimedOut', message: 'barrier meet: 1 of 3 have arrived within 10 s' }, failure: { rule: 'coordination-timeout', waiting: [{ name: 'one' }] } });
  const lost = barrier(PARTICIPANTS, active, world({ ...states, three: 'Aborted' }, 1));
  t.match(lost, {
    status: { phase: 'Failed', message: 'barrier meet cannot be reached: three ended before' },
    failure: { rule: 'coordination-failed', waiting: [{ name: 'one' }] },
  });
  t.equal(barrier({ ...PARTICIPANTS, count: 2 }, active, world({ ...states, three: 'Aborted' }, 1)).status.phase, 'Active', 'two are still enough');
});
