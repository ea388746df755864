/** What the gateway finds by words, best first: of all kinds, and over all sites that the person may see. */
import type { SearchResult } from '../../data/types.js';
import { logPage } from '../../data/listed.js';
import { addressOf, view } from '../../data/view.js';
import { t, word, words } from '../../common/strings.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import { shown } from '../../frame/console.js';
import { SearchField } from '../../frame/search-field.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

const text = words({
  en: {
    title: 'Search',
    nothing: 'Nothing has these words.',
    asks: 'What do you look for? Type it above; on a keyboard the key / goes there.',
    kind: 'What',
    where: 'Found in',
    name: 'Name',
  },
  de: {
    title: 'Suche',
    nothing: 'Nichts hat diese Wörter.',
    asks: 'Was suchen Sie? Oben eintippen; auf einer Tastatur führt die Taste / dorthin.',
    kind: 'Was',
    where: 'Gefunden in',
    name: 'Name',
  },
});

export const searchView: ViewDefinition = { name: 'search', title: () => text.title, component: SearchView };

/** Views in which a thing of a kind is looked at, by the name of the thing. */
const VIEW_OF: Readonly<Record<string, string>> = { Unit: 'unit', Batch: 'batch', BatchRecord: 'record' };

/** Things without a view of their own: the audit trail says what was done to them. */
function hrefOf({ kind, name, site }: SearchResult): string {
  const own = VIEW_OF[kind];
  return own === undefined ? addressOf('audit', '', { name, site }) : addressOf(own, name, { site });
}

const COLUMNS: readonly Column<SearchResult>[] = [
  { key: 'name', title: text.name, cell: ({ title, name }) => title || name },
  { key: 'kind', title: text.kind, cell: ({ kind }) => word(kind) },
  { key: 'site', title: t.site, cell: ({ site }) => site },
  { key: 'match', title: text.where, cell: ({ name, match }) => `${name} (${match})` },
];

function SearchView() {
  const { q = '' } = view.value.query;
  const rows = useLog((cursor) => (q === '' ? Promise.resolve({ items: [], nextCursor: null }) : logPage<SearchResult>('/api/v1/search', { q }, cursor)), [q]);
  return (
    <section class="panel page" aria-labelledby="search-title" data-testid="search-view">
      <header class="page-head">
        <h2 id="search-title">{text.title}</h2>
        {shown.value.path === '/hmi' && <SearchField />}
      </header>
      <Table
        label={text.title}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ kind, site, name }) => `${kind}/${site}/${name}`}
        hrefOf={hrefOf}
        empty={q === '' ? text.asks : text.nothing}
        testid="found"
      />
    </section>
  );
}
