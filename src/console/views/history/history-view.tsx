/** What was recorded of a tag, sample by sample: found among all tags of the site, read over a span, printed and exported. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { site, tagList } from '../../data/plant.js';
import { FILE_ROWS_MAX, readGaps, readRecorded, readRecordedTags, type RecordedQuestion, type RecordedRow, samplePage, withGaps } from '../../data/recorded.js';
import type { HistoryGap, RecordedTag } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { Fault, ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printPage } from '../../common/printing.js';
import { csvCell, fileTime, saveFile } from '../../common/save-file.js';
import { SpanFields } from '../../common/span-fields.js';
import { t, words } from '../../common/strings.js';
import { fullMomentText, instantOf, preciseMomentText, unitText, zoneText } from '../../common/text.js';
import { type Log, useLog } from '../../common/use-log.js';
import { useSend } from '../../common/use-send.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { gapText, historySection, sampleText } from './history-words.js';
import { RecordsOfSpan } from './records-of-span.js';

const text = words({
  en: {
    title: 'Recorded values',
    search: 'Find a tag',
    tag: 'Tag',
    type: 'Type',
    first: 'First',
    last: 'Last',
    samples: 'Samples',
    quality: 'Quality',
    noTag: 'No recorded tag has these letters.',
    nothing: 'Nothing is recorded in this span.',
    all: 'All tags',
    cut: (count: number) => `The file holds the first ${count} samples; narrow the span for the others.`,
    types: { Boolean: 'on or off', Integer: 'whole number', Float: 'number', String: 'text', Time: 'time' },
  },
  de: {
    title: 'Aufgezeichnete Werte',
    search: 'Messstelle suchen',
    tag: 'Messstelle',
    type: 'Art',
    first: 'Erster',
    last: 'Letzter',
    samples: 'Werte',
    quality: 'Qualität',
    noTag: 'Keine aufgezeichnete Messstelle hat diese Buchstaben.',
    nothing: 'In dieser Zeit ist nichts aufgezeichnet.',
    all: 'Alle Messstellen',
    cut: (count: number) => `Die Datei enthält die ersten ${count} Werte; für die anderen die Zeit eingrenzen.`,
    types: { Boolean: 'ein oder aus', Integer: 'ganze Zahl', Float: 'Zahl', String: 'Text', Time: 'Zeit' },
  },
});

export const historyView: ViewDefinition = {
  name: 'history',
  action: 'historian:tags',
  ofSite: true,
  section: historySection,
  title: (id) => (id === '' ? text.title : `${text.title} ${id}`),
  component: ({ id }) => (id === '' ? <TagsView /> : <SamplesView key={`${site.value} ${id}`} address={id} />),
};

const TAGS: readonly Column<RecordedTag>[] = [
  { key: 'tag', title: text.tag, cell: ({ address }) => address },
  { key: 'unit', title: t.unit, cell: ({ unit }) => unit.toUpperCase() },
  { key: 'type', title: text.type, cell: ({ dataType }) => text.types[dataType] },
  { key: 'first', title: text.first, cell: ({ firstTs }) => fullMomentText(firstTs) },
  { key: 'last', title: text.last, cell: ({ lastTs }) => fullMomentText(lastTs) },
  { key: 'samples', title: text.samples, cell: ({ samples }) => samples, isNumber: true },
];

function TagsView() {
  const { q = '', from = '', to = '' } = view.value.query;
  const all = useLog<RecordedTag>(async () => ({ items: await readRecordedTags(), nextCursor: null }), [site.value]);
  const wanted = q.trim().toLowerCase();
  const found = useMemo(() => all.items.filter(({ unit, address }) => `${unit} ${address}`.toLowerCase().includes(wanted)), [all.items, wanted]);
  const rows = { ...all, items: found, total: found.length };
  return (
    <section class="panel page" aria-labelledby="history-title" data-testid="history-view">
      <header class="page-head">
        <h2 id="history-title">{text.title}</h2>
        <div class="page-filters">
          <input
            class="select"
            type="search"
            aria-label={text.search}
            placeholder={text.search}
            value={q}
            onInput={(event) => narrow({ q: event.currentTarget.value })}
            data-testid="history-search"
          />
          <SpanFields from={from} to={to} />
          <RecordsOfSpan from={from} to={to} />
        </div>
      </header>
      <Table
        label={text.title}
        columns={TAGS}
        rows={rows}
        keyOf={({ unit, address }) => `${unit} ${address}`}
        hrefOf={({ unit, address }) => addressOf('history', address, { unit, from, to })}
        empty={text.noTag}
        testid="history-tags"
      />
    </section>
  );
}

const samplesWith = (engUnits: string): readonly Column<RecordedRow>[] => [
  { key: 'at', title: t.time, cell: ({ at }) => preciseMomentText(at), sort: 'time' },
  { key: 'value', title: engUnits === '' ? t.value : `${t.value} (${unitText(engUnits)})`, cell: ({ sample }) => sample && sampleText(sample.value), isNumber: true },
  { key: 'quality', title: text.quality, cell: ({ sample, gap }) => (gap ? gapText(gap) : (t.qualities[sample.quality] ?? sample.quality)), isText: true },
];

function SamplesView({ address }: { readonly address: string }) {
  const { unit = '', from = '', to = '', order = 'desc' } = view.value.query;
  const question: RecordedQuestion = { unit, address, from: instantOf(from), to: instantOf(to), order };
  const samples = useLog((cursor) => samplePage(question, cursor), [site.value, ...Object.values(question)]);
  const { gaps, fault } = useGaps(question);
  const rows: Log<RecordedRow> = { ...samples, items: useMemo(() => withGaps(samples.items, gaps, order, !samples.hasMore), [samples.items, gaps, order, samples.hasMore]) };
  const tag = tagList.value.find((each) => each.unit === unit && each.address === address);
  const columns = useMemo(() => samplesWith(tag?.engUnits ?? ''), [tag?.engUnits]);
  return (
    <section class="panel page" aria-labelledby="history-title" data-testid="samples-view">
      <header class="page-head">
        <h2 id="history-title">
          {unit.toUpperCase()} {address}
        </h2>
        <span class="hint">{rows.items[0] && zoneText(rows.items[0].at)}</span>
        <a class="button" href={addressOf('history', '', { from, to })}>
          {text.all}
        </a>
        <div class="page-filters">
          <SpanFields from={from} to={to} />
          <RecordsOfSpan from={from} to={to} />
          <button type="button" class="button" onClick={printPage} data-testid="history-print">
            {t.print}
          </button>
          <Export question={question} />
        </div>
      </header>
      <ReadFault text={fault} />
      <PrintedChoice
        facts={[
          [t.from, fullMomentText(question.from)],
          [t.to, fullMomentText(question.to)],
        ]}
      />
      <Table
        label={`${unit} ${address}`}
        columns={columns}
        rows={rows}
        keyOf={({ at, gap }) => `${gap ? 'gap' : 'sample'} ${at}`}
        sorting={{ by: 'time', order: order === 'asc' ? 'asc' : 'desc' }}
        onSort={({ order: next }) => narrow({ order: next })}
        empty={text.nothing}
        testid="history-samples"
      />
    </section>
  );
}

function useGaps(question: RecordedQuestion): { readonly gaps: readonly HistoryGap[]; readonly fault: string } {
  const [found, setFound] = useState<{ readonly gaps: readonly HistoryGap[]; readonly fault: string }>({ gaps: [], fault: '' });
  const { unit, address, from, to } = question;
  useEffect(() => {
    let current = true; // the question may have changed before the answer
    readGaps(question).then(
      (gaps) => current && setFound({ gaps, fault: '' }),
      (refused: unknown) => current && setFound({ gaps: [], fault: faultText(refused) }),
    );
    return () => {
      current = false;
    };
  }, [unit, address, from, to]);
  return found;
}

/** The file has all of the span, whatever of it the table has read. */
function Export({ question }: { readonly question: RecordedQuestion }) {
  const [isCut, setCut] = useState(false);
  const sending = useSend();
  const hand = (): void =>
    void sending.run(async () => {
      const rows = await readRecorded(question);
      setCut(rows.length >= FILE_ROWS_MAX);
      saveFile(`${question.unit}-${question.address}-${fileTime()}.csv`, 'text/csv', csvOf(rows));
    });
  return (
    <>
      <button type="button" class="button" disabled={sending.busy} onClick={hand} data-testid="history-csv">
        {sending.busy ? t.reading : t.csv}
      </button>
      <Fault text={sending.fault} code={sending.code} />
      {isCut && <span class="warning">{text.cut(FILE_ROWS_MAX)}</span>}
    </>
  );
}

/** Times and figures as the gateway tells them, for a program to read. */
function csvOf(rows: readonly RecordedRow[]): string {
  const lines = rows.map(({ at, sample, gap }) => {
    if (gap) return [at, '', '', csvCell(gapText(gap))];
    const { value, quality } = sample;
    return [at, value === null ? '' : typeof value === 'string' ? csvCell(value) : String(value), quality, ''];
  });
  return `${[['timestamp', 'value', 'quality', 'note'], ...lines].map((cells) => cells.join(',')).join('\r\n')}\r\n`;
}
