/** What was made in a shift, a day or a week: by product, and batch by batch; printed and exported as the report of it. */
import { useEffect, useState } from 'preact/hooks';
import { site } from '../../data/plant.js';
import { type Finished, type MadeOfProduct, madeOf, readFinished } from '../../data/production.js';
import { boxNowMs } from '../../data/box-clock.js';
import type { ProductionSummary } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { Chips } from '../../common/chips.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printPage } from '../../common/printing.js';
import { csvCell, fileTime, saveFile } from '../../common/save-file.js';
import { SpanFields } from '../../common/span-fields.js';
import { t, word, words } from '../../common/strings.js';
import { ageText, fullMomentText, instantOf, readingText, recordText, unitText, zoneText } from '../../common/text.js';
import { wholeLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { historySection } from '../history/history-words.js';

const text = words({
  en: {
    title: 'Production',
    span: 'Span',
    spans: { '8': '8 hours', '24': '24 hours', '168': '7 days', '720': '30 days' } as Readonly<Record<string, string>>,
    product: 'Product',
    batches: 'Batches',
    complete: 'Complete',
    ended: 'Ended otherwise',
    ordered: 'Ordered quantity of the complete ones',
    duration: 'Duration: least, mean, most',
    took: 'Took',
    outcome: 'Ended as',
    finished: 'Ended',
    order: 'Order',
    nothing: 'Nothing was finished in this span.',
    cut: (count: number) => `Only the latest ${count} of this span are counted. Choose a shorter one.`,
    each: 'Batch by batch',
    readAt: 'Read',
    old: (at: string, from: string, to: string) => `What is shown was read ${at} and is of the span from ${from} to ${to}.`,
    begin: 'the beginning',
  },
  de: {
    title: 'Produktion',
    span: 'Zeitraum',
    spans: { '8': '8 Stunden', '24': '24 Stunden', '168': '7 Tage', '720': '30 Tage' },
    product: 'Produkt',
    batches: 'Chargen',
    complete: 'Fertig',
    ended: 'Anders geendet',
    ordered: 'Bestellte Menge der fertigen',
    duration: 'Dauer: kürzeste, mittlere, längste',
    took: 'Dauer',
    outcome: 'Geendet als',
    finished: 'Ende',
    order: 'Auftrag',
    nothing: 'In diesem Zeitraum wurde nichts fertig.',
    cut: (count: number) => `Nur die letzten ${count} dieses Zeitraums sind gezählt. Wählen Sie einen kürzeren.`,
    each: 'Charge für Charge',
    readAt: 'Gelesen',
    old: (at: string, from: string, to: string) => `Was gezeigt wird, wurde ${at} gelesen und ist aus dem Zeitraum von ${from} bis ${to}.`,
    begin: 'Beginn',
  },
});

export const productionView: ViewDefinition = { name: 'production', action: 'mes:read', ofSite: true, section: historySection, title: () => text.title, component: ProductionView };

const HOUR_MS = 3_600_000;

function minutesText(minutes: number): string {
  return ageText(0, minutes * 60_000);
}

function orderedText({ ordered }: MadeOfProduct): string {
  return [...ordered].map(([unit, quantity]) => `${readingText(quantity)} ${unitText(unit)}`.trim()).join(', ');
}

const OF_PRODUCT: readonly Column<MadeOfProduct>[] = [
  { key: 'product', title: text.product, cell: ({ product, version }) => `${product} ${version}`.trim() },
  { key: 'batches', title: text.batches, cell: ({ batches }) => batches, isNumber: true },
  { key: 'complete', title: text.complete, cell: ({ complete }) => complete, isNumber: true },
  { key: 'ended', title: text.ended, cell: ({ batches, complete }) => batches - complete, isNumber: true },
  { key: 'ordered', title: text.ordered, cell: orderedText, isNumber: true },
  { key: 'duration', title: text.duration, cell: ({ minutes }) => (minutes ? [minutes.least, minutes.mean, minutes.most].map(minutesText).join(' / ') : ''), isNumber: true },
];

const OF_BATCH: readonly Column<ProductionSummary>[] = [
  { key: 'batch', title: t.batch, cell: ({ batchID }) => batchID },
  { key: 'order', title: text.order, cell: ({ workOrderID }) => workOrderID },
  { key: 'product', title: text.product, cell: ({ productID, productDefinition, version }) => `${productID || productDefinition} ${version}`.trim() },
  { key: 'quantity', title: t.quantity, cell: ({ quantity, engineeringUnit }) => `${recordText(quantity, true)} ${unitText(engineeringUnit)}`.trim(), isNumber: true },
  { key: 'started', title: t.started, cell: ({ startedAt }) => fullMomentText(startedAt), isNumber: true },
  { key: 'finished', title: text.finished, cell: ({ finishedAt }) => fullMomentText(finishedAt), isNumber: true },
  { key: 'took', title: text.took, cell: ({ startedAt, finishedAt }) => ageText(Date.parse(startedAt), Date.parse(finishedAt)), isNumber: true },
  { key: 'outcome', title: text.outcome, cell: ({ state }) => word(state) },
];

const NOTHING: Finished = { items: [], isCut: false };

function ProductionView() {
  const { from = '', to = '', hours = '24' } = view.value.query;
  const isFree = from !== '' || to !== '';
  const [{ items, isCut }, setFinished] = useState(NOTHING);
  const [fault, setFault] = useState('');
  const [span, setSpan] = useState({ from: '', to: '', readAt: '' });
  useEffect(() => {
    let current = true; // the question may have changed before the answer
    const asked = isFree ? { from: instantOf(from), to: instantOf(to) } : spanOf(hours);
    readFinished(asked.from, asked.to).then(
      (found) => {
        if (!current) return;
        setSpan({ ...asked, readAt: new Date(boxNowMs()).toISOString() });
        setFinished(found);
        setFault('');
      },
      (refused) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [site.value, from, to, hours]);
  const readText = span.readAt === '' ? '' : `${fullMomentText(span.readAt)} ${zoneText(span.readAt)}`;
  const toText = fullMomentText(span.to || span.readAt);
  const shownSpan: readonly (readonly [string, string])[] = [
    [t.from, fullMomentText(span.from)],
    [t.to, toText],
    [text.readAt, readText],
  ];
  return (
    <section class="panel page" aria-labelledby="production-title" data-testid="production-view">
      <header class="page-head">
        <h2 id="production-title">{text.title}</h2>
        <Chips
          label={text.span}
          value={isFree ? '' : hours}
          options={Object.entries(text.spans)}
          onChoose={(chosen) => narrow({ hours: chosen, from: '', to: '' })}
          testid="production-span"
        />
        <div class="page-filters">
          <SpanFields from={from} to={to} />
          <button type="button" class="button" onClick={() => saveFile(`production-${site.value}-${fileTime()}.csv`, 'text/csv', csvOf(items))} data-testid="production-csv">
            {t.csv}
          </button>
          <button type="button" class="button" onClick={printPage} data-testid="production-print">
            {t.print}
          </button>
        </div>
      </header>
      <PrintedChoice facts={shownSpan} />
      <Fault text={fault} testid="production-error" />
      {fault !== '' && readText !== '' && (
        <p class="warning" role="status" data-testid="production-old">
          {text.old(readText, fullMomentText(span.from) || text.begin, toText)}
        </p>
      )}
      {isCut && (
        <p class="warning" role="status" data-testid="production-cut">
          {text.cut(items.length)}
        </p>
      )}
      <Table
        label={text.title}
        columns={OF_PRODUCT}
        rows={wholeLog(madeOf(items))}
        keyOf={({ product, version }) => `${product} ${version}`}
        empty={text.nothing}
        isPart
        testid="production-products"
      />
      <h3>{text.each}</h3>
      <Table
        label={text.each}
        columns={OF_BATCH}
        rows={wholeLog(items)}
        keyOf={({ recordName }) => recordName}
        hrefOf={({ recordName }) => addressOf('record', recordName)}
        empty={text.nothing}
        isPart
        testid="production-batches"
      />
    </section>
  );
}

/** Up to now, by the clock of the box. */
function spanOf(hours: string): { readonly from: string; readonly to: string } {
  const count = Object.hasOwn(text.spans, hours) ? Number(hours) : 24;
  return { from: new Date(boxNowMs() - count * HOUR_MS).toISOString(), to: '' };
}

/** As it was recorded: points and instants, whatever the language of the page. */
function csvOf(items: readonly ProductionSummary[]): string {
  const members = [
    'batchID',
    'workOrderID',
    'productID',
    'productDefinition',
    'version',
    'quantity',
    'engineeringUnit',
    'startedAt',
    'finishedAt',
    'state',
    'recordPhase',
  ] as const;
  return `${[members.join(','), ...items.map((item) => members.map((member) => csvCell(item[member])).join(','))].join('\r\n')}\r\n`;
}
