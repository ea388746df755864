/** What a new plan keeps of the old one: the state of every block whose name and type are unchanged (Q-PROG-03). */
import { inside } from '../vocabulary/assert.js';
import type { Instance, LoadedNetwork } from './instance.js';
import type { LinkedBlock } from './link.js';
import type { BlockLayout } from './compile.js';
import type { Memory } from './memory.js';

interface Side {
  readonly memory: Memory;
  readonly loaded: LoadedNetwork;
}

const PLACED = 'a loaded network has a slot for each block, port and state word, within the memory of its plan';
const OWN_PORTS = 'a block that is retuned asks for ports of its own row';

/** Copies state, outputs, written inputs and delay lines of the unchanged blocks of one network. */
export function takeOverNetwork(now: { memory: Memory; instance: Instance }, before: { memory: Memory; instance: Instance }, number: (value: number | string) => number): void {
  const target = now.instance.loaded;
  const source = before.instance.loaded;
  if (!target || !source) return;
  if (target.run && source.run && source.run.periodMs === target.run.periodMs && source.run.scanCount > 0) {
    // the unit may come round more often now than before, while the period of the network is what it was
    const since = Math.floor((source.run.since * target.run.every) / source.run.every);
    target.run.since = Math.max(target.run.since, since);
    target.run.scanCount = Math.max(target.run.scanCount, source.run.scanCount);
  }
  const names = new Map(source.linked.blocks.map((block, index) => [block.name, index]));
  target.linked.blocks.forEach((block, index) => {
    const twin = names.get(block.name);
    if (twin === undefined || inside(source.linked.blocks, twin, PLACED).type !== block.type) return;
    takeOverBlock({ memory: now.memory, loaded: target }, index, { memory: before.memory, loaded: source }, twin, number);
  });
}

function takeOverBlock(now: Side, index: number, before: Side, twin: number, number: (value: number | string) => number): void {
  const block = inside(now.loaded.linked.blocks, index, PLACED);
  const old = inside(before.loaded.linked.blocks, twin, PLACED);
  const at = inside(now.loaded.layout.blocks, index, PLACED);
  const from = inside(before.loaded.layout.blocks, twin, PLACED);
  const { sb } = now.loaded;
  const oldSb = before.loaded.sb;
  if (takeOverAux(now, block, at, before, old, from)) {
    for (const [name, slot] of at.state) {
      const source = from.state.get(name);
      if (source !== undefined && !block.type.caches.includes(name)) now.memory.S[sb + slot] = inside(before.memory.S, oldSb + source, PLACED);
    }
  }
  at.outputs.forEach((slot, n) => {
    if (block.outputs[n] !== old.outputs[n]) return;
    const source = oldSb + inside(from.outputs, n, PLACED);
    now.memory.S[sb + slot] = inside(before.memory.S, source, PLACED);
    now.memory.Q[sb + slot] = inside(before.memory.Q, source, PLACED);
  });
  block.inputs.forEach((input, n) => {
    const was = inside(old.inputs, n, PLACED);
    if (input.feed.kind !== 'own' || was.feed.kind !== 'own' || input.type !== was.type) return;
    const slot = oldSb + inside(from.inputs, n, PLACED);
    const value = inside(before.memory.S, slot, PLACED);
    // A value the block wrote itself differs from the constant it was loaded with.
    if (before.memory.written[slot] === 0 && value === number(was.feed.value)) return;
    const target = sb + inside(at.inputs, n, PLACED);
    now.memory.S[target] = value;
    now.memory.written[target] = inside(before.memory.written, slot, PLACED);
  });
  if (block.type.retuned && !block.params.every((value, n) => Object.is(value, old.params[n]))) retune(now, block, at, before, old, from);
}

/** Other parameters must not make an output jump (D-C-13): the block says which state goes with them. */
function retune(now: Side, block: LinkedBlock, at: BlockLayout, before: Side, old: LinkedBlock, from: BlockLayout): void {
  const { type } = old;
  const last = (slot: number): number => inside(before.memory.S, before.loaded.sb + slot, PLACED);
  const named = ({ params }: LinkedBlock): Record<string, number> => Object.fromEntries(type.params.map(({ name }, n) => [name, Number(params[n])]));
  const state = block.type.retuned?.({
    before: named(old),
    after: named(block),
    state(word) {
      const slot = from.state.get(word);
      return slot === undefined ? 0 : last(slot);
    },
    port(name) {
      const output = type.outputs.findIndex((port) => port.name === name);
      if (output >= 0) return last(inside(from.outputs, output, PLACED));
      const input = type.inputs.findIndex((port) => port.name === name);
      const { feed } = inside(old.inputs, input, OWN_PORTS);
      const slot = inside(from.inputs, input, PLACED);
      return slot < 0 && feed.kind === 'constant' ? Number(feed.value) : last(slot);
    },
  });
  for (const [word, value] of Object.entries(state ?? {})) {
    const slot = at.state.get(word);
    if (slot !== undefined && Number.isFinite(value)) now.memory.S[now.loaded.sb + slot] = value;
  }
}

/** Where the memory of past values of a block begins within its plan. */
function auxStart({ memory, loaded }: Side, { aux }: BlockLayout): number {
  return inside(memory.P, loaded.pb + aux, PLACED) - memory.auxFrom;
}

/** A delay line whose length changed starts anew, and with it the state that points into it. Tables belong to the plan. */
function takeOverAux(now: Side, block: LinkedBlock, at: BlockLayout, before: Side, old: LinkedBlock, from: BlockLayout): boolean {
  if (!block.type.aux || block.type.aux.fill) return true;
  if (block.auxLength !== old.auxLength) return false;
  const start = auxStart(before, from);
  now.memory.X.set(before.memory.X.subarray(start, start + block.auxLength), auxStart(now, at));
  return true;
}
