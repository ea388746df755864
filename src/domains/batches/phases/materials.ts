/** What a phase has consumed and produced, by the quantities that it ended with (decisions 8.4). Pure. */
import type { PhaseSpec } from '../../procedures/kind.js';
import type { MaterialUse } from '../kind.js';

interface DirectedUse extends MaterialUse {
  readonly direction: 'input' | 'output';
}

/** What an event says of the material (decisions 8.3). */
export function materialText(material: string, unit: string): string {
  return `${material} (${unit})`;
}

/** What `materialText` was made of. A unit may have parentheses of its own, in pairs: m³ (i.N.). */
export function materialOf(text: string): Pick<MaterialUse, 'material' | 'unit'> {
  let depth = 0;
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    else if (text[at] === '(') depth -= 1;
    if (depth === 0) return text[at] === '(' && text[at - 1] === ' ' ? { material: text.slice(0, at - 1), unit: text.slice(at + 1, -1) } : { material: text, unit: '' };
  }
  return { material: text, unit: '' };
}

/** Quantities of 0 or never assigned are nothing. */
export function materialUses(spec: PhaseSpec, outputs: readonly { readonly name: string; readonly value: string }[], batchLot: string, at: string): DirectedUse[] {
  const parameter = (name: string): string => valueOf(spec.parameterValues, name);
  return spec.materials.flatMap(({ direction, material, lot, quantity: output, unit }) => {
    const quantity = valueOf(outputs, output);
    if (quantity === '' || Number(quantity) === 0) return [];
    const lotID = (lot === '' ? '' : parameter(lot)) || (direction === 'output' ? batchLot : 'unknown');
    return [{ direction, material: parameter(material), lotID, quantity, unit, element: spec.stepPath, unitName: spec.unitRef, at, auditRecordRef: '' }];
  });
}

function valueOf(values: readonly { readonly name: string; readonly value: string }[], name: string): string {
  return values.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase())?.value ?? '';
}
