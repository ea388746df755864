/** What every view of an alarm shares. */
import type { Alarm } from '../data/types.js';
import { word } from '../common/strings.js';

export function isUnacknowledged({ state }: Alarm): boolean {
  return state.endsWith('Unacknowledged');
}

export function SeverityMark({ severity }: { readonly severity: string }) {
  return (
    <span class={`severity severity-${severity.toLowerCase()}`}>
      <span aria-hidden="true">{{ Critical: '■', High: '▲', Medium: '◆' }[severity] ?? '●'}</span> {word(severity)}
    </span>
  );
}
