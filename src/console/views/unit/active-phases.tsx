/** What runs on the unit now, with the step it is in. Always as high, so that nothing moves under a finger when a phase comes or goes. */
import { phases } from '../../data/plant.js';
import type { PhaseAtWork } from '../../data/types.js';
import { t, words } from '../../common/strings.js';
import { reasonText } from '../../plant/blocker-words.js';
import { StateBadge } from '../../plant/state-badge.js';

const said = words({ en: { none: 'No phase is active.', title: 'Active phases' }, de: { none: 'Keine Phase ist aktiv.', title: 'Aktive Phasen' } });

export function ActivePhases({ unit }: { readonly unit: string }) {
  const running = [...phases.value.values()].filter((phase) => phase.unit === unit);
  return (
    <div class="active-phases" role="group" tabIndex={0} aria-label={said.title} data-testid="active-phases">
      <ul>
        {running.length === 0 && <li class="hint">{said.none}</li>}
        {running.map((phase) => (
          <li key={phase.name}>
            <strong>{phase.stepPath || phase.templateRef}</strong>{' '}
            {(phase.activeSteps ?? []).length > 0 && (
              <span class="hint">
                {t.step} {(phase.activeSteps ?? []).join(', ')}
              </span>
            )}{' '}
            {phase.state !== 'Running' && <StateBadge state={phase.state} />} <span class="hint">{whyOf(phase)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the badge says already. */
const SAID_BY_STATE: readonly string[] = ['held', 'paused'];

/** Without the path and the step, which stand before it already. */
function whyOf({ blockedBy = [] }: PhaseAtWork): string {
  return blockedBy
    .filter(({ reason }) => !SAID_BY_STATE.includes(reason))
    .map(reasonText)
    .join('; ');
}
