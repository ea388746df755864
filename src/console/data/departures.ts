/**
 * What departs from the recipe while a batch works on a unit: a controller that people have taken, and a value far from its
 * setpoint. Both are abnormal, and Restart goes on with them (ISA-101: abnormal is conspicuous).
 */
import type { FAR_OFF } from '../../../runtime/vocabulary/far-off.js';
import { t, word } from '../common/strings.js';
import { numberText, unitText } from '../common/text.js';
import type { Measurement } from './key-tags.js';
import { keyTags, modules, tagValue } from './plant.js';

/** Of the range of the instrument, as the box judges it (preflight). */
const FAR: typeof FAR_OFF = 0.1;

/** In a few words for a tile; undefined when all is as the recipe wants it. A loop that is switched off follows no setpoint. */
export function departure(unit: string, { module: name, tag, setpoint, enable, range }: Measurement): string | undefined {
  const module = modules.value.get(name);
  if (module?.deviceClass !== 'controller') return undefined;
  if (module.mode !== 'Automatic') return word(module.mode);
  if (!range || !setpoint || (enable && tagValue(unit, enable.address).value.value === false)) return undefined;
  const [{ value }, { value: target }] = [tagValue(unit, tag.address).value, tagValue(unit, setpoint.address).value];
  if (typeof value !== 'number' || typeof target !== 'number') return undefined;
  const off = value - target;
  if (Math.abs(off) <= (range.max - range.min) * FAR) return undefined;
  const span = Math.max(Math.abs(range.min), Math.abs(range.max));
  return t.deviates(`${numberText(Math.abs(off), span)} ${unitText(tag.engUnits)}`.trim(), off > 0);
}

/** What people have taken into their hands, a sentence for each module: for the question before a Start. @param told modules of which more is said already. */
export function takenOver(units: readonly string[], told: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const module of modules.value.values()) {
    if (!units.includes(module.unit)) continue;
    if (module.mode !== 'Automatic' && !told.has(module.name)) found.push(t.moduleInMode(module.name.toUpperCase(), word(module.mode)));
    if (module.interlockBypass.active) found.push(t.bypassMarks(module.name.toUpperCase()));
  }
  return found.sort();
}

/** With the values that are far from their set-points, which a Start sets anew: for the question before a Restart. */
export function departuresOf(units: readonly string[], told: ReadonlySet<string>): string[] {
  const found = takenOver(units, told);
  for (const unit of units) {
    for (const measurement of keyTags.value.get(unit)?.measurements ?? []) {
      const { module } = measurement;
      if (modules.value.get(module)?.mode !== 'Automatic') continue; // told with those that people have taken
      const text = departure(unit, measurement);
      if (text !== undefined) found.push(`${module.toUpperCase()}: ${text}`);
    }
  }
  return found.sort();
}
