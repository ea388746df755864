/**
 * The active-batch gate of control modules and their templates: their logic runs on a unit as that of a control program does, so
 * an edit passes the same gate, and an engineer lifts it once with a reason (D-C-13; ADR 0020). A module that works is not deleted.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { editsOf, OVERRIDE_WINDOW_MS, type OverrideUse, refuseWhileActive, unitsAtWork } from '../logic/active-work.js';
import { type OverriddenEdit } from '../runs/logic-edits.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus, type ControlModuleTemplateSpec } from './kind.js';
import { unitOf } from '../plant/unit-of.js';

type Module = Resource<ControlModuleSpec, ControlModuleStatus>;

export interface PassedGate {
  /** Of overrides that were used up. */
  readonly puts: readonly Put[];
  /** For the record of the work that went on. */
  readonly edits: readonly OverriddenEdit[];
}

/**
 * @returns the status without the override when the edit has used it up; no status when it stays.
 * @throws Refusal 409 `active_batch`.
 */
export function passModuleGate(
  module: Module,
  after: ControlModuleSpec,
  read: StoreReader,
  terms: Terms,
): { readonly status?: ControlModuleStatus; readonly edits: readonly OverriddenEdit[] } {
  const [was, will] = [behaviourOf(module.spec), behaviourOf(after)];
  if (isDeepStrictEqual(was, will)) return { edits: [] };
  const { site, name } = module.metadata;
  // an edit that moves it puts its logic on the other unit
  const used = pass(module, new Set([unitOf(read, site, module.spec), unitOf(read, site, after)]), read, terms);
  if (!used) return { edits: [] };
  return { status: used.status, edits: editsOf([used.use], { site, subject: `control module ${name}`, before: was, after: will }) };
}

/** As `passModuleGate`, for every module made from the template: what an edit uses up is written with it. */
export function passTemplateGate(template: Resource<ControlModuleTemplateSpec>, after: ControlModuleTemplateSpec, read: StoreReader, terms: Terms): PassedGate {
  const [was, will] = [shownApart(template.spec), shownApart(after)];
  if (isDeepStrictEqual(was, will)) return { puts: [], edits: [] };
  const { name } = template.metadata;
  const used = read
    .list(ControlModule)
    .filter(({ spec }) => spec.templateRef === name)
    .flatMap((module) => usedUp(module, read, terms) ?? []);
  const sites = [...new Set(used.map(({ put }) => put.site))];
  const edits = sites.flatMap((site) =>
    editsOf(
      used.filter(({ put }) => put.site === site).map(({ use }) => use),
      { site, subject: `control module template ${name}`, before: was, after: will },
    ),
  );
  return { puts: used.map(({ put }) => put), edits };
}

/** What a change of something under a module uses up: of its template, of a channel it is wired to. @throws Refusal 409 `active_batch`. */
export function usedUp(module: Module, read: StoreReader, terms: Terms): { readonly put: Put; readonly use: OverrideUse } | undefined {
  const { site, name } = module.metadata;
  const used = pass(module, new Set([unitOf(read, site, module.spec)]), read, terms);
  return used && { put: { kind: ControlModule, site, name, status: used.status }, use: used.use };
}

/** Logic that comes new to a unit. @throws Refusal 409 `active_batch`. */
export function refuseNewModule(site: string, name: string, spec: ControlModuleSpec, read: StoreReader): void {
  const wayOut = `end that work, or create ${name} without a parent, arm override-hot-swap of it with a reason, and give it its place then`;
  refuseWhileActive(site, unitOf(read, site, spec), read, wayOut);
}

export function armModule({ status }: Module, by: string, reason: string, terms: Terms): ControlModuleStatus & Required<Pick<ControlModuleStatus, 'hotSwapOverride'>> {
  return { ...status, hotSwapOverride: { ...terms.begin(OVERRIDE_WINDOW_MS), by, reason } };
}

function pass(module: Module, units: ReadonlySet<string>, read: StoreReader, terms: Terms) {
  const { site, name } = module.metadata;
  const working = unitsAtWork(site, units, read, `end that work, or arm override-hot-swap of control module ${name} with a reason`);
  const [first] = working;
  if (!first) return undefined;
  const { hotSwapOverride, ...status } = module.status;
  if (!hotSwapOverride || terms.remainingMs(hotSwapOverride) === 0) throw first.refusal;
  return { status, use: { user: name, units: working.map(({ unit }) => unit), reason: hotSwapOverride.reason } };
}

/** The mode is set by operators through its own route, which has its own rules. */
function behaviourOf({ description: _description, symbolId: _symbol, mode: _mode, ...spec }: ControlModuleSpec): unknown {
  return spec;
}

function shownApart({ description: _description, symbolId: _symbol, ...spec }: ControlModuleTemplateSpec): unknown {
  return spec;
}
