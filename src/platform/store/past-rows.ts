/**
 * Reads what is past by its key, on the query thread, in the form in which it was present (ADR 0035): who asks for a resource by name
 * gets it, whether it is in memory or not.
 */
import { Refusal } from '../base/refusal.js';
import type { LedgerQueries } from '../ledger/queries.js';
import type { Kind } from './kind.js';
import { isRowFault, readRow, title } from './read-row.js';
import type { Ref, Resource } from './resource.js';
import type { Store } from './store.js';

type Reads = Pick<LedgerQueries, 'pastRow' | 'pastRun' | 'pastPage'>;

const RUN_COLUMNS = 4; // kind, site, name, body

export class PastRows {
  readonly #store: Store;
  readonly #reads: Reads;
  /** Runs that are being brought back. */
  readonly #returning = new Map<string, Promise<boolean>>();

  constructor(store: Store, reads: Reads) {
    this.#store = store;
    this.#reads = reads;
  }

  /**
   * Present or past; undefined when it is neither.
   * @throws Refusal `unreadable_row` for a row that was damaged.
   */
  async get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Promise<Resource<Spec, Status> | undefined> {
    const present = this.#store.get(kind, site, name);
    if (present) return present;
    const body = await this.#reads.pastRow({ kind: kind.kind, site, name });
    if (body === null) return this.#store.get(kind, site, name); // it may have come back meanwhile
    return read({ kind: kind.kind, site, name }, body) as Resource<Spec, Status>;
  }

  /** Everything that left the memory with a run, in the order in which it was made; empty when it is not past. */
  async run(run: Ref): Promise<readonly Resource[]> {
    return rowsOf((await this.#reads.pastRun(runKey(run))).rows);
  }

  /** Past resources of a kind and site by name, `limit` of them, after the one that is named ('' for the first). */
  async page<Spec, Status>(kind: Kind<Spec, Status>, site: string, after: string, limit: number): Promise<readonly Resource<Spec, Status>[]> {
    const columns = await this.#reads.pastPage({ kind: kind.kind, site, after, limit });
    const found: Resource<Spec, Status>[] = [];
    for (let at = 0; at < columns.length; at += 2) found.push(read({ kind: kind.kind, site, name: columns[at] as string }, columns[at + 1]) as Resource<Spec, Status>);
    return found;
  }

  /**
   * A run is worked with again, whole and as it was.
   * @returns whether there was one, when it is on disk.
   */
  bringBack(run: Ref): Promise<boolean> {
    const key = runKey(run);
    let returning = this.#returning.get(key);
    if (!returning) {
      returning = this.#bringBack(run).finally(() => this.#returning.delete(key));
      this.#returning.set(key, returning);
    }
    return returning;
  }

  async #bringBack(run: Ref): Promise<boolean> {
    const { rows, streams } = await this.#reads.pastRun(runKey(run));
    if (rows.length === 0) return false;
    await this.#store.takeBack({ run, rows: rowsOf(rows), streams });
    return true;
  }
}

/** As the rows of a run name it. */
function runKey({ kind, site, name }: Ref): string {
  return `${kind}/${site}/${name}`;
}

function rowsOf(columns: readonly string[]): readonly Resource[] {
  const rows: Resource[] = [];
  for (let at = 0; at < columns.length; at += RUN_COLUMNS) {
    const [kind, site, name, body] = columns.slice(at, at + RUN_COLUMNS) as [string, string, string, string];
    rows.push(read({ kind, site, name }, body));
  }
  return rows;
}

function read(ref: Ref, body: unknown): Resource {
  const row = readRow(ref, body);
  if (isRowFault(row))
    throw new Refusal('missing', `${title(ref)} is past, and its row in state.db cannot be used: ${row.fault}`, { code: 'unreadable_row', kind: ref.kind, name: ref.name });
  return row;
}
