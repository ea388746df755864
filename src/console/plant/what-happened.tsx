/** Why a batch stands and why it stood: the first cause first, and what happened can still be looked up when it is over. */
import type { Cause, Spell } from '../data/happened.js';
import type { BatchEvent } from '../data/types.js';
import { t, word } from '../common/strings.js';
import { ageText, momentText } from '../common/text.js';
import { partsOf } from './event-words.js';

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

export function CauseText({ cause }: { readonly cause: Cause }) {
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

export function EventText({ event }: { readonly event: BatchEvent }) {
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
