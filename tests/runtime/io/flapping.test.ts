/** A device that comes and goes: when it is tried again, what is told of it, and who may ask for it at once (ADR 0091). */
import t from 'tap';
import type { ProbeOutbound } from '../../../runtime/port.js';
import { channel, moduleOf, rig } from './wire-rig.js';

type Told = Extract<ProbeOutbound, { type: 'module' }>;

const toldOf = (messages: readonly ProbeOutbound[]): Told[] => messages.filter((message): message is Told => message.type === 'module');

/** Times between attempts, in ms. */
const waits = (atMs: readonly number[]): number[] => atMs.slice(1).map((ms, place) => ms - (atMs[place] ?? 0));

t.test('D-IO-02: a device that answers once and drops is tried more and more seldom', async (t) => {
  const { clock, wire, load, messages } = rig();
  wire.values.set('a', 5);
  wire.drops = 'after an answer';
  await load(moduleOf([channel('a')]));
  await clock.advance(10 * 60_000);
  t.same(waits(wire.connectsAtMs).slice(0, 8), [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  t.ok(toldOf(messages).length < 2 * wire.connectsAtMs.length + 2, `${toldOf(messages).length} changes in ${wire.connectsAtMs.length} connections`);
});

t.test('D-IO-02: a device that accepts and closes, and one that only refuses what it is asked, are tried more and more seldom', async (t) => {
  for (const drops of ['at once', 'after an answer'] as const) {
    const { clock, wire, load } = rig();
    wire.drops = drops;
    await load(moduleOf([channel('a')]));
    await clock.advance(120_000);
    t.same(waits(wire.connectsAtMs).slice(0, 8), [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000], drops);
  }
});

t.test('G9, D-IO-02: a connection that was good for 10 s gives the steps back, and a shorter one does not', async (t) => {
  const { clock, wire, load } = rig();
  wire.values.set('a', 5);
  const reconnects = async (goodForMs: number): Promise<number> => {
    await clock.advance(goodForMs);
    const before = wire.connectsAtMs.length;
    const fromMs = clock.monoMs();
    wire.pull();
    wire.present = true;
    for (let turn = 0; wire.connectsAtMs.length === before && turn < 400; turn += 1) await clock.advance(100);
    return clock.monoMs() - fromMs;
  };
  await load(moduleOf([channel('a')]));
  t.equal(await reconnects(11_000), 500);
  t.same([await reconnects(9000), await reconnects(9000), await reconnects(9000)], [1000, 2000, 4000], 'the fourth pull within half a minute still is within 5 s');
  t.equal(await reconnects(11_000), 500);
});

t.test('D-IO-02: what never comes to rest tells ten changes at once, then one each two seconds, and the last word always', async (t) => {
  const { clock, wire, load, messages, last } = rig();
  wire.values.set('a', 5);
  await load(moduleOf([channel('a'), channel('b')], { options: { pollInterval: '10ms' } }));
  await clock.advance(100);
  const before = toldOf(messages).length;
  for (let turn = 0; turn < 6000; turn += 1) {
    if (turn % 2 === 0) wire.values.set('b', 1);
    else wire.values.delete('b');
    await clock.advance(10);
  }
  const told = toldOf(messages).length - before;
  t.ok(told >= 30 && told <= 10 + 30 + 1, `${told} in a minute, of 6000 changes`);
  wire.values.set('b', 1);
  await clock.advance(2100);
  t.match(last('module'), { state: 'Connected', message: '' });
  const atRest = toldOf(messages).length;
  await clock.advance(60_000);
  t.equal(toldOf(messages).length, atRest);
});

t.test('D-IO-02: who is away says when it is tried again, and is tried at once for who asks what the device is', async (t) => {
  const { clock, wire, core, load, last, messages } = rig();
  wire.present = false;
  await load(moduleOf([channel('a')]));
  t.same(last('next-attempt').atMs, clock.wallMs() + 500);
  await clock.advance(32_000);
  t.same(last('next-attempt').atMs, clock.wallMs() + 29_500);
  const discover = async (id: number): Promise<Extract<ProbeOutbound, { type: 'discover-result' }>> => {
    const asked = core.receive({ type: 'discover', id, module: 'io', timeoutMs: 8000 });
    await clock.advance(0);
    await clock.advance(600);
    await asked;
    return last('discover-result');
  };
  const tried = wire.connectsAtMs.length;
  t.match(await discover(1), { ok: false, message: 'module io is not connected: nobody there' });
  t.equal(wire.connectsAtMs.length, tried + 1);
  await Promise.all([2, 3, 4, 5].map((id) => core.receive({ type: 'discover', id, module: 'io', timeoutMs: 8000 })).concat(clock.advance(3000)));
  const times = waits(wire.connectsAtMs).slice(tried + 1);
  t.ok(
    times.every((ms) => ms >= 500),
    `never sooner than the first step: ${times.join()}`,
  );
  wire.values.set('a', 5);
  wire.present = true;
  t.match(await discover(6), { ok: true, discovery: { channels: [{ channel: 'a', isFound: true }] } });
  t.equal(last('next-attempt').atMs, 0);
  await clock.advance(1000);
  t.match(last('module'), { state: 'Connected' });

  wire.pull();
  await clock.advance(100);
  await core.receive({ type: 'stop' });
  t.equal(last('next-attempt').atMs, 0, 'a probe that has ended tries nobody');
  t.equal(messages.at(-1)?.type, 'stopped');
});
