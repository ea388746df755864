/** What the verifications have in common: one at a time, and the last one is known again after a start. */
import * as v from 'valibot';
import type { LedgerQueries, Page } from '../../platform/ledger/queries.js';

type Facts = Pick<LedgerQueries, 'factPage'>;

export class OneRun {
  #underWay = false;

  get underWay(): boolean {
    return this.#underWay;
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay = true;
    try {
      return await work();
    } finally {
      this.#underWay = false;
    }
  }
}

/** The last result of a stream; undefined when there was none. */
export async function latestOf<Run>(queries: Facts, stream: string): Promise<Run | undefined> {
  const { items }: Page<Run> = await queries.factPage(stream, { limit: 1 });
  return items[0];
}

/**
 * What the last run before this start found, or why nobody knows: damage in what tells of damage keeps no plant from starting.
 * @param read what is read of a result, in each of the shapes that releases have written.
 */
export async function recalled<Run>(queries: Facts, stream: string, read: v.GenericSchema): Promise<{ readonly run?: Run; readonly unread?: string }> {
  try {
    const run = await latestOf<Run>(queries, stream);
    if (run === undefined) return {};
    return v.is(read, run) ? { run } : { unread: 'it is no result' };
  } catch (fault) {
    return { unread: (fault as Error).message };
  }
}
