import { acknowledgeAll } from '../../data/alarms.js';
import type { Alarm } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { t } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { sourceName } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';

/** What was on the screen when it was asked for, and nothing that came since. */
export function AcknowledgeDialog({ found, onClose }: { readonly found: readonly Alarm[]; readonly onClose: () => void }) {
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await acknowledgeAll(found);
      onClose();
    });
  };
  return (
    <Dialog title={t.acknowledgeTitle(found.length)} testid="acknowledge-dialog" wide onClose={onClose}>
      <form onSubmit={submit}>
        <Fault text={sending.fault} code={sending.code} testid="acknowledge-error" />
        <p>{t.acknowledgeWords}</p>
        <ul class="acknowledge-list scroll" tabIndex={0} aria-label={t.alarms}>
          {found.map((alarm) => (
            <li key={alarm.name}>
              <SeverityBadge severity={alarm.severity} /> {alarm.message || alarm.name} <span class="hint">{(alarm.unit || sourceName(alarm)).toUpperCase()}</span>
            </li>
          ))}
        </ul>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="acknowledge-send">
            {sending.busy ? t.sending : t.acknowledge}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
