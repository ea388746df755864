/** Curves of several tags: following the present, or a span of the past; values under the cursor; all of it as CSV. */
import { useMemo, useState } from 'preact/hooks';
import { boxNowMs } from '../data/box-clock.js';
import { modules, tagList, units } from '../data/plant.js';
import { type Curve, csvOf, type Pen, type Span } from '../data/trend.js';
import type { TagDescriptor } from '../data/types.js';
import { Chips } from '../common/chips.js';
import { Dialog } from '../common/dialog.js';
import { t, words } from '../common/strings.js';
import { durationText, localText, momentText, readingText, unitText } from '../common/text.js';
import { PenLine } from './pen-line.js';
import { Trend } from './trend.js';
import type { Reading } from './trend-plot.js';
import type { ViewDefinition } from './view-definition.js';

const PENS_MAX = 6;
const MINUTE_MS = 60_000;
const WINDOWS = { '5m': 5 * MINUTE_MS, '30m': 30 * MINUTE_MS, '2h': 120 * MINUTE_MS, '12h': 720 * MINUTE_MS } as const;
type Window = keyof typeof WINDOWS;
const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];
const KEY = 'lineside.trends';

/** The pens of this panel survive a reload; tags that engineering took away are left out. */
function storedPens(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each): each is string => typeof each === 'string').slice(0, PENS_MAX) : [];
  } catch {
    return [];
  }
}

const keyOf = ({ unit, address }: TagDescriptor): string => `${unit} ${address}`;

function penOf({ unit, address, engUnits }: TagDescriptor): Pen {
  return { unit, address, label: address, engUnits };
}

const title = (): string => words({ en: 'Trends', de: 'Kurven' });
export const trendsView: ViewDefinition = { name: 'trends', action: 'historian:tags', title, component: TrendsView };

function TrendsView() {
  const [keys, setKeys] = useState(storedPens);
  const [window, setWindow] = useState<Window>('5m');
  /** How far back the right edge is; 0 follows the present. */
  const [endMs, setEndMs] = useState(0);
  const [choosing, setChoosing] = useState(false);
  const [cursor, setCursor] = useState<{ readonly at: number | null; readonly readings: readonly Reading[] }>({ at: null, readings: [] });
  const [read, setRead] = useState<{ readonly of: string; readonly curves: readonly Curve[] }>({ of: '', curves: [] });
  const tags = useMemo(() => {
    const byKey = new Map(tagList.value.map((tag) => [keyOf(tag), tag]));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }, [keys, tagList.value]);
  const pens = useMemo(() => tags.map(penOf), [tags]);
  const choose = (chosen: readonly string[]): void => {
    setKeys(chosen);
    localStorage.setItem(KEY, JSON.stringify(chosen));
  };
  const windowMs = WINDOWS[window];
  const span: Span = { fromMs: endMs - windowMs, toMs: endMs };
  const move = (widths: number): void => {
    const to = (endMs === 0 ? boxNowMs() : endMs) + widths * windowMs;
    setEndMs(to >= boxNowMs() - windowMs / 10 ? 0 : Math.round(to)); // close to the present is the present
  };
  /** To any moment of the past, without touching one's way there; an emptied field or a time to come is the present. */
  const show = (local: string): void => {
    const to = Date.parse(local);
    setEndMs(to < boxNowMs() ? to : 0);
  };
  const question = JSON.stringify([keys, window, endMs]);
  const download = (): void => save(csvOf(pens, read.curves, endMs === 0 ? { fromMs: boxNowMs() - windowMs, toMs: boxNowMs() } : span));
  return (
    <section class="panel page trends" aria-labelledby="trends-title" data-testid="trends-view">
      <header class="page-head">
        <h2 id="trends-title">{title()}</h2>
        <button type="button" class="button" onClick={() => setChoosing(true)} data-testid="choose-tags">
          {t.chooseTags}
        </button>
        <Chips label={t.duration} value={window} options={WINDOW_NAMES.map((each) => [each, durationText(each)])} onChoose={setWindow} testid="window" />
        <div class="page-filters">
          <button type="button" class="button" aria-label={t.earlier} onClick={() => move(-0.5)} data-testid="earlier">
            ◀
          </button>
          <button type="button" class="button" aria-pressed={endMs === 0} onClick={() => setEndMs(endMs === 0 ? boxNowMs() : 0)} data-testid="live">
            {t.live}
          </button>
          <button type="button" class="button" aria-label={t.later} disabled={endMs === 0} onClick={() => move(0.5)} data-testid="later">
            ▶
          </button>
          <input
            class="select"
            type="datetime-local"
            step={1}
            aria-label={t.until}
            value={endMs === 0 ? '' : localText(endMs)}
            onChange={(event) => show(event.currentTarget.value)}
            data-testid="until"
          />
          <button type="button" class="button" disabled={pens.length === 0 || read.of !== question} onClick={download} data-testid="csv">
            {t.csv}
          </button>
        </div>
      </header>
      {pens.length === 0 ? (
        <p class="empty">{t.noPens}</p>
      ) : (
        <>
          <Readings pens={pens} cursor={cursor} />
          <div class="trends-plot live">
            <Trend
              pens={pens}
              windowMs={endMs === 0 ? windowMs : undefined}
              span={endMs === 0 ? undefined : span}
              legend={false}
              onCursor={(at, readings) => setCursor({ at, readings })}
              onCurves={(curves) => setRead({ of: question, curves })}
            />
          </div>
        </>
      )}
      {choosing && <TagChoice keys={tags.map(keyOf)} onChoose={choose} onClose={() => setChoosing(false)} />}
    </section>
  );
}

interface ReadingsProps {
  readonly pens: readonly Pen[];
  readonly cursor: { readonly at: number | null; readonly readings: readonly Reading[] };
}

/** One line per pen: its look, its name, and its value under the cursor. */
function Readings({ pens, cursor }: ReadingsProps) {
  return (
    <ul class="trend-legend" data-testid="readings" data-at={cursor.at ?? ''}>
      {pens.map((pen, at) => {
        const reading = cursor.readings[at];
        return (
          <li key={`${pen.unit} ${pen.address}`}>
            <PenLine at={at} /> {pen.label}
            <strong class="number">
              {' '}
              {cursor.at === null ? '' : penText(reading)} {unitText(pen.engUnits)}
            </strong>
          </li>
        );
      })}
      <li class="number hint">{cursor.at === null ? '' : momentText(new Date(cursor.at * 1000).toISOString())}</li>
    </ul>
  );
}

/** The mean of a bucket tells little without its extremes. */
function penText(reading: Reading | undefined): string {
  if (typeof reading?.value !== 'number') return '–';
  const { value, low, high } = reading;
  const mean = readingText(value);
  return typeof low === 'number' && typeof high === 'number' ? `${mean} (${readingText(low)} … ${readingText(high)})` : mean;
}

function TagChoice({ keys, onChoose, onClose }: { readonly keys: readonly string[]; readonly onChoose: (keys: readonly string[]) => void; readonly onClose: () => void }) {
  const [unit, setUnit] = useState(units.value[0]?.name ?? '');
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = tagList.value.filter(
    (tag) => tag.unit === unit && tag.dataType !== 'String' && (wanted === '' || tag.address.toLowerCase().includes(wanted) || descriptionOf(tag).toLowerCase().includes(wanted)),
  );
  const toggle = (key: string): void => onChoose(keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key].slice(-PENS_MAX));
  return (
    <Dialog title={t.chooseTags} testid="tag-dialog" wide reads onClose={onClose}>
      <div class="stack">
        <Chips label={t.unit} value={unit} options={units.value.map(({ name }) => [name, name.toUpperCase()])} onChoose={setUnit} testid="tag-unit" />
        <div class="field">
          <label for="tag-search">{t.search}</label>
          <input id="tag-search" value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} data-testid="tag-search" />
        </div>
        <ul class="tag-list" tabIndex={0} aria-label={t.chooseTags}>
          {shown.map((tag) => (
            <li key={keyOf(tag)}>
              <button type="button" role="checkbox" class="row" aria-checked={keys.includes(keyOf(tag))} onClick={() => toggle(keyOf(tag))} data-testid={`tag-${tag.address}`}>
                <span class="row-main">
                  <strong>
                    <span aria-hidden="true">{keys.includes(keyOf(tag)) ? '☑' : '☐'}</span> {tag.address}
                  </strong>
                </span>
                <span class="hint">
                  {descriptionOf(tag)} {unitText(tag.engUnits)}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <div class="dialog-actions">
          <span class="hint">{t.pensOf(keys.length, PENS_MAX)}</span>
          <button type="button" class="button primary" onClick={onClose} data-testid="tags-done">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function descriptionOf({ controlModule }: TagDescriptor): string {
  return modules.value.get(controlModule)?.description ?? '';
}

function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `trend-${new Date().toISOString().slice(0, 19).replace(/:/g, '')}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
