/**
 * Which tags a unit tile shows: one measured value per instrument and controller, its setpoint, and the state word of each
 * device, chosen by what engineering says of the module (device class, measured variable) and of the tag (role).
 */
import type { ModuleInfo, TagDescriptor } from './types.js';

const MEASUREMENTS_MAX = 4;
/** Order of importance on a tile; what is not listed comes after. */
const VARIABLES = ['Level', 'Temperature', 'Pressure', 'Weight', 'Flow'];
const PATTERNS_MAX = 40; // of the 64 subscriptions of a connection (decisions Q-STREAM-05)

export interface Measurement {
  readonly module: string;
  readonly description: string;
  readonly variable: string;
  readonly tag: TagDescriptor;
  readonly setpoint: TagDescriptor | undefined;
  /** What switches the controller on; undefined where it has no switch. */
  readonly enable: TagDescriptor | undefined;
  /** The bar's scale; undefined when engineering gives no range. */
  readonly range: { readonly min: number; readonly max: number } | undefined;
}

export interface Device {
  readonly module: string;
  readonly description: string;
  readonly state: TagDescriptor;
}

export interface KeyTags {
  readonly measurements: readonly Measurement[];
  readonly devices: readonly Device[];
}

export function keyTagsOf(unit: string, tags: readonly TagDescriptor[], modules: ReadonlyMap<string, ModuleInfo>): KeyTags {
  const byModule = new Map<string, TagDescriptor[]>();
  for (const tag of tags) {
    if (tag.unit !== unit || tag.controlModule === '') continue;
    const own = byModule.get(tag.controlModule) ?? [];
    own.push(tag);
    byModule.set(tag.controlModule, own);
  }
  const measurements: Measurement[] = [];
  const devices: Device[] = [];
  for (const [name, own] of byModule) {
    const module = modules.get(name);
    const measured = module?.deviceClass === 'sensor' || module?.deviceClass === 'controller' ? measuredTag(own) : undefined;
    const state = own.find((tag) => tag.role === 'state');
    if (module && measured)
      measurements.push({
        module: name,
        description: module.description,
        variable: module.measuredVariable,
        tag: measured,
        setpoint: setpointOf(own, measured),
        enable: own.find(({ name: tagName, dataType }) => tagName === 'enable' && dataType === 'Boolean'),
        range: rangeOf(measured),
      });
    else if (state) devices.push({ module: name, description: module?.description ?? '', state });
  }
  measurements.sort((a, b) => rank(a.variable) - rank(b.variable) || a.module.localeCompare(b.module));
  devices.sort((a, b) => a.module.localeCompare(b.module));
  return { measurements: measurements.slice(0, MEASUREMENTS_MAX), devices };
}

/** The process value: called `pv` by convention, else the only readable number of the module. */
function measuredTag(tags: readonly TagDescriptor[]): TagDescriptor | undefined {
  const numbers = tags.filter((tag) => tag.dataType === 'Float' && tag.accessLevel === 'read');
  return numbers.find((tag) => tag.name === 'pv') ?? (numbers.length === 1 ? numbers[0] : undefined);
}

/** The setpoint in the unit of the measured value; a manual output is another one. */
function setpointOf(tags: readonly TagDescriptor[], measured: TagDescriptor): TagDescriptor | undefined {
  return tags.find((tag) => tag.role === 'setpoint' && tag.dataType === 'Float' && tag.engUnits === measured.engUnits);
}

function rangeOf({ engMin, engMax }: TagDescriptor): { min: number; max: number } | undefined {
  const min = Number.parseFloat(engMin);
  const max = Number.parseFloat(engMax);
  return Number.isFinite(min) && Number.isFinite(max) && max > min ? { min, max } : undefined;
}

function rank(variable: string): number {
  const at = VARIABLES.indexOf(variable);
  return at < 0 ? VARIABLES.length : at;
}

/** Address patterns that cover the key tags: one per tag name, since a pattern may span all modules. */
export function patternsOf(keys: Iterable<KeyTags>): string[] {
  const patterns = new Set<string>();
  for (const { measurements, devices } of keys) {
    for (const { tag, setpoint, enable } of measurements) {
      patterns.add(patternOf(tag));
      if (setpoint) patterns.add(patternOf(setpoint));
      if (enable) patterns.add(patternOf(enable));
    }
    for (const { state } of devices) patterns.add(patternOf(state));
  }
  return patterns.size > PATTERNS_MAX ? ['*'] : [...patterns].sort();
}

/** The glob has no escape; `?` stands for one of its own characters (contract 2, WebSocket 1). */
function patternOf({ address, controlModule, name }: TagDescriptor): string {
  const text = address === `${controlModule}.${name}` ? `.${name}` : address;
  const exact = text.replace(/[*?[\]]/g, '?');
  return text === address ? exact : `*${exact}`;
}
