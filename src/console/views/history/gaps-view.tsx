/** The times of which the historian knows that it has nothing, of all units, newest first: since when, until when, and why. */
import { gapPage } from '../../data/recorded.js';
import { site, units } from '../../data/plant.js';
import type { HistoryGap } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printPage } from '../../common/printing.js';
import { SpanFields } from '../../common/span-fields.js';
import { t, words } from '../../common/strings.js';
import { ageText, fullMomentText, instantOf } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { causeText, historySection } from './history-words.js';

const text = words({
  en: { title: 'Gaps', nothing: 'Nothing is missing in this span.', long: 'How long', why: 'Why', tag: 'Tag', every: 'every tag' },
  de: { title: 'Lücken', nothing: 'In dieser Zeit fehlt nichts.', long: 'Wie lange', why: 'Warum', tag: 'Messstelle', every: 'jede Messstelle' },
});

export const gapsView: ViewDefinition = { name: 'gaps', action: 'historian:gaps', ofSite: true, section: historySection, title: () => text.title, component: GapsView };

const COLUMNS: readonly Column<HistoryGap>[] = [
  { key: 'time', title: t.from, cell: ({ from }) => fullMomentText(from), sort: 'time' },
  { key: 'to', title: t.until, cell: ({ to }) => fullMomentText(to) },
  { key: 'long', title: text.long, cell: ({ from, to }) => ageText(Date.parse(from), Date.parse(to)) },
  { key: 'unit', title: t.unit, cell: ({ unit }) => unit.toUpperCase() },
  { key: 'tag', title: text.tag, cell: ({ address }) => (address === '' ? text.every : address) },
  { key: 'why', title: text.why, cell: ({ cause }) => causeText(cause), isText: true },
];

function GapsView() {
  const { unit = '', from = '', to = '', order = 'desc' } = view.value.query;
  const question = { unit, from: instantOf(from), to: instantOf(to), order };
  const rows = useLog((cursor) => gapPage(question, cursor), [site.value, ...Object.values(question)]);
  return (
    <section class="panel page" aria-labelledby="gaps-title" data-testid="gaps-view">
      <header class="page-head">
        <h2 id="gaps-title">{text.title}</h2>
        <div class="page-filters">
          <select class="select" aria-label={t.unit} value={unit} onChange={(event) => narrow({ unit: event.currentTarget.value })} data-testid="gaps-unit">
            <option value="">{t.everyUnit}</option>
            {units.value.map(({ name }) => (
              <option key={name} value={name}>
                {name.toUpperCase()}
              </option>
            ))}
          </select>
          <SpanFields from={from} to={to} />
          <button type="button" class="button" onClick={printPage} data-testid="gaps-print">
            {t.print}
          </button>
        </div>
      </header>
      <PrintedChoice
        facts={[
          [t.unit, unit.toUpperCase()],
          [t.from, fullMomentText(question.from)],
          [t.to, fullMomentText(question.to)],
        ]}
      />
      <Table
        label={text.title}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ unit, address, from, cause }) => `${unit} ${address} ${from} ${cause}`}
        sorting={{ by: 'time', order: order === 'asc' ? 'asc' : 'desc' }}
        onSort={({ order: next }) => narrow({ order: next })}
        empty={text.nothing}
        testid="gaps"
      />
    </section>
  );
}
