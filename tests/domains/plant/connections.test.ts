/** What a unit may say of its pipes and of its picture: each refusal names what is wrong and where (ADR 0141). */
import t from 'tap';
import { checkConnections, checkLayout, type Connection, placedEnds } from '../../../src/domains/plant/connections.js';
import { Refusal } from '../../../src/platform/base/refusal.js';

const BODY = { part: 'body' } as const;
const pipe = (from: Connection['from'], to: Connection['to'], via: string[] = ['xv1']): Connection => ({ from, to, via, medium: '' });

function refused(act: () => void): string {
  try {
    act();
  } catch (fault) {
    if (fault instanceof Refusal) return `${String(fault.context.field ?? '')}: ${fault.message}`;
    throw fault;
  }
  return '';
}

t.test('connections: one end of each side, devices once, no pipe from nothing to nothing', async (t) => {
  const ROWS: readonly (readonly [string, readonly Connection[], RegExp])[] = [
    ['what is right', [pipe({ utility: 'Water' }, BODY)], /^$/],
    ['the contents go round', [pipe(BODY, BODY, ['p1'])], /^$/],
    ['two sides of an end', [pipe({ unit: 'a', utility: 'b' }, BODY)], /connections\[0\]\.from.*not 2/],
    ['no side of an end', [pipe({}, BODY)], /connections\[0\]\.from.*not 0/],
    ['no name of a unit', [pipe({ unit: 'RX 101' }, BODY)], /connections\[0\]\.from\.unit.*RX 101/],
    ['an empty utility', [pipe({ utility: ' ' }, BODY)], /connections\[0\]\.from\.utility/],
    ['a utility that is called as a part of the unit', [pipe({ utility: 'body' }, BODY, [])], /^$/],
    ['a unit and a utility of one name', [pipe({ unit: 'tk1' }, { utility: 'tk1' }, [])], /^$/],
    ['a loop of nothing', [pipe(BODY, BODY, [])], /connections\[0\].*from body to itself with nothing in it/],
    ['a junction to itself', [pipe({ junction: 'a' }, { junction: 'a' })], /connection 0 leads from junction a to itself/],
    ['a junction that nothing comes to', [pipe({ junction: 'a' }, BODY)], /connections\[0\]\.from\.junction.*no connection leads to junction a/],
    ['a junction that nothing leaves', [pipe(BODY, { junction: 'a' })], /connections\[0\]\.to\.junction.*no connection leads from junction a/],
    ['a device in two pipes', [pipe({ utility: 'A' }, BODY), pipe({ utility: 'B' }, BODY)], /connections\[1\]\.via\[0\].*xv1 stands in connection 0 already/],
    ['no name of a module', [pipe({ utility: 'A' }, BODY, ['XV 1'])], /connections\[0\]\.via\[0\].*XV 1 is no name of a control module/],
  ];
  for (const [words, connections, wanted] of ROWS)
    t.match(
      refused(() => checkConnections(connections)),
      wanted,
      words,
    );
});

t.test('layout: each thing once, and only what the unit has', async (t) => {
  const connections = [pipe({ utility: 'Water' }, { junction: 'in' }), pipe({ utility: 'Water' }, { junction: 'in' }, ['xv2']), pipe({ junction: 'in' }, BODY, [])];
  t.strictSame(placedEnds(connections), ['from Water', 'junction in', 'from Water 2']);
  const alike = [pipe({ utility: 'Water' }, BODY), pipe({ utility: 'Water' }, BODY, ['xv2']), pipe({ utility: 'Water 2' }, BODY, ['xv3']), pipe({ unit: 'water' }, BODY, ['xv4'])];
  t.strictSame(placedEnds(alike), ['from Water', 'from Water 2', 'from Water 2 2', 'from water'], 'no two ends are called alike');
  const at = (item: string) => ({ item, column: 1, row: 1 });
  const layout = ['vessel', 'module vessel', 'xv1', 'from Water', 'from Water 2', 'junction in'].map(at);
  t.equal(
    refused(() => checkLayout(layout, connections)),
    '',
  );
  t.match(
    refused(() => checkLayout([at('xv1'), at('xv1')], connections)),
    /layout\[1\]\.item: xv1 stands twice/,
  );
  t.match(
    refused(() => checkLayout([at('from Steam')], connections)),
    /layout\[0\]\.item: from Steam is no thing of this unit/,
  );
});
