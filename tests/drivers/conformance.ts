/**
 * What every driver promises behind the seam of runtime/io/driver.ts. A new driver runs this suite against a real peer
 * before anything else (docs/add/driver.md).
 */
import type { Test } from 'tap';
import type { ProbeModule } from '../../runtime/port.js';
import type { Value } from '../../runtime/vocabulary/data-types.js';
import type { ChannelType } from '../../runtime/io/description.js';
import type { Driver, Link, Point, SampleSink } from '../../runtime/io/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { at } from '../support/at.js';

export interface ConformanceCase {
  readonly driver: Driver;
  readonly module: ProbeModule;
  readonly notAnAddress: string;
  readonly notAChannel: string;
  /** Channels that hold what is written to them, with two values each. */
  readonly writable: readonly { readonly point: Point; readonly values: readonly [Value, Value] }[];
  readonly readable: readonly Point[];
  /** An address in the driver's grammar that the device does not have. */
  readonly missing: Point;
  /** One of `writable` of which the device is asked something before the first write; undefined where nothing is asked. */
  readonly learned?: string;
  /** A module whose device does not exist; undefined where there is no wire. */
  readonly unreachable?: ProbeModule;
}

interface Collected {
  readonly values: (Value | bigint | undefined)[];
  readonly messages: string[];
  readonly deliveries: number[];
  readonly sink: SampleSink;
  brackets: number;
}

export function collector(count: number): Collected {
  const collected: Collected = { values: new Array(count), messages: new Array(count).fill(''), deliveries: new Array(count).fill(0), brackets: 0, sink: undefined as never };
  const put = (position: number, value: Value | bigint | undefined): void => {
    if (collected.brackets !== 1) throw new Error('a sample was delivered outside begin and end');
    collected.values[position] = value;
    collected.deliveries[position] = (collected.deliveries[position] ?? 0) + 1;
  };
  const sink: SampleSink = {
    begin: () => {
      collected.brackets += 1;
    },
    number: put,
    integer: put,
    text: put,
    bad: (position, message) => {
      put(position, undefined);
      collected.messages[position] = message;
    },
    end: () => {
      collected.brackets -= 1;
    },
  };
  return Object.assign(collected, { sink });
}

const asRead = (value: Value, dataType: ChannelType): Value => (dataType === 'bool' ? Number(Boolean(value)) : value);

export function conformance(t: Test, setup: () => ConformanceCase): void {
  const connect = async (t: Test, one: ConformanceCase): Promise<Link> => {
    const link = await one.driver.connect(one.module, systemClock);
    t.teardown(() => link.close());
    return link;
  };

  t.test('conformance: addresses are refused with a sentence, never with an exception', async (t) => {
    const { driver, module, notAnAddress, notAChannel, readable } = setup();
    t.equal(driver.parseAddress(module.address).ok, true);
    for (const text of [notAnAddress, 'a b c', '\u0000', 'x'.repeat(5000)]) {
      const result = driver.parseAddress(text);
      t.ok(!result.ok && result.message.length > 0, JSON.stringify(text).slice(0, 40));
    }
    for (const point of readable) t.equal(driver.parseChannel(point.address, 'input').ok, true, point.address);
    for (const text of [notAChannel, '', ' ', '\u0000', ':'.repeat(500)]) t.equal(driver.parseChannel(text, 'input').ok, false, JSON.stringify(text).slice(0, 40));
  });

  t.test('conformance: a read delivers every point exactly once, inside a bracket', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    const got = collector(one.readable.length);
    t.same(await link.read(one.readable, got.sink), { status: 'answered' });
    t.same(
      got.deliveries,
      one.readable.map(() => 1),
    );
    t.same(
      got.messages,
      one.readable.map(() => ''),
    );
    t.equal(got.brackets, 0, 'every bracket is closed');
  });

  t.test('conformance: what is written is read', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    for (const round of [0, 1] as const) {
      for (const { point, values } of one.writable) t.same(await link.write(point, values[round]), { ok: true }, `${point.address} := ${values[round]}`);
      const points = one.writable.map((row) => row.point);
      const got = collector(points.length);
      await link.read(points, got.sink);
      t.same(
        got.values,
        one.writable.map(({ point, values }) => asRead(values[round], point.dataType)),
      );
    }
  });

  t.test('conformance: a value that does not convert is invalid, and nothing is written', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    const { point, values } = one.writable.find((row) => row.point.dataType === 'float') ?? at(one.writable, 0);
    await link.write(point, values[0]);
    t.match(await link.write(point, 'warm'), { ok: false, reason: 'invalid' });
    const got = collector(1);
    await link.read([point], got.sink);
    t.equal(got.values[0], values[0]);
  });

  t.test('conformance: an order that is barred when its turn comes, or while the device is asked for what it takes, is not sent', async (t) => {
    const one = setup();
    const bar = { ok: false, reason: 'withheld', message: 'another box drives the device' } as const;
    const rows = one.writable.filter(({ point }) => one.learned === undefined || point.address === one.learned);
    const { point, values } = at(rows, 0);
    for (const looksFree of one.learned === undefined ? [0] : [0, 1]) {
      const knowing = await connect(t, one);
      await knowing.write(point, values[0]);
      let looks = 0;
      const unknowing = looksFree === 0 ? knowing : await connect(t, one);
      const outcome = await unknowing.write(point, values[1], () => ((looks += 1) > looksFree ? bar : undefined));
      t.equal(outcome, bar, `after ${looksFree} looks`);
      const got = collector(1);
      await unknowing.read([point], got.sink);
      t.equal(got.values[0], asRead(values[0], point.dataType), 'the device has what it had');
    }
  });

  t.test('conformance: a missing point is bad with a message and costs its neighbours nothing', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    const points = [at(one.readable, 0), one.missing, ...one.readable.slice(1)];
    const got = collector(points.length);
    t.same(await link.read(points, got.sink), { status: 'answered' });
    t.ok(at(got.messages, 1).length > 0);
    t.same(got.messages.filter((message) => message !== '').length, 1);
    t.same(
      got.deliveries,
      points.map(() => 1),
    );
  });

  t.test('conformance: many reads at once are all answered', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    const reads = Array.from({ length: 50 }, () => collector(one.readable.length));
    await Promise.all(reads.map((got) => link.read(one.readable, got.sink)));
    t.ok(reads.every((got) => got.deliveries.every((count) => count === 1)));
  });

  t.test('conformance: after close the link is lost, reads are bad and writes unreachable', async (t) => {
    const one = setup();
    const link = await connect(t, one);
    await link.close();
    t.type(await link.lost, 'string');
    const got = collector(one.readable.length);
    t.match(await link.read(one.readable, got.sink), { status: 'lost' });
    t.ok(got.messages.every((message) => message !== ''));
    t.match(await link.write(at(one.writable, 0).point, at(one.writable, 0).values[0]), { ok: false, reason: 'unreachable' });
    await link.close();
  });

  t.test('conformance: a device that does not exist rejects connect with a sentence', async (t) => {
    const { driver, unreachable } = setup();
    if (unreachable) await t.rejects(driver.connect(unreachable, systemClock), Error);
    else t.pass('no wire');
  });
}
