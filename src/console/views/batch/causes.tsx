/** What stood against a batch, interruption by interruption: the causes in the order of time, first cause first, each with the way to its evidence. */
import { useState } from 'preact/hooks';
import { alarms } from '../../data/plant.js';
import { chainOf, type Cause, type Spell } from '../../data/happened.js';
import { events, olderCursor } from '../../data/history.js';
import { alarmSeverities } from '../../data/batch-alarms.js';
import { can } from '../../data/session.js';
import { addressOf } from '../../data/view.js';
import { t, word, words } from '../../common/strings.js';
import { ageText, momentText, zoneText } from '../../common/text.js';
import { isSeverity, SeverityBadge } from '../../parts/badge.js';
import { CauseText, LastDone } from '../../plant/what-happened.js';

const said = words({
  en: {
    inTime: 'In the time line',
    alarm: 'Alarm',
    record: 'Audit record',
    stood: 'stood already when it was held',
    led: 'done before the alarm came',
    later: (count: number) => (count === 1 ? 'Show 1 later event' : `Show ${count} later events`),
    after: (age: string) => `${age} after the first`,
    none: 'It was never held, paused or stopped.',
    unread: 'In what has been read of it it was never held, paused or stopped.',
    noRecord: 'found by the box itself, without a command',
  },
  de: {
    inTime: 'In der Zeitleiste',
    alarm: 'Alarm',
    record: 'Protokolleintrag',
    stood: 'stand schon an, als angehalten wurde',
    led: 'getan, bevor der Alarm kam',
    later: (count: number) => (count === 1 ? '1 weiteres Ereignis zeigen' : `${count} weitere Ereignisse zeigen`),
    after: (age: string) => `${age} nach der ersten`,
    none: 'Sie wurde nie angehalten, pausiert oder gestoppt.',
    unread: 'In dem, was davon gelesen ist, wurde sie nie angehalten, pausiert oder gestoppt.',
    noRecord: 'vom Gateway selbst gefunden, ohne Kommando',
  },
});

interface CausesProps {
  /** Oldest first. */
  readonly spells: readonly Spell[];
  readonly open: Spell | undefined;
  readonly onOpen: (spell: Spell) => void;
  readonly onMoment: (atMs: number) => void;
}

/** Newest first: what stands is on top. */
export function Interruptions({ spells, open, onOpen, onMoment }: CausesProps) {
  const isWhole = events.value.length > 0 && olderCursor.value === null;
  if (spells.length === 0) return <p class="empty">{isWhole ? said.none : said.unread}</p>;
  return (
    <>
      <LastDone />
      <ul class="spells">
        {spells.toReversed().map((spell) => (
          <li key={spell.from} data-testid="spell" data-state={spell.state}>
            <button type="button" class="spell-head" aria-expanded={spell.from === open?.from} onClick={() => onOpen(spell)}>
              <strong>{spell.inside ? t.waitsInside : word(spell.state)}</strong>{' '}
              <span class="number">
                {momentText(spell.from)}
                {spell.to !== '' && ` – ${momentText(spell.to)} (${ageText(Date.parse(spell.from), Date.parse(spell.to))})`} {zoneText(spell.from)}
              </span>
            </button>
            {spell.from === open?.from && <Chain spell={spell} onMoment={onMoment} />}
          </li>
        ))}
      </ul>
    </>
  );
}

/** More are one touch away: in the time line and in the journal. */
const SHOWN_MAX = 3;

function Chain({ spell, onMoment }: { readonly spell: Spell; readonly onMoment: (atMs: number) => void }) {
  const chain = chainOf(spell);
  const [isWhole, setWhole] = useState(false);
  const before = chain.filter((cause) => spell.before.includes(cause));
  const shown = isWhole ? chain.length : SHOWN_MAX + before.filter(({ deed }) => deed !== null).length; // what they led to is in sight
  const hintOf = (cause: Cause, at: number): string => {
    if (before.includes(cause)) return cause.deed ? said.led : said.stood;
    return at === 0 ? '' : said.after(ageText(Date.parse(chain[0]?.ts ?? ''), Date.parse(cause.ts)));
  };
  if (chain.length === 0) return <p class="hint">{t.causeUnknown}</p>;
  return (
    <>
      <ol class="chain" data-testid="chain">
        {chain.slice(0, shown).map((cause, at) => (
          <li key={cause.id} data-testid={`cause-${at + 1}`}>
            <CauseRow cause={cause} number={at + 1} hint={hintOf(cause, at)} onMoment={onMoment} />
          </li>
        ))}
      </ol>
      {chain.length > shown && (
        <button type="button" class="button chain-more" onClick={() => setWhole(true)} data-testid="chain-more">
          {said.later(chain.length - shown)}
        </button>
      )}
    </>
  );
}

interface CauseRowProps {
  readonly cause: Cause;
  readonly number: number;
  readonly hint: string;
  readonly onMoment: (atMs: number) => void;
}

function CauseRow({ cause, number, hint, onMoment }: CauseRowProps) {
  const severity = alarms.value.find(({ name }) => name === cause.alarm)?.severity ?? alarmSeverities.value.get(cause.alarm) ?? '';
  const unit = cause.unit.toUpperCase();
  return (
    <>
      <strong class="cause-number">{number}</strong>
      <div class="cause-text">
        <p>
          {isSeverity(severity) && <SeverityBadge severity={severity} hasWord={false} />} <time class="number">{tenths(cause.ts)}</time> <CauseText cause={cause} />
        </p>
        <p class="hint">{[unit, hint, cause.audit === '' && cause.command !== '' ? said.noRecord : ''].filter((part) => part !== '').join(' · ')}</p>
      </div>
      <div class="cause-ways">
        <button type="button" class="button" onClick={() => onMoment(Date.parse(cause.ts))} data-testid={`moment-${number}`}>
          {said.inTime}
        </button>
        {cause.alarm !== '' && can('alarm:list') && (
          <a class="button" href={addressOf('alarms')} data-testid={`alarm-${number}`}>
            {said.alarm}
          </a>
        )}
        {cause.audit !== '' && can('audit:read') && (
          <a class="button" href={addressOf('audit', '', { record: cause.audit })} data-testid={`record-${number}`}>
            {said.record}
          </a>
        )}
      </div>
    </>
  );
}

/** Causes may come in one second. */
function tenths(ts: string): string {
  return `${momentText(ts)}${ts.slice(19, 21)}`;
}
