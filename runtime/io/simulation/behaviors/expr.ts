import { type BehaviorType, INITIAL } from '../behavior.js';
import { compileExpression, SITE_NUMBERS } from '../expression.js';
import { type FunctionName, parseExpression } from '../expression-parser.js';

interface ExprState {
  /** Functions that own a call site, in text order: an edit that leaves them alone keeps their state. */
  names: readonly FunctionName[];
  sites: Float64Array;
}

/** A formula over the channels of the previous tick, limited to engMin..engMax (decisions 6.2, 6.4). */
export const expr: BehaviorType<ExprState> = {
  type: 'Expr',
  meaning: 'The formula `expr`, limited to `engMin` and `engMax` where they are given',
  params: [{ name: 'expr', type: 'expression', required: true }, { name: 'engMin', type: 'number' }, { name: 'engMax', type: 'number' }, INITIAL],
  start: () => ({ names: [], sites: new Float64Array(0) }),
  bind(params, state) {
    const parsed = parseExpression(params.word('expr'));
    if (!parsed.ok) return ({ self }) => self;
    if (parsed.sites.join() !== state.names.join()) {
      state.names = parsed.sites;
      state.sites = new Float64Array(SITE_NUMBERS * parsed.sites.length);
    }
    return compileExpression(parsed.tree, params.wires, state.sites, {
      min: params.has('engMin') ? params.number('engMin') : Number.NEGATIVE_INFINITY,
      max: params.has('engMax') ? params.number('engMax') : Number.POSITIVE_INFINITY,
    });
  },
};
