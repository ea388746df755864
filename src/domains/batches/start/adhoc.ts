/**
 * Launching a phase, operation or unit procedure on a unit without a batch (contract 3, Ad-hoc rules; decisions Q-RECIPE-24 to
 * Q-RECIPE-26): everything that could stop it is found out before anything is written.
 */
import { sameName } from '../../../../runtime/vocabulary/same-name.js';
import { randomUUID } from 'node:crypto';
import { inside } from '../../../platform/base/assert.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { conflict, invalid, missing } from '../../../platform/base/refusal.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { Batch } from '../kind.js';
import type { ElementResource } from '../tree/element-index.js';
import { Unit, type UnitStatus } from '../../plant/kind.js';
import { isIdle, taken, used } from '../../plant/unit-owner.js';
import {
  ADHOC_LABEL,
  elementStatus,
  OperationTemplate,
  type ParameterSpec,
  type ParameterValue,
  PhaseTemplate,
  SOURCE_TEMPLATE_LABEL,
  UnitProcedureTemplate,
} from '../../procedures/kind.js';
import { holderText, unavailableBecause, unavailableTold } from './holder.js';
import { lastWorkOn } from './left-over.js';
import { resolveRoles } from '../../recipes/bindings.js';
import { siteUnits } from '../../recipes/site-units.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { type ElementDraft, elementName, instantiateRoot } from './instantiation.js';
import { unfitElementValues } from '../creation/unfit-values.js';
import { checkValue } from '../creation/parameters.js';
import { type Blocker, refuseRequest, type StartCondition } from './conditions.js';
import { type EquipmentLook, PERMISSIVES, RUNTIME_READY, STORAGE, type StorageLook, UNDER_LOOP_CHECK, UNITS_AUTOMATIC } from './equipment-conditions.js';
import { storedTemplates } from './stored-templates.js';

export interface LaunchWorld {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  storageLow(): boolean;
  readonly clock: Clock;
}

export interface Launch {
  readonly kind: 'Phase' | 'Operation' | 'UnitProcedure';
  readonly templateRef: string;
  /** Body member that names the template, for refusals. */
  readonly templateField: string;
  readonly unit: string;
  readonly parameterValues: readonly { readonly name: string; readonly value: string }[];
  readonly timeoutSeconds: number;
}

export interface Launched {
  readonly root: ElementDraft;
  readonly puts: readonly Put[];
}

const UNIT_IDLE: StartCondition<EquipmentLook> = {
  rule: 'unit-not-idle',
  check: 'equipment',
  find: ({ store, site, units }) =>
    units.flatMap((name): Blocker[] => {
      const status = store.get(Unit, site, name)?.status;
      if (!status || isIdle(status)) return [];
      const { state, allocatedTo: holder } = status;
      const action = holder === '' ? `Reset ${takesReset(lastWorkOn(store, site, status)) ?? `what unit ${name} shows`}` : `end ${holderText(store, site, holder)}`;
      const liftedBy = { tier: 'operate', action, holder } as const;
      return [
        {
          told: unavailableTold(store, site, name, status),
          message: `${unavailableBecause(store, site, name, status)}; an ad-hoc run needs an Idle unit: ${action} first`,
          element: name,
          liftedBy,
          context: { unit: name, state, holder },
        },
      ];
    }),
};

/** What takes the Reset of what the unit shows. */
function takesReset(last: ElementResource | undefined): string | undefined {
  return last && (last.spec.batchRef === '' ? `${last.kind} ${last.metadata.name}` : `Batch ${last.spec.batchRef}`);
}

/** In the order of decisions 3.2. */
const LAUNCH_CONDITIONS: readonly StartCondition<EquipmentLook & StorageLook>[] = [
  UNIT_IDLE,
  RUNTIME_READY,
  PERMISSIVES,
  { ...UNITS_AUTOMATIC, refuse: ([first]) => ({ ...first, message: `${first.message}; set Automatic or Semi-Automatic before the launch` }) },
  UNDER_LOOP_CHECK,
  STORAGE,
];

/** @throws Refusal 404 for the unit, 400 for template and parameters, 409 for whatever else keeps the run from starting. */
export function launch(world: LaunchWorld, site: string, order: Launch): Launched {
  const unit = world.store.get(Unit, site, order.unit);
  if (!unit) throw missing('Unit', order.unit);
  const template = templateOf(world.store, site, order);
  const parameters = launchParameters(template.parameters, order.parameterValues);
  refuseRequest(LAUNCH_CONDITIONS, { ...world, storageLow: () => world.storageLow(), site, units: [order.unit], isOnDemand: false });
  const root = freeName(world.store, site, order);
  const elements = instantiateRoot({ ...order, root, parameters, templates: storedTemplates(world.store, site) });
  const [unfit] = elements.flatMap(({ spec }) => unfitElementValues(spec));
  if (unfit) throw invalid('out_of_range', 'parameterValues', `${unfit.at}: ${unfit.message}`);
  refuseUnbound(world.store, site, order.unit, elements);
  const top = inside(elements, 0, 'a launch makes its root first');
  return { root: top, puts: [...elementPuts(site, elements, order.templateRef), unitPut(world, site, order.unit, unit.status, root)] };
}

/** Of no other run: what happens to it is told under its name, and one that is past is told nothing more. */
function freeName(store: Store, site: string, { templateRef, unit }: Launch): string {
  for (;;) {
    const name = elementName('adhoc', [templateRef, unit, randomUUID().slice(0, 8)]);
    if (!store.get(Batch, site, name) && !store.pastEntry(Batch, site, name)) return name;
  }
}

function templateOf(store: Store, site: string, { kind, templateRef, templateField }: Launch): { readonly parameters: readonly ParameterSpec[] } {
  const kinds = { Phase: PhaseTemplate, Operation: OperationTemplate, UnitProcedure: UnitProcedureTemplate } as const;
  const template = store.get(kinds[kind] as typeof OperationTemplate, site, templateRef);
  if (!template) throw invalid('unknown_reference', templateField, `${kinds[kind].kind} ${templateRef} does not exist`);
  if (kind !== 'Phase' && template.spec.category !== 'equipment') {
    throw invalid('template_category', templateField, `${kinds[kind].kind} ${templateRef} is of category ${template.spec.category}; only equipment templates are run ad hoc`);
  }
  return template.spec;
}

/** Values that the template does not declare are dropped without a word (contract 3, Ad-hoc rules). */
function launchParameters(formals: readonly ParameterSpec[], given: Launch['parameterValues']): ParameterValue[] {
  given.forEach(({ name }, at) => {
    if (given.findIndex((other) => sameName(other.name, name)) < at) throw invalid('invalid_field', `parameterValues[${at}].name`, `parameter ${name} is given twice`);
  });
  for (const formal of formals) {
    const at = given.findIndex(({ name }) => sameName(name, formal.name));
    const value = given[at]?.value;
    if (value !== undefined) checkValue(formal, value, `parameterValues[${at}].value`);
    else if (formal.required && formal.defaultValue === '')
      throw invalid('missing_parameter', 'parameterValues', `parameter ${formal.name} needs a value`, { parameter: formal.name });
  }
  return given.map(({ name, value }) => ({ name, value, unit: '', source: 'override', sourceRef: 'launch' }));
}

function refuseUnbound(store: Store, site: string, name: string, elements: readonly ElementDraft[]): void {
  const unit = store.get(Unit, site, name);
  const modules = siteUnits(store, site).modules(name);
  for (const element of elements) {
    if (!('roles' in element.spec) || !unit) continue;
    const violation = resolveRoles(unit.spec, element.spec, element.spec.roleMap, modules).find(({ issue }) => issue !== undefined);
    if (violation) throw conflict('binding_violation', `${element.spec.stepPath}, role ${violation.role}: ${violation.message}`, { role: violation.role, issue: violation.issue });
  }
}

/** All of the run carries the marker of an ad-hoc run and the name of the template it was made from (contract 3, Ad-hoc rules). */
function elementPuts(site: string, elements: readonly ElementDraft[], templateRef: string): Put[] {
  const [root] = elements;
  return elements.map((element): Put => {
    const labels = { [ADHOC_LABEL]: 'true', [SOURCE_TEMPLATE_LABEL]: element === root ? templateRef : element.spec.templateRef, 'lineside.io/managed-by': 'batch-controller' };
    const status = { ...elementStatus(element.spec), adhoc: true };
    return { kind: element.kind, site, name: element.name, spec: element.spec, status, labels };
  });
}

function unitPut({ store, clock }: LaunchWorld, site: string, name: string, status: UnitStatus, root: string): Put {
  return { kind: Unit, site, name, status: used(taken(status, root), timestamp(clock.wallMs()), store.resourceVersion, true) } as Put;
}
