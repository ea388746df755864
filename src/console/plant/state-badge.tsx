/** State of a unit, a batch or an element, in the degree that it calls for attention. */
import { isResting, severityOf } from '../data/states.js';
import { word } from '../common/strings.js';
import { Badge, type BadgeLook } from '../parts/badge.js';

const LOOKS = { normal: 'outline', attention: 'filled', bad: 'critical' } as const satisfies Record<string, BadgeLook>;

export function StateBadge({ state, testid }: { readonly state: string; readonly testid?: string }) {
  const severity = severityOf(state);
  return (
    <Badge look={severity === 'normal' && isResting(state) ? 'rest' : LOOKS[severity]} state={state} testid={testid}>
      {word(state || 'Idle')}
    </Badge>
  );
}
