/**
 * What a condition compares, in parts that a reader can word (decisions 3.9): `READ('signal:' + doneSignal)` says neither which signal nor who
 * gives it, and `amount - preact` not in what. Computed for whoever looks, from the text and the names as they are now; nothing of it is in the scan.
 */
import type { Expression } from '../../../../runtime/language/ast.js';
import { type EvaluationScope, valueNow } from '../../../../runtime/language/evaluate.js';
import { isComparison } from '../../../../runtime/language/operands.js';
import { printExpression } from '../../../../runtime/language/print.js';
import { type Any } from '../../../../runtime/language/values.js';
import type { Store } from '../../../platform/store/store.js';
import { barrierWord } from '../../coordination/progress.js';
import { conditionOf } from '../../placement/conditions.js';
import type { ComparedSides, ConditionPart, ConditionSide } from '../../procedures/chart-status.js';
import { elementIndex } from '../tree/element-index.js';

/** What is known of the names of a condition beside their values. */
export interface SideNames {
  readonly scope: EvaluationScope;
  /** Where a tag is; undefined for what is none. */
  place(address: string): { readonly unit: string; readonly address: string } | undefined;
  /** Unit of measure of a parameter, variable or output; '' for none. */
  engUnits(name: string): string;
  /** Where a signal or barrier comes from. */
  givers(word: string): NonNullable<ConditionSide['from']>;
}

type Operator = ComparedSides['operator'];

export function withSides(part: ConditionPart, names: SideNames): ConditionPart {
  const expression = conditionOf(part.expression);
  const sides = expression && sidesOf(expression, names, part.asTold === true);
  return sides ? { ...part, sides } : part;
}

/** What NOT makes of a comparison, in words; a number that is none meets neither. */
const OPPOSITE: Readonly<Record<Operator, Operator>> = { '<': '>=', '>': '<=', '<=': '>', '>=': '<', '=': '<>', '<>': '=' };

/** @param isTold what only the chart knows has no value here. @param isNot the opposite of it is asked for. */
function sidesOf(expression: Expression, names: SideNames, isTold: boolean, isNot = false): ComparedSides | undefined {
  if (expression.kind === 'unary' && expression.operator === 'NOT') return sidesOf(expression.operand, names, isTold, !isNot);
  const side = (each: Expression): ConditionSide => sideOf(each, names, isTold);
  if (expression.kind === 'binary') {
    if (!isComparison(expression)) return undefined; // AND and OR that stand below the first compare nothing
    const operator = expression.operator as Operator;
    return { left: side(expression.left), operator: isNot ? OPPOSITE[operator] : operator, right: side(expression.right) };
  }
  const wanted = isNot ? 'FALSE' : 'TRUE';
  return { left: side(expression), operator: '=', right: { what: 'value', text: wanted, type: 'BOOL', value: wanted } };
}

function sideOf(expression: Expression, names: SideNames, isTold: boolean): ConditionSide {
  const value = isTold ? undefined : valueNow(expression, names.scope);
  return { ...meaningOf(expression, names), text: printExpression(expression), ...(value ? { type: value.type, value: textOf(value) } : {}) };
}

function meaningOf(expression: Expression, names: SideNames): Omit<ConditionSide, 'text' | 'type' | 'value'> {
  switch (expression.kind) {
    case 'literal':
      return { what: 'value' };
    case 'name':
      return { what: 'name', name: expression.name, ...measured(names.engUnits(expression.name)) };
    case 'member': {
      const { object, member } = expression;
      if (member.toUpperCase() === 'T') return { what: 'time', name: object };
      if (member.toUpperCase() === 'X') return { what: 'step', name: object };
      return { what: 'output', name: `${object}.${member}`, ...measured(names.engUnits(`${object}.${member}`)) };
    }
    case 'call': {
      const address = addressOf(expression, names);
      if (address === undefined) break;
      const [prefix = '', word = ''] = address.split(':', 2);
      const what = prefix.toLowerCase();
      if (what === 'signal' || what === 'barrier') return { what, name: word, from: names.givers(word) };
      return { what: 'tag', ...(names.place(address) ?? { address }) };
    }
    default:
      break;
  }
  // in what it is measured is told by the first of its names that has a unit of measure, else by its tag
  const within = partsOf(expression).map((part) => meaningOf(part, names));
  const named = within.find(({ engUnits }) => engUnits !== undefined);
  const tag = within.find(({ what }) => what === 'tag');
  return {
    what: 'computed',
    ...(named?.engUnits === undefined ? {} : measured(named.engUnits)),
    ...(tag?.unit === undefined || tag.address === undefined ? {} : { unit: tag.unit, address: tag.address }),
  };
}

function measured(engUnits: string): Pick<ConditionSide, 'engUnits'> {
  return engUnits === '' ? {} : { engUnits };
}

/** Of READ; made of text where it has to be. */
function addressOf(expression: Expression, { scope }: SideNames): string | undefined {
  if (expression.kind !== 'call' || expression.callee.toUpperCase() !== 'READ') return undefined;
  const [first] = expression.args;
  const address = first && valueNow(first.value, scope);
  return address?.type === 'STRING' ? String(address.value) : undefined;
}

function partsOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'unary':
      return [expression.operand];
    case 'binary':
      return [expression.left, expression.right];
    case 'call':
      return expression.callee.toUpperCase() === 'READ' ? [] : expression.args.map(({ value }) => value);
    default:
      return [];
  }
}

function textOf({ type, value }: Any): string {
  return type === 'BOOL' ? (value ? 'TRUE' : 'FALSE') : String(value);
}

/** The elements of a batch, or of a run by hand, that raise a signal or arrive at a barrier. */
export function giversOf(store: Store, site: string, scope: string, word: string): NonNullable<ConditionSide['from']> {
  const elements = elementIndex(store);
  const isNamed = (name: string): boolean => name.toLowerCase() === word.toLowerCase();
  const producers = elements.blocksOf(site, scope).flatMap(({ spec: { signal } }) => (signal && isNamed(signal.signalName) ? [signal.producer] : []));
  const participants = elements.barriersOf(site, scope).flatMap((barrier) => (isNamed(barrierWord(barrier)) ? barrier.spec.participants : []));
  return [...producers, ...participants].map(({ name, unitRef }) => {
    const element = elements.elementsOf(site, scope).find(({ metadata }) => metadata.name === name);
    const spec = element?.spec as { readonly stepPath?: string; readonly unitRef?: string } | undefined;
    return { path: spec?.stepPath || name, unit: spec?.unitRef || unitRef };
  });
}
