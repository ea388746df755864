/**
 * A bug stays where it is: something throws in each seam, is told under its name and counted, whoever stands behind
 * it in the line goes on, and the unit is scanned on. Real store, ledger, hub, loops and scan thread; the clock is the test's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { LocalRuntimes } from '../../src/domains/placement/local-runtimes.js';
import { type Clock, systemClock } from '../../src/platform/base/clock.js';
import { ContainedFaults } from '../../src/platform/base/contained-faults.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import type { Ledger } from '../../src/platform/ledger/protocol.js';
import type { Key } from '../../src/platform/reconcile/key.js';
import { type Outcome, ReconcileLoop } from '../../src/platform/reconcile/loop.js';
import { Loops } from '../../src/platform/reconcile/loops.js';
import { Store } from '../../src/platform/store/store.js';
import type { TagSource } from '../../src/platform/stream/channel.js';
import { Hub } from '../../src/platform/stream/hub.js';
import { everywhere, person, ScriptedSessions, ScriptedWire } from '../platform/stream/scripted.js';
import { network, tags, unitPlan } from '../runtime/network/plans.js';
import { eventually } from '../support/api-client.js';
import { Note, noteChange } from '../support/ledger-child.js';
import { TestClock } from '../support/test-clock.js';
import { testLog } from '../support/test-log.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-seams-'));
const disk = await openLedger(dataDir);
const clock = new TestClock();
const log = testLog();
const faults = new ContainedFaults(clock, log);
const runtimes = new LocalRuntimes({ clock, log, heapMb: 256, realtime: false });
t.teardown(async () => {
  const stopped = runtimes.stop();
  await stopped;
  faults.stop();
  await disk.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function fails(): never {
  throw new Error('thrown by the test');
}

/** How often a seam has told of what it contained. */
function told(seam: string): number {
  return faults.view().seams.find((each) => each.seam === seam)?.count ?? 0;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const plan = unitPlan({
  unit: 'r1',
  scanIntervalMs: 20,
  tags: tags('n.out b0.OUT REAL'),
  networks: [network({ name: 'n', scanIntervalMs: 20, blocks: [{ name: 'b0', type: 'MOVE' }] })],
});

/** Listeners of the unit link: the first of each throws. */
const heard: string[] = [];
let throws = true;
runtimes.onMessage(() => throws && fails());
runtimes.onMessage((_, { type }) => heard.push(type));
runtimes.onChange(() => throws && fails());
runtimes.onChange((_, what) => heard.push(what));

async function scansOn(t: { pass(text: string): unknown }): Promise<void> {
  const link = runtimes.link('demo', 'r1');
  const before = link?.statistics().scanCount ?? 0;
  await eventually('the unit is scanned on', async () => (link?.statistics().scanCount ?? 0) > before + 1, 20_000);
  t.pass('the unit is scanned on');
}

t.test('F4: a listener of the unit links', async (t) => {
  runtimes.run(plan);
  await eventually('it is ready', async () => heard.includes('ready'), 20_000);
  t.ok(heard.includes('plan-loaded'), 'the listener behind it hears every message');
  t.ok(heard.includes('plan'));
  t.ok(told('listener of unit messages (plan-loaded)') > 0);
  t.ok(told('listener of unit links (ready)') > 0);
  throws = false;
  await scansOn(t);
});

t.test('F4: a publisher of the hub, by its tags and by the owner of an event', async (t) => {
  let refuses = false;
  const hub = new Hub({ clock, sessions: new ScriptedSessions(), places: everywhere, recorded: () => (refuses ? Promise.reject(new Error('no disk')) : Promise.resolve()) });
  const link = runtimes.link('demo', 'r1');
  const scanned = (): string => String(link?.refresh() ? link.statistics().scanCount : 0);
  const source = (unit: string, refresh: () => void): TagSource => ({
    site: 'demo',
    unit,
    addresses: ['n.out'],
    refresh,
    valueJson: scanned,
    qualityWord: () => 'Good',
    timestampMs: () => 0,
  });
  let broken = false;
  hub.placeTags(source('a', () => broken && fails()));
  hub.placeTags(source('r1', () => undefined));
  const wire = new ScriptedWire();
  hub.open('websocket', wire, '10.0.0.1', person(), () => undefined).subscribe('x', 'tags', {});
  wire.take();
  broken = true;
  hub.start();
  await scansOn(t);
  clock.advance(200);
  const [a, r1] = wire.take();
  t.match(a, { unit: 'a', value: null, quality: 'Bad' });
  t.match(r1, { unit: 'r1', quality: 'Good' });
  t.ok(r1.value > 0, 'what the scan counts is published');
  t.ok(told('hub: tags of a unit') > 0);
  hub.stop();

  refuses = true;
  let dropped = 0;
  const event = { channel: 'alarms', key: 'hot', site: 'demo', unit: 'r1', frame: { type: 'alarm' } } as const;
  hub.publish({ ...event, dropped: fails });
  hub.publish({ ...event, dropped: () => (dropped += 1) });
  await turn();
  t.equal(dropped, 1);
  t.equal(told('hub: owner of a dropped event'), 1);
  await scansOn(t);
});

t.test('F4: a watcher of a reload, the keys of a loop, and whoever is told of trouble', async (t) => {
  let refuses = false;
  const ledger: Ledger = {
    load: (windowMs) => disk.load(windowMs),
    commit: (transaction) => (refuses ? Promise.reject(new Error('no disk')) : disk.commit(transaction)),
    probe: () => disk.probe(),
    close: () => disk.close(),
  };
  const store = new Store(ledger, clock, undefined, [Note]);
  await store.open(0);
  store.watchReload(fails);
  const loops = new Loops(store);
  let reloads = 0;
  store.watchReload(() => (reloads += 1));
  const looked: string[] = [];
  const loopOf = (name: string, keys: () => Iterable<Key>, reconcile: (key: Key) => Outcome): ReconcileLoop => new ReconcileLoop({ name, keys, reconcile }, clock, log);
  const one = [{ site: 'demo', name: 'k' }];
  const first = loopOf('first', fails, () => 'settled');
  const second = loopOf(
    'second',
    () => one,
    ({ name }) => {
      looked.push(name);
      return 'settled';
    },
  );
  const sick = loopOf('sick', () => one, fails);
  for (const loop of [first, second, sick]) loops.add(loop);
  const troubles: string[] = [];
  loops.watchTrouble(fails);
  loops.watchTrouble((_, source) => troubles.push(source));
  loops.start();
  await turn();
  t.same(looked, ['k'], 'the loop behind it has started');
  t.equal(told('keys of first'), 1);
  for (const afterMs of [100, 200]) {
    clock.advance(afterMs);
    await turn();
  }
  t.same(troubles, ['System/first-keys', 'System/sick'], 'the second listener is told');

  const before = looked.length;
  refuses = true;
  await t.rejects(store.write(noteChange('a', 'lost')));
  refuses = false;
  await eventually('it has reloaded', async () => reloads > 0, 20_000);
  await turn();
  t.ok(looked.length > before, 'the loop behind it looks at everything again');
  t.ok(told('keys of first') > 1);
  t.ok(told('watcher of a reload of the store') > 0);
  await scansOn(t);
  await loops.stop();
});

t.test('F4: a timer of the clock, and whoever looks again after a fault', async (t) => {
  const fired: string[] = [];
  const real: Clock = systemClock;
  real.after(0, fails);
  real.after(0, () => fired.push('the timer behind it'));
  let looks = 0;
  faults.watch(fails);
  faults.watch(() => (looks += 1));
  await eventually('both have come', async () => fired.length === 1, 20_000);
  t.equal(told('timer'), 1);
  clock.advance(1000);
  t.equal(looks, 1);
  t.ok(told('look after a fault') > 0);
  await scansOn(t);
});
