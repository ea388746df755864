/** Equipment and procedural mode (contract 2, Equipment mode; decisions Q-TAG-13, Q-TAG-14, Q-UNIT-04, 3.7). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES, type Mode } from '../../../runtime/vocabulary/modes.js';
import { invalid } from '../../platform/base/refusal.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { absent } from '../../platform/store/absent.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Kind } from '../../platform/store/kind.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { PendingFact } from '../runs/execution-log.js';
import { equipmentFacts, type Intervention, modeFacts } from '../runs/interventions.js';
import { ControlModule, type ControlModuleSpec } from '../control-modules/kind.js';
import { modeOf } from '../control-modules/modules.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { isAbove, scopeOf } from '../procedures/roots.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { unitOf } from '../plant/unit-of.js';

export const ModeBody = v.strictObject({ kind: v.string(), name: v.string(), mode: v.string() });
export type ModeBody = v.InferOutput<typeof ModeBody>;

type Element = Resource<{ readonly mode: Mode | ''; readonly stepPath: string; readonly unitRef?: string }, unknown>;
type Moded = Kind<{ mode: Mode | '' }, unknown>;
const KINDS = new Map<string, Moded>([ControlModule, Unit, Procedure, UnitProcedure, Operation, Phase].map((kind) => [kind.kind, kind as Moded]));

export const ModeAnswer = v.strictObject({
  ok: v.literal(true),
  kind: v.string(),
  name: v.string(),
  mode: v.picklist(MODES),
  previousMode: v.picklist(MODES),
  message: v.string(),
});
export type ModeAnswer = ToldBy<typeof ModeAnswer>;

nameSchemas({ ModeBody, ModeAnswer });

interface ModeDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
}

export async function setMode(deps: ModeDeps, site: string, body: ModeBody, audit: (entry: Pick<AuditDraft, 'target' | 'before' | 'after'>) => AuditDraft): Promise<ModeAnswer> {
  const { store } = deps;
  const kind = KINDS.get(body.kind);
  if (!kind) throw invalid('invalid_field', 'kind', `kind must be one of ${[...KINDS.keys()].join(', ')}`, { allowed: [...KINDS.keys()] });
  const mode = MODES.find((word) => word === body.mode);
  if (!mode) throw invalid('invalid_field', 'mode', `mode must be one of ${MODES.join(', ')}`, { allowed: MODES });
  const past = pastRows(store);
  const named = [{ kind: body.kind, site, name: body.name }];
  return past.during(named, async () => {
    if (!store.get(kind, site, body.name)) throw absent(store, kind, site, body.name);
    const brought = past.bring(named);
    if (brought) (await brought)(); // it is held, and written in this turn
    return changeMode(deps, site, { kind, name: body.name, mode }, audit);
  });
}

async function changeMode(
  deps: ModeDeps,
  site: string,
  { kind, name, mode }: { readonly kind: Moded; readonly name: string; readonly mode: Mode },
  audit: (entry: Pick<AuditDraft, 'target' | 'before' | 'after'>) => AuditDraft,
): Promise<ModeAnswer> {
  const { store } = deps;
  const resource = store.get(kind, site, name);
  if (!resource) throw absent(store, kind, site, name);
  const previousMode = presentMode(resource);
  const moved: [Moving, ...Moving[]] = [{ kind, resource }];
  const work = kind.kind === 'Unit' ? (resource as Resource<unknown, { activeWork: { kind: string; name: string } | null }>).status.activeWork : null;
  const workKind = work && KINDS.get(work.kind);
  const root = workKind && store.get(workKind, site, work.name);
  if (workKind && root) moved.push({ kind: workKind, resource: root });
  if (mode === 'Manual') moved.push(...ancestors(store, site, root ?? resource));
  const target = { kind: kind.kind, name: name, site };
  const record = audit({ target, before: { mode: previousMode }, after: { mode } });
  const done = { audit: record, at: timestamp(deps.clock.wallMs()), action: 'Mode', value: mode, previousValue: previousMode, message: `mode of ${kind.kind} ${name}` };
  await store.write({ puts: moved.map(({ kind: of, resource: one }) => modePut(of, one, mode)), audits: [record], facts: factsOfMode(store, site, moved, done) });
  tellRuntime(deps, site, resource, mode);
  return { ok: true, kind: kind.kind, name: name, mode, previousMode, message: `${kind.kind} ${name} is in ${mode}` };
}

/** The status value takes precedence over the spec value; unset reads as Automatic (contract 2, Equipment mode). */
function presentMode(resource: Resource<{ mode: Mode | '' }, unknown>): Mode {
  const status = resource.status as { readonly mode?: Mode } | undefined;
  return status?.mode ?? (resource.spec.mode === '' ? 'Automatic' : resource.spec.mode);
}

function modePut(kind: Moded, resource: Resource<{ mode: Mode | '' }, unknown>, mode: Mode): Put {
  const status = resource.status as { readonly mode?: Mode };
  return {
    kind,
    site: resource.metadata.site,
    name: resource.metadata.name,
    spec: { ...resource.spec, mode },
    ...(status.mode === undefined ? {} : { status: { ...status, mode } }),
  };
}

interface Moving {
  readonly kind: Moded;
  readonly resource: Resource<{ mode: Mode | '' }, unknown>;
}

/** For the record of the batch that holds the equipment, or that the element belongs to. */
function factsOfMode(store: Store, site: string, moved: readonly [Moving, ...Moving[]], done: Intervention): PendingFact[] {
  const [{ resource }] = moved;
  const { name } = resource.metadata;
  if (resource.kind === 'ControlModule') return equipmentFacts(store, site, unitOf(store, site, (resource as Resource<ControlModuleSpec>).spec), name, done);
  const elements = moved.filter((moving) => moving.resource.kind !== 'Unit').map((moving) => moving.resource as Element);
  const ofUnit = resource.kind === 'Unit' ? equipmentFacts(store, site, name, name, done) : [];
  const [asked, ...others] = elements;
  if (!asked || ofUnit.length > 0) return ofUnit;
  const changeOf = (element: Element) => ({
    element: { kind: element.kind, name: element.metadata.name, path: element.spec.stepPath },
    unit: element.spec.unitRef ?? '',
    previousMode: presentMode(element),
  });
  return modeFacts(store, { site, scope: scopeOf(store, asked as never) }, [changeOf(asked), ...others.map(changeOf)], done);
}

/** Setting a level to Manual puts the levels above it into Manual (decisions 3.7). */
function ancestors(store: Store, site: string, resource: Resource): Moving[] {
  const found: Moving[] = [];
  let parent = (resource.spec as { readonly parentRef?: { readonly kind: string; readonly name: string } | null }).parentRef;
  let below = resource.kind;
  while (parent && isAbove(parent.kind, below)) {
    below = parent.kind;
    const kind = KINDS.get(parent.kind);
    const above = kind && store.get(kind, site, parent.name);
    if (!kind || !above) break;
    found.push({ kind, resource: above });
    parent = (above.spec as { readonly parentRef?: { readonly kind: string; readonly name: string } | null }).parentRef;
  }
  return found;
}

function tellRuntime({ store, runtimes }: { readonly store: Store; readonly runtimes: UnitRuntimes }, site: string, resource: Resource, mode: Mode): void {
  const { name } = resource.metadata;
  if (resource.kind === 'ControlModule') {
    const module = store.get(ControlModule, site, name);
    // as it is now: while the record was synced, somebody else may have set it
    if (module) runtimes.link(site, unitOf(store, site, module.spec))?.send({ type: 'module-mode', module: name, mode: modeOf(module) });
  }
  if (resource.kind === 'Phase') {
    const phase = store.get(Phase, site, name) as Resource<{ unitRef: string }, ElementStatus> | undefined;
    if (phase) runtimes.link(site, phase.spec.unitRef)?.send({ type: 'phase-mode', phase: name, mode });
  }
}
