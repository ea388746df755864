/** Looks at a loop after its output was set: at what has to follow, and at everything else that might. */
import type { ChannelSample } from '../../../runtime/port.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { channelsOf } from '../io-modules/channels.js';
import { IOModule } from '../io-modules/kind.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { rounded } from './judge.js';
import type { LoopChannel, LoopReading } from './kind.js';
import type { ModuleResource } from './permission.js';

/** Samples that show whether a reading stands still. */
const STILL_SAMPLES = 4;
/** A loop that is late is watched for so many times the time that is allowed. */
const LATE = 3;
const PAUSE_MS_MAX = 100;
const SAMPLES_PER_SETTLE = 10;
const BOOL_TOLERANCE = 0.25;
/** What a float32 register rounds away. */
const SINGLE = 2 ** -23;

export type Reader = Pick<LocalProbes, 'read'>;

/** What has to follow an output. */
interface Follower {
  readonly source: LoopReading['source'];
  readonly module: string;
  readonly channel: string;
  readonly gain: number;
  readonly offset: number;
  readonly tolerance: number;
}

export interface OtherReading {
  readonly value: number | null;
  readonly spread: number;
}

export interface Seen {
  readonly readings: readonly LoopReading[];
  /** By `channel` or `module:channel`. */
  readonly others: ReadonlyMap<string, OtherReading>;
}

interface ObserverParts {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly read: StoreReader;
  readonly module: ModuleResource;
  readonly neighbours: readonly string[];
  readonly settleMs: number;
  readonly tolerance: number;
}

/** The tolerance of a reading in its own unit. */
export function toleranceOf({ dataType, low, high }: LoopChannel, percent: number, gain = 1): number {
  if (dataType === 'bool') return BOOL_TOLERANCE;
  return (Math.abs(gain) * (high - low) * percent) / 100 + Math.max(Math.abs(low), Math.abs(high)) * Math.abs(gain) * SINGLE;
}

export class LoopObserver {
  readonly #parts: ObserverParts;
  readonly #site: string;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    this.#site = parts.module.metadata.site;
  }

  /** Resolves when the loop has settled or is not expected to any more; undefined when `isOver` became true. */
  async look(row: LoopChannel, commanded: number, isOver: () => boolean): Promise<Seen | undefined> {
    const { clock, settleMs } = this.#parts;
    const followers = this.#followers(row);
    const fromMs = clock.monoMs();
    const history: { readonly atMs: number; readonly values: ReadonlyMap<string, number | null> }[] = [];
    const pauseMs = Math.min(PAUSE_MS_MAX, settleMs / SAMPLES_PER_SETTLE);
    for (;;) {
      if (isOver()) return undefined;
      const values = await this.#sample(followers.map(({ module }) => module));
      const elapsedMs = clock.monoMs() - fromMs;
      history.push({ atMs: elapsedMs, values });
      if (elapsedMs >= LATE * settleMs || this.#isDecided(followers, commanded, history, elapsedMs)) break;
      await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
    }
    const last = history.slice(-STILL_SAMPLES);
    const readings = followers.map((follower) => readingOf(follower, commanded, history, this.#nameOf(follower.module, follower.channel)));
    const own = new Set(followers.map(({ module, channel }) => `${module}:${channel}`));
    const others = await this.#others(
      row,
      own,
      last.map(({ values }) => values),
    );
    return isOver() ? undefined : { readings, others };
  }

  #nameOf(module: string, channel: string): string {
    return module === this.#parts.module.metadata.name ? channel : `${module}:${channel}`;
  }

  #followers(row: LoopChannel): Follower[] {
    const { module, tolerance } = this.#parts;
    const output = channelsOf(module.spec).find(({ name }) => name === row.channel);
    const source = output !== undefined && output.readbackAddress !== '' ? ('readback' as const) : ('output' as const);
    const back = { source, module: module.metadata.name, channel: row.channel, gain: 1, offset: 0, tolerance: toleranceOf(row, tolerance) };
    if (!row.input) return [back];
    const { gain } = row.input;
    return [back, { source: 'input', ...row.input, tolerance: toleranceOf(row, tolerance, gain) }];
  }

  /** Every channel of the module, and of those that the followers are on. */
  async #sample(beside: readonly string[]): Promise<ReadonlyMap<string, number | null>> {
    const values = new Map<string, number | null>();
    for (const name of new Set([this.#parts.module.metadata.name, ...beside])) await this.#sampleOf(name, values);
    return values;
  }

  async #sampleOf(name: string, values: Map<string, number | null>): Promise<void> {
    const module = this.#parts.read.get(IOModule, this.#site, name);
    const channels = module ? channelsOf(module.spec).filter(({ dataType }) => dataType !== 'string') : [];
    const samples =
      channels.length === 0
        ? []
        : await this.#parts.reader.read(
            this.#site,
            name,
            channels.map((channel) => channel.name),
          );
    for (const [at, channel] of channels.entries()) values.set(`${name}:${channel.name}`, numberOf(samples?.[at]));
  }

  #isDecided(followers: readonly Follower[], commanded: number, history: readonly { readonly values: ReadonlyMap<string, number | null> }[], elapsedMs: number): boolean {
    if (history.length < STILL_SAMPLES) return false;
    return followers.every((follower) => {
      const key = `${follower.module}:${follower.channel}`;
      const row = history.map(({ values }) => values.get(key) ?? null);
      const last = row.slice(-STILL_SAMPLES);
      if (last.every((value) => value !== null && agrees(follower, commanded, value))) return true;
      if (elapsedMs < this.#parts.settleMs) return false;
      if (row.every((value) => value === null)) return true;
      // it has come somewhere else and stays there
      const seen = row.flatMap((value) => (value === null ? [] : [value]));
      const still = spreadOf(last) <= follower.tolerance;
      return still && spreadOf(seen) > follower.tolerance;
    });
  }

  async #others(row: LoopChannel, own: ReadonlySet<string>, last: readonly ReadonlyMap<string, number | null>[]): Promise<ReadonlyMap<string, OtherReading>> {
    const { module, neighbours } = this.#parts;
    const rows = [...last];
    if (neighbours.length > 0) {
      for (let sample = 0; sample < 2; sample += 1) {
        const values = new Map<string, number | null>();
        for (const name of neighbours) await this.#sampleOf(name, values);
        rows.push(values);
      }
    }
    const others = new Map<string, OtherReading>();
    const keys = new Set(rows.flatMap((values) => [...values.keys()]));
    for (const key of keys) {
      const [name = '', ...rest] = key.split(':');
      const channel = rest.join(':');
      if (own.has(key) || (name === module.metadata.name && channel === row.channel)) continue;
      const values = rows.flatMap((each) => (each.has(key) ? [each.get(key) ?? null] : []));
      others.set(this.#nameOf(name, channel), { value: values.at(-1) ?? null, spread: rounded(spreadOf(values)) });
    }
    return others;
  }
}

function numberOf(sample: ChannelSample | undefined): number | null {
  if (sample?.quality !== 'Good' || sample.value === null) return null;
  const number = Number(sample.value);
  return Number.isFinite(number) ? number : null;
}

function spreadOf(values: readonly (number | null)[]): number {
  const seen = values.flatMap((value) => (value === null ? [] : [value]));
  return seen.length === 0 ? 0 : Math.max(...seen) - Math.min(...seen);
}

function agrees({ gain, offset, tolerance }: Follower, commanded: number, value: number): boolean {
  return Math.abs(value - (gain * commanded + offset)) <= tolerance;
}

function readingOf(
  follower: Follower,
  commanded: number,
  history: readonly { readonly atMs: number; readonly values: ReadonlyMap<string, number | null> }[],
  name: string,
): LoopReading {
  const key = `${follower.module}:${follower.channel}`;
  const row = history.map(({ atMs, values }) => ({ atMs, value: values.get(key) ?? null }));
  const last = row.at(-1)?.value ?? null;
  const settled = last !== null && agrees(follower, commanded, last);
  const lastOff = row.findLastIndex(({ value }) => value === null || !agrees(follower, commanded, value));
  return {
    source: follower.source,
    channel: name,
    expected: rounded(follower.gain * commanded + follower.offset),
    value: last === null ? null : rounded(last),
    agrees: settled,
    settledMs: settled ? Math.round(row[lastOff + 1]?.atMs ?? 0) : null,
    spread: rounded(spreadOf(row.slice(-STILL_SAMPLES).map(({ value }) => value))),
  };
}
