/**
 * Devices that supervise themselves and latch a fault (VALVE, MOTOR, CTRLVALVE; decisions 5.5): which blocks of a module they
 * are, and by which of its tags their fault is seen.
 */
import { blockType } from '../../../runtime/catalog.js';
import type { BlockSpec, CompositeType } from '../../../runtime/vocabulary/network.js';
import { QUALITY, qualityWord } from '../../../runtime/vocabulary/quality.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { compositesOf } from '../logic/composites.js';
import type { UnitLink } from '../placement/runtimes.js';
import type { ControlModuleSpec } from './kind.js';
import { resolvedModuleOf } from './modules.js';

type Module = Pick<Resource<ControlModuleSpec>, 'spec'>;

/** Names of the device blocks, those inside composite blocks included. */
export function devicesOf(read: StoreReader, module: Module): string[] {
  return devices(resolvedModuleOf(read, module)?.blocks ?? [], compositesOf(read), '');
}

function devices(blocks: readonly BlockSpec[], composites: readonly CompositeType[], inside: string): string[] {
  return blocks.flatMap(({ name, type }) => {
    if (isDevice(type)) return [inside + name];
    const composite = composites.find((candidate) => candidate.name === type);
    return composite ? devices(composite.blocks, composites, `${inside}${name}/`) : [];
  });
}

/** A device is whatever latches a fault, follows an interlock and is reset. */
function isDevice(type: string): boolean {
  const ports = blockType(type);
  return ports?.outputs.some(({ name }) => name === 'FAULT') === true && ports.inputs.some(({ name }) => name === 'RESET');
}

/** Names of the tags that are TRUE while a device of the module is in fault. */
export function faultTagsOf(read: StoreReader, module: Module): readonly string[] {
  const resolved = resolvedModuleOf(read, module);
  if (!resolved) return [];
  const composites = compositesOf(read);
  return resolved.tags.filter(({ blockRef, portRef }) => isFaultPort(resolved.blocks, composites, blockRef, portRef)).map(({ name }) => name);
}

/** Whether a port is the FAULT of a device, or the output of a composite block that passes the one of a device inside it on. */
function isFaultPort(blocks: readonly BlockSpec[], composites: readonly CompositeType[], blockRef: string, portRef: string): boolean {
  const block = blocks.find(({ name }) => isSame(name, blockRef));
  if (!block) return false;
  if (isDevice(block.type)) return isSame(portRef, 'FAULT');
  const composite = composites.find(({ name }) => name === block.type);
  const inner = composite?.outputBindings.find(({ port }) => isSame(port, portRef));
  return composite !== undefined && inner !== undefined && isFaultPort(composite.blocks, composites, inner.blockRef, inner.portRef);
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}

/**
 * Whether FALSE in this tag takes back the command of a valve or motor: it goes to the position it takes without power, and
 * nothing can begin by it.
 */
export function isDeviceCommand(read: StoreReader, module: Module, tagName: string): boolean {
  const resolved = resolvedModuleOf(read, module);
  const tag = resolved?.tags.find(({ name }) => name === tagName);
  if (!resolved || tag?.portRef.toUpperCase() !== 'CMD') return false;
  const block = resolved.blocks.find(({ name }) => name.toLowerCase() === tag.blockRef.toLowerCase());
  return block !== undefined && isDevice(block.type) && tag.dataType === 'Boolean';
}

/**
 * `xv105 is in Fault` while one of these tags of a module is TRUE, `xv105 is in Fault (Bad)` with signals of that quality: a
 * latched fault is no less one behind a broken wire, which has often caused it. '' where none is, or none was ever published.
 */
export function faultText(link: UnitLink | undefined, module: string, tags: readonly string[]): string {
  if (!link || tags.length === 0 || !link.refresh()) return '';
  for (const tag of tags) {
    const index = link.tagIndex(`${module}.${tag}`);
    if (index < 0) continue;
    const { value, quality, atMs } = link.reading(index);
    if (value === true && atMs !== 0) return `${module} is in Fault${quality === QUALITY.Good ? '' : ` (${qualityWord(quality)})`}`;
  }
  return '';
}
