import type { InterlockCondition } from '../data/interlock.js';
import { t } from '../common/strings.js';

/** One condition of an interlock, with the values that decide it now. */
export function ConditionLine({ condition: { text, ok, because } }: { readonly condition: InterlockCondition }) {
  return (
    <li data-ok={String(ok)}>
      <span aria-hidden="true">{ok ? '✓' : '✗'}</span> <span class="visually-hidden">{ok ? t.met : t.notMet}: </span>
      {text !== '' && <strong>{text}: </strong>}
      <span class="number">{because.join(', ')}</span>
    </li>
  );
}
