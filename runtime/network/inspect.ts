/** A network as `runtime/fbnetwork/{network}` shows it (Q-UNIT-07): order, ports with value and quality, errors. */
import { inside } from '../vocabulary/assert.js';
import { printTime } from '../language/time-text.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import { QUALITY, qualityWord } from '../vocabulary/quality.js';
import { showNumber } from './constants.js';
import type { Instance, LoadedNetwork } from './instance.js';
import type { TextTable } from './texts.js';
import type { Memory } from './memory.js';

export interface PortInspection {
  readonly value: Value;
  readonly quality: string;
}

export interface BlockInspection {
  readonly name: string;
  readonly type: string;
  readonly inputs: Readonly<Record<string, PortInspection>>;
  readonly outputs: Readonly<Record<string, PortInspection>>;
  readonly error: string;
}

export interface NetworkInspection {
  readonly name: string;
  readonly unit: string;
  readonly state: string;
  readonly message: string;
  readonly scanInterval: string;
  readonly scanCount: number;
  readonly lastScanMs: number;
  readonly executionOrder: readonly string[];
  readonly blocks: readonly BlockInspection[];
}

export function inspectNetwork(instance: Instance, unit: string, memory: Memory, texts: TextTable): NetworkInspection {
  const { loaded, plan } = instance;
  const blocks = loaded ? loaded.linked.order.map((index) => inspectBlock(instance, loaded, index, memory, texts)) : [];
  const run = loaded?.run;
  return {
    name: plan.name,
    unit,
    state: instance.state,
    message: instance.message,
    scanInterval: `${plan.scanIntervalMs}ms`,
    scanCount: run?.scanCount ?? 0,
    lastScanMs: run ? run.lastMs / run.instances.length : 0,
    executionOrder: blocks.map((block) => block.name),
    blocks,
  };
}

const PLACED = 'a loaded network has a slot for each block, port and variable that it has linked';

function inspectBlock(instance: Instance, loaded: LoadedNetwork, index: number, memory: Memory, texts: TextTable): BlockInspection {
  const block = inside(loaded.linked.blocks, index, PLACED);
  const at = inside(loaded.layout.blocks, index, PLACED);
  const show = (type: DataType, value: number, quality: number): PortInspection => ({
    // a time is text, as everywhere on the API (decisions Q-TAG-01)
    value: type === 'TIME' && Number.isFinite(value) ? printTime(value) : showNumber(type, value, (id) => texts.text(id)),
    quality: qualityWord(quality),
  });
  const atSlot = (type: DataType, slot: number): PortInspection => show(type, inside(memory.S, loaded.sb + slot, PLACED), inside(memory.Q, loaded.sb + slot, PLACED));
  const constant = (value: number | string): number => (typeof value === 'string' ? texts.idOf(value) : value);
  const inputs = block.inputs.flatMap(({ feed, port, type, used }, n) => {
    if (port.optional && !used) return [];
    return [[port.name, feed.kind === 'constant' ? show(type, constant(feed.value), QUALITY.Good) : atSlot(type, inside(at.inputs, n, PLACED))] as const];
  });
  return {
    name: block.name,
    type: block.type.name,
    inputs: Object.fromEntries(inputs),
    outputs: Object.fromEntries(block.type.outputs.map((port, n) => [port.name, atSlot(inside(block.outputs, n, PLACED), inside(at.outputs, n, PLACED))])),
    error: instance.faulted.includes(block.name) ? 'skipped in the last scan: the result is not defined' : '',
  };
}
