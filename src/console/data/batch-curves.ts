/** Curves of a part of a batch, and beside each what the same value was in another batch, from the beginnings of both. */
import type { OtherBatch } from './other-batch.js';
import { unitThere } from './other-batch.js';
import { limitsOf } from './limits.js';
import { keyTags } from './plant.js';
import { bucketOf, readCurves, withEnd, type Curve, type Pen, type PenFault, type Span } from './trend.js';
import type { BatchDetail, TagDescriptor } from './types.js';

export interface BatchCurve {
  readonly pen: Pen;
  readonly own: Curve;
  readonly other: Curve | undefined;
}

export const penKey = ({ unit, address }: Pick<TagDescriptor, 'unit' | 'address'>): string => `${unit} ${address}`;

/** Control modules of the same task are called alike but for the number of their unit: `tic101` of RX101 is `tic102` of RX102. */
function addressThere(address: string, unit: string, there: string): string {
  const [from, to] = [unit.replace(/^\D*/, ''), there.replace(/^\D*/, '')];
  return unit === there || from === '' ? address : address.replace(from, to);
}

export interface BatchCurves {
  readonly span: Span;
  readonly curves: readonly BatchCurve[];
  /** Of this batch; the others are there all the same. Empty curves stand for them. */
  readonly faults: readonly PenFault[];
  /** Why those of the other batch could not be read; those of this one are there all the same. */
  readonly otherFault: unknown;
}

/** What the historian got to know last may not have been there when it was asked before. */
const ENDS_ANEW_MS = 30_000;

/** @param known of the same pens and batches, all of them read: where it goes on from that, only what came since is read. */
export async function readBatchCurves(
  batch: BatchDetail,
  pens: readonly Pen[],
  span: Span,
  compared: OtherBatch | undefined,
  known: BatchCurves | undefined,
): Promise<BatchCurves> {
  const lengthMs = span.toMs - span.fromMs;
  const before = known && goesOn(known.span, span) ? known : undefined;
  if (before && span.toMs <= before.span.toMs) return before;
  const asked = before ? { fromMs: Math.max(before.span.fromMs, before.span.toMs - ENDS_ANEW_MS - bucketOf(lengthMs)), toMs: span.toMs } : span;
  const shiftMs = compared ? Date.parse(compared.batch.startedAt) - Date.parse(batch.startedAt) : 0;
  let otherFault: unknown;
  const ofOther = compared ? readThere(batch, pens, asked, compared, { shiftMs, lengthMs }) : Promise.resolve([]);
  const [{ curves: own, faults }, others] = await Promise.all([
    readCurves(pens, asked, lengthMs),
    ofOther.catch((fault: unknown) => {
      otherFault = fault;
      return [];
    }),
  ]);
  const curves = pens.map((pen, at): BatchCurve => {
    const [had, mine, other] = [before?.curves[at], own[at] as Curve, others[at]];
    return { pen, own: had ? withEnd(had.own, mine) : mine, other: had?.other && other ? withEnd(had.other, other) : (other ?? had?.other) };
  });
  return { span: { fromMs: before?.span.fromMs ?? span.fromMs, toMs: span.toMs }, curves, faults, otherFault };
}

/** What is asked for now begins in what is known, and its points are as far apart. */
function goesOn(known: Span, { fromMs, toMs }: Span): boolean {
  return fromMs >= known.fromMs && fromMs <= known.toMs && bucketOf(known.toMs - known.fromMs) === bucketOf(toMs - fromMs);
}

interface Shift {
  readonly shiftMs: number;
  readonly lengthMs: number;
}

async function readThere(here: BatchDetail, pens: readonly Pen[], { fromMs, toMs }: Span, { batch: there }: OtherBatch, { shiftMs, lengthMs }: Shift): Promise<readonly Curve[]> {
  const moved = pens.map((pen) => {
    const unit = unitThere(pen.unit, here, there);
    return { ...pen, unit, address: addressThere(pen.address, pen.unit, unit) };
  });
  const endMs = there.endedAt === '' ? Number.POSITIVE_INFINITY : Date.parse(there.endedAt);
  const span = { fromMs: fromMs + shiftMs, toMs: Math.min(toMs + shiftMs, endMs) };
  if (span.toMs <= span.fromMs) return [];
  const { curves, faults } = await readCurves(moved, span, lengthMs);
  if (faults[0]) throw faults[0].fault; // compared with half of them nothing would be told
  return curves.map((curve) => ({ ...curve, times: curve.times.map((at) => at - shiftMs / 1000) }));
}

/** What is worth a look: the value of the module that the first cause names, else the first values of the unit. */
export function pensFor(units: readonly string[], equipment: string, tags: readonly TagDescriptor[]): readonly TagDescriptor[] {
  const named = tags.filter(({ controlModule, name }) => equipment !== '' && controlModule === equipment && name === 'pv');
  if (named.length > 0) return named.slice(0, 1);
  return units
    .flatMap((unit) => keyTags.value.get(unit)?.measurements.filter(({ variable }) => variable === 'Temperature') ?? [])
    .map(({ tag }) => tag)
    .slice(0, 1);
}

/** Limits of the alarm definitions that are armed now; of a value of a module. */
export function limitsOfTag(tag: TagDescriptor): readonly { readonly at: number; readonly isHigh: boolean; readonly isTrip: boolean }[] {
  return tag.controlModule === '' ? [] : limitsOf({ module: tag.controlModule, tag }).limits;
}
