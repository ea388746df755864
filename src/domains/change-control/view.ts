/** A change request as it is served: what was asked for in words of values, what it would touch, and whether it still speaks of what is there. */
import * as v from 'valibot';
import { Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import type { RouteColumns } from '../../platform/http/route.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Target, touchedBy } from '../../platform/store/references.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Kind, Ruled } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { ManifestChange, specChanges } from '../apply/changes.js';
import { decodeSpec } from '../apply/judging.js';
import type { AppliedKinds } from '../apply/kinds.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import { Site, Unit } from '../plant/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { workOn } from '../plant/unit-owner.js';
import { mayRead } from '../search/readable.js';
import { signaturesOver } from '../signatures/follow.js';
import { ListedSignature, listed } from '../signatures/served.js';
import type { SigningKeys } from '../signatures/signature.js';
import { CHANGE_PHASES, ChangeRequest, ChangeRequestSpec, type ChangeRequestResource } from './kind.js';
import { digestOf, present, targetOf, type TargetPlace } from './target.js';

const Status = v.strictObject({
  phase: v.picklist(CHANGE_PHASES),
  author: v.string(),
  createdAt: v.string(),
  /** Until when it can be approved; it expires by elapsed time, whatever is done to the clock. */
  expiresAt: v.string(),
  /** '' while nobody has decided it; of one that is Withdrawn, who has withdrawn it. */
  decidedBy: v.string(),
  decidedAt: v.string(),
  decisionReason: v.string(),
  appliedAt: v.string(),
  /** Why it was not applied. */
  error: v.string(),
  /** Of the target when the request was made; '' where there was none. */
  baseDigest: v.string(),
  /** Of the target as the approval left it; '' where nothing was applied, or the target has gone. */
  appliedDigest: v.string(),
});

const Used = v.strictObject({
  kind: v.string(),
  site: v.string(),
  name: v.string(),
  /** 1: it names the target; 2: it names one that does. */
  distance: v.number(),
});

const BlastRadius = v.strictObject({
  uses: v.array(Used),
  /** There are more than are told. */
  truncated: v.boolean(),
  /** Units that what is touched stands in or works on; `batch` is the work that one has now, '' where it has none. */
  units: v.array(v.strictObject({ site: v.string(), name: v.string(), state: v.string(), batch: v.string() })),
  /** Batches that run there, or name what is touched. */
  batches: v.array(v.strictObject({ site: v.string(), name: v.string(), phase: v.string() })),
});
type BlastRadius = ToldBy<typeof BlastRadius>;

export const ChangeRequestBody = v.strictObject({
  namespace: v.string(),
  name: v.string(),
  spec: ChangeRequestSpec,
  status: Status,
});
export type ChangeRequestBody = ToldBy<typeof ChangeRequestBody>;

export const ChangeRequestDetail = v.strictObject({
  ...ChangeRequestBody.entries,
  /** While it waits: what it would change of the target as it is now. Of one that is applied: what was changed. */
  changes: v.array(ManifestChange),
  changesTotal: v.number(),
  /** Whether the target is another than when the request was made: its approval would fail. */
  targetChanged: v.boolean(),
  blastRadius: BlastRadius,
  /** Given over the request, with what each is worth by now; oldest first. */
  signatures: v.array(ListedSignature),
});
export type ChangeRequestDetail = ToldBy<typeof ChangeRequestDetail>;

nameSchemas({ ChangeRequestStatus: Status, ChangeBlastRadius: BlastRadius, ChangeRequestBody, ChangeRequestDetail });

export function requestBody({ metadata: { site, name }, spec, status }: ChangeRequestResource): ChangeRequestBody {
  const { phase, author, createdAt, until, decidedBy, decidedAt, decisionReason, appliedAt, error, baseDigest, appliedDigest } = status;
  return {
    namespace: `site-${site}`,
    name,
    spec,
    status: { phase, author, createdAt, expiresAt: until, decidedBy, decidedAt, decisionReason, appliedAt, error, baseDigest, appliedDigest },
  };
}

export interface ViewDeps {
  readonly store: Store;
  readonly kinds: AppliedKinds;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
  /** Every row that is served: what a caller may not read he is not told of. */
  rows(): readonly RouteColumns[];
}

const CHANGES_MAX = 1000;

export async function requestDetail(request: ChangeRequestResource, caller: Caller, deps: ViewDeps): Promise<ChangeRequestDetail> {
  const target = targetOf(request.spec, request.metadata.site, deps.kinds);
  const isOpen = request.status.phase === 'Pending';
  const spec = present(target, deps.store)?.spec;
  const changes = isOpen ? wantedChanges(request, target, spec) : (request.status.changes ?? []);
  return {
    ...requestBody(request),
    changes: changes.slice(0, CHANGES_MAX),
    changesTotal: changes.length,
    targetChanged: digestOf(target.kind, spec) !== (request.status.phase === 'Applied' ? request.status.appliedDigest : request.status.baseDigest),
    blastRadius: await blastRadiusOf(target, caller, deps),
    signatures: (await signaturesOver({ ...deps, kinds: deps.kinds.all as readonly Kind[] }, { kind: ChangeRequest.kind, ...request.metadata })).map(listed),
  };
}

/** Of the spec; empty of a request without a manifest, which changes nothing by itself. */
function wantedChanges({ spec: { operation, manifest } }: ChangeRequestResource, { kind }: TargetPlace, now: unknown): readonly ToldBy<typeof ManifestChange>[] {
  if (operation === 'Delete') return specChanges(kind, now, undefined);
  if (manifest === undefined) return [];
  try {
    const { mode } = (now ?? {}) as { readonly mode?: unknown };
    const wanted = (manifest.spec ?? {}) as Readonly<Record<string, unknown>>;
    // as apply does: who sets the mode of equipment is its operator
    return specChanges(kind, now, decodeSpec(kind, mode === undefined || 'mode' in wanted ? wanted : { ...wanted, mode }).spec);
  } catch (fault) {
    if (fault instanceof Refusal) return []; // its approval tells why it is not taken any more
    throw fault;
  }
}

/** Who names what would change, and on, as far as the caller may see; and the work that goes on there. */
async function blastRadiusOf(target: TargetPlace, caller: Caller, { store, kinds, rows }: ViewDeps): Promise<BlastRadius> {
  const readable = new Map<string, Ruled>(kinds.all.filter((kind) => mayRead(caller, kind, rows())).map((kind) => [kind.kind, kind]));
  const isTold = (each: Target): boolean => readable.has(each.kind) && isInScope(caller, each);
  const place: Target = { kind: target.kind.kind, site: target.site, name: target.name };
  const { touched, isCut } = await touchedBy(place, store, (name) => readable.get(name), isTold);
  const units = new Map<string, BlastRadius['units'][number]>();
  for (const each of [place, ...touched]) {
    const unit = unitConcerned(each, store);
    const found = unit === undefined ? undefined : store.get(Unit, each.site, unit);
    if (found && isTold({ kind: Unit.kind, site: each.site, name: found.metadata.name }))
      units.set(`${each.site}/${found.metadata.name}`, { site: each.site, name: found.metadata.name, state: found.status.state, batch: workOn(found.status) });
  }
  const named = new Set(touched.filter(({ kind }) => kind === Batch.kind).map(({ site, name }) => `${site}/${name}`));
  for (const { site, batch } of units.values()) if (batch !== '') named.add(`${site}/${batch}`);
  const batches = store
    .list(Batch)
    .filter(({ metadata, status }) => named.has(`${metadata.site}/${metadata.name}`) && !isFinalBatch(status.phase) && isInScope(caller, { kind: Batch.kind, ...metadata }))
    .map(({ metadata: { site, name }, status: { phase } }) => ({ site, name, phase }));
  return {
    uses: touched.map(({ kind, site, name, distance }) => ({ kind, site, name, distance })),
    truncated: isCut,
    units: [...units.values()].sort((a, b) => (`${a.site}/${a.name}` < `${b.site}/${b.name}` ? -1 : 1)),
    batches,
  };
}

/** Where what is touched stands or works; undefined of what stands nowhere. */
function unitConcerned({ kind, site, name }: Target, store: Store): string | undefined {
  if (kind === Unit.kind) return name;
  const module = kind === ControlModule.kind ? store.get(ControlModule, site, name) : undefined;
  if (module) return unitOf(store, site, module.spec) || undefined;
  if (kind === ControlProgram.kind) return store.get(ControlProgram, site, name)?.spec.unitRef || undefined;
  return undefined;
}

function isInScope(caller: Caller, { kind, site, name }: Target): boolean {
  const scope = kind === Site.kind ? name : site;
  return scope === '' || mayVisit(caller, scope);
}
