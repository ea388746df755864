/** Limits of a measured value, as the alarm definitions that are armed now tell them, and the range that a bar shows. */
import { computed } from '@preact/signals';
import type { Measurement } from './key-tags.js';
import { definitions } from './plant.js';
import type { AlarmDefinition } from './types.js';

interface Span {
  readonly min: number;
  readonly max: number;
}

interface ValueLimit {
  readonly at: number;
  readonly isHigh: boolean;
  /** HH or LL. */
  readonly isTrip: boolean;
}

export interface ValueLimits {
  readonly limits: readonly ValueLimit[];
  /** How far the value may be from its setpoint. */
  readonly deviation: number | undefined;
}

const CONDITIONS: Readonly<Record<string, Pick<ValueLimit, 'isHigh' | 'isTrip'>>> = {
  TagLowLow: { isHigh: false, isTrip: true },
  TagLow: { isHigh: false, isTrip: false },
  TagHigh: { isHigh: true, isTrip: false },
  TagHighHigh: { isHigh: true, isTrip: true },
};
/** Beyond the outermost limits, of what lies between them. */
const MARGIN = 0.15;

const armed = computed(() => {
  const found = new Map<string, AlarmDefinition[]>();
  for (const definition of definitions.value) {
    if (!definition.armed || definition.sourceKind !== 'ControlModule') continue;
    const key = `${definition.sourceName}.${definition.tagName}`;
    const own = found.get(key);
    if (own) own.push(definition);
    else found.set(key, [definition]);
  }
  return found;
});

export function limitsOf({ module, tag }: Pick<Measurement, 'module' | 'tag'>): ValueLimits {
  const own = armed.value.get(`${module}.${tag.name}`) ?? [];
  const limits = own.flatMap(({ conditionType, threshold }) => {
    const condition = CONDITIONS[conditionType];
    const at = Number.parseFloat(threshold);
    return condition && Number.isFinite(at) ? [{ at, ...condition }] : [];
  });
  const deviations = own.filter(({ conditionType }) => conditionType === 'TagDeviation').map(({ threshold }) => Number.parseFloat(threshold));
  return { limits, deviation: deviations.length > 0 ? Math.min(...deviations) : undefined };
}

/** Of 0 to 150 °C a deviation of 8 °C cannot be seen: on a side that has limits the bar ends behind the outermost. */
export function workingRange(range: Span, limits: readonly ValueLimit[]): Span {
  const lows = limits.filter(({ isHigh }) => !isHigh).map(({ at }) => at);
  const highs = limits.filter(({ isHigh }) => isHigh).map(({ at }) => at);
  const [low, high] = [Math.min(range.max, ...lows), Math.max(range.min, ...highs)];
  const [from, to] = [lows.length > 0 ? low : range.min, highs.length > 0 ? high : range.max];
  if (from >= to) return range;
  const margin = (to - from) * MARGIN;
  return { min: lows.length > 0 ? Math.max(range.min, from - margin) : range.min, max: highs.length > 0 ? Math.min(range.max, to + margin) : range.max };
}
