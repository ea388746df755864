/** The place of a request among those who wait for one of its units. */
import t from 'tap';
import { placeOf, type Waiter } from '../../../src/domains/batches/start/allocation-queue.js';

function waiter(batch: string, ...units: string[]): Waiter {
  return { batch, capability: 'react', priority: 0, since: '', isClass: true, units };
}

t.test('1 is next, who waits for other units does not count, and where no unit fits there is no place', async (t) => {
  const [first, other, second, unfit] = [waiter('first', 'rx101', 'rx102'), waiter('other', 'mx101'), waiter('second', 'rx102'), waiter('unfit')];
  const waiters = [first, other, second, unfit];
  t.equal(placeOf(first, waiters), 1);
  t.equal(placeOf(other, waiters), 1);
  t.equal(placeOf(second, waiters), 2);
  t.equal(placeOf(unfit, waiters), undefined);
});
