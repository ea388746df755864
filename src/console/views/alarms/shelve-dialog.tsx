/** How long an alarm is out of sight, and why. The gateway bounds the time (decisions Q-ALARM-05) and unshelves it by itself. */
import { useState } from 'preact/hooks';
import { shelve } from '../../data/alarms.js';
import { config } from '../../data/session.js';
import type { Alarm } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t, words } from '../../common/strings.js';
import { durationText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';

const DURATIONS = ['15m', '30m', '1h', '2h', '8h'] as const;
type Duration = (typeof DURATIONS)[number];
const REASON_MAX = 1024;

const said = words({
  en: {
    seen: 'Everybody sees it under Shelved with your name and the reason, and in the history.',
    reasons: ['Instrument is being repaired', 'Known, maintenance is informed', 'Equipment is out of use'],
  },
  de: {
    seen: 'Alle sehen ihn unter Zurückgestellt mit Ihrem Namen und dem Grund, und im Verlauf.',
    reasons: ['Messung wird repariert', 'Bekannt, Instandhaltung ist informiert', 'Einrichtung ist außer Betrieb'],
  },
});

export function ShelveDialog({ alarm, onClose }: { readonly alarm: Alarm; readonly onClose: () => void }) {
  const [duration, setDuration] = useState<Duration>('30m');
  const [reason, setReason] = useState('');
  const sending = useSend();
  const lengthMin = Math.max(1, config.value?.reasonMinLength ?? 1);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (reasonLength(reason) < lengthMin) return sending.refuse(t.reasonNeeded(lengthMin));
    void sending.run(async () => {
      await shelve(alarm, duration, reason.trim());
      onClose();
    });
  };
  return (
    <Dialog title={`${t.shelve}: ${alarm.message || alarm.name}`} testid="shelve-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <p class="hint">
          {t.shelveText} {said.seen}
        </p>
        <Fault text={sending.fault} code={sending.code} testid="shelve-error" />
        <Chips label={t.duration} value={duration} options={DURATIONS.map((each) => [each, durationText(each)])} onChoose={setDuration} testid="shelve" />
        <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={REASON_MAX} suggestions={said.reasons} />
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
