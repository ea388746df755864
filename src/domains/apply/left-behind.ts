/**
 * A write of one resource is judged by others: a phase by the tags that it names, a module by its template. An edit of those may leave it
 * behind, which is accepted and told by conditions, so that a plant can be engineered in any order (decisions Q-ERR-13). An export of such a
 * plant can be applied as every other (D-C-03): what is behind says so, and apply takes it as it stood, with a warning. Without that word
 * a manifest is judged as by its own route.
 */
import { Refusal } from '../../platform/base/refusal.js';
import type { Admission, Kind, StoreReader } from '../../platform/store/kind.js';
import type { PastEntry, PastSaying } from '../../platform/store/past-index.js';
import { checkReferences } from '../../platform/store/references.js';
import type { Resource } from '../../platform/store/resource.js';
import type { AnyKind } from './kinds.js';

/** Annotation of an exported manifest: why the resource is behind. Read and taken off by apply. */
export const LEFT_BEHIND = 'lineside.io/left-behind';

export interface Admitted {
  readonly spec: unknown;
  /** What keeps it from fitting the others. */
  readonly behind?: string;
}

/** @throws Refusal of what it says of itself, and without `mayBeBehind` of what it says of others. */
export function admitted(kind: AnyKind, spec: unknown, context: Admission<unknown, unknown>, mayBeBehind: boolean): Admitted {
  try {
    checkReferences(kind, spec, context.site, context.read);
    return { spec: kind.admit?.(spec, context) ?? spec };
  } catch (fault) {
    if (!mayBeBehind || !kind.judgedAgainst || !(fault instanceof Refusal)) throw fault;
    return { spec: aloneOr(fault, kind, spec, context), behind: fault.message };
  }
}

/** Why an exported resource would be refused although it stands; '' when it would not, or not for the sake of others. */
export function whyBehind(kind: AnyKind, { metadata: { name, site }, spec }: Resource<unknown, unknown>, read: StoreReader): string {
  if (!kind.judgedAgainst) return '';
  try {
    return admitted(kind, spec, { name, site, via: 'apply', before: undefined, read }, true).behind ?? '';
  } catch (fault) {
    if (fault instanceof Refusal) return '';
    throw fault;
  }
}

/**
 * As if those by which it is judged were not there: what is not there is not checked. What it names must be there all the same, where that
 * could not have been taken away under it.
 */
function aloneOr(refusal: Refusal, kind: AnyKind, spec: unknown, context: Admission<unknown, unknown>): unknown {
  const read = new Without(context.read, kind.judgedAgainst ?? []);
  try {
    checkReferences(kind, spec, context.site, context.read, ({ holds }) => !holds);
    return kind.admit?.(spec, { ...context, read }) ?? spec;
  } catch (fault) {
    if (fault instanceof Refusal) throw refusal;
    throw fault;
  }
}

/** The store without some kinds. */
class Without implements StoreReader {
  readonly #read: StoreReader;
  readonly #kinds: readonly string[];

  constructor(read: StoreReader, kinds: readonly string[]) {
    this.#read = read;
    this.#kinds = kinds;
  }

  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined {
    return this.#kinds.includes(kind.kind) ? undefined : this.#read.get(kind, site, name);
  }

  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[] {
    return this.#kinds.includes(kind.kind) ? [] : this.#read.list(kind, site);
  }

  pastIndex<Entry>(kind: { readonly kind: string }, site?: string, saying?: PastSaying<Entry>): readonly PastEntry<Entry>[] {
    return this.#read.pastIndex(kind, site, saying);
  }
}
