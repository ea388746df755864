/**
 * What keeps the roles of a recipe from being bound, for whoever reads or signs it: Start refuses it with `binding-violation`, days later perhaps.
 * One sentence for all rows of the matrix, which `recipe bindings` shows.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { isViolation } from './binding-matrix.js';
import type { MasterRecipeSpec, MasterRecipeStatus } from './kind.js';
import { releasedView } from './released.js';
import { bindingMatrix } from './validity.js';

/** Of what is wrong as a whole. */
const TOLD_MAX = 50;

export function bindingNotes(read: StoreReader, recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>): readonly string[] {
  const { metadata, spec } = recipe;
  const { notes: all, rows } = bindingMatrix(releasedView(read, recipe), metadata.site, spec);
  const notes = all.length <= TOLD_MAX ? all : [...all.slice(0, TOLD_MAX), `and ${all.length - TOLD_MAX} more of this kind`];
  const unbound = rows.filter(isViolation);
  const [first] = unbound;
  if (!first) return notes;
  const why = `role ${first.role} of step ${first.step}${first.unit === '' ? '' : ` on unit ${first.unit}`}: ${first.message ?? first.issue}`;
  const said = unbound.length === 1 ? `1 role is not bound, ${why}` : `${unbound.length} roles are not bound, the first is ${why}`;
  return [...notes, `${said}; lineside recipe bindings ${metadata.name} shows ${unbound.length === 1 ? 'it' : 'them'}`];
}
