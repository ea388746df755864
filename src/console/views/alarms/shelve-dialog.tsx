/** How long an alarm is out of sight, and why. The gateway bounds the time (decisions Q-ALARM-05) and unshelves it by itself. */
import { useState } from 'preact/hooks';
import { shelve } from '../../data/alarms.js';
import { config } from '../../data/session.js';
import type { Alarm } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t, words } from '../../common/strings.js';
import { durationText } from '../../common/text.js';
import { Confirm } from '../../parts/confirm.js';

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
  const lengthMin = Math.max(1, config.value?.reasonMinLength ?? 1);
  return (
    <Confirm
      title={`${t.shelve}: ${alarm.message || alarm.name}`}
      text={`${t.shelveText} ${said.seen}`}
      verb={t.shelve}
      testid="shelve"
      judge={() => (reasonLength(reason) < lengthMin ? t.reasonNeeded(lengthMin) : '')}
      onSend={() => shelve(alarm, duration, reason.trim())}
      onClose={onClose}
    >
      <Chips label={t.duration} value={duration} options={DURATIONS.map((each) => [each, durationText(each)])} onChoose={setDuration} testid="shelve" />
      <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={REASON_MAX} suggestions={said.reasons} />
    </Confirm>
  );
}
