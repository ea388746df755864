/** Whom an element belongs to: a batch, or the root of an ad-hoc run (contract 3, Ad-hoc rules). */
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type ElementStatus, Operation, Phase, UnitProcedure } from './kind.js';

export interface ElementRef {
  readonly kind: string;
  readonly name: string;
}

type OwnedElement = Resource<{ readonly batchRef: string; readonly parentRef: ElementRef | null }, ElementStatus>;

/** The kinds an ad-hoc run may have as its root. */
export const ROOT_KINDS = { Phase, Operation, UnitProcedure } as Readonly<Record<'Phase' | 'Operation' | 'UnitProcedure', Kind<never, ElementStatus>>>;

/** Lowest first. A parent is of a higher level than its children, so that every way up ends. */
const LEVELS = ['Phase', 'Operation', 'UnitProcedure', 'Procedure'];

export function isAbove(kind: string, below: string): boolean {
  return LEVELS.indexOf(kind) > LEVELS.indexOf(below);
}

/** Not final, not Idle (decisions, conventions). */
export function isActive(status: ElementStatus): boolean {
  return !['Idle', 'Complete', 'Stopped', 'Aborted'].includes(status.state);
}

export function isAdhoc({ status }: Resource): boolean {
  return (status as Pick<ElementStatus, 'adhoc'>).adhoc === true;
}

/** The top of the tree that the element is in: itself when it has no parent. */
export function rootOf(read: StoreReader, element: OwnedElement): ElementRef {
  let root: ElementRef = { kind: element.kind, name: element.metadata.name };
  let parent = element.spec.parentRef;
  while (parent && isAbove(parent.kind, root.kind)) {
    root = parent;
    const above = read.get(parent.kind === 'UnitProcedure' ? UnitProcedure : Operation, element.metadata.site, parent.name);
    parent = above?.spec.parentRef ?? null;
  }
  return root;
}

/** The name that its unit is allocated to, and that facts and signals are kept under: the batch, or the ad-hoc root. */
export function scopeOf(read: StoreReader, element: OwnedElement): string {
  return element.spec.batchRef || rootOf(read, element).name;
}

/** The root of an ad-hoc run by its name. */
export function adhocRoot(read: StoreReader, site: string, name: string): Resource<OwnedElement['spec'] & { readonly unitRef: string }, ElementStatus> | undefined {
  for (const kind of Object.values(ROOT_KINDS)) {
    const found = read.get(kind, site, name);
    if (found && isAdhoc(found)) return found as never;
  }
  return undefined;
}
