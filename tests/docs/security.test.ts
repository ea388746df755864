/**
 * The tables of docs/security are held true: each row has a state, what is met names a proof that there is, and what is not met says
 * what is missing. Ids of rules are found as the assurance gate finds them (scripts/assurance.mjs).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import ts from 'typescript';

interface Proof {
  readonly ids: readonly string[];
}
interface Gate {
  idsIn(text: string): string[];
  suites(folder: string): string[];
  proofsIn(compiler: typeof ts, file: string, text: string): Proof[];
}
interface Row {
  readonly id: string;
  readonly state: string;
  readonly how: string;
  readonly proofs: readonly (readonly [name: string, words: string])[];
}

const TABLES = ['docs/security/asvs.md', 'docs/security/iec-62443-4-2.md'];
const STATES = ['met', 'by document', 'not applicable', 'not met'];
const gate = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/assurance.mjs')).href)) as Gate;
const read = (file: string): string => readFileSync(file, 'utf8');
const proven = new Set(gate.suites('tests').flatMap((file) => gate.proofsIn(ts, file, read(file)).flatMap(({ ids }) => ids)));

/** Rows with a level in their second cell; `\|` does not occur in them. */
function rowsOf(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const [, id = '', level = '', , state = '', how = '', proofs = ''] = line.split('|').map((cell) => cell.trim());
    if (!/^[12]$/.test(level) || state === '') return [];
    const named = proofs.split('<br>').flatMap((proof) => [...proof.matchAll(/^`([^`]+)`(.*)$/g)].map(([, name = '', words = '']) => [name, words.trim()] as const));
    return [{ id, state, how, proofs: named }];
  });
}

/** What is wrong with a proof; decisions such as D-AUTH-03 are no rules, and are looked for in the titles by their number. */
function lost(name: string, words: string): string | undefined {
  if (/^[A-Z][A-Z-]*-\d+$/.test(name)) return proven.has(name) || titled(name) ? undefined : `no title names ${name}`;
  const file = `tests/${name}.test.ts`;
  if (!existsSync(file)) return `there is no suite ${name}`;
  return saidIn(read(file), words) ? undefined : `${name} does not say "${words}"`;
}

const all = gate.suites('tests').filter((file) => file.endsWith('.test.ts'));
const texts = all.map(read);
const titled = (id: string): boolean => texts.some((text) => new RegExp(`['\`][^'\`]*\\b${id}\\b`).test(text));

/** In code, not in a comment. */
function saidIn(suite: string, words: string): boolean {
  return suite.split('\n').some((line) => !/^\s*(\*|\/\/|\/\*)/.test(line) && line.includes(words));
}

for (const file of TABLES) {
  const page = read(file);
  const rows = rowsOf(page);
  t.test(`${file}: each row has its state, and what is met has a proof that there is`, async (t) => {
    const wrong: string[] = [];
    for (const { id, state, how, proofs } of rows) {
      if (!STATES.includes(state)) wrong.push(`${id}: "${state}" is no state`);
      if (how === '') wrong.push(`${id} says neither how nor what is missing`);
      if ((state === 'met') !== proofs.length > 0) wrong.push(`${id}: ${state} with ${proofs.length} proofs`);
      if (state === 'by document' && !/\]\([^)]+\)/.test(how)) wrong.push(`${id} names no document`);
      for (const [name, words] of proofs) {
        const problem = lost(name, words);
        if (problem !== undefined) wrong.push(`${id}: ${problem}`);
      }
    }
    t.same(wrong, []);
    t.equal(new Set(rows.map(({ id }) => id)).size, rows.length, 'each once');
  });

  t.test(`${file}: the numbers above it are those of its rows`, async (t) => {
    const counted = STATES.map((state) => [state, rows.filter((row) => row.state === state).length] as const).filter(([, count]) => count > 0);
    for (const [state, count] of [...counted, ['all', rows.length] as const]) t.ok(page.includes(`\n| ${state} | ${count} |\n`), `${state}: ${count}`);
  });
}

t.test('a proof that is not there is found', async (t) => {
  t.match(lost('domains/access/nowhere', ''), /no suite/);
  t.match(lost('domains/access/races', 'what no test says'), /does not say/);
  t.match(lost(['AUTH', '99'].join('-'), ''), /no title names/);
  t.equal(lost(['AUTH', '26'].join('-'), ''), undefined);
});

t.test('every requirement of ASVS 5.0.0 of levels 1 and 2 has its row', async (t) => {
  t.equal(rowsOf(read('docs/security/asvs.md')).length, 253);
});
