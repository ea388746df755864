/** The worst alarm is always in sight, the others one touch away. Shape and word carry the severity too, not only colour, and one that only waits for its acknowledgement says so. */
import { alarms, stale } from '../data/plant.js';
import { addressOf } from '../data/view.js';
import { t, word } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { annunciated, isUnacknowledged, SeverityMark, sourceName } from './alarm.js';

export function AlarmBanner() {
  const shown = annunciated(alarms.value);
  const worst = shown[0];
  return (
    <section class={worst ? 'banner banner-active' : 'banner'} aria-label={t.alarms} data-testid="alarm-banner">
      {worst ? (
        <>
          <SeverityMark severity={worst.severity} />
          <strong class="banner-text">{worst.message || worst.name}</strong>
          {worst.state.startsWith('Cleared') && <span class="banner-cleared">{word(worst.state)}</span>}
          <span class="banner-source">{(worst.unit || sourceName(worst)).toUpperCase()}</span>
          <span class="number">{momentText(worst.activatedAt)}</span>
          <span class="banner-count" role="status">
            {stale.value ? t.alarmsUnknown : t.alarmCount(shown.filter(({ state }) => state.startsWith('Active')).length, shown.filter(isUnacknowledged).length)}
          </span>
          <a class="button" href={addressOf('alarms')} data-testid="show-alarms">
            {t.showAlarms}
          </a>
        </>
      ) : (
        <span class="banner-none">{stale.value ? t.alarmsUnknown : t.noAlarms}</span>
      )}
    </section>
  );
}
