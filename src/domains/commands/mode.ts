/** Equipment and procedural mode (contract 2, Equipment mode; decisions Q-TAG-13, Q-TAG-14, Q-UNIT-04, 3.7). */
import { told } from '../../../runtime/vocabulary/told.js';
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
import { moduleUnderCheck } from '../loop-checks/equipment.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { Level, type LevelElement, levelRef, levelsAbove, levelWords } from '../procedures/manual-levels.js';
import { type LevelRef, LevelReference, type ManualSince } from '../procedures/manual-since.js';
import { isAbove, scopeOf } from '../procedures/roots.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { unitOf } from '../plant/unit-of.js';

/** More levels than a recipe has. */
const ALSO_MAX = 500;

export const ModeBody = v.strictObject({
  kind: v.string(),
  name: v.string(),
  mode: v.string(),
  /** Of an element: other elements of the same batch or ad-hoc run that get the mode with it, in the same transaction. */
  also: v.optional(v.pipe(v.array(v.strictObject({ kind: v.string(), name: v.string() })), v.maxLength(ALSO_MAX, `must name at most ${ALSO_MAX} levels`)), []),
});
export type ModeBody = v.InferOutput<typeof ModeBody>;

type Element = Resource<
  { readonly mode: Mode | ''; readonly stepPath: string; readonly unitRef?: string; readonly batchRef: string; readonly parentRef: Ref | null },
  ElementStatus
>;
interface Ref {
  readonly kind: string;
  readonly name: string;
}
type Moded = Kind<{ mode: Mode | '' }, unknown>;
const KINDS = new Map<string, Moded>([ControlModule, Unit, Procedure, UnitProcedure, Operation, Phase].map((kind) => [kind.kind, kind as Moded]));

export const ModeAnswer = v.strictObject({
  ok: v.literal(true),
  kind: v.string(),
  name: v.string(),
  mode: v.picklist(MODES),
  previousMode: v.picklist(MODES),
  /** Other levels that this request has brought into the mode: those above one that goes to Manual, and those that it names. */
  levels: v.array(v.strictObject({ ...LevelReference.entries, previousMode: v.picklist(MODES) })),
  /** Of elements that are not in Manual any more: the levels above them that are. Nothing takes them back but a request. */
  stillManual: v.array(Level),
  message: v.string(),
});
export type ModeAnswer = ToldBy<typeof ModeAnswer>;

nameSchemas({ ModeBody, ModeAnswer });

interface ModeDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
}

type Audit = (entry: Pick<AuditDraft, 'target' | 'before' | 'after' | 'details'>) => AuditDraft;
/** Of the components of the product, which set one thing. */
type ModeOrder = Pick<ModeBody, 'kind' | 'name' | 'mode'> & Partial<Pick<ModeBody, 'also'>>;

export async function setMode(deps: ModeDeps, site: string, { also = [], ...body }: ModeOrder, audit: Audit): Promise<ModeAnswer> {
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
    return changeMode(deps, site, { kind, name: body.name, mode, also }, audit);
  });
}

interface ModeChange {
  readonly kind: Moded;
  readonly name: string;
  readonly mode: Mode;
  readonly also: readonly Ref[];
}

async function changeMode(deps: ModeDeps, site: string, { kind, name, mode, also }: ModeChange, audit: Audit): Promise<ModeAnswer> {
  const { store } = deps;
  const resource = store.get(kind, site, name);
  if (!resource) throw absent(store, kind, site, name);
  const checked = kind.kind === ControlModule.kind && mode === 'Automatic' ? moduleUnderCheck(store, site, name) : undefined;
  if (checked) throw checked;
  const previousMode = presentMode(resource);
  const asked: Moving = { kind, resource };
  const work = kind.kind === 'Unit' ? (resource as Resource<unknown, { activeWork: { kind: string; name: string } | null }>).status.activeWork : null;
  const workKind = work && KINDS.get(work.kind);
  const root = workKind && store.get(workKind, site, work.name);
  const others: Moving[] = [...(workKind && root ? [{ kind: workKind, resource: root }] : []), ...companions(store, site, asked, also)];
  if (mode === 'Manual') for (const one of [root ?? resource, ...others.map((other) => other.resource)]) others.push(...ancestors(store, site, one));
  const moved: readonly [Moving, ...Moving[]] = [asked, ...distinct(others, resource)];
  const levels = moved
    .slice(1)
    .flatMap((moving) => (presentMode(moving.resource) === mode ? [] : [{ ...levelRef(moving.resource as never as LevelElement), previousMode: presentMode(moving.resource) }]));
  const target = { kind: kind.kind, name, site };
  const record = audit({ target, before: { mode: previousMode }, after: { mode }, ...(levels.length === 0 ? {} : { details: { levels } }) });
  const at = timestamp(deps.clock.wallMs());
  const done = {
    audit: record,
    at,
    action: 'Mode',
    value: mode,
    previousValue: previousMode,
    message: `mode of ${kind.kind} ${name}`,
    told: told('mode-set', { kind: kind.kind, name }),
  };
  const because = { kind: kind.kind, name, path: pathOf(resource) };
  await store.write({ puts: moved.map((moving) => modePut(moving, mode, { since: at, because })), audits: [record], facts: factsOfMode(store, site, moved, done) });
  for (const moving of moved) tellRuntime(deps, site, moving.resource, mode);
  const stillManual = mode === 'Manual' ? [] : manualAbove(store, moved);
  return { ok: true, kind: kind.kind, name, mode, previousMode, levels, stillManual, message: messageOf(`${kind.kind} ${name}`, mode, levels, stillManual) };
}

function messageOf(what: string, mode: Mode, levels: readonly LevelRef[], stillManual: readonly Level[]): string {
  const named = (some: readonly LevelRef[]): string => some.map(levelWords).join(', ');
  const isIn = `${what} is in ${mode}`;
  if (stillManual.length > 0)
    return `${[isIn, ...(levels.length > 0 ? [named(levels)] : [])].join(', and so are ')}; above it still in Manual: ${named(stillManual)}. What is in Manual fires no transition: set these back too`;
  if (levels.length === 0) return isIn;
  return mode === 'Manual' ? `${isIn}, and with it the levels above it: ${named(levels)}. None of them goes back by itself` : `${isIn}, and so are ${named(levels)}`;
}

/** Those that the request names beside the element. @throws Refusal of one that is not there, or not of the same batch or ad-hoc run. */
function companions(store: Store, site: string, { kind, resource }: Moving, also: readonly Ref[]): Moving[] {
  return also.map((ref, at) => {
    const of = KINDS.get(ref.kind);
    const found = of && isElement(of) ? store.get(of, site, ref.name) : undefined;
    if (!of || !found) throw invalid('unknown_reference', `also[${at}]`, `also[${at}]: there is no procedural element ${ref.kind} ${ref.name}`);
    if (!isElement(kind) || scopeOf(store, found as Element) !== scopeOf(store, resource as Element)) {
      throw invalid(
        'invalid_field',
        `also[${at}]`,
        `also[${at}]: ${ref.kind} ${ref.name} is of another batch or run than ${kind.kind} ${resource.metadata.name}; send it by itself`,
      );
    }
    return { kind: of, resource: found };
  });
}

/** Above any of the elements, each once. */
function manualAbove(store: Store, moved: readonly Moving[]): Level[] {
  const above = moved.filter(({ kind }) => isElement(kind)).flatMap(({ resource }) => levelsAbove(store, resource as never as LevelElement));
  return [...new Map(above.filter((level) => level.mode === 'Manual').map((level) => [`${level.kind}/${level.name}`, level])).values()];
}

function isElement({ kind }: Moded): boolean {
  return kind !== ControlModule.kind && kind !== Unit.kind;
}

function distinct(moving: readonly Moving[], asked: Resource): Moving[] {
  const known = new Map(moving.map((each) => [`${each.resource.kind}/${each.resource.metadata.name}`, each]));
  known.delete(`${asked.kind}/${asked.metadata.name}`);
  return [...known.values()];
}

function pathOf({ spec }: Resource): string {
  return (spec as { readonly stepPath?: string }).stepPath ?? '';
}

/** The status value takes precedence over the spec value; unset reads as Automatic (contract 2, Equipment mode). */
function presentMode(resource: Resource<{ mode: Mode | '' }, unknown>): Mode {
  const status = resource.status as { readonly mode?: Mode } | undefined;
  return status?.mode ?? (resource.spec.mode === '' ? 'Automatic' : resource.spec.mode);
}

/** One that is in Manual already stays so for the reason that it has. */
function modePut({ kind, resource }: Moving, mode: Mode, begun: ManualSince): Put {
  const { manual, ...status } = resource.status as { readonly mode?: Mode; readonly manual?: ManualSince };
  const since = mode !== 'Manual' || !isElement(kind) ? {} : { manual: (presentMode(resource) === 'Manual' && manual) || begun };
  return {
    kind,
    site: resource.metadata.site,
    name: resource.metadata.name,
    spec: { ...resource.spec, mode },
    ...(status.mode === undefined ? {} : { status: { ...status, mode, ...since } }),
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
