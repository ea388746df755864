/** Formulas of a master recipe (decisions Q-RECIPE-14): exactly one is the default. Pure changes of the spec. */
import { conflict, missing } from '../../platform/base/refusal.js';
import type { Formula, MasterRecipeSpec } from './kind.js';

/** @throws Refusal 404. */
export function formulaOf(spec: MasterRecipeSpec, name: string): Formula {
  const found = spec.formulas.find((formula) => formula.name === name);
  if (!found) throw missing('formula', name);
  return found;
}

/** The first formula is the default; a new default takes it from the old one. @throws Refusal 409 when the name is taken. */
export function addFormula(spec: MasterRecipeSpec, formula: Formula): MasterRecipeSpec {
  if (spec.formulas.some((other) => other.name === formula.name))
    throw conflict('already_exists', `formula ${formula.name} exists already`, { kind: 'Formula', name: formula.name });
  return withDefault({ ...spec, formulas: [...spec.formulas, formula] }, formula.default ? formula.name : undefined);
}

export function replaceFormula(spec: MasterRecipeSpec, formula: Formula): MasterRecipeSpec {
  const before = formulaOf(spec, formula.name);
  const formulas = spec.formulas.map((other) => (other === before ? formula : other));
  // the default can be moved to another formula, not taken away: exactly one has it
  return withDefault({ ...spec, formulas }, formula.default || before.default ? formula.name : undefined);
}

/** @throws Refusal 409 for the default while there are others. */
export function removeFormula(spec: MasterRecipeSpec, name: string): MasterRecipeSpec {
  const formula = formulaOf(spec, name);
  if (formula.default && spec.formulas.length > 1) throw conflict('default_formula', `formula ${name} is the default; make another one the default first`);
  return { ...spec, formulas: spec.formulas.filter((other) => other !== formula) };
}

function withDefault(spec: MasterRecipeSpec, name: string | undefined): MasterRecipeSpec {
  const chosen = name ?? spec.formulas.find((formula) => formula.default)?.name ?? spec.formulas[0]?.name;
  return { ...spec, formulas: spec.formulas.map((formula) => ({ ...formula, default: formula.name === chosen })) };
}
