/** Symbols of equipment after ISA-5.1 (decisions 1.8). Outlined at rest, filled while active; colour only at a fault. */

export type Look = 'rest' | 'active' | 'fault' | 'unknown';

/** @param letters the function letters of an instrument, as on a drawing. */
type Shape = (props: { readonly letters: string }) => preact.JSX.Element;

const SHAPES: Readonly<Record<string, Shape>> = {
  'instrument-field': ({ letters }) => (
    <>
      <circle cx="20" cy="20" r="17" />
      <text x="20" y="25">
        {letters}
      </text>
    </>
  ),
  controller: ({ letters }) => (
    <>
      <circle cx="20" cy="20" r="17" />
      <line x1="3" y1="24" x2="37" y2="24" />
      <text x="20" y="19">
        {letters}
      </text>
    </>
  ),
  'valve-on-off': () => (
    <>
      <path d="M5 14 L20 22 L5 30 Z M35 14 L20 22 L35 30 Z" />
      <path d="M20 22 V10 M14 10 H26" class="symbol-line" />
    </>
  ),
  'valve-control': () => (
    <>
      <path d="M5 16 L20 24 L5 32 Z M35 16 L20 24 L35 32 Z" />
      <path d="M20 24 V14" class="symbol-line" />
      <path d="M11 14 A9 8 0 0 1 29 14 Z" />
    </>
  ),
  motor: () => (
    <>
      <circle cx="20" cy="20" r="15" />
      <text x="20" y="26">
        M
      </text>
    </>
  ),
  pump: () => (
    <>
      <circle cx="20" cy="20" r="15" />
      <path d="M12 8 L35 20 L12 32" class="symbol-line" />
    </>
  ),
  agitator: () => (
    <>
      <path d="M20 4 V28" class="symbol-line" />
      <path d="M6 34 L20 28 L34 34 L34 24 L20 30 L6 24 Z" />
    </>
  ),
  heater: () => (
    <>
      <rect x="5" y="9" width="30" height="22" />
      <path d="M8 20 L13 13 L18 27 L23 13 L28 27 L32 20" class="symbol-line" />
    </>
  ),
  exchanger: () => (
    <>
      <circle cx="20" cy="20" r="15" />
      <path d="M5 26 H13 L20 12 L27 26 H35" class="symbol-line" />
    </>
  ),
  filter: () => (
    <>
      <rect x="7" y="6" width="26" height="28" />
      <path d="M7 34 L33 6" class="symbol-line" stroke-dasharray="3 3" />
    </>
  ),
  vessel: () => <path d="M9 10 Q20 2 31 10 V30 Q20 38 9 30 Z" />,
  'vessel-jacketed': () => (
    <>
      <path d="M5 16 V32 Q20 42 35 32 V16" class="symbol-line" />
      <path d="M10 10 Q20 2 30 10 V29 Q20 36 10 29 Z" />
    </>
  ),
  tank: () => <path d="M8 6 H32 V34 H8 Z" />,
};

/** Contract: any other id, and none, give the default of the device class. */
const DEFAULTS: Readonly<Record<string, string>> = { valve: 'valve-on-off', actuator: 'motor', sensor: 'instrument-field', controller: 'controller' };

export interface SymbolProps {
  readonly id: string;
  readonly deviceClass: string;
  readonly look: Look;
  readonly tag: string;
}

export function Symbol({ id, deviceClass, look, tag }: SymbolProps) {
  const Shape = SHAPES[id] ?? SHAPES[DEFAULTS[deviceClass] ?? ''] ?? SHAPES['instrument-field'];
  return (
    <svg class={`symbol symbol-${look}`} viewBox="0 0 40 40" aria-hidden="true">
      {Shape && <Shape letters={/^[a-z]{1,3}/i.exec(tag)?.[0].toUpperCase() ?? ''} />}
    </svg>
  );
}

const VESSEL = { top: 24, bottom: 196 } as const;
const OUTLINES: Readonly<Record<string, string>> = {
  tank: 'M30 14 H130 V196 H30 Z',
  vessel: 'M30 44 Q80 4 130 44 V170 Q80 216 30 170 Z',
};

/** The body of a unit with its level; `level` from 0 to 1, undefined when nobody measures one. */
export function Vessel({ id, level }: { readonly id: string; readonly level: number | undefined }) {
  const outline = OUTLINES[id === 'tank' ? 'tank' : 'vessel'] as string;
  const height = (VESSEL.bottom - VESSEL.top) * Math.min(1, Math.max(0, level ?? 0));
  return (
    <svg class="vessel" viewBox="0 0 160 214" aria-hidden="true">
      {id === 'vessel-jacketed' && <path class="vessel-jacket" d="M18 70 V178 Q80 228 142 178 V70" />}
      <clipPath id="vessel-body">
        <path d={outline} />
      </clipPath>
      <path class="vessel-body" d={outline} />
      {level !== undefined && <rect class="vessel-level" clip-path="url(#vessel-body)" x="20" width="120" y={VESSEL.bottom - height} height={height + 20} />}
      <path class="vessel-outline" d={outline} />
    </svg>
  );
}
