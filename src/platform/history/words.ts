/** The words of the historian (decisions 8.9), shared by its thread and the gateway. */
import type { WallMs } from '../base/times.js';

export const HISTORY_DATA_TYPES = ['Boolean', 'Integer', 'Float', 'String', 'Time'] as const;
export type HistoryDataType = (typeof HISTORY_DATA_TYPES)[number];

export interface TagIdentity {
  readonly site: string;
  readonly unit: string;
  /** `<controlModule>.<tag>` or `<program>.<variable>`. */
  readonly address: string;
  readonly tag: string;
  readonly dataType: HistoryDataType;
}

/** A query over the whole retention takes seconds; the caller gives up after this long, and so does the thread. */
export const ANSWER_MAX_MS = 120_000;

/** A tag as the historian knows it; `id` is its number in ring, journal and blocks. */
export interface KnownTag extends TagIdentity {
  readonly id: number;
}

export const GAP_CAUSES = ['RuntimeRestart', 'DriverLost', 'Overload', 'StorageFull', 'ClockJump', 'HistoryLost'] as const;
export const GAP_BOUNDS = ['Exact', 'Containing', 'Overlapping'] as const;

/** Cause and bounds as decisions 8.9 words them. */
export interface Gap {
  readonly site: string;
  readonly unit: string;
  /** '' when the whole unit is meant. */
  readonly address: string;
  readonly fromMs: WallMs;
  readonly toMs: WallMs;
  readonly cause: (typeof GAP_CAUSES)[number];
  readonly bounds: (typeof GAP_BOUNDS)[number];
}

/** An entry of the state or alarm history; `body` is served as it is. */
export interface HistoryEvent {
  readonly list: 'states' | 'alarms';
  readonly atMs: WallMs;
  readonly site: string;
  readonly unit: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const AGGREGATES = ['none', 'avg', 'min', 'max', 'first', 'last', 'count'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

/** Units and time of a batch: what `batch/{batchID}/...` is restricted to. */
export interface Span {
  readonly site: string;
  readonly units: readonly string[];
  /** What tells of the whole of it, and of no unit, is of the span too. */
  readonly batchID?: string;
}

export interface HistoryFilter {
  readonly site?: string;
  /** Sites of a confined caller; what has no site is left out. */
  readonly sites?: readonly string[] | null;
  readonly unit?: string;
  readonly span?: Span;
  /** Inclusive. */
  readonly fromMs?: WallMs;
  /** Exclusive. */
  readonly toMs?: WallMs;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Numbers of the cursor of the page before. */
  readonly beyond?: readonly number[];
}

export interface TagFilter extends HistoryFilter {
  /** Addresses; every tag when absent or empty. */
  readonly addresses?: readonly string[];
}

export interface TagValuesFilter extends TagFilter {
  readonly aggregate: Aggregate;
  /** Bucket length of an aggregate. */
  readonly intervalMs: number;
}

/** Settings of the historian (decisions, appendix): `historian.flushInterval`, `.retention`, `.maxBytes`. */
export interface HistoryLimits {
  readonly flushIntervalMs: number;
  readonly retentionMs: number;
  readonly bytesMax: number;
}

/** What the thread starts with. */
export interface HistoryStart {
  readonly dataDir: string;
  readonly ring: SharedArrayBuffer;
  readonly ringCapacity: number;
  readonly limits: HistoryLimits;
  /** Word of each quality code; code 0 is the good one. */
  readonly qualityWords: readonly string[];
  /** Units there were before this start, and since when: of one without a sample everything is a gap. */
  readonly units?: readonly { readonly site: string; readonly unit: string; readonly sinceMs: number }[];
}

/** What is forgotten neither for its age nor for space (legal holds). */
export interface HeldHistory {
  /** '' of all. */
  readonly site: string;
  /** None: all of the site. */
  readonly units: readonly string[];
  readonly fromMs: WallMs;
  readonly toMs: WallMs;
}

/** Messages to the thread that need no answer. A tag or text is announced before its first sample is in the ring. */
export type ToHistory =
  | { readonly type: 'tag'; readonly tag: KnownTag; readonly scaling?: { readonly offset: number; readonly slope: number } }
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  | { readonly type: 'event'; readonly event: HistoryEvent }
  | { readonly type: 'gap'; readonly gap: Gap }
  /** All of it, in place of what was told before. */
  | { readonly type: 'held'; readonly held: readonly HeldHistory[] };

/** What the gateway has to know before it samples. */
export interface HistoryOpened {
  readonly tags: readonly KnownTag[];
  readonly nextTextId: number;
  readonly replayed: number;
  /** A file that could not be opened, under its new name, and why; a new one was begun. */
  readonly aside: { readonly name: string; readonly fault: string } | null;
  /** What stood in the place of a part of the journal or the WAL, in sentences: what that part had held is missing. */
  readonly partsLost: readonly string[];
}
