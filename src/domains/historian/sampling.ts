/**
 * What the historian records (decisions 8.9): every tag of every unit runtime, every change of state, every alarm
 * transition. Reads the tag tables that the scans publish; nobody waits for it.
 */
import type { WallMs } from '../../platform/base/times.js';
import { parseTimeText } from '../../../runtime/language/time-text.js';
import { type DataType, tagType, type Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import { guarded, guardedPromise } from '../../platform/base/guarded.js';
import { type History, openHistory } from '../../platform/history/history.js';
import { type SampledTag, Sampler, type SampleReading, type SampleSource } from '../../platform/history/sampler.js';
import type { Gap } from '../../platform/history/words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { Unit } from '../plant/kind.js';
import { Phase } from '../procedures/kind.js';

const PASS_MS = 200; // as often as tags are published (contract 2, Limits)

export interface HistorianSettings {
  readonly historianIntervalMinMs: number;
  readonly historianFlushIntervalMs: number;
  readonly historianRetentionMs: number;
  readonly historianBytesMax: number;
}

/** Opens `<dataDir>/historian.db` with the quality words of the plant. */
export function openHistorian(
  dataDir: string,
  settings: HistorianSettings,
  died?: (name: string, fault: string) => void,
  store?: Pick<Store, 'list' | 'recorded'>,
): Promise<History> {
  return openHistory(dataDir, {
    flushIntervalMs: settings.historianFlushIntervalMs,
    retentionMs: settings.historianRetentionMs,
    bytesMax: settings.historianBytesMax,
    qualityWords: QUALITY_WORDS,
    died,
    ...(store ? { recorded: () => store.recorded } : {}),
    // one that was killed before its first samples were on disk has a gap from its beginning
    units: store?.list(Unit).map(({ metadata }) => ({ site: metadata.site, unit: metadata.name, sinceMs: Date.parse(metadata.createdAt) })) ?? [],
  });
}

/** A change of state as the states channel tells it. */
export interface StateChange {
  readonly site: string;
  readonly kind: string;
  readonly name: string;
  readonly unit?: string;
  readonly batchRef?: string;
  readonly state: string;
  readonly previousState: string;
  readonly ts: string;
  readonly cause?: string;
  readonly actor?: string;
  /** Found so when the recording began: no change of now. */
  readonly found?: boolean;
}

/**
 * Listener that keeps `{site, ts, kind, name, unit, from, to, cause, actor, batchID}` of every change of state, and of a phase
 * its template: phases go with their batch, and an arming gate is on a template. What the
 * channel announces at start as the present state of older things, with nothing before it, is no change; and one that the
 * disk refused is none either: the store has taken it back.
 */
export function stateRecorder(history: Pick<History, 'recordState'>, store: StoreReader, startedAtMs = 0): (change: StateChange, durable: Promise<void>) => void {
  return ({ site, kind, name, unit = '', batchRef = '', state, previousState, ts, cause = '', actor = '', found = false }, durable) => {
    if (found && Date.parse(ts) < startedAtMs) return;
    const batchID = batchRef === '' ? '' : (store.get(Batch, site, batchRef)?.spec.batchID ?? batchRef);
    const body = { site, ts, kind, name, unit, from: previousState, to: state, cause, actor, batchID, ...templateOf(store, site, kind, name) };
    guardedPromise('historian: state of an element', () =>
      durable.then(
        () => history.recordState({ atMs: Date.parse(ts), site, unit, body }),
        () => undefined,
      ),
    );
  };
}

function templateOf(store: StoreReader, site: string, kind: string, name: string): { readonly templateRef?: string } {
  const phase = kind === Phase.kind ? store.get(Phase, site, name) : undefined;
  return phase ? { templateRef: phase.spec.templateRef } : {};
}

/** An AlarmEvent as it is served (decisions Q-ALARM-07). */
export interface AlarmEventBody {
  readonly timestamp: string;
  readonly site: string;
  readonly unit: string;
}

export function alarmRecorder(history: Pick<History, 'recordAlarm'>): (event: AlarmEventBody) => void {
  return (event) => history.recordAlarm({ atMs: Date.parse(event.timestamp), site: event.site, unit: event.unit, body: { ...event } });
}

/** The running unit as the historian reads it. */
export interface SampledUnit {
  readonly site: string;
  readonly unit: string;
  readonly ready: boolean;
  readonly tags: readonly { readonly address: string; readonly name: string; readonly type: DataType; readonly engMin?: number; readonly engMax?: number }[];
  refresh(): boolean;
  reading(index: number): { readonly value: Value; readonly quality: number; readonly atMs: WallMs };
}

export interface SampledUnits {
  /** The same list until one comes or goes. */
  links(): readonly SampledUnit[];
  onChange(listener: (link: SampledUnit, what: 'ready' | 'down' | 'plan') => void): void;
}

/** Samples every unit until the returned function is called. */
export function sampleTags(deps: { readonly history: History; readonly runtimes: SampledUnits; readonly clock: Clock; readonly intervalMinMs: number }): () => void {
  const { history, runtimes, clock } = deps;
  const sampler = new Sampler(history, clock, deps.intervalMinMs);
  const downSince = new Map<SampledUnit, { readonly fromMs: WallMs; readonly since: Stopwatch }>();
  /** By unit. */
  const sampled = new Map<string, SampledUnit>();
  const place = (link: SampledUnit): void => {
    sampled.set(`${link.site}/${link.unit}`, link);
    sampler.place(sourceOf(link));
  };
  const remove = ({ site, unit }: SampledUnit): void => {
    sampled.delete(`${site}/${unit}`);
    sampler.remove(site, unit);
  };
  /** A unit that was taken away is not down: its link goes without a word, and its table says for ever what it said last. */
  let links: readonly SampledUnit[] | undefined;
  const removeGone = (): void => {
    if (runtimes.links() === links) return;
    links = runtimes.links();
    const present = new Set(links);
    for (const link of sampled.values()) if (!present.has(link)) remove(link);
    for (const link of downSince.keys()) if (!present.has(link)) downSince.delete(link);
  };
  for (const link of runtimes.links()) if (link.ready) place(link);
  runtimes.onChange((link, what) => {
    if (what === 'down') {
      remove(link);
      downSince.set(link, { fromMs: clock.wallMs(), since: new Stopwatch(clock) });
      return;
    }
    place(link);
    const down = downSince.get(link);
    if (down === undefined) return;
    downSince.delete(link);
    history.recordGap({ site: link.site, unit: link.unit, address: '', ...gapOf(down, clock.wallMs()), cause: 'RuntimeRestart' });
  });
  let cancel = (): void => undefined;
  const pass = (): void => {
    guarded('historian: pass of the sampler', () => {
      removeGone();
      sampler.pass();
    });
    cancel = clock.after(PASS_MS, pass);
  };
  cancel = clock.after(PASS_MS, pass);
  return () => cancel();
}

/** What a time server does to a clock that is right is less. */
const CLOCK_SET_MS = 1000;

/**
 * A gap is as long as it took. Where the clock was set meanwhile it is told in the clock of before: between what both clocks said
 * other samples lie, and those that come by the new clock may run into it.
 */
function gapOf({ fromMs, since }: { readonly fromMs: WallMs; readonly since: Stopwatch }, nowMs: WallMs): Pick<Gap, 'fromMs' | 'toMs' | 'bounds'> {
  const dueMs = fromMs + since.elapsedMs;
  const isSet = Math.abs(nowMs - dueMs) > CLOCK_SET_MS;
  return isSet ? { fromMs, toMs: Math.round(dueMs), bounds: 'Overlapping' } : { fromMs, toMs: Math.max(fromMs, nowMs), bounds: 'Containing' };
}

function sourceOf(link: SampledUnit): SampleSource {
  const tags = link.tags.map(
    ({ address, name, type, engMin, engMax }): SampledTag => ({
      site: link.site,
      unit: link.unit,
      address,
      tag: name,
      dataType: tagType(type) ?? 'Float',
      range: engMin !== undefined && engMax !== undefined ? Math.max(0, engMax - engMin) : 0,
    }),
  );
  const kinds = link.tags.map((tag) => tag.type);
  return {
    site: link.site,
    unit: link.unit,
    tags,
    refresh: () => link.refresh(),
    reading(index): SampleReading {
      const { value, quality, atMs } = link.reading(index);
      const kind = kinds[index];
      if (kind === undefined) throw new Error('assertion failed: a tag that is sampled is one of the plan');
      return { value: sampleValue(kind, value), quality, atMs };
    },
  };
}

/** Numbers for everything but text; whole numbers beyond 2^53 are served as text and kept as the nearest number. */
function sampleValue(type: DataType, value: Value): SampleReading['value'] {
  if (typeof value !== 'string' || type === 'STRING') return value;
  return type === 'TIME' ? parseTimeText(value) : Number(value);
}
