/** What a subscription has missed is read, and an older answer never stands over a newer notification. */
import t from 'tap';
import { type IsOutdated, Reread } from '../../../runtime/io/opcua/reread.js';
import { TestClock } from '../../support/test-clock.js';

t.test('D-IO-02: a read that was not answered is repeated until it is; one at a time', async (t) => {
  const clock = new TestClock();
  const asked: ((isWhole: boolean) => void)[] = [];
  const reread = new Reread({ count: 1, clock, isLost: () => false, read: () => new Promise((resolve) => asked.push(resolve)) });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  reread.start();
  reread.start();
  t.equal(asked.length, 1);
  asked[0]?.(false);
  await settled();
  t.equal(asked.length, 1);
  clock.advance(1000);
  t.equal(asked.length, 2);
  reread.start();
  asked[1]?.(true);
  await settled();
  t.equal(asked.length, 2, 'the server has rest');
  clock.advance(1000);
  t.equal(asked.length, 3, 'something was missed meanwhile');
  asked[2]?.(true);
  await settled();
  clock.advance(60_000);
  t.equal(asked.length, 3);
  reread.stop();
  reread.start();
  t.equal(asked.length, 3);
});

t.test('D-IO-02: however many gaps there are, the server is read once in its rest, and the first time at once', async (t) => {
  const clock = new TestClock();
  let reads = 0;
  const reread = new Reread({ count: 1, clock, isLost: () => false, read: async () => ((reads += 1), true) });
  const gap = async (): Promise<void> => {
    reread.start();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await gap();
  t.equal(reads, 1);
  for (let ms = 0; ms < 10_000; ms += 20) {
    clock.advance(20);
    await gap();
  }
  t.ok(reads <= 11, `${reads} reads in 10 s of a gap each 20 ms`);
  t.ok(reads >= 10, `${reads} reads`);
  reread.stop();
});

t.test('D-IO-02: an older answer does not stand over what was notified while it was on its way', async (t) => {
  let isOutdated: IsOutdated = () => false;
  const reread = new Reread({
    count: 3,
    clock: new TestClock(),
    isLost: () => false,
    read: (given) => {
      isOutdated = given;
      return new Promise(() => undefined);
    },
  });
  const at = (ms: number) => new Date(1_790_000_000_000 + ms);
  reread.heard(0, at(100));
  reread.start();
  t.notOk(isOutdated(0, at(50)), 'asked after it was told');
  reread.heard(1, at(100));
  t.ok(isOutdated(1, at(50)));
  t.ok(isOutdated(1, null), 'it cannot be told');
  t.notOk(isOutdated(1, at(150)));
  reread.heard(2, null);
  t.ok(isOutdated(2, at(150)), 'it cannot be told');
});
