/** The records of the batches that have ended, the latest first (contract 3, Batch record): found by what people call them, opened and printed from here. */
import { useEffect, useState } from 'preact/hooks';
import { site } from '../../data/plant.js';
import { countRecords, recordPage, type RecordQuestion } from '../../data/records.js';
import type { RecordItem } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { Chips } from '../../common/chips.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printPage } from '../../common/printing.js';
import { SpanFields } from '../../common/span-fields.js';
import { t, word, words } from '../../common/strings.js';
import { fullMomentText, instantOf } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { type Column, type Sorting, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { phaseText, recordsSection } from './record-words.js';

const text = words({
  en: {
    phase: 'Phase',
    all: 'All',
    search: 'Number, order, lot',
    product: 'Product',
    outcome: 'Ended as',
    ended: 'Ended',
    nothing: 'No record fits this choice.',
  },
  de: {
    phase: 'Stand',
    all: 'Alle',
    search: 'Nummer, Auftrag, Los',
    product: 'Produkt',
    outcome: 'Geendet als',
    ended: 'Ende',
    nothing: 'Kein Protokoll passt zu dieser Auswahl.',
  },
});

export const recordsView: ViewDefinition = {
  name: 'records',
  action: 'batchrecord:list',
  ofSite: true,
  section: recordsSection,
  title: recordsSection.title,
  component: RecordsView,
};

const PHASES = ['', 'Open', 'Reviewed', 'Finalized'] as const;

const COLUMNS: readonly Column<RecordItem>[] = [
  { key: 'batch', title: t.batch, cell: ({ batchID }) => batchID },
  { key: 'product', title: text.product, cell: ({ productID }) => productID },
  { key: 'recipe', title: t.recipe, cell: ({ recipe, version }) => `${recipe} ${version}` },
  { key: 'started', title: t.started, cell: ({ startedAt }) => fullMomentText(startedAt), isNumber: true },
  { key: 'ended', title: text.ended, cell: ({ endedAt }) => fullMomentText(endedAt), isNumber: true, sort: 'ended' },
  { key: 'outcome', title: text.outcome, cell: ({ outcome }) => word(outcome) },
  { key: 'phase', title: text.phase, cell: ({ phase }) => phaseText(phase) },
];

function RecordsView() {
  const { phase = '', search = '', from = '', to = '', order = 'desc' } = view.value.query;
  const narrowed = { search, from: instantOf(from), to: instantOf(to) };
  const question = { ...narrowed, phase, order };
  const rows = useLog((cursor) => recordPage(question, cursor), [site.value, ...Object.values(question)]);
  const counts = useCounts(narrowed, rows.items);
  const sorting: Sorting = { by: 'ended', order: order === 'asc' ? 'asc' : 'desc' };
  return (
    <section class="panel page" aria-labelledby="records-title" data-testid="records-view">
      <header class="page-head">
        <h2 id="records-title">{recordsSection.title()}</h2>
        <Chips
          label={text.phase}
          value={phase}
          options={PHASES.map((each) => [each, [each === '' ? text.all : phaseText(each), counts[each]].join(' ').trim()])}
          onChoose={(chosen) => narrow({ phase: chosen })}
          testid="records-phase"
        />
        <div class="page-filters">
          <input
            class="select"
            type="search"
            aria-label={text.search}
            placeholder={text.search}
            value={search}
            onChange={(event) => narrow({ search: event.currentTarget.value.trim() })}
            data-testid="records-search"
          />
          <SpanFields from={from} to={to} />
          <button type="button" class="button" onClick={printPage} data-testid="records-print">
            {t.print}
          </button>
        </div>
      </header>
      <PrintedChoice
        facts={[
          [text.phase, phase === '' ? '' : phaseText(phase)],
          [text.search, search],
          [t.from, fullMomentText(instantOf(from))],
          [t.to, fullMomentText(instantOf(to))],
        ]}
      />
      <Table
        label={recordsSection.title()}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ name }) => name}
        hrefOf={({ name }) => addressOf('record', name)}
        sorting={sorting}
        onSort={({ order: next }) => narrow({ order: next })}
        empty={text.nothing}
        testid="records"
      />
    </section>
  );
}

/** How many there are of each phase; read again with the list. */
function useCounts(narrowed: RecordQuestion, again: unknown): Readonly<Record<string, number>> {
  const [counts, setCounts] = useState<Readonly<Record<string, number>>>({});
  useEffect(() => {
    let current = true; // the question may have changed before the answer
    countRecords(narrowed, PHASES).then(
      (found) => current && setCounts(found),
      () => undefined, // the list tells why
    );
    return () => {
      current = false;
    };
  }, [again]);
  return counts;
}
