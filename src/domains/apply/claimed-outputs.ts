/**
 * Outputs that two would write when all manifests of an apply are in place (ADR 0071). Judged of all together, so that an output may be taken from
 * one and given to another in one apply, in any order.
 */
import { combined, type Refusal } from '../../platform/base/refusal.js';
import type { Put } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule, type ControlModuleSpec } from '../control-modules/kind.js';
import { claimsOfModule, othersIn } from '../control-modules/output-owners.js';
import { ControlProgram, type ControlProgramSpec } from '../logic/kind.js';
import { IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { type Claim, claimsOfIOModule, claimsOfProgram, type OthersOf, refusedClaims } from '../logic/output-claims.js';
import { outputPlaces, type Reached } from '../logic/output-places.js';
import type { AnyKind } from './kinds.js';
import { StagedStore } from './staging.js';

/** A manifest that is taken, and what it writes. */
interface Taken {
  readonly step: { readonly index: number; readonly site: string; readonly manifest: { readonly kind: AnyKind; readonly name: string } };
  readonly puts: readonly Put[];
}

interface Claimed {
  readonly index: number;
  readonly kind: string;
  readonly name: string;
  readonly refusal: Refusal;
}

const CLAIMANTS: readonly string[] = [ControlModule.kind, ControlProgram.kind, IOModule.kind];

const WAY_OUT =
  'take it from there in the same apply, name another channel, or remove the owner first; where this is a rename, apply with prune (--prune), which removes what is not among the manifests';

/** Whether the prune that follows takes a resource away, as far as is known. */
export type IsLeaving = (kind: string, site: string, name: string) => boolean;

/**
 * Of manifests that are taken otherwise; each is told of the others.
 * @param isLeaving what goes with the prune that follows: a rename takes its output along. Until it has gone the alarm names both.
 */
export function claimedOutputs(outcomes: readonly Taken[], store: Store, isLeaving: IsLeaving): readonly Claimed[] {
  const written = outcomes.filter(({ puts, step }) => puts.length > 0 && CLAIMANTS.includes(step.manifest.kind.kind));
  if (written.length === 0) return [];
  const after = new StagedStore(store);
  for (const { puts } of outcomes) for (const put of puts) after.put(put);
  const isWritten = new Set(written.map(({ step }) => keyOf(step)));
  const claims = new Map(written.map((outcome) => [outcome, claimsOf(outcome.step, after)]));
  const placesOf = new Map<string, Reached>();
  const placesIn = (site: string): Reached => {
    const places = placesOf.get(site) ?? outputPlaces(after, site);
    placesOf.set(site, places);
    return places;
  };
  const claimed = new Map<string, { readonly key: string; readonly owner: string; readonly output: string; readonly isFailSafe: boolean }[]>();
  for (const [{ step }, own] of claims) {
    for (const { output, block, isFailSafe = false } of own) {
      const at = `${step.site}/${output}`;
      claimed.set(at, [...(claimed.get(at) ?? []), { key: keyOf(step), owner: `${step.manifest.name}.${block}`, output, isFailSafe }]);
    }
  }
  return written.flatMap((outcome): readonly Claimed[] => {
    const { step } = outcome;
    const own = claims.get(outcome) ?? [];
    if (own.length === 0) return [];
    const { kind, name } = step.manifest;
    // whoever is written anew counts as he will be
    const stays = (other: { readonly kind: string; readonly owner: string }): boolean =>
      !isWritten.has(`${other.kind}/${step.site}/${other.owner}`) && !isLeaving(other.kind, step.site, other.owner);
    const reached = placesIn(step.site);
    const standing = othersIn(store, step.site, { kind: kind.kind, name }, stays, reached);
    const others: OthersOf = (output) => [
      ...standing(output),
      ...reached(output).flatMap((place) => (claimed.get(`${step.site}/${place}`) ?? []).filter(({ key }) => key !== keyOf(step))),
    ];
    const refusal = combined(refusedClaims(placed(own), claimsOf(step, store), reached, others, WAY_OUT));
    return refusal ? [{ index: step.index, kind: kind.kind, name, refusal }] : [];
  });
}

function keyOf({ manifest: { kind, name }, site }: Taken['step']): string {
  return `${kind.kind}/${site}/${name}`;
}

/** In the manifest the members stand below `spec`. */
function placed(claims: readonly Claim[]): readonly Claim[] {
  return claims.map((claim) => ({ ...claim, path: `spec.${claim.path}` }));
}

/** As a store has it; none of what it does not have. */
function claimsOf({ manifest: { kind, name }, site }: Taken['step'], read: Store | StagedStore): readonly Claim[] {
  const spec = read.get(kind, site, name)?.spec;
  if (spec === undefined) return [];
  // the three kinds that claim anything: what is stored of them has their shapes
  if (kind.kind === IOModule.kind) return claimsOfIOModule(name, spec as IOModuleSpec);
  return kind.kind === ControlModule.kind ? claimsOfModule(read, site, spec as ControlModuleSpec) : claimsOfProgram(read, site, spec as ControlProgramSpec);
}
