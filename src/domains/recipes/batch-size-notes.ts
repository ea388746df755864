/**
 * The batch sizes that a recipe allows, held against the limits of what it scales with them: a size between that its own limits take and a
 * parameter does not is refused where a batch is made (D-RECIPE-04), before an order on the shop floor perhaps.
 */
import { isNumberText } from '../../platform/store/fields.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import type { Formula, MasterRecipeSpec } from './kind.js';

type Parameter = Formula['parameters'][number];

/** A quantity, and the parameter that goes no further. */
interface Bound {
  readonly quantity: number;
  readonly by: string;
}

/** As many as a batch keeps of a scaled value. */
const DIGITS = 15;

export function batchSizeNotes({ batchSize, formulas }: Pick<MasterRecipeSpec, 'batchSize' | 'formulas'>): readonly SpecNote[] {
  const nominal = Number(batchSize.nominal);
  if (!(nominal > 0)) return [];
  return formulas.flatMap((formula): readonly SpecNote[] => {
    const { least, most } = rangeOf(formula.parameters, nominal);
    const tooSmall = least !== undefined && batchSize.min !== '' && Number(batchSize.min) < least.quantity;
    const tooLarge = most !== undefined && batchSize.max !== '' && Number(batchSize.max) > most.quantity;
    if (!tooSmall && !tooLarge) return [];
    const words = sizeWords(least, most, batchSize.engineeringUnit);
    const allowed = `${batchSize.min || 'any'} to ${batchSize.max || 'any'} ${batchSize.engineeringUnit}`.trimEnd();
    const by = [...new Set([least, most].flatMap((bound) => bound?.by ?? []))].join(' and ');
    const text = `batchSize allows ${allowed}, but by the limits of ${by} in formula ${formula.name} a batch takes ${words}: any other size is refused when the batch is made`;
    return [{ path: tooLarge ? 'batchSize.max' : 'batchSize.min', text }];
  });
}

function sizeWords(least: Bound | undefined, most: Bound | undefined, unit: string): string {
  if (least && most) return `${least.quantity} to ${most.quantity} ${unit}`.trimEnd();
  const bound = `${(least ?? most)?.quantity} ${unit}`.trimEnd();
  return `${bound} ${least ? 'at least' : 'at most'}`;
}

/** The sizes with which all scaled parameters stay within their limits. */
function rangeOf(parameters: readonly Parameter[], nominal: number): { readonly least: Bound | undefined; readonly most: Bound | undefined } {
  let least: Bound | undefined;
  let most: Bound | undefined;
  for (const { name, value, scaled, lowValueLimit, highValueLimit } of parameters) {
    // zero stays zero, and one that is outside already is told by itself
    if (!scaled || value === '' || !isNumberText(value) || Number(value) === 0) continue;
    const at = (limit: string): Bound | undefined => (limit === '' ? undefined : { quantity: Number(((Number(limit) * nominal) / Number(value)).toPrecision(DIGITS)), by: name });
    const [low, high] = Number(value) > 0 ? [at(lowValueLimit), at(highValueLimit)] : [at(highValueLimit), at(lowValueLimit)];
    if (low && (!least || low.quantity > least.quantity)) least = low;
    if (high && (!most || high.quantity < most.quantity)) most = high;
  }
  return { least: least && least.quantity > 0 ? least : undefined, most };
}
