/**
 * A kind: the one source of its types, its strict decoding, its JSON Schema, its CRUD routes and its place in apply.
 */
import * as v from 'valibot';
import type { GenericSchema, InferOutput } from 'valibot';
import type { OtherNames } from './other-names.js';
import type { PastEntry, PastOrders, PastSaying } from './past-index.js';
import type { PastShape } from './past-shape.js';
import type { OwnerReference, Ref, Resource } from './resource.js';
import type { Refusal } from '../base/refusal.js';

export type KindGroup = 'physical' | 'control' | 'recipe' | 'record' | 'system';

export interface Dependent {
  readonly kind: string;
  readonly name: string;
  /** Where it is not that of what it depends on. */
  readonly site?: string;
}

/**
 * That a resource names another one. Everything that asks who needs whom is answered from references: existence at a write, what
 * holds a delete, the order of apply and export, what dangles, *used by*, and what an edit will touch (references.ts).
 */
export interface Reference {
  /** Member of the spec that says so, for example `roleBindings[2].controlModule`. */
  readonly path: string;
  readonly kind: string;
  /** '' where the target is of the whole appliance. */
  readonly site: string;
  readonly name: string;
  /**
   * `write`: must exist when it is written (400 `unknown_reference`, D-UNIT-02). `run`: may dangle and is reported, so that a plant
   * can be engineered in any order (decisions Q-ERR-13).
   */
  readonly when: 'write' | 'run';
  /** A write without it is refused by the rules of the kind, in words of their own: `checkReferences` leaves it to them. */
  readonly ownWords?: true;
  /** What is named stays for as long as this stands: its delete is refused with 409 `has_dependents` (decisions Q-ERR-11). */
  readonly holds?: true;
}

/** Of a member of a status whose readers do with what they find there what fits. */
export const JUDGED_ELSEWHERE = v.any();

/** What each member of a status is where it is there; all of them, so that none is forgotten. */
export type StatusMembers<Status> = { readonly [Member in keyof Status]-?: GenericSchema<unknown, Exclude<Status[Member], undefined>> };

/**
 * Shape of a resource and nothing of its behaviour, so that anybody may import it: a kind.ts imports the platform, the words of the
 * runtime and kinds below it. What is judged when it is written stands in `KindRules`; the two meet in the domain (`ruled`).
 */
export interface Kind<Spec = unknown, Status = unknown> {
  readonly kind: string;
  readonly aliases?: readonly string[];
  readonly group: KindGroup;
  readonly scope: 'cluster' | 'site';
  /** Domain of its action names (`unit` in `unit:create`). */
  readonly action: string;
  /** Path segment of its REST family; absent when it has none. */
  readonly path?: string;
  /**
   * The whole spec, strict, with defaults filled in. An unknown member is a refusal `unknown_field`; generic apply uses
   * this schema too (with the exemptions of the kind's `lenient`).
   */
  readonly spec: GenericSchema<unknown, Spec>;
  /**
   * `flat`: the body holds the members of the spec themselves. `spec`: `{name, labels?, spec}` or flat. `document`: `{metadata, spec}`.
   */
  readonly body: 'flat' | 'spec' | 'document';
  /** Members of the spec that may be sent by another name as well. */
  readonly otherNames?: OtherNames;
  /** Members of the spec that create and update do not take: another route writes them (Q-UNIT-04), or apply alone (ADEF-13). */
  readonly writtenElsewhere?: readonly string[];
  /** How generic apply treats it; `reason` of a kind that is deliberately not applied is served with 422. */
  readonly apply: { readonly how: 'yes' | 'create-only' } | { readonly how: 'no'; readonly reason: string };
  /** Something that runs: what does not fit in a row of it is named and the resource kept, so that it can be held, stopped, aborted and deleted. */
  readonly runs?: true;
  /**
   * Equipment and what watches over it: a status that does not fit is repaired as that of something that runs, for whoever drives it
   * tells most of it anew, and without its units and modules a plant can neither be run nor stopped.
   */
  readonly mendsStatus?: true;
  /** Required members that a REST create must carry besides `name`. */
  readonly required?: readonly string[];
  /** Keys of labels under `lineside.io/` that an engineer sets; all others there are the product's own (envelope.ts). */
  readonly openKeys?: readonly string[];
  initialStatus(spec: Spec): Status;
  /**
   * What is read back of a status (`StatusMembers`): a member of another shape is named, and is dropped or begins anew where the kind runs or
   * mends its status (read-row.ts).
   * Whatever any release has written fits. Without it members have the types with which a status begins.
   */
  readonly status?: Readonly<Record<string, GenericSchema>>;
  /** Completes the status that one is made with, whichever way it is made; `lastFact` is the last number of a stream of facts. */
  born?(status: Status, place: { readonly site: string; readonly name: string; lastFact(stream: string): number }): Status;
  /** What audit records and exports show of a spec: secrets left out. */
  redact?(spec: Spec): Spec;
  /** What a spec names. Pure; empty names are left out. */
  references?(spec: Spec, site: string): readonly Reference[];
  /**
   * What stays in memory of one that has ended and whose run is past (ADR 0035): what it is found by, and what a list orders and
   * shows. Pure, small, and JSON; without it nothing of the kind stays in memory. `members` are all of the run.
   */
  pastIndex?(resource: Resource<Spec, Status>, members: readonly Ref[]): Readonly<Record<string, unknown>>;
  /** What each member of an entry is: one that is otherwise says nothing. Whatever any release has written fits. */
  readonly pastShape?: PastShape;
  /** The orders in which its lists stand, and the texts by which one is found, kept of its entries. */
  readonly pastOrders?: PastOrders;
  /**
   * May be past without an entry of its own, as a member of a run that one of `kind` names: it has the name of the run (`alike`), or
   * begins with it and a hyphen (`below`), so that the run of a name is found without reading.
   */
  readonly pastWith?: { readonly kind: string; readonly named: 'alike' | 'below' };
  /**
   * Of a kind that names runs: another run of the same name, without which what this one holds is not read. It is past only while this
   * one is, is lent with it, and comes back before it.
   */
  readonly pastBelow?: string;
  /** Nothing of it but its name is a text that it is searched by: where its entry stays in memory, a search reads no row of it. */
  readonly foundByName?: true;
  /** What may be past of that by which a spec is judged when it is written. */
  judgedBy?(spec: Spec, site: string): readonly Ref[];
  /** Streams of facts that are of one resource alone, and become past with it. */
  streams?(site: string, name: string): readonly string[];
  /** Changes through a change request and its approval alone, where the appliance is set so (decisions D-CHANGE-01). */
  readonly controlled?: true;
  /** Stands in a site and does not hold it (decisions Q-ERR-11): what the appliance keeps about it. */
  readonly besideSite?: true;
}

/** References without those that name nothing. */
export function named(...references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ name }) => name !== '');
}

/** Codes of refusals by the status that they become. */
export type RefusalCodes = Readonly<Partial<Record<400 | 403 | 409 | 422, readonly string[]>>>;

/** What is judged and done when a resource of the kind is written; in the rules.ts of its domain. */
export interface KindRules<Spec, Status> {
  /** The codes with which these rules refuse a write or a delete, beyond those that every kind has; openapi.json tells them. */
  readonly refuses?: { readonly write?: RefusalCodes; readonly remove?: RefusalCodes };
  /** For apply of kinds that ignore unknown members (control programs): returns the spec and warnings. */
  readonly lenient?: (input: unknown) => { spec: Spec; warnings: string[] };
  /** What a spec says that is accepted and has no effect; told by apply, and as `notes` where the resource is read. */
  warnings?(spec: Spec): readonly string[];
  /**
   * Semantic admission after decoding: throws a Refusal, or returns the spec to store (for example with structured text
   * compiled to a network). `before` is absent on create. `via` tells REST and apply apart for the stated exemptions.
   */
  admit?(spec: Spec, context: Admission<Spec, Status>): Spec;
  /**
   * Kinds by whose resources `admit` judges what a spec says of them, where an edit of those may leave it behind and it stays (decisions
   * Q-ERR-13). What of them is not there `admit` does not check.
   */
  readonly judgedAgainst?: readonly string[];
  /**
   * What one accepted write of a changed spec puts beside it in the same transaction, for example the revision of a
   * recipe; `status` replaces the resource's own.
   */
  companions?(written: Written<Spec, Status>): Companions<Status>;
  /** What a delete would leave dangling beyond what references hold: runs, which are found by who owns them (decisions Q-ERR-11). */
  dependents?(resource: Resource<Spec, Status>, read: StoreReader): readonly Dependent[];
  /** A site: what stands in it holds it (decisions Q-ERR-11). */
  readonly heldByContents?: true;
  /** A further refusal of a delete (`unit_active`, `referencedBy` ...). */
  refuseDelete?(resource: Resource<Spec, Status>, read: StoreReader): void;
  /** What ran is evidence: the refusal of a delete in production mode (403), by its own route and in what a prune would come to. */
  keptInProduction?(): Refusal;
  /** The refusal of a delete while others need it, where it is not `has_dependents`. */
  held?(resource: Resource<Spec, Status>, holders: readonly Dependent[]): Refusal;
}

/** A kind with its rules, as routes and generic apply take it: a shape alone is not written, for nothing would be judged. */
export type Ruled<Spec = unknown, Status = unknown> = Kind<Spec, Status> & KindRules<Spec, Status> & { readonly hasRules: true };

export function ruled<Spec, Status>(kind: Kind<Spec, Status>, rules: KindRules<NoInfer<Spec>, NoInfer<Status>>): Ruled<Spec, Status> {
  return { ...kind, ...rules, hasRules: true };
}

export interface Admission<Spec, Status> {
  readonly name: string;
  readonly site: string;
  readonly via: 'rest' | 'apply' | 'system';
  readonly before: Resource<Spec, Status> | undefined;
  readonly read: StoreReader;
}

export interface Written<Spec, Status> {
  readonly name: string;
  readonly site: string;
  readonly spec: Spec;
  readonly before: Resource<Spec, Status> | undefined;
  /** The store as it is with the write. */
  readonly read: StoreReader;
  /** Display name of who writes. */
  readonly by: string;
}

/** One resource as a change wants it to be. Members that are left out keep their value (create: empty). */
export interface Put<Spec = unknown, Status = unknown> {
  readonly kind: Kind<Spec, Status>;
  readonly site: string;
  readonly name: string;
  readonly spec?: Spec;
  readonly status?: Status;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface Companions<Status> {
  readonly status?: Status;
  readonly puts?: readonly Put[];
}

/** Reading side of the store, as rules and reconcilers get it. */
export interface StoreReader {
  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined;
  /** Sorted by name; all sites when `site` is undefined. */
  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[];
  /**
   * What is kept of the past of a kind (`pastIndex`), sorted by name, as it is now. Members are read when they are asked for: those that
   * say a text are found by `saying`, without reading the others.
   */
  pastIndex<Entry>(kind: { readonly kind: string }, site?: string, saying?: PastSaying<Entry>): readonly PastEntry<Entry>[];
}

export type SpecOf<K> = K extends Kind<infer Spec, infer _Status> ? Spec : never;
export type StatusOf<K> = K extends Kind<infer _Spec, infer Status> ? Status : never;
export type SchemaOutput<S extends GenericSchema> = InferOutput<S>;
