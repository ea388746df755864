/** Equipment and procedural mode (contract 2, Equipment mode; decisions Q-TAG-13, Q-TAG-14, Q-UNIT-04, 3.7). */
import * as v from 'valibot';
import { MODES, type Mode } from '../../../runtime/vocabulary/modes.js';
import { invalid, missing } from '../../platform/base/refusal.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { unitOf } from '../control-modules/rules.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import type { UnitRuntimes } from '../units/runtimes.js';

export const ModeBody = v.strictObject({ kind: v.string(), name: v.string(), mode: v.string() });
export type ModeBody = v.InferOutput<typeof ModeBody>;

type Moded = Kind<{ mode: Mode | '' }, unknown>;
const KINDS = new Map<string, Moded>([ControlModule, Unit, Procedure, UnitProcedure, Operation, Phase].map((kind) => [kind.kind, kind as unknown as Moded]));

export interface ModeAnswer {
  readonly ok: true;
  readonly kind: string;
  readonly name: string;
  readonly mode: Mode;
  readonly previousMode: Mode;
  readonly message: string;
}

export async function setMode(
  deps: { readonly store: Store; readonly runtimes: UnitRuntimes },
  site: string,
  body: ModeBody,
  audit: (entry: Pick<AuditDraft, 'target' | 'before' | 'after'>) => AuditDraft,
): Promise<ModeAnswer> {
  const { store } = deps;
  const kind = KINDS.get(body.kind);
  if (!kind) throw invalid('invalid_field', 'kind', `kind must be one of ${[...KINDS.keys()].join(', ')}`, { allowed: [...KINDS.keys()] });
  const mode = MODES.find((word) => word === body.mode);
  if (!mode) throw invalid('invalid_field', 'mode', `mode must be one of ${MODES.join(', ')}`, { allowed: MODES });
  const resource = store.get(kind, site, body.name);
  if (!resource) throw missing(body.kind, body.name);
  const previousMode = presentMode(resource);
  const puts: Put[] = [modePut(kind, resource, mode)];
  const work = body.kind === 'Unit' ? (resource as unknown as Resource<unknown, { activeWork: { kind: string; name: string } | null }>).status.activeWork : null;
  const workKind = work && KINDS.get(work.kind);
  const root = workKind && store.get(workKind, site, work.name);
  if (workKind && root) puts.push(modePut(workKind, root, mode));
  if (mode === 'Manual') puts.push(...ancestorsToManual(store, site, root ?? resource));
  const target = { kind: body.kind, name: body.name, site };
  await store.write({ puts, audits: [audit({ target, before: { mode: previousMode }, after: { mode } })] });
  tellRuntime(deps, site, resource, mode);
  return { ok: true, kind: body.kind, name: body.name, mode, previousMode, message: `${body.kind} ${body.name} is in ${mode}` };
}

/** The status value takes precedence over the spec value; unset reads as Automatic (contract 2, Equipment mode). */
function presentMode(resource: Resource<{ mode: Mode | '' }, unknown>): Mode {
  const status = resource.status as { readonly mode?: Mode } | undefined;
  return status?.mode ?? (resource.spec.mode === '' ? 'Automatic' : resource.spec.mode);
}

function modePut(kind: Moded, resource: Resource<{ mode: Mode | '' }, unknown>, mode: Mode): Put {
  const status = resource.status as { readonly mode?: Mode };
  return {
    kind: kind as unknown as Put['kind'],
    site: resource.metadata.site,
    name: resource.metadata.name,
    spec: { ...resource.spec, mode },
    ...(status.mode === undefined ? {} : { status: { ...status, mode } }),
  };
}

/** Setting a level to Manual puts the levels above it into Manual (decisions 3.7). */
function ancestorsToManual(store: Store, site: string, resource: Resource): Put[] {
  const puts: Put[] = [];
  let parent = (resource.spec as { readonly parentRef?: { readonly kind: string; readonly name: string } | null }).parentRef;
  while (parent) {
    const kind = KINDS.get(parent.kind);
    const above = kind && store.get(kind, site, parent.name);
    if (!kind || !above) break;
    puts.push(modePut(kind, above, 'Manual'));
    parent = (above.spec as unknown as { readonly parentRef?: { readonly kind: string; readonly name: string } | null }).parentRef;
  }
  return puts;
}

function tellRuntime({ store, runtimes }: { readonly store: Store; readonly runtimes: UnitRuntimes }, site: string, resource: Resource, mode: Mode): void {
  const { name } = resource.metadata;
  if (resource.kind === 'ControlModule') {
    const module = store.get(ControlModule, site, name);
    if (module) runtimes.link(site, unitOf(store, site, module.spec))?.send({ type: 'module-mode', module: name, mode });
  }
  if (resource.kind === 'Phase') {
    const phase = store.get(Phase, site, name) as Resource<{ unitRef: string }, ElementStatus> | undefined;
    if (phase) runtimes.link(site, phase.spec.unitRef)?.send({ type: 'phase-mode', phase: name, mode });
  }
}
