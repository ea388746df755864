/** What a phase has consumed and produced, by the quantities that it ended with (decisions 8.4). Pure. */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import type { PhaseSpec } from '../../procedures/kind.js';

export const MaterialUse = v.strictObject({
  material: v.string(),
  lotID: v.string(),
  quantity: v.string(),
  unit: v.string(),
  element: v.string(),
  unitName: v.string(),
  at: v.string(),
  auditRecordRef: v.string(),
});
export type MaterialUse = ToldBy<typeof MaterialUse>;

nameSchemas({ MaterialUse });

interface DirectedUse extends MaterialUse {
  readonly direction: 'input' | 'output';
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
