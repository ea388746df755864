/** How long an alarm is out of sight. The gateway bounds it (decisions Q-ALARM-05) and unshelves it by itself. */
import { useState } from 'preact/hooks';
import { shelve } from '../data/alarms.js';
import type { Alarm } from '../data/types.js';
import { Chips } from '../common/chips.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t } from '../common/strings.js';
import { durationText } from '../common/text.js';
import { useSend } from '../common/use-send.js';

const DURATIONS = ['15m', '30m', '1h', '2h', '8h'] as const;
type Duration = (typeof DURATIONS)[number];

export function ShelveDialog({ alarm, onClose }: { readonly alarm: Alarm; readonly onClose: () => void }) {
  const [duration, setDuration] = useState<Duration>('30m');
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await shelve(alarm, duration);
      onClose();
    });
  };
  return (
    <Dialog title={`${t.shelve}: ${alarm.message || alarm.name}`} testid="shelve-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <p class="hint">{t.shelveText}</p>
        <Fault text={sending.fault} code={sending.code} />
        <Chips label={t.duration} value={duration} options={DURATIONS.map((each) => [each, durationText(each)])} onChoose={setDuration} testid="shelve" />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="shelve-send">
            {sending.busy ? t.sending : t.shelve}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
