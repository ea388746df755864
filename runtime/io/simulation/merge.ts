/**
 * The behaviour list of a module: its preset, mapped to real addresses, and its inline behaviours (decisions 6.1, 6.5;
 * contract 3 "Simulation"). Pure, so that gateway and probe agree.
 */
import type { Behavior } from '../../port.js';
import { behaviorType } from './behavior-types.js';
import { parseExpression, renameReferences } from './expression-parser.js';
import { type ParamSpec, type ParamValue, readNumber } from './params.js';

export type AddressMap = Readonly<Record<string, string>>;

/** The references one param makes; none when it does not parse. */
function paramReferences(spec: ParamSpec, value: ParamValue): string[] {
  if (value === '') return [];
  if (spec.type === 'address') return [String(value)];
  if (spec.type === 'source') return readNumber(value) === undefined ? [String(value)] : [];
  if (spec.type !== 'expression') return [];
  const parsed = parseExpression(String(value));
  return parsed.ok ? parsed.references.map((place) => place.reference) : [];
}

/** Addresses a behaviour reads: `address` of its module or `<module>/<address>`, each once. */
export function behaviorReferences(behavior: Pick<Behavior, 'type' | 'params'>): string[] {
  return [...referencesByParam(behavior).keys()];
}

/** As `behaviorReferences`, each with the first param that makes it. */
export function referencesByParam({ type, params }: Pick<Behavior, 'type' | 'params'>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const spec of behaviorType(type)?.params ?? []) {
    const value = params[spec.name];
    for (const reference of value === undefined ? [] : paramReferences(spec, value)) if (!found.has(reference)) found.set(reference, spec.name);
  }
  return found;
}

const isLocal = (reference: string): boolean => !reference.includes('/');

/** Generic addresses of a preset that the map leaves open, in order of appearance (422 `address_map_incomplete`). */
export function missingAddresses(preset: readonly Behavior[], addressMap: AddressMap): string[] {
  const generic = preset.flatMap((behavior) => [behavior.address, ...behaviorReferences(behavior).filter(isLocal)]);
  return [...new Set(generic)].filter((address) => !mapped(address, addressMap));
}

function mapped(address: string, addressMap: AddressMap): string | undefined {
  return Object.hasOwn(addressMap, address) && addressMap[address] !== '' ? addressMap[address] : undefined;
}

function mapParam(spec: ParamSpec | undefined, value: ParamValue, rename: (reference: string) => string): ParamValue {
  if (!spec) return value;
  if (spec.type === 'expression') return renameReferences(String(value), rename);
  return paramReferences(spec, value).length > 0 ? rename(String(value)) : value;
}

function mapBehavior(behavior: Behavior, addressMap: AddressMap): Behavior {
  const rename = (reference: string): string => (isLocal(reference) ? (mapped(reference, addressMap) ?? reference) : reference);
  return { ...renamedIn(behavior, rename), address: rename(behavior.address) };
}

/** The behaviour with every reference replaced by what `rename` makes of it. */
export function renamedIn(behavior: Behavior, rename: (reference: string) => string): Behavior {
  const specs = behaviorType(behavior.type)?.params ?? [];
  const params = Object.fromEntries(
    Object.entries(behavior.params).map(([name, value]) => [
      name,
      mapParam(
        specs.find((spec) => spec.name === name),
        value,
        rename,
      ),
    ]),
  );
  return { ...behavior, params };
}

/**
 * Preset behaviours in order, an inline one in the place of a preset one with the same resolved address, further
 * inline ones behind. An address the map leaves open stays generic (generic apply is exempt from the check).
 */
export function mergeBehaviors(preset: readonly Behavior[], addressMap: AddressMap, inline: readonly Behavior[]): Behavior[] {
  const merged = new Map<string, Behavior>();
  for (const behavior of preset) {
    const real = mapBehavior(behavior, addressMap);
    merged.set(real.address, real);
  }
  for (const behavior of inline) merged.set(behavior.address, behavior);
  return [...merged.values()];
}
