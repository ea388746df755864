import { acknowledgeAlarm } from '../data/desk.js';
import { can } from '../data/session.js';
import type { Alarm } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { t, word } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { isUnacknowledged, SeverityMark } from './alarm.js';

export function AlarmList({ alarms, onClose }: { readonly alarms: readonly Alarm[]; readonly onClose: () => void }) {
  const sending = useSend();
  return (
    <Dialog title={t.alarms} testid="alarm-list" wide onClose={onClose}>
      <div class="stack">
        {sending.fault !== '' && (
          <p class="fault" role="alert">
            {sending.fault}
          </p>
        )}
        <ul class="alarm-list">
          {alarms.map((alarm) => (
            <li key={alarm.name}>
              <SeverityMark severity={alarm.severity} />
              <span class="alarm-text">
                <strong>{alarm.message || alarm.name}</strong>
                <span class="hint">{[alarm.unit, alarm.source, word(alarm.state), momentText(alarm.activatedAt ?? '')].filter((part) => part).join(' · ')}</span>
              </span>
              {isUnacknowledged(alarm) && (
                <button type="button" class="button" disabled={sending.busy || !can('alarm:acknowledge')} onClick={() => void sending.run(() => acknowledgeAlarm(alarm.name))}>
                  {t.acknowledge}
                </button>
              )}
            </li>
          ))}
        </ul>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
