/** Interlock bypasses in force, and the trips they let pass (D-PROG-03): the condition is still evaluated and counted. */
import { inside } from '../vocabulary/assert.js';
import { sameName } from '../vocabulary/same-name.js';
import type { Instance } from './instance.js';
import type { Memory } from './memory.js';

export interface ShadowTrip {
  readonly module: string;
  readonly block: string;
}

interface Bypass extends ShadowTrip {
  /** Slot of the block's count of shadow trips, and the count last seen. */
  readonly counter: number;
  seen: number;
}

const NO_TRIPS: readonly ShadowTrip[] = [];

const PLACED = 'a loaded network has a layout of each block, within the memory of its plan';

export class Bypasses {
  readonly #memory: Memory;
  #active: Bypass[] = [];
  #trips: ShadowTrip[] = [];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  get active(): readonly ShadowTrip[] {
    return this.#active;
  }

  /** Sets or ends the bypass of all interlocks of a network, or of the named blocks. */
  set(instance: Instance, active: boolean, blocks?: readonly string[]): void {
    const { loaded, plan } = instance;
    loaded?.linked.blocks.forEach((block, index) => {
      const { state } = inside(loaded.layout.blocks, index, PLACED);
      const flag = state.get('bypass');
      const counter = state.get('shadowTrips');
      if (flag === undefined || counter === undefined || (blocks && !blocks.some((name) => sameName(name, block.name)))) return;
      this.#memory.S[loaded.sb + flag] = active ? 1 : 0;
      this.#active = this.#active.filter((entry) => entry.module !== plan.name || entry.block !== block.name);
      if (active) this.#active.push({ module: plan.name, block: block.name, counter: loaded.sb + counter, seen: inside(this.#memory.S, loaded.sb + counter, PLACED) });
    });
  }

  /** What `watch` knows of the active ones, for a replay that goes on from here. */
  snapshot(): readonly (ShadowTrip & { readonly seen: number })[] {
    return this.#active.map(({ module, block, seen }) => ({ module, block, seen }));
  }

  /** After the same bypasses were set. */
  restore(saved: readonly (ShadowTrip & { readonly seen: number })[]): void {
    for (const entry of this.#active) entry.seen = saved.find((other) => other.module === entry.module && other.block === entry.block)?.seen ?? entry.seen;
  }

  /** Looks for new shadow trips; once per scan. */
  watch(): void {
    for (const entry of this.#active) {
      const count = inside(this.#memory.S, entry.counter, PLACED);
      if (count === entry.seen) continue;
      entry.seen = count;
      this.#trips.push({ module: entry.module, block: entry.block });
    }
  }

  takeTrips(): readonly ShadowTrip[] {
    if (this.#trips.length === 0) return NO_TRIPS;
    const trips = this.#trips;
    this.#trips = [];
    return trips;
  }
}
