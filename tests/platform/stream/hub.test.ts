import t from 'tap';
import { onContained } from '../../../src/platform/base/guarded.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import type { Connection } from '../../../src/platform/stream/connection.js';
import { stamp, webSocketEncoding } from '../../../src/platform/stream/frames.js';
import { parseGlob } from '../../../src/platform/stream/glob.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import { LastKnown } from '../../../src/platform/stream/last-known.js';
import { openEventStream, resumePoint } from '../../../src/platform/stream/sse.js';
import { openWebSocket } from '../../../src/platform/stream/websocket.js';
import { TagBoard } from '../../../src/platform/stream/tag-board.js';
import { FRAME_BUFFER_MAX, Subscriber } from '../../../src/platform/stream/subscriber.js';
import fc from '../../support/fuzz.js';
import { everywhere, person, type Received, ScriptedClock, ScriptedSessions, ScriptedWire, tagSource, tagsNamed } from './scripted.js';
import { at } from '../../support/at.js';

interface Opened {
  readonly wire: ScriptedWire;
  readonly connection: Connection;
  readonly ends: string[];
}

function plant(recorded?: () => Promise<void>) {
  const clock = new ScriptedClock();
  const sessions = new ScriptedSessions();
  const hub = new Hub({ clock, sessions, places: everywhere, instance: '3f9c0a11d2e4', ...(recorded ? { recorded } : {}) });
  const open = (transport: 'websocket' | 'sse' = 'websocket', caller: Caller = person(), ip = '10.0.0.1'): Opened => {
    const wire = new ScriptedWire();
    const ends: string[] = [];
    const connection = hub.open(transport, wire, ip, caller, (why, reason) => ends.push(`${why}: ${reason}`));
    return { wire, connection, ends };
  };
  return { clock, sessions, hub, open };
}

function alarm(name: string, state: string, site = 'north', unit = 'rx1') {
  return { channel: 'alarms' as const, key: name, site, unit, frame: { type: 'alarm', site, name, severity: 'High', state, message: 'x', shelved: false, shelvedUntil: '' } };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Every number up to the last is either received or announced by the gap frame right above it. */
function accountsForAll(frames: readonly Received[]): { received: number; dropped: number } {
  let expected = 1;
  let dropped = 0;
  for (const frame of frames) {
    if (frame.type === 'gap') {
      dropped += frame.dropped;
      expected += frame.dropped;
    }
    if (frame.seq !== expected) throw new Error(`frame ${frame.seq} (${frame.type}) where ${expected} was due`);
    expected += 1;
  }
  return { received: frames.filter(({ type }) => type !== 'gap').length, dropped };
}

t.test('WS-07 WS-08 WS-09 WS-10 WS-11: addressPattern is a glob over the whole address, without escape', async (t) => {
  const vectors: [string, string, boolean][] = [
    ['*', '', true],
    ['*', 'io-1:4x00001/2', true],
    ['tic101.*', 'tic101.pv', true],
    ['tic101.*', 'xtic101.pv', false],
    ['tic101', 'tic101.pv', false],
    ['*.pv', 'a/b/c.pv', true],
    ['*.pv', 'a.pvx', false],
    ['t?c*', 'tic101.pv', true],
    ['t?c', 'tc', false],
    ['tic[0-9]01.pv', 'tic101.pv', true],
    ['tic[^0-9]01.pv', 'tic101.pv', false],
    ['tic[!0-9]01.pv', 'ticx01.pv', true],
    ['[abc-]*', '-x', true],
    ['[-a]x', '-x', true],
    ['[a-cx-z]', 'y', true],
    ['[a-cx-z]', 'd', false],
    ['a\\*', 'a\\b', true],
    ['a\\*', 'a*', false],
    ['[*]', '*', true],
    ['[*]', 'a', false],
    ['a**b', 'ab', true],
    ['*a*b*c', 'xxaxxbxxbxc', true],
    ['?', '\u{1f600}', true],
    ['', '', true],
    ['', 'a', false],
  ];
  for (const [pattern, address, expected] of vectors) t.equal(parseGlob(pattern)(address), expected, `${pattern} against ${address}`);
});

t.test('WS-12: an unparsable pattern is refused', async (t) => {
  for (const pattern of ['[abc', '[', '[^', '[z-a]', '[]', '[!]', 'x[0-', 'a'.repeat(2000)])
    t.throws(() => parseGlob(pattern), { name: 'Refusal', context: { code: 'invalid_field' } }, pattern);
});

t.test('WS-08: hostile patterns cost no more than 5 ms an address', async (t) => {
  const address = 'a'.repeat(300);
  for (const pattern of [`${'*a'.repeat(200)}b`, `*${'a'.repeat(200)}b*${'a'.repeat(100)}c`, `${'*[a-z]'.repeat(150)}0`, `${'?*'.repeat(300)}b`]) {
    const glob = parseGlob(pattern);
    t.equal(glob(address), false);
    const took = Array.from({ length: 20 }, () => {
      const started = performance.now();
      glob(address);
      return performance.now() - started;
    });
    t.ok(Math.min(...took) < 5, `${pattern.slice(0, 20)}... at its best, when nothing else had the processor`);
  }
});

t.test('WS-08: a hostile pattern over a whole plant does not hold up the gateway', async (t) => {
  const addresses = Array.from({ length: 1000 }, (_, index) => `${'a'.repeat(290)}${index}`);
  for (const pattern of [`*${'a'.repeat(140)}b*${'a'.repeat(140)}c`, `${'*a'.repeat(500)}b`, `*${'[a-z]'.repeat(200)}x`, `*[${'a-z'.repeat(330)}]b`]) {
    const glob = parseGlob(pattern);
    const took = Array.from({ length: 3 }, () => {
      const started = performance.now();
      t.notOk(addresses.some(glob));
      return performance.now() - started;
    });
    t.ok(Math.min(...took) < 250, `${pattern.slice(0, 20)}... took ${Math.min(...took).toFixed(0)} ms for 1,000 addresses`);
  }
});

t.test('WS-07: patterns longer than one word of places', async (t) => {
  const long = Array.from({ length: 70 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
  t.ok(parseGlob(long)(long));
  t.ok(parseGlob(`*${long}*`)(`x/${long}/y`));
  t.notOk(parseGlob(long)(`${long}a`));
  t.notOk(parseGlob(`${long}?`)(long));
  for (const length of [31, 32, 33, 63, 64, 65]) {
    t.ok(parseGlob('?'.repeat(length))('z'.repeat(length)), `${length} of any`);
    t.notOk(parseGlob('?'.repeat(length))('z'.repeat(length + 1)));
    t.ok(parseGlob(`${'?'.repeat(length)}*`)('z'.repeat(length)));
  }
});

t.test('WS-07: the matcher agrees with a regular expression on any pattern', async (t) => {
  const piece = fc.constantFrom('*', '?', 'a', 'b', '.', '[ab]', '[^a]', '[!b-c]');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.constantFrom('a', 'b', 'c', '.', '/'), { maxLength: 12 }), (pieces, letters) => {
      const source = pieces.map((text) => (text === '*' ? '.*' : text === '?' ? '.' : text === '.' ? '\\.' : text.replace('[!', '[^'))).join('');
      return parseGlob(pieces.join(''))(letters.join('')) === new RegExp(`^${source}$`, 's').test(letters.join(''));
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

t.test('STREAM-01: the number is written right-aligned into its hole, whatever its length', async (t) => {
  for (const seq of [1, 9, 10, 999_999, 1_000_000, 1_000_001, 12_000_000, 2 ** 31, 999_999_999_999]) {
    const { bytes, seqAt } = webSocketEncoding.control({ type: 'x' });
    stamp(bytes, seqAt, 888_888_888_888);
    stamp(bytes, seqAt, seq);
    t.equal(JSON.parse(Buffer.from(bytes).toString()).seq, seq);
  }
});

t.test('LIMIT-04 STREAM-10 STREAM-14 STREAM-25 EVT-12 EVT-13 EVT-15: 256 frames wait, more are shed, and every gap accounts exactly for the numbers below it', async (t) => {
  const wire = new ScriptedWire();
  const subscriber = new Subscriber(wire, webSocketEncoding);
  const live = () => {
    const { bytes, seqAt } = webSocketEncoding.control({ type: 'tag' });
    subscriber.live(bytes, seqAt);
  };
  live();
  wire.room = 0;
  for (let n = 0; n < 300; n += 1) live();
  t.equal(subscriber.waiting, FRAME_BUFFER_MAX);
  t.equal(subscriber.shedTotal, 44);
  wire.room = Infinity;
  subscriber.drained();
  const frames = wire.take();
  t.equal(frames.length, 1 + 256 + 1);
  t.match(frames.at(-1), { type: 'gap', seq: 302, dropped: 44 });
  live();
  t.match(wire.take(), [{ type: 'tag', seq: 303 }]);
});

t.test('EVT-06 EVT-12 EVT-13: received + dropped = published, for any pattern of back-pressure, answers and snapshots', async (t) => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('live' as const), count: fc.integer({ min: 1, max: 150 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('room' as const), count: fc.integer({ min: 0, max: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('answer' as const), count: fc.constant(1) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const), count: fc.integer({ min: 0, max: 600 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const wire = new ScriptedWire();
      wire.room = 10;
      const subscriber = new Subscriber(wire, webSocketEncoding);
      let published = 0;
      let replayed = 0;
      let answered = 0;
      let serial = 0;
      for (const { do: what, count } of steps) {
        if (what === 'live') {
          for (let n = 0; n < count; n += 1) {
            const { bytes, seqAt } = webSocketEncoding.control({ type: 'tag', n: serial++ });
            subscriber.live(bytes, seqAt);
          }
          published += count;
        } else if (what === 'answer') {
          subscriber.answer(webSocketEncoding.control({ type: 'result' }));
          answered += 1;
        } else if (what === 'snapshot') {
          let left = count;
          replayed += count;
          subscriber.snapshot(() => (left-- > 0 ? webSocketEncoding.control({ type: 'replay' }) : undefined), count);
        } else {
          wire.room = count;
          if (count > 0) subscriber.drained();
        }
        if (subscriber.waiting > FRAME_BUFFER_MAX + 60) return false;
      }
      wire.room = Infinity;
      subscriber.drained();
      const frames = wire.take();
      const { dropped } = accountsForAll(frames);
      const of = (type: string) => frames.filter((frame) => frame.type === type);
      const numbers = of('tag').map(({ n }) => n);
      return (
        of('tag').length + dropped === published &&
        dropped === subscriber.shedTotal &&
        of('replay').length === replayed &&
        of('result').length === answered &&
        numbers.every((n, index) => index === 0 || n > numbers[index - 1])
      );
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('EVT-12: a frame that waited arrives as it was published, whatever its characters and length', async (t) => {
  const wire = new ScriptedWire();
  const subscriber = new Subscriber(wire, webSocketEncoding);
  const values = ['Füllstand 20 °C \u{1f525}', 'x'.repeat(20_000), '', 'ÿþ\u0000'];
  wire.room = 0;
  for (const value of values) {
    const { bytes, seqAt } = webSocketEncoding.control({ type: 'tag', value });
    subscriber.live(bytes, seqAt);
    bytes.fill(0); // the bytes are the publisher's again
  }
  wire.room = Infinity;
  subscriber.drained();
  t.same(
    wire.take().map(({ value }) => value),
    values,
  );
});

t.test('STREAM-14: a peer that asks on and reads no answer is cut off', async (t) => {
  const wire = new ScriptedWire();
  wire.room = 0;
  const subscriber = new Subscriber(wire, webSocketEncoding);
  for (let n = 0; n < 257; n += 1) subscriber.answer(webSocketEncoding.control({ type: 'result' }));
  t.ok(wire.overran);
});

t.test('EVT-01 STREAM-01 STREAM-02 STREAM-04 STREAM-07: every tag is published each 200 ms, in ten slices, regardless of change', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(25)));
  hub.start();
  const a = open();
  const b = open();
  a.connection.subscribe('one', 'tags', {});
  b.connection.subscribe('one', 'tags', {});
  a.wire.take();
  b.wire.take();
  clock.advance(20);
  t.equal(a.wire.texts.length, 3, 'the first slice has 3 of 25 tags');
  clock.advance(180);
  const first = a.wire.take();
  t.equal(first.length, 25);
  t.equal(new Set(first.map(({ address }) => address)).size, 25);
  accountsForAll([{ seq: 1 }, ...Array.from({ length: 25 }, (_, index) => ({ seq: 2 + index })), ...first]);
  t.match(first[0], { type: 'tag', site: 'north', unit: 'rx1', address: 'm0.pv', value: 0, quality: 'Good', ts: '1970-01-01T00:00:01.000Z', subscriptionId: 'one' });
  t.equal(first[0].replay, undefined);
  t.same(
    b.wire.take().map(({ eventId }) => eventId),
    first.map(({ eventId }) => eventId),
    'event numbers are the same on every connection',
  );
  clock.advance(200);
  const second = a.wire.take();
  t.same(
    second.map(({ address }) => address),
    first.map(({ address }) => address),
  );
  t.ok(second[0].eventId > first.at(-1).eventId);
});

t.test('EVT-01: a late timer neither loses nor doubles a slice, and a stall of seconds is not made up for', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(10)));
  hub.start();
  const { wire, connection } = open();
  connection.subscribe('x', 'tags', {});
  wire.take();
  clock.advance(20);
  clock.stall(75);
  clock.advance(5);
  t.equal(wire.take().length, 5, '100 ms are five slices');
  clock.advance(100);
  t.equal(wire.take().length, 5);
  clock.stall(3000);
  clock.advance(0);
  t.ok(wire.take().length <= 2);
  t.ok(hub.slicesSkipped >= 148);
  clock.advance(200);
  t.equal(new Set(wire.take().map(({ address }) => address)).size, 10);
});

t.test('STREAM-25 EVT-12: slices shed nothing where the same frames in one burst would', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(1000)));
  hub.start();
  const { wire, connection } = open();
  connection.subscribe('x', 'tags', {});
  for (let slice = 0; slice < 100; slice += 1) {
    wire.room = 100; // drains 100 frames in 20 ms: exactly what is published
    connection.drained();
    clock.advance(20);
  }
  t.equal(connection.shedTotal, 0);
});

t.test('EVT-05 EVT-08 STREAM-05 STREAM-03: a subscribe is acknowledged, then replays the last-known state with replay true', async (t) => {
  const { hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', [{ address: 'a.pv', value: null, quality: 'Uncertain', atMs: 0 }]));
  hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  hub.publish(alarm('a2', 'ActiveUnacknowledged'));
  hub.publish(alarm('a1', 'ActiveAcknowledged'));
  await settled();
  const { wire, connection } = open();
  connection.subscribe('t', 'tags', { addressPattern: 'a.*' });
  connection.subscribe('a', 'alarms', {});
  const frames = wire.take();
  t.match(frames[0], { type: 'subscribed', seq: 1, subscriptionId: 't', channel: 'tags', filter: { addressPattern: 'a.*' } });
  t.equal(frames[0].eventId, undefined);
  t.same(Object.keys(frames[1]), ['seq', 'subscriptionId', 'eventId', 'replay', 'type', 'site', 'unit', 'address', 'value', 'quality', 'ts']);
  t.match(frames[1], { seq: 2, replay: true, value: null, quality: 'Uncertain', ts: null });
  t.match(frames.slice(3), [
    { type: 'alarm', name: 'a2', replay: true, subscriptionId: 'a', seq: 4 },
    { type: 'alarm', name: 'a1', state: 'ActiveAcknowledged', replay: true, seq: 5 },
  ]);
  t.ok(frames[4].eventId > frames[3].eventId);
});

t.test('EVT-06 EVT-07: a full buffer pauses the snapshot; live frames meanwhile wait behind it or are shed with a gap', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(1000)));
  hub.start();
  const { wire, connection } = open();
  wire.room = 10;
  connection.subscribe('x', 'tags', {});
  clock.advance(200);
  t.equal(wire.texts.length, 10);
  t.equal(connection.shedTotal, 1000 - 256);
  while (wire.texts.length < 1001) {
    wire.room = 100;
    connection.drained();
  }
  wire.room = Infinity;
  connection.drained();
  const frames = wire.take();
  accountsForAll(frames);
  t.equal(frames.filter(({ replay }) => replay === true).length, 1000, 'the snapshot came whole');
  t.ok(
    frames.slice(1, 1001).every(({ replay }) => replay === true),
    'and before any live frame',
  );
  t.match(frames.at(-1), { type: 'gap', dropped: 744 });
});

t.test('EVT-06: what waits of snapshots is bounded: a client that reads nothing is refused further large ones, and gets small ones', async (t) => {
  const { hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(10_000)));
  hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  await settled();
  const { wire, connection } = open();
  wire.room = 0;
  for (let n = 0; n < 3; n += 1) connection.subscribe(`t${n}`, 'tags', {});
  t.throws(() => connection.subscribe('t3', 'tags', {}), { name: 'Refusal', kind: 'limited', context: { code: 'snapshot_pending', limit: 32_768 } });
  connection.subscribe('a', 'alarms', {});
  t.equal(connection.subscriptionCount, 4, 'the refused one is not registered');
  wire.room = Infinity;
  connection.drained();
  const frames = wire.take();
  accountsForAll(frames);
  t.equal(frames.filter(({ replay }) => replay === true).length, 30_001, 'the others came whole');
  connection.subscribe('t3', 'tags', {});
  t.equal(wire.take().length, 10_001, 'and there is room again');
});

t.test('EVT-11 SSE-13: the snapshot is the memory of this process: its last word on each object, and nothing from before it began', async (t) => {
  const before = plant();
  before.hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  await settled();
  const after = plant();
  const snapshot = (of: ReturnType<typeof plant>) => {
    const { wire, connection } = of.open();
    connection.subscribe('a', 'alarms', {});
    connection.subscribe('t', 'tags', {});
    connection.closed();
    return wire.take().filter(({ replay }) => replay === true);
  };
  t.equal(snapshot(before).length, 1);
  t.same(snapshot(after), [], 'what another process knew is not told');
  after.hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  after.hub.publish(alarm('a1', 'ActiveAcknowledged'));
  after.hub.placeTags(tagSource('north', 'rx1', tagsNamed(1)));
  await settled();
  t.match(snapshot(after), [{ name: 'a1', state: 'ActiveAcknowledged' }, { address: 'm0.pv' }], 'one frame for each object: not its history');
  t.not(
    new Hub({ clock: after.clock, sessions: after.sessions, places: everywhere }).instance,
    new Hub({ clock: after.clock, sessions: after.sessions, places: everywhere }).instance,
  );
});

t.test('EVT-05: an event published in the turn of the subscribe comes once', async (t) => {
  const { hub, open } = plant();
  const { wire, connection } = open();
  hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  await settled();
  hub.publish(alarm('a2', 'ActiveUnacknowledged'));
  connection.subscribe('a', 'alarms', {});
  hub.publish(alarm('a3', 'ActiveUnacknowledged'));
  await settled();
  t.match(wire.take(), [{ type: 'subscribed' }, { name: 'a1', replay: true }, { name: 'a2' }, { name: 'a3' }]);
});

t.test('EVT-16: no frame goes out before what it tells is on record, and none when it never will be', async (t) => {
  const pending: { resolve: () => void; reject: (fault: Error) => void }[] = [];
  const { hub, open } = plant(() => new Promise((resolve, reject) => pending.push({ resolve, reject })));
  const { wire, connection } = open();
  connection.subscribe('a', 'alarms', {});
  wire.take();
  hub.publish(alarm('a1', 'ActiveAcknowledged'));
  await settled();
  t.same(wire.take(), []);
  const late = open();
  late.connection.subscribe('a', 'alarms', {});
  t.equal(late.wire.take().length, 1, 'nor does a snapshot show it');
  at(pending, 0).resolve();
  await settled();
  t.match(wire.take(), [{ name: 'a1' }]);
  hub.publish(alarm('a2', 'ActiveAcknowledged'));
  await settled();
  at(pending, 1).reject(new Error('disk full'));
  await settled();
  t.same(wire.take(), []);
});

t.test('EVT-02 EVT-03 EVT-04 STREAM-06 STREAM-08: events leave in the turn they were published, one cork for all', async (t) => {
  const { hub, open } = plant();
  const { wire, connection } = open();
  connection.subscribe('a', 'alarms', {});
  connection.subscribe('s', 'states', {});
  connection.subscribe('h', 'cmhealth', {});
  const corks = wire.corks;
  wire.take();
  hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  hub.publish({ channel: 'states', key: 'Unit/rx1', site: 'north', unit: 'rx1', frame: { type: 'state', kind: 'Unit', name: 'rx1', state: 'Running' } });
  hub.publish({
    channel: 'cmhealth',
    key: 'tic1',
    site: 'north',
    unit: 'rx1',
    frame: { type: 'cmhealth', site: 'north', kind: 'ControlModule', name: 'tic1', state: 'Down', ts: '' },
  });
  await settled();
  t.equal(wire.corks, corks + 1);
  t.match(wire.take(), [
    { type: 'alarm', subscriptionId: 'a', severity: 'High', state: 'ActiveUnacknowledged', shelved: false, shelvedUntil: '', eventId: 1 },
    { type: 'state', subscriptionId: 's', eventId: 2 },
    { type: 'cmhealth', subscriptionId: 'h', state: 'Down', eventId: 3 },
  ]);
});

t.test('LIMIT-09 EVT-09 EVT-10: a resolved alarm is replayed for 15 minutes, a deleted one is forgotten at once', async (t) => {
  const { clock, hub, open } = plant();
  const replayed = () => {
    const { wire, connection } = open();
    connection.subscribe('a', 'alarms', {});
    connection.closed();
    return wire
      .take()
      .slice(1)
      .map(({ name }) => name);
  };
  hub.publish({ ...alarm('resolved', 'ClearedAcknowledged'), retainMs: 15 * 60_000 });
  hub.publish(alarm('deleted', 'ClearedAcknowledged'));
  hub.publish(alarm('active', 'ActiveUnacknowledged'));
  await settled();
  t.same(replayed(), ['resolved', 'deleted', 'active']);
  hub.publish({ ...alarm('deleted', ''), frame: {}, forget: true });
  await settled();
  t.same(replayed(), ['resolved', 'active']);
  clock.advance(15 * 60_000 - 1);
  t.same(replayed(), ['resolved', 'active']);
  clock.advance(1);
  t.same(replayed(), ['active']);
});

t.test('HEALTH-02 EVT-08: retained health is replayed on subscribe, however old it is', async (t) => {
  const { clock, hub, open } = plant();
  hub.publish({ channel: 'cmhealth', key: 'tic1', site: 'north', unit: 'rx1', frame: { type: 'cmhealth', state: 'CompileError' } });
  await settled();
  clock.advance(40 * 24 * 3600_000);
  const { wire, connection } = open();
  connection.subscribe('h', 'cmhealth', {});
  t.match(wire.take()[1], { state: 'CompileError', replay: true });
});

t.test('EVT-16 HEALTH-02: what no record has to be ahead of is told at once, also while nothing can be recorded', async (t) => {
  const { hub, open } = plant(() => Promise.reject(new Error('the disk is full')));
  const { wire, connection } = open();
  connection.subscribe('a', 'alarms', {});
  wire.take();
  hub.publish(alarm('changed', 'ActiveUnacknowledged'));
  hub.publish({ ...alarm('storage', 'ActiveUnacknowledged'), unrecorded: true });
  hub.publish({ ...alarm('device', 'ActiveUnacknowledged'), unrecorded: true });
  await settled();
  t.same(
    wire.take().map(({ name }) => name),
    ['storage', 'device'],
    'the frame of a change that is not on record is dropped with it',
  );
  const late = open();
  late.connection.subscribe('a', 'alarms', {});
  t.same(
    late.wire
      .take()
      .slice(1)
      .map(({ name }) => name),
    ['storage', 'device'],
  );
});

t.test('WS-13 WS-14 WS-15 WS-16: sites and actions of a subscription', async (t) => {
  const { hub, open } = plant();
  hub.publish(alarm('n', 'A', 'north'));
  hub.publish(alarm('s', 'A', 'south'));
  hub.publish(alarm('e', 'A', 'east'));
  await settled();
  const names = (caller: Caller, filter: object) => {
    const { wire, connection } = open('websocket', caller);
    connection.subscribe('a', 'alarms', filter);
    return wire
      .take()
      .slice(1)
      .map(({ name }) => name);
  };
  t.same(names(person(), {}), ['n', 's', 'e'], 'an unrestricted caller receives the whole plant');
  t.same(names(person({ sites: ['south', 'north'] }), {}), ['n', 's'], 'a confined one the union of its sites');
  t.same(names(person(), { site: 'east' }), ['e']);
  t.same(names(person(), { unit: 'other' }), []);
  const { connection } = open('websocket', person({ sites: ['north'], actions: ['tag:read'] }));
  t.throws(() => connection.subscribe('a', 'tags', { site: 'south' }), { name: 'Refusal', kind: 'forbidden', context: { code: 'site_scope' } });
  t.throws(() => connection.subscribe('a', 'alarms', {}), { name: 'Refusal', context: { code: 'action_missing', action: 'alarm:list' } });
  t.throws(() => connection.subscribe('a', 'tags', { addressPattern: '[' }), { name: 'Refusal', context: { code: 'invalid_field' } });
  const { connection: other } = open();
  t.throws(() => other.subscribe('a', 'tags', { site: 'nowhere' }), { name: 'Refusal', context: { code: 'not_found' } });
  t.throws(() => other.subscribe('a', 'tags', { unit: 'no-unit' }), { name: 'Refusal', context: { code: 'not_found' } });
  t.equal(connection.subscriptionCount + other.subscriptionCount, 0, 'nothing was registered');
});

t.test('EVT-01: a slice larger than one cork leaves whole and in order, over as many corks as it needs', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', [...tagsNamed(4000), { address: 'long.text', value: 'x'.repeat(40_000), quality: 'Good', atMs: 1 }]));
  hub.start();
  const { wire, connection } = open();
  connection.subscribe('a', 'tags', {});
  connection.subscribe('b', 'tags', { addressPattern: 'm*5.pv' });
  wire.take();
  const corks = wire.corks;
  clock.advance(200);
  t.ok(wire.corks > corks + 10, `${wire.corks - corks} corks`);
  const frames = wire.take();
  t.equal(frames.filter(({ subscriptionId }) => subscriptionId === 'a').length, 4001);
  t.equal(frames.filter(({ subscriptionId }) => subscriptionId === 'b').length, 400);
  t.ok(frames.every(({ seq }, index) => seq === frames[0].seq + index));
});

t.test('WS-07 STREAM-07: filters of tags: site, unit and pattern together; new plans are taken over', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(30)));
  hub.placeTags(tagSource('north', 'rx2', tagsNamed(30)));
  hub.placeTags(tagSource('south', 'rx1', tagsNamed(30)));
  hub.start();
  const { wire, connection } = open();
  connection.subscribe('x', 'tags', { site: 'north', unit: 'rx2', addressPattern: 'm2?.pv' });
  wire.take();
  clock.advance(200);
  const frames = wire.take();
  t.equal(frames.length, 10);
  t.ok(frames.every(({ site, unit, address }) => site === 'north' && unit === 'rx2' && /^m2\d\.pv$/.test(address)));
  hub.placeTags(tagSource('north', 'rx2', [{ address: 'm20.pv', value: 'new', quality: 'Good', atMs: 5 }]));
  clock.advance(200);
  t.match(wire.take(), [{ address: 'm20.pv', value: 'new' }]);
  hub.removeTags('north', 'rx2');
  clock.advance(200);
  t.same(wire.take(), []);
});

t.test('STREAM-04: subscriptions of one connection each get their frames, under their own ids', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(20)));
  hub.start();
  const { wire, connection } = open();
  connection.subscribe('all', 'tags', {});
  connection.subscribe('sonderzeichen "ä"', 'tags', { addressPattern: 'm1.pv' });
  wire.take();
  clock.advance(200);
  const frames = wire.take();
  t.equal(frames.filter(({ subscriptionId }) => subscriptionId === 'all').length, 20);
  t.match(
    frames.filter(({ subscriptionId }) => subscriptionId === 'sonderzeichen "ä"'),
    [{ address: 'm1.pv' }],
  );
  connection.unsubscribe('all');
  t.match(wire.take(), [{ type: 'unsubscribed', subscriptionId: 'all' }]);
  clock.advance(200);
  t.equal(wire.take().length, 1);
  t.throws(() => connection.unsubscribe('all'), { name: 'Refusal', context: { code: 'not_found' } });
  t.throws(() => connection.subscribe('sonderzeichen "ä"', 'alarms', {}), { name: 'Refusal', context: { code: 'already_subscribed' } });
  for (let n = 0; n < 63; n += 1) connection.subscribe(`n${n}`, 'alarms', {});
  t.throws(() => connection.subscribe('n64', 'alarms', {}), { name: 'Refusal', context: { code: 'too_many_subscriptions' } });
  connection.closed();
  t.equal(hub.connectionCount, 0);
});

t.test('SSE-08 SSE-07 SSE-09: events carry id, event name and the frame; gap and session-ended carry no id', async (t) => {
  const { clock, hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(1000)));
  hub.start();
  const { wire, connection } = open('sse');
  connection.openChannels(['tags', 'alarms'], { site: 'north' }, 0);
  wire.takeEvents();
  clock.advance(20);
  t.equal(wire.texts.length, 1, 'one write for a whole slice');
  const events = wire.takeEvents();
  t.equal(events.length, 100);
  t.match(events[0], { id: /^3f9c0a11d2e4-\d+$/, event: 'tag', data: { type: 'tag', address: 'm0.pv' } });
  t.equal(at(events, 0).id, `3f9c0a11d2e4-${at(events, 0).data.eventId}`);
  hub.publish(alarm('a1', 'ActiveUnacknowledged'));
  await settled();
  t.match(wire.takeEvents(), [{ event: 'alarm', id: `3f9c0a11d2e4-${hub.eventId}` }]);
  wire.room = 0;
  clock.advance(200);
  wire.room = Infinity;
  connection.drained();
  const gap = wire.takeEvents().find(({ event }) => event === 'gap');
  t.match(gap, { event: 'gap', data: { type: 'gap', dropped: 744 } });
  t.equal(gap?.id, undefined);
  wire.room = 0;
  clock.advance(200);
  connection.sayLast({ type: 'session-ended', reason: 'x' });
  const last = wire.takeEvents();
  t.match(last, [
    { event: 'gap', data: { dropped: 1000 } },
    { event: 'session-ended', data: { type: 'session-ended', reason: 'x' } },
  ]);
  t.equal(at(last, 1).id, undefined);
  t.equal(at(last, 1).data.seq, at(last, 0).data.seq + 1);
});

t.test('SSE-12 SSE-14 SSE-15: a resume replays what changed while away, and the snapshot moves the point with its last frame only', async (t) => {
  const { clock, hub, open } = plant();
  const tags = tagsNamed(20);
  hub.placeTags(tagSource('north', 'rx1', tags));
  hub.publish(alarm('old', 'ActiveUnacknowledged'));
  hub.publish(alarm('gone', 'ActiveUnacknowledged'));
  await settled();
  hub.start();
  clock.advance(400);
  const first = open('sse');
  first.connection.openChannels(['tags', 'alarms'], { site: 'north' }, 0);
  const whole = first.wire.takeEvents();
  t.equal(whole.length, 22);
  t.ok(whole.slice(0, -1).every(({ id }) => id === '3f9c0a11d2e4-0'));
  t.equal(whole.at(-1)?.id, `3f9c0a11d2e4-${hub.eventId}`);
  t.ok(
    whole.every(({ data }) => data.replay === true && data.eventId <= 42),
    'the frames keep the number of their last change',
  );
  first.connection.closed();
  const leftAt = hub.eventId;

  at(tags, 7).value = 'changed';
  at(tags, 3).quality = 'Bad';
  clock.advance(200);
  hub.publish(alarm('new', 'ActiveUnacknowledged'));
  hub.publish({ ...alarm('gone', ''), frame: {}, forget: true });
  await settled();
  clock.advance(600);
  const again = open('sse');
  again.connection.openChannels(['tags', 'alarms'], { site: 'north' }, resumePoint(`3f9c0a11d2e4-${leftAt}`, hub.instance, hub.eventId));
  const resumed = again.wire.takeEvents();
  t.match(
    resumed.map(({ data }) => data.address ?? data.name),
    ['m3.pv', 'm7.pv', 'new'],
  );
  t.same(
    resumed.slice(0, 2).map(({ id }) => id),
    [`3f9c0a11d2e4-${leftAt}`, `3f9c0a11d2e4-${leftAt}`],
  );
  t.equal(at(resumed, 2).id, `3f9c0a11d2e4-${hub.eventId}`);
});

t.test('SSE-13: an id of another instance, an unreadable one or one from the future gets the full snapshot', async (t) => {
  for (const id of [undefined, '', '42', '3f9c0a11d2e5-42', '3f9c0a11d2e4-', '3f9c0a11d2e4-x', '3f9c0a11d2e4-101', '3f9c0a11d2e4--1'])
    t.equal(resumePoint(id, '3f9c0a11d2e4', 100), 0, String(id));
  t.equal(resumePoint('3f9c0a11d2e4-100', '3f9c0a11d2e4', 100), 100);
});

t.test('SSE-12: a new plan keeps the change numbers of tags that stayed the same', async (t) => {
  const { hub, open } = plant();
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(5)));
  const since = hub.eventId;
  hub.placeTags(tagSource('north', 'rx1', [...tagsNamed(5, (index) => (index === 2 ? 'other' : index)), { address: 'added.pv', value: 1, quality: 'Good', atMs: 0 }]));
  const { wire, connection } = open('sse');
  connection.openChannels(['tags'], { site: 'north' }, since);
  t.same(
    wire.takeEvents().map(({ data }) => data.address),
    ['m2.pv', 'added.pv'],
  );
});

t.test('LIMIT-08 STREAM-13 STREAM-19 STREAM-20: expiry and inactivity are noticed within 50 seconds, revocation at once', async (t) => {
  const { clock, sessions, hub, open } = plant();
  hub.start();
  const expiring = open('websocket', person({ expiresAtMs: clock.wallMs() + 26_000, sessionId: 's1' }));
  const lasting = open('sse', person({ expiresAtMs: clock.wallMs() + 900_000, sessionId: 's2' }));
  const revoked = open('websocket', person({ sessionId: 's3' }));
  clock.advance(25_500);
  t.same(expiring.ends, []);
  clock.advance(25_000);
  t.same(expiring.ends, ['session: access token expired']);
  sessions.end('s3', 'session ended: logout');
  t.same(revoked.ends, ['session: session ended: logout']);
  t.same(lasting.ends, []);
  sessions.state = 'inactive';
  clock.advance(25_000);
  t.same(lasting.ends, ['session: session terminated after inactivity']);
});

t.test('STREAM-19 WS-16 (D-STREAM-02): a permission or site lost ends what depended on it', async (t) => {
  const { clock, sessions, hub, open } = plant();
  hub.start();
  const both = open('websocket', person({ sites: ['north', 'south'] }));
  both.connection.subscribe('a', 'alarms', {});
  both.connection.subscribe('n', 'alarms', { site: 'north' });
  both.connection.subscribe('t', 'tags', { site: 'north' });
  const stream = open('sse', person({ sites: ['south'] }));
  stream.connection.openChannels(['alarms'], { site: 'south' }, 0);
  both.wire.take();
  sessions.refreshed = (caller) => ({ ...caller, sites: ['north'], may: (action) => action !== 'tag:read' });
  clock.advance(25_000);
  t.match(both.wire.take(), [
    { type: 'error', code: 'site_scope', subscriptionId: 'a' },
    { type: 'error', code: 'action_missing', action: 'tag:read', subscriptionId: 't' },
  ]);
  t.equal(both.connection.subscriptionCount, 1);
  t.equal(stream.ends.length, 1);
  t.match(stream.ends[0], /^permission: /);
  both.wire.take();
  sessions.refreshed = (caller) => ({ ...caller, mustEnrol: true });
  clock.advance(25_000);
  t.match(both.wire.take(), [{ type: 'error', code: 'second_factor_enrolment_required' }], 'who must enrol first sees no further');
  t.equal(both.connection.subscriptionCount, 0);
});

t.test('STREAM-24: connections are counted per source, both transports together', async (t) => {
  const { hub, open } = plant();
  const a = open('websocket', person(), '10.0.0.1');
  const b = open('sse', person({ sessionId: 's2' }), '10.0.0.1');
  open('sse', person(), '10.0.0.2');
  t.equal(hub.streamCount('10.0.0.1'), 2);
  t.equal(hub.streamsOfSession('s1'), 2);
  a.connection.closed();
  a.connection.closed();
  t.equal(hub.streamCount('10.0.0.1'), 1);
  b.connection.closed();
  t.equal(hub.streamCount('10.0.0.1'), 0);
  t.equal(hub.streamCount('10.0.0.2'), 1);
});

t.test('STREAM-24: one IPv6 subscriber is one source, whichever of its addresses it uses', async (t) => {
  const { hub, open } = plant();
  const a = open('websocket', person(), '2001:db8:0:1::1');
  open('sse', person(), '2001:db8:0:1:ffff:ffff:ffff:9');
  open('sse', person(), '2001:db8:0:2::1');
  t.equal(hub.streamCount('2001:db8:0:1::42'), 2);
  a.connection.closed();
  t.equal(hub.streamCount('2001:db8:0:1::42'), 1);
});

t.test('STREAM-03: broker status goes to WebSockets only, on change, without eventId', async (t) => {
  const { hub, open } = plant();
  const socket = open('websocket');
  const events = open('sse');
  hub.setBroker('connected');
  hub.setBroker('disconnected');
  hub.setBroker('connected');
  const frames = socket.wire.take();
  t.match(frames, [
    { type: 'broker-status', seq: 1, status: 'disconnected' },
    { type: 'broker-status', seq: 2, status: 'connected' },
  ]);
  t.equal(frames[0].eventId, undefined);
  t.same(events.wire.texts, []);
});

t.test('STREAM-11: an error frame carries message, code and the context of the refusal', async (t) => {
  const { open } = plant();
  const { wire, connection } = open();
  connection.refuse(new Refusal('forbidden', 'no', { code: 'automatic_mode', module: 'tic1' }), { requestId: 'r1' });
  t.match(wire.take(), [{ type: 'error', seq: 1, message: 'no', code: 'automatic_mode', requestId: 'r1', module: 'tic1' }]);
});

t.test('a connection or a unit that throws in the hub is told and ended alone: frames, tags, supervision and the ends of all others go on', async (t) => {
  const { clock, sessions, hub, open } = plant();
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const fail = (): never => {
    throw new Error('not this one');
  };
  const broken = open();
  const other = open();
  for (const { connection } of [broken, other]) {
    connection.subscribe('a', 'alarms', {});
    connection.subscribe('t', 'tags', {});
  }
  const odd = tagSource('north', 'rx1', [{ address: 'a.pv', value: 1, quality: 'Good', atMs: 1000 }]);
  const reads = odd.valueJson.bind(odd);
  hub.placeTags(odd);
  hub.placeTags(tagSource('north', 'rx2', [{ address: 'b.pv', value: 2, quality: 'Good', atMs: 1000 }]));
  other.wire.take();
  broken.wire.cork = fail;
  hub.start();

  hub.publish(alarm('hot', 'Active'));
  await settled();
  t.match(other.wire.take(), [{ type: 'alarm', name: 'hot' }]);
  clock.advance(200);
  t.match(
    other.wire
      .take()
      .map(({ address, value }) => [address, value])
      .sort(),
    [
      ['a.pv', 1],
      ['b.pv', 2],
    ],
  );
  t.same(
    broken.ends,
    told.map(() => 'fault: internal error'),
    'whoever keeps the connection is told to end it',
  );
  t.ok(told.length > 0);
  t.match(
    told,
    told.map(() => 'hub: connection: not this one'),
  );

  broken.connection.closed();
  told.length = 0;
  Object.assign(odd, { valueJson: fail });
  clock.advance(200);
  t.match(
    other.wire
      .take()
      .map(({ address, value, quality }) => [address, value, quality])
      .sort(),
    [
      ['a.pv', null, 'Bad'],
      ['b.pv', 2, 'Good'],
    ],
  );
  t.match(told, ['hub: tags of a unit: not this one']);
  Object.assign(odd, { valueJson: reads });

  const sick = open();
  told.length = 0;
  sick.connection.supervise = fail;
  sick.connection.shutDown = fail;
  sick.connection.sessionEnded = fail;
  sick.connection.pushBroker = fail;
  const last = open();
  hub.setBroker('disconnected');
  t.match(last.wire.take(), [{ type: 'broker-status' }]);
  sessions.state = 'ended';
  clock.advance(25_000);
  t.same(last.ends, ['session: session ended: terminated by administrator']);
  await hub.endAll();
  t.match(last.ends.at(-1), 'shutdown: server shutdown');
  t.same([...new Set(told)], ['hub: broker: not this one', 'hub: supervision: not this one', 'hub: end of all: not this one']);
});

t.test('STREAM-20: a stream whose session has ended does not go on when telling it so throws, and the others of the session end', async (t) => {
  const { sessions, open } = plant();
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const [sick, other] = [open('websocket', person({ sessionId: 's1' })), open('sse', person({ sessionId: 's1' }))];
  sick.connection.sessionEnded = () => {
    throw new Error('no last frame');
  };
  sessions.end('s1', 'session ended: logout');
  t.same(sick.ends, ['fault: internal error']);
  t.same(other.ends, ['session: session ended: logout']);
  t.same(told, ['hub: end of a session: no last frame']);
});

t.test('a subscription whose snapshot cannot be made is none, and a stream whose tags cannot be released is no stream of its source afterwards', async (t) => {
  const { hub, open } = plant();
  const fail = (): never => {
    throw new Error('not this one');
  };
  hub.placeTags(tagSource('north', 'rx1', tagsNamed(2)));
  const { connection, wire } = open();
  const sources = Object.getOwnPropertyDescriptor(LastKnown.prototype, 'select') as PropertyDescriptor;
  t.teardown(() => Object.defineProperty(LastKnown.prototype, 'select', sources));
  Object.defineProperty(LastKnown.prototype, 'select', { ...sources, value: fail });
  t.throws(() => connection.subscribe('a', 'alarms', {}), { message: 'not this one' });
  Object.defineProperty(LastKnown.prototype, 'select', sources);
  t.equal(connection.subscriptionCount, 0);
  t.equal(connection.subscribe('a', 'alarms', {}), 0, 'its id is free');
  t.match(wire.take(), [{ type: 'subscribed', subscriptionId: 'a' }]);

  connection.subscribe('t', 'tags', {});
  const release = Object.getOwnPropertyDescriptor(TagBoard.prototype, 'release') as PropertyDescriptor;
  t.teardown(() => Object.defineProperty(TagBoard.prototype, 'release', release));
  Object.defineProperty(TagBoard.prototype, 'release', { ...release, value: fail });
  t.throws(() => connection.closed(), { message: 'not this one' });
  t.same([hub.connectionCount, hub.streamCount('10.0.0.1')], [0, 0]);
});

t.test('a stream that throws while it is opened is no stream of its source afterwards', async (t) => {
  const { clock, sessions, hub } = plant();
  const fail = (): never => {
    throw new Error('not this one');
  };
  const wire = { sourceIP: '10.0.0.1', send: fail, write: fail, cork: fail, bufferedBytes: () => 0, ping: fail, close: fail, terminate: fail, end: fail };
  hub.publish(alarm('hot', 'Active'));
  await settled();
  hub.setBroker('disconnected');
  const frames = { write: fail, command: fail };
  const request = { site: 'north', unit: undefined, channel: undefined, lastEventId: undefined };
  t.throws(() => openEventStream({ hub, clock, places: everywhere }, request, person())(wire), { message: 'not this one' });
  t.throws(() => openWebSocket({ hub, clock, sessions, frames, onFault: fail }, person())(wire), { message: 'not this one' });
  t.same([hub.connectionCount, hub.streamCount('10.0.0.1')], [0, 0]);
});
