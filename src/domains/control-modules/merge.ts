/**
 * The merged view of a control module: template plus instance (contract 3, Control module; decisions D-PROG-02, Q-PROG-13).
 * Pure: the same function serves the read bodies, the tag list and the plan of the unit runtime.
 *
 * Invariant: what is stored stays unmerged; an instance tag overrides its template tag field by field.
 */
import { printReal } from '../../../runtime/language/print.js';
import { parseDuration } from '../../../runtime/language/time-text.js';
import { typedReal } from '../../../runtime/language/value-text.js';
import type { NetworkOutput } from '../../../runtime/language/lower.js';
import { type DataType, iecType, tagType } from '../../../runtime/vocabulary/data-types.js';
import type { BlockSpec, Connection, NetworkVariable, ParamValue, VariableBinding } from '../../../runtime/vocabulary/network.js';
import { isNumberText } from '../../platform/store/fields.js';
import { evaluateBound, type ParamDefaults } from './bounds.js';
import type { DEVICE_CLASSES, ControlModuleSpec, ControlModuleTemplateSpec, InstanceTag, TemplateParameter, TemplateTag } from './kind.js';
import { CHANNEL_BLOCKS, ioModuleOf } from '../logic/kind.js';

export interface MergedTag extends TemplateTag {
  /** The entry came from the template untouched. */
  readonly inherited: boolean;
}

/** A merged tag with its bounds resolved; an absent bound is not enforced (contract 3, Control-module template). */
export interface EffectiveTag extends MergedTag {
  readonly type: DataType;
  readonly min?: number;
  readonly max?: number;
}

export interface ModuleInput {
  readonly name: string;
  readonly dataType: string;
  readonly type: DataType;
  /** `<controlModule>.<tag>` of the same unit. */
  readonly source?: string;
  /** Constant when there is no source: the instance's value, else the template's default. */
  readonly value?: ParamValue;
}

/** A tunable block parameter of a module with the value it has there (D-C-13). */
export interface ModuleParameter {
  readonly declared: TemplateParameter;
  readonly tag: EffectiveTag;
  readonly value: ParamValue;
  /** What it has where the module says nothing. */
  readonly templateValue: ParamValue;
}

/** Everything the unit plan builder needs to know of one control module. */
export interface ResolvedModule {
  readonly template: string;
  readonly moduleType: string;
  readonly deviceClass: (typeof DEVICE_CLASSES)[number];
  readonly symbolId: string;
  readonly measuredVariable: ControlModuleSpec['measuredVariable'];
  /** Duration text; empty: that of the unit. */
  readonly scanInterval: string;
  /** With parameter overrides applied and `addr` set from the channels of the tags. */
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  readonly variables: readonly NetworkVariable[];
  readonly variableBindings: readonly VariableBinding[];
  readonly inputs: readonly ModuleInput[];
  readonly tags: readonly EffectiveTag[];
  /** Tunable parameters; `readableTags` has them as tags. */
  readonly parameters: readonly ModuleParameter[];
  /** I/O modules behind its channels, sorted. */
  readonly ioModules: readonly string[];
}

/** `<module>.par.<name>`: no tag has a dot in its name, so none is in the way. */
const PARAMETER_PREFIX = 'par.';

const EMPTY_TAG: Omit<TemplateTag, 'name' | 'dataType'> = {
  accessLevel: 'read',
  blockRef: '',
  portRef: '',
  channel: '',
  engMin: '',
  engMax: '',
  engUnits: '',
  role: '',
  publishMode: '',
  trueLabel: '',
  falseLabel: '',
  stateWords: [],
};

/** VAR_OUTPUT of a module's text is a tag that is read (decisions 4.6). */
export function tagOfOutput({ name, dataType, blockRef, portRef }: NetworkOutput): TemplateTag {
  return { ...EMPTY_TAG, name, dataType: tagType(dataType) ?? 'Float', blockRef, portRef };
}

/** Template order, then the instance's own tags in the order given. */
export function mergeTags(template: readonly TemplateTag[], instance: readonly InstanceTag[]): MergedTag[] {
  const own = new Map(instance.map((tag) => [tag.name, tag]));
  const merged = template.map((tag): MergedTag => {
    const override = own.get(tag.name);
    own.delete(tag.name);
    return override ? withLabels({ ...tag, ...given(override), inherited: false }) : withLabels({ ...tag, inherited: true });
  });
  for (const tag of own.values()) {
    merged.push(withLabels({ ...EMPTY_TAG, dataType: 'Float', ...given(tag), name: tag.name, inherited: false }));
  }
  return merged;
}

/** Alarm tags read Active/Normal unless labelled otherwise (contract 3, Control-module template). */
function withLabels(tag: MergedTag): MergedTag {
  if (tag.role !== 'alarm') return tag;
  return { ...tag, trueLabel: tag.trueLabel || 'Active', falseLabel: tag.falseLabel || 'Normal' };
}

function given(tag: InstanceTag): Partial<TemplateTag> {
  return Object.fromEntries(Object.entries(tag).filter(([key, value]) => value !== undefined && key !== 'inherited'));
}

/** Blocks of the template with the instance's parameter values in place. */
export function overrideParams(blocks: readonly BlockSpec[], overrides: ControlModuleSpec['paramOverrides']): BlockSpec[] {
  return blocks.map((block) => {
    const own = overrides.filter((override) => override.blockRef === block.name);
    if (own.length === 0) return block;
    return { ...block, params: { ...block.params, ...Object.fromEntries(own.map(({ param, value }) => [param, likeTemplate(block.params?.[param], value)])) } };
  });
}

/** A whole number in the place of a constant that the template has as a REAL by its text stays REAL: the type of the block hangs on it. */
function likeTemplate(given: ParamValue | undefined, value: ParamValue): ParamValue {
  if (typeof value !== 'number' || typeof given !== 'string') return value;
  if (typedReal(given) !== null) return `REAL#${printReal(value)}`;
  return isNumberText(given) && !/^[+-]?\d+$/.test(given) ? printReal(value) : value;
}

function placeChannels(blocks: readonly BlockSpec[], tags: readonly MergedTag[]): BlockSpec[] {
  const channels = new Map(tags.filter((tag) => tag.channel !== '' && tag.blockRef !== '').map((tag) => [tag.blockRef, tag.channel]));
  return blocks.map((block) => {
    const addr = channels.get(block.name);
    return addr === undefined || !CHANNEL_BLOCKS.includes(block.type) ? block : { ...block, params: { ...block.params, addr } };
  });
}

export function effectiveTags(tags: readonly MergedTag[], blocks: readonly BlockSpec[], defaults: ParamDefaults = noDefaults): EffectiveTag[] {
  return tags.map((tag) => {
    const min = evaluateBound(tag.engMin, blocks, defaults);
    const max = evaluateBound(tag.engMax, blocks, defaults);
    return { ...tag, type: iecType(tag.dataType) ?? 'REAL', ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  });
}

const noDefaults: ParamDefaults = () => undefined;

/** The whole instance, as the unit runtime will run it. */
export function resolveModule(module: ControlModuleSpec, template: ControlModuleTemplateSpec, defaults: ParamDefaults = noDefaults): ResolvedModule {
  const merged = mergeTags(template.tags, module.tags);
  const overridden = overrideParams(template.blocks, module.paramOverrides);
  const blocks = placeChannels(overridden, merged);
  const inputs = template.inputs.map((input) => bindInput(input, module.inputBindings));
  return {
    template: module.templateRef,
    moduleType: template.moduleType,
    deviceClass: template.deviceClass || 'other',
    symbolId: module.symbolId || template.symbolId,
    measuredVariable: module.measuredVariable || template.measuredVariable,
    scanInterval: template.scanInterval,
    blocks,
    connections: template.dataConnections,
    variables: inputs.map(({ name, dataType, source }) => ({ name, dataType, direction: 'input', ...(source === undefined ? {} : { source }) })),
    variableBindings: template.variableBindings,
    inputs,
    tags: effectiveTags(merged, blocks, defaults),
    parameters: moduleParameters(template, blocks, defaults),
    ioModules: ioModulesOf(merged, blocks),
  };
}

/** Admission lets no parameter be tunable that has no value. */
function moduleParameters({ parameters = [], blocks: own }: ControlModuleTemplateSpec, blocks: readonly BlockSpec[], defaults: ParamDefaults): ModuleParameter[] {
  return parameters
    .filter(({ tunable }) => tunable)
    .map((declared): ModuleParameter => {
      const { name, dataType = 'Float', engMin, engMax, engUnits } = declared;
      const type = iecType(dataType) ?? 'REAL';
      const min = parameterBound(engMin, type, blocks, defaults);
      const max = parameterBound(engMax, type, blocks, defaults);
      const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
      return {
        declared,
        tag: { ...EMPTY_TAG, name: `${PARAMETER_PREFIX}${name}`, dataType, engMin, engMax, engUnits, inherited: true, type, ...bounds },
        value: paramOf(blocks, declared, type, defaults),
        templateValue: paramOf(own, declared, type, defaults),
      };
    });
}

/** A bound of a time is a duration, `T#10s`, or as that of a tag, in ms. */
export function parameterBound(text: string, type: DataType, blocks: readonly BlockSpec[], defaults: ParamDefaults): number | undefined {
  return (type === 'TIME' ? parseDuration(text.trim()) : null) ?? evaluateBound(text, blocks, defaults);
}

/** Numbers as numbers: a parameter may have been written as text. */
function paramOf(blocks: readonly BlockSpec[], { blockRef, param }: TemplateParameter, type: DataType, defaults: ParamDefaults): ParamValue {
  const block = blocks.find(({ name }) => name === blockRef);
  const given = block?.params && Object.hasOwn(block.params, param) ? block.params[param] : undefined;
  const value = given ?? (block && defaults(block.type, param)) ?? '';
  if (typeof value !== 'string' || type === 'TIME') return value;
  return isNumberText(value) ? Number(value) : (typedReal(value) ?? value);
}

/** Tags of a module as they are read: those of its engineering, behind them its tunable parameters. */
export function readableTags({ tags, parameters }: ResolvedModule): readonly EffectiveTag[] {
  return parameters.length === 0 ? tags : [...tags, ...parameters.map(({ tag }) => tag)];
}

/** How many tags `readableTags` has of a module, without making any. */
export function readableTagCount({ tags: instance }: Pick<ControlModuleSpec, 'tags'>, { tags, parameters = [] }: Pick<ControlModuleTemplateSpec, 'tags' | 'parameters'>): number {
  const own = instance.length === 0 ? undefined : new Set(instance.map(({ name }) => name));
  for (const name of own ?? []) if (namesOf(tags).has(name)) own?.delete(name);
  return tags.length + (own?.size ?? 0) + parameters.reduce((sum, { tunable }) => sum + (tunable ? 1 : 0), 0);
}

const names = new WeakMap<readonly TemplateTag[], ReadonlySet<string>>();

/** Of the tags of a template, which hundreds of modules share. */
function namesOf(tags: readonly TemplateTag[]): ReadonlySet<string> {
  let known = names.get(tags);
  if (!known) names.set(tags, (known = new Set(tags.map(({ name }) => name))));
  return known;
}

function bindInput(input: ControlModuleTemplateSpec['inputs'][number], bindings: ControlModuleSpec['inputBindings']): ModuleInput {
  const binding = bindings.find((candidate) => candidate.name.toLowerCase() === input.name.toLowerCase());
  const base = { name: input.name, dataType: input.dataType, type: iecType(input.dataType) ?? 'REAL' } as const;
  if (binding?.source) return { ...base, source: binding.source };
  if (binding?.value !== undefined) return { ...base, value: binding.value };
  return input.defaultValue === '' ? base : { ...base, value: readDefault(input.defaultValue, base.type) };
}

function readDefault(text: string, type: DataType): ParamValue {
  if (type === 'BOOL') return text.toUpperCase() === 'TRUE' || text === '1';
  if ((type === 'REAL' || type === 'INT') && isNumberText(text)) return Number(text);
  return text;
}

function ioModulesOf(tags: readonly MergedTag[], blocks: readonly BlockSpec[]): string[] {
  const addresses = [...tags.map((tag) => tag.channel), ...blocks.filter((block) => CHANNEL_BLOCKS.includes(block.type)).map((block) => String(block.params?.addr ?? ''))];
  return [...new Set(addresses.map(ioModuleOf).filter((name) => name !== ''))].sort();
}
