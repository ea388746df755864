/** A word in a frame: outlined normal, soft abnormal while nobody is alarmed, filled an alarm or an abnormal state. */
import type { ComponentChildren } from 'preact';
import { word } from '../common/strings.js';
import './badge.css';

export type BadgeLook = 'outline' | 'rest' | 'soft' | 'filled' | 'critical' | 'chosen';

interface BadgeProps {
  readonly look?: BadgeLook;
  /** State that it tells, for whoever looks for it. */
  readonly state?: string | undefined;
  readonly testid?: string | undefined;
  readonly children: ComponentChildren;
}

export function Badge({ look = 'outline', state, testid, children }: BadgeProps) {
  return (
    <span class={`badge badge-${look}`} data-state={state} data-testid={testid}>
      {children}
    </span>
  );
}

export type Severity = 'Critical' | 'High' | 'Medium' | 'Low';

/** Shape and number carry the severity; colour only repeats it. `y`: where the number stands in the shape. */
const SHAPES: Readonly<Record<Severity, { readonly number: string; readonly path: string; readonly y: number }>> = {
  Critical: { number: '1', path: 'M1 1H19V19H1Z', y: 14.8 },
  High: { number: '2', path: 'M10 0L20 19H0Z', y: 16.8 },
  Medium: { number: '3', path: 'M10 -1L21 10L10 21L-1 10Z', y: 14.8 },
  Low: { number: '4', path: 'M10 0A10 10 0 0 1 10 20A10 10 0 0 1 10 0Z', y: 14.8 },
};

/** A record may hold any word. */
export function isSeverity(text: string): text is Severity {
  return Object.hasOwn(SHAPES, text);
}

interface SeverityProps {
  readonly severity: Severity;
  /** Without colour: what was does not call for anybody. */
  readonly past?: boolean;
}

export function SeverityShape({ severity, past = false }: SeverityProps) {
  const { number, path, y } = SHAPES[severity];
  return (
    <svg class={`severity-shape severity-${past ? 'past' : severity.toLowerCase()}`} viewBox="-1 -1 22 22" width="22" height="22" aria-hidden="true">
      <path d={path} />
      <text x="10" y={y}>
        {number}
      </text>
    </svg>
  );
}

/** @param hasWord the word stands beside the shape; without it a screen reader is told it. */
export function SeverityBadge({ severity, past = false, hasWord = true }: SeverityProps & { readonly hasWord?: boolean }) {
  const name = word(severity);
  return hasWord ? (
    <span class="severity">
      <SeverityShape severity={severity} past={past} />
      {name}
    </span>
  ) : (
    <span class="severity" role="img" aria-label={name} title={name}>
      <SeverityShape severity={severity} past={past} />
    </span>
  );
}
