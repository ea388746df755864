/** Ports of the networks of a unit by name, `<network>.<block>.<port>`, for reading their values in a replay. */
import { inside } from '../vocabulary/assert.js';
import { showNumber } from '../network/constants.js';
import type { Instance, LoadedNetwork } from '../network/instance.js';
import type { NetworkSet } from '../network/network-set.js';
import type { TextTable } from '../network/texts.js';
import type { ReplayPort } from '../port.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import { QUALITY, qualityWord } from '../vocabulary/quality.js';

export interface PortReading {
  readonly value: Value;
  readonly quality: string;
}

interface Place extends ReplayPort {
  /** Slot in the memory; -1 for a constant. */
  readonly slot: number;
  readonly constant?: number | string;
}

const PLACED = 'a loaded network has a place for each port of its blocks';

/** Ports of one plan; made anew after a hot swap. */
export class Ports {
  readonly #networks: NetworkSet;
  readonly #texts: TextTable;
  readonly #places: ReadonlyMap<string, Place>;

  constructor(networks: NetworkSet, texts: TextTable) {
    this.#networks = networks;
    this.#texts = texts;
    this.#places = new Map(networks.instances.flatMap(placesOf).map((place) => [place.name.toLowerCase(), place]));
  }

  list(): ReplayPort[] {
    return [...this.#places.values()].map(({ name, type }) => ({ name, type }));
  }

  has(name: string): boolean {
    return this.#places.has(name.toLowerCase()) || this.#networks.slot(name) >= 0;
  }

  /** A port, or a tag by its address; undefined while the plan has none of the name. */
  read(name: string): PortReading | undefined {
    const place = this.#places.get(name.toLowerCase());
    if (place) return this.#readPlace(place);
    const tag = this.#networks.slot(name);
    return tag < 0 ? undefined : { value: this.#networks.read(tag), quality: qualityWord(this.#networks.quality(tag)) };
  }

  #readPlace({ slot, type, constant }: Place): PortReading {
    const { S, Q } = this.#networks.memory;
    if (slot >= 0) return { value: showNumber(type, inside(S, slot, PLACED), (id) => this.#texts.text(id)), quality: qualityWord(inside(Q, slot, PLACED)) };
    const value = typeof constant === 'number' ? showNumber(type, constant, (id) => this.#texts.text(id)) : (constant ?? null);
    return { value, quality: qualityWord(QUALITY.Good) };
  }
}

function placesOf({ plan, loaded }: Instance): Place[] {
  if (!loaded) return [];
  return loaded.linked.order.flatMap((index) => placesOfBlock(plan.name, loaded, index));
}

function placesOfBlock(network: string, { linked, layout, sb }: LoadedNetwork, index: number): Place[] {
  const block = inside(linked.blocks, index, PLACED);
  const places = inside(layout.blocks, index, PLACED);
  const name = (port: string): string => `${network}.${block.name}.${port}`;
  const place = (port: string, type: DataType, slot: number): Place => ({ name: name(port), type, slot: slot < 0 ? -1 : sb + slot });
  const inputs = block.inputs.flatMap((input, n) => {
    if (input.port.optional && !input.used) return [];
    const { feed, type, port } = input;
    return [{ ...place(port.name, type, inside(places.inputs, n, PLACED)), ...(feed.kind === 'constant' && { constant: feed.value }) }];
  });
  const outputs = block.type.outputs.map((port, n) => place(port.name, inside(block.outputs, n, PLACED), inside(places.outputs, n, PLACED)));
  return [...inputs, ...outputs];
}
