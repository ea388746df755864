/** The body of a unit with what is in it: contents up to the level, a scale with the normal band and limits, a jacket, an agitator. */
import { useId } from 'preact/hooks';
import type { Limit, Range } from './bar.js';
import './vessel.css';

export interface VesselBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface VesselScale {
  readonly range: Range;
  readonly band: Range | undefined;
  readonly limits: readonly Limit[];
}

interface VesselProps {
  readonly id: string;
  readonly box: VesselBox;
  /** 0 to 1; undefined when nobody measures one, or it cannot be trusted. */
  readonly level: number | undefined;
  readonly scale?: VesselScale | undefined;
  readonly hasJacket?: boolean;
  /** Undefined: it has none. */
  readonly agitator?: 'runs' | 'stands' | undefined;
}

type Outline = (box: VesselBox) => string;

const dished: Outline = ({ x, y, width: w, height: h }) => {
  const dish = Math.min(44, h / 4);
  return `M${x} ${y + dish}C${x} ${y + dish / 4} ${x + w * 0.25} ${y} ${x + w / 2} ${y}S${x + w} ${y + dish / 4} ${x + w} ${y + dish}V${y + h - dish}C${x + w} ${y + h - dish / 4} ${x + w * 0.75} ${y + h} ${x + w / 2} ${y + h}S${x} ${y + h - dish / 4} ${x} ${y + h - dish}Z`;
};

/** A symbol that is none of these is a dished vessel. */
const OUTLINES: Readonly<Record<string, Outline>> = {
  tank: ({ x, y, width, height }) => `M${x} ${y}H${x + width}V${y + height}H${x}Z`,
  'tank-cone': ({ x, y, width, height }) => `M${x} ${y + 30}L${x + width / 2} ${y}L${x + width} ${y + 30}V${y + height}H${x}Z`,
  hopper: ({ x, y, width, height }) => `M${x} ${y}H${x + width}V${y + height * 0.6}L${x + width * 0.6} ${y + height}H${x + width * 0.4}L${x} ${y + height * 0.6}Z`,
  column: ({ x, y, width, height }) => dished({ x: x + width / 4, y, width: width / 2, height }),
  // a lid with its stack, and a shallow bottom
  kettle: ({ x, y, width: w, height: h }) =>
    `M${x} ${y + 56}L${x + w * 0.42} ${y + 24}V${y}H${x + w * 0.58}V${y + 24}L${x + w} ${y + 56}V${y + h - 24}Q${x + w / 2} ${y + h + 12} ${x} ${y + h - 24}Z`,
  // the bottom is flat and the lid dished: a mash or lauter tun
  tun: ({ x, y, width: w, height: h }) => `M${x} ${y + 36}Q${x + w / 2} ${y - 24} ${x + w} ${y + 36}V${y + h}H${x}Z`,
};

export const VESSEL_SHAPES = Object.keys(OUTLINES);

const JACKET = 16;
/** Of the range: less is the noise of an instrument that measures nothing. */
const EMPTY = 0.002;
const SCALE = { left: 26, width: 8 } as const;

/** Where the level 0 and the level 1 stand. */
function ends({ y, height }: VesselBox): { readonly bottom: number; readonly high: number } {
  const [top, bottom] = [y + Math.min(62, height / 4), y + height - 24];
  return { bottom, high: bottom - top };
}

/** A name that an engineer has typed may be that of anything. */
function outlineOf(id: string): (typeof OUTLINES)[string] {
  return Object.hasOwn(OUTLINES, id) ? (OUTLINES[id] ?? dished) : dished;
}

export function VesselBody({ id, box, level, scale, hasJacket = false, agitator }: VesselProps) {
  const clip = useId();
  const outline = outlineOf(id)(box);
  const { bottom, high } = ends(box);
  const surface = bottom - high * Math.min(1, Math.max(0, level ?? 0));
  const { x, y, width, height } = box;
  return (
    <g class="vessel-all">
      {hasJacket && (
        <path
          class="vessel-jacket"
          d={`M${x - JACKET} ${y + 60}V${y + height - 46}C${x - JACKET} ${y + height} ${x + width * 0.25} ${y + height + JACKET} ${x + width / 2} ${y + height + JACKET}S${x + width + JACKET} ${y + height} ${x + width + JACKET} ${y + height - 46}V${y + 60}Z`}
        />
      )}
      <clipPath id={clip}>
        <path d={outline} />
      </clipPath>
      <path class="vessel-body" d={outline} />
      {level !== undefined && level > EMPTY && <rect class="vessel-level" clip-path={`url(#${clip})`} x={x} width={width} y={surface} height={y + height - surface} />}
      {level !== undefined && level > EMPTY && <path class="vessel-surface" clip-path={`url(#${clip})`} d={`M${x} ${surface}H${x + width}`} />}
      {scale && <Scale box={box} scale={scale} surface={level === undefined ? undefined : surface} />}
      {agitator && <Agitator box={box} runs={agitator === 'runs'} />}
      <path class="vessel-outline" d={outline} />
    </g>
  );
}

function Scale({ box, scale: { range, band, limits }, surface }: { readonly box: VesselBox; readonly scale: VesselScale; readonly surface: number | undefined }) {
  const { bottom, high } = ends(box);
  const at = (value: number) => bottom - high * Math.min(1, Math.max(0, (value - range.min) / (range.max - range.min)));
  const left = box.x + SCALE.left;
  return (
    <g class="vessel-scale">
      <rect class="vessel-track" x={left} width={SCALE.width} y={bottom - high} height={high} />
      {band && <rect class="vessel-band" x={left} width={SCALE.width} y={at(band.max)} height={at(band.min) - at(band.max)} />}
      {limits.map((limit) => (
        <path key={limit.at} class={limit.isTrip ? 'vessel-trip' : 'vessel-limit'} d={`M${left - 4} ${at(limit.at)}H${left + SCALE.width + 4}`} />
      ))}
      {surface !== undefined && <path class="vessel-pointer" d={`M${left + SCALE.width + 2} ${surface}l10 -6v12Z`} />}
    </g>
  );
}

function Agitator({ box: { x, y, width, height }, runs }: { readonly box: VesselBox; readonly runs: boolean }) {
  const [middle, low] = [x + width / 2, y + height - 46];
  return (
    <g class={runs ? 'vessel-agitator vessel-agitator-runs' : 'vessel-agitator'}>
      <path class="vessel-shaft" d={`M${middle} ${y - 6}V${low}`} />
      <path d={`M${middle - 38} ${low - 11}L${middle} ${low - 4}L${middle + 38} ${low - 11}V${low + 11}L${middle} ${low + 4}L${middle - 38} ${low + 11}Z`} />
    </g>
  );
}

/** By itself, where a unit is shown as a list. */
export function Vessel({ id, level }: { readonly id: string; readonly level: number | undefined }) {
  return (
    <svg class="vessel" viewBox="0 0 160 214" aria-hidden="true">
      <VesselBody id={id} box={{ x: 24, y: 8, width: 112, height: 184 }} level={level} hasJacket={id === 'vessel-jacketed'} />
    </svg>
  );
}
