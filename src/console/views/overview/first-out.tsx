/** The first cause of what stands now, and what followed, in the order in which it came (ISA-18.2, first-out), with the ways to both. */
import { alarms, batches } from '../../data/plant.js';
import { addressOf } from '../../data/view.js';
import { t, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { annunciated } from '../../plant/alarm.js';
import { holdText } from '../../plant/hold-text.js';

const said = words({
  en: { title: 'First out', then: (count: number) => `then ${count}:`, held: (batch: string, cause: string) => `${batch} held: ${cause}`, happened: 'What happened' },
  de: { title: 'Zuerst', then: (count: number) => `dann ${count}:`, held: (batch: string, cause: string) => `${batch} angehalten: ${cause}`, happened: 'Was geschah' },
});

const FOLLOWERS_MAX = 6;

interface Event {
  readonly since: string;
  readonly text: string;
  readonly batch: string;
}

export function FirstOut() {
  const [first, ...later] = standingNow();
  if (!first) return null;
  const batch = [first, ...later].find((event) => event.batch !== '')?.batch ?? '';
  return (
    <section class="first-out" aria-label={said.title} data-testid="first-out">
      <p class="first-cause">
        <strong>{said.title}</strong> <time class="number">{momentText(first.since)}</time> <strong>{first.text}</strong>
      </p>
      {later.length > 0 && (
        <p class="first-then">
          {said.then(later.length)}{' '}
          {later
            .slice(0, FOLLOWERS_MAX)
            .map(({ since, text }) => `${text} ${momentText(since)}`)
            .join(', ')}
          {later.length > FOLLOWERS_MAX && ' …'}
        </p>
      )}
      <span class="first-ways">
        {batch !== '' && (
          <a class="button" href={addressOf('batch', batch, { tab: 'happened' })} data-testid="first-out-happened">
            {said.happened}
          </a>
        )}
        <a class="button" href={addressOf('alarms')} data-testid="first-out-alarms">
          {t.alarms}
        </a>
      </span>
    </section>
  );
}

/** Holds of batches, and alarms that are active; the oldest first. */
function standingNow(): Event[] {
  const holds = batches.value.flatMap((batch): Event[] =>
    batch.heldBy ? [{ since: batch.heldBy.since, text: said.held(batch.batchID, holdText(batch)), batch: batch.name }] : [],
  );
  if (holds.length === 0) return [];
  const active = annunciated(alarms.value)
    .filter(({ state }) => state.startsWith('Active'))
    .map(({ activatedAt, message, name }): Event => ({ since: activatedAt, text: message || name, batch: '' }));
  return [...holds, ...active].sort((a, b) => a.since.localeCompare(b.since));
}
