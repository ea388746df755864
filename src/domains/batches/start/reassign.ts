/**
 * Another unit for unit procedures of a held batch that have not begun (D-C-12): judged and done in one turn, so that nothing begins in
 * between. A unit that the batch has already and needs no more is given back; the new one is taken at once where the recipe takes its
 * units at the start, and asked for otherwise.
 */
import { ownOf } from '../../../platform/base/own-of.js';
import { conflict, invalid } from '../../../platform/base/refusal.js';
import type { Kind } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { Unit, type UnitStatus } from '../../plant/kind.js';
import { givenBack, handedOn, taken, unpromised, used } from '../../plant/unit-owner.js';
import { Procedure, UnitProcedure } from '../../procedures/kind.js';
import { plannedUnit, unfitBecause } from '../../recipes/candidates.js';
import { ControlRecipe, type ControlRecipeSpec } from '../../recipes/kind.js';
import { siteUnits } from '../../recipes/site-units.js';
import { executionEvent, operatorAction, type PendingFact, type Person } from '../../runs/execution-log.js';
import type { Allocation, BatchSpec, BatchStatus } from '../kind.js';
import { elementIndex, type ElementResource } from '../tree/element-index.js';
import { capabilityOf } from './allocation-queue.js';
import type { UnitFacts } from './equipment-conditions.js';
import { scopeToReset } from './left-over.js';
import { standingAlarmFacts } from './standing-alarms.js';
import { neededBy, notNow } from './unit-class.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

export interface ReassignFacts extends UnitFacts {
  readonly store: Store;
}

export interface By {
  readonly at: string;
  readonly person: Person;
  readonly reason: string;
  readonly auditRecordRef: string;
}

/** Unit per capability; '' gives the choice back to the recipe. Those that are as they were are left out. */
export type Wishes = Readonly<Record<string, string>>;

/**
 * @throws Refusal 400 naming `requestedEquipment.<capability>` for a unit that does not serve it, 409 where its unit procedures have begun or
 * the unit cannot be taken now.
 */
export function reassigned(
  facts: ReassignFacts,
  batch: BatchResource,
  wishes: Wishes,
  by: By,
): { readonly status: BatchStatus; readonly puts: Put[]; readonly facts: PendingFact[] } {
  const change = new Reassignment(facts, batch, by);
  for (const [capability, unit] of Object.entries(wishes)) change.give(capability, unit);
  return { status: change.status, puts: change.puts(), facts: change.facts };
}

class Reassignment {
  readonly facts: PendingFact[] = [];
  status: BatchStatus;
  readonly #given: ReassignFacts;
  readonly #store: Store;
  readonly #site: string;
  readonly #name: string;
  readonly #by: By;
  readonly #recipe: ControlRecipeSpec['recipe'] | undefined;
  readonly #elements: readonly ElementResource[];
  readonly #unitOf = new Map<ElementResource, string>();
  readonly #units = new Map<string, UnitStatus>();

  constructor(given: ReassignFacts, { metadata: { site, name }, status }: BatchResource, by: By) {
    this.#given = given;
    this.#store = given.store;
    [this.#site, this.#name, this.#by, this.status] = [site, name, by, status];
    this.#recipe = given.store.get(ControlRecipe, site, status.controlRecipe)?.spec.recipe;
    this.#elements = elementIndex(given.store).elementsOf(site, name);
  }

  give(capability: string, wish: string): void {
    const field = `requestedEquipment.${capability}`;
    const allocation = this.status.allocations.find((each) => each.capability === capability);
    if (!allocation || !this.#recipe) throw invalid('unknown_reference', field, `batch ${this.#name} needs no capability ${capability}`);
    const unit = wish || this.#ofRecipe(this.#recipe, capability);
    if (allocation.unit === unit) return;
    const own = this.#unitProceduresOf(capability);
    const begun = own.find(({ status }) => status.state !== 'Idle' || status.runCount > 0);
    if (begun)
      throw conflict('unit_procedure_begun', `unit procedure ${begun.spec.stepPath} has begun on ${allocation.unit}: it stays there`, { unitProcedure: begun.metadata.name });
    this.#refuseUnfit(this.#recipe, capability, unit, field);
    const isAtStart = this.#recipe.allocationPolicy === 'AtStart';
    if (unit !== '' && isAtStart) this.#take(unit, field);
    for (const element of own.flatMap((each) => [each, ...elementIndex(this.#store).below(each)])) this.#unitOf.set(element, unit);
    if (allocation.state === 'Granted') this.#giveBack(allocation.unit);
    const { choice: _choice, ...kept } = allocation;
    const asked = allocation.state === 'Granted' ? '' : allocation.since; // one that is asked for keeps its place in the queue
    const next: Allocation = isAtStart ? { ...kept, unit, state: 'Granted', since: this.#by.at } : { ...kept, unit, state: 'Requested', since: asked };
    this.status = { ...this.status, allocations: this.status.allocations.map((each) => (each === allocation ? next : each)) };
    const { at: ts, person, reason, auditRecordRef } = this.#by;
    const element = { kind: 'Batch', name: this.#name, path: '' };
    const value = `${capability}: ${allocation.unit || 'any'} to ${unit || 'any'}`;
    this.facts.push(
      operatorAction(this.#site, this.#name, {
        ts,
        action: 'UnitChange',
        element,
        person,
        signed: false,
        meaning: '',
        reason,
        value,
        acknowledgedBy: '',
        signatureRef: '',
        auditRecordRef,
      }),
    );
  }

  #unitProceduresOf(capability: string): ElementResource[] {
    const procedure = this.#elements.find(({ kind }) => kind === Procedure.kind)?.spec;
    return this.#elements.filter(({ kind, spec }) => kind === UnitProcedure.kind && capabilityOf(procedure, spec.stepName) === capability);
  }

  /** What the recipe takes where nobody names a unit; '' of a class. One of an earlier release has it as it was at the start. */
  #ofRecipe(recipe: ControlRecipeSpec['recipe'], capability: string): string {
    return recipe.equipmentRequirements ? plannedUnit(neededBy(recipe, capability), siteUnits(this.#store, this.#site)) : (ownOf(recipe.allocation, capability) ?? '');
  }

  #refuseUnfit(recipe: ControlRecipeSpec['recipe'], capability: string, unit: string, field: string): void {
    if (unit === '') {
      if (recipe.allocationPolicy === 'AtStart') throw invalid('invalid_field', field, 'the recipe takes its units at the start: name the unit');
      return;
    }
    const needed = neededBy(recipe, capability);
    const { candidates = [] } = needed.requirement ?? {};
    if (candidates.length > 0 && !candidates.includes(unit))
      throw invalid('unknown_reference', field, `the recipe takes ${candidates.join(', ')} for capability ${capability}, not ${unit}`);
    const unfit = unfitBecause(needed, unit, siteUnits(this.#store, this.#site));
    if (unfit !== '') throw invalid('unknown_reference', field, `unit ${unit} does not serve capability ${capability}: ${unfit}`);
  }

  #statusOf(unit: string): UnitStatus | undefined {
    return this.#units.get(unit) ?? this.#store.get(Unit, this.#site, unit)?.status;
  }

  #take(name: string, field: string): void {
    const unit = this.#statusOf(name);
    if (!unit || unit.allocatedTo === this.#name) return;
    const reason = notNow(this.#given, this.#site, name, unit);
    if (reason !== '') throw conflict('allocation_unavailable', `${reason}; the recipe takes its units at once`, { field, unit: name, holder: unit.allocatedTo });
    const before = scopeToReset(this.#store, this.#site, name, unit);
    this.#units.set(name, used(before === '' ? taken(unit, this.#name) : handedOn(unit, before, this.#name), this.#by.at, this.#store.resourceVersion, true));
    this.#told('Allocation', name);
    this.facts.push(...standingAlarmFacts(this.#store, this.#site, this.#name, name, this.#by.at));
  }

  /** Nothing has been done on it; it stays where another unit procedure of the batch is on it. */
  #giveBack(name: string): void {
    const unit = this.#statusOf(name);
    const isNeeded = this.#elements.some((element) => element.kind === UnitProcedure.kind && (this.#unitOf.get(element) ?? unitRefOf(element)) === name);
    if (!unit || isNeeded) return;
    if (unit.promisedTo === this.#name) this.#units.set(name, unpromised(unit));
    else if (unit.allocatedTo === this.#name)
      this.#units.set(
        name,
        used(
          givenBack(unit, this.#by.at, false, () => false),
          this.#by.at,
          this.#store.resourceVersion,
          false,
        ),
      );
    else return;
    this.#told('Deallocation', name);
  }

  #told(eventSubType: 'Allocation' | 'Deallocation', unit: string): void {
    const { at, person, reason: message, auditRecordRef } = this.#by;
    this.facts.push(executionEvent(this.#site, this.#name, at, { eventType: 'Equipment', eventSubType, unit, equipment: unit, value: unit, message, person, auditRecordRef }));
  }

  puts(): Put[] {
    const site = this.#site;
    return [
      ...[...this.#unitOf].map(
        ([{ kind, metadata, spec }, unitRef]) => ({ kind: this.#store.kindNamed(kind) as Kind, site, name: metadata.name, spec: { ...spec, unitRef } }) as Put,
      ),
      ...[...this.#units].map(([unit, status]) => ({ kind: Unit, site, name: unit, status }) as Put),
    ];
  }
}

function unitRefOf({ spec }: ElementResource): string {
  return 'unitRef' in spec ? spec.unitRef : '';
}
