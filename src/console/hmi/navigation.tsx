/** The views, always in the same place; Alt and a digit opens one from the keyboard. */
import { useEffect } from 'preact/hooks';
import { can } from '../data/session.js';
import { addressOf, show } from '../data/view.js';
import { t } from '../common/strings.js';
import type { ViewDefinition } from './view-definition.js';
import { current, VIEWS } from './views.js';

export function Navigation() {
  const places = VIEWS.filter(({ action }) => action !== undefined && can(action));
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const place = event.altKey && !event.ctrlKey && !event.metaKey ? places[Number(event.key) - 1] : undefined;
      if (!place || document.querySelector('dialog[open]')) return; // a question that is open is answered first
      event.preventDefault();
      show(place.name);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [places.map(({ name }) => name).join()]);
  return (
    <nav class="navigation" aria-label={t.views}>
      {places.map((place, at) => (
        <a
          key={place.name}
          class="place"
          href={addressOf(place.name)}
          aria-current={current.value === place ? 'page' : undefined}
          aria-keyshortcuts={`Alt+${at + 1}`}
          data-testid={`nav-${place.name}`}
        >
          {place.title('')}
          <Waiting {...place} />
        </a>
      ))}
    </nav>
  );
}

function Waiting({ waiting }: ViewDefinition) {
  const count = waiting?.count() ?? 0;
  return count === 0 ? null : <span class={waiting?.urgent ? 'count count-alarm' : 'count'}>{count}</span>;
}
