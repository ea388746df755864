/** The plan of the copied plant: the units as their workers would be told, and every I/O module behind them as a simulation. */
import { isSimulated, mergeBehaviors, renamedIn, SIMULATED_PROTOCOL } from '../../../runtime/catalog.js';
import type { Behavior, ImagePlan, ProbeModule, RehearsalPlan, UnitPlan } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus, REHEARSAL_PRESET_LABEL, SimulationPreset } from '../io-modules/kind.js';
import { channelsOf } from '../io-modules/channels.js';
import { type BoxOutputs, imagePlan, probeModule } from '../io-modules/probe-module.js';
import { planContent, withTable } from '../units/plan.js';
import type { RehearsalOrder } from './order.js';

type Module = Resource<IOModuleSpec, IOModuleStatus>;

export interface CopiedPlant {
  readonly plan: RehearsalPlan;
  readonly assumptions: readonly string[];
}

export function copiedPlant(read: StoreReader, order: RehearsalOrder): CopiedPlant {
  const images = new Map<string, ImagePlan>();
  const image = (name: string): ImagePlan | undefined => {
    const known = images.get(name);
    const module = known ? undefined : read.get(IOModule, order.site, name);
    if (!module) return known;
    const fresh = imagePlan(name, module.spec, new ProcessImage(module.spec.channels.length).buffer);
    images.set(name, fresh);
    return fresh;
  };
  const units = order.units.flatMap((unit) => unitPlan(read, order, unit, image));
  const assumptions: string[] = [];
  const modules = simulatedWith([...images.keys()], read.list(IOModule, order.site)).flatMap((module) => {
    const plan = image(module.metadata.name);
    return plan ? [seeded(simulated(module, read, plan.buffer, order, assumptions), order.seed)] : [];
  });
  return { plan: { units, modules, startWallMs: order.startWallMs }, assumptions };
}

function unitPlan(read: StoreReader, { site, runtime }: RehearsalOrder, unit: string, image: (name: string) => ImagePlan | undefined): UnitPlan[] {
  // the controller works only while the units stand still: they never lose it
  const settings = { ...runtime, orphanTimeoutMs: 0 };
  const content = planContent(site, unit, { read, image, settings, timeScale: 1, retained: {} });
  return content ? [withTable(content, 1, {})] : [];
}

/** The modules that the units touch, and those that the simulation of one of them reads (`<module>/<address>`). */
function simulatedWith(used: readonly string[], all: readonly Module[]): Module[] {
  const taken = new Set(used);
  let before = -1;
  while (taken.size !== before) {
    before = taken.size;
    const texts = all.filter(({ metadata }) => taken.has(metadata.name)).map(({ spec }) => JSON.stringify(spec.simulation ?? {}));
    for (const { metadata } of all) if (texts.some((text) => text.includes(`${metadata.name}/`))) taken.add(metadata.name);
  }
  return all.filter(({ metadata }) => taken.has(metadata.name));
}

function seeded(module: ProbeModule, seed: number | undefined): ProbeModule {
  return seed === undefined || !module.simulation ? module : { ...module, simulation: { ...module.simulation, seed } };
}

/** What is rehearsed drives a simulation. */
const NOTHING_REAL: BoxOutputs = { setting: 'live', deviceId: '' };

function simulated(module: Module, read: StoreReader, buffer: SharedArrayBuffer, order: RehearsalOrder, assumptions: string[]): ProbeModule {
  const planned = probeModule(module, read, buffer, () => undefined, NOTHING_REAL);
  if (isSimulated(planned.protocol)) return readingByName(planned, read);
  const { failSafe: _failSafe, withheld: _withheld, ownership: _ownership, ...asSimulation } = { ...planned, protocol: SIMULATED_PROTOCOL, address: '', options: {} };
  const behaviors = presetBehaviors(module, read, assumptions);
  const names = channelsOf(module.spec).map(({ name }) => name);
  const values = order.lastValues[planned.module] ?? [];
  if (behaviors.length === 0) assumptions.push(heldText(planned, values));
  return {
    ...asSimulation,
    // an address of a device (`input:1:int16`) is none of a simulation, and in a preset the name of the channel stands for it
    channels: planned.channels.map((channel, slot) => ({
      ...channel,
      address: names[slot] ?? channel.address,
      readbackAddress: '',
      initial: values[slot] ?? channel.initial ?? null,
    })),
    simulation: { seed: 0, behaviors, faults: [] },
  };
}

/** The copy of a device has its channels by their names, so a behaviour that reads one by its address (ADR 0069) reads it by its name. */
function readingByName(module: ProbeModule, read: StoreReader): ProbeModule {
  if (!module.simulation) return module;
  const nameOf = (reference: string): string => {
    const slash = reference.indexOf('/');
    const spec = slash < 0 ? undefined : read.get(IOModule, module.site, reference.slice(0, slash))?.spec;
    if (!spec || isSimulated(spec.protocol)) return reference;
    const found = channelsOf(spec).find(({ address }) => address === reference.slice(slash + 1));
    return found ? `${reference.slice(0, slash)}/${found.name}` : reference;
  };
  return { ...module, simulation: { ...module.simulation, behaviors: module.simulation.behaviors.map((behavior) => renamedIn(behavior, nameOf)) } };
}

function presetBehaviors({ metadata, spec }: Module, read: StoreReader, assumptions: string[]): Behavior[] {
  const name = metadata.labels[REHEARSAL_PRESET_LABEL];
  const preset = name === undefined ? undefined : read.get(SimulationPreset, metadata.site, name);
  if (name !== undefined && !preset)
    assumptions.push(`I/O module ${metadata.name}: simulation preset ${name}, which its label ${REHEARSAL_PRESET_LABEL} names, does not exist: apply it`);
  if (!preset) return [];
  assumptions.push(`I/O module ${metadata.name} (${spec.protocol}) is simulated by preset ${name}`);
  return mergeBehaviors(preset.spec.behaviors, {}, []);
}

function heldText({ module, channels, protocol }: ProbeModule, values: readonly unknown[]): string {
  const unmeasured = channels.filter(({ direction }, slot) => direction === 'input' && values[slot] === undefined).length;
  const zero = unmeasured === 0 ? '' : `, ${unmeasured} that were never measured at 0`;
  return `I/O module ${module} (${protocol}) is not simulated: its inputs stand at their last values${zero}, its outputs read back what is written. What waits for one of its inputs waits for ever: give it a process with a simulation preset, named in its label ${REHEARSAL_PRESET_LABEL}`;
}
