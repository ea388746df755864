/** The list of batches as a panel asks for it. */
import t from 'tap';
import { batchListing } from '../../../src/domains/batches/reading/list.js';

type Listing = typeof batchListing;
type Batch = Parameters<Listing>[0][number];

function batch(
  name: string,
  phase: string,
  more: { readonly priority?: number; readonly createdAt?: string; readonly endedAt?: string; readonly batchID?: string; readonly workOrderID?: string } = {},
): Batch {
  const { priority = 100, createdAt = '2026-11-22T10:00:00.000Z', endedAt = '', batchID = name.toUpperCase(), workOrderID = '' } = more;
  return {
    kind: 'Batch',
    metadata: { name, createdAt },
    spec: { batchID, masterRecipeRef: 'resin-a', workOrderID, lotID: '', description: '', priority },
    status: { phase, endedAt },
  } as unknown as Batch;
}

const ALL = [
  batch('a', 'Complete', { endedAt: '2026-11-20T10:00:00.000Z' }),
  batch('b', 'Pending', { priority: 50 }),
  batch('c', 'Running'),
  batch('d', 'Held', { priority: 900 }),
  batch('e', 'Aborted', { endedAt: '2026-11-21T10:00:00.000Z', workOrderID: 'WO-77' }),
  batch('f', 'Pending', { priority: 70 }),
];

function ask(query: Readonly<Record<string, string>>): string[] {
  const listing = batchListing(ALL, { get: (name) => query[name], all: (name) => (query[name] === undefined ? [] : [query[name]]) });
  return listing.items.map(({ metadata }) => metadata.name);
}

t.test('by name as ever; recent: open ones by priority, pending ones, then the past, newest first', (t) => {
  t.same(ask({}), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.same(ask({ order: 'recent' }), ['d', 'c', 'f', 'b', 'e', 'a']);
  t.throws(() => ask({ order: 'newest' }), { message: /must be/ });
  t.end();
});

t.test('filters narrow it down', (t) => {
  t.same(ask({ state: 'Held,Running' }), ['c', 'd']);
  t.same(ask({ search: 'wo-7' }), ['e']);
  t.same(ask({ search: ' RESIN ', state: 'Pending' }), ['b', 'f']);
  t.same(ask({ name: 'a,f,none' }), ['a', 'f']);
  t.throws(() => ask({ state: 'Idle' }), { message: /must be/ });
  t.end();
});
