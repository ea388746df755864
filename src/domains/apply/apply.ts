/**
 * Generic apply (contract 3, Generic apply and export; decisions Q-CHANGE-05..08): create or update by name, all
 * manifests of one request in one transaction. What the kind's own routes refuse, apply refuses with the same status,
 * except the exemptions the contract names.
 *
 * Order: the shape of all manifests, the permission for all, then one by one against what those before leave behind; what is
 * referred to goes first, wherever it stands in the request.
 */
import { isDeepStrictEqual } from 'node:util';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { inside } from '../../platform/base/assert.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import { decode } from '../../platform/http/json-body.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { statusOfRefusal } from '../../platform/http/status.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { companionsOf } from '../../platform/store/companions.js';
import { writtenKeys } from '../../platform/store/envelope.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import { byOwnNames } from '../../platform/store/other-names.js';
import { inOrder } from '../../platform/store/references.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Ref, Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { checkTexts } from '../../platform/store/texts.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { PendingFact } from '../runs/execution-log.js';
import { editFacts } from '../runs/logic-edits.js';
import { type Arrival, arrived } from './from-device.js';
import { keyChanges, ManifestChange, specChanges } from './changes.js';
import { admitted } from './left-behind.js';
import { applyRuleOf } from './kind-rules.js';
import { type Box, differences } from './differs.js';
import { type AnyKind, type AppliedKinds, ROUTELESS_KINDS } from './kinds.js';
import { type Manifest, readManifest, siteOfManifest } from './manifest.js';
import { StagedStore } from './staging.js';
import { Site } from '../plant/kind.js';
import type { Reference, StoreReader } from '../../platform/store/kind.js';

/** Who applies: a caller behind the route, or a component such as the demo. */
export interface ApplyActor {
  readonly displayName: string;
  /** Sites the caller is confined to; null when unrestricted. */
  readonly sites: readonly string[] | null;
  /** A component of the product, which writes reserved labels. */
  readonly isComponent?: true;
  may(action: string): boolean;
  audit(entry: Partial<AuditDraft>): AuditDraft;
}

export interface ApplyDeps {
  /** Of this box; undefined where nothing comes from elsewhere. */
  readonly deviceId?: string;
  readonly box?: Box;
  readonly store: Store;
  readonly clock: Clock;
  readonly kinds: AppliedKinds;
}

const OPERATIONS = ['created', 'configured', 'unchanged'] as const;
export type Operation = (typeof OPERATIONS)[number];

export const Applied = v.strictObject({
  apiVersion: v.string(),
  kind: v.string(),
  /** '' for what belongs to no site. */
  namespace: v.string(),
  name: v.string(),
  operation: v.picklist(OPERATIONS),
  generation: v.number(),
  warnings: v.array(v.string()),
  /** Only of a dry run: nothing was stored. */
  dryRun: v.optional(v.literal(true)),
  /** Of a dry run: what would change, value by value. */
  changes: v.optional(v.array(ManifestChange)),
});
export type Applied = ToldBy<typeof Applied>;

nameSchemas({ AppliedManifest: Applied, ManifestChange });

type Keys = Readonly<Record<string, string>>;

interface Step {
  readonly manifest: Manifest;
  readonly site: string;
}

interface Written {
  readonly audits: AuditDraft[];
  readonly facts: PendingFact[];
}

interface Outcome {
  readonly step: Step;
  readonly operation: Operation;
  readonly warnings: readonly string[];
  readonly changes: () => readonly ManifestChange[];
}

export interface ApplyWish {
  /** Where manifests name none. */
  readonly site?: string | undefined;
  /** Judges everything and tells what would change; stores nothing (D-C-03). */
  readonly dryRun?: boolean;
}

/** @throws Refusal of the first manifest that is refused, with its `index` when there are several; nothing is written then. */
export async function applyManifests(inputs: readonly unknown[], actor: ApplyActor, deps: ApplyDeps, wish: ApplyWish = {}): Promise<Applied[]> {
  const several = inputs.length > 1;
  const refused: RefusedManifest[] = [];
  const steps: IndexedStep[] = [];
  inputs.forEach((input, index) => {
    orRefused(refused, index, wordsOf(input), () => {
      const manifest = readManifest(input, deps.kinds);
      steps.push({ index, manifest, site: siteOfManifest(manifest, wish.site, actor.sites) });
    });
  });
  // what is past is there before it is asked what the caller may do with it, and until it is written
  const needed = steps.filter((step) => isInScope(step, actor)).flatMap(neededOf);
  refuseTooMany(needed, deps.store);
  return pastRows(deps.store).during(needed, () => {
    for (const step of steps) atIndex(step.index, several, () => authorise(step, actor, deps.store));
    return applySteps(steps, refused, several, actor, deps, wish);
  });
}

/** Whatever the manifests are about is held whole until all of them are written, and a run is some hundred kB. */
const PAST_RUNS_MAX = 100;

function refuseTooMany(needed: readonly Ref[], store: Store): void {
  const runs = pastRows(store).countNames(needed);
  if (runs <= PAST_RUNS_MAX) return;
  const message = `the manifests are about ${runs} ended batches, and one request takes those of ${PAST_RUNS_MAX}: send them in several requests, each with the manifests of ${PAST_RUNS_MAX} batches at most`;
  throw new Refusal('unprocessable', message, { code: 'too_many_past_runs', runs, limit: PAST_RUNS_MAX });
}

type IndexedStep = Step & { readonly index: number };

async function applySteps(
  steps: readonly IndexedStep[],
  refused: RefusedManifest[],
  several: boolean,
  actor: ApplyActor,
  deps: ApplyDeps,
  { dryRun }: ApplyWish,
): Promise<Applied[]> {
  const allRead = refused.length === 0;
  const staged = new StagedStore(deps.store);
  const written: Written = { audits: [], facts: [] };
  const { audits, facts } = written;
  const outcomes: Outcome[] = [];
  /** Refused, or naming one that is: what names it in turn is right for all that is known. */
  const withheld = new Set<string>();
  for (const step of inOrderOfNeed(steps, deps)) {
    const { index, manifest, site } = step;
    const isStaged = orRefused(
      refused,
      index,
      { kind: manifest.kind.kind, name: manifest.name },
      () => {
        outcomes[index] = stage(step, actor, staged, written, deps);
      },
      // what it refers to may be a manifest that cannot be read, or one that is told already
      ({ context: { code, kind, name } }) => code !== 'unknown_reference' || (allRead && ![site, ''].some((of) => withheld.has(`${String(kind)}/${of}/${String(name)}`))),
    );
    if (!isStaged) withheld.add(`${manifest.kind.kind}/${site}/${manifest.name}`);
  }
  if (refused.length > 0) throw refusalOfAll(refused, several);
  if (dryRun) return outcomes.map((outcome) => ({ ...served(outcome, deps.store), dryRun: true, changes: [...outcome.changes()] }));
  // one record at least per request, also when nothing changed (D-AUDIT-02)
  if (audits.length === 0) audits.push(actor.audit({ action: 'Update', category: 'apply', details: { unchanged: outcomes.length } }));
  const puts: readonly Put[] = staged.puts;
  await deps.store.write({ puts, audits, facts });
  return outcomes.map((outcome) => served(outcome, deps.store));
}

/** What may be past of that by which a manifest is judged. */
function neededOf({ manifest: { kind, name, spec }, site }: Step): readonly Ref[] {
  const { parentRef } = spec as { readonly parentRef?: { readonly kind?: unknown; readonly name?: unknown } | null };
  const isNamed = typeof parentRef?.kind === 'string' && typeof parentRef.name === 'string';
  return [{ kind: kind.kind, site, name }, ...(isNamed ? (kind.judgedBy?.(spec, site) ?? []) : [])];
}

interface NamedManifest {
  readonly kind: string;
  readonly name: string;
}

interface RefusedManifest extends NamedManifest {
  readonly index: number;
  readonly refusal: Refusal;
}

/** Goes on after a refusal: an array is told all that is wrong with it at once (D-C-03). @returns whether there was none. */
function orRefused(refused: RefusedManifest[], index: number, named: NamedManifest, work: () => void, isTold: (refusal: Refusal) => boolean = () => true): boolean {
  try {
    work();
    return true;
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    if (isTold(fault)) refused.push({ ...named, index, refusal: fault });
    return false;
  }
}

/** What a manifest that cannot be read calls itself, as far as it does. */
function wordsOf(input: unknown): NamedManifest {
  const { kind, metadata } = (input ?? {}) as { readonly kind?: unknown; readonly metadata?: { readonly name?: unknown } | null };
  const text = (word: unknown): string => (typeof word === 'string' ? word : '');
  return { kind: text(kind), name: text(metadata?.name) };
}

/** The refusal of the first in the order of the request; of several manifests all are named (D-C-03). */
function refusalOfAll(refused: readonly RefusedManifest[], several: boolean): Refusal {
  const inOrder = refused.toSorted((a, b) => a.index - b.index);
  const { index, refusal } = inside(inOrder, 0, 'somebody was refused');
  if (!several) return refusal;
  const errors = inOrder.map(({ index: at, kind, name, refusal: each }) => ({
    index: at,
    kind,
    name,
    status: statusOfRefusal(each),
    ...(each.context.code === undefined ? {} : { code: each.context.code }),
    error: each.message,
    ...(each.context.field === undefined ? {} : { field: each.context.field }),
    ...(Array.isArray(each.context.diagnostics) ? { diagnostics: each.context.diagnostics as readonly unknown[] } : {}),
  }));
  return new Refusal(refusal.kind, `manifest ${index}: ${refusal.message}`, { ...refusal.context, index, errors });
}

/** What is referred to comes first, whatever the order of the request; else by kind, then as given. */
function inOrderOfNeed<S extends Step>(steps: readonly S[], { store: read, kinds }: ApplyDeps): readonly S[] {
  const rankOf = ({ manifest }: Step): number => kinds.rankOf(manifest.kind);
  const byKind = steps.toSorted((a, b) => rankOf(a) - rankOf(b));
  return inOrder(byKind, (step) => ({ kind: step.manifest.kind.kind, site: step.site, name: step.manifest.name, references: referencesOfStep(step, read) }));
}

/** A spec that does not read names nothing: it is refused when its turn comes. */
function referencesOfStep({ manifest: { kind, name, spec }, site }: Step, read: StoreReader): readonly Reference[] {
  if (!kind.references) return [];
  try {
    return kind.references(decodeSpec(kind, keepMode(spec, read.get(kind, site, name)?.spec)).spec, site);
  } catch (fault) {
    if (fault instanceof Refusal) return [];
    throw fault;
  }
}

function atIndex<T>(index: number, several: boolean, work: () => T): T {
  try {
    return work();
  } catch (fault) {
    if (!several || !(fault instanceof Refusal)) throw fault;
    throw new Refusal(fault.kind, `manifest ${index}: ${fault.message}`, { ...fault.context, index });
  }
}

function scopeOf({ manifest: { kind, name }, site }: Step): string {
  return kind.kind === 'Site' ? name : site;
}

function isInScope(step: Step, { sites }: ApplyActor): boolean {
  const scope = scopeOf(step);
  return scope === '' || sites === null || sites.includes(scope);
}

/** Beside its own action, apply needs that of the kind's create or update route (decisions Q-CHANGE-07). */
function authorise({ manifest, site }: Step, actor: ApplyActor, store: Store): void {
  const { kind, name } = manifest;
  if (!isInScope({ manifest, site }, actor)) {
    const scope = scopeOf({ manifest, site });
    throw new Refusal('forbidden', `site ${scope} is outside your scope`, { code: 'site_scope', site: scope });
  }
  if (ROUTELESS_KINDS.includes(kind.kind)) return;
  const action = `${kind.action}:${store.get(kind, site, name) ? 'update' : 'create'}`;
  if (!actor.may(action)) throw new Refusal('forbidden', `applying ${kind.kind} ${name} needs the action ${action}`, { code: 'action_missing', action });
}

function stage({ manifest, site }: Step, actor: ApplyActor, staged: StagedStore, { audits, facts }: Written, deps: ApplyDeps): Outcome {
  const { kind, name } = manifest;
  if (site !== '' && !staged.get(Site, '', site)) throw new Refusal('missing', `site ${site} does not exist`, { code: 'not_found' });
  const before: Resource<unknown, unknown> | undefined = staged.get(kind, site, name);
  const { spec: written, warnings: notes } = decodeSpec(kind, keepMode(manifest.spec, before?.spec));
  checkTexts(written, before?.spec, 'spec.');
  const { spec: decoded, warning } =
    kind.kind === 'IOModule' ? arrived({ name, spec: written, before, fromDevice: manifest.fromDevice, deviceId: deps.deviceId } as Arrival) : { spec: written };
  const ignored = manifest.status ? ['status is ignored: apply takes the spec, and what runs makes its own status'] : [];
  const { spec, behind } = admitted(kind, decoded, { name, site, via: 'apply', before, read: staged }, manifest.wasBehind);
  const left = behind === undefined ? [] : [`taken as it was exported, although it does not fit the others: ${behind}`];
  const differs = differences({ manifest, site, spec, before, box: deps.box });
  const warnings = [...notes, ...(warning === undefined ? [] : [warning]), ...ignored, ...left, ...differs];
  const labels = changedKeys(manifest.labels, before?.metadata.labels, 'metadata.labels', kind, actor);
  const annotations = changedKeys(manifest.annotations, before?.metadata.annotations, 'metadata.annotations', kind, actor);
  const changed = !before || !isDeepStrictEqual(spec, before.spec);
  const step: Step = { manifest, site };
  if (!changed && !labels && !annotations) return { step, operation: 'unchanged', warnings, changes: () => [] };
  const ruled = applyRuleOf(kind.kind)?.({ site, name, spec, before, changed, read: staged, nowMs: deps.clock.wallMs(), terms: deps.store.terms });
  const companions = changed ? companionsOf(kind, { name, site, spec, before, read: staged, by: actor.displayName }) : {};
  const status: unknown = ruled?.status ?? companions.status;
  staged.put({
    kind,
    site,
    name,
    spec,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(status === undefined ? {} : { status }),
  });
  for (const put of [...(companions.puts ?? []), ...(ruled?.puts ?? [])]) staged.put(put);
  const audit = actor.audit({
    site: site || (kind.kind === 'Site' ? name : ''),
    action: before ? 'Update' : 'Create',
    category: kind.action,
    target: { kind: kind.kind, name, site: site || (kind.kind === 'Site' ? name : '') },
    result: 'Success',
    details: { via: 'apply', ...(behind === undefined ? {} : { leftBehind: behind }) },
    ...(before ? { before: shown(kind, before.spec) } : {}),
    after: shown(kind, spec),
  });
  facts.push(...editFacts(deps.store, ruled?.edits, { audit, at: timestamp(deps.clock.wallMs()), auditOffset: audits.length }));
  audits.push(audit);
  const changes = (): readonly ManifestChange[] => [
    ...keyChanges('metadata.labels', before?.metadata.labels, labels),
    ...keyChanges('metadata.annotations', before?.metadata.annotations, annotations),
    ...(changed ? specChanges(kind, before?.spec, spec) : []),
  ];
  return { step, operation: before ? 'configured' : 'created', warnings: [...warnings, ...(ruled?.warnings ?? [])], changes };
}

/** Labels or annotations to write; undefined when they stay as they are. */
function changedKeys(given: Keys | undefined, stored: Keys = {}, field: string, { openKeys }: AnyKind, { isComponent }: ApplyActor): Keys | undefined {
  const keys = isComponent ? given : writtenKeys(given, stored, field, openKeys);
  return keys && !isDeepStrictEqual(keys, stored) ? keys : undefined;
}

function shown(kind: AnyKind, spec: unknown): unknown {
  return kind.redact?.(spec) ?? spec;
}

/** The equipment mode stands in the spec, but an operator sets it (contract 2, Equipment mode): a manifest that does not name it leaves it alone. */
function keepMode(spec: unknown, before: unknown): unknown {
  const mode = (before as { readonly mode?: unknown } | undefined)?.mode;
  if (!MODES.some((word) => word === mode) || typeof spec !== 'object' || spec === null || 'mode' in spec) return spec;
  return { ...spec, mode };
}

function decodeSpec(kind: AnyKind, spec: unknown): { readonly spec: unknown; readonly warnings: readonly string[] } {
  if (kind.lenient) return kind.lenient(spec);
  const decoded = decode(v.strictObject({ spec: kind.spec as v.GenericSchema<unknown, unknown> }), { spec: ownNamesOf(kind, spec) }).spec;
  return { spec: decoded, warnings: kind.warnings?.(decoded) ?? [] };
}

function served({ step: { manifest, site }, operation, warnings }: Outcome, store: Store): Applied {
  const { kind, name } = manifest;
  const generation = store.get(kind, site, name)?.metadata.generation ?? 0;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, namespace: site === '' ? '' : `site-${site}`, name, operation, generation, warnings };
}

/** What is no object is refused by the schema. */
function ownNamesOf({ otherNames }: AnyKind, spec: unknown): unknown {
  return typeof spec === 'object' && spec !== null ? byOwnNames(spec, otherNames, 'spec.') : spec;
}
