import { acknowledgeAll } from '../../data/alarms.js';
import type { Alarm } from '../../data/types.js';
import { t } from '../../common/strings.js';
import { Confirm } from '../../parts/confirm.js';
import { sourceName } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';

/** What was on the screen when it was asked for, and nothing that came since. */
export function AcknowledgeDialog({ found, onClose }: { readonly found: readonly Alarm[]; readonly onClose: () => void }) {
  return (
    <Confirm
      title={t.acknowledgeTitle(found.length)}
      text={t.acknowledgeWords}
      verb={t.acknowledge}
      testid="acknowledge"
      wide
      onSend={() => acknowledgeAll(found)}
      onClose={onClose}
    >
      <ul class="acknowledge-list scroll" tabIndex={0} aria-label={t.alarms}>
        {found.map((alarm) => (
          <li key={alarm.name}>
            <SeverityBadge severity={alarm.severity} /> {alarm.message || alarm.name} <span class="hint">{(alarm.unit || sourceName(alarm)).toUpperCase()}</span>
          </li>
        ))}
      </ul>
    </Confirm>
  );
}
