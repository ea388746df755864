/**
 * The sources that the runtime generates hold checked numbers, slots and words of ours, and nothing a user wrote: the same
 * program with other names and other texts gives the same source, character by character, and every word of it is known.
 */
import t from 'tap';
import { blockType, BLOCK_TYPE_NAMES } from '../../../runtime/catalog.js';
import { compilePhase } from '../../../runtime/chart/compile.js';
import { HELPERS } from '../../../runtime/chart/value.js';
import { builtin } from '../../../runtime/language/builtins.js';
import { isIdentifier } from '../../../runtime/language/lexer.js';
import { printString } from '../../../runtime/language/print.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { BlockSpec, CompositeType } from '../../../runtime/vocabulary/network.js';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { network, unitPlan, wires } from '../network/plans.js';
import { AWKWARD_NAMES } from './arbitrary.js';
import { at } from '../../support/at.js';

/** Everything that is handed to the Function constructor while `make` runs. */
function generated(make: () => void): string[] {
  const original = globalThis.Function;
  const sources: string[] = [];
  globalThis.Function = new Proxy(original, {
    construct(target, args: string[]) {
      sources.push(args.join('\n'));
      return Reflect.construct(target, args) as object;
    },
  });
  try {
    make();
  } finally {
    globalThis.Function = original;
  }
  return sources;
}

// ---------------------------------------------------------------- charts

const SLOTS = 4;

/** Programs with `@n` for names and `%n` for texts. */
const { statement } = fc.letrec<{ number: string; truth: string; text: string; statement: string }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('@0', '@1', '1', '-7', '2.5', '1e300', '9223372036854775807', 'ABS(@0)'),
    fc.tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number')).map(([a, o, b]) => `(${a} ${o} ${b})`),
  ),
  truth: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('TRUE', '@2', 'only.X', 'only.T > T#5s', "READ('%0') = '%1'"),
    fc.tuple(tie('number'), fc.constantFrom('<', '=', '>='), tie('number')).map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(tie('text'), fc.constantFrom('<', '='), tie('text')).map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(tie('truth'), fc.constantFrom('AND', 'OR', 'XOR'), tie('truth')).map(([a, o, b]) => `(${a} ${o} ${b})`),
  ),
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom("'%0'", "'%1'", "'%2'", '@3'),
    fc.tuple(tie('text'), fc.oneof(tie('text'), tie('number'))).map(([a, b]) => `(${a} + ${b})`),
  ),
  statement: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(fc.constantFrom('@0', '@1'), tie('number')).map(([name, value]) => `${name} := ${value};`),
    tie('truth').map((value) => `@2 := ${value};`),
    tie('text').map((value) => `@3 := ${value};`),
    fc.tuple(tie('truth'), tie('statement'), tie('statement')).map(([c, a, b]) => `IF ${c} THEN ${a} ELSE ${b} END_IF;`),
    fc.tuple(tie('text'), tie('statement')).map(([c, a]) => `CASE ${c} OF '%0', '%1': ${a} '%2': EXIT; END_CASE;`),
    fc.tuple(tie('truth'), tie('statement')).map(([c, a]) => `WHILE ${c} DO ${a} END_WHILE;`),
    tie('statement').map((a) => `FOR n := 1 TO 3 DO ${a} END_FOR;`),
    fc.constantFrom("WRITE('%0', @0);", "MESSAGE('%1');", "@3 := PROMPT('%2');", "@3 := PROMPT_CHOICE('x', '%0', '%1');", "COMMAND('%0', 'Hold');", "READ('%1');"),
  ),
}));

const NASTY_TEXTS = [
  "'];globalThis.struck=true;['",
  '"];globalThis.struck=true;["',
  '`${globalThis.struck=true}`',
  '\\u0027\\"',
  '\u2028\u2029\n\r\t\0',
  '*/globalThis.struck=true/*',
  '</script>',
  '__proto__',
  '$&$`$1',
  '//',
];

const aNastyName = fc
  .oneof(
    fc.constantFrom(
      ...AWKWARD_NAMES,
      'F',
      'V',
      'K',
      'H',
      'b',
      'v0',
      'k0',
      'x1',
      'arguments',
      'eval',
      'this',
      'function',
      'let',
      'await',
      'loopMax',
      'globalThis',
      'process',
      'require',
    ),
    fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/),
  )
  .filter((name) => isIdentifier(name) && builtin(name) === undefined && !['only', 'n'].includes(name.toLowerCase()));

const distinct = { selector: (text: string) => text.toLowerCase(), minLength: SLOTS, maxLength: SLOTS };
const nastyNames = fc.uniqueArray(aNastyName, distinct);
const nastyTexts = fc.uniqueArray(fc.oneof(fc.constantFrom(...NASTY_TEXTS), fc.string({ unit: anyCharacter, maxLength: 12 })), distinct);

function filled(template: string, names: readonly string[], texts: readonly string[]): string {
  return template.replace(/@(\d)|%(\d)/g, (_, name?: string, text?: string) => (name === undefined ? printString(at(texts, Number(text))).slice(1, -1) : at(names, Number(name))));
}

function chartSource(template: string, names: readonly string[], texts: readonly string[]): string[] {
  const actionST = filled(template, names, texts);
  const conditionST = filled("@0 > 1 AND (READ('%0') = '%1' OR @3 = '%2')", names, texts);
  const types = ['REAL', 'INT', 'BOOL', 'STRING'] as const;
  return generated(() => {
    const phase = compilePhase(
      {
        running: {
          steps: [
            { name: 'only', initial: true, actionST },
            { name: texts[1] || 'end', actionST: '' },
          ],
          transitions: [{ from: 'only', to: texts[1] || 'end', conditionST }],
        },
        charts: {},
        parameters: [],
        outputs: [],
        variables: names.map((name, n) => ({ name, type: at(types, n) })),
        signals: [{ name: at(texts, 0), condition: `${names[2]} OR only.X` }],
      },
      { loopLimit: 100 },
    );
    // Its wide version is a source of its own.
    if (!phase.charts.get('running')?.steps[0]?.action?.versions.wide) throw new Error('no action');
  });
}

const PLAIN_NAMES = ['aa', 'bb', 'cc', 'dd'];
const PLAIN_TEXTS = ['one', 'two', 'three', 'four'];

const OUR_WORDS = new Set([
  ...'use strict const let return function for switch case default if else break continue try finally typeof undefined true false instanceof new'.split(' '),
  ...'H K F V T L B A b d loopMax Math abs floor imul Number String value assigned'.split(' '),
  ...'read readText write writeText message suspend answer kept unset stepTime stepActive'.split(' '),
  ...Object.keys(HELPERS),
]);
const OUR_TEXTS = new Set([
  '"use strict"',
  '"number"',
  ...['BOOL', 'INT', 'REAL', 'STRING', 'TIME', '+', '-', '*', '/', 'MOD', '<', '>', '<=', '>=', '=', '<>'].map((word) => `"${word}"`),
]);
const TOKEN = /"(?:[^"\\]|\\.)*"|'|`|[A-Za-z_$][\w$]*|\d+(?:\.\d+)?(?:e[+-]?\d+)?n?|\s+|./gsu;

/** What of a source is none of our words, texts, numbers, slots and signs. */
function strange(source: string): string[] {
  const tokens = source.match(TOKEN) ?? [];
  return tokens.filter((token) => {
    if (token.startsWith('"')) return !OUR_TEXTS.has(token);
    if (/^[A-Za-z_$]/.test(token)) return !OUR_WORDS.has(token) && !/^(?:[ktxl]\d+|v\d+[hl]?)$/.test(token);
    return !/^(\d.*|\s+|[-+*/%&|^!<>=?:;,.()[\]{}])$/s.test(token);
  });
}

t.test('Reliability: the source of a chart holds slots, checked numbers and our own words; names and texts of users stay data', async (t) => {
  fc.assert(
    fc.property(fc.array(statement, { minLength: 1, maxLength: 5 }), nastyNames, nastyTexts, (statements, names, texts) => {
      const template = statements.join('\n');
      const plain = chartSource(template, PLAIN_NAMES, PLAIN_TEXTS);
      const nasty = chartSource(template, names, texts);
      if (plain.length !== 2) throw new Error(`${plain.length} sources`);
      for (const [at, source] of plain.entries()) {
        if (source !== nasty[at]) throw new Error(`${template}\n${source}\n${nasty[at]}`);
        const words = strange(source);
        if (words.length > 0) throw new Error(`${words.join(' ')}\n${source}`);
      }
    }),
    { numRuns: 400 },
  );
  t.equal((globalThis as { struck?: boolean }).struck, undefined);
  t.same(strange('let v1=V[0];const s="x";alert(`a`);'), ['s', '"x"', 'alert', '`', 'a', '`'], 'the check itself sees what is strange');
});

t.test('Reliability: numbers of every size are printed as numbers', async (t) => {
  for (const number of ['1e308', '-1e-308', '5e-324', '0.1', '16#7FFF_FFFF_FFFF_FFFF', '-9223372036854775808', 'T#-24d', 'T#100000d1ms', '-0.0', '1_000'])
    t.same(strange(at(chartSource(`@0 := ${number.startsWith('T') ? `${number} / T#1s` : number};`, PLAIN_NAMES, PLAIN_TEXTS), 0)), [], number);
});

// ---------------------------------------------------------------- networks

/** A network of one block of the type, its name, texts and neighbours chosen by the test. */
function networkSource(type: string, names: readonly string[], texts: readonly string[]): string[] {
  const params: Record<string, string | number> = {};
  for (const param of blockType(type)?.params ?? []) {
    if (param.type === 'STRING' && !param.words) params[param.name] = ['x', 'y'].includes(param.name) ? '0,1' : at(texts, 0);
    else if (param.required) params[param.name] = param.type === 'ANY' ? at(texts, 1) : 1;
  }
  const inner: BlockSpec = { name: at(names, 0), type, params, comment: at(texts, 2) };
  const composite: CompositeType = {
    name: 'wrap',
    description: at(texts, 3),
    inputs: [],
    outputs: [],
    params: [],
    blocks: [inner],
    connections: [],
    inputBindings: [],
    outputBindings: [],
    paramBindings: [],
  };
  const output = blockType(type)?.outputs[0]?.name ?? 'OUT';
  const plan = unitPlan({
    composites: [composite],
    networks: [
      network({
        name: at(texts, 0),
        hash: at(texts, 1),
        shape: at(texts, 2),
        blocks: [inner, { name: at(names, 1), type: 'wrap' }, { name: at(names, 2), type: 'MOVE' }],
        connections: wires().concat({ sourceBlock: at(names, 0), sourcePort: output, destBlock: at(names, 2), destPort: 'IN' }),
        variables: [{ name: at(names, 3), dataType: 'REAL', direction: 'input' }],
      }),
    ],
  });
  const sources = generated(() => {
    const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0, cold: true });
    const report = at(set.reports(), 0);
    if (report.state === 'Error') throw new Error(report.message);
    set.scan(1);
  });
  // a function that is compiled for one memory is told apart by a comment of numbers
  return sources.map((source) => source.replace(/\/\/ [\d.]+\n/g, ''));
}

t.test('Reliability: the source of a network does not depend on any name or text in it', async (t) => {
  const seen = new Set<string>();
  for (const type of BLOCK_TYPE_NAMES) {
    for (const source of networkSource(type, PLAIN_NAMES, PLAIN_TEXTS)) seen.add(source);
    for (const text of PLAIN_TEXTS) t.notOk([...seen].some((source) => source.includes(`"${text}"`)));
    fc.assert(
      fc.property(nastyNames, nastyTexts, (names, texts) => {
        // an equal source is found in the cache, or compiled once more
        const fresh = networkSource(
          type,
          names,
          texts.map((text) => `${text}.`),
        ).filter((source) => !seen.has(source));
        if (fresh.length > 0) throw new Error(`${type}: ${fresh[0]}`);
      }),
      { numRuns: 5 },
    );
  }
  t.ok(seen.size > 20);
  t.equal((globalThis as { struck?: boolean }).struck, undefined);
});
