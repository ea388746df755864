/**
 * Symbols of equipment after ISA-5.1 (decisions 1.8). Outlined at rest or closed, filled while active or open, half of it while it moves. Marks sit top
 * right, always in the same place.
 */
import type { ComponentChildren, JSX } from 'preact';
import { Mark, type MarkKind } from './mark.js';
import './symbols.css';

export type Look = 'rest' | 'active' | 'moving' | 'fault' | 'unknown';

/** The letters and the number of an instrument, as on a drawing. */
interface Lettering {
  readonly letters: string;
  readonly loop: string;
}

type Shape = (props: Lettering) => JSX.Element;

/** The halves of a valve; one of them is filled while it moves. */
const BODY = (
  <>
    <path class="symbol-first" d="M6 20L24 30L6 40Z" />
    <path d="M42 20L24 30L42 40Z" />
  </>
);
const STEM = <path class="symbol-line" d="M24 30V18" />;

function Bubble({ letters, loop, children }: Lettering & { readonly children?: ComponentChildren }) {
  return (
    <>
      <circle class="symbol-plain" cx="24" cy="24" r="19" />
      {children}
      <text class="symbol-letters" x="24" y="21">
        {letters}
      </text>
      <text class="symbol-loop" x="24" y="36">
        {loop}
      </text>
    </>
  );
}

const ACROSS = <path class="symbol-line" d="M5 24H43" />;

const SHAPES: Readonly<Record<string, Shape>> = {
  'instrument-field': (own) => <Bubble {...own} />,
  'instrument-panel': (own) => <Bubble {...own}>{ACROSS}</Bubble>,
  controller: (own) => (
    <>
      <path class="symbol-plain" d="M4 4H44V44H4Z" />
      <Bubble {...own}>{ACROSS}</Bubble>
    </>
  ),
  interlock: () => (
    <>
      <path class="symbol-plain" d="M24 3L45 24L24 45L3 24Z" />
      <text class="symbol-letters" x="24" y="29">
        I
      </text>
    </>
  ),
  'valve-on-off': () => (
    <>
      {BODY}
      {STEM}
      <path class="symbol-first" d="M16 7H32V18H16Z" />
    </>
  ),
  'valve-control': () => (
    <>
      {BODY}
      {STEM}
      <path class="symbol-first" d="M13 18A11 10 0 0 1 35 18Z" />
    </>
  ),
  'valve-motor': () => (
    <>
      {BODY}
      {STEM}
      <circle class="symbol-plain" cx="24" cy="11" r="8" />
      <text class="symbol-letters" x="24" y="15">
        M
      </text>
    </>
  ),
  'valve-hand': () => BODY,
  motor: () => (
    <>
      <circle cx="24" cy="24" r="17" />
      <text class="symbol-within" x="24" y="29">
        M
      </text>
    </>
  ),
  pump: () => (
    <>
      <path class="symbol-plain" d="M14 34L8 43H40L34 34" />
      <circle cx="24" cy="22" r="17" />
      <path class="symbol-plain" d="M17 11L40 22L17 33Z" />
    </>
  ),
  agitator: () => (
    <>
      <path class="symbol-line symbol-shaft" d="M24 4V34" />
      <path d="M4 26L14 32Q19 36 24 33Q29 36 34 32L44 26V44L34 38Q29 34 24 37Q19 34 14 38L4 44Z" />
    </>
  ),
  heater: () => (
    <>
      <path d="M4 10H44V38H4Z" />
      <path class="symbol-line symbol-on" d="M9 24L14 16L20 32L26 16L32 32L37 18L40 24" />
    </>
  ),
  exchanger: () => (
    <>
      <circle cx="24" cy="24" r="16" />
      <path class="symbol-line symbol-on" d="M2 24H17L21 17L27 31L31 24H46" />
    </>
  ),
  filter: () => (
    <>
      <path class="symbol-plain" d="M9 6H39V42H9Z" />
      <path class="symbol-line symbol-dashed" d="M10 41L38 7" />
    </>
  ),
  vessel: () => <path class="symbol-plain" d="M8 12Q8 3 24 3Q40 3 40 12V36Q40 45 24 45Q8 45 8 36Z" />,
  'vessel-jacketed': () => (
    <>
      <path class="symbol-line" d="M5 16V36Q5 47 24 47Q43 47 43 36V16" />
      <path class="symbol-plain" d="M10 11Q10 2 24 2Q38 2 38 11V34Q38 42 24 42Q10 42 10 34Z" />
    </>
  ),
  tank: () => <path class="symbol-plain" d="M6 5H42V43H6Z" />,
  'tank-cone': () => <path class="symbol-plain" d="M6 14L24 3L42 14V44H6Z" />,
  hopper: () => <path class="symbol-plain" d="M8 4H40V26L29 45H19L8 26Z" />,
  column: () => (
    <>
      <path class="symbol-plain" d="M16 9Q16 2 24 2Q32 2 32 9V39Q32 46 24 46Q16 46 16 39Z" />
      <path class="symbol-line" d="M16 15H32M16 24H32M16 33H32" />
    </>
  ),
};

export const SYMBOL_IDS = Object.keys(SHAPES);

/** Contract: any other id, and none, give the default of the device class. */
const DEFAULTS: Readonly<Record<string, string>> = { valve: 'valve-on-off', actuator: 'motor', sensor: 'instrument-field', controller: 'controller' };

interface SymbolProps {
  readonly id: string;
  readonly deviceClass: string;
  readonly look: Look;
  readonly tag: string;
  readonly marks?: readonly MarkKind[];
  /** Marks that are no departure. */
  readonly quietMarks?: readonly MarkKind[];
}

const NO_MARKS: readonly MarkKind[] = [];

/** A name that an engineer has typed may be that of anything. */
function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function shapeOf(id: string): (typeof SHAPES)[string] | undefined {
  return ownOf(SHAPES, id);
}

export function Symbol({ id, deviceClass, look, tag, marks = NO_MARKS, quietMarks = NO_MARKS }: SymbolProps) {
  const Shape = shapeOf(id) ?? shapeOf(ownOf(DEFAULTS, deviceClass) ?? '') ?? SHAPES['instrument-field'];
  const all = look === 'fault' ? ['fault' as const, ...marks] : marks;
  const [, letters = '', loop = ''] = /^([a-z]{0,3})[a-z]*-?(.{0,4})/i.exec(tag.toUpperCase()) ?? [];
  return (
    <span class="symbol-place">
      <svg class={`symbol symbol-${look}`} viewBox="0 0 48 48" aria-hidden="true">
        {Shape && <Shape letters={letters} loop={loop} />}
      </svg>
      {all.length + quietMarks.length > 0 && (
        <span class="symbol-marks">
          {all.map((kind) => (
            <Mark key={kind} kind={kind} />
          ))}
          {quietMarks.map((kind) => (
            <Mark key={kind} kind={kind} quiet />
          ))}
        </span>
      )}
    </span>
  );
}

/** Thick with an arrow head while something flows, thin while nothing does. @param label for a screen reader. */
export function Pipe({ flows, label }: { readonly flows: boolean; readonly label: string }) {
  return (
    <svg class={flows ? 'pipe pipe-flows' : 'pipe'} viewBox="0 0 80 12" role="img" aria-label={label}>
      <path class="pipe-line" d="M0 6H80" />
      {flows && <path class="pipe-head" d="M36 1L44 6L36 11" />}
    </svg>
  );
}

/** Where a pipe comes from or leads to. */
export function FromTo({ name, isFrom = false }: { readonly name: string; readonly isFrom?: boolean }) {
  return <span class={isFrom ? 'from-to from-to-from' : 'from-to'}>{name}</span>;
}
