/** Why a batch stands and why it stood: the first cause first, and what happened can still be looked up when it is over. */
import { type Cause, saysWhy, type Spell } from '../data/happened.js';
import type { BatchEvent } from '../data/types.js';
import { lastDone } from '../data/history.js';
import { alarms } from '../data/plant.js';
import { t, word, words } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { partsOf } from './event-words.js';
import { causeText, type Said, toldText, uncontrolledText } from './told-words.js';

const said = words({
  en: { last: 'Last done:', givers: { 'alarm-controller': 'the alarm' } as Readonly<Record<string, string>> },
  de: { last: 'Zuletzt getan:', givers: { 'alarm-controller': 'dem Alarm' } as Readonly<Record<string, string>> },
});

/** What stands against the batch now: since when and why in one line, what came later below it. */
export function Standing({ spell }: { readonly spell: Spell }) {
  const [first, ...later] = spell.causes;
  return (
    <div class="warning standing" data-testid="standing" data-state={spell.state}>
      <p>
        <strong>{t.since(spell.inside ? t.waitsInside : word(spell.state), momentText(spell.since))}</strong>{' '}
        <span data-testid="first-cause">{first ? <CauseText cause={first} /> : t.causeUnknown}</span>
      </p>
      {!(first && isSame(first, lastDone.value)) && <LastDone />}
      <Later causes={later} />
    </div>
  );
}

/** What was done last is why it stands: it is not said twice. */
function isSame({ ts, command, who, refused }: Cause, done: BatchEvent | undefined): boolean {
  return done?.eventSubType === 'State Command' && refused === '' && done.ts === ts && done.value === command && done.person?.displayName === who;
}

function Later({ causes }: { readonly causes: readonly Cause[] }) {
  if (causes.length === 0) return null;
  return (
    <div>
      <p class="hint">{t.laterCauses}</p>
      <ul class="causes" data-testid="later-causes">
        {causes.map((cause, at) => (
          <li key={at}>
            <time class="number hint">{momentText(cause.ts)}</time> <CauseText cause={cause} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Who did what last, and when. */
export function LastDone() {
  const event = lastDone.value;
  if (!event) return null;
  return (
    <p data-testid="last-done">
      <span class="hint">{said.last}</span> <time class="number">{momentText(event.ts)}</time> <EventText event={event} />
    </p>
  );
}

/** A part of the box that commanded by itself is called by what it does. */
function giverText(who: string): string {
  return said.givers[who] ?? who;
}

/** What a person has written, letter by letter, or the alarm by its text while it is known. */
function reasonText(reason: Said): string {
  const name = reason.told?.code === 'alarm-commands' ? reason.told.parts.alarm : undefined;
  return alarms.value.find((alarm) => alarm.name === name)?.message || toldText(reason);
}

export function CauseText({ cause }: { readonly cause: Cause }) {
  const { command, who, refused, text, told, paths, gap, ts, deed } = cause;
  const what = { message: refused || text, told };
  if (deed)
    return (
      <>
        <strong>{who}: </strong>
        {partsOf(deed).join(' · ')}
      </>
    );
  if (gap) return <>{uncontrolledText(gap.unit, gap.from, ts)}</>;
  const by = giverText(who);
  const head = command === '' ? '' : refused === '' ? t.commandBy(word(command), by) : t.rejectedBy(word(command), by);
  return (
    <>
      {head !== '' && <strong>{[refused, text].some((part) => part !== '') ? `${head}: ` : head}</strong>}
      {command === '' ? causeText(what) : refused === '' ? reasonText(what) : toldText(what)}
      {paths.length > 0 && <span class="hint"> {paths.join(', ')}</span>}
    </>
  );
}

export function EventText({ event }: { readonly event: BatchEvent }) {
  const { eventSubType, value, previousValue, message, person, element, unit } = event;
  const place = element.path || (element.kind === 'Batch' ? '' : element.name);
  const who = person?.displayName ?? '';
  return (
    <>
      {eventSubType === 'State Command' ? (
        <>
          <strong>{previousValue === '' ? t.commandBy(word(value), giverText(who)) : t.rejectedBy(word(value), giverText(who))}</strong>
          {message !== '' && `: ${previousValue === '' ? reasonText(event) : toldText(event)}`}
        </>
      ) : eventSubType === 'State Change' ? (
        <>
          {word(previousValue)} → <strong>{word(value)}</strong>
          {saysWhy(event) && `: ${causeText(event)}`}
        </>
      ) : (
        <>
          {partsOf(event).join(' · ')}
          {who !== '' && <strong> {who}</strong>}
        </>
      )}
      {(place !== '' || unit !== '') && <span class="hint"> {place || unit.toUpperCase()}</span>}
    </>
  );
}
