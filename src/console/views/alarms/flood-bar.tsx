/** How many alarms come, beside what one operator can bear (ISA-18.2), and since when it is a flood. */
import { perMinute } from '../../data/alarm-rate.js';
import { nowMs } from '../../common/clock.js';
import { words } from '../../common/strings.js';
import { ageText, clockText } from '../../common/text.js';
import { came, flood } from '../../plant/alarm-groups.js';
import { Badge } from '../../parts/badge.js';

const said = words({
  en: {
    flood: 'Flood',
    count: (count: number, within: string) => `${count} alarms in ${within}`,
    goal: (since: string) => `since ${since}; goal: under 10 in 10 min`,
    rate: 'alarms per minute, last 30 min',
  },
  de: {
    flood: 'Schwall',
    count: (count: number, within: string) => `${count} Alarme in ${within}`,
    goal: (since: string) => `seit ${since}; Ziel: unter 10 in 10 min`,
    rate: 'Alarme je Minute, letzte 30 min',
  },
});
const BAR_PX = 11;
const HEIGHT = 30;

export function FloodBar() {
  const now = flood.value;
  if (!now) return null;
  const counts = perMinute(came.value, nowMs.value);
  const most = Math.max(1, ...counts);
  return (
    <div class="flood" role="status" data-testid="flood" data-count={now.count}>
      <Badge look="filled">{said.flood}</Badge>
      <div>
        <strong>{said.count(now.count, ageText(now.sinceMs, nowMs.value))}</strong>
        <p class="hint">{said.goal(clockText(now.sinceMs))}</p>
      </div>
      <figure class="flood-rate">
        <figcaption class="hint">{said.rate}</figcaption>
        <svg viewBox={`0 0 ${counts.length * BAR_PX} ${HEIGHT}`} height={HEIGHT} aria-hidden="true">
          {counts.map((count, at) => {
            const high = count === 0 ? 1 : Math.max(2, Math.round((count / most) * HEIGHT));
            return <rect key={at} class={count > 1 ? 'flood-many' : 'flood-few'} x={at * BAR_PX} y={HEIGHT - high} width={BAR_PX - 2} height={high} />;
          })}
        </svg>
      </figure>
    </div>
  );
}
