/** The one list of parts: down to start, up to stop. */
import t from 'tap';
import { type Part, Parts } from '../../../src/platform/base/parts.js';

function listOf(told: string[], faulty: Readonly<Record<string, 'start' | 'stop'>> = {}): Parts {
  const parts = new Parts();
  for (const name of ['ledger', 'units', 'gateway']) {
    const part: Part = {
      async start() {
        if (faulty[name] === 'start') throw new Error(`${name} does not start`);
        told.push(`start ${name}`);
      },
      stop() {
        if (faulty[name] === 'stop') throw new Error(`${name} does not stop`);
        told.push(`stop ${name}`);
      },
    };
    parts.add(part);
  }
  return parts;
}

t.test('parts start in the order in which they were made and stop the other way round', async (t) => {
  const told: string[] = [];
  const parts = listOf(told);
  await parts.start();
  await parts.stop();
  t.same(told, ['start ledger', 'start units', 'start gateway', 'stop gateway', 'stop units', 'stop ledger']);
  await parts.stop();
  t.equal(told.length, 6, 'each stops once');
});

t.test('a part that does not start ends the start, and all of them can be stopped', async (t) => {
  const told: string[] = [];
  const parts = listOf(told, { units: 'start' });
  await t.rejects(parts.start(), { message: 'units does not start' });
  await parts.stop();
  t.same(told, ['start ledger', 'stop gateway', 'stop units', 'stop ledger'], 'also those that were never started: they hold files and threads');
});

t.test('a part that does not stop keeps no other from stopping, and is told', async (t) => {
  const told: string[] = [];
  const parts = listOf(told, { units: 'stop' });
  await t.rejects(parts.stop(), { message: 'units does not stop' });
  t.same(told, ['stop gateway', 'stop ledger']);
});

t.test('parts that are asked to stop while they start do not count as up behind it', async (t) => {
  const parts = listOf([]);
  const started = parts.start();
  await parts.stop();
  await started;
  t.equal(parts.areUp, false);
});
