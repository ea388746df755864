/**
 * The worst alarm is always in sight, the others one touch away; in a flood the one that it began with too. Shape and word carry the severity, not
 * only colour, and one that only waits for its acknowledgement says so.
 */
import { alarms, stale } from '../data/plant.js';
import type { Alarm } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { nowMs } from '../common/clock.js';
import { t, word, words } from '../common/strings.js';
import { ageText, momentText } from '../common/text.js';
import { annunciated, isUnacknowledged, sourceName } from '../plant/alarm.js';
import { countsOf, flood, floodStory } from '../plant/alarm-groups.js';
import { SeverityBadge, SeverityShape } from '../parts/badge.js';
import { InTurn } from '../parts/in-turn.js';
import { isHornOn, setHorn, silence, sounding, waitsForTouch } from './alarm-sound.js';
import './alarm-banner.css';

const said = words({
  en: {
    firstOut: 'First out',
    then: (count: number, within: string) => `then ${count} in ${within}`,
    own: (count: number) => `${count} from the same cause`,
    other: (count: number, title: string) => `${count} from ${title}`,
    rest: (count: number) => `${count} others`,
    silence: 'Silence',
    soundOn: 'Sound on',
    soundOff: 'Sound off',
    touch: 'Sound waits for a touch',
  },
  de: {
    firstOut: 'Zuerst',
    then: (count: number, within: string) => `dann ${count} in ${within}`,
    own: (count: number) => `${count} aus derselben Ursache`,
    other: (count: number, title: string) => `${count} aus ${title}`,
    rest: (count: number) => `${count} weitere`,
    silence: 'Stumm',
    soundOn: 'Ton an',
    soundOff: 'Ton aus',
    touch: 'Der Ton wartet auf eine Berührung',
  },
});

export function AlarmBanner() {
  const shown = annunciated(alarms.value);
  const worst = shown[0];
  return (
    <section
      class={worst ? 'banner banner-active' : 'banner'}
      aria-label={t.alarms}
      data-testid="alarm-banner"
      data-flood={String(flood.value !== undefined)}
      data-sounding={String(sounding.value !== undefined)}
    >
      {worst ? (
        <>
          <SeverityBadge severity={worst.severity} />
          <div class="banner-lines">
            <p class="banner-line">
              <strong class="banner-text">{worst.message || worst.name}</strong>
              {worst.state.startsWith('Cleared') && <span class="banner-cleared">{word(worst.state)}</span>}
              <span class="banner-source">{(worst.unit || sourceName(worst)).toUpperCase()}</span>
              <span class="number">{momentText(worst.activatedAt)}</span>
            </p>
            <InTurn>
              <FirstOut />
            </InTurn>
          </div>
          <InTurn>
            <Counts />
          </InTurn>
          <span class={flood.value === undefined || stale.value ? 'banner-count' : 'visually-hidden'} role="status">
            {stale.value ? t.alarmsUnknown : t.alarmCount(shown.filter(({ state }) => state.startsWith('Active')).length, shown.filter(isUnacknowledged).length)}
          </span>
        </>
      ) : (
        <span class="banner-none">{stale.value ? t.alarmsUnknown : t.noAlarms}</span>
      )}
      <Announced alarm={worst} />
      <Horn />
      {worst && (
        <a class="button" href={addressOf('alarms')} data-testid="show-alarms">
          {t.showAlarms}
        </a>
      )}
    </section>
  );
}

/** Who does not see the screen is told of the worst one that nobody has acknowledged, at once and once. */
function Announced({ alarm }: { readonly alarm: Alarm | undefined }) {
  const calls = alarm !== undefined && isUnacknowledged(alarm) && !stale.value;
  return (
    <p class="visually-hidden" role="alert" data-testid="alarm-announced">
      {calls && `${word(alarm.severity)}: ${alarm.message || alarm.name}, ${(alarm.unit || sourceName(alarm)).toUpperCase()}`}
    </p>
  );
}

/** What a flood began with, and what the rest of it is. */
function FirstOut() {
  const story = floodStory.value;
  if (!story || stale.value) return null;
  const { first, count, own, other } = story;
  const rest = count - own - (other?.count ?? 0);
  const parts = [own > 0 ? said.own(own) : '', other ? said.other(other.count, other.title) : '', rest > 0 && rest < count ? said.rest(rest) : ''].filter((part) => part !== '');
  return (
    <p class="banner-line banner-first" data-testid="first-out">
      <strong>{said.firstOut}</strong>
      <span class="number">{momentText(first.activatedAt)}</span>
      <span class="banner-text">
        {(first.unit || sourceName(first)).toUpperCase()} {first.message || first.name}
        {count > 0 && `; ${said.then(count, ageText(Date.parse(first.activatedAt), nowMs.value))}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`}
      </span>
    </p>
  );
}

function Counts() {
  if (flood.value === undefined || stale.value) return null;
  return (
    <ul class="banner-counts" data-testid="banner-counts">
      {countsOf(alarms.value).map(({ severity, count, text }) => (
        <li key={severity} title={text} aria-label={text}>
          <SeverityShape severity={severity} /> <span class="number">{count}</span>
        </li>
      ))}
    </ul>
  );
}

/** One button, always in its place: it silences what sounds, else it says whether the panel has a horn. */
function Horn() {
  const isSounding = sounding.value !== undefined;
  const text = !isHornOn.value ? said.soundOff : isSounding ? said.silence : said.soundOn;
  return (
    <button
      type="button"
      class={isSounding ? 'button primary banner-horn' : 'button banner-horn'}
      aria-pressed={isHornOn.value}
      title={isHornOn.value && waitsForTouch.value ? said.touch : undefined}
      onClick={() => (isSounding ? silence() : setHorn(!isHornOn.value))}
      data-testid="horn"
    >
      {text}
    </button>
  );
}
