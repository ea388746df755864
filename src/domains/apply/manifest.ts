/** The shape of a manifest (decisions 1.1, Q-CHANGE-06, Q-VER-03): read strictly, status and server-managed metadata ignored. */
import * as v from 'valibot';
import { nearest } from '../../platform/base/nearest.js';
import { assert } from '../../platform/base/assert.js';
import { invalid, Refusal, together } from '../../platform/base/refusal.js';
import { checkResourceName, checkSiteName } from '../../platform/base/resource-name.js';
import { decode } from '../../platform/http/json-body.js';
import { Annotations, checkApiVersion, Labels } from '../../platform/store/envelope.js';
import { freeMap } from '../../platform/store/free-map.js';
import { LEFT_OUT } from './differs.js';
import { FROM_DEVICE } from './from-device.js';
import { LEFT_BEHIND } from './left-behind.js';
import { type AnyKind, type AppliedKinds, UNAPPLIED_KINDS } from './kinds.js';

/** Of one request: a plant of a hundred units comes in one transaction; decisions Q-CHANGE-06 asks for 500. */
export const MANIFESTS_MAX = 5000;

const Metadata = v.strictObject({
  name: v.string(),
  namespace: v.optional(v.string()),
  labels: v.optional(Labels),
  annotations: v.optional(Annotations),
  // managed by the server: accepted, so that an export or a read can be sent back, and ignored
  uid: v.optional(v.unknown()),
  generation: v.optional(v.unknown()),
  resourceVersion: v.optional(v.unknown()),
  creationTimestamp: v.optional(v.unknown()),
  deletionTimestamp: v.optional(v.unknown()),
  ownerReferences: v.optional(v.unknown()),
  managedFields: v.optional(v.unknown()),
});

const ManifestShape = v.strictObject({
  apiVersion: v.string(),
  kind: v.string(),
  metadata: Metadata,
  spec: v.optional(freeMap(v.unknown()), {}),
  status: v.optional(freeMap(v.unknown())),
});

/** With the spec of the kind: by it a member is found that is indented by too little or too much. */
export function wholeManifest(kind: AnyKind | undefined): unknown {
  return kind && !kind.lenient ? v.strictObject({ ...ManifestShape.entries, spec: kind.spec as v.GenericSchema<unknown, unknown> }) : ManifestShape;
}

export interface Manifest {
  readonly kind: AnyKind;
  readonly name: string;
  /** Undefined when the manifest names no namespace. */
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** The box that exported it. */
  readonly fromDevice: string | undefined;
  /** It stood where it was exported although it does not fit the others. */
  readonly wasBehind: boolean;
  /** Member that is a secret and was left out where it was exported. */
  readonly leftOut: string | undefined;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>> | undefined;
}

/** @throws Refusal 400 for a shape that cannot be read or an unsupported kind, 422 for a kind that is deliberately not applied. */
export function readManifest(input: unknown, kinds: AppliedKinds): Manifest {
  const said = (input as { readonly kind?: unknown } | null)?.kind;
  const { apiVersion, kind: word, metadata, spec, status } = decode(ManifestShape, input, () => wholeManifest(typeof said === 'string' ? kinds.named(said) : undefined));
  const found = kinds.named(word);
  together(
    () => checkApiVersion(apiVersion),
    () => {
      if (!found) throw refuseKind(word, kinds);
    },
    () => (word === 'Site' ? checkSiteName(metadata.name) : checkResourceName(metadata.name, 'metadata.name')),
    () => {
      if (found?.scope === 'cluster' && metadata.namespace !== undefined && metadata.namespace !== '')
        throw invalid('invalid_field', 'metadata.namespace', `${found.kind} belongs to no site, so it must not carry a namespace`);
    },
  );
  assert(found, 'a kind that there is not was refused');
  const kind = found;
  const { [FROM_DEVICE]: fromDevice, [LEFT_BEHIND]: behind, [LEFT_OUT]: leftOut, ...own } = metadata.annotations ?? {};
  const isPlain = fromDevice === undefined && behind === undefined && leftOut === undefined;
  const annotations = isPlain ? metadata.annotations : Object.keys(own).length > 0 ? own : undefined;
  const { name, namespace, labels } = metadata;
  return { kind, name, namespace: namespace || undefined, labels, annotations, fromDevice, wasBehind: behind !== undefined, leftOut, spec, status };
}

function refuseKind(word: string, kinds: AppliedKinds): Refusal {
  const reason = Object.hasOwn(UNAPPLIED_KINDS, word) ? UNAPPLIED_KINDS[word] : undefined;
  if (reason !== undefined) return new Refusal('unprocessable', `${word} is not applied: ${reason}`, { code: 'kind_not_applied', kind: word, reason });
  const near = nearest(
    word,
    kinds.all.map(({ kind }) => kind),
  );
  return invalid('unsupported_kind', 'kind', `there is no kind ${word} that apply can take${near === undefined ? '' : `; the nearest there is is ${near}`}`, {
    kind: word,
    ...(near === undefined ? {} : { nearest: near }),
  });
}

const NAMESPACE = /^site-(.+)$/;

/** Site of a namespaced manifest: its namespace, else the query, else the only site of a confined token (decisions Q-CHANGE-06). */
export function siteOfManifest({ kind, namespace }: Manifest, querySite: string | undefined, ownSites: readonly string[] | null): string {
  if (kind.scope === 'cluster') return '';
  if (namespace !== undefined) {
    const site = NAMESPACE.exec(namespace)?.[1];
    if (site === undefined) throw invalid('invalid_field', 'metadata.namespace', `namespace ${namespace} must have the form site-<site>`);
    return site;
  }
  if (querySite) return querySite;
  const [own, ...others] = ownSites ?? [];
  if (own !== undefined && others.length === 0) return own;
  throw invalid('missing_field', 'metadata.namespace', `${kind.kind} needs metadata.namespace (site-<site>), or query site`);
}
