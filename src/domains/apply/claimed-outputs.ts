/**
 * Outputs that two would write when all manifests of an apply are in place (ADR 0071). Judged of all together, so that an output may be taken from
 * one and given to another in one apply, in any order.
 */
import { combined } from '../../platform/base/refusal.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule, type ControlModuleSpec } from '../control-modules/kind.js';
import { claimsOfModule, othersIn } from '../control-modules/output-owners.js';
import { ControlProgram, type ControlProgramSpec } from '../logic/kind.js';
import { type Claim, claimsOfProgram, refusedClaims } from '../logic/output-claims.js';
import type { Outcome, Refused } from './judging.js';
import { StagedStore } from './staging.js';

const CLAIMANTS: readonly string[] = [ControlModule.kind, ControlProgram.kind];

/** Of manifests that are taken otherwise; each is told of the others. */
export function claimedOutputs(outcomes: readonly Outcome[], store: Store): readonly Refused[] {
  const written = outcomes.filter(({ puts, step }) => puts.length > 0 && CLAIMANTS.includes(step.manifest.kind.kind));
  if (written.length === 0) return [];
  const after = new StagedStore(store);
  for (const { puts } of outcomes) for (const put of puts) after.put(put);
  const isWritten = new Set(written.map(({ step }) => keyOf(step)));
  const claims = new Map(written.map((outcome) => [outcome, claimsOf(outcome.step, after)]));
  const claimed = new Map<string, { readonly key: string; readonly owner: string }[]>();
  for (const [{ step }, own] of claims) {
    for (const { output, block } of own) {
      const at = `${step.site}/${output}`;
      claimed.set(at, [...(claimed.get(at) ?? []), { key: keyOf(step), owner: `${step.manifest.name}.${block}` }]);
    }
  }
  return written.flatMap((outcome): readonly Refused[] => {
    const { step } = outcome;
    const own = claims.get(outcome) ?? [];
    if (own.length === 0) return [];
    const { kind, name } = step.manifest;
    // whoever is written anew counts as he will be
    const standing = othersIn(store, step.site, { kind: kind.kind, name }, (other) => !isWritten.has(`${other.kind}/${step.site}/${other.owner}`));
    const others = (output: string): readonly string[] => [
      ...standing(output),
      ...(claimed.get(`${step.site}/${output}`) ?? []).filter(({ key }) => key !== keyOf(step)).map(({ owner }) => owner),
    ];
    const refusal = combined(refusedClaims(placed(own), claimsOf(step, store), others));
    return refusal ? [{ index: step.index, kind: kind.kind, name, refusal }] : [];
  });
}

function keyOf({ manifest: { kind, name }, site }: Outcome['step']): string {
  return `${kind.kind}/${site}/${name}`;
}

/** In the manifest the members stand below `spec`. */
function placed(claims: readonly Claim[]): readonly Claim[] {
  return claims.map((claim) => ({ ...claim, path: `spec.${claim.path}` }));
}

/** As a store has it; none of what it does not have. */
function claimsOf({ manifest: { kind, name }, site }: Outcome['step'], read: Store | StagedStore): readonly Claim[] {
  const spec = read.get(kind, site, name)?.spec;
  if (spec === undefined) return [];
  // the two kinds that claim anything: what is stored of them has their shapes
  return kind.kind === ControlModule.kind ? claimsOfModule(read, site, spec as ControlModuleSpec) : claimsOfProgram(read, site, spec as ControlProgramSpec);
}
