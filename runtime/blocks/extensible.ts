/**
 * Blocks of two to eight inputs of one type that differ in one operator only (decisions 5.2): the further inputs take
 * part when they are connected, bound or constant.
 */
import { block, type BlockType, type Family } from './block.js';

export interface ExtensibleRow {
  readonly name: string;
  readonly family: Family;
  readonly description: string;
  readonly type: 'BOOL' | 'NUM';
  readonly total?: boolean;
  /** The expression over the values of the inputs that take part; there is at least one. */
  readonly combine: (terms: readonly string[]) => string;
}

/** Without any input that takes part the block gives zero. */
export function extensible({ type, combine, ...row }: ExtensibleRow): BlockType {
  return block({
    ...row,
    inputs: `IN1:${type}, IN2:${type}, IN3..IN8:${type}?`,
    outputs: `OUT:${type}`,
    code: (form) => {
      const terms = form.used().map((port) => `$${port}`);
      return `$OUT = ${terms.length === 0 ? '0' : combine(terms)};`;
    },
  });
}
