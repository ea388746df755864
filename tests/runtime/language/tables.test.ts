/**
 * Results of expressions, blocks and timers against tables that were computed without the product (`tables/make.py`):
 * compiled charts, walked conditions and networks must all agree with them, and so with each other.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { evaluateCondition, type EvaluationScope } from '../../../runtime/language/evaluate.js';
import { parseCondition } from '../../../runtime/language/parser.js';
import { printReal, printString } from '../../../runtime/language/print.js';
import { printTime } from '../../../runtime/language/time-text.js';
import { anyOf } from '../../../runtime/language/values.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import { parseTimeText } from '../../../runtime/language/time-text.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { BlockSpec, Connection, ParamValue } from '../../../runtime/vocabulary/network.js';
import { basicPlan, once, Plant } from '../chart/plant.js';
import { Bench } from '../chart/versions.js';
import { network, tags, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

function table<T>(name: string): readonly T[] {
  const text = readFileSync(path.join(process.cwd(), 'tests/runtime/language/tables', `${name}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

// ---------------------------------------------------------------- expressions

type Expected =
  | { readonly error: string; readonly type?: undefined }
  | { readonly type: 'INT' | 'STRING'; readonly value: string }
  | { readonly type: 'REAL' | 'TIME'; readonly value: number }
  | { readonly type: 'BOOL'; readonly value: boolean };
type ExpressionRow = { readonly about: string; readonly text: string } & Expected;

const EXPRESSIONS = table<ExpressionRow>('expressions');
const GROUPS = [...new Set(EXPRESSIONS.map(({ about }) => about))];

/** What a step action leaves in `r`, or the code of its failure. */
function compiled(text: string): unknown {
  const plant = new Plant();
  plant.phases.load(basicPlan('p', once(`r := ${text};`)));
  plant.command('p', 'Start');
  plant.scan();
  const { checkpoint, invalid } = plant.view('p');
  return invalid || (checkpoint.failure ? checkpoint.failure.message.split(':')[0] : checkpoint.variables.r);
}

/** The same by the version of the action that holds every INT as halves of 64 bits. */
function wide(text: string): unknown {
  const bench = new Bench(`r := ${text};`);
  return bench.go('wide') || bench.value('r');
}

function expected(row: ExpressionRow): unknown {
  if (row.type === undefined) return row.error;
  return row.type === 'INT' && Number.isSafeInteger(Number(row.value)) ? Number(row.value) : row.value;
}

function literal(row: Exclude<Expected, { readonly error: string }>): string {
  switch (row.type) {
    case 'BOOL':
      return row.value ? 'TRUE' : 'FALSE';
    case 'REAL':
      return printReal(row.value);
    case 'TIME':
      return printTime(row.value);
    case 'STRING':
      return printString(row.value);
    case 'INT':
      return row.value;
  }
}

/** The verdict of a condition of a procedural chart over the same expression. */
function walked(row: ExpressionRow): string {
  const text = row.type === undefined ? `(${row.text}) = (${row.text})` : `(${row.text}) = ${literal(row)}`;
  const { expression, diagnostics } = parseCondition(text);
  if (!expression || diagnostics.length > 0) return diagnostics[0]?.message ?? 'not readable';
  const outcome = evaluateCondition(expression, { name: () => undefined, member: () => undefined, read: () => undefined });
  return 'reason' in outcome ? at(outcome.reason.split(':'), 0) : outcome.result;
}

for (const about of GROUPS) {
  t.test(`ST-01 ST-02 ST-04 ST-05 ST-06: ${about} are what an independent calculation gives, compiled and walked`, async (t) => {
    const wrong: string[] = [];
    const rows = EXPRESSIONS.filter((row) => row.about === about);
    for (const row of rows) {
      const seen = compiled(row.text);
      const wanted = expected(row);
      // a zero has no sign outside the arithmetic
      if (!(seen === wanted || (seen === 0 && wanted === 0))) wrong.push(`${row.text} gives ${seen}, not ${wanted}`);
      const widened = wide(row.text);
      if (!(widened === wanted || (widened === 0 && wanted === 0))) wrong.push(`${row.text}, wide, gives ${widened}, not ${wanted}`);
      const verdict = walked(row);
      if (verdict !== (row.type === undefined ? row.error : 'TRUE')) wrong.push(`condition ${row.text}: ${verdict}`);
    }
    t.same(wrong.slice(0, 20), [], `${rows.length} rows`);
  });
}

t.test('Q-ST-06: operands whose types do not fit are a type-mismatch in a walked condition, as in a compiled one', async (t) => {
  for (const text of ["1 < 'a'", 'TRUE < FALSE', 'T#1s = 1', 'NOT 1', '1 AND TRUE', "-'a' = 'a'", "'a' - 'b' = 'c'", '1.5 MOD 2 = 1', 'T#1s + 1 = T#2s', '1'])
    t.equal(walkedText(text), 'type-mismatch', text);
  t.equal(walkedText('FALSE AND 1 / 0 = 1'), 'FALSE', 'AND does not look at its right side');
  t.equal(walkedText('TRUE OR 1 / 0 = 1'), 'TRUE');
  t.equal(walkedText('TRUE XOR 1 / 0 = 1'), 'division-by-zero');
});

t.test('Decisions 2.4: names of a walked condition keep their types; one without a value makes it INVALID', async (t) => {
  const names = new Map([
    ['count', anyOf('INT', 7)],
    ['big', anyOf('INT', '9007199254740993')],
    ['hold', anyOf('TIME', 90_000)],
    ['level', anyOf('REAL', 7)],
    ['broken', anyOf('REAL', 'text')],
  ]);
  const scope: EvaluationScope = {
    name: (name) => names.get(name),
    member: (step, member) => (step === 'react' && member === 'T' ? anyOf('TIME', 5000) : undefined),
    read: (address) => (address === 'v.state' ? anyOf('STRING', 'Open') : undefined),
  };
  const rows = [
    ['count / 2 = 3', 'TRUE'],
    ['level / 2 = 3.5', 'TRUE'],
    ['big = 9007199254740993 AND big <> 9007199254740992', 'TRUE'],
    ['hold > T#1m AND react.T < hold', 'TRUE'],
    ["READ('v.state') = 'Open'", 'TRUE'],
    ["read('v.state') + count = 'Open7'", 'TRUE'],
    ['ABS(-count) = 7', 'TRUE'],
    ['nothing > 1', 'INVALID'],
    ['broken > 1', 'INVALID'],
    ["READ('v.gone') = 'Open'", 'INVALID'],
    ['FALSE AND nothing > 1', 'FALSE'],
    ['hold > 1', 'ERROR'],
    ["PROMPT('x') = 'y'", 'ERROR'],
  ] as const;
  for (const [text, wanted] of rows) {
    const { expression } = parseCondition(text);
    t.equal(expression && evaluateCondition(expression, scope).result, wanted, text);
  }
});

function walkedText(text: string): string {
  const { expression } = parseCondition(text);
  if (!expression) return 'not readable';
  const outcome = evaluateCondition(expression, { name: () => undefined, member: () => undefined, read: () => undefined });
  return 'reason' in outcome ? at(outcome.reason.split(':'), 0) : outcome.result;
}

// ---------------------------------------------------------------- blocks

interface BlockRow {
  readonly block: string;
  readonly in: Readonly<Record<string, readonly [type: 'INT' | 'REAL' | 'TIME' | 'STRING', text: string]>>;
  readonly out?: number | boolean;
  readonly error?: true;
}

/** Every input of a row comes from a block that gives a value of its type. */
function source(name: string, type: string, text: string): BlockSpec {
  if (type === 'REAL') return { name, type: 'ADD', params: { IN1: text } };
  return { name, type: 'CONST', params: { value: type === 'INT' ? Number(text) : text } };
}

t.test('Decisions 5.2: arithmetic, comparison and conversion blocks give what an independent calculation gives', async (t) => {
  const rows = table<BlockRow>('blocks');
  const blocks: BlockSpec[] = [];
  const connections: Connection[] = [];
  rows.forEach((row, index) => {
    for (const [port, [type, text]] of Object.entries(row.in)) {
      blocks.push(source(`s${index}${port}`, type, text));
      connections.push({ sourceBlock: `s${index}${port}`, sourcePort: 'OUT', destBlock: `b${index}`, destPort: port });
    }
    blocks.push({ name: `b${index}`, type: row.block });
  });
  const set = new NetworkSet(unitPlan({ networks: [network({ name: 'n', blocks, connections })] }), { texts: new TextTable(), clockMs: () => 0, cold: true });
  t.equal(at(set.reports(), 0).message, '');
  set.scan(1);
  const faulted = new Set(at(set.takeReports(), 0).faultedBlocks);
  const shown = new Map(set.inspect('n')?.blocks.map(({ name, outputs }) => [name, outputs.OUT?.value]));
  const wrong: string[] = [];
  rows.forEach((row, index) => {
    const seen: Value | 'error' | undefined = faulted.has(`b${index}`) ? 'error' : shown.get(`b${index}`);
    const wanted = row.error ? 'error' : row.out;
    if (!(seen === wanted || (seen === 0 && wanted === 0))) wrong.push(`${row.block} ${JSON.stringify(row.in)} gives ${seen}, not ${wanted}`);
  });
  t.same(wrong.slice(0, 20), [], `${rows.length} rows`);
});

// ---------------------------------------------------------------- timers, counters, edges

interface TimerRow {
  readonly block: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly dt: number;
  readonly in: Readonly<Record<string, readonly number[]>>;
  readonly out: Readonly<Record<string, readonly number[]>>;
}

/** A time is shown as text. */
function shownNumber(value: Value | undefined): number {
  return typeof value === 'string' ? (parseTimeText(value) ?? Number.NaN) : Number(value);
}

t.test('Decisions 5.2, IEC 61131-3 Tables 44 to 46: timers, counters and edges follow the history of their inputs', async (t) => {
  const rows = table<TimerRow>('timers');
  for (const row of rows) {
    const inputs = Object.keys(row.in);
    const plan = unitPlan({
      scanIntervalMs: row.dt,
      tags: tags(...inputs.map((port) => `n.${port} b.${port} BOOL w`)),
      networks: [network({ name: 'n', scanIntervalMs: row.dt, blocks: [{ name: 'b', type: row.block, params: row.params }] })],
    });
    const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0, cold: true });
    const seen: Record<string, number[]> = Object.fromEntries(Object.keys(row.out).map((port) => [port, []]));
    for (let scan = 0; scan < at(row.in, at(inputs, 0)).length; scan += 1) {
      for (const port of inputs) set.write(set.slot(`n.${port}`), at(row.in, port)[scan] === 1);
      set.scan(1);
      for (const [port, list] of Object.entries(seen)) list.push(shownNumber(set.inspect('n')?.blocks[0]?.outputs[port]?.value));
    }
    t.strictSame(seen, row.out, `${row.block} ${JSON.stringify(row.params)}, ${row.dt} ms`);
  }
});
