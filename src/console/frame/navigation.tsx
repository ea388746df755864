/** The views, always in the same place; Alt and a digit opens one from the keyboard. */
import { useEffect } from 'preact/hooks';
import { addressOf, show } from '../data/view.js';
import { t } from '../common/strings.js';
import { current, places } from './console.js';
import type { ViewDefinition } from './view-definition.js';

/** A place, and the views that share it. */
interface Place {
  readonly key: string;
  readonly title: string;
  readonly views: readonly [ViewDefinition, ...ViewDefinition[]];
}

function placesOf(views: readonly ViewDefinition[]): readonly Place[] {
  const found = new Map<string, Place>();
  for (const view of views) {
    const key = view.section?.name ?? view.name;
    const place = found.get(key);
    found.set(key, place ? { ...place, views: [...place.views, view] } : { key, title: view.section?.title() ?? view.title(''), views: [view] });
  }
  return [...found.values()];
}

export function Navigation() {
  const all = placesOf(places.value);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const place = event.altKey && !event.ctrlKey && !event.metaKey ? all[Number(event.key) - 1] : undefined;
      if (!place || document.querySelector('dialog[open]')) return; // a question that is open is answered first
      event.preventDefault();
      show(place.views[0].name);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [all.map(({ key }) => key).join()]);
  return (
    <nav class="navigation" aria-label={t.views}>
      {all.map(({ key, title, views }, at) => (
        <a key={key} class="place" href={addressOf(views[0].name)} aria-current={isIn(views) ? 'page' : undefined} aria-keyshortcuts={`Alt+${at + 1}`} data-testid={`nav-${key}`}>
          {title}
          <Waiting views={views} />
        </a>
      ))}
    </nav>
  );
}

/** The views that share the place of the one that is shown. */
export function Sections() {
  const here = current.value?.section;
  const own = here ? places.value.filter(({ section }) => section?.name === here.name) : [];
  if (!here || own.length < 2) return null;
  return (
    <nav class="sections" aria-label={here.title()}>
      {own.map((view) => (
        <a key={view.name} class="place" href={addressOf(view.name)} aria-current={current.value === view ? 'page' : undefined} data-testid={`nav-${view.name}`}>
          {view.title('')}
          <Waiting views={[view]} />
        </a>
      ))}
    </nav>
  );
}

function isIn(views: readonly ViewDefinition[]): boolean {
  return current.value !== undefined && (views.includes(current.value) || views.some(({ section }) => section !== undefined && section.name === current.value?.section?.name));
}

function Waiting({ views }: { readonly views: readonly ViewDefinition[] }) {
  const count = views.reduce((sum, { waiting }) => sum + (waiting?.count() ?? 0), 0);
  const isUrgent = views.some(({ waiting }) => waiting?.urgent === true);
  return count === 0 ? null : <span class={isUrgent ? 'count count-alarm' : 'count'}>{count}</span>;
}
