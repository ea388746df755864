/** The way of one value to the device: what stops it while it waits for its turn. */
import t from 'tap';
import type { Link } from '../../../runtime/io/driver.js';
import { OutputWriter } from '../../../runtime/io/output-writer.js';
import { WriteTurns } from '../../../runtime/io/write-turns.js';
import type { ProbeChannel, ProbeModule } from '../../../runtime/port.js';
import { TestClock } from '../../support/test-clock.js';

const output = (name: string, address: string): ProbeChannel => ({ name, address, direction: 'output', dataType: 'int', readbackAddress: '', pollIntervalMs: 100 });

t.test('ADR 0104: an order that waits is sent to no address that its channel has lost; one whose channel stays is', async (t) => {
  const sent: [address: string, value: unknown][] = [];
  const answers: (() => void)[] = [];
  const turns = new WriteTurns();
  const link = {
    write: ({ address }, value, barred) =>
      turns.take(barred, async () => {
        sent.push([address, value]);
        await new Promise<void>((resolve) => void answers.push(resolve));
        return { ok: true };
      }),
  } as Pick<Link, 'write'> as Link;
  const [v, stays, moved] = [output('v', 'holding:100'), output('w', 'holding:5'), output('v', 'holding:110')];
  let channels = [v, stays];
  const writer = new OutputWriter(new TestClock(), {
    module: () => ({ module: 'plc' }) as ProbeModule,
    link: () => link,
    withheld: () => '',
    has: (channel) => channels.includes(channel),
  });
  const first = writer.write(v, 1);
  const waiting = [writer.write(v, 2), writer.write(stays, 3)];
  await Promise.resolve();
  channels = [moved, stays];
  answers.shift()?.();
  t.match(await first, { ok: true }, 'it was sent before');
  t.match(await waiting[0], { ok: false, reason: 'withheld', message: 'channel v was changed before the value was sent to holding:100: it was not sent' });
  await new Promise<void>((resolve) => setImmediate(resolve));
  answers.shift()?.();
  t.match(await waiting[1], { ok: true });
  t.same(sent, [
    ['holding:100', 1],
    ['holding:5', 3],
  ]);
});
