/** Everything that somebody looks for afterwards, newest first: filtered by what it is, where and by its words, as a file and on paper. */
import { useEffect, useState } from 'preact/hooks';
import { isTold } from '../../data/happened.js';
import { damagedEvents, events, EVENTS_MAX, olderCursor, readOlder, readWhole } from '../../data/history.js';
import { can } from '../../data/session.js';
import type { BatchDetail, BatchEvent } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { Damaged } from '../../common/damaged.js';
import { Fault } from '../../common/fault.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printing, printPage } from '../../common/printing.js';
import { csvCell, fileTime, saveFile } from '../../common/save-file.js';
import { t, word, words } from '../../common/strings.js';
import { momentText, preciseMomentText, zoneText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { Segments } from '../../parts/segments.js';
import { toldText } from '../../plant/told-words.js';
import { EventText } from '../../plant/what-happened.js';

const said = words({
  en: {
    kinds: { all: 'All', states: 'States', alarms: 'Alarms', people: 'People', messages: 'Messages' },
    kind: 'What is shown',
    audit: (number: string) => `audit ${number}`,
    anyUnit: 'All units',
    search: 'Find in the journal',
    count: (shown: number, of: number, more: boolean) => `newest first, ${shown === of ? '' : `${shown} of `}${of} entries${more ? ' read so far' : ''}`,
    nothing: 'No entry has these words.',
    nothingYet: 'None of the entries that have been read has these words.',
    cut: (count: number) => `Only the latest ${count} entries are read: what is older is neither searched nor in the file nor on paper.`,
  },
  de: {
    kinds: { all: 'Alle', states: 'Zustände', alarms: 'Alarme', people: 'Personen', messages: 'Meldungen' },
    kind: 'Was gezeigt wird',
    audit: (number: string) => `Protokoll ${number}`,
    anyUnit: 'Alle Teilanlagen',
    search: 'Im Journal suchen',
    count: (shown: number, of: number, more: boolean) => `neueste zuerst, ${shown === of ? '' : `${shown} von `}${of} Einträge${more ? ' bisher gelesen' : ''}`,
    nothing: 'Kein Eintrag hat diese Worte.',
    nothingYet: 'Keiner der bisher gelesenen Einträge hat diese Worte.',
    cut: (count: number) => `Nur die neuesten ${count} Einträge sind gelesen: Was älter ist, ist weder durchsucht noch in der Datei noch auf Papier.`,
  },
});

const KINDS = ['all', 'states', 'alarms', 'people', 'messages'] as const;
type Kind = (typeof KINDS)[number];

const isOf: Readonly<Record<Kind, (event: BatchEvent) => boolean>> = {
  all: isTold,
  states: ({ eventSubType }) => eventSubType === 'State Change',
  alarms: ({ eventType }) => eventType === 'Alarm',
  people: (event) => event.person !== null && isTold(event),
  messages: ({ eventType }) => eventType === 'Message' || eventType === 'Operator',
};

/** More entries are one touch away; a panel PC does not draw thousands of rows. */
const ROWS_MAX = 100;

function holds(event: BatchEvent, search: string): boolean {
  if (search === '') return true;
  const { eventSubType, value, previousValue, message, element, unit, equipment, person } = event; // as it is shown, and as the box wrote it
  const who = person?.displayName ?? '';
  const commanded = eventSubType === 'State Command' ? `${t.commandBy(word(value), who)}: ${toldText(event)}` : '';
  const texts = [value, word(value), previousValue, word(previousValue), message, toldText(event), commanded, element.path, unit, equipment, who];
  return texts.some((text) => text.replaceAll('\u00ad', '').toLowerCase().includes(search));
}

export function Journal({ batch }: { readonly batch: BatchDetail }) {
  const [rows, setRows] = useState(ROWS_MAX);
  const reading = useSend();
  const { kind: asked = 'all', of: unit = '', find = '' } = view.value.query;
  const kind = KINDS.find((each) => each === asked) ?? 'all';
  const search = find.trim().toLowerCase();
  const ofKind = events.value.filter(isOf[kind]);
  const shownOf = (all: readonly BatchEvent[]): readonly BatchEvent[] =>
    all.filter((event) => isOf[kind](event) && (unit === '' || event.unit === unit) && holds(event, search)).toReversed();
  const found = shownOf(events.value);
  const hasOlder = olderCursor.value !== null;
  const isCut = hasOlder && events.value.length >= EVENTS_MAX;
  const isNarrowed = kind !== 'all' || unit !== '' || search !== '';
  // what is looked for may stand in what has not been read
  useEffect(() => {
    if (isNarrowed && hasOlder && !isCut) void reading.run(async () => void (await readWhole()));
  }, [isNarrowed, hasOlder]);
  const withAll = (act: () => void): void =>
    void reading.run(async () => {
      if (await readWhole()) act();
    });
  const save = (): void => saveFile(`journal-${batch.batchID}-${fileTime()}.csv`, 'text/csv', csvOf(shownOf(events.peek())));
  const more = (): void => {
    if (found.length <= rows) void reading.run(readOlder);
    setRows(rows + ROWS_MAX);
  };
  const units = [...new Set(events.value.map((event) => event.unit))].filter((each) => each !== '').sort();
  return (
    <section class="panel journal" aria-labelledby="journal-title">
      <header class="page-head">
        <h3 id="journal-title">{t.journal}</h3>
        <span class="hint" role="status" data-testid="journal-count">
          {said.count(found.length, ofKind.length, hasOlder)}
        </span>
        <div class="page-filters">
          <Segments
            label={said.kind}
            value={kind}
            options={KINDS.map((each) => [each, said.kinds[each]])}
            onChoose={(chosen) => narrow({ kind: chosen === 'all' ? '' : chosen })}
            testid="journal-kind"
          />
          <select class="select" aria-label={t.units} value={unit} onChange={(event) => narrow({ of: event.currentTarget.value })} data-testid="journal-unit">
            <option value="">{said.anyUnit}</option>
            {units.map((each) => (
              <option key={each} value={each}>
                {each.toUpperCase()}
              </option>
            ))}
          </select>
          <input
            class="select"
            type="search"
            aria-label={said.search}
            placeholder={said.search}
            value={find}
            onInput={(event) => narrow({ find: event.currentTarget.value })}
            data-testid="journal-find"
          />
          <button type="button" class="button" disabled={reading.busy} onClick={() => withAll(save)} data-testid="journal-csv">
            {t.csv}
          </button>
          <button type="button" class="button" disabled={reading.busy} onClick={() => withAll(printPage)} data-testid="journal-print">
            {t.print}
          </button>
        </div>
      </header>
      <PrintedChoice
        facts={[
          [t.batch, batch.batchID],
          [said.kind, said.kinds[kind]],
          [t.units, unit.toUpperCase()],
          [said.search, find],
        ]}
      />
      {isCut && (
        <p class="warning" role="status" data-testid="journal-cut">
          {said.cut(events.value.length)}
        </p>
      )}
      <Damaged entries={damagedEvents.value} />
      {found.length === 0 && <p class="empty">{hasOlder ? said.nothingYet : said.nothing}</p>}
      <ul class="message-list" data-testid="journal">
        {found.slice(0, printing.value ? found.length : rows).map((event) => (
          <li key={event.id} class="message journal-row">
            <time class="number hint" title={`${preciseMomentText(event.ts)} ${zoneText(event.ts)}`}>
              {momentText(event.ts)}
            </time>
            <span>
              <EventText event={event} />
            </span>
            {event.auditRecordRef !== '' && can('audit:read') && (
              <a class="journal-audit" href={addressOf('audit', '', { record: event.auditRecordRef })}>
                {said.audit(event.auditRecordRef.replace(/^audit-0*/, ''))}
              </a>
            )}
          </li>
        ))}
      </ul>
      <Fault text={reading.fault} testid="journal-error" />
      {(found.length > rows || hasOlder) && (
        <button type="button" class="button" disabled={reading.busy} onClick={more} data-testid="journal-more">
          {t.older}
        </button>
      )}
    </section>
  );
}

const HEADS = ['timestamp', 'unit', 'element', 'type', 'subtype', 'value', 'before', 'message', 'person', 'audit'];

function csvOf(found: readonly BatchEvent[]): string {
  const lines = found.map(({ ts, unit, element, eventType, eventSubType, value, previousValue, message, person, auditRecordRef }) =>
    [ts, unit, element.path, eventType, eventSubType, value, previousValue, message, person?.displayName ?? '', auditRecordRef].map(csvCell).join(','),
  );
  return `${[HEADS.join(','), ...lines].join('\r\n')}\r\n`;
}
