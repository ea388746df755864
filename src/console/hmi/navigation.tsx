/** The views, always in the same place; Alt and a digit opens one from the keyboard. */
import { useEffect } from 'preact/hooks';
import { alarms, prompts } from '../data/plant.js';
import { can } from '../data/session.js';
import { addressOf, PLACES, type Place, show, view } from '../data/view.js';
import { t } from '../common/strings.js';
import { isUnacknowledged } from './alarm.js';

const ACTION: Readonly<Record<Place, string>> = {
  overview: 'overview:read',
  alarms: 'alarm:list',
  prompts: 'phase:list-prompts',
  trends: 'historian:tags',
  audit: 'audit:read',
};

export function Navigation() {
  const places = PLACES.filter((place) => can(ACTION[place]));
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const place = event.altKey && !event.ctrlKey && !event.metaKey ? places[Number(event.key) - 1] : undefined;
      if (!place || document.querySelector('dialog[open]')) return; // a question that is open is answered first
      event.preventDefault();
      show(place);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [places.join()]);
  return (
    <nav class="navigation" aria-label={t.views}>
      {places.map((place, at) => (
        <a
          key={place}
          class="place"
          href={addressOf(place)}
          aria-current={view.value.name === place ? 'page' : undefined}
          aria-keyshortcuts={`Alt+${at + 1}`}
          data-testid={`nav-${place}`}
        >
          {t.places[place]}
          <Count place={place} />
        </a>
      ))}
    </nav>
  );
}

function Count({ place }: { readonly place: Place }) {
  const count = place === 'alarms' ? alarms.value.filter((alarm) => !alarm.shelved && isUnacknowledged(alarm)).length : place === 'prompts' ? prompts.value.length : 0;
  return count === 0 ? null : <span class={place === 'alarms' ? 'count count-alarm' : 'count'}>{count}</span>;
}
