/** What of a control module is shown where: its main value on the graphic, and the lines of its faceplate. */
import type { ModuleInfo, TagDescriptor, TagData } from './types.js';

export interface ModuleTags {
  readonly module: ModuleInfo;
  readonly all: readonly TagDescriptor[];
  /** What the graphic shows: the state word of a device, the measured value of an instrument, else the output. */
  readonly main: TagDescriptor | undefined;
  readonly setpoint: TagDescriptor | undefined;
  readonly output: TagDescriptor | undefined;
  readonly interlocks: readonly TagDescriptor[];
  readonly faults: readonly TagDescriptor[];
  /** What may be tuned (D-C-13): values of engineering, none of the process. */
  readonly parameters: readonly TagDescriptor[];
}

export function moduleTags(module: ModuleInfo, tags: readonly TagDescriptor[]): ModuleTags {
  const own = tags.filter(({ controlModule }) => controlModule === module.name);
  const all = own.filter((tag) => !isParameter(tag));
  const floats = all.filter(({ dataType }) => dataType === 'Float');
  const measured = floats.find(({ name }) => name === 'pv');
  const output = floats.find(({ name }) => name === 'out');
  return {
    module,
    all,
    main: all.find(({ role }) => role === 'state') ?? measured ?? output ?? floats[0] ?? all[0],
    setpoint: floats.find(({ role, engUnits, name }) => role === 'setpoint' && (name === 'sp' || engUnits === measured?.engUnits)),
    output,
    interlocks: all.filter(({ role, dataType }) => role === 'interlock' && dataType === 'Boolean'),
    faults: all.filter(({ deviceFault }) => deviceFault === true),
    parameters: own.filter(isParameter),
  };
}

/** No tag of a module has a dot in its name. */
function isParameter({ name }: TagDescriptor): boolean {
  return name.startsWith('par.');
}

/** Of a module by the name that it has there: alarms name their limits without a unit of measure. */
export function tagNamed(module: string, tag: string, tags: readonly TagDescriptor[]): TagDescriptor | undefined {
  return tag === '' ? undefined : tags.find((each) => each.controlModule === module && each.name === tag);
}

/** `ok` and `permitted` are TRUE when nothing is in the way, every other interlock tag is TRUE when something is. */
export function isBlocked(tag: TagDescriptor, value: TagData): boolean {
  const permits = /permit/i.test(tag.trueLabel) || /^(ok|permit)/i.test(tag.name);
  return permits ? value === false : value === true;
}

/** Patterns that cover what the graphic of a unit shows. */
export function graphicPatterns(found: readonly ModuleTags[]): string[] {
  const names = new Set<string>();
  for (const { main, setpoint, interlocks, faults } of found) for (const tag of [main, setpoint, ...interlocks, ...faults]) if (tag) names.add(tag.name);
  return [...names].sort().map((name) => `*.${name.replace(/[*?[\]]/g, '?')}`);
}
