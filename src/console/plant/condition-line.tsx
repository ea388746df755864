import type { InterlockCondition } from '../data/interlock.js';
import { t } from '../common/strings.js';
import { reasonText } from './interlock-words.js';

/** One condition of an interlock in words, with the value that decides it and its limit; beside them as its logic has it, for engineers. */
export function ConditionLine({ condition: { text, ok, because, reasons } }: { readonly condition: InterlockCondition }) {
  const told = reasons.map(reasonText).filter((each) => each !== '');
  return (
    <li data-ok={String(ok)}>
      <span aria-hidden="true">{ok ? '✓' : '✗'}</span> <span class="visually-hidden">{ok ? t.met : t.notMet}: </span>
      {text !== '' && <strong>{text}: </strong>}
      {told.length > 0 && <span data-testid="condition-words">{told.join('; ')} </span>}
      <span class={told.length > 0 ? 'hint number' : 'number'}>{because.join(', ')}</span>
    </li>
  );
}
