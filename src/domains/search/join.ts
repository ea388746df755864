/** Finding things: by their words, and by who names them. */
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { TagCatalog } from '../tags/catalog.js';
import { SEARCH_ROUTES, type SearchDeps } from './routes.js';
import { PastTexts } from './past-texts.js';
import { SearchIndex } from './search-index.js';
import { usedByRoutes } from './used-by.js';
import type { Ruled } from '../../platform/store/kind.js';
import type { Log } from '../../platform/base/log.js';
import { referencesOf } from '../../platform/store/references.js';
import { danglingText } from './dangling.js';

export interface SearchParts extends Pick<SearchDeps, 'rows'> {
  readonly store: Store;
  /** Everything that is served, in the order in which equally good matches are answered. */
  readonly kinds: readonly Ruled[];
  readonly catalog: TagCatalog;
  readonly log: Pick<Log, 'warn'>;
}

export function joinSearch({ store, kinds, catalog, log, rows }: SearchParts) {
  return {
    routes: [
      routeSet(SEARCH_ROUTES, { store, index: new SearchIndex(store, kinds), past: new PastTexts(store, kinds), catalog, rows }),
      routeSet(usedByRoutes, { store, kinds, rows }),
    ],
    /** What leads nowhere is told once, where somebody who starts the box looks. */
    start(): void {
      const dangling = referencesOf(store).dangling();
      if (dangling.length > 0) log.warn({ references: dangling.length }, danglingText(dangling));
    },
  };
}
