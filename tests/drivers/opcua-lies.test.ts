/** OPC UA modules through the probe against a server that lies, spoken by hand from the specification: no value stays Good that cannot be known. */
import t, { type Test } from 'tap';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { IMAGE_HEADER, ProcessImage } from '../../runtime/vocabulary/process-image.js';
import type { ProbeModule } from '../../runtime/port.js';
import { BytePeer } from '../support/opcua-bytes.js';
import type { Lie, Revised } from '../support/opcua-liar.js';
import { opcuaModule } from '../support/opcua-module.js';
import { ownFolder } from '../support/own-folder.js';
import { quickClock } from '../support/quick-clock.js';
import { startProbe, until, valueOf } from './probe-harness.js';

const box = ownFolder(t);
const LEVEL = 'ns=1;s=Level';
/** A silent device is Bad within 3 s (decisions 7); and what a busy machine adds. */
const SILENCE_MS_MAX = 3000 + 1000;

/** OPC 10000-6, 7.1.2.5: BadTcpInternalError with a text. `bytes`: what is sent of it, and what its head says. */
function errorMessage({ length, text }: { readonly length: number; readonly text: string }, bytes = 16 + text.length): Buffer {
  const message = Buffer.alloc(16 + text.length);
  message.write('ERRF');
  message.writeUInt32LE(bytes, 4);
  message.writeUInt32LE(0x80820000, 8);
  message.writeUInt32LE(length, 12);
  message.write(text, 16);
  return message.subarray(0, bytes);
}

interface Bench {
  readonly peer: BytePeer;
  readonly module: ProbeModule;
  readonly values: readonly number[];
  state(): string;
  message(): string;
  isGood(value: number): boolean;
  isBad(): boolean;
}

async function bench(t: Test, options: ProbeModule['options'] = {}, revised: Revised = {}): Promise<Bench> {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  peer.behaviour = 'serves';
  peer.liar.revised = revised;
  const module = opcuaModule(peer.url, box, [['level', LEVEL, 'float']], {
    publishingInterval: '20ms',
    samplingInterval: '20ms',
    pollInterval: '20ms',
    timeout: '300ms',
    retries: 0,
    ...options,
  });
  const probe = await startProbe(t, [module], { random: () => 0.5, ...(revised.publishingMs === undefined ? { clock: quickClock(5) } : {}) });
  const shown = () => valueOf(module, 'level');
  const values: number[] = [];
  const look = (): void => {
    const { value, quality } = shown();
    if (quality !== QUALITY.Bad && values.at(-1) !== value) values.push(value);
  };
  const bench: Bench = {
    peer,
    module,
    values,
    state: () => probe.state(),
    message: () => probe.message(),
    isGood: (value) => {
      look();
      return shown().quality === QUALITY.Good && shown().value === value;
    },
    isBad: () => {
      look();
      return shown().quality === QUALITY.Bad;
    },
  };
  await until('the truth', () => bench.isGood(1) && probe.state() === 'Connected');
  return bench;
}

/** What cannot be believed: the value is Bad in time, and Good again with the truth. */
const UNBELIEVABLE: readonly { readonly what: string; readonly lie: Lie; readonly modes?: readonly string[] }[] = [
  { what: 'another sequence number on the channel', lie: { sequence: 5 } },
  { what: 'the answer to another request', lie: { requestId: 1000 } },
  { what: 'another request handle', lie: { requestHandle: 77 } },
  { what: 'another channel', lie: { channelId: 1 } },
  { what: 'silence in the session', lie: { mute: 'all' } },
  { what: 'silence to publish requests alone', lie: { mute: ['Publish'] }, modes: ['subscribe'] },
  { what: 'silence to reads alone', lie: { mute: ['Read'] }, modes: ['poll'] },
  { what: 'keep-alives and no data', lie: { onlyKeepAlives: true }, modes: ['subscribe'] },
  { what: 'samples of a subscription that nobody made', lie: { subscription: 9 }, modes: ['subscribe'] },
  { what: 'samples of items that nobody made', lie: { handle: 100 }, modes: ['subscribe'] },
  { what: 'garbage between two messages', lie: { between: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') } },
  { what: 'an error message', lie: { between: errorMessage({ length: 3, text: 'why' }) } },
  { what: 'an error message with less text than it says', lie: { between: errorMessage({ length: 0x7fff_fff0, text: 'why' }) } },
  { what: 'an error message with a text of a negative length', lie: { between: errorMessage({ length: 0xffff_fff0, text: 'why' }) } },
  { what: 'an error message without its status', lie: { between: errorMessage({ length: 0, text: '' }, 10) } },
  { what: 'answers that are cut off', lie: { answer: (_, body) => body.subarray(0, body.length - 9) } },
  { what: 'answers of a service that was not asked', lie: { answer: (_, body) => Buffer.concat([Buffer.from([1, 0, 0xd9, 1]), body.subarray(4)]) } },
  { what: 'answers of zeros', lie: { answer: (_, body) => Buffer.alloc(body.length) } },
  { what: 'fewer results than it was asked for', lie: { fewer: 1 }, modes: ['poll'] },
  { what: 'text for a number', lie: { value: { type: 'String', value: '3' } } },
  { what: 'an array for a number', lie: { value: { type: 'Double', value: [3, 4] } } },
  { what: 'a number that is not finite', lie: { value: { type: 'Double', value: Number.NaN } } },
  { what: 'a truth value for a number', lie: { value: { type: 'Boolean', value: true } } },
  { what: 'a value that it calls bad', lie: { value: { type: 'Double', value: 3, status: 0x808c0000 } } },
];

for (const mode of ['subscribe', 'poll'])
  t.test(`mode ${mode}`, async (t) => {
    for (const { what, lie, modes } of UNBELIEVABLE) {
      if (modes && !modes.includes(mode)) continue;
      t.test(`D-IO-01: a server that lies (${what}) delivers no value, and a true one does again`, async (t) => {
        const { peer, isGood, isBad, values } = await bench(t, { mode });
        peer.liar.lie = lie;
        peer.liar.set(LEVEL, { type: 'Double', value: 2 });
        const badAfter = await until('it is not believed', isBad);
        t.ok(badAfter < SILENCE_MS_MAX, `${Math.round(badAfter)} ms`);
        peer.liar.lie = {};
        peer.liar.set(LEVEL, { type: 'Double', value: 2 });
        await until('the truth again', () => isGood(2));
        t.same(
          values.filter((value) => value !== 1 && value !== 2),
          [],
          'no value of a lie',
        );
        await until('one connection', () => peer.open === 1);
      });
    }
  });

t.test('D-IO-02: a notification that is missing is asked for again', async (t) => {
  const { peer, isGood, values } = await bench(t);
  peer.liar.lie = { lost: 'told again' };
  peer.liar.set(LEVEL, { type: 'Double', value: 2 });
  await until('it is told again', () => isGood(2));
  t.ok((peer.liar.taken.get('Republish') ?? 0) > 0);
  t.same(values, [1, 2]);
});

t.test('D-IO-02: what the server no longer has is read', async (t) => {
  const { peer, isGood } = await bench(t);
  const reads = peer.liar.taken.get('Read') ?? 0;
  peer.liar.lie = { lost: 'gone' };
  peer.liar.set(LEVEL, { type: 'Double', value: 2 });
  await until('it is read', () => isGood(2));
  t.ok((peer.liar.taken.get('Read') ?? 0) > reads);
});

t.test('D-IO-02: a notification that comes twice takes no newer value back', async (t) => {
  const { peer, isGood, values } = await bench(t);
  peer.liar.lie = { isDoubled: true };
  for (const value of [2, 3, 4, 5]) {
    peer.liar.set(LEVEL, { type: 'Double', value });
    await until('it is there', () => isGood(value));
  }
  t.same(values, [1, 2, 3, 4, 5]);
});

t.test('items that the server says nothing of are Bad, and told', async (t) => {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  peer.behaviour = 'serves';
  const module = opcuaModule(peer.url, box, [
    ['level', LEVEL, 'float'],
    ['hole', 'ns=1;s=Nowhere', 'float'],
  ]);
  const probe = await startProbe(t, [module]);
  await until('degraded', () => probe.state() === 'Degraded');
  t.match(probe.message(), /^hole: BadNodeIdUnknown/);
  await until('the other one is Good', () => valueOf(module, 'level').quality === QUALITY.Good);
});

t.test('D-IO-01: a server that does not say what came of a write has not carried it out', async (t) => {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  peer.behaviour = 'serves';
  const module = opcuaModule(peer.url, box, [['out', LEVEL, 'float', { direction: 'output' }]], { timeout: '300ms' });
  const probe = await startProbe(t, [module]);
  await until('connected', () => probe.state() === 'Connected');
  const write = (id: number, value: number) => probe.ask({ type: 'write', id, module: 'io', channel: 'out', value }, 'write-result');
  t.match(await write(1, 5), { ok: true });
  t.equal(peer.liar.values.get(LEVEL)?.value, 5);
  peer.liar.lie = { fewer: 1 };
  t.match(await write(2, 6), { ok: false, message: /does not say/ });
  peer.liar.lie = { mute: ['Write'] };
  t.match(await write(3, 7), { ok: false, code: 'device_unreachable', message: /300 ms/ });
  peer.liar.lie = { requestHandle: 1 };
  t.match(await write(4, 8), { ok: false, message: /./ });
});

t.test('D-IO-01: of a module that has outputs only, a server that falls silent is told, and one that speaks is never given up', async (t) => {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  peer.behaviour = 'serves';
  const module = opcuaModule(peer.url, box, [['out', LEVEL, 'float', { direction: 'output' }]], { timeout: '200ms' });
  const probe = await startProbe(t, [module]);
  await until('connected', () => probe.state() === 'Connected');
  const reads = peer.liar.taken.get('Read') ?? 0;
  await until('it is asked although nobody wants anything', () => (peer.liar.taken.get('Read') ?? 0) > reads + 1);
  t.equal(peer.accepted, 1, 'longer than its time-out, on one connection');
  peer.liar.lie = { mute: 'all' };
  t.ok((await until('the silence is told', () => probe.state() === 'Disconnected')) < SILENCE_MS_MAX);
  peer.liar.lie = {};
  await until('connected again', () => probe.state() === 'Connected');
});

t.test('decisions 7.2: samples that come more seldom than the time-out of a request keep their connection, and stay Good', async (t) => {
  const { peer, module, isGood } = await bench(t, { timeout: '200ms' }, { publishingMs: 2500 });
  const told = (): number => Number(peer.liar.taken.get('Publish'));
  const before = told();
  await until('two more samples', () => {
    if (!isGood(1)) throw new Error('it was not Good all the time');
    return told() >= before + 2;
  });
  t.equal(peer.accepted, 1);
  t.equal(staleAfter(module), 7500);
});

const staleAfter = ({ channels, image }: ProbeModule): number => Atomics.load(new ProcessImage(channels.length, image).header, IMAGE_HEADER.staleAfter);

t.test('decisions 7.2: the age at which samples are stale follows what the server made of the intervals', async (t) => {
  const asked = await bench(t);
  t.equal(staleAfter(asked.module), 60, 'three of the 20 ms that were asked for');
  const slow = await bench(t, {}, { publishingMs: 400 });
  t.equal(staleAfter(slow.module), 1200, 'three of its publishing interval');
  const sampled = await bench(t, {}, { samplingMs: 2500 });
  t.equal(staleAfter(sampled.module), 7500, 'three of its sampling interval');
  const quiet = await bench(t, {}, { publishingMs: 100, keepAliveCount: 7, hasNoClock: true });
  t.equal(staleAfter(quiet.module), 2100, 'three of its keep-alives, where nothing else proves that it lives');
  const given = await bench(t, { staleAfter: '5s' }, { publishingMs: 400 });
  t.equal(staleAfter(given.module), 0, 'what a person has set counts');
  const polled = await bench(t, { mode: 'poll' });
  t.equal(staleAfter(polled.module), 0);
});

/** The answer of a server that is busy: a service fault in place of the answer (OPC 10000-4, 7.34). */
const busy = (service: string, body: Buffer): Buffer =>
  service === 'Read'
    ? Buffer.concat([Buffer.from([1, 0, 0x8d, 1]), body.subarray(4, 16), Buffer.from([0, 0, 0xee, 0x80]), Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0])])
    : body;

t.test('D-IO-02: what was missed is read until it has come, on one connection', async (t) => {
  const { peer, isGood, isBad, message } = await bench(t);
  peer.liar.lie = { lost: 'gone', answer: busy };
  peer.liar.set(LEVEL, { type: 'Double', value: 2 });
  await until('the read of what was missed is refused', isBad);
  peer.liar.lie = { answer: busy };
  const reads = Number(peer.liar.taken.get('Read'));
  await until('it is asked for again', () => Number(peer.liar.taken.get('Read')) > reads);
  peer.liar.lie = {};
  await until('it is there although nothing changes', () => isGood(2));
  t.equal(peer.accepted, 1, message());
});
