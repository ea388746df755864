/** The rule gate (scripts/assurance.mjs): each rule of the contract has what proves it, or a row that says why not. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import ts from 'typescript';

interface Proof {
  readonly ids: readonly string[];
  readonly title?: string;
  readonly said: string;
}
interface Gate {
  idsIn(text: string): string[];
  readRules(text: string): { readonly title: string; readonly rules: readonly { readonly id: string }[] }[];
  proofsIn(compiler: typeof ts, file: string, text: string): Proof[];
  assure(sections: unknown, proofs: readonly Proof[], kept: unknown): { readonly page: string; readonly problems: readonly string[] };
}

const gate = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/assurance.mjs')).href)) as Gate;
// an area that the contract does not have: what stands here proves nothing
const SECTIONS = gate.readRules('## ZZ An area\n\n- ZZ-01: the first\n- ZZ-02: the second\n');
const problems = (proofs: readonly string[], rows: Record<string, unknown>, parts = {}): readonly string[] =>
  gate.assure(
    SECTIONS,
    proofs.map((said) => ({ ids: gate.idsIn(said), suite: 'a/b', said })),
    { parts, rows },
  ).problems;

t.test('a title names rules one by one or as a range; the number of a decision is one where it has a statement of its own', async (t) => {
  t.same(gate.idsIn('ZZ-01, ZZ-03 to ZZ-05, Q-ZZ-07 to Q-ZZ-09, D-ZZ-07: what it proves'), ['ZZ-01', 'ZZ-03', 'ZZ-04', 'ZZ-05']);
  t.same(gate.idsIn('D-C-01, D-C-03 to D-C-05 (Q-C-02)'), ['D-C-01', 'D-C-03', 'D-C-04', 'D-C-05']);
});

t.test('titles and messages of a suite are found, its comments are not', async (t) => {
  const suite = "/** ZZ-09 */\nt.test('ZZ-01: it is so', async (t) => {\n  t.ok(true, 'ZZ-02: this too');\n});\nconst rows = [['ZZ-03: a row', 1]];\n";
  const found = gate.proofsIn(ts, 'tests/a/b.test.ts', suite);
  t.same(
    found.map(({ said, title }) => [said, title]),
    [
      ['ZZ-01: it is so', undefined],
      ['ZZ-02: this too', 'ZZ-01: it is so'],
      ['ZZ-03: a row', undefined],
    ],
  );
});

t.test('a rule has a test, or one row that says what stands for it', async (t) => {
  t.match(problems(['ZZ-01: so'], {}), [/^ZZ-02 has no row/]);
  t.same(problems(['ZZ-01: so'], { 'ZZ-02': { covered: ['ZZ-01'], how: 'one request does both' } }), []);
  t.same(problems(['ZZ-01: so'], { 'ZZ-02': { untestable: 'it forbids nothing' } }), []);
  t.same(problems(['ZZ-01: so'], { 'ZZ-02': { later: 'wings' } }, { wings: 'flying' }), []);
  t.match(problems(['ZZ-01: so'], { 'ZZ-02': { later: 'wings' } }), [/"wings" is no part of the product/]);
  t.match(problems([], { 'ZZ-01': { covered: ['ZZ-02'], how: 'as well' }, 'ZZ-02': { untestable: 'so' } }), [/ZZ-01 is covered by ZZ-02, which no test names/]);
  t.match(problems(['ZZ-01 to ZZ-02: so'], { 'ZZ-02': { untestable: 'so' } }), [/ZZ-02 is named by a test: take its row away/]);
  t.match(problems(['ZZ-01 to ZZ-03: so'], {}), [/there is no rule ZZ-03/]);
});

t.test('a decision has a test, or one row that says what stands for it, as a rule has', async (t) => {
  const sections = gate.readRules('## D-C An area\n\n- D-C-01: the first\n- D-C-02: the second\n');
  const lacks = (said: string): readonly string[] => gate.assure(sections, [{ ids: gate.idsIn(said), said }], { parts: {}, rows: {} }).problems;
  t.match(lacks('D-C-01: so'), [/^D-C-02 has no row/]);
  t.match(lacks('D-C-01 to D-C-03: so'), [/there is no rule D-C-03/]);
  t.same(lacks('D-C-01 to D-C-02: so'), []);
});

t.test('the rules of the contract have their ids once, and no area by two names', async (t) => {
  const sections = gate.readRules(readFileSync(path.join(process.cwd(), 'docs/contract/rules.md'), 'utf8'));
  const ids = sections.flatMap(({ rules }) => rules.map(({ id }) => id));
  t.equal(ids.length, 759);
  const decisions = gate.readRules(readFileSync(path.join(process.cwd(), 'docs/contract/decisions-c.md'), 'utf8')).flatMap(({ rules }) => rules.map(({ id }) => id));
  t.same(
    decisions,
    Array.from({ length: 21 }, (_, n) => `D-C-${String(n + 1).padStart(2, '0')}`),
  );
  t.equal(new Set(ids).size, ids.length);
  for (const { title, rules } of sections) for (const { id } of rules) t.equal(id.split('-')[0], title.split(' ')[0], id);
});
