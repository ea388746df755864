/** Curves that follow the present, or show a span of the past. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { boxNowMs } from '../data/box-clock.js';
import { missed, stale } from '../data/plant.js';
import { type Curve, emptyCurve, follow, type Pen, prepend, readCurves, type Span } from '../data/trend.js';
import { ReadFault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { later } from '../common/later.js';
import { penFaultText } from './pen-fault.js';
import { t } from '../common/strings.js';
import type { TrendPlotProps } from './trend-props.js';
import './trend.css';

const Plot = later(() => import('./trend-plot.js').then(({ TrendPlot }) => TrendPlot));
const READ_AGAIN_MS = 5_000;

export interface TrendProps {
  readonly pens: readonly Pen[];
  /** Follows the present with this width; undefined: the span. */
  readonly windowMs: number | undefined;
  readonly span?: Span | undefined;
  readonly legend?: boolean;
  readonly onCursor?: TrendPlotProps['onCursor'];
  /** What is drawn over the curves, and what a hand does with them. */
  readonly tools?: Pick<TrendPlotProps, 'limits' | 'cursors' | 'onSpan' | 'onPick'>;
  readonly marks?: TrendPlotProps['marks'];
  readonly onCurves?: (curves: readonly Curve[]) => void;
}

const NO_SPAN: Span = { fromMs: 0, toMs: 0 };

export function Trend({ pens, windowMs, span = NO_SPAN, legend = true, marks, tools, onCursor, onCurves }: TrendProps) {
  const [answer, setAnswer] = useState<{ readonly question: string; readonly sort: string; readonly curves: readonly Curve[] } | null>(null);
  const [fault, setFault] = useState('');
  const [attempt, setAttempt] = useState(0);
  const drawn = JSON.stringify(pens);
  const question = JSON.stringify([pens, windowMs, span]);
  const kept = useMemo(() => pens, [drawn]);
  /** Whose curves they are. Other limits move an axis only. */
  const sort = JSON.stringify(pens.map(({ unit, address }) => [unit, address]));
  /** Of another span of the same pens the curves stay until theirs are read: whoever zooms goes on seeing what he zooms into. */
  const curves = answer?.sort === sort ? answer.curves : null;
  const isRead = answer?.question === question;
  const isLive = !stale.value;
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLive && !wasLost.current) return undefined;
    wasLost.current = !isLive;
    if (!isLive) return undefined;
    // what the box notices of an outage it notices after it: that nobody looked meanwhile is not on record yet when the first frame comes
    const timer = window.setTimeout(() => setAttempt((count) => count + 1), READ_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
  useEffect(() => {
    if (!isLive && isRead) return; // what is shown stays, marked as old; what was missed is read when data comes again
    let current = true;
    let again = 0;
    const readSoon = (): void => {
      again = window.setTimeout(() => setAttempt((count) => count + 1), READ_AGAIN_MS); // a panel stands for weeks without a touch
    };
    const nowMs = boxNowMs();
    const asked = windowMs === undefined ? span : { fromMs: nowMs - windowMs, toMs: nowMs };
    const following = kept.map(() => emptyCurve(asked.toMs - asked.fromMs));
    const end = windowMs === undefined ? undefined : follow(kept, following, windowMs); // before the past is there: nothing is lost between the two
    readCurves(kept, asked)
      .then(({ curves: found, faults }) => {
        if (!current) return;
        if (windowMs !== undefined) found.forEach((past, at) => prepend(following[at] as Curve, past));
        const whole = windowMs === undefined ? found : following;
        setAnswer({ question, sort, curves: whole });
        setFault(penFaultText(faults));
        if (faults.length > 0) readSoon();
        onCurves?.(whole);
      })
      .catch((refused: unknown) => {
        if (!current) return;
        setFault(faultText(refused));
        readSoon();
      });
    return () => {
      current = false;
      clearTimeout(again);
      end?.();
    };
  }, [question, isLive, missed.value, attempt]);
  if (!curves) return fault === '' ? <p class="hint trend-wait">{t.reading}</p> : <ReadFault text={fault} />;
  return (
    <>
      {fault !== '' && <ReadFault text={fault} />}
      <Plot pens={kept} curves={curves} windowMs={windowMs} span={span} legend={legend} {...(marks ? { marks } : {})} {...tools} {...(onCursor ? { onCursor } : {})} />
    </>
  );
}
