/**
 * The names of what a start makes. They are joined from the names of batch and steps (decisions 2.2), so that two paths of one
 * recipe, or of two batches, can come to the same one: written nevertheless, one element would have two owners (ADR 0014).
 */
import { told } from '../../../../runtime/vocabulary/told.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Ref, Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { CoordinationBlock, type CoordinationBlockSpec, SyncBarrier } from '../../coordination/kind.js';
import { ControlRecipe, type MasterRecipeSpec } from '../../recipes/kind.js';
import { batchParameters } from '../creation/parameters.js';
import type { BatchSpec } from '../kind.js';
import type { Blocker, LiftedBy } from './conditions.js';
import { elementName, instantiate } from './instantiation.js';
import { storedTemplates } from './stored-templates.js';

export interface NamesLook {
  readonly store: Store;
  readonly site: string;
  readonly looked: { readonly name: string; readonly uid?: string };
  readonly batch: BatchSpec;
  readonly recipe: { readonly spec: MasterRecipeSpec };
  /** With the templates that were released with the recipe. */
  readonly view: StoreReader;
  readonly allocation: Readonly<Record<string, string>>;
  /** Found out once. */
  readonly made: readonly Made[];
}

/** One resource that a start writes; `path` of the step it stands for. */
export interface Made extends Ref {
  readonly path: string;
}

/** Nothing while another condition keeps the recipe from being taken apart. */
export function madeByStart({ site, looked, batch, recipe, view, allocation }: Omit<NamesLook, 'made'>): Made[] {
  try {
    const parameters = batchParameters(recipe.spec, batch);
    const elements = instantiate({ batch: looked.name, mode: 'Automatic', recipe: recipe.spec, parameters, allocation, templates: storedTemplates(view, site) });
    return [
      ...elements.map(({ kind, name, spec }) => ({ kind: kind.kind, site, name, path: spec.stepPath })),
      { kind: ControlRecipe.kind, site, name: looked.name, path: '' },
      ...recipe.spec.coordinationRefs.map(({ kind, name }) => ({ kind, site, name: elementName(looked.name, [name]), path: name })),
    ];
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [];
  }
}

/** Two steps of the recipe with one name. */
export function sharedNames({ made }: NamesLook): Blocker[] {
  const paths = new Map<string, string>();
  return made.flatMap(({ kind, name, path }): Blocker[] => {
    const key = `${kind}/${name}`;
    const other = paths.get(key);
    paths.set(key, path);
    if (other === undefined || other === path) return []; // a pattern that is named twice is written once
    const as = told('names-shared', { step: path, other, kind, name });
    return [
      { message: `steps ${other} and ${path} would both be ${kind} ${name}`, told: as, element: path, liftedBy: { tier: 'engineer', action: `give step ${path} another name` } },
    ];
  });
}

/** What is there already and is not the batch's own; what is past has to be lent before this is asked. */
export function takenNames({ store, site, looked, made }: NamesLook): Blocker[] {
  return made.flatMap((ref): Blocker[] => {
    const kind = store.kindNamed(ref.kind);
    const other = kind && store.get(kind, site, ref.name);
    const of = { kind: ref.kind, name: ref.name };
    const what = `${ref.kind} ${ref.name}, which the batch would make,`;
    if (!other) {
      if (!store.isQuarantined(ref)) return [];
      return [
        {
          message: `${what} is stored already and cannot be read`,
          told: told('name-unreadable', of),
          element: ref.name,
          liftedBy: { tier: 'admin', action: 'discard what cannot be read' },
        },
      ];
    }
    if (isOwn(other, looked)) return [];
    const [owner] = other.metadata.ownerReferences;
    if (!owner) {
      const liftedBy: LiftedBy = { tier: 'engineer', action: `delete ${ref.kind} ${ref.name}, or ${OTHER_NAME}` };
      return [{ message: `${what} exists already`, told: told('name-exists', of), element: ref.name, liftedBy }];
    }
    const as = told('name-of-other', { ...of, ownerKind: owner.kind, owner: owner.name });
    return [
      { message: `${what} belongs to ${owner.kind} ${owner.name}`, told: as, element: ref.name, liftedBy: { tier: 'operate', action: `${OTHER_NAME}, or delete ${owner.name}` } },
    ];
  });
}

const OTHER_NAME = 'make the batch under another name';

/** A signal or barrier that somebody has written for a batch of this name is taken for it (ADR 0009). */
function isOwn({ kind, spec, metadata: { ownerReferences } }: Resource, { name, uid }: NamesLook['looked']): boolean {
  const isWrittenForIt = ownerReferences.length === 0 && COORDINATION.includes(kind) && (spec as CoordinationBlockSpec).batchRef === name;
  return isWrittenForIt || (uid !== undefined && ownerReferences.some((owner) => owner.uid === uid));
}

const COORDINATION: readonly string[] = [CoordinationBlock.kind, SyncBarrier.kind];
