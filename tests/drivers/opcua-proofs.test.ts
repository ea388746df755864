/** What proves that the samples of an OPC UA subscription flow, of servers whose clock tells nothing (decisions D-IO-02, ADR 0090). */
import t, { type Test } from 'tap';
import type { ProbeModule } from '../../runtime/port.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { BytePeer } from '../support/opcua-bytes.js';
import type { Lie, Revised } from '../support/opcua-liar.js';
import { opcuaModule } from '../support/opcua-module.js';
import { ownFolder } from '../support/own-folder.js';
import { quickClock } from '../support/quick-clock.js';
import { startProbe, until, valueOf } from './probe-harness.js';

const box = ownFolder(t);
const LEVEL = 'ns=1;s=Level';
const STATE = 'i=2259';
const DAY_MS = 86_400_000;

async function bench(t: Test, revised: Revised, lie: Lie = {}, state?: number) {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  peer.behaviour = 'serves';
  peer.liar.revised = revised;
  peer.liar.lie = lie;
  if (state !== undefined) peer.liar.values.set(STATE, { type: 'Int32', value: state });
  const module: ProbeModule = opcuaModule(peer.url, box, [['level', LEVEL, 'float']], { publishingInterval: '20ms', samplingInterval: '20ms', timeout: '300ms', retries: 0 });
  const probe = await startProbe(t, [module], { random: () => 0.5, clock: quickClock(5) });
  const isGood = (value: number): boolean => valueOf(module, 'level').quality === QUALITY.Good && valueOf(module, 'level').value === value;
  const isBad = (): boolean => valueOf(module, 'level').quality === QUALITY.Bad;
  return { peer, probe, isGood, isBad };
}

t.test('D-IO-02: of a server whose clock is not monitored, the state that it tells proves that it runs, and keep-alives alone do not', async (t) => {
  const { peer, probe, isGood, isBad } = await bench(t, { hasNoClock: true }, {}, 0);
  await until('the truth', () => isGood(1) && probe.state() === 'Connected');
  const reads = (): number => peer.liar.taken.get('Read') ?? 0;
  const before = reads();
  await until('it is asked again and again', () => reads() > before + 2);
  t.ok(isGood(1));
  peer.liar.lie = { mute: ['Read'], onlyKeepAlives: true };
  await until('keep-alives alone', isBad);
  peer.liar.lie = {};
  peer.liar.set(LEVEL, { type: 'Double', value: 2 });
  await until('the truth again', () => isGood(2));
  peer.liar.lie = { mute: ['Publish'] };
  await until('no sign of the subscription', isBad);
});

t.test('D-IO-02: a server that says that it does not run proves nothing', async (t) => {
  const { peer, probe, isGood, isBad } = await bench(t, { hasNoClock: true }, {}, 0);
  await until('the truth', () => isGood(1));
  peer.liar.set(STATE, { type: 'Int32', value: 3 });
  await until('suspended, by what it says', () => isBad() && /does not run \(ServerState 3\)/.test(probe.message())); // on a busy machine a late sample is told first
});

for (const [what, clock] of [
  ['Bad', { type: 'DateTime', value: Date.now(), status: 0x80020000 }],
  ['of 1970', { type: 'DateTime', value: 0 }],
  ['no time', { type: 'Double', value: 7 }],
  ['standing still', { type: 'DateTime', value: 1_700_000_000_000 }],
] as const)
  t.test(`D-IO-02: a clock that is ${what} is no proof; the state of the server is, and where it has none nothing is`, async (t) => {
    const { peer, probe, isGood, isBad } = await bench(t, {}, { clock }, 0);
    await until('by its state', () => isGood(1) && probe.state() === 'Connected');
    peer.liar.values.delete(STATE);
    await until('by nothing', isBad);
    t.match(probe.message(), /nothing proves that samples flow; use mode: poll|made anew|no OPC UA/);
    peer.liar.lie = {};
    peer.liar.set(LEVEL, { type: 'Double', value: 4 });
    await until('by its clock again', () => isGood(4));
  });

t.test('D-IO-02: intervals that a server revises to nothing that can be waited for are bounded, or told', async (t) => {
  const odd = await bench(t, { publishingMs: 20, saidPublishingMs: Number.NaN });
  await until('no number: the interval that was asked for', () => odd.isGood(1));
  const none = await bench(t, { publishingMs: 20, saidPublishingMs: 0 });
  await until('none: as fast as it can', () => none.isGood(1));
  const huge = await bench(t, { publishingMs: 20, saidPublishingMs: 9 * DAY_MS });
  await until('days', () => /makes of a publishing interval of 20 ms one of 777600000 ms/.test(huge.probe.message()));
  t.ok(huge.isBad());
});

t.test('ADR 0096: of a module that follows, messages, proofs, rereads and the samples of each channel are counted', async (t) => {
  const { peer, probe, isGood, isBad } = await bench(t, {});
  await until('the truth', () => isGood(1) && probe.state() === 'Connected');
  let id = 0;
  const counted = async () => {
    const { statistics } = await probe.ask({ type: 'statistics', id: (id += 1), module: 'io' }, 'statistics-result');
    if (!statistics?.arrivals) throw new Error('a module that follows has counts of arrivals');
    return { ...statistics, arrivals: statistics.arrivals, level: statistics.channels[0] };
  };
  const first = await counted();
  t.ok(first.arrivals.notifications > 0 && first.arrivals.proofs > 0, JSON.stringify(first.arrivals));
  t.match(first, { errors: { refused: 0 }, level: { good: Number, errors: { refused: 0 } } });
  peer.liar.set(LEVEL, { type: 'Double', value: 2, status: 0x808a0000 });
  await until('a Bad sample', isBad);
  peer.liar.set(LEVEL, { type: 'Double', value: 3 });
  await until('a good one', () => isGood(3));
  const second = await counted();
  t.equal(second.level?.errors.refused, 1);
  t.equal(second.errors.refused, 1);
  t.ok((second.level?.good ?? 0) > (first.level?.good ?? 0));
  peer.liar.lie = { lost: 'gone' };
  peer.liar.set(LEVEL, { type: 'Double', value: 4 });
  await until('what was missed is read', () => isGood(4));
  peer.liar.lie = {};
  const third = await counted();
  t.ok(third.arrivals.rereads > second.arrivals.rereads, JSON.stringify(third.arrivals));
  t.ok(third.polls > second.polls && third.roundTrip.counts.some((count) => count > 0));
  peer.liar.lie = { mute: 'all' };
  await until('silent', isBad);
  t.equal((await counted()).level?.errors.silent, (third.level?.errors.silent ?? 0) + 1);
});
