/** Values that survive a restart: blocks marked so, and what was written through tags (decisions 3.8, 5.1 rule 8). */
import type { RetainedNetwork } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import { readWritten, showNumber } from './constants.js';
import { sameName } from './expand.js';
import type { Instance, Memory, RetainedSlot } from './instance.js';
import type { TagSlot } from './tag-slots.js';
import type { TextTable } from './texts.js';

export class RetainedValues {
  readonly #memory: Memory;
  readonly #texts: TextTable;
  readonly #hashes: ReadonlyMap<string, string>;
  readonly #slots: readonly RetainedSlot[];
  #saved: Float64Array;

  constructor(memory: Memory, instances: readonly Instance[], tags: readonly TagSlot[], texts: TextTable) {
    this.#memory = memory;
    this.#texts = texts;
    this.#hashes = new Map(instances.map(({ plan }) => [plan.name, plan.hash]));
    this.#slots = [...instances.flatMap(networkSlots), ...tags.flatMap(storedSlot)];
    this.#saved = new Float64Array(this.#slots.length);
  }

  /** Takes back what an earlier epoch saved under the same hash. */
  restore(networks: Readonly<Record<string, RetainedNetwork>>): void {
    for (const entry of this.#slots) {
      const network = networks[entry.network];
      const hash = this.#hashes.get(entry.network);
      if (!network || (hash !== undefined && network.hash !== hash)) continue;
      const value = network.blocks[entry.block]?.[entry.name];
      const number = value === undefined ? undefined : readWritten(entry.type, value, this.#texts);
      if (number === undefined) continue;
      this.#memory.S[entry.slot] = number;
      if (entry.onlyWritten) this.#memory.written[entry.slot] = 1;
    }
  }

  /** Counts the present values as saved, except those of `renewed` networks, whose hash nobody has values for yet. */
  settle(renewed: ReadonlySet<string>): void {
    this.#saved = Float64Array.from(this.#slots, (entry) => (renewed.has(entry.network) ? Number.NaN : this.#memory.S[entry.slot]));
  }

  /** Networks with a value that changed since the last call, each with all its values; undefined when there is none. */
  save(): Readonly<Record<string, RetainedNetwork>> | undefined {
    let changed: Set<string> | undefined;
    for (let n = 0; n < this.#slots.length; n += 1) {
      const value = this.#memory.S[this.#slots[n].slot];
      if (value === this.#saved[n]) continue;
      this.#saved[n] = value;
      changed ??= new Set();
      changed.add(this.#slots[n].network);
    }
    return changed && this.#collect(changed);
  }

  #collect(networks: ReadonlySet<string>): Readonly<Record<string, RetainedNetwork>> {
    const saved: Record<string, { hash: string; blocks: Record<string, Record<string, Value>> }> = {};
    for (const { network, block, name, slot, type, onlyWritten } of this.#slots) {
      if (!networks.has(network) || (onlyWritten && this.#memory.written[slot] === 0)) continue;
      saved[network] ??= { hash: this.#hashes.get(network) ?? '', blocks: {} };
      saved[network].blocks[block] ??= {};
      saved[network].blocks[block][name] = showNumber(type, this.#memory.S[slot], (id) => this.#texts.text(id));
    }
    return saved;
  }
}

function networkSlots({ loaded, plan }: Instance): RetainedSlot[] {
  if (!loaded) return [];
  const { linked, layout, sb } = loaded;
  const network = plan.name;
  const blocks = linked.blocks.flatMap((block, index) => {
    const at = layout.blocks[index];
    const { retained } = block.type;
    const inputs = block.inputs.flatMap(({ feed, port, type }, n) =>
      feed.kind === 'own' ? [{ network, block: block.name, name: port.name, slot: sb + at.inputs[n], type, onlyWritten: !retained.includes(port.name) }] : [],
    );
    const state = retained.flatMap((name) => {
      const slot = at.state.get(name);
      return slot === undefined ? [] : [{ network, block: block.name, name, slot: sb + slot, type: 'REAL' as const, onlyWritten: false }];
    });
    return [...inputs, ...state];
  });
  const variables = linked.variables.flatMap((variable, index) => {
    const source = plan.inputs.find((entry) => sameName(entry.variable, variable.name))?.tag;
    if (variable.direction !== 'input' || source !== undefined || layout.variables[index] < 0) return [];
    return [{ network, block: '', name: variable.name, slot: sb + layout.variables[index], type: variable.type, onlyWritten: true }];
  });
  return [...blocks, ...variables];
}

function storedSlot({ plan, slot, type }: TagSlot): RetainedSlot[] {
  return plan.binding.kind === 'stored' ? [{ network: plan.network, block: '', name: plan.name, slot, type, onlyWritten: true }] : [];
}
