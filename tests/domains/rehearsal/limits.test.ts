/** What ends a rehearsal from outside: the wall limit, the watchdog of its threads, a second one, the end of the appliance (ADR 0006). */
import { readdirSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { parse } from 'valibot';
import type { RuntimeSettings } from '../../../runtime/port.js';
import { RehearsalPlant } from '../../../runtime/rehearsal/plant.js';
import { MasterRecipe } from '../../../src/domains/recipes/kind.js';
import { RehearsalBody, type RehearsalOrder, rehearsalOrder } from '../../../src/domains/rehearsal/order.js';
import { type PlantSide, rehearse } from '../../../src/domains/rehearsal/rehearsal.js';
import { KEPT_MS, Rehearsals } from '../../../src/domains/rehearsal/rehearsals.js';
import { createLog } from '../../../src/platform/base/log.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { TestClock } from '../../support/test-clock.js';

process.env.LINESIDE_LOG_LEVEL ??= 'silent';
const gateway = await startPlantGateway();
t.teardown(() => gateway.stop());
const engineer = await gateway.as('engineer');
await engineer.post('/api/v1/demo/provision');

const runtime: RuntimeSettings = {
  loopLimit: 10_000,
  statementBudget: 100_000,
  exceptionChartTimeoutMs: 300_000,
  retainIntervalMs: 1000,
  readbackTimeoutMs: 5000,
  ioLostHoldDelayMs: 10_000,
  resumeCancelsPause: false,
  orphanTimeoutMs: 10_000,
};
const tree = { holdPropagation: 'batch', resumeCancelsPause: false, settleDeadlineMs: 60_000, reasonLengthMin: 10 } as const;

function orderOf(phase = 'Effective', body: object = {}): RehearsalOrder {
  const recipe = gateway.store.get(MasterRecipe, 'demo', 'resin-a');
  if (!recipe) throw new Error('the demonstration recipe is provisioned');
  const parts = { store: gateway.store, image: () => () => undefined, runtime, tree, startWallMs: Date.UTC(2026, 0, 1) };
  return rehearsalOrder(parts, 'demo', { ...recipe, status: { ...recipe.status, phase: phase as 'Effective' } }, parse(RehearsalBody, body));
}

/** The plant side in this thread. Each look at it takes `lookMs` of a wall time that the test makes. */
function timed(lookMs: number, instantsMax = Number.POSITIVE_INFINITY): { readonly plant: PlantSide; readonly monoMs: () => number } {
  let side: RehearsalPlant | undefined;
  let nowMs = 0;
  const take = async () => {
    nowMs += lookMs;
    if (!side) throw new Error('the plant is opened first');
    return side.take();
  };
  return {
    monoMs: () => nowMs,
    plant: {
      open: async (plan) => {
        side = new RehearsalPlant(plan);
        return take();
      },
      advance: async (untilMs, messages) => {
        let instants = 0;
        side?.advance(untilMs, messages, () => ++instants <= instantsMax);
        return take();
      },
    },
  };
}

/** Of this process, by number; should others begin meanwhile, a test is less sharp. */
function threadsSince(): () => ReadonlySet<string> {
  const known = new Set(readdirSync('/proc/self/task'));
  return () => new Set(readdirSync('/proc/self/task').filter((thread) => !known.has(thread)));
}

/** @returns code and text of the refusal. */
async function refusal(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => 'it was not refused',
    (fault: unknown) => (fault instanceof Refusal ? `${fault.kind} ${fault.context.code}: ${fault.message}` : `no refusal: ${fault}`),
  );
}

t.test('rehearsal: the wall limit ends it and says how far it came; in time it would have completed', async (t) => {
  const slow = timed(1000);
  const cut = await rehearse(orderOf(), slow.plant, slow.monoMs);
  t.match(cut, { ok: false, outcome: 'WallLimit', truncated: {} });
  t.ok(slow.monoMs() >= 60_000 && slow.monoMs() < 62_000, `after ${slow.monoMs()} ms`);
  t.ok(cut.plantSeconds > 0 && cut.timeline.length > 0 && cut.unreachedSteps.length > 0, 'what happened until then is told');
  t.not(cut.blockedBecause, '');
  const fast = timed(0);
  const whole = await rehearse(orderOf(), fast.plant, fast.monoMs);
  t.match(whole, { ok: true, outcome: 'Complete' });
  // a machine that is busy lets the plant go on for a moment only: for no longer than an instant here
  const starved = timed(0, 1);
  t.same(await rehearse(orderOf(), starved.plant, starved.monoMs), whole, 'how fast the machine is changes nothing');
});

t.test('rehearsal: time that is up before Start starts nothing that would go on', async (t) => {
  const late = timed(61_000);
  t.match(await rehearse(orderOf(), late.plant, late.monoMs), { ok: false, outcome: 'WallLimit', prompts: [] });
});

t.test('rehearsal: threads that do not end in time are ended, and the next rehearsal runs', async (t) => {
  const clock = new TestClock();
  const rehearsals = new Rehearsals({ clock, log: createLog(), heapMb: 256 });
  t.teardown(() => rehearsals.stop());
  const first = rehearsals.run(() => orderOf());
  t.match(await refusal(rehearsals.run(() => orderOf())), /^conflict rehearsal_active/, '409: one at a time');
  clock.advance(60_000);
  t.match(await refusal(rehearsals.run(() => orderOf())), /^conflict rehearsal_active/, 'its own limit is not ours');
  clock.advance(15_000);
  t.equal(await refusal(first), 'unavailable rehearsal_failed: the rehearsal failed: it did not end in time');

  const broken = { ...orderOf(), resources: null as never };
  t.match(await refusal(rehearsals.run(() => broken)), /^unavailable rehearsal_failed/, 'a thread that fails is no answer either');
  t.match(await refusal(rehearsals.run(() => orderOf('Withdrawn'))), /^conflict recipe_not_usable/, 'an order that is refused leaves nothing behind');
  t.match(await rehearsals.run(() => orderOf()), { outcome: 'Complete' });

  const last = refusal(rehearsals.run(() => orderOf()));
  await rehearsals.stop();
  t.equal(await last, 'unavailable rehearsal_failed: the rehearsal failed: the appliance stops');
});

t.test('rehearsal: its threads are kept for the next one, whose findings are the same, and end when nobody asks', async (t) => {
  const clock = new TestClock();
  const rehearsals = new Rehearsals({ clock, log: createLog(), heapMb: 256 });
  t.teardown(() => rehearsals.stop());
  const findings = async (order: RehearsalOrder) => {
    const { wallMs: _wallMs, speed: _speed, ...rest } = await rehearsals.run(() => order);
    return rest;
  };
  const begun = threadsSince();
  const first = await findings(orderOf());
  const cold = begun();
  t.ok(cold.size >= 2, 'two threads of its own');
  t.match(await findings(orderOf('Effective', { limitSeconds: 1 })), { outcome: 'TimeLimit' }, 'one that is cut off in the middle');
  clock.advance(KEPT_MS - 1);
  t.same(await findings(orderOf()), first, 'nothing of those before is seen');
  t.same(
    [...cold].filter((thread) => !begun().has(thread)),
    [],
    'by the same threads',
  );
  t.match(await refusal(rehearsals.run(() => ({ ...orderOf(), resources: null as never }))), /^unavailable rehearsal_failed/);
  t.same(await findings(orderOf()), first, 'threads that failed are not asked again');
  clock.advance(KEPT_MS);
  await rehearsals.stop(); // waits for the end of those that were let go
  t.equal(begun().size, 0, 'all of them have ended');
});

t.test('rehearsal: of kept threads of which one has ended while they waited the other one ends too', async (t) => {
  const rehearsals = new Rehearsals({ clock: new TestClock(), log: createLog(), heapMb: 256 });
  t.teardown(() => rehearsals.stop());
  const workers: Worker[] = [];
  const heard = (worker: Worker): void => void workers.push(worker);
  process.on('worker', heard);
  t.teardown(() => process.off('worker', heard));
  const begun = threadsSince();
  t.match(await rehearsals.run(() => orderOf()), { outcome: 'Complete' });
  await workers[0]?.terminate();
  t.match(await rehearsals.run(() => orderOf()), { outcome: 'Complete' });
  t.equal(workers.length, 4, 'by a pair of its own');
  await rehearsals.stop();
  t.equal(begun().size, 0, 'all of them have ended');
});

t.test('rehearsal: 409 for a recipe that nobody may run any more, whatever its body; Drafts may be rehearsed', async (t) => {
  for (const phase of ['Rejected', 'Withdrawn']) {
    const asked = async () => orderOf(phase, { quantity: '1000000' });
    t.equal(await refusal(asked()), `conflict recipe_not_usable: recipe resin-a is ${phase}: nobody may run it any more`);
  }
  for (const phase of ['Draft', 'Approved', 'Released', 'Effective']) t.equal(orderOf(phase).batch.masterRecipeRef, 'resin-a', phase);
});
