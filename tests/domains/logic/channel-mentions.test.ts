/** Who names a channel is kept up with the list (ADR 0100): an edit costs the one that is edited, and an answer is of the very list that is asked about. */
import t from 'tap';
import { ChannelMentions, channelsNamed, mentionsOf } from '../../../src/domains/logic/channel-mentions.js';

interface Spec {
  readonly channels: readonly string[];
}
interface Row {
  readonly metadata: { readonly name: string; readonly ownerReferences: readonly [] };
  readonly spec: Spec;
}
const OWNERS = [] as const;
const row = (name: string, ...channels: readonly string[]): Row => ({ metadata: { name, ownerReferences: OWNERS }, spec: { channels } });
const nameOf = (n: number): string => `m${String(n).padStart(5, '0')}`;

function counted() {
  let looks = 0;
  const mentions = new ChannelMentions<Spec>(({ spec }) => {
    looks += 1;
    return spec.channels;
  });
  const looksOf = (work: () => void): number => {
    const before = looks;
    work();
    return looks - before;
  };
  return { mentions, looksOf };
}

/** What is found by looking at all of them. */
function allOf(rows: readonly Row[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { metadata, spec } of rows) for (const channel of spec.channels) found.set(channel, [...(found.get(channel) ?? []), metadata.name]);
  return found;
}

t.test('ADR 0100: of 20,000 modules an edit looks at the one that is edited, wherever it stands, and a status at none', (t) => {
  const { mentions, looksOf } = counted();
  let rows = Array.from({ length: 20_000 }, (_, n) => row(nameOf(n), `plc${n % 40}:c${n}`));
  t.equal(
    looksOf(() => mentions.of(rows)),
    20_000,
  );
  for (const place of [0, 1, 9_999, 10_000, 19_999]) {
    rows = rows.with(place, row(nameOf(place), 'plc7:other'));
    t.ok(looksOf(() => mentions.of(rows)) <= 2, `the module at ${place}`);
    t.ok(mentionsOf(mentions.of(rows), 'plc7:other').includes(nameOf(place)));
  }
  rows = rows.map((each) => ({ ...each }));
  t.equal(
    looksOf(() => mentions.of(rows)),
    0,
    'resources that are others in their status alone',
  );
  t.equal(
    looksOf(() => mentions.of(rows.toSpliced(5_000, 1))),
    1,
    'one that goes',
  );
  t.end();
});

t.test('ADR 0100: each of two versions of a plant has its own answer, in whatever order they are asked about', (t) => {
  const { mentions } = counted();
  const stored = [row('a', 'plc:one'), row('b', 'plc:two'), row('c', 'far:one')];
  const staged = [row('a', 'plc:two'), ...stored.slice(1), row('d', 'plc:one')];
  const held = mentions.of(stored);
  t.same(mentionsOf(mentions.of(staged), 'plc:two').toSorted(), ['a', 'b']);
  t.same([mentionsOf(held, 'plc:two'), mentionsOf(held, 'plc:one')], [['b'], ['a']], 'what is held stays as it was read');
  t.equal(mentions.of(staged).get('far'), held.get('far'), 'a table in which nothing has changed is the same object');
  t.same(mentionsOf(mentions.of(stored), 'plc:one'), ['a']);
  t.same(mentionsOf(mentions.of([]), 'plc:one'), []);
  t.end();
});

t.test('ADR 0100: after any edits the answer is that of looking at all of them', (t) => {
  const { mentions } = counted();
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  const channels = (): string[] => Array.from({ length: random(4) }, () => `plc${random(3)}:c${random(5)}`);
  const rows = new Map<string, Row>();
  for (let step = 0; step < 2_000; step += 1) {
    const name = nameOf(random(30));
    if (random(4) === 0) rows.delete(name);
    else rows.set(name, row(name, ...channels()));
    if (random(3) === 0) continue; // several edits between two questions
    const list = [...rows.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const found = mentions.of(list);
    const expected = allOf(list);
    const told = new Map<string, string[]>([...found].flatMap(([module, table]) => [...table].map(([word, names]) => [`${module}:${word}`, names.toSorted()] as const)));
    const wrong = [...expected].filter(([channel, names]) => told.get(channel)?.join() !== names.sort().join());
    if (wrong.length > 0 || told.size !== expected.size) t.fail(`step ${step}`, { told, expected });
  }
  t.same(channelsNamed(['plc:a', '', undefined, 'nowhere', ':b']), ['plc:a'], 'what leads to no I/O module is no channel');
  t.end();
});
