/**
 * A value and what it is worth: mark, words, and a bar that loses its pointer where the value cannot be trusted. What moves (`text`, and the
 * values of the bar) is given as a signal; the rest changes when a state does.
 */
import type { ComponentChildren } from 'preact';
import { type Live, read } from './live.js';
import { Bar, type BarProps } from './bar.js';
import { type Severity, SeverityBadge } from './badge.js';
import { Mark, type MarkKind } from './mark.js';
import './value-tile.css';

/** Stale is hatched and italic, Bad struck through; neither has a pointer. */
export type Trust = 'live' | 'stale' | 'bad' | 'none';

export interface ValueTileProps {
  readonly name: string;
  readonly tag: string;
  readonly description?: string;
  readonly text: Live<string>;
  readonly unit: string;
  readonly bar?: Omit<BarProps, 'look' | 'label'> | undefined;
  readonly trust?: Trust;
  /** Worst alarm that stands on it. */
  readonly severity?: Severity | undefined;
  readonly isOff?: boolean;
  readonly isSimulated?: boolean;
  readonly marks?: readonly MarkKind[];
  /** Marks that are no departure. */
  readonly quietMarks?: readonly MarkKind[];
  readonly note?: ComponentChildren;
  /** Its last minutes, beside the bar. */
  readonly spark?: ComponentChildren;
  /** On a tile of its own, or one of the lines of a unit. */
  readonly shape?: 'tile' | 'line';
  readonly testid?: string | undefined;
  readonly quality?: string;
}

const NO_MARKS: readonly MarkKind[] = [];

export function ValueTile({
  name,
  tag,
  description = '',
  text,
  unit,
  bar,
  trust = 'live',
  severity,
  isOff = false,
  isSimulated = false,
  marks = NO_MARKS,
  quietMarks = NO_MARKS,
  note,
  spark,
  shape = 'tile',
  testid,
  quality,
}: ValueTileProps) {
  const look = severity ?? (isOff ? 'off' : 'normal');
  const classes = ['value-tile', `value-${shape}`, `value-${trust}`, ...(isSimulated ? ['value-simulated'] : [])];
  return (
    <div
      class={classes.join(' ')}
      role="group"
      aria-label={`${name} ${tag}`}
      title={description === '' ? undefined : description}
      data-testid={testid}
      data-quality={quality}
      data-stale={String(trust === 'stale')}
    >
      <div class="value-head">
        <span class="value-name">
          {severity && <SeverityBadge severity={severity} hasWord={false} />}
          {marks.map((kind) => (
            <Mark key={kind} kind={kind} />
          ))}
          {quietMarks.map((kind) => (
            <Mark key={kind} kind={kind} quiet />
          ))}
          <span class="value-what">{name}</span>
          <span class="value-tag">{tag}</span>
        </span>
        <span class="value-number number">
          <span class="value-text" data-testid={testid === undefined ? undefined : testid.replace('value-', 'number-')}>
            <Text text={text} />
          </span>{' '}
          <span class="value-unit">{unit}</span>
        </span>
      </div>
      <div class="value-foot">
        {bar && <Bar {...bar} value={trust === 'live' ? bar.value : undefined} look={look} />}
        {spark !== undefined && <span class="value-spark">{spark}</span>}
        {note !== undefined && <span class="value-note">{note}</span>}
      </div>
    </div>
  );
}

function Text({ text }: { readonly text: Live<string> }) {
  return <>{read(text)}</>;
}
