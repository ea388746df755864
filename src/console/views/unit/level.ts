/** The level of a unit is that of its first level measurement. Reads signals. */
import { limitsOf } from '../../data/limits.js';
import { keyTags, tagValue } from '../../data/plant.js';
import type { VesselScale } from '../../parts/vessel.js';

interface UnitLevel {
  readonly module: string;
  /** 0 to 1 of its range; undefined while it cannot be trusted. */
  readonly share: number | undefined;
  readonly scale: VesselScale;
}

export function levelOf(unit: string): UnitLevel | undefined {
  const level = keyTags.value.get(unit)?.measurements.find(({ variable }) => variable === 'Level');
  if (!level?.range) return undefined;
  const { range } = level;
  const { value, quality } = tagValue(unit, level.tag.address).value;
  const { limits } = limitsOf(level);
  const low = Math.max(range.min, ...limits.filter(({ isHigh, isTrip }) => !isHigh && !isTrip).map(({ at }) => at));
  const high = Math.min(range.max, ...limits.filter(({ isHigh, isTrip }) => isHigh && !isTrip).map(({ at }) => at));
  const share = quality === 'Good' && typeof value === 'number' ? (value - range.min) / (range.max - range.min) : undefined;
  return { module: level.module, share, scale: { range, limits, band: limits.length > 0 && low < high ? { min: low, max: high } : undefined } };
}
