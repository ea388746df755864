/**
 * What every driver keeps through the probe when its device or the wire to it behaves badly (decisions 7, D-IO-01 to D-IO-03). A driver runs it
 * against a real device, a process of its own, with a proxy on the wire that can be told to harm it. Run it beside `conformance`.
 */
import type { Test } from 'tap';
import type { DriverTable } from '../../runtime/io/drivers.js';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { CONNECTION, ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { at } from '../support/at.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LANES, randomFaults } from './random-faults.js';
import { randomOf } from './random.js';
import { type ChannelText, channelsOf, connectionOf, planOf, type Probe, RECONNECT_MAX_MS, RECONNECT_MIN_MS, startProbe, until, valueOf, withChannels } from './probe-harness.js';

/** A device of its own process. */
export interface DeviceHandle {
  readonly port: number;
  /** Pulls the plug: every connection is gone and nobody listens. */
  kill(): Promise<void>;
  /** The same device on the same port again, with the values it begins with. */
  restart(): Promise<void>;
}

export interface FaultCase {
  /** Absent: the drivers of the build. */
  readonly drivers?: DriverTable;
  /** A module `name` of the device behind the port, with these channels; polls every 50 ms, waits at most a second. */
  module(name: string, port: number, channels: readonly ProbeChannel[], options?: ProbeModule['options']): ProbeModule;
  /** A device that no other test uses, or one that many share when nothing is done to it but over the wire. */
  device(t: Test): Promise<DeviceHandle>;
  /** Inputs that the device holds at these values, at least two; of numbers. */
  readonly inputs: readonly { readonly row: ChannelText; readonly value: number }[];
  /** An output that takes 1 and 2, and the input that shows what it was given. */
  readonly output: { readonly row: ChannelText; readonly shows: ChannelText };
  /** An address that the device does not have. */
  readonly missing: ChannelText;
  /** More numeric inputs than fit one request. */
  readonly many: readonly ChannelText[];
  /** How long the device is silent before it is Bad at the latest: 3 s (decisions 7), and what a busy machine adds. */
  readonly silenceMsMax?: number;
  /** Replies of a device that lies, made of a true one. None of them may become a value. */
  readonly lies: readonly { readonly what: string; readonly of: (reply: Buffer) => Buffer }[];
  /** Connections that one module holds; 1. */
  readonly sockets?: number;
  /** Values that a piece of a request writes to `output`, as the bytes have them; absent: outputs that nobody commanded are not counted. */
  readonly written?: (request: Buffer) => readonly number[];
  /** Cable pulls. */
  readonly pulls?: number;
  /** Faults of every kind, drawn by the seed. */
  readonly faults?: number;
  /** Time-out of a module among faults of every kind: what connecting takes of its requests on a busy machine. */
  readonly timeoutMs?: number;
  readonly seed?: number;
}

const SILENCE_MS_MAX = 3000 + 1000;
const POLLS_WATCHED = 12;

interface Bench {
  readonly proxy: FaultProxy;
  readonly module: ProbeModule;
  readonly probe: Probe;
  isGood(): boolean;
  /** As the process image has it at once; what is told of a module that never comes to rest is less than what happens. */
  isShown(): boolean;
  isBad(): boolean;
  /** A Good sample that the device never had, as text; empty: none. */
  wrong(): string;
}

export function conformanceOfFaults(t: Test, setup: () => FaultCase): void {
  const { inputs, sockets = 1, silenceMsMax = SILENCE_MS_MAX } = setup();
  const rows = inputs.map(({ row }) => row);

  async function bench(t: Test, options: ProbeModule['options'] = {}, target?: () => number, reconnectMaxMs = RECONNECT_MAX_MS): Promise<Bench> {
    const one = setup();
    const device = target ? undefined : await one.device(t);
    const proxy = await FaultProxy.start(target ?? (() => device?.port ?? 0));
    t.teardown(() => proxy.stop());
    const module = one.module('io', proxy.port, channelsOf(rows), options);
    const probe = await startProbe(t, [module], { random: () => 0.5, reconnectMaxMs, ...(one.drivers ? { drivers: one.drivers } : {}) });
    const shown = (): { name: string; value: number; quality: number; wanted: number }[] =>
      inputs.map(({ row: [name], value }) => ({ name, wanted: value, value: valueOf(module, name).value, quality: valueOf(module, name).quality }));
    return {
      proxy,
      module,
      probe,
      isShown: () => connectionOf(module) === CONNECTION.connected && shown().every(({ quality }) => quality === QUALITY.Good),
      isGood: () => probe.state() === 'Connected' && shown().every(({ quality }) => quality === QUALITY.Good),
      isBad: () => shown().every(({ quality }) => quality === QUALITY.Bad),
      wrong: () =>
        shown()
          .flatMap(({ name, value, quality, wanted }) => (quality === QUALITY.Good && value !== wanted ? [`${name} is ${value}, not ${wanted}`] : []))
          .join(),
    };
  }

  t.test('D-IO-02: the first good sample is what makes a module connected, and none is there before', async (t) => {
    const { proxy, module, probe, isGood, isBad, wrong } = await bench(t);
    proxy.mode = 'hold';
    await until('somebody has connected', () => proxy.accepted > 0);
    t.equal(connectionOf(module), CONNECTION.never);
    t.not(probe.state(), 'Connected');
    t.ok(isBad());
    proxy.release();
    await until('good', isGood);
    t.equal(connectionOf(module), CONNECTION.connected);
    t.equal(wrong(), '');
  });

  t.test('D-IO-01: a device whose plug is pulled is Bad and Disconnected in time, and Good again when it is back, without a restart', async (t) => {
    const device = await setup().device(t);
    const { module, probe, isGood, isBad, wrong } = await bench(t, { pollInterval: '500ms' }, () => device.port);
    await until('good', isGood);
    await device.kill();
    const lostAfter = await until('bad', () => isBad() && probe.state() === 'Disconnected');
    t.ok(lostAfter < silenceMsMax, `${Math.round(lostAfter)} ms`);
    t.equal(connectionOf(module), CONNECTION.lost);
    const [name] = at(rows, 0);
    t.match((await probe.ask({ type: 'read', id: 1, module: 'io', channels: [name] }, 'read-result')).values, [{ quality: 'Bad', message: /./ }]);
    t.match(await probe.ask({ type: 'discover', id: 2, module: 'io', timeoutMs: 1000 }, 'discover-result'), { ok: false, message: /./ });
    await device.restart();
    await until('good again', isGood);
    t.equal(wrong(), '');
  });

  t.test('D-IO-01: a frozen device (half-open) is Bad in time, whatever its poll interval and time-out are', async (t) => {
    const frozen = async (options: ProbeModule['options']): Promise<void> => {
      const { proxy, module, probe, isGood, isBad } = await bench(t, options);
      await until('good', isGood);
      proxy.mode = 'half-open';
      const lostAfter = await until('bad', isBad);
      t.ok(lostAfter < silenceMsMax, `${JSON.stringify(options)}: ${Math.round(lostAfter)} ms`);
      await until('lost', () => probe.state() === 'Disconnected');
      proxy.mode = 'pass';
      proxy.reset();
      await until('good again', isGood);
      await probe.core.receive({ type: 'stop' });
      t.equal(connectionOf(module), CONNECTION.lost);
      await until('closed', () => proxy.open === 0);
    };
    await Promise.all([frozen({ pollInterval: '500ms', timeout: '1s' }), frozen({ pollInterval: '10s', timeout: '5s' })]);
  });

  t.test('D-IO-02: a slow device is Good as long as it answers within its time-out', async (t) => {
    const { proxy, probe, isGood, wrong } = await bench(t, { timeout: '2s' });
    await until('good', isGood);
    const told = probe.messages.length;
    proxy.delayMs = 100;
    const [name] = at(rows, 0);
    for (let id = 1; id <= 5; id += 1) t.match((await probe.ask({ type: 'read', id, module: 'io', channels: [name] }, 'read-result')).values, [{ quality: 'Good' }]);
    t.same(
      probe.messages.slice(told).filter(({ type }) => type === 'module'),
      [],
      'nothing happened',
    );
    t.equal(wrong(), '');
  });

  t.test('D-IO-02: late and doubled replies never become values, and the connection is built anew', async (t) => {
    const { proxy, isGood, wrong } = await bench(t, { timeout: '500ms', retries: 0 });
    await until('good', isGood);
    const before = proxy.accepted;
    proxy.mode = 'hold';
    await until('given up, and tried anew', () => !isGood() && proxy.accepted > before);
    proxy.release();
    await until('good again', isGood);
    t.ok(proxy.accepted > before, 'by a connection of its own');
    proxy.mode = 'double';
    await until('rebuilt, or the second one harms nobody', () => proxy.accepted > before + 1 || isGood());
    proxy.mode = 'pass';
    await until('good at last', isGood);
    t.equal(wrong(), '');
  });

  t.test('D-IO-02: a device that refuses is tried again after the back-off, doubling up to its end', async (t) => {
    const one = setup();
    const device = await one.device(t);
    const proxy = await FaultProxy.start(() => device.port);
    t.teardown(() => proxy.stop());
    const delays: number[] = [];
    const clock = {
      ...systemClock,
      after: (ms: number, call: () => void) => {
        if (ms >= RECONNECT_MIN_MS && ms <= RECONNECT_MAX_MS && proxy.refused > 0) delays.push(ms);
        return systemClock.after(ms, call);
      },
    };
    proxy.refuse(true);
    const module = one.module('io', proxy.port, channelsOf(rows), { pollInterval: '1s', timeout: '1s' });
    const probe = await startProbe(t, [module], { clock, random: () => 0.5, ...(one.drivers ? { drivers: one.drivers } : {}) });
    await until('refused often', () => proxy.refused >= 5);
    t.match(probe.state(), 'Disconnected');
    t.ok(probe.message().length > 0);
    const [first, second, end] = [1, 2, 4].map((times) => delays.indexOf(times * RECONNECT_MIN_MS)) as [number, number, number]; // among other waits of the probe
    t.ok(first >= 0 && first < second && second < end && delays[end] === RECONNECT_MAX_MS, delays.join());
    proxy.refuse(false);
    await until('good', () => probe.state() === 'Connected');
  });

  for (const { what, of } of setup().lies) {
    t.test(`D-IO-02: a device that lies (${what}) delivers no value, and a true one does again`, async (t) => {
      const { proxy, isGood, isBad, wrong } = await bench(t, { timeout: '200ms', retries: 0 });
      await until('good', isGood);
      const seen: string[] = [];
      const rewrite = (chunk: Buffer): Buffer => {
        seen.push(wrong());
        return of(chunk);
      };
      proxy.rewrite = rewrite;
      proxy.mode = 'rewrite';
      await until('it is not believed', isBad);
      const lied = seen.length;
      await until('and it is asked on', () => seen.length > lied + 1);
      t.ok(isBad());
      proxy.mode = 'pass';
      await until('good again', isGood);
      t.same(
        seen.filter((text) => text !== ''),
        [],
        'no value of a lie',
      );
      t.equal(wrong(), '');
    });
  }

  t.test('decisions 7.3: more addresses than fit one request are read, and one that there is not costs the others nothing', async (t) => {
    const one = setup();
    const device = await one.device(t);
    const half = Math.floor(one.many.length / 2);
    const all = channelsOf([...one.many.slice(0, half), one.missing, ...one.many.slice(half)]);
    const module = one.module('io', device.port, all);
    const probe = await startProbe(t, [module], one.drivers ? { drivers: one.drivers } : {});
    await until('degraded', () => probe.state() === 'Degraded' && one.many.every(([name]) => valueOf(module, name).quality === QUALITY.Good));
    t.equal(valueOf(module, one.missing[0]).quality, QUALITY.Bad);
    t.match(probe.message(), new RegExp(`^${one.missing[0].replace(/[^\w-]/g, '.')}: .`));
    const found = await probe.ask({ type: 'discover', id: 1, module: 'io', timeoutMs: 30_000 }, 'discover-result');
    t.ok(found.ok, found.message);
    t.same(
      found.discovery?.channels.filter(({ isFound }) => !isFound).map(({ channel }) => channel),
      [one.missing[0]],
    );
  });

  t.test('D-IO-03: trouble of one module never delays another one of its probe', async (t) => {
    const one = setup();
    const device = await one.device(t);
    const [near, far] = [await FaultProxy.start(() => device.port), await FaultProxy.start(() => device.port)];
    t.teardown(() => Promise.all([near.stop(), far.stop()]));
    const healthy = one.module('healthy', near.port, channelsOf(rows));
    const ill = one.module('ill', far.port, channelsOf(rows), { timeout: '300ms', retries: 1 });
    const probe = await startProbe(t, [healthy, ill], one.drivers ? { drivers: one.drivers } : {});
    await until('both are connected', () => probe.state('healthy') === 'Connected' && probe.state('ill') === 'Connected');
    const [name] = at(rows, 0);
    let polls = 0;
    let lastMs = valueOf(healthy, name).atMs;
    const watched = (): boolean => {
      const { atMs, quality } = valueOf(healthy, name);
      if (quality !== QUALITY.Good) throw new Error('the healthy module suffers');
      if (atMs !== lastMs) polls += 1;
      lastMs = atMs;
      return polls >= POLLS_WATCHED;
    };
    const told = probe.messages.length;
    for (const harm of [() => (far.mode = 'half-open'), () => far.reset(), () => far.refuse(true)]) {
      harm();
      polls = 0;
      await until('the healthy one is polled on', watched);
    }
    await until('the ill one is lost', () => probe.state('ill') === 'Disconnected');
    t.same(
      probe.messages.slice(told).filter((message) => message.type === 'module' && message.module === 'healthy'),
      [],
      'nothing happened to the healthy one',
    );
  });

  t.test('D-IO-03: channels come and go while a write is on its way', async (t) => {
    const one = setup();
    const device = await one.device(t);
    const proxy = await FaultProxy.start(() => device.port);
    t.teardown(() => proxy.stop());
    const { row, shows } = one.output;
    const output: ChannelText = [row[0], row[1], row[2], { direction: 'output', ...row[3] }];
    const first = one.module('io', proxy.port, channelsOf([at(rows, 0), output, shows]));
    const probe = await startProbe(t, [first], one.drivers ? { drivers: one.drivers } : {});
    await until('connected', () => probe.state() === 'Connected');
    const more = withChannels(first, channelsOf([output, at(rows, 1), shows, at(rows, 0)]));
    const fewer = withChannels(first, channelsOf([shows]));
    let value = 0;
    let before = first;
    for (const next of [more, fewer, first, more]) {
      value = value === 1 ? 2 : 1;
      const isThere = next !== fewer;
      const id = 100 + proxy.accepted + probe.messages.length;
      proxy.mode = 'hold';
      const writing = before !== fewer ? probe.ask({ type: 'write', id, module: 'io', channel: row[0], value }, 'write-result') : undefined;
      await probe.core.receive({ type: 'plan', plan: planOf(next) });
      before = next;
      proxy.release();
      const written = await writing;
      t.ok(written === undefined || written.ok || written.message !== '', 'told how it ended');
      await until(
        'the new channels are Good',
        () => probe.state() === 'Connected' && next.channels.every(({ name, direction }) => direction === 'output' || valueOf(next, name).quality === QUALITY.Good),
      );
      if (written?.ok) t.equal(valueOf(next, shows[0]).value, value, 'and each has its own value');
      if (isThere) t.equal(valueOf(next, at(rows, 0)[0]).value, at(inputs, 0).value);
    }
  });

  t.test('a probe that is stopped while it is busy ends, and leaves no connection behind', async (t) => {
    for (const mode of ['hold', 'half-open', 'bytes'] as const) {
      const { proxy, probe, isGood, module } = await bench(t);
      await until('good', isGood);
      proxy.mode = mode;
      const [name] = at(rows, 0);
      const asked = Array.from({ length: 10 }, (_, id) => probe.core.receive({ type: 'read', id, module: 'io', channels: [name] }));
      await probe.core.receive({ type: 'stop' });
      await Promise.all(asked);
      t.equal(probe.messages.filter(({ type }) => type === 'read-result').length, 10, 'who asked has an answer');
      await until('closed', () => proxy.open === 0);
      t.ok([...new ProcessImage(module.channels.length, module.image).quality].every((quality) => quality === QUALITY.Bad));
    }
  });

  const { pulls = 100, faults = 40, seed = 20_260_131 } = setup();
  t.test(
    `decisions 7: ${faults} faults of every kind (seed ${seed}): nothing is Good while the device is gone, no connection stays, nothing is driven without an order`,
    { timeout: 3_600_000 },
    async (t) => {
      const { orders, written, ...counts } = await randomFaults(t, setup, faults, seed);
      t.match(counts, { goodWhileGone: 0, wrongValues: 0, socketsLeft: 0, outputsNobodyCommanded: 0 });
      const played = `${counts.faults} faults, ${orders} orders, ${written} writes`;
      t.comment(played);
      t.ok(counts.faults >= faults && orders > faults / 4 && (written >= LANES || !setup().written), played);
    },
  );

  /** One cable, pulled so many times; what was wrong. */
  async function pulled(t: Test, times: number, random: () => number): Promise<string[]> {
    // the steps of the back-off have their own tests: here they would be most of the time
    const { proxy, isShown, isBad, wrong, probe } = await bench(t, { pollInterval: '10ms', timeout: '300ms', retries: 0 }, undefined, RECONNECT_MIN_MS);
    const problems: string[] = [];
    for (let round = 0; round < times; round += 1) {
      await until(`good, round ${round}`, isShown);
      if (proxy.open > sockets) problems.push(`round ${round}: ${proxy.open} connections`);
      const turns = Math.floor(random() * 40);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (random() < 0.25) proxy.mode = 'bytes';
      proxy.refuse(true);
      if (random() < 0.1) proxy.mode = 'half-open';
      else proxy.reset();
      await until(`bad, round ${round}`, isBad);
      proxy.reset();
      proxy.mode = 'pass';
      const away = Math.floor(random() * 30);
      for (let turn = 0; turn < away; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (!isBad()) problems.push(`round ${round}: Good while the cable is out`);
      }
      if (wrong() !== '') problems.push(`round ${round}: ${wrong()}`);
      proxy.refuse(false);
    }
    await until('good at last', isShown);
    if (proxy.open !== sockets) problems.push(`${proxy.open} connections at last`);
    await probe.core.receive({ type: 'stop' });
    await until('closed', () => proxy.open === 0);
    return problems;
  }

  t.test(`G9: the cable is pulled ${pulls} times (seed ${seed}): nothing is Good meanwhile, no connection leaks, and it is Good again`, { timeout: 3_600_000 }, async (t) => {
    // beside each other: most of the time goes into waiting
    const lanes = Math.min(LANES, pulls);
    const found = await Promise.all(Array.from({ length: lanes }, (_, lane) => pulled(t, Math.ceil(pulls / lanes), randomOf(seed + lane))));
    t.same(found.flat(), []);
  });
}
