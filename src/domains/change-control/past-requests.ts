/**
 * A request that was decided leaves the memory (ADR 0133): it may hold a manifest of 256 KiB, and is kept for ever. Each is a run of its own, so that
 * whoever reads one brings back nothing else.
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Key } from '../../platform/reconcile/key.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { LATER, mark, mayMark, QuietTimes, SOON } from '../records/marking.js';
import { ChangeRequest, type ChangePhase, type ChangeRequestResource, type PastRequest } from './kind.js';

export class PastRequestReconciler implements Reconciler {
  readonly name = 'past-change-request';
  readonly #store: Store;
  readonly #quiet: QuietTimes;

  constructor({ store, clock, afterMs }: { readonly store: Store; readonly clock: Clock; readonly afterMs: number }) {
    this.#store = store;
    this.#quiet = new QuietTimes(clock, afterMs);
  }

  *keys(): Iterable<Key> {
    for (const { metadata, status } of this.#store.list(ChangeRequest)) if (status.phase !== 'Pending') yield metadata;
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const request = this.#store.get(ChangeRequest, site, name);
    if (!request || request.status.phase === 'Pending' || this.#store.pastEntry(ChangeRequest, site, name)) {
      this.#quiet.forget({ site, name });
      return 'settled';
    }
    const leftMs = this.#quiet.leftMs(request);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    const run = requestRef({ site, name });
    if (!mayMark(this.#store)) return LATER;
    if (pastRows(this.#store).isHeld(run)) return SOON;
    if (this.#store.faults.some((fault) => fault.kind === run.kind && fault.site === site && fault.name === name)) return 'settled';
    this.#quiet.forget({ site, name });
    await mark(this.#store, { run, members: [run], streams: [] });
    return 'settled';
  }
}

export function requestRef({ site, name }: { readonly site: string; readonly name: string }): Ref {
  return { kind: ChangeRequest.kind, site, name };
}

export interface ListedRequest {
  readonly site: string;
  readonly name: string;
  readonly phase: ChangePhase;
}

/** In memory and past. */
export function listedRequests(store: Store, site: string | undefined): readonly ListedRequest[] {
  const present = store.list(ChangeRequest, site).map(({ metadata, status: { phase } }) => ({ site: metadata.site, name: metadata.name, phase }));
  const past = store.pastIndex<PastRequest>(ChangeRequest, site).map(({ site: of, name, entry }) => ({ site: of, name, phase: entry.phase as ChangePhase }));
  return [...present, ...past];
}

/** Undefined where there is none any more, and where it is past and cannot be used. */
export function readRequest(store: Store, place: { readonly site: string; readonly name: string }): Promise<ChangeRequestResource | undefined> {
  return pastRows(store).during([requestRef(place)], () => store.get(ChangeRequest, place.site, place.name));
}
