/**
 * Where the domains join: what each of them gives goes where it belongs, so that nothing of it is listed a second time. The order in
 * which they join is that of their start; they stop the other way round.
 */
import { assert } from '../platform/base/assert.js';
import type { Part, Parts } from '../platform/base/parts.js';
import type { RouteSet } from '../platform/http/route.js';
import { RouteTable } from '../platform/http/route-table.js';
import type { ReconcileLoop } from '../platform/reconcile/loop.js';
import { Loops } from '../platform/reconcile/loops.js';
import type { Store } from '../platform/store/store.js';
import type { Publish } from '../platform/stream/hub.js';

/** What a domain gives to the appliance, beside what it offers to the domains above it. */
export interface Joined extends Part {
  readonly routes?: readonly RouteSet[];
  readonly reconcilers?: readonly ReconcileLoop[];
  /** Tells the live streams what it has to tell. */
  readonly publish?: Publish;
}

export class Joins {
  readonly table = new RouteTable();
  readonly loops: Loops;
  readonly #parts: Parts;
  readonly #publishers: Publish[] = [];
  #streamsAreThere = false;

  constructor(parts: Parts, store: Store) {
    this.#parts = parts;
    this.loops = new Loops(store);
  }

  join<Domain extends Joined>(domain: Domain): Domain {
    for (const set of domain.routes ?? []) this.table.add(set);
    for (const loop of domain.reconcilers ?? []) this.loops.add(loop);
    if (domain.publish) {
      assert(!this.#streamsAreThere, 'what is told live joins before the streams do');
      this.#publishers.push(domain.publish);
    }
    return this.#parts.add(domain);
  }

  /** For the streams, which join behind all who tell them something. */
  get publishers(): readonly Publish[] {
    this.#streamsAreThere = true;
    return this.#publishers;
  }
}
