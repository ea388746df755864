/**
 * What a pass between two scans sees of the tags that alarms are defined on: a device channel as its image holds it now,
 * everything else as the last scan has left it.
 *
 * Invariant: it has arrays of its own, so neither the networks nor the charts nor a replay of the scans can tell that there
 * was a pass. Nothing is allocated once it is made.
 */
import type { MonoMs } from '../vocabulary/times.js';
import { IoLink } from '../network/io-link.js';
import type { NetworkSet } from '../network/network-set.js';
import type { UnitPlan } from '../port.js';
import { assert } from '../vocabulary/assert.js';
import type { AlarmReadings } from '../vocabulary/alarm-set.js';

export class AlarmImage implements AlarmReadings {
  readonly values: Float64Array;
  readonly quality: Uint8Array;
  /** Indexes of the tags that alarms are defined on, each once. */
  readonly tags: Int32Array;
  readonly #stale: Uint8Array;
  readonly #networks: NetworkSet;
  readonly #io: IoLink;

  constructor(plan: UnitPlan, networks: NetworkSet) {
    const channels = networks.io.none + 1;
    this.values = new Float64Array(plan.tags.length).fill(Number.NaN);
    this.quality = new Uint8Array(plan.tags.length);
    this.tags = Int32Array.from(new Set((plan.alarms ?? []).map(({ tag }) => tag)));
    assert(
      this.tags.every((tag) => tag >= 0 && tag < plan.tags.length),
      'an alarm is defined on a tag of the plan',
    );
    this.#stale = new Uint8Array(plan.tags.length);
    this.#networks = networks;
    this.#io = new IoLink(plan.images, {
      value: new Float64Array(channels),
      quality: new Uint8Array(channels),
      ack: new Float64Array(channels),
      readback: new Float64Array(channels),
    });
    networks.setAges(this.#io);
  }

  /** `values`, `quality`: what the last scan has published. */
  latch(values: Float64Array, quality: Uint8Array, monoMs: MonoMs): void {
    assert(values.length === this.values.length && quality.length === this.quality.length, 'what the last scan has published is of the same plan');
    this.#io.latchBeside(this.#networks.io, monoMs);
    for (let n = 0; n < this.tags.length; n += 1) {
      const tag = this.tags[n] as number;
      this.values[tag] = values[tag] as number;
      this.quality[tag] = quality[tag] as number;
      this.#stale[tag] = this.#networks.stale(tag) ? 1 : 0;
      const channel = this.#networks.channelOf(tag);
      if (channel < 0) continue;
      this.values[tag] = this.#io.value[channel] as number;
      this.quality[tag] = this.#networks.qualityThrough(tag, this.#io.quality[channel] as number);
      this.#stale[tag] = this.#networks.isOlder(tag, this.#io) ? 1 : 0; // what its module allows is judged with its quality
    }
  }

  /** A replay: what a pass saw then. */
  set(tag: number, value: number, quality: number, stale: boolean): void {
    this.values[tag] = value;
    this.quality[tag] = quality;
    this.#stale[tag] = stale ? 1 : 0;
  }

  stale(tag: number): boolean {
    return this.#stale[tag] !== 0;
  }
}
