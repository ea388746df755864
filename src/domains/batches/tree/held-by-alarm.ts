/**
 * Which roots an alarm keeps from going on (decisions 3.5, failure `alarm-exception`): kept beside the store by its events,
 * so that in a flood an alarm that clears wakes the work it has held, and nothing has to be searched for.
 */
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import type { ElementFailure } from '../../runs/failures.js';
import { isAdhoc, ROOT_KINDS } from '../../procedures/roots.js';
import { Batch } from '../kind.js';

const ROOTS: readonly { readonly kind: string }[] = [Batch, ...Object.values(ROOT_KINDS)];
const NONE: readonly string[] = [];

export class HeldByAlarm {
  readonly #store: Store;
  /** Names of roots, by site and alarm. */
  readonly #roots = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.#store = store;
    this.#build();
    store.watchReload(() => this.#build());
    for (const kind of ROOTS) {
      store.watch(kind, ({ type, resource, before }) => {
        const [was, is] = [alarmsOf(before), type === 'put' ? alarmsOf(resource) : NONE];
        if (was === is) return;
        for (const alarm of was) this.#forget(keyOf(resource, alarm), resource.metadata.name);
        for (const alarm of is) this.#note(keyOf(resource, alarm), resource.metadata.name);
      });
    }
  }

  /** Batches and roots of ad-hoc executions whose failure names the alarm. */
  of(site: string, alarm: string): readonly string[] {
    return [...(this.#roots.get(`${site}/${alarm}`) ?? NONE)];
  }

  #build(): void {
    this.#roots.clear();
    for (const kind of ROOTS) for (const root of this.#store.list(kind as typeof Batch)) for (const alarm of alarmsOf(root)) this.#note(keyOf(root, alarm), root.metadata.name);
  }

  #note(key: string, root: string): void {
    const roots = this.#roots.get(key);
    if (roots) roots.add(root);
    else this.#roots.set(key, new Set([root]));
  }

  #forget(key: string, root: string): void {
    const roots = this.#roots.get(key);
    if (roots?.delete(root) && roots.size === 0) this.#roots.delete(key);
  }
}

/** An element of a batch bears failures too, but it is the batch that is woken. */
function alarmsOf(root: Resource | undefined): readonly string[] {
  if (!root || (root.kind !== Batch.kind && !isAdhoc(root))) return NONE;
  const { failure, furtherFailures = [] } = root.status as { readonly failure?: ElementFailure; readonly furtherFailures?: readonly ElementFailure[] };
  return failure?.alarms ?? furtherFailures.find(({ alarms }) => alarms)?.alarms ?? NONE;
}

function keyOf({ metadata: { site } }: Resource, alarm: string): string {
  return `${site}/${alarm}`;
}
