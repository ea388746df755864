/** Why a batch stands and why it stood: the first cause first, and what happened can still be looked up when it is over. */
import { useState } from 'preact/hooks';
import type { Cause, Spell } from '../data/happened.js';
import { isTold } from '../data/happened.js';
import { events, olderCursor, readOlder, spells } from '../data/history.js';
import type { BatchEvent } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { t, word } from '../common/strings.js';
import { ageText, momentText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { partsOf } from './event-words.js';

/** More entries are one touch away; a panel PC does not draw thousands of rows. */
const ROWS_MAX = 100;

/** What stands against the batch now. */
export function Standing({ spell }: { readonly spell: Spell }) {
  return (
    <div class="warning standing" data-testid="standing" data-state={spell.state}>
      <p>
        <strong>{t.since(spell.inside ? t.waitsInside : word(spell.state), momentText(spell.since))}</strong>
      </p>
      <Causes causes={spell.causes} />
    </div>
  );
}

function Causes({ causes }: { readonly causes: readonly Cause[] }) {
  const [first, ...later] = causes;
  if (!first) return <p class="hint">{t.causeUnknown}</p>;
  return (
    <>
      <p data-testid="first-cause">
        <CauseText cause={first} />
      </p>
      {later.length > 0 && (
        <>
          <p class="hint">{t.laterCauses}</p>
          <ul class="causes" data-testid="later-causes">
            {later.map((cause, at) => (
              <li key={at}>
                <time class="number hint">{momentText(cause.ts)}</time> <CauseText cause={cause} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function CauseText({ cause }: { readonly cause: Cause }) {
  const { command, who, refused, text, paths, gap, ts } = cause;
  if (gap) return <>{t.uncontrolled(gap.unit.toUpperCase(), momentText(gap.from), momentText(ts), gap.from < ts ? ageText(Date.parse(gap.from), Date.parse(ts)) : '')}</>;
  const head = command === '' ? '' : refused === '' ? t.commandBy(word(command), who) : t.rejectedBy(word(command), who);
  return (
    <>
      {head !== '' && <strong>{[refused, text].some((part) => part !== '') ? `${head}: ` : head}</strong>}
      {refused || text}
      {paths.length > 0 && <span class="hint"> {paths.join(', ')}</span>}
    </>
  );
}

/** The journal of the batch: its interruptions, then everything that somebody looks for afterwards. */
export function Happened() {
  const [rows, setRows] = useState(ROWS_MAX);
  const reading = useSend();
  const told = events.value.filter(isTold).toReversed();
  const found = spells.value.toReversed();
  const more = (): void => {
    if (told.length <= rows) void reading.run(readOlder);
    setRows(rows + ROWS_MAX);
  };
  return (
    <div class="happened" data-testid="happened">
      <h3>{t.interruptions}</h3>
      {found.length === 0 && <p class="empty">{t.noInterruptions}</p>}
      <ul class="spells">
        {found.map((spell) => (
          <li key={spell.from} data-testid="spell" data-state={spell.state}>
            <p>
              <strong>{spell.inside ? t.waitsInside : word(spell.state)}</strong>{' '}
              <span class="number">
                {momentText(spell.from)}
                {spell.to !== '' && ` – ${momentText(spell.to)} (${ageText(Date.parse(spell.from), Date.parse(spell.to))})`}
              </span>
            </p>
            <Causes causes={spell.causes} />
          </li>
        ))}
      </ul>
      <h3>{t.journal}</h3>
      <ul class="message-list" data-testid="journal">
        {told.slice(0, rows).map((event) => (
          <li key={event.id} class="message">
            <time class="number hint">{momentText(event.ts)}</time>
            <span>
              <EventText event={event} />
            </span>
          </li>
        ))}
      </ul>
      <Fault text={reading.fault} testid="journal-error" />
      {(told.length > rows || olderCursor.value !== null) && (
        <button type="button" class="button" disabled={reading.busy} onClick={more} data-testid="journal-more">
          {t.older}
        </button>
      )}
    </div>
  );
}

function EventText({ event }: { readonly event: BatchEvent }) {
  const { eventSubType, value, previousValue, message, person, element, unit } = event;
  const place = element.path || (element.kind === 'Batch' ? '' : element.name);
  const who = person?.displayName ?? '';
  return (
    <>
      {eventSubType === 'State Command' ? (
        <>
          <strong>{previousValue === '' ? t.commandBy(word(value), who) : t.rejectedBy(word(value), who)}</strong>
          {message !== '' && `: ${message}`}
        </>
      ) : eventSubType === 'State Change' ? (
        <>
          {word(previousValue)} → <strong>{word(value)}</strong>
          {message !== '' && `: ${word(message)}`}
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
