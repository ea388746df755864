/**
 * Types of expressions (decisions 4.4, Q-ST-06) as data and three questions about them. ANY stands for a value whose type
 * is known at run time only (READ, CALL_SERVICE): every check on it moves to run time.
 */
import type { DataType } from '../vocabulary/data-types.js';
import type { BinaryOperator } from './ast.js';

export type StType = DataType | 'ANY';

const NUMBERS: ReadonlySet<StType> = new Set<StType>(['INT', 'REAL']);

function isNumber(type: StType): boolean {
  return NUMBERS.has(type);
}

/** INT promotes to REAL; nothing else converts by itself. */
export function isAssignable(target: StType, source: StType): boolean {
  return target === source || target === 'ANY' || source === 'ANY' || (target === 'REAL' && source === 'INT');
}

function widest(left: StType, right: StType): StType {
  return left === 'REAL' || right === 'REAL' ? 'REAL' : 'INT';
}

function sumType(operator: '+' | '-', left: StType, right: StType): StType | null {
  if (operator === '+' && (left === 'STRING' || right === 'STRING')) return 'STRING';
  if (left === 'BOOL' || right === 'BOOL' || left === 'STRING' || right === 'STRING') return null;
  if (left === 'ANY' || right === 'ANY') return 'ANY';
  if (isNumber(left) && isNumber(right)) return widest(left, right);
  return left === 'TIME' && right === 'TIME' ? 'TIME' : null;
}

function productType(operator: '*' | '/', left: StType, right: StType): StType | null {
  const usable = (type: StType): boolean => isNumber(type) || type === 'TIME' || type === 'ANY';
  if (!usable(left) || !usable(right)) return null;
  if (left === 'TIME' && right === 'TIME') return operator === '/' ? 'REAL' : null;
  if (right === 'TIME' && operator === '/' && left !== 'ANY') return null;
  if (left === 'ANY' || right === 'ANY') return 'ANY';
  if (left === 'TIME' || right === 'TIME') return 'TIME';
  return widest(left, right);
}

function isComparable(operator: BinaryOperator, left: StType, right: StType): boolean {
  const equality = operator === '=' || operator === '<>';
  if (!equality && (left === 'BOOL' || right === 'BOOL')) return false;
  if (left === 'ANY' || right === 'ANY') return true;
  return left === right || (isNumber(left) && isNumber(right));
}

/** Type of `left operator right`; null when the operator does not fit. */
export function binaryType(operator: BinaryOperator, left: StType, right: StType): StType | null {
  const both = (fits: (type: StType) => boolean): boolean => (fits(left) || left === 'ANY') && (fits(right) || right === 'ANY');
  switch (operator) {
    case '+':
    case '-':
      return sumType(operator, left, right);
    case '*':
    case '/':
      return productType(operator, left, right);
    case 'MOD':
      return both((type) => type === 'INT') ? 'INT' : null;
    case 'AND':
    case 'OR':
    case 'XOR':
      return both((type) => type === 'BOOL') ? 'BOOL' : null;
    default:
      return isComparable(operator, left, right) ? 'BOOL' : null;
  }
}

/** Type of `operator operand`; null when the operator does not fit. */
export function unaryType(operator: 'NOT' | '-', operand: StType): StType | null {
  if (operator === 'NOT') return operand === 'BOOL' || operand === 'ANY' ? 'BOOL' : null;
  return isNumber(operand) || operand === 'TIME' || operand === 'ANY' ? operand : null;
}
