/** What a rehearsal has seen, as it is answered; every list has an end, and what came after it is counted. */
import type { ElementOutput } from '../procedures/kind.js';
import type { UnfiredTransition, UnreachedStep } from './coverage.js';

export interface TimelineEntry {
  /** Seconds since Start. */
  readonly ts: number;
  /** Kind of the element. */
  readonly element: string;
  readonly path: string;
  readonly state: string;
  readonly cause: string;
  /** Present when a step of the running chart became active. */
  readonly step?: string;
}

export interface RehearsedPrompt {
  readonly atSeconds: number;
  readonly path: string;
  readonly step: string;
  readonly type: string;
  readonly text: string;
  readonly resultKey: string;
  readonly answer: string;
  readonly from: 'answers' | 'default';
  readonly message: string;
}

export interface RehearsalCheck {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
}

export interface RehearsedAlarm {
  /** Module of the alarm block. */
  readonly module?: string;
  /** Step path of the phase. */
  readonly element?: string;
  readonly severity: 'Medium' | 'High';
  readonly message: string;
  readonly atSeconds: number;
}

export type RehearsalOutcome = 'Complete' | 'Stopped' | 'Aborted' | 'Failed' | 'Held' | 'Paused' | 'TimeLimit' | 'WallLimit' | 'NotStarted';

/** Told while it runs. */
export interface RehearsalProgress {
  /** Plant time since Start, in s. */
  readonly progress: number;
}

export interface RehearsalFindings {
  /** It is Complete, and every check holds. */
  readonly ok: boolean;
  readonly outcome: RehearsalOutcome;
  readonly plantSeconds: number;
  readonly blockedBecause: string;
  readonly timeline: readonly TimelineEntry[];
  readonly prompts: readonly RehearsedPrompt[];
  readonly checks: readonly RehearsalCheck[];
  readonly outputs: readonly (ElementOutput & { readonly element: string })[];
  readonly alarms: readonly RehearsedAlarm[];
  readonly unreachedSteps: readonly UnreachedStep[];
  readonly unfiredTransitions: readonly UnfiredTransition[];
  readonly assumptions: readonly string[];
  /** Entries left out, by list. */
  readonly truncated: Readonly<Record<string, number>>;
}

/** Entries of a list in the answer; a batch of the size of the demonstration has about 200. */
export const ENTRIES_MAX = 2000;

/** Keeps the first entries and counts the others. */
export class BoundedList<T> {
  readonly items: T[] = [];
  omitted = 0;

  add(item: T): void {
    if (this.items.length < ENTRIES_MAX) this.items.push(item);
    else this.omitted += 1;
  }

  static of<T>(items: Iterable<T>): BoundedList<T> {
    const list = new BoundedList<T>();
    for (const item of items) list.add(item);
    return list;
  }
}
