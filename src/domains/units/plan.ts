/**
 * The plan of one unit runtime (runtime/port.ts, UnitPlan), built from what the store holds now: control modules merged
 * with their templates, control programs, the tag list and the process images they touch. Pure but for reading.
 *
 * Networks run in the order of decisions 2.4: a module that feeds an input of another before its reader, ties by name,
 * then programs by name. A tag's index in the plan is its slot in the tag table.
 */
import type { ImagePlan, NetworkPlan, RetainedNetwork, RuntimeSettings, TagPlan, UnitPlan } from '../../../runtime/port.js';
import { type DataType, iecType } from '../../../runtime/vocabulary/data-types.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import type { CompositeType } from '../../../runtime/vocabulary/network.js';
import { TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { alarmPlans } from '../alarms/plan.js';
import type { InterlockBypass } from '../control-modules/kind.js';
import { type EffectiveTag, type ResolvedModule } from '../control-modules/merge.js';
import { channelProblem } from '../control-modules/channel-uses.js';
import { canFeed } from '../control-modules/input-sources.js';
import { modeOf, modulesOf, resolvedModuleOf } from '../control-modules/modules.js';
import { ControlProgram, type ControlProgramSpec, FunctionBlockType, ownerOfProgram, CHANNEL_BLOCKS, ioModuleOf } from '../logic/kind.js';
import { scanIntervalMs } from '../logic/rules.js';
import { Unit, UNIT_SCAN_INTERVAL_DEFAULT } from '../plant/kind.js';
import { type Pace, paceOf } from './pace.js';

/** A module's process image with its channels in slot order, as the I/O side has laid it out. */
export type ImageSource = (ioModule: string) => ImagePlan | undefined;

export interface PlanSources {
  readonly read: StoreReader;
  readonly image: ImageSource;
  readonly settings: RuntimeSettings;
  readonly timeScale: number;
  readonly retained: Readonly<Record<string, RetainedNetwork>>;
}

/** Everything but the shared memory: two equal contents need no new plan. */
export interface PlanContent extends Omit<UnitPlan, 'revision' | 'table' | 'scans' | 'retained'> {}

interface NamedModule {
  readonly name: string;
  readonly mode: Mode;
  readonly resolved: ResolvedModule;
  readonly bypass: InterlockBypass | undefined;
}

export function planContent(site: string, unit: string, sources: PlanSources): PlanContent | undefined {
  const resource = sources.read.get(Unit, site, unit);
  if (!resource) return undefined;
  const unitMs = parseDuration(resource.spec.scanInterval || UNIT_SCAN_INTERVAL_DEFAULT) ?? 100;
  const modules = sourcesFirst(unitModules(sources.read, site, unit));
  const programs = sources.read.list(ControlProgram, site).filter((program) => program.spec.unitRef === unit && ownerOfProgram(program.metadata) === undefined);
  const images = new ImageList(sources.image);
  const tags = [
    ...modules.flatMap(({ name, resolved }) => [
      ...resolved.tags.map((tag) => moduleTag(name, tag, bindingOf(tag, images))),
      // what the networks of this plan run with: another value is another plan
      ...resolved.parameters.map(({ tag, value }) => moduleTag(name, tag, { kind: 'stored', initial: value })),
    ]),
    ...programs.flatMap((program) => programTags(program.metadata.name, program.spec)),
  ];
  const slots = new Map(tags.map((tag, slot) => [tag.address, slot]));
  const known: Tags = { slots, tags };
  const withLogic = modules.filter((module) => module.resolved.blocks.length > 0);
  const pace = paceOf(unitMs, [
    ...withLogic.map((module) => parseDuration(module.resolved.scanInterval) ?? unitMs),
    ...programs.map((program) => scanIntervalMs(program.spec.scanInterval) ?? unitMs),
  ]);
  const networks = [
    ...withLogic.map((module) => moduleNetwork(module, paced(parseDuration(module.resolved.scanInterval) ?? unitMs, pace), known, images)),
    ...programs.map((program) => programNetwork(program.metadata.name, program.spec, { pace, known, images, notes: danglingOfProgram(program.spec, site, sources.read, slots) })),
  ];
  return {
    site,
    unit,
    scanIntervalMs: pace.baseMs,
    chartIntervalMs: unitMs,
    timeScale: sources.timeScale,
    networks,
    composites: compositesUsed(sources.read, networks),
    tags,
    images: images.plans,
    moduleModes: Object.fromEntries(modules.filter((module) => module.mode !== 'Automatic').map((module) => [module.name, module.mode])),
    bypasses: modules.flatMap(({ name, bypass }) => (bypass?.active ? [{ module: name, ...(bypass.interlocks.length > 0 ? { blocks: bypass.interlocks } : {}) }] : [])),
    alarms: alarmPlans(sources.read, site, tags),
    settings: sources.settings,
  };
}

export function withTable(content: PlanContent, revision: number, retained: PlanSources['retained']): UnitPlan {
  const scans = new SharedArrayBuffer(content.networks.length * Float64Array.BYTES_PER_ELEMENT);
  return { ...content, revision, table: new TagTable(content.tags.length).buffer, scans, retained };
}

function unitModules(read: StoreReader, site: string, unit: string): NamedModule[] {
  return modulesOf(read, site, unit).flatMap((module) => {
    const resolved = resolvedModuleOf(read, module);
    if (!resolved) return [];
    return [{ name: module.metadata.name, mode: modeOf(module), resolved, bypass: module.status.interlockBypass }];
  });
}

/** Repeatedly the first module by name whose sources have all been taken; a cycle is broken at its first name. */
function sourcesFirst(modules: readonly NamedModule[]): NamedModule[] {
  const waiting = [...modules].sort((a, b) => (a.name < b.name ? -1 : 1));
  const ordered: NamedModule[] = [];
  while (waiting.length > 0) {
    const names = new Set(waiting.map((module) => module.name));
    const at = waiting.findIndex((module) =>
      module.resolved.inputs.every((input) => input.source === undefined || !names.has(ownerOf(input.source)) || ownerOf(input.source) === module.name),
    );
    ordered.push(...waiting.splice(Math.max(at, 0), 1));
  }
  return ordered;
}

function ownerOf(source: string): string {
  const at = source.indexOf('.');
  return at < 0 ? source : source.slice(0, at);
}

/** The images a unit touches, in order of first use. */
class ImageList {
  readonly plans: ImagePlan[] = [];
  readonly #source: ImageSource;

  constructor(source: ImageSource) {
    this.#source = source;
  }

  /** Indexes of `<ioModule>:<channel>`; undefined while module or channel do not exist. */
  find(address: string): { readonly image: number; readonly channel: number } | undefined {
    const module = ioModuleOf(address);
    if (module === '') return undefined;
    const known = this.plans.find((plan) => plan.module === module);
    const plan = known ?? this.#source(module);
    if (!plan) return undefined;
    if (!known) this.plans.push(plan);
    const image = this.plans.indexOf(plan);
    const name = address.slice(module.length + 1);
    const channel = plan.channels.findIndex((candidate) => candidate.address === name || candidate.name === name);
    return channel < 0 ? undefined : { image, channel };
  }
}

function moduleTag(module: string, tag: EffectiveTag, binding: TagPlan['binding']): TagPlan {
  return {
    address: `${module}.${tag.name}`,
    network: module,
    name: tag.name,
    type: tag.type,
    writable: tag.accessLevel === 'readwrite',
    ...(tag.min === undefined ? {} : { engMin: tag.min }),
    ...(tag.max === undefined ? {} : { engMax: tag.max }),
    cyclic: tag.publishMode !== 'onChange',
    ...maxAgeOf(tag),
    binding,
  };
}

function maxAgeOf({ maxAge = '' }: EffectiveTag): Pick<TagPlan, 'maxAgeMs'> {
  const maxAgeMs = maxAge === '' ? null : parseDuration(maxAge);
  return maxAgeMs === null ? {} : { maxAgeMs };
}

function bindingOf(tag: EffectiveTag, images: ImageList): TagPlan['binding'] {
  if (tag.blockRef !== '') return { kind: 'port', block: tag.blockRef, port: tag.portRef };
  const channel = tag.channel === '' ? undefined : images.find(tag.channel);
  return channel ? { kind: 'channel', ...channel } : { kind: 'stored', initial: null };
}

/** Outputs and locals can be read; an input without a source is written from outside (decisions 1.6). */
function programTags(program: string, spec: ControlProgramSpec): TagPlan[] {
  return spec.variables
    .filter((variable) => variable.direction !== 'input' || !variable.source)
    .map((variable) => ({
      address: `${program}.${variable.name}`,
      network: program,
      name: variable.name,
      type: iecType(variable.dataType) ?? 'REAL',
      writable: variable.direction === 'input',
      cyclic: true,
      binding: { kind: 'variable', variable: variable.name },
    }));
}

function moduleNetwork(module: NamedModule, interval: Paced, known: Tags, images: ImageList): NetworkPlan {
  const { resolved, name } = module;
  const core = { blocks: resolved.blocks, connections: resolved.connections, variableBindings: resolved.variableBindings };
  return {
    name,
    owner: 'module',
    shape: `template/${resolved.template}`,
    ...interval,
    hash: hashOf(core),
    ...core,
    variables: resolved.variables,
    inputs: resolved.inputs.map((input) => ({ variable: input.name, ...feed(input, known), ...(input.value === undefined ? {} : { value: input.value }) })),
    channels: channelsOf(resolved.blocks, images),
  };
}

/** Of the unit, by number and by address. */
interface Tags {
  readonly slots: ReadonlyMap<string, number>;
  readonly tags: readonly TagPlan[];
}

interface ProgramSurroundings {
  readonly pace: Pace;
  readonly known: Tags;
  readonly images: ImageList;
  /** What of the program leads nowhere. */
  readonly notes: readonly string[];
}

function programNetwork(name: string, spec: ControlProgramSpec, { pace, known, images, notes }: ProgramSurroundings): NetworkPlan {
  const core = { blocks: spec.blocks, connections: spec.connections, variableBindings: spec.variableBindings };
  const interval = scanIntervalMs(spec.scanInterval);
  return {
    name,
    owner: 'program',
    shape: `program/${name}`,
    // an interval that apply stored without being able to read it: the worker says Error (decisions Q-PROG-05)
    ...(interval === null ? { scanIntervalMs: 0 } : paced(interval, pace, notes)),
    hash: hashOf(core),
    ...core,
    variables: spec.variables.map((variable) => ({ ...variable, direction: variable.direction as 'input' | 'output' | 'local' })),
    inputs: spec.variables
      .filter((variable) => variable.direction === 'input')
      .map((variable) => ({ variable: variable.name, ...feed({ source: variable.source || undefined, type: iecType(variable.dataType) ?? 'REAL' }, known) })),
    channels: channelsOf(spec.blocks, images),
  };
}

interface Feed {
  readonly source?: string | undefined;
  readonly type: DataType;
}

/** What is to be read from a tag that is not there, or that can be no value of the type, is not known. */
function feed({ source, type }: Feed, { slots, tags }: Tags): { tag?: number; isMissing?: true } {
  if (source === undefined) return {};
  const tag = slots.get(source);
  const found = tag === undefined ? undefined : tags[tag];
  return tag !== undefined && found && canFeed(found.type, type) ? { tag } : { isMissing: true };
}

type Paced = Pick<NetworkPlan, 'scanIntervalMs' | 'note'>;

/** The interval at which a network runs, with a word where that is not the one it was given. */
function paced(intervalMs: number, pace: Pace, notes: readonly string[] = []): Paced {
  const scanIntervalMs = pace.periodOf(intervalMs);
  const off = Math.abs(scanIntervalMs - intervalMs) > 1e-6;
  const all = off ? [...notes, `runs every ${scanIntervalMs}ms: the unit comes round every ${pace.baseMs}ms, and ${intervalMs}ms is no multiple of that`] : notes;
  return { scanIntervalMs, ...(all.length > 0 ? { note: all.join('; ') } : {}) };
}

/** References of a program may dangle, but not unseen (decisions D-UNIT-02): channels and tags that are not there. */
function danglingOfProgram(spec: ControlProgramSpec, site: string, read: StoreReader, slots: ReadonlyMap<string, number>): string[] {
  return [
    ...spec.blocks
      .filter(({ type }) => CHANNEL_BLOCKS.includes(type))
      .map(({ name, type, params }) => channelProblem(read, site, { user: `block ${name}`, type, channel: String(params?.addr ?? '') })),
    ...spec.variables.map(({ name, direction, source }) =>
      direction === 'input' && source && !slots.has(source) ? `variable ${name} reads tag ${source}, which the unit does not have` : '',
    ),
  ].filter((text) => text !== '');
}

function channelsOf(blocks: NetworkPlan['blocks'], images: ImageList): NetworkPlan['channels'] {
  return blocks
    .filter((block) => CHANNEL_BLOCKS.includes(block.type))
    .flatMap((block) => {
      const found = images.find(String(block.params?.addr ?? ''));
      return found ? [{ block: block.name, ...found }] : [];
    });
}

/** Key of retained values: what the state of a network depends on, its parameters excepted. */
function hashOf(core: Pick<NetworkPlan, 'blocks' | 'connections' | 'variableBindings'>): string {
  return canonicalDigest([core.blocks.map((block) => [block.name, block.type]), core.connections, core.variableBindings]).slice(0, 16);
}

/** The composite types the networks use, and those inside them. */
function compositesUsed(read: StoreReader, networks: readonly NetworkPlan[]): CompositeType[] {
  const all = new Map(read.list(FunctionBlockType).map((type) => [type.metadata.name, type.spec]));
  const used = new Map<string, CompositeType>();
  const visit = (blocks: NetworkPlan['blocks']): void => {
    for (const { type } of blocks) {
      const spec = all.get(type);
      if (!spec || used.has(type)) continue;
      used.set(type, { ...spec, name: type });
      visit(spec.blocks);
    }
  };
  for (const network of networks) visit(network.blocks);
  return [...used.values()];
}
