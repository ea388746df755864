/**
 * What a simulated plant reads of devices (ADR 0069). A channel of a device that is not known makes unknown what rests on it: such a behaviour holds
 * its last value with quality Bad. Nothing is written that way: the simulation has no path to an output of a device.
 */

/** A module of the controller that is no simulation. */
export interface ForeignModule {
  readonly name: string;
  /** Those with a number. */
  readonly channels: readonly { readonly name: string; readonly address: string }[];
}

interface Coupled {
  readonly cell: { readonly slot: number; readonly forced: unknown };
  readonly sources: readonly number[];
}

export class Coupling {
  readonly #values: Float64Array;
  /** 1 where a value is not known; of the cells of a device as they are told, of the others as it follows. */
  readonly #blind: Uint8Array;
  readonly #slots = new Map<string, number>();
  readonly #from: number;
  /** Behaviours that rest on something that may be unknown. */
  #coupled: readonly Coupled[] = [];
  #failed: readonly number[] = [];

  /** The channels of the devices have the last slots of the values, in their order. */
  constructor(values: Float64Array, foreign: readonly ForeignModule[]) {
    this.#values = values;
    this.#blind = new Uint8Array(values.length);
    this.#from = values.length - foreign.reduce((sum, { channels }) => sum + channels.length, 0);
    let slot = this.#from;
    for (const module of foreign) {
      for (const { name, address } of module.channels) {
        for (const word of [address, name]) this.#slots.set(`${module.name}/${word}`, slot);
        this.#blind[slot] = 1;
        slot += 1;
      }
    }
  }

  slot(module: string, channel: string): number | undefined {
    return this.#slots.get(`${module}/${channel}`);
  }

  /** Once per configuration: what may become unknown. Cells of a module that is Failed stay so. */
  couple(behaviors: readonly Coupled[], failed: readonly { readonly slot: number }[]): void {
    this.#failed = failed.map(({ slot }) => slot);
    const reached = new Set([...this.#slots.values(), ...this.#failed]);
    let isGrowing = reached.size > 0;
    while (isGrowing) {
      isGrowing = false;
      for (const { cell, sources } of behaviors) {
        if (reached.has(cell.slot) || !sources.some((slot) => reached.has(slot))) continue;
        reached.add(cell.slot);
        isGrowing = true;
      }
    }
    this.#coupled = behaviors.filter(({ sources }) => sources.some((slot) => reached.has(slot)));
    for (const slot of this.#failed) this.#blind[slot] = 1;
  }

  /** Before a tick: what a device says. A value that is not known leaves the last one. */
  tell(slot: number, value: number, isKnown: boolean): void {
    this.#blind[slot] = isKnown ? 0 : 1;
    if (isKnown) this.#values[slot] = value;
  }

  /** Once per tick: what follows from what is not known. A forced cell is known, whatever stands behind it. */
  spread(): void {
    const blind = this.#blind;
    const coupled = this.#coupled;
    for (let n = 0; n < coupled.length; n += 1) blind[(coupled[n] as Coupled).cell.slot] = 0;
    let isSpreading = coupled.length > 0;
    while (isSpreading) {
      isSpreading = false;
      for (let n = 0; n < coupled.length; n += 1) {
        const { cell, sources } = coupled[n] as Coupled;
        if (blind[cell.slot] === 1 || cell.forced !== undefined || !this.isBlind(sources)) continue;
        blind[cell.slot] = 1;
        isSpreading = true;
      }
    }
  }

  /** Whether one of these is not known. */
  isBlind(sources: readonly number[]): boolean {
    for (let n = 0; n < sources.length; n += 1) if (this.#blind[sources[n] as number] === 1) return true;
    return false;
  }

  /** The channels of devices, of those that are not known, from which it follows that this behaviour holds. */
  unknownBehind(behavior: Coupled): readonly string[] {
    const seen = new Set<number>();
    const open = [...behavior.sources];
    for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
      if (seen.has(slot) || this.#blind[slot] !== 1) continue;
      seen.add(slot);
      open.push(...this.#coupled.filter(({ cell }) => cell.slot === slot).flatMap(({ sources }) => sources));
    }
    const named = new Map([...this.#slots].map(([name, slot]) => [slot, name]));
    return [...seen].flatMap((slot) => named.get(slot) ?? []);
  }
}
