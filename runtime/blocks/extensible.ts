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
  /** A part of the combination may leave INT although the whole does not; then that is the overflow. */
  readonly partsOverflow?: boolean;
}

/** Without any input that takes part the block gives zero. */
export function extensible({ type, combine, partsOverflow = false, ...row }: ExtensibleRow): BlockType {
  return block({
    ...row,
    inputs: `IN1:${type}, IN2:${type}, IN3..IN8:${type}?`,
    outputs: `OUT:${type}`,
    code: (form) => {
      const terms = form.used().map((port) => `$${port}`);
      if (terms.length === 0) return '$OUT = 0;';
      if (partsOverflow && terms.length > 2 && form.type('OUT') === 'INT') return inSteps(terms, combine);
      return `$OUT = ${combine(terms)};`;
    },
  });
}

/** Left first, as `a + b + c` associates in structured text, with the range checked behind every step. */
function inSteps([first, ...others]: readonly string[], combine: ExtensibleRow['combine']): string {
  return `$OUT = ${first};${others.map((term) => `\n    $OUT = ${combine(['$OUT', term])};\n    if (Math.abs($OUT) > INT_LIMIT) $fail;`).join('')}`;
}
