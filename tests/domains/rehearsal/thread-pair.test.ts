/** Two real threads of a rehearsal, and somebody who throws when he is told how it went. */
import t from 'tap';
import type { RehearsalOrder } from '../../../src/domains/rehearsal/order.js';
import { ThreadPair } from '../../../src/domains/rehearsal/thread-pair.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { eventually } from '../../support/api-client.js';

t.test('F4: what whoever waits for a rehearsal throws is told, and ends nobody', async (t) => {
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const fail = (): never => {
    throw new Error('thrown by whoever waits');
  };
  const pair = new ThreadPair(128);
  const alive = setInterval(() => undefined, 1000); // threads that have failed do not keep a process
  t.teardown(async () => {
    await pair.end();
    clearInterval(alive);
  });
  pair.rehearse({} as RehearsalOrder, { progress: fail, findings: fail, failed: fail }); // no order: the thread fails
  await eventually('it is told', async () => told.length > 0, 20_000);
  t.match(told, [/^fault of a rehearsal: thrown by whoever waits$/]);
  t.notOk(pair.isWhole);
});
