/**
 * What departs from the recipe while a batch works on a unit: a controller that people have taken, and a value far from its
 * setpoint. Both are abnormal, and Restart goes on with them (ISA-101: abnormal is conspicuous).
 */
import { t, word } from '../common/strings.js';
import { numberText } from '../common/text.js';
import { keyTags, modules, tagValue } from './plant.js';
import type { ModuleInfo, TagValue } from './types.js';

/** Of the range of the instrument: further away is no ripple of a loop that holds its setpoint. */
const FAR = 0.1;

type Range = { readonly min: number; readonly max: number } | undefined;

/** In a few words for a tile; undefined when all is as the recipe wants it. */
export function departure(module: ModuleInfo | undefined, value: TagValue, target: TagValue | undefined, range: Range): string | undefined {
  if (module?.deviceClass === 'controller' && module.mode !== 'Automatic') return word(module.mode);
  if (!range || typeof value.value !== 'number' || typeof target?.value !== 'number' || module?.deviceClass !== 'controller') return undefined;
  const off = value.value - target.value;
  if (Math.abs(off) <= (range.max - range.min) * FAR) return undefined;
  const span = Math.max(Math.abs(range.min), Math.abs(range.max));
  return t.deviates(`${off > 0 ? '+' : ''}${numberText(off, span)}`);
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
    for (const { tag, setpoint, range, module } of keyTags.value.get(unit)?.measurements ?? []) {
      const info = modules.value.get(module);
      if (!setpoint || info?.mode !== 'Automatic') continue;
      const text = departure(info, tagValue(unit, tag.address).value, tagValue(unit, setpoint.address).value, range);
      if (text !== undefined) found.push(`${module.toUpperCase()}: ${text}`);
    }
  }
  return found.sort();
}
