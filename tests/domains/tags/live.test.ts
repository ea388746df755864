/** Lists of tags that are longer than a turn of the gateway. */
import t from 'tap';
import type { TagEntry } from '../../../src/domains/tags/catalog.js';
import { valueList } from '../../../src/domains/tags/live.js';
import type { UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';

function entry(n: number): TagEntry {
  const address = `m${String(n).padStart(4, '0')}.pv`;
  return { descriptor: { address, unit: 'r1' }, openJson: `{"address":"${address}"`, site: 'north', path: address } as TagEntry;
}

t.test('TAG-15: a long list is written in slices, and what a slice reads of a unit is of its own turn', async (t) => {
  let turn = 0;
  let refreshedIn = -1;
  let refreshes = 0;
  const link = {
    ready: true,
    refresh: () => {
      refreshes += 1;
      refreshedIn = turn;
      return true;
    },
    tagIndex: () => 0,
    reading: () => {
      t.equal(refreshedIn, turn, 'refreshed in this turn');
      for (const until = performance.now() + 1; performance.now() < until; ); // as long as thousands of tags take
      return { value: 1, quality: 0, atMs: 0 };
    },
  } as unknown as UnitLink;
  const runtimes = { link: () => link } as unknown as UnitRuntimes;
  let isOver = false;
  const turns = (): void => {
    turn += 1;
    if (!isOver) setImmediate(turns);
  };
  setImmediate(turns);
  const entries = Array.from({ length: 40 }, (_, n) => entry(n));
  const query = { get: () => undefined, all: () => [] };
  const reply = await valueList({ path: '/tags', query }, entries, runtimes);
  isOver = true;
  t.equal(JSON.parse(String(reply.body)).length, 40);
  t.ok(turn > 3, `${turn} turns went by meanwhile`);
  t.ok(refreshes > 3, `${refreshes} refreshes`);
});
