/**
 * The shape of everything that is configured and everything that runs (decisions 1.1), in its internal form: a site
 * instead of a namespace, and numbers instead of decimal text. `apply` and `export` translate.
 */
export interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface Metadata {
  readonly name: string;
  /** '' for cluster-scoped kinds. */
  readonly site: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** From 1, +1 per change of spec. */
  readonly generation: number;
  /** +1 per write, one counter for the appliance; ETag and backup only. */
  readonly resourceVersion: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Resource<Spec = unknown, Status = unknown> {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status: Status;
}

/** One thing that is known of a resource, as in Kubernetes. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface Ref {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
}

export function refOf(resource: Resource): Ref {
  return { kind: resource.kind, site: resource.metadata.site, name: resource.metadata.name };
}

/** By what a resource is kept where all kinds are: names of kinds, sites and resources have no slash. */
export function keyOf({ kind, site, name }: Ref): string {
  return `${kind}/${site}/${name}`;
}

/** A row that does not fit: it is told as an alarm and in health until it is written again or removed. */
export interface RowFault extends Ref {
  readonly fault: string;
  /** The resource is there all the same. */
  readonly kept: boolean;
  /** Of a row that cannot be read: what lies there. */
  readonly text?: string;
}

export function withoutText({ text: _text, ...fault }: RowFault): RowFault {
  return fault;
}
