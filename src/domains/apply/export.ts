/** Export (decisions Q-CHANGE-10): manifests in an order that apply accepts, without secrets and read-only kinds. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as v from 'valibot';
import type { Clock } from '../../platform/base/clock.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Slice } from '../../platform/base/slices.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { isReservedKey } from '../../platform/store/envelope.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { Alarm } from '../alarms/kind.js';
import { Batch } from '../batches/kind.js';
import { isAdhoc } from '../procedures/roots.js';
import { apiVersionOf } from './apply.js';
import { FROM_DEVICE } from './from-device.js';
import { LEFT_BEHIND, whyBehind } from './left-behind.js';
import type { AnyKind, AppliedKinds } from './kinds.js';
import { inOrder, placeOf } from '../../platform/store/references.js';

const METADATA = {
  name: v.string(),
  /** Absent for what belongs to no site. */
  namespace: v.optional(v.string()),
  labels: v.optional(v.record(v.string(), v.string())),
  annotations: v.optional(v.record(v.string(), v.string())),
};
/** Spec and status are those of the kind. */
const MANIFEST = { apiVersion: v.string(), kind: v.string(), spec: v.unknown(), status: v.optional(v.unknown()) };

export const ExportedManifest = v.strictObject({ ...MANIFEST, metadata: v.strictObject(METADATA) });
export type ExportedManifest = ToldBy<typeof ExportedManifest>;

export const Backup = v.strictObject({
  format: v.literal('lineside-backup/1'),
  createdAt: v.string(),
  version: v.string(),
  operatingMode: v.picklist(['production', 'development']),
  deviceId: v.string(),
  resources: v.array(v.strictObject({ ...MANIFEST, metadata: v.strictObject({ ...METADATA, uid: v.string() }) })),
  /** Of the canonical JSON of `resources`, hex. */
  sha256: v.string(),
});
export type Backup = ToldBy<typeof Backup>;

nameSchemas({ ExportedManifest, Backup });

export interface ExportWish {
  /** Of this box. */
  readonly deviceId?: string | undefined;
  /** One site and the cluster resources; undefined: every site that `visible` allows. */
  readonly site?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly status: boolean;
  readonly visible: (site: string) => boolean;
}

/** What is judged anew takes time, so everybody else is served meanwhile: it is judged by how the others are then. */
export async function exportManifests(read: StoreReader, applied: AppliedKinds, wish: ExportWish, clock: Clock): Promise<ExportedManifest[]> {
  const kinds = applied.all.filter((kind) => isWanted(kind, wish.kinds));
  const wanted = kinds.flatMap((kind) => resourcesOf(read, kind).filter(({ resource }) => isExported(kind, resource, wish)));
  const manifests: ExportedManifest[] = [];
  let slice = new Slice(clock);
  for (const { kind, resource } of inWriteOrder(wanted)) {
    if (slice.isOver) {
      await nextTurn();
      slice = new Slice(clock);
    }
    const manifest = ofDevice(wish.deviceId, kind, manifestOf(kind, withoutOwnKeys(kind, resource), wish.status));
    const behind = whyBehind(kind, resource, read);
    manifests.push(behind === '' ? manifest : annotated(manifest, LEFT_BEHIND, behind));
  }
  return manifests;
}

function annotated(manifest: ExportedManifest, key: string, text: string): ExportedManifest {
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: text } } };
}

interface OfKind {
  readonly kind: AnyKind;
  readonly resource: Resource;
}

function resourcesOf(read: StoreReader, kind: AnyKind): readonly OfKind[] {
  return read.list<unknown, unknown>(kind).map((resource) => ({ kind, resource }));
}

/** As given, by kind and name; what is referred to comes first, so that apply takes it as it stands. */
function inWriteOrder(resources: readonly OfKind[]): readonly OfKind[] {
  return inOrder(resources, ({ kind, resource }) => placeOf(kind, resource));
}

/** An I/O module names a device that one box drives: another box that takes the manifest must be able to tell. */
function ofDevice(deviceId: string | undefined, kind: AnyKind, manifest: ExportedManifest): ExportedManifest {
  if (deviceId === undefined || kind.kind !== 'IOModule') return manifest;
  return annotated(manifest, FROM_DEVICE, deviceId);
}

function isWanted(kind: AnyKind, kinds: readonly string[] | undefined): boolean {
  return kinds === undefined || [kind.kind, ...(kind.aliases ?? [])].some((name) => kinds.includes(name));
}

/** What happened on this box and is no configuration of another: it comes with `status` only (D-C-03). */
const HAPPENED: readonly string[] = [Alarm.kind, Batch.kind];

/** Derived resources come back by themselves; alarms, batches and the elements of a run are what happened, not configuration. */
function isExported(kind: AnyKind, resource: Resource<unknown, unknown>, { site, visible, status: withStatus }: ExportWish): boolean {
  const { metadata, spec } = resource;
  const scope = kind.kind === 'Site' ? metadata.name : metadata.site;
  if (scope !== '' && (!visible(scope) || (site !== undefined && site !== scope))) return false;
  if (metadata.ownerReferences.length > 0 && !(withStatus && kind.group === 'recipe')) return false;
  const { batchRef, parentRef } = spec as { batchRef?: string; parentRef?: unknown };
  if (withStatus) return true;
  if (HAPPENED.includes(kind.kind) || isAdhoc(resource)) return false;
  if (kind.group === 'recipe' && (batchRef || parentRef)) return false;
  return !(kind.group === 'control' && batchRef && kind.body === 'spec');
}

/** What the product has written on a resource is of this box, and no other takes it (envelope.ts). */
function withoutOwnKeys(kind: AnyKind, resource: Resource<unknown, unknown>): Resource<unknown, unknown> {
  const given = (keys: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(keys).filter(([key]) => !isReservedKey(key) || kind.openKeys?.includes(key)));
  const { metadata } = resource;
  return { ...resource, metadata: { ...metadata, labels: given(metadata.labels), annotations: given(metadata.annotations) } };
}

export function manifestOf(kind: AnyKind, { metadata, spec, status }: Resource<unknown, unknown>, withStatus: boolean): ExportedManifest {
  const { name, site, labels, annotations } = metadata;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name,
      ...(site === '' ? {} : { namespace: `site-${site}` }),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: kind.redact?.(spec) ?? spec,
    ...(withStatus ? { status } : {}),
  };
}

/** Everything that is stored and configured (decisions Q-CHANGE-10). */
export function backup(read: StoreReader, kinds: AppliedKinds, facts: Pick<Backup, 'createdAt' | 'version' | 'operatingMode' | 'deviceId'>): Backup {
  const resources = inWriteOrder(kinds.all.flatMap((kind) => resourcesOf(read, kind))).map(({ kind, resource }) => {
    const manifest = manifestOf(kind, resource, true);
    return { ...manifest, metadata: { ...manifest.metadata, uid: resource.metadata.uid } };
  });
  return { format: 'lineside-backup/1', ...facts, resources, sha256: canonicalDigest(resources) };
}
