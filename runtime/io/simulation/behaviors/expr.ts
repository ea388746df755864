import { type BehaviorType, INITIAL } from '../behavior.js';
import { bindExpression, type CallSite } from '../expression.js';
import { type FunctionName, parseExpression } from '../expression-parser.js';

interface ExprState {
  /** Functions that own a call site, in text order: an edit that leaves them alone keeps their state. */
  names: readonly FunctionName[];
  sites: CallSite[];
}

/** A formula over the channels of the previous tick, limited to engMin..engMax (decisions 6.2, 6.4). */
export const expr: BehaviorType<ExprState> = {
  type: 'Expr',
  meaning: 'The formula `expr`, limited to `engMin` and `engMax` where they are given',
  params: [{ name: 'expr', type: 'expression', required: true }, { name: 'engMin', type: 'number' }, { name: 'engMax', type: 'number' }, INITIAL],
  start: () => ({ names: [], sites: [] }),
  bind(params, state) {
    const parsed = parseExpression(params.word('expr'));
    if (!parsed.ok) return ({ self }) => self;
    if (parsed.sites.join() !== state.names.join()) {
      state.names = parsed.sites;
      state.sites = parsed.sites.map(() => ({ started: false, y: 0 }));
    }
    const value = bindExpression(parsed.tree, (reference) => params.reference(reference), state.sites);
    const min = params.has('engMin') ? params.number('engMin') : Number.NEGATIVE_INFINITY;
    const max = params.has('engMax') ? params.number('engMax') : Number.POSITIVE_INFINITY;
    return (context) => {
      const result = value(context);
      return Number.isFinite(result) ? Math.min(Math.max(result, min), max) : result;
    };
  },
};
