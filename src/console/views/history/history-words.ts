/** Words that the lists of what was share. */
import type { HistoryGap, HistorySample } from '../../data/types.js';
import { t, words } from '../../common/strings.js';
import { fullMomentText, recordText } from '../../common/text.js';
import type { Section } from '../../frame/view-definition.js';

export const historySection: Section = { name: 'history', title: () => words({ en: 'History', de: 'Verlauf' }) };

const text = words({
  en: {
    nothing: (until: string, why: string) => `Nothing was recorded until ${until}: ${why}.`,
    causes: {
      RuntimeRestart: 'the control of the unit was restarted',
      DriverLost: 'the device was not reached',
      Overload: 'the box could not keep up',
      StorageFull: 'the disk was full',
      ClockJump: 'the clock was set',
      HistoryLost: 'what was recorded is lost',
    },
  },
  de: {
    nothing: (until: string, why: string) => `Nichts aufgezeichnet bis ${until}: ${why}.`,
    causes: {
      RuntimeRestart: 'die Steuerung der Teilanlage wurde neu gestartet',
      DriverLost: 'das Gerät war nicht erreichbar',
      Overload: 'die Box kam nicht mit',
      StorageFull: 'der Datenträger war voll',
      ClockJump: 'die Uhr wurde gestellt',
      HistoryLost: 'die Aufzeichnung ist verloren',
    },
  },
});

export function causeText(cause: HistoryGap['cause']): string {
  return text.causes[cause];
}

export function gapText({ to, cause }: HistoryGap): string {
  return text.nothing(fullMomentText(to), causeText(cause));
}

/** Every digit and letter of it. */
export function sampleText(value: HistorySample['value']): string {
  return value === null ? (t.qualities[''] ?? '') : recordText(String(value), typeof value === 'number');
}
