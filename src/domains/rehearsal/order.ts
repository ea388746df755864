/**
 * What a rehearsal is asked for, and what the controller thread is given of the plant: the recipe with its templates, the
 * units it would run on with everything on them, and nothing that is going on there (ADR 0006).
 */
import { isSimulated } from '../../../runtime/catalog.js';
import { ownOf } from '../../platform/base/own-of.js';
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ImagePlan, RuntimeSettings } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { checkEquipment } from '../batches/creation/creation.js';
import { BatchSpec } from '../batches/kind.js';
import { batchParameters, checkQuantity } from '../batches/creation/parameters.js';
import type { HoldPropagation } from '../batches/tree/procedure-tree.js';
import { classOf, distributed, inOrder, type UnitClass } from '../batches/start/unit-class.js';
import { ControlModule, ControlModuleTemplate, type ControlModuleSpec, type ControlModuleStatus } from '../control-modules/kind.js';
import { modulesOf } from '../control-modules/modules.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { IOModule, type IOModuleSpec, SimulationPreset, withoutPassword } from '../io-modules/kind.js';
import { ControlProgram, FunctionBlockType } from '../logic/kind.js';
import { Unit, unitMode, type UnitSpec, type UnitStatus } from '../plant/kind.js';
import { OperationTemplate, PhaseTemplate, ProcedureTemplate, UnitProcedureTemplate } from '../procedures/kind.js';
import { plannedUnits } from '../recipes/binding-matrix.js';
import { neededFor } from '../recipes/candidates.js';
import { expandRecipe, templatesOf } from '../recipes/expand.js';
import type { MasterRecipeSpec, MasterRecipeStatus } from '../recipes/kind.js';
import { siteUnits } from '../recipes/site-units.js';
import { freeMap } from '../../platform/store/free-map.js';

/** Names of the copy; nothing of it leaves the rehearsal. */
export const REHEARSED_BATCH = 'rehearsal';
const PLANT_SECONDS_DEFAULT = 24 * 3600;
const PLANT_SECONDS_MAX = 7 * 24 * 3600;
const WALL_MS_MAX = 60_000;
/** Lifecycle phases of a recipe that somebody still means to run. */
const REHEARSABLE = ['Draft', 'Approved', 'Released', 'Effective'];

const { formulaName, quantity, parameters, equipment } = BatchSpec.entries;
const WAIT_SECONDS_DEFAULT = 1.5; // a request is answered within 2 s
const WAIT_SECONDS_MAX = 75; // the wall limit of a rehearsal, and what its threads are given beyond it

export const RehearsalBody = v.strictObject({
  formulaName,
  quantity,
  parameters,
  equipment,
  /** By result key, `<step path>/<step>` of the prompt, or step path of its phase. */
  answers: v.optional(freeMap(v.string()), {}),
  /** Of the simulation; absent: as configured. */
  seed: v.optional(v.pipe(v.number(), v.integer())),
  /** Of plant time. */
  limitSeconds: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(PLANT_SECONDS_MAX)), PLANT_SECONDS_DEFAULT),
  /** Of wall time, in which the request waits for the findings; they are read afterwards otherwise. */
  waitSeconds: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(WAIT_SECONDS_MAX)), WAIT_SECONDS_DEFAULT),
});
export type RehearsalBody = v.InferOutput<typeof RehearsalBody>;

nameSchemas({ RehearsalBody });

export interface TreeSettings {
  readonly holdPropagation: HoldPropagation;
  readonly resumeCancelsPause: boolean;
  readonly settleDeadlineMs: number;
  readonly reasonLengthMin: number;
}

/** Plain and serialisable: it travels to the controller thread. */
export interface RehearsalOrder {
  readonly site: string;
  readonly batch: BatchSpec;
  readonly answers: Readonly<Record<string, string>>;
  readonly seed?: number;
  readonly plantMsMax: number;
  readonly wallMsMax: number;
  readonly startWallMs: WallMs;
  /** Of the copy. */
  readonly resources: readonly Resource[];
  readonly units: readonly string[];
  /** Last values of the channels of modules that are not simulated, in slot order; absent: never measured. */
  readonly lastValues: Readonly<Record<string, readonly (Value | undefined)[]>>;
  readonly runtime: RuntimeSettings;
  readonly tree: TreeSettings;
  readonly assumptions: readonly string[];
}

export interface OrderParts {
  readonly store: Store;
  readonly image: (site: string) => (module: string) => ImagePlan | undefined;
  readonly runtime: RuntimeSettings;
  readonly tree: TreeSettings;
  readonly startWallMs: WallMs;
}

type Recipe = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/**
 * @throws Refusal 400 naming the field of the body that does not fit, 409 for a recipe that nobody may run any more. What is
 * wrong with the recipe itself is a result of the rehearsal.
 */
export function rehearsalOrder(parts: OrderParts, site: string, recipe: Recipe, body: RehearsalBody): RehearsalOrder {
  const { store } = parts;
  const { phase } = recipe.status;
  if (!REHEARSABLE.includes(phase)) throw conflict('recipe_not_usable', `recipe ${recipe.metadata.name} is ${phase}: nobody may run it any more`, { phase });
  checkBody(store, site, recipe.spec, body);
  const { chosen, ofClasses, assumptions } = rehearsedUnits(store, site, recipe.spec, body.equipment);
  const units = [...new Set(Object.values(chosen))].filter((name) => store.get(Unit, site, name) !== undefined).sort();
  const copy = copiedUnits(store, site, units);
  return {
    site,
    batch: v.parse(BatchSpec, {
      batchID: REHEARSED_BATCH,
      masterRecipeRef: recipe.metadata.name,
      formulaName: body.formulaName,
      quantity: body.quantity || recipe.spec.batchSize.nominal,
      engineeringUnit: recipe.spec.batchSize.engineeringUnit,
      parameters: body.parameters,
      equipment: { ...body.equipment, ...ofClasses },
    }),
    answers: body.answers,
    ...(body.seed === undefined ? {} : { seed: body.seed }),
    plantMsMax: body.limitSeconds * 1000,
    wallMsMax: WALL_MS_MAX,
    startWallMs: parts.startWallMs,
    resources: [recipe, ...templates(store, site), ...copy.resources, ...ioModules(store, site)],
    units,
    lastValues: lastValues(parts, site),
    runtime: parts.runtime,
    tree: parts.tree,
    assumptions: [...assumptions, ...copy.assumptions],
  };
}

/** Only what the caller has sent: the values of the recipe itself are judged in the rehearsal. */
function checkBody(store: Store, site: string, recipe: MasterRecipeSpec, body: RehearsalBody): void {
  checkQuantity(recipe, body.quantity);
  try {
    batchParameters(recipe, body);
  } catch (fault) {
    if (fault instanceof Refusal && /^(formulaName$|parameters\[)/.test(fault.context.field ?? '')) throw fault;
    if (!(fault instanceof Refusal)) throw fault;
  }
  checkEquipment(store, site, recipe, body.equipment, 'equipment');
}

interface RehearsedUnits {
  /** Unit per capability; '' where there is none. */
  readonly chosen: Readonly<Record<string, string>>;
  /** Those of them that stand for a class. */
  readonly ofClasses: Readonly<Record<string, string>>;
  readonly assumptions: readonly string[];
}

/**
 * Of a class (D-C-12) the unit that its policy takes first where all are free; the others are named. A recipe whose charts do not expand
 * takes no units, and is told so by the rehearsal.
 */
function rehearsedUnits(store: Store, site: string, recipe: MasterRecipeSpec, equipment: RehearsalBody['equipment']): RehearsedUnits {
  try {
    const units = siteUnits(store, site);
    const expansion = expandRecipe(recipe.procedure.chart, templatesOf(store, site));
    const planned = plannedUnits(recipe, expansion, units, equipment);
    const classes = Object.entries(planned).flatMap(([capability, unit]) => (unit === '' ? [classOf(neededFor(recipe, capability, expansion.phases), units)] : []));
    const taken = Object.values(planned);
    const ordered = classes.map(({ capability, policy, candidates }) => {
      const fitting = candidates.filter(({ unit, unfit }) => unfit === '' && !taken.includes(unit)).map(({ unit }) => unit);
      return { capability, units: inOrder(policy, fitting, (unit) => store.get(Unit, site, unit)?.status.usage) };
    });
    const ofClasses = Object.fromEntries(distributed(ordered));
    return { chosen: { ...planned, ...ofClasses }, ofClasses, assumptions: classes.flatMap((each) => classAssumption(each, ownOf(ofClasses, each.capability))) };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return { chosen: {}, ofClasses: {}, assumptions: [] };
  }
}

/** None where no unit is there: a check says so. */
function classAssumption({ capability, policy, candidates }: UnitClass, unit: string | undefined): string[] {
  if (unit === undefined) return [];
  const fitting = candidates.filter(({ unfit }) => unfit === '').map((each) => each.unit);
  const unfit = candidates.filter((each) => each.unfit !== '').map((each) => each.unfit);
  return [`capability ${capability} is served by ${unit}, of ${fitting.join(', ')} by ${policy}${unfit.length === 0 ? '' : ` (not fit: ${unfit.join('; ')})`}`];
}

function templates(store: StoreReader, site: string): Resource[] {
  const ofSite = [PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate].flatMap((kind) => [...store.list<unknown, unknown>(kind, site)]);
  const patterns = [...store.list(CoordinationBlock, site), ...store.list(SyncBarrier, site)].filter(({ spec }) => spec.batchRef === '');
  return [...ofSite, ...patterns, ...store.list(ControlModuleTemplate), ...store.list(FunctionBlockType)];
}

/** All units, because capabilities choose among them; what stands on them only of those that take part. */
function copiedUnits(store: Store, site: string, chosen: readonly string[]): { readonly resources: Resource[]; readonly assumptions: string[] } {
  const assumptions: string[] = [];
  const units = store.list(Unit, site).map((unit) => {
    if (chosen.includes(unit.metadata.name)) assumptions.push(...unitAssumptions(unit));
    return { ...unit, spec: { ...unit.spec, mode: '' as const }, status: freed(unit.status) };
  });
  const modules = chosen.flatMap((unit) => modulesOf(store, site, unit)).map((module) => inAutomatic(module, assumptions));
  const programs = store.list(ControlProgram, site).filter(({ spec }) => chosen.includes(spec.unitRef));
  return { resources: [...units, ...modules, ...programs], assumptions };
}

function unitAssumptions({ metadata, spec, status }: Resource<UnitSpec, UnitStatus>): string[] {
  const { name } = metadata;
  return [
    ...(status.allocatedTo === '' ? [] : [`unit ${name} is free (now it is held by ${status.allocatedTo})`]),
    ...(unitMode(spec) === 'Manual' ? [`unit ${name} is in Automatic (now it is in Manual)`] : []),
  ];
}

function freed(status: UnitStatus): UnitStatus {
  return { ...status, state: 'Idle', mode: 'Automatic', allocatedTo: '', activeWork: null, heldInside: false, blockedBecause: '' };
}

function inAutomatic(module: Resource<ControlModuleSpec, ControlModuleStatus>, assumptions: string[]): Resource<ControlModuleSpec, ControlModuleStatus> {
  const { name } = module.metadata;
  const { interlockBypass, ...status } = module.status;
  if (module.spec.mode !== '' && module.spec.mode !== 'Automatic') assumptions.push(`${ControlModule.kind} ${name} is in Automatic (now it is in ${module.spec.mode})`);
  if (interlockBypass?.active) assumptions.push(`${ControlModule.kind} ${name}: no interlock is bypassed (now there is a bypass)`);
  return { ...module, spec: { ...module.spec, mode: '' }, status };
}

function ioModules(store: StoreReader, site: string): Resource[] {
  const modules = store.list(IOModule, site).map((module) => ({ ...module, spec: withoutPassword(module.spec) }));
  return [...modules, ...store.list(SimulationPreset, site)];
}

function lastValues({ store, image }: OrderParts, site: string): Record<string, (Value | undefined)[]> {
  const real = store.list(IOModule, site).filter(({ spec }) => !isSimulated(spec.protocol));
  return Object.fromEntries(
    real.flatMap(({ metadata, spec }) => {
      const plan = image(site)(metadata.name);
      return plan ? [[metadata.name, valuesOf(plan, spec)]] : [];
    }),
  );
}

function valuesOf({ buffer, channels }: ImagePlan, { channels: declared }: IOModuleSpec): (Value | undefined)[] {
  const image = new ProcessImage(channels.length, buffer);
  const text = new TextDecoder();
  return channels.map(({ dataType }, slot) => {
    if (image.sampledAtMs[slot] === 0 || image.quality[slot] === QUALITY.Bad) return declared[slot]?.initial;
    return dataType === 'string' ? text.decode(image.getText(slot)) : image.value[slot];
  });
}
