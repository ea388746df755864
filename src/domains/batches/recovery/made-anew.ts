/**
 * Batches that are gone from the store, or cannot be read, while their procedure is at work (D-C-02): made anew at start from it and from
 * their control recipe, and held. A person can stop or abort them then, their units come free, and what happened to them has a record;
 * nothing of them is gone on with. What only the batch itself knew (priority, lot, work order) is lost where its row is.
 */
import * as v from 'valibot';
import { isActive } from '../../../../runtime/vocabulary/transitions.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { guardedPromise } from '../../../platform/base/guarded.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { AuditDraft } from '../../../platform/store/audit-record.js';
import { pastRows } from '../../../platform/store/past-rows.js';
import { type Condition, refOf, type Resource } from '../../../platform/store/resource.js';
import type { Change, Store } from '../../../platform/store/store.js';
import { Unit } from '../../plant/kind.js';
import { type ElementStatus, Procedure, type ProcedureSpec, UnitProcedure } from '../../procedures/kind.js';
import { ControlRecipe, type ControlRecipeSpec } from '../../recipes/kind.js';
import { controlRecipeMismatch } from '../../recipes/evidence.js';
import { lastFacts } from '../../runs/execution-log.js';
import { type Allocation, Batch, BatchSpec, type BatchStatus, MADE_ANEW } from '../kind.js';
import { batchesOf } from '../reading/list.js';
import { capabilityOf } from '../start/allocation-queue.js';
import { elementIndex } from '../tree/element-index.js';
import { BATCH_COMPONENT } from '../tree/element-reconciliation.js';

/** Of a row that could not be read, kept with the record of what was written over it. */
const EVIDENCE_LENGTH_MAX = 8000;
/** By kind alone: records stand above batches. */
const BATCH_RECORD = { kind: 'BatchRecord' };

/** At start, and again when a storage that refuses changes accepts them. */
export function makeMissingAnew(store: Store, clock: Clock): void {
  const look = (): void => {
    for (const procedure of withoutBatch(store))
      if (store.accepting) guardedPromise('batch made anew', () => store.write(new Lost(store, procedure, clock).change()).catch(unlessRefused));
  };
  look();
  store.watchReload(look);
}

/** A storage that refuses is told by its own alarm, and looked at again when it accepts. */
function unlessRefused(fault: unknown): void {
  if (!(fault instanceof Refusal) || fault.kind !== 'unavailable') throw fault;
}

type ProcedureResource = Resource<ProcedureSpec, ElementStatus>;

/**
 * By a procedure that is whole and at work: where a batch stood nobody knows without it, and a name in a single damaged element makes no
 * batch. One that has a record has ended.
 */
function withoutBatch(store: Store): ProcedureResource[] {
  const holders = new Set(store.list(Unit).map(({ metadata, status }) => `${metadata.site}/${status.allocatedTo}`));
  return store.list(Procedure).filter(({ kind, metadata: { site, name }, spec, status }) => {
    const isAtWork = isActive(status.state) || holders.has(`${site}/${name}`); // it is Idle until the first look after its Start
    if (spec.batchRef !== name || !isAtWork || store.replacedBecause({ kind, site, name }) !== undefined) return false;
    if (standsAtNothing(store, site, name)) return true;
    const isKnown = (of: { readonly kind: string }): boolean =>
      store.pastEntry(of, site, name) !== undefined || pastRows(store).isUnreadable({ kind: of.kind, site, name }) || store.isPresent({ kind: of.kind, site, name });
    return !isKnown(Batch) && !isKnown(BATCH_RECORD);
  });
}

/** The batch is there and has lost its status: it begins as one that was never started, which it was. */
function standsAtNothing(store: Store, site: string, name: string): boolean {
  const batch = store.get(Batch, site, name);
  return batch !== undefined && batch.status.phase === 'Pending' && store.replacedBecause(refOf(batch)) !== undefined;
}

/** A batch that is made anew. */
class Lost {
  readonly #store: Store;
  readonly #procedure: ProcedureResource;
  readonly #clock: Clock;
  readonly #site: string;
  readonly #name: string;
  readonly #control: ControlRecipeSpec | undefined;

  constructor(store: Store, procedure: ProcedureResource, clock: Clock) {
    this.#store = store;
    this.#procedure = procedure;
    this.#clock = clock;
    ({ site: this.#site, name: this.#name } = procedure.metadata);
    this.#control = this.#soundControl();
  }

  change(): Change {
    const [site, name] = [this.#site, this.#name];
    const row = this.#store.faults.find(({ kind, ...at }) => kind === Batch.kind && at.site === site && at.name === name);
    const why = row ? `its row could not be read (${row.fault})` : 'its row is gone';
    const kept = this.#store.get(Batch, site, name)?.spec;
    const spec = kept ?? specIn(row?.text) ?? this.#spec();
    const status = this.#status(spec, `${why}: it was made anew from its control recipe and its procedure, and can be stopped and aborted`);
    const audit: AuditDraft = {
      site,
      actor: BATCH_COMPONENT,
      action: 'Create',
      category: 'recovery',
      target: { kind: Batch.kind, name, site },
      result: 'Success',
      rule: 'stored-data',
      details: { cause: why, batchID: spec.batchID, procedure: this.#procedure.status.state, ...(row?.text === undefined ? {} : { row: row.text.slice(0, EVIDENCE_LENGTH_MAX) }) },
      correlationID: `made-anew-${name}-${this.#clock.wallMs()}`,
    };
    return { puts: [{ kind: Batch, site, name, ...(kept ? {} : { spec }), status }], audits: [audit] };
  }

  /** As it was frozen, or none: what somebody has edited is not taken for the batch. */
  #soundControl(): ControlRecipeSpec | undefined {
    const control = this.#store.get(ControlRecipe, this.#site, this.#name);
    if (!control || this.#store.replacedBecause(refOf(control)) !== undefined) return undefined;
    try {
      return v.is(SOUND, control.spec) && controlRecipeMismatch(this.#name, control.spec) === undefined ? control.spec : undefined;
    } catch {
      return undefined; // of another shape
    }
  }

  #spec(): BatchSpec {
    const { batchID = '', masterRecipe = '', formulaName = '', recipe } = this.#control ?? {};
    const isFree = batchID !== '' && batchesOf(this.#store, batchID, this.#site).length === 0;
    const own = isFree ? batchID : this.#name;
    return v.parse(BatchSpec, { batchID: own, masterRecipeRef: masterRecipe || 'unknown', formulaName, equipment: chosenUnits(recipe?.allocation), lotID: own });
  }

  /** Until its first look, which finds where its procedure stands, and holds that; one that has not begun begins and is held, as after every start. */
  #status(spec: BatchSpec, message: string): BatchStatus {
    const at = timestamp(this.#clock.wallMs());
    const condition: Condition = { type: MADE_ANEW, status: 'True', reason: 'StoredData', message };
    const { startedAt, savedAt } = this.#procedure.status;
    return {
      ...Batch.initialStatus(spec),
      phase: this.#procedure.status.state === 'Idle' ? 'Running' : 'Held',
      stateAt: at,
      allocations: this.#allocations(at),
      parameterValues: this.#control?.recipe.parameters ?? [],
      controlRecipe: this.#control ? this.#name : '',
      procedure: this.#name,
      startedAt: startedAt || at,
      conditions: [condition],
      factsBefore: lastFacts(this.#site, this.#name, () => 0),
      ...(savedAt ? { savedAt } : {}),
    };
  }

  /** Units that are its own, and those that it has worked on, under the capabilities that its control recipe has them for. */
  #allocations(at: string): Allocation[] {
    const own = new Set(this.#store.list(Unit, this.#site).flatMap(({ metadata, status }) => (status.allocatedTo === this.#name ? [metadata.name] : [])));
    const worked = new Map<string, string>();
    const capabilities = new Map<string, string>();
    for (const { kind, spec, status } of elementIndex(this.#store).elementsOf(this.#site, this.#name)) {
      if (kind !== UnitProcedure.kind || !('unitRef' in spec)) continue;
      if (status.startedAt !== '') worked.set(spec.unitRef, worked.get(spec.unitRef) ?? status.startedAt);
      capabilities.set(spec.unitRef, capabilityOf(this.#procedure.spec, spec.stepName)); // of a class its recipe names no unit
    }
    const ofUnit = (unit: string): string => Object.entries(this.#control?.recipe.allocation ?? {}).find(([, of]) => of === unit)?.[0] ?? capabilities.get(unit) ?? unit;
    return [...new Set([...own, ...worked.keys()])]
      .filter((unit) => unit !== '')
      .map((unit): Allocation => ({ capability: ofUnit(unit), unit, state: own.has(unit) ? 'Granted' : 'Released', since: worked.get(unit) ?? at }));
  }
}

/** Of a class nobody had chosen when its recipe was frozen. */
function chosenUnits(allocation: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(allocation).filter(([, unit]) => unit !== ''));
}

/** What the digest does not cover. */
const SOUND = v.looseObject({ batchID: v.string(), masterRecipe: v.string(), formulaName: v.string() });

/** Of a row that is damaged elsewhere. */
function specIn(text: string | undefined): BatchSpec | undefined {
  try {
    const read = v.safeParse(BatchSpec, (JSON.parse(text ?? '') as { readonly spec?: unknown } | null)?.spec);
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
}
