/** Values that survive a restart: blocks marked so, and what was written through tags (decisions 3.8, 5.1 rule 8). */
import { inside } from '../vocabulary/assert.js';
import type { RetainedNetwork } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import { readWritten, showNumber } from './constants.js';
import { sameName } from '../vocabulary/same-name.js';
import type { Instance, RetainedSlot } from './instance.js';
import type { TagSlot } from './tag-slots.js';
import type { TextTable } from './texts.js';
import type { Memory } from './memory.js';

const PLACED = 'a loaded network has a slot for each block, port and variable, within the memory of its plan';

/** The member of a record that has it itself: `constructor` and its like are names too. */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}

function made<T>(map: Map<string, T>, name: string, make: () => T): T {
  const known = map.get(name);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(name, fresh);
  return fresh;
}

/** Names are those of users: to an assignment `__proto__` is none of a member. */
function tell<T>(record: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}

/** The retained values of a block; of variables and stored tags, which have none, under the empty name. */
interface BlockSlots {
  readonly block: string;
  readonly slots: RetainedSlot[];
}

interface NetworkSlots {
  readonly network: string;
  readonly blocks: readonly BlockSlots[];
}

export class RetainedValues {
  readonly #memory: Memory;
  readonly #texts: TextTable;
  readonly #text = (id: number): string => this.#texts.text(id);
  readonly #hashes: ReadonlyMap<string, string>;
  readonly #networks: readonly NetworkSlots[];
  /** The slots of all networks, one network and one block behind the other. */
  readonly #slots: readonly RetainedSlot[];
  #saved: Float64Array;

  constructor(memory: Memory, instances: readonly Instance[], tags: readonly TagSlot[], texts: TextTable) {
    this.#memory = memory;
    this.#texts = texts;
    this.#hashes = new Map(instances.map(({ plan }) => [plan.name, plan.hash]));
    const grouped = new Map<string, Map<string, RetainedSlot[]>>();
    for (const entry of [...instances.flatMap(networkSlots), ...tags.flatMap(storedSlot)]) {
      made(
        made(grouped, entry.network, () => new Map<string, RetainedSlot[]>()),
        entry.block,
        () => [],
      ).push(entry);
    }
    this.#networks = [...grouped].map(([network, blocks]) => ({ network, blocks: [...blocks].map(([block, slots]) => ({ block, slots })) }));
    this.#slots = this.#networks.flatMap(({ blocks }) => blocks.flatMap((block) => block.slots));
    this.#saved = new Float64Array(this.#slots.length);
  }

  /** Takes back what an earlier epoch saved under the same hash. */
  restore(networks: Readonly<Record<string, RetainedNetwork>>): void {
    for (const entry of this.#slots) {
      const network = own(networks, entry.network);
      const hash = this.#hashes.get(entry.network);
      if (!network || (hash !== undefined && network.hash !== hash)) continue;
      const value = own(own(network.blocks, entry.block), entry.name);
      const number = value === undefined ? undefined : readWritten(entry.type, value, this.#texts);
      if (number === undefined) continue;
      this.#memory.S[entry.slot] = number;
      if (entry.onlyWritten) this.#memory.written[entry.slot] = 1;
    }
  }

  /** Counts the present values as saved, except those of `renewed` networks, whose hash nobody has values for yet. */
  settle(renewed: ReadonlySet<string>): void {
    this.#saved = Float64Array.from(this.#slots, (entry) => (renewed.has(entry.network) ? Number.NaN : inside(this.#memory.S, entry.slot, PLACED)));
  }

  /** Networks with a value that changed since the last call, each with all its values; undefined when there is none. */
  save(): Readonly<Record<string, RetainedNetwork>> | undefined {
    let saved: Record<string, RetainedNetwork> | undefined;
    let from = 0;
    for (const { network, blocks } of this.#networks) {
      let changed = false;
      for (const { slots } of blocks) {
        if (this.#note(slots, from)) changed = true;
        from += slots.length;
      }
      if (!changed) continue;
      saved ??= {};
      const values = this.#collect(blocks);
      if (values) tell(saved, network, { hash: this.#hashes.get(network) ?? '', blocks: values });
    }
    return saved;
  }

  /** Whether a value of the slots, of which the first has this number, is another one than was saved; it counts as saved now. */
  #note(slots: readonly RetainedSlot[], from: number): boolean {
    const { S } = this.#memory;
    const saved = this.#saved;
    let changed = false;
    for (let n = 0; n < slots.length; n += 1) {
      const value = S[(slots[n] as RetainedSlot).slot] as number;
      if (value === saved[from + n]) continue;
      saved[from + n] = value;
      changed = true;
    }
    return changed;
  }

  #collect(blocks: readonly BlockSlots[]): RetainedNetwork['blocks'] | undefined {
    const { S, written } = this.#memory;
    let told: Record<string, Record<string, Value>> | undefined;
    for (const { block, slots } of blocks) {
      let values: Record<string, Value> | undefined;
      for (const { name, slot, type, onlyWritten } of slots) {
        if (onlyWritten && written[slot] === 0) continue;
        values ??= {};
        tell(values, name, showNumber(type, inside(S, slot, PLACED), this.#text));
      }
      if (!values) continue;
      told ??= {};
      tell(told, block, values);
    }
    return told;
  }
}

function networkSlots({ loaded, plan }: Instance): RetainedSlot[] {
  if (!loaded) return [];
  const { linked, layout, sb } = loaded;
  const network = plan.name;
  const blocks = linked.blocks.flatMap((block, index) => {
    const at = inside(layout.blocks, index, PLACED);
    const { retained } = block.type;
    const inputs = block.inputs.flatMap(({ feed, port, type }, n) =>
      feed.kind === 'own' ? [{ network, block: block.name, name: port.name, slot: sb + inside(at.inputs, n, PLACED), type, onlyWritten: !retained.includes(port.name) }] : [],
    );
    const state = retained.flatMap((name) => {
      const slot = at.state.get(name);
      return slot === undefined ? [] : [{ network, block: block.name, name, slot: sb + slot, type: 'REAL' as const, onlyWritten: false }];
    });
    return [...inputs, ...state];
  });
  const variables = linked.variables.flatMap((variable, index) => {
    const source = plan.inputs.find((entry) => sameName(entry.variable, variable.name))?.tag;
    const slot = inside(layout.variables, index, PLACED);
    if (variable.direction !== 'input' || source !== undefined || slot < 0) return [];
    return [{ network, block: '', name: variable.name, slot: sb + slot, type: variable.type, onlyWritten: true }];
  });
  return [...blocks, ...variables];
}

function storedSlot({ plan, slot, type }: TagSlot): RetainedSlot[] {
  return plan.binding.kind === 'stored' ? [{ network: plan.network, block: '', name: plan.name, slot, type, onlyWritten: true }] : [];
}
