/** What a writable tag of a module has until somebody writes it: the constant that its block is given for the port, else what the port itself begins with. */
import { blockType } from '../../../runtime/catalog.js';
import { typedReal } from '../../../runtime/language/value-text.js';
import type { DataType } from '../../../runtime/vocabulary/data-types.js';
import type { ParamValue } from '../../../runtime/vocabulary/network.js';
import { sameName } from '../../../runtime/vocabulary/same-name.js';
import type { EffectiveTag, ResolvedModule } from './merge.js';

/** Undefined where nothing is declared: of a tag that can only be read, of a channel, of a block type of the site. */
export function initialOf({ blocks }: Pick<ResolvedModule, 'blocks'>, { accessLevel, blockRef, portRef, type }: EffectiveTag): number | boolean | undefined {
  if (accessLevel !== 'readwrite' || blockRef === '') return undefined;
  const block = blocks.find(({ name }) => name === blockRef);
  const port = block && blockType(block.type)?.inputs.find(({ name }) => sameName(name, portRef));
  if (!port) return undefined;
  const [, given] = Object.entries(block?.params ?? {}).find(([name]) => sameName(name, port.name)) ?? [];
  return constantOf(type, given ?? port.default ?? (type === 'BOOL' ? false : 0));
}

function constantOf(type: DataType, value: ParamValue): number | boolean | undefined {
  if (type === 'BOOL') return typeof value === 'boolean' ? value : value.toString().trim().toUpperCase() === 'TRUE';
  if (type !== 'REAL' && type !== 'INT') return undefined;
  const number = typeof value === 'number' ? value : (typedReal(String(value)) ?? Number(value));
  return Number.isFinite(number) ? number : undefined;
}
