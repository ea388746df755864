/** Which kinds generic apply takes (contract 3, Generic apply; decisions Q-CHANGE-05), and the order in which an export lists them. */
import type { Ruled } from '../../platform/store/kind.js';

// biome-ignore lint/suspicious/noExplicitAny: kinds of every spec and status
export type AnyKind = Ruled<any, any>;

const DERIVED = 'it is made by the gateway and cannot be written';
const EVIDENCE = 'it is a read-only evidence record';

/** Recognised and deliberately not applied: 422 with the reason. */
export const UNAPPLIED_KINDS: Readonly<Record<string, string>> = {
  ControlRecipe: `a control recipe is frozen when its batch starts; ${DERIVED}`,
  RecipeRevision: `a recipe revision records a write of its master recipe; ${DERIVED}`,
  BatchRecord: EVIDENCE,
  AuditRecord: EVIDENCE,
  SignatureRecord: EVIDENCE,
  QualificationRecord: EVIDENCE,
  ArchiveReport: EVIDENCE,
  MaterialLot: `a material lot follows from the batches that made and used it; ${DERIVED}`,
  NodeMaintenance: 'node maintenance is requested through the server routes, which record who authorised it',
  NodeIdentity: 'a node is named through the server identity route',
  SiteOutage: 'a site outage is requested through the outage routes, which record who authorised it',
};

/** Kinds without create and update routes: apply itself is the permission (decisions Q-CHANGE-07). */
export const ROUTELESS_KINDS: readonly string[] = ['CoordinationBlock', 'SyncBarrier', 'Alarm'];

/** The kinds that apply takes, in an order in which every reference to what must be there at a write points backwards, so that an export can be applied as it is. */
export class AppliedKinds {
  readonly all: readonly AnyKind[];
  readonly #byName: ReadonlyMap<string, AnyKind>;

  /** `kinds` with those that are not applied among them. */
  constructor(kinds: readonly AnyKind[]) {
    this.all = kinds.filter(({ apply }) => apply.how !== 'no');
    this.#byName = new Map(this.all.flatMap((kind) => [kind.kind, ...(kind.aliases ?? [])].map((name) => [name, kind] as const)));
  }

  /** A kind by its name or alias. */
  named(name: string): AnyKind | undefined {
    return this.#byName.get(name);
  }

  rankOf(kind: AnyKind): number {
    return this.all.indexOf(kind);
  }
}
