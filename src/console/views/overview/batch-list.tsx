/** The batches of the site: what matters now first, and every other one by search, filter and page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListPage } from '../../data/api.js';
import { select, selected } from '../../data/batch.js';
import { can } from '../../data/session.js';
import { plannedOf } from '../../data/plan.js';
import { Latest } from '../../data/latest.js';
import { batchCount, batches, batchesNext, type BatchSet, findBatches, site } from '../../data/plant.js';
import type { BatchItem } from '../../data/types.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, words } from '../../common/strings.js';
import { takeFocus } from '../../common/take-focus.js';
import { minuteText, momentText } from '../../common/text.js';
import { holdText } from '../../plant/hold-text.js';
import { InTurn } from '../../parts/in-turn.js';
import { StateBadge } from '../../plant/state-badge.js';
import { NewBatchDialog } from './new-batch.js';

const SETS: readonly BatchSet[] = ['all', 'open', 'ended'];
/** Somebody who types is not asked for after each letter. */
const TYPING_MS = 250;

const said = words({
  en: {
    add: 'New batch',
    find: 'Find',
    waitsFor: (units: string) => `waits for ${units}`,
    ends: (at: string) => `end about ${at}`,
    earliest: (at: string) => `earliest ${at}`,
    held: (cause: string) => `held: ${cause}`,
  },
  de: {
    add: 'Neue Charge',
    find: 'Suchen',
    waitsFor: (units: string) => `wartet auf ${units}`,
    ends: (at: string) => `Ende etwa ${at}`,
    earliest: (at: string) => `frühestens ${at}`,
    held: (cause: string) => `angehalten: ${cause}`,
  },
});

export function BatchList({ onChosen }: { readonly onChosen: () => void }) {
  const [making, setMaking] = useState(false);
  const [finds, setFinds] = useState(false);
  const [search, setSearch] = useState('');
  const [set, setSet] = useState<BatchSet>('all');
  const { items, total, next, fault, more } = useBatches(search, set);
  const find = (): void => {
    setFinds(!finds);
    setSearch(''); // what is not seen filters nothing
    setSet('all');
  };
  return (
    <section class="panel batch-list" aria-labelledby="batches-title">
      <header class="batch-head">
        <h2 id="batches-title">{t.batches}</h2>
        <span class="hint" role="status" data-testid="batch-count">
          {t.shownOf(items.length, total)}
        </span>
        <button type="button" class="button" aria-expanded={finds} onClick={find} data-testid="batch-find">
          {said.find}
        </button>
        {can('batch:create') && (
          <button type="button" class="button" onClick={() => setMaking(true)} data-testid="batch-new">
            {said.add}
          </button>
        )}
      </header>
      {finds && <Search search={search} set={set} onSearch={setSearch} onSet={setSet} />}
      <ReadFault text={fault} />
      {items.length === 0 && <p class="empty">{search.trim() === '' && set === 'all' ? t.noBatches : t.nothingFound}</p>}
      <ul class="rows" data-testid="batches">
        {items.map((batch) => (
          <li key={batch.name}>
            <InTurn>
              <Row batch={batch} chosen={batch.name === selected.value} onChosen={onChosen} />
            </InTurn>
          </li>
        ))}
      </ul>
      {next !== '' && (
        <button type="button" class="button" onClick={more} data-testid="batch-more">
          {t.more}
        </button>
      )}
      {making && (
        <NewBatchDialog
          onClose={() => {
            setMaking(false);
            onChosen();
          }}
        />
      )}
    </section>
  );
}

interface SearchProps {
  readonly search: string;
  readonly set: BatchSet;
  readonly onSearch: (search: string) => void;
  readonly onSet: (set: BatchSet) => void;
}

function Search({ search, set, onSearch, onSet }: SearchProps) {
  return (
    <div class="batch-search">
      <input
        type="search"
        class="select"
        aria-label={t.searchBatches}
        placeholder={t.search}
        value={search}
        ref={takeFocus}
        onInput={(event) => onSearch(event.currentTarget.value)}
        data-testid="batch-search"
      />
      <select class="select" aria-label={t.show} value={set} onChange={(event) => onSet(event.currentTarget.value as BatchSet)} data-testid="batch-set">
        {SETS.map((each) => (
          <option key={each} value={each}>
            {t.batchSets[each]}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The first page of all is what the plant shows anyway; anything else is asked for here. */
function useBatches(search: string, set: BatchSet) {
  const [found, setFound] = useState<ListPage<BatchItem> | null>(null);
  const [fault, setFault] = useState('');
  const [latest] = useState(() => new Latest());
  const pages = useRef(1);
  const isAsked = search.trim() !== '' || set !== 'all';
  const look = async (): Promise<void> => {
    const ask = async (): Promise<ListPage<BatchItem>> => {
      let list = await findBatches(search, set);
      for (let page = 1; page < pages.current && list.next !== ''; page += 1) {
        const { items, next, total } = await findBatches(search, set, list.next);
        list = { items: [...list.items, ...items.filter(({ name }) => !list.items.some((known) => known.name === name))], next, total };
      }
      return list;
    };
    try {
      await latest.read(ask, (list) => {
        setFound(list);
        setFault('');
      });
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => {
    latest.forget();
    pages.current = 1;
    if (!isAsked) {
      setFound(null);
      return undefined;
    }
    const timer = window.setTimeout(() => void look(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [search, set, site.value]);
  const live = batches.value;
  useEffect(() => {
    if (isAsked && pages.current === 1 && found) void look();
  }, [live]);
  const count = batchCount.value;
  useEffect(() => {
    if (pages.current > 1) void look(); // one more, or one less: no page is what it was
  }, [count]);
  const shown = found ?? { items: live, next: batchesNext.value, total: count };
  const known = new Map(live.map((batch) => [batch.name, batch]));
  const listed = new Set(shown.items.map(({ name }) => name));
  // one that has moved to the front between two pages is in none of them
  const moved = isAsked ? [] : live.filter(({ name }) => !listed.has(name));
  return {
    items: [...moved, ...shown.items].map((batch) => known.get(batch.name) ?? batch),
    total: shown.total,
    next: shown.next,
    fault,
    more: (): void => {
      pages.current += 1;
      void look();
    },
  };
}

interface RowProps {
  readonly batch: BatchItem;
  readonly chosen: boolean;
  readonly onChosen: () => void;
}

function Row({ batch, chosen, onChosen }: RowProps) {
  const time = batch.endedAt || batch.startedAt || batch.createdAt;
  const stands = standsBy(batch);
  const choose = (): void => {
    select(batch.name);
    onChosen();
  };
  return (
    <button type="button" class="row" aria-pressed={chosen} onClick={choose} data-testid={`batch-${batch.batchID}`}>
      <span class="row-main">
        <span class="row-first">
          <strong>{batch.batchID}</strong>
          <span class="hint">
            {batch.masterRecipeRef} · {momentText(time)}
          </span>
        </span>
        {stands !== '' && (
          <span class="hint row-stands" data-testid={`stands-${batch.batchID}`}>
            {stands}
          </span>
        )}
      </span>
      <StateBadge state={batch.phase} />
    </button>
  );
}

/** Why it stands, what it waits for by the names that people know, and when it will be done. */
function standsBy(batch: BatchItem): string {
  const { name, heldBy, endedAt } = batch;
  if (endedAt !== '') return '';
  const planned = plannedOf(name);
  return [
    heldBy ? said.held(holdText(batch)) : '',
    planned && planned.waitsFor.length > 0 ? said.waitsFor(planned.waitsFor.map(({ unit, batchID }) => `${unit.toUpperCase()} (${batchID})`).join(', ')) : '',
    planned && planned.state === 'Pending' && planned.waitsFor.length > 0 && planned.startsAt !== '' ? said.earliest(minuteText(planned.startsAt)) : '',
    planned && planned.endsAt !== '' ? said.ends(minuteText(planned.endsAt)) : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
