/** Curves of several tags, live or in the past: zoomed and moved by hand, two moments compared, what happened marked, all of it in the address. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { boxNowMs } from '../../data/box-clock.js';
import { limitsOf, workingRange } from '../../data/limits.js';
import { tagList } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { type Curve, csvOf, type Pen, type Span } from '../../data/trend.js';
import { type Happening, readHappenings } from '../../data/trend-marks.js';
import type { TagDescriptor } from '../../data/types.js';
import { view } from '../../data/view.js';
import { Chips } from '../../common/chips.js';
import { fileTime, saveFile } from '../../common/save-file.js';
import { t, words } from '../../common/strings.js';
import { durationText, localText } from '../../common/text.js';
import { Trend } from '../../plant/trend.js';
import type { Reading, TrendLimit } from '../../plant/trend-props.js';
import { trendsTitle } from './trends-title.js';
import { BatchChoice } from './batch-choice.js';
import { FirstPens } from './first-pens.js';
import { Happenings } from './happenings.js';
import { Readings } from './readings.js';
import { SavedSets } from './saved-sets.js';
import { keyOf, TagChoice } from './tag-choice.js';
import { choosePens, compare, lookAt, lookedAt, nameOf, WINDOW_NAMES, WINDOWS } from './trend-address.js';
import './trends.css';

/** What the historian records as a change of a value with a range (decisions 8.9). */
const STEP_OF_RANGE = 0.001;
const MARKS_AGAIN_MS = 15_000;

const said = words({ en: { batch: 'Batch', sets: 'Saved', marks: 'Marks' }, de: { batch: 'Charge', sets: 'Gespeichert', marks: 'Marken' } });
function rangeOf(tag: TagDescriptor): Pick<Pen, 'range' | 'step'> {
  const [min, max] = [Number.parseFloat(tag.engMin ?? ''), Number.parseFloat(tag.engMax ?? '')];
  if (tag.dataType === 'Boolean') return { range: { min: -0.1, max: 1.1 } };
  if (!Number.isFinite(min) || !Number.isFinite(max) || min >= max) return {};
  return { range: workingRange({ min, max }, limitsOfTag(tag)), step: (max - min) * STEP_OF_RANGE };
}

function limitsOfTag(tag: TagDescriptor) {
  return limitsOf({ module: tag.controlModule, tag }).limits;
}

export function TrendsView() {
  const { query } = view.value;
  const { keys, windowMs, endMs, a, b } = useMemo(() => lookedAt(query), [query]);
  const [open, setOpen] = useState<'' | 'tags' | 'batch' | 'sets'>('');
  const [showsMarks, setShowsMarks] = useState(true);
  const [cursor, setCursor] = useState<{ readonly at: number | null; readonly readings: readonly Reading[] }>({ at: null, readings: [] });
  const [read, setRead] = useState<{ readonly of: string; readonly curves: readonly Curve[] }>({ of: '', curves: [] });
  const tags = useMemo(() => {
    const byKey = new Map(tagList.value.map((tag) => [keyOf(tag), tag]));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }, [keys.join(), tagList.value]);
  const ranges = JSON.stringify(tags.map(rangeOf));
  const pens = useMemo(() => tags.map((tag): Pen => ({ unit: tag.unit, address: tag.address, label: tag.address, engUnits: tag.engUnits, ...rangeOf(tag) })), [tags, ranges]);
  const limits = useMemo(() => tags.flatMap((tag, pen): TrendLimit[] => limitsOfTag(tag).map(({ at, isTrip }) => ({ pen, at, isTrip }))), [tags, ranges]);
  const span: Span = { fromMs: endMs - windowMs, toMs: endMs };
  const marks = useMarks([...new Set(tags.map(({ unit }) => unit))], endMs, windowMs, showsMarks && tags.length > 0);
  /** Close to the present is the present. */
  const go = (toMs: number, lengthMs: number): void => lookAt(toMs >= boxNowMs() - lengthMs / 20 ? 0 : Math.round(toMs), lengthMs);
  const move = (widths: number): void => go((endMs === 0 ? boxNowMs() : endMs) + widths * windowMs, windowMs);
  /** To any moment of the past, without touching one's way there; an emptied field or a time to come is the present. */
  const showUntil = (local: string): void => {
    const to = Date.parse(local);
    lookAt(to < boxNowMs() ? to : 0, windowMs);
  };
  const showFrom = (local: string): void => {
    const from = Date.parse(local);
    const to = endMs === 0 ? boxNowMs() : endMs;
    if (from < to) lookAt(Math.round(to), to - from);
    else if (from < boxNowMs()) go(from + windowMs, windowMs);
  };
  const pick = (atMs: number | undefined, which?: 'a' | 'b'): void => {
    if (atMs === undefined) compare({ a: undefined, b: undefined });
    else if (which) compare({ a, b, [which]: atMs });
    else compare(a === undefined || b !== undefined ? { a: atMs, b: undefined } : { a, b: atMs });
  };
  const question = JSON.stringify([keys, windowMs, endMs]);
  const download = (): void => saveFile(`trend-${fileTime()}.csv`, 'text/csv', csvOf(pens, read.curves, endMs === 0 ? { fromMs: boxNowMs() - windowMs, toMs: boxNowMs() } : span));
  return (
    <section class="panel page trends" aria-labelledby="trends-title" data-testid="trends-view">
      <header class="page-head">
        <h2 id="trends-title">{trendsTitle()}</h2>
        <button type="button" class="button" onClick={() => setOpen('tags')} data-testid="choose-tags">
          {t.chooseTags}
        </button>
        {can('trendset:list') && (
          <button type="button" class="button" onClick={() => setOpen('sets')} data-testid="saved-sets">
            {said.sets}
          </button>
        )}
        {can('batch:list') && (
          <button type="button" class="button" onClick={() => setOpen('batch')} data-testid="batch-range">
            {said.batch}
          </button>
        )}
        <Chips
          label={t.duration}
          value={nameOf(windowMs) ?? ''}
          options={WINDOW_NAMES.map((each) => [each as string, durationText(each).replace('d', ` ${t.ago.d}`)] as const)}
          onChoose={(name) => lookAt(endMs, WINDOWS[name as keyof typeof WINDOWS])}
          testid="window"
        />
        <div class="page-filters">
          <button type="button" class="button" aria-label={t.earlier} onClick={() => move(-0.5)} data-testid="earlier">
            ◀
          </button>
          <button type="button" class="button" aria-pressed={endMs === 0} onClick={() => lookAt(endMs === 0 ? boxNowMs() : 0, windowMs)} data-testid="live">
            {t.live}
          </button>
          <button type="button" class="button" aria-label={t.later} disabled={endMs === 0} onClick={() => move(0.5)} data-testid="later">
            ▶
          </button>
          <Moment label={t.from} valueMs={endMs === 0 ? 0 : endMs - windowMs} onChange={showFrom} testid="from" />
          <Moment label={t.until} valueMs={endMs} onChange={showUntil} testid="until" />
          <button type="button" class="button" aria-pressed={showsMarks} onClick={() => setShowsMarks(!showsMarks)} data-testid="marks">
            {said.marks}
          </button>
          <button type="button" class="button" disabled={pens.length === 0 || read.of !== question} onClick={download} data-testid="csv">
            {t.csv}
          </button>
        </div>
      </header>
      {pens.length === 0 ? (
        <FirstPens />
      ) : (
        <>
          <Readings pens={pens} curves={read.curves} cursor={cursor} a={a} b={b} onClear={() => pick(undefined)} />
          <div class="trends-plot live">
            <Trend
              pens={pens}
              windowMs={endMs === 0 ? windowMs : undefined}
              span={endMs === 0 ? undefined : span}
              legend={false}
              marks={marks}
              tools={{ limits, cursors: { a, b }, onSpan: (fromMs, toMs) => go(toMs, toMs - fromMs), onPick: pick }}
              onCursor={(at, readings) => setCursor({ at, readings })}
              onCurves={(curves) => setRead({ of: question, curves })}
            />
          </div>
          {showsMarks && <Happenings found={marks} />}
        </>
      )}
      {open === 'tags' && <TagChoice keys={tags.map(keyOf)} onChoose={choosePens} onClose={() => setOpen('')} />}
      {open === 'batch' && <BatchChoice onChoose={(fromMs, toMs) => lookAt(toMs, toMs - fromMs)} onClose={() => setOpen('')} />}
      {open === 'sets' && <SavedSets keys={tags.map(keyOf)} query={query} onClose={() => setOpen('')} />}
    </section>
  );
}

interface MomentProps {
  readonly label: string;
  readonly valueMs: number;
  readonly onChange: (local: string) => void;
  readonly testid: string;
}

function Moment({ label, valueMs, onChange, testid }: MomentProps) {
  return (
    <input
      class="select"
      type="datetime-local"
      step={1}
      aria-label={label}
      value={valueMs === 0 ? '' : localText(valueMs)}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-testid={testid}
    />
  );
}

const NONE: readonly Happening[] = [];

/** Read with the span, and while it follows the present again and again. */
function useMarks(units: readonly string[], endMs: number, windowMs: number, isWanted: boolean): readonly Happening[] {
  const [found, setFound] = useState<readonly Happening[]>(NONE);
  useEffect(() => {
    if (!isWanted) return;
    let current = true;
    const look = (): void => {
      if (document.hidden) return;
      const toMs = endMs === 0 ? boxNowMs() : endMs;
      readHappenings(units, { fromMs: toMs - windowMs, toMs }).then(
        (happened) => current && setFound(happened),
        () => undefined, // the curves say that nothing can be read
      );
    };
    look();
    const timer = endMs === 0 ? window.setInterval(look, MARKS_AGAIN_MS) : 0;
    return () => {
      current = false;
      window.clearInterval(timer);
    };
  }, [units.join(), endMs, windowMs, isWanted]);
  return isWanted ? found : NONE;
}
