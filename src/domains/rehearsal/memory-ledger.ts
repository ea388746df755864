/** A ledger that keeps nothing: the store of a rehearsal commits into it, and its facts are told to whoever listens. */
import type { Fact, Ledger, LedgerImage, LedgerTransaction } from '../../platform/ledger/protocol.js';
import type { Resource } from '../../platform/store/resource.js';

export class MemoryLedger implements Ledger {
  readonly #resources: readonly Resource[];
  readonly #listen: (fact: Fact) => void;

  constructor(resources: readonly Resource[], listen: (fact: Fact) => void) {
    this.#resources = resources;
    this.#listen = listen;
  }

  async load(): Promise<LedgerImage> {
    return { resources: this.#resources, resourceVersion: 0, auditSequence: 0, auditHead: '', factSequences: [], nonces: [] };
  }

  async commit({ facts }: LedgerTransaction): Promise<void> {
    for (const fact of facts) this.#listen(fact);
  }

  async probe(): Promise<void> {}
  async close(): Promise<void> {}
}
