/** The marks in words: what has no room on the curves, and what nobody can see. */
import type { Happening } from '../../data/trend-marks.js';
import { words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';

const said = words({
  en: { title: (count: number) => `Marks (${count})`, alarm: 'alarm', phase: 'phase', batch: 'batch' },
  de: { title: (count: number) => `Marken (${count})`, alarm: 'Alarm', phase: 'Phase', batch: 'Charge' },
});

export function Happenings({ found }: { readonly found: readonly Happening[] }) {
  if (found.length === 0) return null;
  return (
    <details class="happenings" data-testid="happenings" data-count={found.length}>
      <summary>{said.title(found.length)}</summary>
      <ul tabIndex={0} aria-label={said.title(found.length)}>
        {found.map(({ atMs, kind, text, unit }) => (
          <li key={`${atMs} ${kind} ${text}`} data-kind={kind}>
            <span class="number">{momentText(new Date(atMs).toISOString())}</span> {unit.toUpperCase()} {said[kind]} {text}
          </li>
        ))}
      </ul>
    </details>
  );
}
