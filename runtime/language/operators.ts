/** Binary operators by binding power (contract 3, Structured-text language): a larger number binds tighter. */
import type { BinaryOperator } from './ast.js';

export const BINDING: ReadonlyMap<string, number> = new Map<BinaryOperator, number>([
  ['OR', 1],
  ['XOR', 2],
  ['AND', 3],
  ['=', 4],
  ['<>', 4],
  ['<', 5],
  ['>', 5],
  ['<=', 5],
  ['>=', 5],
  ['+', 6],
  ['-', 6],
  ['*', 7],
  ['/', 7],
  ['MOD', 7],
]);
