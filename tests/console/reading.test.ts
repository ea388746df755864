/** How the pages read: all that is asked for, in the order of the questions, and nothing that has ended; against a box that the test answers for. */
import t from 'tap';
import { listAnswer, pageBox } from './page-box.js';
import { pageModule } from './page-module.js';

t.test('runs by hand: the newest of all kinds, whatever they are called, and whether there are older ones', async (t) => {
  interface ByHand {
    readRuns(unit: string): Promise<{ readonly runs: readonly { readonly name: string }[]; readonly hasOlder: boolean }>;
  }
  const run = (name: string, second: number, parent: unknown = null): object => ({ name, parent, createdAt: `2026-11-22T12:00:${String(second).padStart(2, '0')}.000Z` });
  const pages: Readonly<Record<string, Response>> = {
    'phases?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer(
      [run('a', 30), run('z', 20), run('part', 19, { kind: 'Operation', name: 'o' })],
      '/api/v1/sites/x/phases?more',
      4,
    ),
    'phases?more': listAnswer([run('b', 10)]),
    'operations?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer([run('o', 18)]),
    'unitprocedures?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer([]),
  };
  pageBox((path) => pages[path]);
  const { readRuns } = await pageModule<ByHand>('data/by-hand.ts');
  const { runs, hasOlder } = await readRuns('rx101');
  t.strictSame(
    runs.map(({ name }) => name),
    ['a', 'z', 'o', 'b'],
  );
  t.equal(hasOlder, false);
  const many = Array.from({ length: 60 }, (_, at) => run(`r${at}`, 59 - at));
  pageBox((path) => (path.startsWith('phases') ? listAnswer(many, '/api/v1/sites/x/phases?more', 200) : listAnswer([])));
  const newest = await readRuns('rx101');
  t.strictSame([newest.runs.length, newest.runs[0]?.name, newest.hasOlder], [50, 'r0', true]);
});
