import { severityOf } from '../data/states.js';
import { word } from '../common/strings.js';

export function StateBadge({ state, testid }: { readonly state: string; readonly testid?: string }) {
  return (
    <span class={`state state-${severityOf(state)}`} data-state={state} data-testid={testid}>
      {word(state || 'Idle')}
    </span>
  );
}
