/**
 * A kind: the one source of its types, its strict decoding, its JSON Schema, its CRUD routes and its place in apply.
 */
import type { GenericSchema, InferOutput } from 'valibot';
import type { Resource } from './resource.js';
import type { Put } from './store.js';

export type KindGroup = 'physical' | 'control' | 'recipe' | 'record' | 'system';

export interface Dependent {
  readonly kind: string;
  readonly name: string;
}

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
  /** For apply of kinds that ignore unknown members (control programs): returns the spec and warnings. */
  readonly lenient?: (input: unknown) => { spec: Spec; warnings: string[] };
  /** What a spec says that is accepted and has no effect; told by apply, and as `notes` where the resource is read. */
  warnings?(spec: Spec): readonly string[];
  /**
   * `flat`: the body holds the members named in `restFields`; extension members are served but written by apply only
   * (D-UNIT-01). `spec`: `{name, labels?, spec}` or flat. `document`: `{metadata, spec}`.
   */
  readonly body: 'flat' | 'spec' | 'document';
  /** Members a REST body may carry (body form `flat`); all members when absent. */
  readonly restFields?: readonly string[];
  /** How generic apply treats it; `reason` of a kind that is deliberately not applied is served with 422. */
  readonly apply: { readonly how: 'yes' | 'create-only' } | { readonly how: 'no'; readonly reason: string };
  /** Something that runs: what does not fit in a row of it is named and the resource kept, so that it can be held, stopped, aborted and deleted. */
  readonly runs?: true;
  /** Required members that a REST create must carry besides `name`. */
  readonly required?: readonly string[];
  /** Keys of labels under `lineside.io/` that an engineer sets; all others there are the product's own (envelope.ts). */
  readonly openKeys?: readonly string[];
  initialStatus(spec: Spec): Status;
  /** Completes the status that one is made with, whichever way it is made; `lastFact` is the last number of a stream of facts. */
  born?(status: Status, place: { readonly site: string; readonly name: string; lastFact(stream: string): number }): Status;
  /**
   * Semantic admission after decoding: throws a Refusal, or returns the spec to store (for example with structured text
   * compiled to a network). `before` is absent on create. `via` tells REST and apply apart for the stated exemptions.
   */
  admit?(spec: Spec, context: Admission<Spec, Status>): Spec;
  /**
   * What one accepted write of a changed spec puts beside it in the same transaction, for example the revision of a
   * recipe; `status` replaces the resource's own.
   */
  companions?(written: Written<Spec, Status>): Companions<Status>;
  /** What audit records and exports show of a spec: secrets left out. */
  redact?(spec: Spec): Spec;
  /** What would be left dangling by deleting it (decisions Q-ERR-11). */
  dependents?(resource: Resource<Spec, Status>, read: StoreReader): readonly Dependent[];
  /** A further refusal of a delete (`unit_active`, `referencedBy` ...). */
  refuseDelete?(resource: Resource<Spec, Status>, read: StoreReader): void;
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

export interface Companions<Status> {
  readonly status?: Status;
  readonly puts?: readonly Put[];
}

/** Reading side of the store, as rules and reconcilers get it. */
export interface StoreReader {
  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined;
  /** Sorted by name; all sites when `site` is undefined. */
  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[];
}

export type SpecOf<K> = K extends Kind<infer Spec, infer _Status> ? Spec : never;
export type StatusOf<K> = K extends Kind<infer _Spec, infer Status> ? Status : never;
export type SchemaOutput<S extends GenericSchema> = InferOutput<S>;
