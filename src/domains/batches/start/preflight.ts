/**
 * What would keep a batch from starting, and who can lift it (contract 3, Recipes and records; decisions Q-RECIPE-28): one
 * row per blocker, or one row that says the check is passed. Nothing is changed.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { Unit } from '../../plant/kind.js';
import { isAvailable } from '../../plant/unit-owner.js';
import { ParameterValue } from '../../procedures/kind.js';
import { CANDIDATE_POLICIES, MasterRecipe } from '../../recipes/kind.js';
import { batchParameters } from '../creation/parameters.js';
import type { BatchSpec } from '../kind.js';
import { checkRows, mayStart, PREFLIGHT_CHECKS, PreflightCheck, rowsOf } from './conditions.js';
import { type Looked, noRecipe, PREFLIGHT_CONDITIONS, type StartFacts, StartLook } from './start-conditions.js';
import { CandidateNow } from './unit-class.js';

export const Preflight = v.strictObject({
  ok: v.boolean(),
  checks: v.array(PreflightCheck),
  parameters: v.array(ParameterValue),
  allocations: v.array(
    v.strictObject({
      capability: v.string(),
      /** Of a class the one that would be taken now; '' where none is free. */
      unit: v.string(),
      available: v.boolean(),
      holder: v.string(),
      /** Of a class: in the order in which they are tried. */
      policy: v.optional(v.picklist(CANDIDATE_POLICIES)),
      candidates: v.optional(v.array(CandidateNow)),
    }),
  ),
  bindings: v.strictObject({ violations: v.number() }),
});
export type Preflight = ToldBy<typeof Preflight>;

nameSchemas({ Preflight });

/** @param looked the batch that exists, or the name that one would get */
export function preflight(facts: StartFacts, site: string, looked: Looked, batch: BatchSpec): Preflight {
  const recipe = facts.store.get(MasterRecipe, site, batch.masterRecipeRef);
  if (!recipe) return { ok: false, checks: rowsOf('recipe-effective', [noRecipe(batch.masterRecipeRef)]), parameters: [], allocations: [], bindings: { violations: 0 } };
  const look = new StartLook(facts, site, looked, batch, recipe);
  const checks = checkRows(PREFLIGHT_CHECKS, PREFLIGHT_CONDITIONS, look);
  const fits = checks.every(({ check, ok }) => check !== 'formula-limits' || ok);
  return {
    ok: mayStart(checks),
    checks,
    parameters: fits ? batchParameters(recipe.spec, batch) : [],
    allocations: Object.entries(look.allocation).map(([capability, planned]) => {
      const { unitClass, candidates = [] } = look.classes.get(capability) ?? {};
      const unit = planned || (look.nextOf.get(capability) ?? '');
      const status = facts.store.get(Unit, site, unit)?.status;
      return {
        capability,
        unit,
        available: isAvailable(status),
        holder: status?.allocatedTo ?? '',
        ...(unitClass ? { policy: unitClass.policy, candidates: [...candidates] } : {}),
      };
    }),
    bindings: { violations: look.matrix.violations },
  };
}
