/** One line per pen: its look, its name, its value under the cursor, and those of the two moments that are compared, with their difference. */
import { type Curve, type Pen, valueAt } from '../../data/trend.js';
import { words } from '../../common/strings.js';
import { momentText, readingText, unitText } from '../../common/text.js';
import { PenLine } from '../../plant/pen-line.js';
import type { Reading } from '../../plant/trend-props.js';

const said = words({
  en: { hint: 'Touch the curves to mark A, again to mark B', seconds: (seconds: string) => `B − A: ${seconds} s`, clear: 'Take A and B back', difference: 'B − A' },
  de: { hint: 'Berühren Sie die Kurven für A, noch einmal für B', seconds: (seconds: string) => `B − A: ${seconds} s`, clear: 'A und B zurücknehmen', difference: 'B − A' },
});

interface ReadingsProps {
  readonly pens: readonly Pen[];
  readonly curves: readonly Curve[];
  readonly cursor: { readonly at: number | null; readonly readings: readonly Reading[] };
  readonly a: number | undefined;
  readonly b: number | undefined;
  readonly onClear: () => void;
}

export function Readings({ pens, curves, cursor, a, b, onClear }: ReadingsProps) {
  return (
    <div class="trend-readings">
      <ul class="trend-legend" data-testid="readings" data-at={cursor.at ?? ''}>
        {pens.map((pen, at) => {
          const curve = curves[at];
          const [first, second] = [a, b].map((moment) => (moment === undefined || !curve ? undefined : valueAt(curve, moment)));
          const difference = typeof first?.value === 'number' && typeof second?.value === 'number' ? second.value - first.value : undefined;
          return (
            <li key={`${pen.unit} ${pen.address}`}>
              <PenLine at={at} /> {pen.label}
              <strong class="number">
                {' '}
                {cursor.at === null ? '' : penText(cursor.readings[at])} {unitText(pen.engUnits)}
              </strong>
              {(a !== undefined || b !== undefined) && (
                <span class="number hint" data-testid={`compared-${pen.address}`}>
                  {a !== undefined && ` A ${penText(first)}`}
                  {b !== undefined && ` B ${penText(second)}`}
                  {difference !== undefined && `, ${said.difference} ${difference > 0 ? '+' : ''}${readingText(difference)} ${unitText(pen.engUnits)}`}
                </span>
              )}
            </li>
          );
        })}
        <li class="number hint">{cursor.at === null ? '' : momentText(new Date(cursor.at * 1000).toISOString())}</li>
      </ul>
      {a === undefined && b === undefined ? (
        <p class="hint">{said.hint}</p>
      ) : (
        <p class="hint number trend-compared" data-testid="compared">
          {a !== undefined && `A ${momentText(new Date(a).toISOString())} `}
          {b !== undefined && `B ${momentText(new Date(b).toISOString())} `}
          {a !== undefined && b !== undefined && said.seconds(((b - a) / 1000).toFixed(1))}
          <button type="button" class="button" onClick={onClear} data-testid="compare-clear">
            {said.clear}
          </button>
        </p>
      )}
    </div>
  );
}

/** The mean of a bucket tells little without its extremes. */
function penText(reading: Reading | undefined): string {
  if (typeof reading?.value !== 'number') return '–';
  const { value, low, high } = reading;
  const mean = readingText(value);
  return typeof low === 'number' && typeof high === 'number' ? `${mean} (${readingText(low)} … ${readingText(high)})` : mean;
}
