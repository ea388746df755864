/**
 * A list as a table: the gateway filters, sorts and pages it, and only the rows in sight are drawn, so that 10,000 are as fluent as ten.
 * Of a row that opens something the first cell is its link; the arrow keys, Home, End and Page go from link to link.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ReadFault } from '../common/fault.js';
import { printing } from '../common/printing.js';
import { t } from '../common/strings.js';
import type { Log } from '../common/use-log.js';
import './table.css';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Word of the gateway by which it sorts; without it the column cannot be sorted. */
  readonly sort?: string;
  /** Figures stand under each other. */
  readonly isNumber?: boolean;
  /** Sentences: over two lines, and as wide as there is room. */
  readonly isText?: boolean;
}

export interface Sorting {
  readonly by: string;
  readonly order: 'asc' | 'desc';
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Log<Row>;
  readonly keyOf: (row: Row) => string;
  /** Where a row leads; without it rows are only read. */
  readonly hrefOf?: (row: Row) => string;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: ((sorting: Sorting) => void) | undefined;
  /** What is said where nothing is found. */
  readonly empty: string;
  /** Of something that is read as a whole: it has no foot. */
  readonly isPart?: boolean;
  readonly testid: string;
}

/** Where a row stands follows from its number: all are as high as `--row` of theme.css, and those that open something as a finger needs. */
function rowPx(opens: boolean): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue(opens ? '--touch' : '--row'));
}
/** Drawn beside what is in sight, above and below. */
const MARGIN_ROWS = 12;
/** The next page is asked for when so many rows are left below. */
const AHEAD_ROWS = 30;
const PAGE_ROWS = 10;

export function Table<Row>({ label, columns, rows, keyOf, hrefOf, sorting, onSort, empty, isPart = false, testid }: TableProps<Row>) {
  const area = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ first: 0, count: 40 });
  const isWhole = printing.value;
  const isHigh = hrefOf !== undefined || columns.some(({ isText }) => isText);
  const high = useMemo(() => rowPx(isHigh), [isHigh]);
  const look = (): void => {
    const { scrollTop, clientHeight } = area.current ?? { scrollTop: 0, clientHeight: 0 };
    setSight({ first: Math.floor(scrollTop / high), count: Math.ceil(clientHeight / high) });
  };
  useLayoutEffect(look, [rows.items.length]);
  useEffect(() => {
    window.addEventListener('resize', look);
    return () => window.removeEventListener('resize', look);
  }, []);
  const { items, busy, fault, hasMore, more } = rows;
  const isNearEnd = sight.first + sight.count + AHEAD_ROWS >= items.length;
  useEffect(() => {
    if (isNearEnd && hasMore && !busy && fault === '') more();
  }, [isNearEnd, hasMore, busy, fault, items.length]);
  const from = isWhole ? 0 : Math.max(0, Math.min(sight.first - MARGIN_ROWS, items.length - sight.count));
  const to = isWhole ? items.length : Math.min(items.length, sight.first + sight.count + MARGIN_ROWS);
  return (
    <div class="list">
      <div class="list-area" ref={area} onScroll={look} onKeyDown={(event) => goTo(event, area.current, items.length, high)} tabIndex={0} role="group" aria-label={label}>
        <table class="list-table" aria-rowcount={hasMore ? -1 : items.length + 1} data-testid={testid}>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map((column) => (
                <Head key={column.key} column={column} sorting={sorting} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Space px={from * high} columns={columns.length} />
            {items.slice(from, to).map((row, at) => (
              <tr key={keyOf(row)} aria-rowindex={from + at + 2} data-row={from + at} class={[isHigh ? 'list-high' : '', hrefOf ? 'list-opens' : ''].join(' ')}>
                {columns.map(({ key, cell, isNumber, isText }, place) => (
                  <td key={key} class={isNumber ? 'number' : isText ? 'text' : ''}>
                    {place === 0 && hrefOf ? <a href={hrefOf(row)}>{cell(row)}</a> : isText ? <div class="lines-2">{cell(row)}</div> : cell(row)}
                  </td>
                ))}
              </tr>
            ))}
            <Space px={(items.length - to) * high} columns={columns.length} />
          </tbody>
        </table>
        {items.length === 0 && !busy && fault === '' && <p class="empty">{empty}</p>}
      </div>
      {!isPart && <Foot rows={rows} />}
    </div>
  );
}

function Head<Row>({ column: { title, sort, isNumber }, sorting, onSort }: { readonly column: Column<Row> } & Pick<TableProps<Row>, 'sorting' | 'onSort'>) {
  const isSorted = sort !== undefined && sorting?.by === sort;
  const other = isSorted && sorting.order === 'asc' ? 'desc' : 'asc';
  return (
    <th scope="col" class={isNumber ? 'number' : ''} aria-sort={isSorted ? (sorting.order === 'asc' ? 'ascending' : 'descending') : undefined}>
      {sort === undefined || !onSort ? (
        title
      ) : (
        <button type="button" onClick={() => onSort({ by: sort, order: other })}>
          {title}
          <span aria-hidden="true">{isSorted ? (sorting.order === 'asc' ? ' ▲' : ' ▼') : ''}</span>
        </button>
      )}
    </th>
  );
}

/** Rows that are out of sight. */
function Space({ px, columns }: { readonly px: number; readonly columns: number }) {
  if (px <= 0) return null;
  return (
    <tr class="list-space" style={{ height: `${px}px` }} aria-hidden="true">
      <td colSpan={columns} />
    </tr>
  );
}

/** How many are shown of how many, and why a part could not be read. */
function Foot({ rows: { items, total, busy, fault, hasMore, again, unreadable } }: { readonly rows: Log<unknown> }) {
  const count = total === undefined ? (hasMore ? t.entriesSoFar(items.length) : t.entries(items.length)) : t.shownOf(items.length, total);
  return (
    <div class="log-foot">
      <ReadFault text={fault} />
      {unreadable.length > 0 && <span class="warning">{t.unreadable(unreadable.join(', '))}</span>}
      <span class="hint" role="status" data-testid="list-count">
        {busy ? t.reading : count}
      </span>
      <button type="button" class="button" disabled={busy} onClick={again} data-testid="list-again">
        {t.readAgain}
      </button>
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE_ROWS,
  PageUp: -PAGE_ROWS,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** A row that is out of sight is drawn before it is gone to. */
function goTo(event: KeyboardEvent, area: HTMLElement | null, count: number, high: number): void {
  const step = STEPS[event.key];
  const row = (event.target as HTMLElement).closest<HTMLElement>('tr[data-row]');
  if (step === undefined || !row || !area) return;
  event.preventDefault();
  const next = Math.max(0, Math.min(count - 1, Number(row.dataset.row) + step));
  const head = area.querySelector('thead')?.clientHeight ?? 0;
  const top = next * high;
  if (top < area.scrollTop) area.scrollTop = top;
  else if (top + high > area.scrollTop + area.clientHeight - head) area.scrollTop = top + high - area.clientHeight + head;
  const focus = (): void => area.querySelector<HTMLElement>(`tr[data-row="${next}"] a`)?.focus({ preventScroll: true });
  focus();
  requestAnimationFrame(focus);
}
