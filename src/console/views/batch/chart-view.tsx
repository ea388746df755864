/** A sequential function chart as it runs (IEC 61131-3): steps as boxes, the active ones marked, transitions as bars. */
import { useMemo } from 'preact/hooks';
import { layoutOf, type PlacedLink, type PlacedStep } from '../../data/chart-layout.js';
import { severityOf } from '../../data/states.js';
import type { ProceduralChart } from '../../data/types.js';
import { t } from '../../common/strings.js';

export type StepMark = 'active' | 'done' | 'waiting' | 'attention' | 'bad';

/** Of an element by its state. */
export function markOf(state: string): StepMark {
  if (state === '' || state === 'Idle') return 'waiting';
  if (state === 'Complete') return 'done';
  const severity = severityOf(state);
  return severity === 'normal' ? 'active' : severity;
}

export interface ChartViewProps {
  readonly chart: ProceduralChart;
  readonly markOf: (step: string) => StepMark;
  /** Word under the name of a step, such as its state. */
  readonly noteOf: (step: string) => string;
  /** Transitions that are looked at now, by their number; true when met. */
  readonly looked: ReadonlyMap<number, boolean>;
  readonly onChoose: ((step: string) => void) | undefined;
}

const BOX_HEIGHT = 46;
const GAP_Y = 52;
/** Boxes beside each other are narrower, so that three of them need no scrolling on the smallest panel. */
const WIDE = { width: 168, gap: 34, letters: 20, noteLetters: 24 } as const;
const NARROW = { width: 126, gap: 22, letters: 15, noteLetters: 18 } as const;
const NARROW_COLUMNS = 3;
type Measures = typeof WIDE | typeof NARROW;
const MARGIN = 14;
const LANE = 26;
/** Room for the conditions between the steps and what is drawn beside them. */
const LABEL = 150;
/** Letters of a line beside the bar, and lines that fit between two steps. */
const LINE_LETTERS = 30;
const LINES_MAX = 3;
const LINE_PX = 14;

const xOf = (step: PlacedStep, { width, gap }: Measures): number => MARGIN + step.column * (width + gap);
const yOf = (step: PlacedStep): number => MARGIN + step.row * (BOX_HEIGHT + GAP_Y);

export function ChartView({ chart, markOf, noteOf, looked, onChoose }: ChartViewProps) {
  const { steps, links, rows, columns } = useMemo(() => layoutOf(chart), [chart]);
  const asides = links.filter(({ isAside }) => isAside).length;
  const box = columns < NARROW_COLUMNS ? WIDE : NARROW;
  const breadth = columns * (box.width + box.gap);
  const width = 2 * MARGIN + breadth - (asides > 0 || box === WIDE ? 0 : box.gap) + (asides > 0 ? LABEL : 0) + asides * LANE;
  const height = 2 * MARGIN + rows * (BOX_HEIGHT + GAP_Y) - GAP_Y;
  let aside = 0;
  return (
    <svg class="chart" width={width} height={Math.max(height, BOX_HEIGHT + 2 * MARGIN)} role="group" aria-label={t.chart} data-testid="chart">
      {links.map((link) => (
        <Link key={`${link.index} ${link.from.name} ${link.to.name}`} link={link} box={box} looked={looked} lane={link.isAside ? breadth + LABEL + LANE * aside++ : 0} />
      ))}
      {steps.map((step) => (
        <Step key={step.name} step={step} box={box} mark={markOf(step.name)} note={noteOf(step.name)} onChoose={onChoose} />
      ))}
    </svg>
  );
}

interface StepProps {
  readonly step: PlacedStep;
  readonly box: Measures;
  readonly mark: StepMark;
  readonly note: string;
  readonly onChoose: ChartViewProps['onChoose'];
}

function Step({ step, box, mark, note, onChoose }: StepProps) {
  const choose = onChoose ? () => onChoose(step.name) : undefined;
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose?.();
  };
  return (
    <g
      class={`step step-${mark}${choose ? ' step-open' : ''}`}
      transform={`translate(${xOf(step, box)} ${yOf(step)})`}
      data-testid={`step-${step.name}`}
      data-mark={mark}
      {...(choose ? { role: 'button', tabindex: 0, onClick: choose, onKeyDown: press, 'aria-label': `${step.name} ${note}` } : {})}
    >
      <rect width={box.width} height={BOX_HEIGHT} />
      {step.initial && <rect class="step-initial" x="3" y="3" width={box.width - 6} height={BOX_HEIGHT - 6} />}
      <text x={box.width / 2} y={note === '' ? 28 : 20}>
        {short(step.name, box.letters)}
      </text>
      {note !== '' && (
        <text class="step-note" x={box.width / 2} y="37">
          {short(note, box.noteLetters)}
        </text>
      )}
    </g>
  );
}

interface LinkProps {
  readonly link: PlacedLink;
  readonly box: Measures;
  readonly looked: ReadonlyMap<number, boolean>;
  readonly lane: number;
}

function Link({ link, box, looked, lane }: LinkProps) {
  const { from, to, index, condition, isAside } = link;
  const met = looked.get(index);
  const x1 = xOf(from, box) + box.width / 2;
  const y1 = yOf(from) + BOX_HEIGHT;
  const x2 = xOf(to, box) + box.width / 2;
  const y2 = yOf(to);
  const barY = y2 - 18;
  const asideY = (y1 + y2) / 2;
  const way = isAside
    ? `M${xOf(from, box) + box.width} ${y1 - 12} H${lane} V${y2 + 12} H${xOf(to, box) + box.width}`
    : `M${x1} ${y1} V${x1 === x2 ? y2 : y1 + 14} ${x1 === x2 ? '' : `H${x2} V${y2}`}`;
  return (
    <g class={met === undefined ? 'flow' : met ? 'flow flow-met' : 'flow flow-looked'}>
      <title>{condition}</title>
      <path d={way} />
      <path class="flow-bar" d={isAside ? `M${lane - 8} ${asideY} h16` : `M${x2 - 11} ${barY} h22`} />
      <text x={isAside ? lane + 2 : x2 + 16} y={isAside ? asideY - 5 : barY + 4}>
        {isAside
          ? index + 1
          : linesOf(`${index + 1} ${condition}`).map((line, at, all) => (
              <tspan key={at} x={x2 + 16} y={barY + 4 + (at - (all.length - 1) / 2) * LINE_PX}>
                {line}
              </tspan>
            ))}
      </text>
    </g>
  );
}

/** Whole words; the rest of a condition that is longer still stands in the list below. */
function linesOf(text: string): string[] {
  const lines: string[] = [''];
  for (const part of text.trim().split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = part;
    else if (last.length + part.length < LINE_LETTERS) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX - 1), short(lines.slice(LINES_MAX - 1).join(' '), LINE_LETTERS)];
}

function short(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
