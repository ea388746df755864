/**
 * The physical hierarchy (contract 3, Physical hierarchy request shapes; decisions 1.5): enterprise, site, area, process
 * cell and unit. What is below a unit lives in control-modules, io-modules and edge-controllers.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES, type Mode } from '../../../runtime/vocabulary/modes.js';
import { type State, STATES } from '../../../runtime/vocabulary/states.js';
import { Refusal } from '../../platform/base/refusal.js';
import { Condition, type ToldBy } from '../../platform/http/replies.js';
import { DurationText, Identifier, Required, Text } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import { type Kind, named, type Reference, type StatusMembers, type StoreReader } from '../../platform/store/kind.js';
import type { Resource, Condition as StoredCondition } from '../../platform/store/resource.js';
import { CommandRejection } from '../runs/command-rejection.js';
import { Connection, LayoutPlace } from './connections.js';
import {
  AREA_WORDS,
  AVAILABILITY_WORDS,
  ENTERPRISE_WORDS,
  FAILOVER_TARGETS_WORDS,
  NODE_SELECTOR_WORDS,
  PERMISSIVE_WORDS,
  PROCESS_CELL_WORDS,
  ROLE_BINDING_WORDS,
  SITE_WORDS,
  UNIT_PROPERTY_WORDS,
  UNIT_WORDS,
} from './field-words.js';

/** Most resources have no status of their own. */
export type NoStatus = Readonly<Record<string, never>>;
export const NO_STATUS: NoStatus = {};

export const EnterpriseSpec = v.strictObject({ description: Text });
export type EnterpriseSpec = v.InferOutput<typeof EnterpriseSpec>;

export const Enterprise: Kind<EnterpriseSpec, NoStatus> = {
  kind: 'Enterprise',
  group: 'physical',
  scope: 'cluster',
  action: 'enterprise',
  path: 'enterprises',
  spec: EnterpriseSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => NO_STATUS,
};

export const SiteSpec = v.strictObject({ enterpriseName: Text, description: Text, location: Text });
export type SiteSpec = v.InferOutput<typeof SiteSpec>;
export const SITE_PHASES = ['Active', 'Terminating'] as const;
export interface SiteStatus {
  readonly phase: (typeof SITE_PHASES)[number];
}

/** Cluster scoped: the site `demo` is a resource of site '' whose things live in site `demo` (namespace `site-demo`). */
export const Site: Kind<SiteSpec, SiteStatus> = {
  kind: 'Site',
  group: 'physical',
  scope: 'cluster',
  action: 'site',
  path: 'sites',
  spec: SiteSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => ({ phase: 'Active' }),
  references: (spec) => named({ path: 'enterpriseName', kind: 'Enterprise', site: '', name: spec.enterpriseName, when: 'write', holds: true }),
};

export const AreaSpec = v.strictObject({ description: Text });
export type AreaSpec = v.InferOutput<typeof AreaSpec>;

export const Area: Kind<AreaSpec, NoStatus> = {
  kind: 'Area',
  group: 'physical',
  scope: 'site',
  action: 'area',
  path: 'areas',
  spec: AreaSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => NO_STATUS,
};

export const ProcessCellSpec = v.strictObject({ areaName: Text, description: Text });
export type ProcessCellSpec = v.InferOutput<typeof ProcessCellSpec>;

export const ProcessCell: Kind<ProcessCellSpec, NoStatus> = {
  kind: 'ProcessCell',
  group: 'physical',
  scope: 'site',
  action: 'processcell',
  path: 'processcells',
  spec: ProcessCellSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => NO_STATUS,
  references: (spec, site) => named({ path: 'areaName', kind: 'Area', site, name: spec.areaName, when: 'write', holds: true }),
};

export const AVAILABILITY_MODES = ['None', 'Manual', 'Automatic'] as const; // decisions Q-UNIT-11

const NodeSelector = v.strictObject({ matchLabels: v.optional(freeMap(v.string()), {}) });
const FailoverTargets = v.strictObject({ nodes: v.optional(v.array(v.string()), []), selector: v.optional(NodeSelector, {}) });
const Availability = v.strictObject({ mode: v.optional(v.picklist(AVAILABILITY_MODES), 'None'), failoverTargets: v.optional(FailoverTargets, {}) });

/** What a unit is, for recipes that ask for it (D-C-12): `volume`, `material`. A number has the engineering unit beside it. */
export const UnitProperty = v.strictObject({ name: Identifier, value: Required, engineeringUnit: v.optional(v.string()) });
export type UnitProperty = v.InferOutput<typeof UnitProperty>;

const RoleBinding = v.strictObject({ role: Identifier, controlModule: Required });
const Permissive = v.strictObject({ name: Identifier, conditionST: Required, message: Text });

export const UnitSpec = v.strictObject({
  processCellName: Text,
  description: Text,
  /** Symbol of the console (decisions 1.8); empty: the default of the unit. */
  symbolId: Text,
  /** Empty: the unit runtime runs on the appliance itself. */
  controllerRef: Text,
  /** Default mode of work started on the unit; empty reads as Automatic. Written by POST mode, never by PUT. */
  mode: v.optional(v.picklist(['', ...MODES]), ''),
  capabilities: v.optional(v.array(v.string()), []),
  roleBindings: v.optional(v.array(RoleBinding), []),
  scanInterval: DurationText,
  availability: v.optional(Availability, {}),
  runtimeImage: Text,
  permissives: v.optional(v.array(Permissive), []),
  /** Absent in units of earlier releases. */
  properties: v.optional(v.array(UnitProperty)),
  /** What it is joined to, and where things stand on its picture (ADR 0141). Absent in units of earlier releases. */
  connections: v.optional(v.array(Connection)),
  layout: v.optional(v.array(LayoutPlace)),
});
export type UnitSpec = v.InferOutput<typeof UnitSpec>;

describeFields(EnterpriseSpec, ENTERPRISE_WORDS);
describeFields(SiteSpec, SITE_WORDS);
describeFields(AreaSpec, AREA_WORDS);
describeFields(ProcessCellSpec, PROCESS_CELL_WORDS);
describeFields(NodeSelector, NODE_SELECTOR_WORDS);
describeFields(FailoverTargets, FAILOVER_TARGETS_WORDS);
describeFields(Availability, AVAILABILITY_WORDS);
describeFields(UnitProperty, UNIT_PROPERTY_WORDS);
describeFields(Permissive, PERMISSIVE_WORDS);
describeFields(RoleBinding, ROLE_BINDING_WORDS);
describeFields(UnitSpec, UNIT_WORDS);

export const ActiveWork = v.strictObject({
  kind: v.string(),
  name: v.string(),
  state: v.picklist(STATES),
  batchRef: v.string(),
  since: v.string(),
});
export type ActiveWork = ToldBy<typeof ActiveWork>;

export const FailoverRequest = v.strictObject({
  target: v.string(),
  reason: v.string(),
  requestedBy: v.string(),
  requestedAt: v.string(),
  state: v.picklist(['Pending', 'Running', 'Completed', 'Failed']),
  message: v.string(),
});
export type FailoverRequest = ToldBy<typeof FailoverRequest>;

nameSchemas({ UnitAvailability: Availability, UnitPermissive: Permissive, UnitProperty, ActiveWork, FailoverRequest });

/** How much a unit has worked: by this one of a class is chosen (D-C-12). */
const UnitUsage = v.object({
  /** Times that it was given to a batch or an ad-hoc run. */
  count: v.number(),
  /** When it was last taken or given back, for people. */
  lastUsedAt: v.string(),
  /** The same as a version of the store, which no clock moves: larger is later. */
  lastUsedVersion: v.number(),
});
export type UnitUsage = Readonly<v.InferOutput<typeof UnitUsage>>;

export interface UnitStatus {
  /** '' until the unit runtime was seen for the first time. */
  readonly state: State | '';
  readonly mode: Mode;
  /** Who may drive it: name of the batch or of the ad-hoc root; empty when free. Judged and changed by `unit-owner.ts` only. */
  readonly allocatedTo: string;
  /** The batch that has it next, while the holder resets what it has left there. */
  readonly promisedTo?: string;
  /** The holder has begun the one reset of this hand-over (ADR 0014). */
  readonly resetBegun?: true;
  /** Why that reset has not ended; a Reset of the holder tries again. */
  readonly resetFailed?: string;
  readonly activeWork: ActiveWork | null;
  readonly runtime: { readonly ready: boolean; readonly message: string; readonly podName: string; readonly node: string; readonly epoch: number };
  readonly failoverRequest: FailoverRequest | null;
  readonly autoFailover: { readonly suspended: boolean; readonly triedNodes: readonly string[]; readonly summary: string };
  readonly commandRejection?: CommandRejection;
  readonly conditions: readonly StoredCondition[];
  /** The last element that ran here, kept so that its end state stays visible. */
  readonly lastWork?: { readonly kind: string; readonly name: string; readonly state: State; readonly endedAt: string };
  readonly heldInside: boolean;
  readonly blockedBecause: string;
  /** Absent until it is first used. */
  readonly usage?: UnitUsage;
}

const UNIT_STATUS: StatusMembers<UnitStatus> = {
  state: v.picklist(['', ...STATES]),
  mode: v.picklist(MODES),
  allocatedTo: v.string(),
  promisedTo: v.string(),
  resetBegun: v.literal(true),
  resetFailed: v.string(),
  activeWork: v.nullable(ActiveWork),
  runtime: v.object({ ready: v.boolean(), message: v.string(), podName: v.string(), node: v.string(), epoch: v.number() }),
  failoverRequest: v.nullable(FailoverRequest),
  autoFailover: v.object({ suspended: v.boolean(), triedNodes: v.array(v.string()), summary: v.string() }),
  commandRejection: CommandRejection,
  conditions: v.array(Condition),
  lastWork: v.object({ kind: v.string(), name: v.string(), state: v.picklist(STATES), endedAt: v.string() }),
  heldInside: v.boolean(),
  blockedBecause: v.string(),
  usage: UnitUsage,
};

export const Unit: Kind<UnitSpec, UnitStatus> = {
  kind: 'Unit',
  group: 'physical',
  scope: 'site',
  action: 'unit',
  path: 'units',
  spec: UnitSpec,
  body: 'flat',
  writtenElsewhere: ['mode'],
  apply: { how: 'yes' },
  initialStatus: () => ({
    state: '',
    mode: 'Automatic',
    allocatedTo: '',
    activeWork: null,
    runtime: { ready: false, message: 'not started', podName: '', node: '', epoch: 0 },
    failoverRequest: null,
    autoFailover: { suspended: false, triedNodes: [], summary: '' },
    conditions: [],
    heldInside: false,
    blockedBecause: '',
  }),
  status: UNIT_STATUS,
  mendsStatus: true,
  references: (spec, site) =>
    named(
      { path: 'processCellName', kind: 'ProcessCell', site, name: spec.processCellName, when: 'write', holds: true },
      { path: 'controllerRef', kind: 'Controller', site, name: spec.controllerRef, when: 'write', holds: true },
      ...spec.roleBindings.map(
        ({ controlModule }, index): Reference => ({ path: `roleBindings[${index}].controlModule`, kind: 'ControlModule', site, name: controlModule, when: 'run', holds: true }),
      ),
      // a picture keeps nothing from going, and shows what is not there any more
      ...(spec.connections ?? []).flatMap(({ from, to, via }, index): Reference[] => [
        { path: `connections[${index}].from.unit`, kind: 'Unit', site, name: from.unit ?? '', when: 'run' },
        { path: `connections[${index}].to.unit`, kind: 'Unit', site, name: to.unit ?? '', when: 'run' },
        ...via.map((name, place): Reference => ({ path: `connections[${index}].via[${place}]`, kind: 'ControlModule', site, name, when: 'run' })),
      ]),
    ),
};

/** Scan of the charts of a unit when its spec names none (decisions 1.5). */
export const UNIT_SCAN_INTERVAL_DEFAULT = '100ms';

/** Effective mode of work started on a unit. */
export function unitMode(spec: UnitSpec): Mode {
  return spec.mode === '' ? 'Automatic' : spec.mode;
}

/** @throws Refusal `missing` when the site is not there. */
export function requireSite(read: StoreReader, site: string): Resource<SiteSpec, SiteStatus> {
  const found = read.get(Site, '', site);
  if (!found) throw new Refusal('missing', `site ${site} does not exist`, { code: 'not_found' });
  return found;
}
