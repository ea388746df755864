/** Watches the outputs of the alarm blocks of one unit: an alarm comes when one becomes TRUE. */
import { inside } from '../vocabulary/assert.js';
import type { Instance } from '../network/instance.js';
import type { NetworkSet } from '../network/network-set.js';
import type { RehearsalAlarm } from '../port.js';

interface Watched {
  readonly source: string;
  readonly output: string;
  readonly slot: number;
  active: boolean;
}

/** Sums up the outputs beside it. */
const SUMMARY = 'ANY';

export class AlarmBlocks {
  readonly #unit: string;
  readonly #networks: NetworkSet;
  readonly #watched: readonly Watched[];

  constructor(unit: string, networks: NetworkSet) {
    this.#unit = unit;
    this.#networks = networks;
    this.#watched = networks.instances.flatMap(watchedOf);
  }

  /** After a scan. */
  look(atMs: number, raised: RehearsalAlarm[]): void {
    const { S } = this.#networks.memory;
    for (const watched of this.#watched) {
      const active = S[watched.slot] !== 0;
      if (active && !watched.active) raised.push({ source: watched.source, unit: this.#unit, output: watched.output, atMs });
      watched.active = active;
    }
  }
}

const LAID_OUT = 'a loaded network has a layout of each block, and it a slot of each output';

function watchedOf({ plan, loaded }: Instance): Watched[] {
  if (!loaded) return [];
  const { linked, layout, sb } = loaded;
  return linked.blocks.flatMap(({ name, type, outputs }, index) => {
    if (type.family !== 'alarms') return [];
    return type.outputs.flatMap((port, n) => {
      const slot = inside(inside(layout.blocks, index, LAID_OUT).outputs, n, LAID_OUT);
      if (outputs[n] !== 'BOOL' || port.name === SUMMARY || slot < 0) return [];
      return [{ source: `${plan.name}.${name}`, output: port.name, slot: sb + slot, active: false }];
    });
  });
}
