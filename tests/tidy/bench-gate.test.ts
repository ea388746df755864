/** The gate of the benches (scripts/bench-gate.mjs): a figure that got worse fails, and figures and rows know each other. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';

interface Row {
  readonly bench: string;
  readonly figure: string;
  readonly value: number | null;
  readonly noise: number;
  readonly better: 'less' | 'more';
  readonly goal: number;
  readonly optional?: boolean;
}
interface Told {
  readonly bench: string;
  readonly figure: string;
  readonly value: number;
}
interface Gate {
  judge(rows: readonly Row[], told: readonly Told[], benches: readonly string[]): { readonly good: boolean; readonly text: string }[];
  taken(rows: readonly Row[], told: readonly Told[]): Row[];
  table(rows: readonly Row[]): string;
}

const gate = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/bench-gate.mjs')).href)) as Gate;
const row = (more: Partial<Row> = {}): Row => ({ bench: 'b', figure: 'f', value: 5, noise: 0.5, better: 'less', goal: 5, ...more });
const passes = (one: Row, value: number): boolean => gate.judge([one], [{ bench: 'b', figure: 'f', value }], ['b']).every(({ good }) => good);

t.test('a figure may be worse than its row by its noise', async (t) => {
  t.ok(passes(row(), 5.5));
  t.notOk(passes(row(), 5.6));
  t.ok(passes(row(), 0.1), 'better is never wrong');
  t.notOk(passes(row(), Number.NaN), 'what is no number is worse than any');
  t.ok(passes(row({ better: 'more' }), 4.5));
  t.notOk(passes(row({ better: 'more' }), 4.4));
  t.notOk(passes(row({ value: 0, noise: 0 }), 1), 'a promised bound has no noise');
});

t.test('a row that was never measured fails nothing; one that is not told, and a figure without a row, do', async (t) => {
  t.ok(passes(row({ value: null }), 1e9));
  t.match(gate.judge([row()], [], ['b']), [{ good: false, text: /did not tell it/ }]);
  t.match(gate.judge([row({ optional: true })], [], ['b']), [{ good: true }], 'what this machine does not grant');
  t.same(gate.judge([row()], [], ['another']), [], 'a bench that was not run tells nothing');
  t.match(gate.judge([], [{ bench: 'b', figure: 'g', value: 1 }], ['b']), [{ good: false, text: /has no row/ }]);
});

t.test('what was measured is taken into its row, and the table says which goals are missed', async (t) => {
  t.same(gate.taken([row(), row({ figure: 'g' })], [{ bench: 'b', figure: 'f', value: 4.8765 }]), [row({ value: 4.88 }), row({ figure: 'g' })]);
  t.match(gate.table([row({ value: 5.5 }), row({ value: null })]), /\| 5\.5 ± 0\.5 \| at most 5, missed \|[^]*\| not measured yet \| at most 5 \|/);
});

t.test('each bench has rows, and each row a bench', async (t) => {
  const rows = JSON.parse(readFileSync(path.join(process.cwd(), 'docs/benchmarks.json'), 'utf8')) as Row[];
  const benches = readdirSync(path.join(process.cwd(), 'tests/bench')).flatMap((name) => /^(.*)\.bench\.ts$/.exec(name)?.[1] ?? []);
  t.same([...new Set(rows.map(({ bench }) => bench))].sort(), benches.sort(), 'a new bench tells its figures (tests/bench/judge.ts) and has their rows in docs/benchmarks.json');
  t.equal(new Set(rows.map(({ bench, figure }) => `${bench}: ${figure}`)).size, rows.length, 'each figure once');
  for (const { bench, figure, noise, better } of rows) t.ok(noise >= 0 && ['less', 'more'].includes(better), `${bench}: ${figure}`);
});

/** A bench that prints what it tells does both in a `told` of its own. */
t.test('what a bench tells is called as its row is', async (t) => {
  const rows = JSON.parse(readFileSync(path.join(process.cwd(), 'docs/benchmarks.json'), 'utf8')) as Row[];
  const plain = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  for (const bench of new Set(rows.map((each) => each.bench))) {
    const text = readFileSync(path.join(process.cwd(), 'tests/bench', `${bench}.bench.ts`), 'utf8');
    const told = [...text.matchAll(/\b(?:tell|told)\((?:'([^']+)'|`([^`]+)`)/g)].map(([, fixed, made]) =>
      fixed === undefined
        ? new RegExp(
            `^${(made ?? '')
              .split(/\$\{[^}]*\}/)
              .map(plain)
              .join('.+')}$`,
          )
        : new RegExp(`^${plain(fixed)}$`),
    );
    const figures = rows.filter((each) => each.bench === bench).map(({ figure }) => figure);
    for (const figure of figures)
      t.ok(
        told.some((name) => name.test(figure)),
        `${bench}: ${figure}`,
      );
    for (const name of told)
      t.ok(
        figures.some((figure) => name.test(figure)),
        `${bench}: ${name}`,
      );
  }
});
