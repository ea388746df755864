/** The tag table of one unit runtime as its link reads it: the loaded plan, its texts, and one consistent snapshot. */
import type { WallMs } from '../../platform/base/times.js';
import { inside } from '../../platform/base/assert.js';
import { printTime } from '../../../runtime/language/time-text.js';
import type { AlarmPlan, TagPlan, UnitPlan } from '../../../runtime/port.js';
import { QUALITY, type QualityCode } from '../../../runtime/vocabulary/quality.js';
import { monotonicMs } from '../../../runtime/vocabulary/monotonic.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { sameName } from '../../../runtime/vocabulary/same-name.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import type { ScanStatistics, TagAge, TagReading } from './runtimes.js';

/** A place is asked for by whoever took it from the tags of the plan that is read. */
const PLACED = 'each tag of the plan has a place in its table';

/** Where the sample behind a tag stands in the process image of its module. */
interface Sample {
  readonly maxAgeMs: number;
  readonly image: ProcessImage;
  readonly channel: number;
}

/** Of the measured tags with a maximum age: a tag on a channel, or on the block that has it. */
function samplesOf({ tags, networks, images }: UnitPlan): Map<number, Sample> {
  return new Map(
    tags.flatMap(({ maxAgeMs, binding, network }, index) => {
      if (maxAgeMs === undefined) return [];
      const block = binding.kind === 'port' ? binding.block : '';
      const at = binding.kind === 'channel' ? binding : networks.find(({ name }) => name === network)?.channels.find((wire) => block !== '' && sameName(wire.block, block));
      const plan = at && images[at.image];
      if (!at || plan?.channels[at.channel]?.direction !== 'input') return [];
      return [[index, { maxAgeMs, image: new ProcessImage(plan.channels.length, plan.buffer), channel: at.channel }] as const];
    }),
  );
}

function ageOf({ maxAgeMs, image, channel }: Sample): TagAge {
  const isSampled = inside(image.sampledAtMs, channel, PLACED) > 0;
  return { maxAgeMs, ageMs: isSampled ? Math.max(0, Math.round(monotonicMs() - inside(image.sampledMonoMs, channel, PLACED))) : null };
}

export class TagView {
  revision = 0;
  tags: readonly TagPlan[] = [];
  #table: TagTable | undefined;
  /** Scans of each network, and their places. */
  #scans: Float64Array = new Float64Array(0);
  #networks = new Map<string, number>();
  #hashes = new Map<string, string>();
  #alarms = new Map<string, AlarmPlan>();
  #index = new Map<string, number>();
  /** Samples behind the tags with a maximum age, by the place of the tag. */
  #samples = new Map<number, Sample>();
  #values = new Float64Array(0);
  #timestamps = new Float64Array(0);
  #quality = new Uint8Array(0);
  #texts = new Map<number, string>();
  /** Of the plan before; they count until the present one has been scanned. */
  #lastStats = new Float64Array(0);
  /** The next plan is that of another worker. */
  #startsOver = false;

  /**
   * The worker now writes the table of this plan: readers move over together with its tag list. Until its first scan is
   * published, a tag shows what was last published of it: a swap between two scans is no gap (ADR 0008).
   */
  adopt(plan: UnitPlan): void {
    const goesOn = !this.#startsOver && this.refresh();
    const { length } = plan.tags;
    const [values, timestamps, quality] = [new Float64Array(length), new Float64Array(length), new Uint8Array(length)];
    for (const [index, { address, type }] of plan.tags.entries()) {
      const before = goesOn ? this.tagIndex(address) : -1;
      if (before < 0 || this.tags[before]?.type !== type) continue;
      values[index] = inside(this.#values, before, PLACED);
      timestamps[index] = inside(this.#timestamps, before, PLACED);
      quality[index] = inside(this.#quality, before, PLACED);
    }
    this.#lastStats = goesOn ? this.#stats.slice() : new Float64Array(0);
    this.#startsOver = false;
    this.tags = plan.tags;
    this.revision = plan.revision;
    this.#index = new Map(plan.tags.map((tag, index) => [tag.address, index]));
    this.#samples = samplesOf(plan);
    this.#table = new TagTable(length, plan.table);
    this.#scans = plan.scans ? new Float64Array(plan.scans) : new Float64Array(0);
    this.#networks = new Map(plan.networks.map((network, index) => [network.name, index]));
    this.#hashes = new Map(plan.networks.map(({ name, hash }) => [name, hash]));
    this.#alarms = new Map((plan.alarms ?? []).map((alarm) => [alarm.definition, alarm]));
    this.#values = values;
    this.#timestamps = timestamps;
    this.#quality = quality;
  }

  /** Another worker is started: it does not begin with what the last one published, and ids of texts count for one worker. */
  startOver(): void {
    this.#texts = new Map();
    this.#startsOver = true;
  }

  addText(id: number, text: string): void {
    this.#texts.set(id, text);
  }

  /** No value of the table has one of these ids any more, nor ever will again. */
  releaseTexts(ids: readonly number[]): void {
    for (const id of ids) this.#texts.delete(id);
  }

  tagIndex(address: string): number {
    return this.#index.get(address) ?? -1;
  }

  refresh(): boolean {
    if (!this.#table) return false;
    return !this.#table.published || this.#table.snapshot(this.#values, this.#timestamps, this.#quality);
  }

  /** With its age where the tag has a maximum. */
  reading(index: number): TagReading {
    const found = this.#reading(index);
    const sample = this.#samples.size === 0 ? undefined : this.#samples.get(index);
    return sample === undefined ? found : { ...found, age: ageOf(sample) };
  }

  #reading(index: number): TagReading {
    const tag = this.tags[index];
    const atMs = this.#timestamps[index];
    const raw = this.#values[index];
    const quality = this.#quality[index] as QualityCode;
    if (!tag || atMs === undefined || raw === undefined) throw new Error(`assertion failed: ${PLACED}`);
    if (atMs === 0) return { value: null, quality: QUALITY.Uncertain, atMs: 0 };
    switch (tag.type) {
      case 'BOOL':
        return { value: raw !== 0, quality, atMs };
      case 'STRING':
        return this.#textOf(raw, quality, atMs);
      case 'TIME':
        return { value: printTime(raw), quality, atMs };
      case 'INT':
        // a device may have more digits than a port can hold
        return Number.isSafeInteger(raw) ? { value: raw, quality, atMs } : { value: null, quality: QUALITY.Bad, atMs };
      default:
        return Number.isFinite(raw) ? { value: raw, quality, atMs } : { value: null, quality: QUALITY.Bad, atMs };
    }
  }

  /** What is not kept is no value. */
  #textOf(id: number, quality: QualityCode, atMs: WallMs): TagReading {
    const text = this.#texts.get(id);
    return text === undefined ? { value: null, quality: QUALITY.Bad, atMs } : { value: text, quality, atMs };
  }

  get #stats(): Float64Array {
    return this.#table?.published ? this.#table.stats : this.#lastStats;
  }

  statistics(): ScanStatistics {
    const stats = this.#stats;
    const at = (slot: number): number => stats[slot] ?? 0;
    return {
      scanCount: at(STAT.scanCount),
      heartbeatAtMs: at(STAT.heartbeatAtMs),
      heartbeatMonoMs: at(STAT.heartbeatMonoMs),
      lastScanUs: at(STAT.lastScanUs),
      maxScanUs: at(STAT.maxScanUs),
      latenessUs: at(STAT.latenessUs),
      maxLatenessUs: at(STAT.maxLatenessUs),
      missed: at(STAT.missed),
      overruns: at(STAT.overruns),
    };
  }

  networkScans(network: string): number {
    return this.#scans[this.#networks.get(network) ?? -1] ?? 0;
  }

  networkHash(network: string): string {
    return this.#hashes.get(network) ?? '';
  }

  alarmPlan(definition: string): AlarmPlan | undefined {
    return this.#alarms.get(definition);
  }
}
