/**
 * What is done while nothing can be written and must go on: people sign in so that they can watch, and bring the plant to rest.
 * It waits here, and is told, its records saying when it happened, as soon as the ledger accepts commits again.
 */
import { randomUUID } from 'node:crypto';
import { guarded } from '../base/guarded.js';
import { type AuditDraft, component } from './audit-record.js';
import type { Applied, Change, Nonce } from './change.js';

/**
 * Places for what is done while nothing can be written. Each use has its own, so that a flood of refused requests keeps nobody
 * from signing in, and no number of people from holding the plant. A refusal without a place is counted, all else is refused.
 */
const PLACES = { refusal: 500, session: 500, order: 200 } as const;
const NONCES_MAX = 50_000; // of a window; the oldest go first

/** What a change is kept as while nothing can be written. */
export interface Keeping {
  readonly as: keyof typeof PLACES;
  /** Changes of one key share one place: the last is written, and its records say how many there were. */
  readonly key?: string;
}

/** A function judges what is there when it is written. */
export type LateChange = Change | (() => Change);

interface Kept extends Keeping {
  /** In the order in which they were kept: what could not be written after all goes back to its place. */
  readonly number: number;
  readonly change: LateChange;
  readonly happenedAt: string;
  /** Of the last one of its key. */
  readonly lastAt: string;
  readonly times: number;
}

interface Uncounted {
  readonly times: number;
  readonly fromAt: string;
  readonly toAt: string;
}

export class KeptChanges {
  /** Oldest first. */
  #changes: Kept[] = [];
  #count = 0;
  /** Refused requests that found no place. */
  #uncounted: Uncounted | undefined;
  #nonces: Nonce[] = [];

  /** @returns whether there was a place for it. */
  keep(change: LateChange, keeping: Keeping, happenedAt: string): boolean {
    const same = keeping.key === undefined ? -1 : this.#changes.findIndex(({ as, key }) => as === keeping.as && key === keeping.key);
    const earlier = this.#changes[same];
    if (earlier) this.#changes[same] = { ...earlier, change, lastAt: happenedAt, times: earlier.times + 1 };
    else if (this.#changes.filter(({ as }) => as === keeping.as).length < PLACES[keeping.as])
      this.#changes.push({ ...keeping, number: (this.#count += 1), change, happenedAt, lastAt: happenedAt, times: 1 });
    else if (keeping.as === 'refusal') this.#uncounted = { times: (this.#uncounted?.times ?? 0) + 1, fromAt: this.#uncounted?.fromAt ?? happenedAt, toAt: happenedAt };
    else return false;
    return true;
  }

  /** Their requests were looked at: they stay spent. */
  keepNonces(nonces: readonly Nonce[]): void {
    for (const nonce of nonces) this.#nonces.push(nonce);
    if (this.#nonces.length > NONCES_MAX) this.#nonces.splice(0, this.#nonces.length - NONCES_MAX);
  }

  /** Hands all of it to `apply`; what could not be written after all goes back to its place. */
  write(apply: (change: Change) => Applied): void {
    const [changes, nonces, uncounted] = [this.#changes, this.#nonces, this.#uncounted];
    this.#changes = [];
    this.#nonces = [];
    this.#uncounted = undefined;
    if (nonces.length > 0) apply({ nonces }).durable.catch(() => undefined); // kept again by the commit that fails
    for (const kept of changes) {
      guarded('change that was kept', () => {
        apply(toldLater(kept)).durable.catch(() => this.#keepAgain(kept));
      });
    }
    if (uncounted) apply({ audits: [refusalsOf(uncounted)] }).durable.catch(() => this.#countAgain(uncounted));
  }

  #keepAgain(kept: Kept): void {
    const behind = this.#changes.findIndex(({ number }) => number > kept.number);
    this.#changes.splice(behind < 0 ? this.#changes.length : behind, 0, kept);
  }

  #countAgain({ times, fromAt, toAt }: Uncounted): void {
    const since = this.#uncounted;
    this.#uncounted = { times: times + (since?.times ?? 0), fromAt, toAt: since?.toAt ?? toAt };
  }
}

export function changeOf(change: LateChange): Change {
  return typeof change === 'function' ? change() : change;
}

/** Its records say when it was done. */
function toldLater({ change, happenedAt, lastAt, times }: Kept): Change {
  const made = changeOf(change);
  const when = times === 1 ? { happenedAt } : { happenedAt, lastHappenedAt: lastAt, times };
  return { ...made, audits: (made.audits ?? []).map((draft) => ({ ...draft, details: { ...draft.details, ...when } })) };
}

/** Of those that had no place the trail has the number. */
function refusalsOf({ times, fromAt, toAt }: Uncounted): AuditDraft {
  return {
    site: '',
    actor: component('store'),
    action: 'Request',
    category: 'storage',
    target: { kind: 'Storage', name: 'state.db', site: '' },
    result: 'Rejected',
    details: { message: `${times} further refused requests while nothing could be written are not on record one by one`, times, happenedAt: fromAt, lastHappenedAt: toAt },
    correlationID: randomUUID(),
  };
}
