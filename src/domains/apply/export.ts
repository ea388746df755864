/** Export (decisions Q-CHANGE-10): manifests in an order that apply accepts, without secrets and read-only kinds. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Clock } from '../../platform/base/clock.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Turns } from '../../platform/base/slices.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalText } from '../../platform/ledger/canonical-json.js';
import { MANIFEST_METADATA, manifestOf as documentOf, withoutOwnKeys } from '../../platform/store/manifest.js';
import type { OneMoment } from '../../platform/store/one-moment.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import { Alarm } from '../alarms/kind.js';
import { Batch } from '../batches/kind.js';
import { ChangeRequest } from '../change-control/kind.js';
import { isAdhoc } from '../procedures/roots.js';
import { LEFT_OUT, leftOutOf } from './differs.js';
import { FROM_DEVICE } from './from-device.js';
import { LEFT_BEHIND, whyBehind } from './left-behind.js';
import type { AnyKind, AppliedKinds } from './kinds.js';
import { NeedsFirst, referencesIn, targetOf } from '../../platform/store/references.js';
import type { Store } from '../../platform/store/store.js';

/** Spec and status are those of the kind. */
const MANIFEST = { apiVersion: v.string(), kind: v.string(), spec: v.unknown(), status: v.optional(v.unknown()) };

export const ExportedManifest = v.strictObject({ ...MANIFEST, metadata: v.strictObject(MANIFEST_METADATA) });
export type ExportedManifest = ToldBy<typeof ExportedManifest>;

export const Backup = v.strictObject({
  format: v.literal('lineside-backup/1'),
  createdAt: v.string(),
  version: v.string(),
  operatingMode: v.picklist(['production', 'development']),
  deviceId: v.string(),
  resources: v.array(v.strictObject({ ...MANIFEST, metadata: v.strictObject({ ...MANIFEST_METADATA, uid: v.string() }) })),
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

/**
 * As JSON, in pieces. What is written is of one moment; what is judged anew takes time, so everybody else is served meanwhile: it is
 * judged by how the others are then.
 * @throws Refusal 503 `past_busy` while another one writes down what is past.
 */
export async function* exportedJson(store: Store, applied: AppliedKinds, wish: ExportWish, clock: Clock): AsyncGenerator<string, void> {
  const kinds = applied.all.filter((kind) => isWanted(kind, wish.kinds));
  const isRead = (site: string): boolean => isVisible(site, wish);
  // what has happened comes with the status only, and much of it is past
  const { moment, end } = await pastRows(store).moment(kinds, wish.status ? isRead : () => false);
  const written = ({ kind, resource }: OfKind): string => {
    const whole = ofDevice(wish.deviceId, kind, manifestOf(kind, withoutOwnKeys(kind, resource), wish.status));
    const secret = leftOutOf(kind, resource.spec);
    const manifest = secret === '' ? whole : annotated(whole, LEFT_OUT, secret);
    const behind = whyBehind(kind, resource, store);
    return JSON.stringify(behind === '' ? manifest : annotated(manifest, LEFT_BEHIND, behind));
  };
  try {
    yield '[';
    yield* listed(moment, kinds, ({ kind, resource }) => isExported(kind, resource, wish), written, clock);
    yield ']';
  } finally {
    end();
  }
}

function annotated(manifest: ExportedManifest, key: string, text: string): ExportedManifest {
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: text } } };
}

interface OfKind {
  readonly kind: AnyKind;
  readonly resource: Resource;
}

/** A chunk of the answer, and of the work between two turns. */
const CHARACTERS_AT_ONCE = 64_000;

/** Those that are wanted, each in writing and after a comma, by kind and name; what is referred to comes first, so that apply takes it as it stands. */
async function* listed(
  moment: OneMoment,
  kinds: readonly AnyKind[],
  isListed: (one: OfKind) => boolean,
  write: (one: OfKind) => string,
  clock: Clock,
): AsyncGenerator<string, void> {
  const turns = new Turns(clock);
  // what is past needs no place: nothing names it at a write, and it names what is of the kinds before it
  const order = new NeedsFirst<OfKind>(
    ({ resource }) => targetOf(resource),
    ({ kind, resource }) => referencesIn(kind, resource),
  );
  for (const kind of kinds) {
    for (const resource of moment.present(kind)) {
      if (turns.isOver) await turns.next();
      if (isListed({ kind, resource })) order.add({ kind, resource });
    }
  }
  let text = '';
  let comma = '';
  for (const kind of kinds) {
    for await (const page of moment.of(kind)) {
      for (const resource of page) {
        if (!isListed({ kind, resource })) continue;
        for (const one of order.take({ kind, resource })) {
          if (turns.isOver) await turns.next();
          text += comma + write(one);
          comma = ',';
          if (text.length < CHARACTERS_AT_ONCE) continue;
          yield text;
          text = '';
        }
      }
    }
  }
  if (text !== '') yield text;
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

function isVisible(scope: string, { site, visible }: ExportWish): boolean {
  return visible(scope) && (site === undefined || site === scope);
}

/** Derived resources come back by themselves; alarms, batches and the elements of a run are what happened, not configuration. */
export function isExported(kind: AnyKind, resource: Resource<unknown, unknown>, wish: ExportWish): boolean {
  const { status: withStatus } = wish;
  if (kind.kind === ChangeRequest.kind) return false; // it carries signatures of this box, which no other takes
  const { metadata, spec } = resource;
  const scope = kind.kind === 'Site' ? metadata.name : metadata.site;
  if (scope !== '' && !isVisible(scope, wish)) return false;
  if (metadata.ownerReferences.length > 0 && !(withStatus && kind.group === 'recipe')) return false;
  const { batchRef, parentRef } = spec as { batchRef?: string; parentRef?: unknown };
  if (withStatus) return true;
  if (HAPPENED.includes(kind.kind) || isAdhoc(resource)) return false;
  if (kind.group === 'recipe' && (batchRef || parentRef)) return false;
  return !(kind.group === 'control' && batchRef && kind.body === 'spec');
}

export function manifestOf(kind: AnyKind, resource: Resource<unknown, unknown>, withStatus: boolean): ExportedManifest {
  return { ...documentOf(kind, resource), ...(withStatus ? { status: resource.status } : {}) };
}

/**
 * Everything that is stored and configured (decisions Q-CHANGE-10), as JSON in pieces.
 * @throws Refusal 503 `past_busy` while another one writes down what is past.
 */
export async function* backupJson(
  store: Store,
  kinds: AppliedKinds,
  facts: Pick<Backup, 'createdAt' | 'version' | 'operatingMode' | 'deviceId'>,
  clock: Clock,
): AsyncGenerator<string, void> {
  const { moment, end } = await pastRows(store).moment(kinds.all);
  const sum = createHash('sha256').update('[');
  let comma = '';
  const written = ({ kind, resource }: OfKind): string => {
    const manifest = manifestOf(kind, resource, true);
    const whole = { ...manifest, metadata: { ...manifest.metadata, uid: resource.metadata.uid } };
    sum.update(comma + canonicalText(whole));
    comma = ',';
    return JSON.stringify(whole);
  };
  try {
    const head: Omit<Backup, 'resources' | 'sha256'> = { format: 'lineside-backup/1', ...facts };
    yield `${JSON.stringify(head).slice(0, -1)},"resources":[`;
    yield* listed(moment, kinds.all, () => true, written, clock);
    yield `],"sha256":"${sum.update(']').digest('hex')}"}`;
  } finally {
    end();
  }
}
