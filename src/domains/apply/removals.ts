/**
 * What a prune would remove, and whether it could (ADR 0058): whatever carries the labels and stands in no manifest, judged one after the other
 * by the plant that the apply and the removals before it leave behind. Nothing is removed here: that is the DELETE of each.
 */
import { combined, Refusal, refusalsOf } from '../../platform/base/refusal.js';
import { Turns } from '../../platform/base/slices.js';
import type { Kind } from '../../platform/store/kind.js';
import { withoutOwnKeys } from '../../platform/store/manifest.js';
import { contentsIn, inOrder, refuseDeleteOf, referencesIn, referencesOf, type Target, targetOf, type Use, type Users, useOf } from '../../platform/store/references.js';
import { keyOf, type Ref, type Resource } from '../../platform/store/resource.js';
import type { Selector } from '../../platform/store/selector.js';
import type { Store } from '../../platform/store/store.js';
import type { ApplyActor, ApplyDeps } from './context.js';
import { isExported } from './export.js';
import type { IsLeaving } from './claimed-outputs.js';
import type { Step } from './judging.js';
import { type AnyKind, ROUTELESS_KINDS } from './kinds.js';
import type { StagedStore } from './staging.js';

export interface Removal {
  /** Behind the manifests of the request. */
  readonly index: number;
  readonly kind: AnyKind;
  readonly resource: Resource;
  /** Undefined where it would go. */
  readonly refusal: Refusal | undefined;
}

export interface PruneWish {
  readonly chosen: Selector;
  /** One site and what belongs to none; undefined: every site of the caller. */
  readonly site: string | undefined;
}

interface Stale {
  readonly kind: AnyKind;
  readonly resource: Resource;
}

/** @param after the plant with all manifests in place; what would go has gone from it then. @returns in the order in which they would be removed. */
export async function judgeRemovals(steps: readonly Step[], after: StagedStore, actor: ApplyActor, deps: ApplyDeps, wish: PruneWish): Promise<readonly Removal[]> {
  const turns = new Turns(deps.clock);
  const stale: Stale[] = [];
  const isLeaving = leavingWith(steps, actor, wish);
  for (const kind of deps.kinds.all) {
    for (const resource of deps.store.list(kind) as readonly Resource[]) {
      if (isLeaving(kind, resource)) stale.push({ kind, resource });
      if (turns.isOver) await turns.next();
    }
  }
  if (stale.length === 0) return [];
  const users = await StagedUses.of(deps.store, after, turns);
  /** Of those that are left, why: one may go when another has. */
  let left = inOrder(stale, ({ kind, resource }) => ({ ...targetOf(resource), references: referencesIn(kind, resource) })).toReversed();
  const judged: Omit<Removal, 'index'>[] = [];
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    const again: Stale[] = [];
    for (const one of left) {
      if (refusalOf(one, after, users, actor, deps)) again.push(one);
      else {
        after.remove(targetOf(one.resource));
        judged.push({ ...one, refusal: undefined });
      }
      if (turns.isOver) await turns.next();
    }
    left = again;
  }
  const refused = left.map((one) => ({ ...one, refusal: refusalOf(one, after, users, actor, deps) }));
  const firstIndex = 1 + Math.max(-1, ...steps.map(({ index }) => index));
  return [...judged, ...refused].map((one, at) => ({ ...one, index: firstIndex + at }));
}

/** What goes with the prune that follows, unless it is refused then. */
function leavingWith(steps: readonly Step[], actor: ApplyActor, wish: PruneWish | undefined): (kind: AnyKind, resource: Resource) => boolean {
  if (!wish) return () => false;
  const said = new Set(steps.map(({ manifest: { kind, name }, site }) => keyOf({ kind: kind.kind, site, name })));
  return (kind, resource) => isStale(kind, resource, actor, wish) && !said.has(keyOf(targetOf(resource)));
}

/** The same, asked by name. */
export function leavingNamed(steps: readonly Step[], actor: ApplyActor, { kinds, store }: ApplyDeps, wish: PruneWish | undefined): IsLeaving {
  const isLeaving = leavingWith(steps, actor, wish);
  const kindOf = new Map(kinds.all.map((kind) => [kind.kind, kind]));
  return (word, site, name) => {
    const kind = kindOf.get(word);
    const resource = kind && store.get(kind, site, name);
    return kind !== undefined && resource !== undefined && isLeaving(kind, resource as Resource);
  };
}

/** As an export tells it: what happened, and what is derived, is not pruned. */
function isStale(kind: AnyKind, resource: Resource, { sites }: ApplyActor, { chosen, site }: PruneWish): boolean {
  if (Object.keys(resource.metadata.labels).length === 0 && chosen.isPositive) return false;
  const wish = { site, status: false, visible: (scope: string) => scope === '' || sites === null || sites.includes(scope) };
  return isExported(kind, resource, wish) && chosen.matches(withoutOwnKeys(kind as Kind, resource).metadata.labels);
}

/** What its DELETE would say. */
function refusalOf({ kind, resource }: Stale, after: StagedStore, users: Users, actor: ApplyActor, deps: ApplyDeps): Refusal | undefined {
  return combined(refusalsOf(() => refuseRemoval({ kind, resource }, after, users, actor, deps)));
}

function refuseRemoval({ kind, resource }: Stale, after: StagedStore, users: Users, actor: ApplyActor, { production, controlled, store }: ApplyDeps): void {
  const { name } = resource.metadata;
  const action = `${kind.action}:delete`;
  if (kind.path === undefined || ROUTELESS_KINDS.includes(kind.kind))
    throw new Refusal('missing', `no route removes a ${kind.kind}: take the label off ${name}`, { code: 'no_such_route', kind: kind.kind });
  if (!actor.may(action)) throw new Refusal('forbidden', `removing ${kind.kind} ${name} needs the action ${action}`, { code: 'action_missing', action });
  const kept = controlled?.(kind, name) ?? (production ? kind.keptInProduction?.() : undefined);
  if (kept) throw kept;
  store.judge({ removes: [targetOf(resource)] });
  refuseDeleteOf(kind, after.get(kind, resource.metadata.site, name) ?? resource, after, users);
}

/** Who names whom on the staged plant: as it is stored, but for what is staged. */
class StagedUses implements Users {
  readonly #store: Store;
  readonly #after: StagedStore;
  /** Target -> who of the staged names it; one that has gone since is left out when it is asked. */
  readonly #byTarget = new Map<string, Use[]>();

  private constructor(store: Store, after: StagedStore) {
    this.#store = store;
    this.#after = after;
  }

  static async of(store: Store, after: StagedStore, turns: Turns): Promise<StagedUses> {
    const uses = new StagedUses(store, after);
    const kinds = new Map([...store.kinds].map((kind) => [kind.kind, kind]));
    for (const resource of after.staged()) {
      const kind = kinds.get(resource.kind);
      if (kind) uses.#add(kind, resource);
      if (turns.isOver) await turns.next();
    }
    return uses;
  }

  #add(kind: Kind, resource: Resource): void {
    for (const reference of referencesIn(kind, resource)) {
      const key = keyOf(reference);
      const uses = this.#byTarget.get(key);
      const use = useOf(resource, reference);
      if (uses) uses.push(use);
      else this.#byTarget.set(key, [use]);
    }
  }

  usedBy(target: Target): readonly Use[] {
    const stored = referencesOf(this.#store).usedBy(target);
    const staged = this.#byTarget.get(keyOf(target)) ?? [];
    return [...stored.filter((use) => !this.#after.isStaged(use)), ...staged.filter((use) => this.#isThere(use))];
  }

  /** What is owned goes with its owner. */
  contentsOf(site: string): readonly Target[] {
    return contentsIn(this.#after, this.#store.kinds, site).filter((target) => {
      const owners = this.#after.get({ kind: target.kind } as Kind, target.site, target.name)?.metadata.ownerReferences ?? [];
      return owners.length === 0 || owners.some(({ kind, name }) => [target.site, ''].some((of) => this.#isThere({ kind, site: of, name })));
    });
  }

  #isThere({ kind, site, name }: Ref): boolean {
    return this.#after.get({ kind } as Kind, site, name) !== undefined;
  }
}
