/**
 * What a simulation says that its probe cannot run (decisions 6.3 to 6.5): the whole I/O module is Failed by it and all its channels Bad, so REST
 * refuses it, and apply, which takes it (contract 3, Simulation), tells each with its member.
 */
import { behaviorReferences, checkBehavior, isSimulated, mergeBehaviors, missingAddresses, simulationProblems, type UnknownWord } from '../../../runtime/catalog.js';
import type { SimulationFault } from '../../../runtime/port.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { nearest } from '../../platform/base/nearest.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { channelsOf } from './channels.js';
import { type Behavior, IOModule, type IOModuleSpec, SimulationPreset, type SimulationPresetSpec } from './kind.js';

/** Of a behaviour or fault; `param` is one of its own members or one of its params. */
export interface Problem {
  readonly param: string;
  readonly message: string;
  readonly unknown?: UnknownWord;
}

export const OWN_MEMBERS: readonly string[] = ['address', 'type', 'name', 'triggerMode'];

export function memberOf({ param }: Pick<Problem, 'param'>): string {
  return OWN_MEMBERS.includes(param) ? param : `params.${param}`;
}

export function saidProblem({ message, unknown }: Pick<Problem, 'message' | 'unknown'>): string {
  return unknown ? `${message}${nearWords(unknown.word, unknown.known)}` : message;
}

function nearWords(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (the nearest is ${near})`;
}

/** Problems for which the word that was meant is looked for: each is compared with all that there are, and nobody reads more. */
const NEAR_MAX = 20;

/** An empty text is no value of any param; what applied or stored it goes on with the default. */
export function emptyParams(params: Behavior['params']): Problem[] {
  return Object.entries(params).flatMap(([param, value]) => (value === '' ? [{ param, message: `param ${param} is empty; leave it out for its default` }] : []));
}

export function faultsOf({ faults }: Pick<NonNullable<IOModuleSpec['simulation']>, 'faults'>): readonly SimulationFault[] {
  return faults.map((fault) => ({ ...fault, triggerAfterMs: parseDuration(fault.triggerAfter) ?? 0 }));
}

/** What keeps any module from using the preset. */
export function presetNotes({ behaviors }: SimulationPresetSpec): readonly SpecNote[] {
  return behaviors.flatMap((behavior, index) =>
    checkBehavior(behavior).map((problem): SpecNote => ({ path: `behaviors[${index}].${memberOf(problem)}`, text: saidProblem(problem) })),
  );
}

/** What keeps the module from running. What comes from its preset stands at `simulation.preset`. */
export function simulationNotes(read: StoreReader, site: string, name: string, { simulation, channels, protocol, controllerRef }: IOModuleSpec): readonly SpecNote[] {
  if (!simulation || !isSimulated(protocol)) return [];
  const preset = read.get(SimulationPreset, site, simulation.preset)?.spec.behaviors ?? [];
  const merged = mergeBehaviors(preset, simulation.addressMap, simulation.behaviors);
  // an inline behaviour is itself among the merged ones
  const placeOf = new Map<unknown, number>(simulation.behaviors.map((behavior, index) => [behavior, index]));
  const problems = simulationProblems(
    merged,
    faultsOf(simulation),
    channels.map(({ address }) => address),
    (other) => addressesOffered(read, site, { name, controllerRef }, other),
  );
  return problems.map((problem, at): SpecNote => {
    const [, place = '', member = ''] = /^behaviors\[(\d+)\]\.(.*)$/s.exec(problem.field) ?? [];
    const text = at < NEAR_MAX ? saidProblem(problem) : problem.message;
    if (place === '') return { path: `simulation.${problem.field}`, text };
    const behavior = merged[Number(place)];
    const own = placeOf.get(behavior);
    if (own !== undefined) return { path: `simulation.behaviors[${own}].${member}`, text };
    return { path: 'simulation.preset', text: `behaviour ${behavior?.address} of preset ${simulation.preset}: ${text}` };
  });
}

/** Entries of its address map that stand for nothing: what was meant is not mapped. */
export function strayAddresses(read: StoreReader, site: string, { simulation, protocol }: IOModuleSpec): readonly SpecNote[] {
  if (!simulation || !isSimulated(protocol)) return [];
  const generic = missingAddresses(read.get(SimulationPreset, site, simulation.preset)?.spec.behaviors ?? [], {});
  const isGeneric = new Set(generic);
  const stray = Object.keys(simulation.addressMap).filter((address) => !isGeneric.has(address));
  return stray.map((address, at): SpecNote => {
    const why = simulation.preset === '' ? 'no preset is named' : `preset ${simulation.preset} has no address ${address}`;
    return { path: `simulation.addressMap.${address}`, text: `${why}, so the entry has no effect${at < NEAR_MAX ? nearWords(address, generic) : ''}` };
  });
}

/** What behaviours of a module may read of another one: of the same controller, simulated or not (ADR 0069). Undefined when there is none of that name. */
function addressesOffered(read: StoreReader, site: string, reader: { readonly name: string; readonly controllerRef: string }, module: string): ReadonlySet<string> | undefined {
  const spec = module === reader.name ? undefined : read.get(IOModule, site, module)?.spec;
  if (spec?.controllerRef !== reader.controllerRef) return undefined;
  if (isSimulated(spec.protocol)) return offeredAddresses(read, site, spec);
  return new Set(channelsOf(spec).flatMap(({ name, address, dataType }) => (dataType === 'string' ? [] : [name, address])));
}

/** Modules of other protocols that the behaviours of a simulated one read. */
export function devicesRead(read: StoreReader, site: string, behaviors: readonly Behavior[]): readonly string[] {
  const names = behaviors.flatMap(behaviorReferences).flatMap((reference) => (reference.includes('/') ? [reference.slice(0, reference.indexOf('/'))] : []));
  return [...new Set(names)].filter((name) => {
    const spec = read.get(IOModule, site, name)?.spec;
    return spec !== undefined && !isSimulated(spec.protocol);
  });
}

/** Its channels and the addresses of its behaviours (decisions 6.1). */
export function offeredAddresses(read: StoreReader, site: string, spec: IOModuleSpec): ReadonlySet<string> {
  const preset = read.get(SimulationPreset, site, spec.simulation?.preset ?? '')?.spec.behaviors ?? [];
  const behaviors = mergeBehaviors(preset, spec.simulation?.addressMap ?? {}, spec.simulation?.behaviors ?? []);
  return new Set([...spec.channels.map((channel) => channel.address), ...behaviors.map((behavior) => behavior.address)]);
}
