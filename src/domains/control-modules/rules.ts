/**
 * Admission of control modules and their templates (contract 3, Control module, Control-module template; decisions
 * Q-PROG-09..14, D-PROG-02). The merged view itself is in merge.ts, what is stored in modules.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { blockType, memoryLengths } from '../../../runtime/catalog.js';
import type { NetworkOutput } from '../../../runtime/language/lower.js';
import { parseDuration as parseTimeBound } from '../../../runtime/language/time-text.js';
import { parseValueText } from '../../../runtime/language/value-text.js';
import { iecType } from '../../../runtime/vocabulary/data-types.js';
import type { CompositeType } from '../../../runtime/vocabulary/network.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { conflict, eachOf, forAll, invalid, Refusal, refusalsOf, refuseAll, together } from '../../platform/base/refusal.js';
import { TagName } from '../../platform/store/fields.js';
import { type Admission, type StoreReader, ruled } from '../../platform/store/kind.js';
import { type CheckedNetwork, checkNetwork, compileText, compositesOf } from '../logic/composites.js';
import { workOn } from '../plant/unit-owner.js';
import { parseBound, references } from './bounds.js';
import { channelsAmiss } from './channel-notes.js';
import { refusedClaims } from '../logic/output-claims.js';
import { outputPlaces } from '../logic/output-places.js';
import { claimsOfModule, othersIn } from './output-owners.js';
import { admitParameters, checkFree, checkParameterValues } from './parameters.js';
import {
  ControlModule,
  type ControlModuleSpec,
  type ControlModuleStatus,
  ControlModuleTemplate,
  type ControlModuleTemplateSpec,
  type TemplateParameter,
  type TemplateTag,
} from './kind.js';
import { type MergedTag, mergeTags, overrideParams, type ResolvedModule, resolveModule, tagOfOutput } from './merge.js';
import { mergedOf, type ModuleResource, paramDefault, resolvedModuleOf } from './modules.js';
import { CHANNEL_BLOCKS, ControlProgram, ioModuleOf } from '../logic/kind.js';
import { openChannelsOf } from '../logic/open-channels.js';
import { Unit } from '../plant/kind.js';
import { unfedOf } from './unfed.js';
import { NESTING_MAX, unitOf } from '../plant/unit-of.js';

export { type EffectiveTag, effectiveTags, type MergedTag, mergeTags, type ResolvedModule, resolveModule } from './merge.js';

type TemplateAdmission = Admission<ControlModuleTemplateSpec, Readonly<Record<string, never>>>;
type ModuleAdmission = Admission<ControlModuleSpec, ControlModuleStatus>;

// ---------------------------------------------------------------- template

/** @throws Refusal 422 with diagnostics for structured text outside the dataflow subset, 400 for everything else. */
export function admitTemplate(input: ControlModuleTemplateSpec, { name, read, before }: TemplateAdmission): ControlModuleTemplateSpec {
  const composites = compositesOf(read);
  const spec = input.structuredText === undefined ? input : compileTemplate(input, input.structuredText, composites, before?.spec.tags ?? []);
  const { structuredText: _text, ...stored } = spec;
  together(
    () => checkScanInterval(stored.scanInterval),
    () => checkInputs(stored),
    () => checkNetworkAndTags(networkOf(stored), stored.tags, stored, composites, templatePath),
  );
  if (!stored.parameters) return stored;
  const parameters = admitParameters(stored.parameters, { network: networkOf(stored), tags: stored.tags, composites });
  parameters.forEach((parameter, index) => {
    for (const bound of ['engMin', 'engMax'] as const) checkParameterBound(parameter, bound, `parameters[${index}].${bound}`, stored, composites);
  });
  const complete = { ...stored, parameters };
  checkParameterValues(
    resolveModule({ ...BARE_MODULE, templateRef: name }, complete, paramDefault(read)).parameters,
    (parameter) => `parameters[${parameters.indexOf(parameter)}]`,
  );
  return complete;
}

/** An instance that says nothing. */
export const BARE_MODULE: ControlModuleSpec = {
  parentName: '',
  parentKind: 'Unit',
  templateRef: '',
  symbolId: '',
  measuredVariable: '',
  description: '',
  tags: [],
  inputBindings: [],
  paramOverrides: [],
  mode: '',
};

function checkParameterBound(parameter: TemplateParameter, bound: 'engMin' | 'engMax', field: string, spec: ControlModuleTemplateSpec, composites: readonly CompositeType[]): void {
  const isTime = iecType(parameter.dataType ?? '') === 'TIME';
  if (!isTime || parseTimeBound(parameter[bound].trim()) === null) checkBound(parameter[bound], field, spec, composites);
}

/**
 * Structured text instead of a network: blocks and connections of the same request are ignored (contract 3, Control-module
 * template). Inputs that the template does not declare itself are taken from VAR_INPUT, tags from VAR_OUTPUT. `stored`: the
 * tags before this write.
 */
function compileTemplate(spec: ControlModuleTemplateSpec, text: string, composites: readonly CompositeType[], stored: readonly TemplateTag[]): ControlModuleTemplateSpec {
  const network = compileText(text, composites);
  const declared = new Map(spec.inputs.map((input) => [input.name.toLowerCase(), input]));
  const inputs = network.inputs.map((input) => {
    const own = declared.get(input.name.toLowerCase());
    if (own && iecType(own.dataType) !== iecType(input.dataType))
      throw invalid('invalid_field', 'inputs', `input ${own.name} is ${own.dataType}, but the structured text declares it as ${input.dataType}`);
    return own ?? { name: input.name, dataType: input.dataType as (typeof spec.inputs)[number]['dataType'], defaultValue: input.defaultValue ?? '', description: '' };
  });
  const known = new Set(inputs.map((input) => input.name.toLowerCase()));
  return {
    ...spec,
    description: spec.description || network.description,
    inputs: [...inputs, ...spec.inputs.filter((input) => !known.has(input.name.toLowerCase()))],
    tags: bindOutputs(spec.tags, network.outputs, stored),
    blocks: network.blocks.map(({ name, type, params = {}, comment = '' }) => ({ name, type, params: { ...params }, comment })),
    dataConnections: network.connections.map((connection) => ({ ...connection })),
    // a template binds its inputs only; its outputs are tags
    variableBindings: network.variableBindings.filter((binding) => known.has(binding.variable.toLowerCase())).map((binding) => ({ ...binding })),
  };
}

/**
 * Outputs of the text as tags. A tag of that name that is bound to nothing, or comes unchanged from before this write,
 * follows the text; one that was given its port keeps it.
 */
function bindOutputs(tags: readonly TemplateTag[], outputs: readonly NetworkOutput[], stored: readonly TemplateTag[]): TemplateTag[] {
  const open = new Map(outputs.map((output) => [output.name.toLowerCase(), output]));
  const bound = tags.map((tag): TemplateTag => {
    const output = open.get(tag.name.toLowerCase());
    open.delete(tag.name.toLowerCase());
    const follows = output && tag.channel === '' && (tag.blockRef === '' || stored.some((before) => isDeepStrictEqual(before, tag)));
    return follows ? { ...tag, blockRef: output.blockRef, portRef: output.portRef } : tag;
  });
  for (const { name } of open.values())
    if (!v.is(TagName, name)) throw invalid('invalid_field', 'structuredText', `output ${name} cannot be a tag: the name of a tag begins with a letter`);
  return [...bound, ...[...open.values()].map(tagOfOutput)];
}

/** The network of a template, with its inputs as input variables. */
function networkOf(spec: ControlModuleTemplateSpec): CheckedNetwork {
  return {
    blocks: spec.blocks,
    connections: spec.dataConnections,
    variables: spec.inputs.map(({ name, dataType }) => ({ name, dataType, direction: 'input' })),
    variableBindings: spec.variableBindings,
  };
}

/** Paths as the template's body has them. */
function templatePath(path: string): string {
  return path.replace(/^connections/, 'dataConnections').replace(/^variables/, 'inputs');
}

/** A tag whose block or port is not there is told once: by the network where it looks at tags at all. */
function checkNetworkAndTags(
  network: CheckedNetwork,
  tags: readonly MergedTag[] | readonly TemplateTag[],
  spec: ControlModuleTemplateSpec,
  composites: readonly CompositeType[],
  place: (path: string) => string,
): void {
  const wrong = refusalsOf(() => checkNetwork(network, composites, tags, place)).flatMap(eachOf);
  const ofTag = (field = ''): string => /^tags\[\d+\]/.exec(field)?.[0] ?? field;
  const told = new Set(wrong.map(({ context: { field } }) => ofTag(field)));
  const ofTags = refusalsOf(() => checkTags(tags, spec, composites)).flatMap(eachOf);
  refuseAll([...wrong, ...ofTags.filter(({ context: { field } }) => !told.has(ofTag(field)))]);
}

/** Empty is that of the unit; no other interval is zero. */
function checkScanInterval(text: string): void {
  if (text !== '' && parseDuration(text) === 0) throw invalid('invalid_field', 'scanInterval', 'scanInterval must be above zero, or empty for that of the unit');
}

function checkInputs(spec: ControlModuleTemplateSpec): void {
  forAll(spec.inputs, ({ name, dataType, defaultValue }, index) => {
    if (defaultValue !== '' && parseValueText(iecType(dataType) ?? 'REAL', defaultValue) === null) {
      throw invalid('invalid_field', `inputs[${index}].defaultValue`, `default ${defaultValue} of input ${name} is no ${dataType}`);
    }
  });
}

function checkTags(tags: readonly MergedTag[] | readonly TemplateTag[], spec: ControlModuleTemplateSpec, composites: readonly CompositeType[]): void {
  const names = new Set<string>();
  let state = '';
  forAll<TemplateTag | MergedTag>(tags, (tag, index) => {
    const field = `tags[${index}]`;
    if (names.has(tag.name)) throw invalid('invalid_field', `${field}.name`, `tag ${tag.name} is declared twice`);
    names.add(tag.name);
    if (tag.role === 'state') {
      if (state !== '') throw invalid('invalid_field', `${field}.role`, `tag ${tag.name} is the second with role state; ${state} has it already`);
      state = tag.name;
    }
    checkTag(tag, field, spec, composites);
  });
}

function checkTag(tag: TemplateTag, field: string, spec: ControlModuleTemplateSpec, composites: readonly CompositeType[]): void {
  if ((tag.blockRef === '') !== (tag.portRef === '')) throw invalid('invalid_field', `${field}.portRef`, `tag ${tag.name} must name both blockRef and portRef, or neither`);
  const block = spec.blocks.find((candidate) => candidate.name === tag.blockRef);
  if (tag.blockRef !== '' && !block) throw invalid('invalid_field', `${field}.blockRef`, `tag ${tag.name} names block ${tag.blockRef}, which the template does not have`);
  if (tag.channel !== '') {
    if (ioModuleOf(tag.channel) === '') throw invalid('invalid_field', `${field}.channel`, `channel of tag ${tag.name} must have the form <ioModule>:<channel address>`);
    if (block && !CHANNEL_BLOCKS.includes(block.type))
      throw invalid('invalid_field', `${field}.channel`, `tag ${tag.name} has a channel but its block ${block.name} is a ${block.type}; only AI, AO, DI and DO have a channel`);
  }
  together(
    () => checkMaxAge(tag, field, block?.type),
    () => checkBound(tag.engMin, `${field}.engMin`, spec, composites),
    () => checkBound(tag.engMax, `${field}.engMax`, spec, composites),
  );
}

/** Only what is sampled has an age, and what is sampled when it changes is not judged by it (CMT-10, ADR 0070). */
function checkMaxAge({ name, maxAge = '', publishMode, channel, blockRef }: TemplateTag, field: string, blockType: string | undefined): void {
  if (maxAge === '') return;
  const refuse = (message: string): Refusal => invalid('invalid_field', `${field}.maxAge`, message);
  if (parseDuration(maxAge) === 0) throw refuse(`maxAge of tag ${name} must be above zero; leave it out for no limit`);
  if (publishMode === 'onChange') throw refuse(`tag ${name} is published onChange and is not judged by its age; take out maxAge, or make it cyclic`);
  const isMeasured = blockRef === '' ? channel !== '' : blockType !== undefined && MEASURING_BLOCKS.includes(blockType);
  if (!isMeasured) throw refuse(`tag ${name} is not sampled: maxAge is for a tag on an AI or DI block, or on a channel without a block`);
}

/** Blocks whose output is a sample of a device. */
const MEASURING_BLOCKS: readonly string[] = ['AI', 'DI'];

function checkBound(text: string, field: string, spec: ControlModuleTemplateSpec, composites: readonly CompositeType[]): void {
  const bound = parseBound(text);
  if (bound === null) return;
  if (typeof bound === 'string') throw invalid('invalid_field', field, `${field} ${text} ${bound}`);
  for (const { block, param } of references(bound)) {
    const found = spec.blocks.find((candidate) => candidate.name === block);
    if (!found) throw invalid('invalid_field', field, `${field} names block ${block}, which the template does not have`);
    const type = blockType(found.type) ?? composites.find((composite) => composite.name === found.type);
    const known = Object.hasOwn(found.params, param) || !type || [...type.params, ...type.inputs].some((entry) => entry.name === param);
    if (!known) throw invalid('invalid_field', field, `${field} names ${block}.${param}, but a ${found.type} has no parameter ${param}`);
  }
}

// ---------------------------------------------------------------- instance

export function admitModule(spec: ControlModuleSpec, context: ModuleAdmission): ControlModuleSpec {
  const { read } = context;
  for (const tag of spec.tags) {
    if (tag.inherited) throw invalid('inherited_tag', 'tags', `tag ${tag.name} is inherited from the template; send only the tags of the instance`, { tag: tag.name });
  }
  if (spec.parentName !== '') checkParent(spec, context);
  const template = read.get(ControlModuleTemplate, '', spec.templateRef);
  if (template) checkInstance(spec, template.spec, read);
  if (!context.before) refuseProgramName(context);
  // apply judges it of all manifests together
  if (context.via === 'rest') refuseClaimed(spec, context);
  return { ...spec, tags: spec.tags.map(({ inherited: _, ...tag }) => tag) };
}

/** The program of a module has the module's name (decisions D-PROG-01), so the name must be free among the programs. */
function refuseProgramName({ read, site, name }: ModuleAdmission): void {
  const program = read.get(ControlProgram, site, name);
  if (program && program.metadata.ownerReferences.length === 0)
    throw conflict('already_exists', `control program ${name} has the name already; the logic of a module is a program of its own name`, { kind: 'ControlProgram', name });
}

/** @throws Refusal `output_claimed` for an output that another module or a program goes on writing (ADR 0071), 400 for one of two blocks of its own. */
function refuseClaimed(spec: ControlModuleSpec, { read, site, name, before }: ModuleAdmission): void {
  const claims = claimsOfModule(read, site, spec);
  if (claims.length === 0) return;
  const had = before ? claimsOfModule(read, site, before.spec) : [];
  refuseAll(refusedClaims(claims, had, outputPlaces(read, site), othersIn(read, site, { kind: ControlModule.kind, name })));
}

/** The chain ends at a unit, has at most four modules and no cycle (decisions Q-PROG-10). */
function checkParent(spec: ControlModuleSpec, { read, site, name }: ModuleAdmission): void {
  let above: ControlModuleSpec | undefined = spec;
  for (let depth = 1; above?.parentKind === 'ControlModule' && above.parentName !== ''; depth += 1) {
    if (above.parentName === name) throw invalid('invalid_field', 'parentName', `parentName ${spec.parentName} would make module ${name} its own ancestor`);
    if (depth >= NESTING_MAX) throw invalid('invalid_field', 'parentName', `control modules nest at most ${NESTING_MAX} deep`);
    above = read.get(ControlModule, site, above.parentName)?.spec;
  }
}

export function checkInstance(spec: ControlModuleSpec, template: ControlModuleTemplateSpec, read: StoreReader): void {
  const composites = compositesOf(read);
  const inTemplate = new Set(template.tags.map((tag) => tag.name));
  const bound = new Set<string>();
  together(
    () =>
      forAll(spec.tags, (tag, index) => {
        if (!inTemplate.has(tag.name) && tag.dataType === undefined)
          throw invalid('missing_field', `tags[${index}].dataType`, `tag ${tag.name} is not a tag of the template, so it needs a dataType`);
      }),
    () =>
      forAll(spec.paramOverrides, ({ blockRef }, index) => {
        if (!template.blocks.some((block) => block.name === blockRef))
          throw invalid('invalid_field', `paramOverrides[${index}].blockRef`, `parameter override names block ${blockRef}, which the template does not have`);
      }),
    () => forAll(spec.inputBindings, (binding, index) => checkInputBinding(binding, `inputBindings[${index}]`, template, bound)),
  );
  const tags = mergeTags(template.tags, spec.tags);
  const instance = { ...template, blocks: overrideParams(template.blocks, spec.paramOverrides) as ControlModuleTemplateSpec['blocks'] };
  const wrong = refusalsOf(() => checkNetworkAndTags(networkOf(instance), tags, instance, composites, (path) => overridePath(path, spec, template)));
  refuseAll(wrong.flatMap(eachOf).map((refusal) => ofOwnTag(refusal, tags, spec)));
  if (!template.parameters) return;
  const surroundings = { network: networkOf(instance), tags, composites };
  // what an instance tag writes is no longer the template's to tune
  for (const parameter of template.parameters) if (parameter.tunable) checkFree(parameter, 'tags', surroundings);
  checkParameterValues(resolveModule(spec, template, paramDefault(read)).parameters, (parameter) => overrideField(parameter, spec));
}

/** What is wrong with a merged tag is told of the tag as the instance has it. */
function ofOwnTag({ kind, message, context }: Refusal, tags: readonly MergedTag[], spec: ControlModuleSpec): Refusal {
  const { field = '' } = context;
  const [merged = '', at = ''] = /^tags\[(\d+)\]/.exec(field) ?? [];
  if (merged === '') return new Refusal(kind, message, context);
  const own = spec.tags.findIndex(({ name }) => name === tags[Number(at)]?.name);
  return new Refusal(kind, message, { ...context, field: own < 0 ? `templateRef (${field})` : `tags[${own}]${field.slice(merged.length)}` });
}

/** `bound`: the inputs that have been bound so far. */
function checkInputBinding(binding: ControlModuleSpec['inputBindings'][number], field: string, template: ControlModuleTemplateSpec, bound: Set<string>): void {
  const key = binding.name.toLowerCase();
  if (!template.inputs.some((input) => input.name.toLowerCase() === key)) throw invalid('invalid_field', `${field}.name`, `the template has no input ${binding.name}`);
  if (bound.has(key)) throw invalid('invalid_field', `${field}.name`, `input ${binding.name} is bound twice`);
  bound.add(key);
  if ((binding.source === undefined) === (binding.value === undefined)) throw invalid('invalid_field', field, `input ${binding.name} must have either a source or a value`);
  if (binding.source !== undefined && !/^[^.]+\.(par\.)?[^.]+$/.test(binding.source))
    throw invalid('invalid_field', `${field}.source`, `source of input ${binding.name} must have the form <controlModule>.<tag>`);
}

/**
 * A module with other values of its parameters, as its network would run.
 * @throws Refusal 400 for what its own admission refuses, `fieldOf` naming the value; and where a memory of past values would begin anew.
 */
export function checkTuned(module: ModuleResource, paramOverrides: ControlModuleSpec['paramOverrides'], read: StoreReader, fieldOf: (parameter: string) => string): void {
  const { spec, metadata } = module;
  const template = read.get(ControlModuleTemplate, '', spec.templateRef)?.spec;
  const before = resolvedModuleOf(read, module);
  if (!template || !before) return;
  const after = { ...spec, paramOverrides };
  const tuned = resolveModule(after, template, paramDefault(read));
  checkParameterValues(tuned.parameters, ({ name }) => fieldOf(name));
  checkInstance(after, template, read);
  const unit = read.get(Unit, metadata.site, unitOf(read, metadata.site, spec));
  const scanIntervalMs = parseDuration(tuned.scanInterval || unit?.spec.scanInterval || '') ?? SCAN_INTERVAL_DEFAULT_MS;
  const composites = compositesOf(read);
  const lengths = (blocks: ResolvedModule['blocks']) => memoryLengths({ ...networkOf(template), blocks }, composites, scanIntervalMs);
  if (!isDeepStrictEqual(lengths(before.blocks), lengths(tuned.blocks)))
    throw invalid('invalid_field', 'values', 'one of the values is the length of a memory of past values, which would begin anew; edit the template instead');
}

const SCAN_INTERVAL_DEFAULT_MS = 100; // decisions 1.5, of a unit

function overrideField({ name, blockRef, param }: TemplateParameter, spec: ControlModuleSpec): string {
  const index = spec.paramOverrides.findLastIndex((override) => override.blockRef === blockRef && override.param === param);
  return index < 0 ? `templateRef (parameter ${name})` : `paramOverrides[${index}].value`;
}

/** A problem of an overridden parameter is a problem of the override. */
function overridePath(path: string, spec: ControlModuleSpec, template: ControlModuleTemplateSpec): string {
  const place = /^blocks\[(\d+)\]\.params\.(.+)$/.exec(path);
  const block = place && template.blocks[Number(place[1])];
  const index = spec.paramOverrides.findIndex((override) => override.blockRef === block?.name && override.param === place?.[2]);
  return index < 0 ? `templateRef (${templatePath(path)})` : `paramOverrides[${index}].value`;
}

/**
 * There is no way round it: what the logic of the module holds would be left as it is.
 * @throws Refusal 409 `active_batch` while its unit works.
 */
export function refuseModuleDelete({ metadata, spec }: ModuleResource, read: StoreReader): void {
  const unit = unitOf(read, metadata.site, spec);
  const found = read.get(Unit, metadata.site, unit);
  const holder = found ? workOn(found.status) : '';
  if (holder !== '') throw conflict('active_batch', `unit ${unit} works for ${holder}; end that work before the module is deleted`, { batch: holder, unit });
}

/**
 * What of a stored module leads nowhere, in one sentence: a later edit of its template took away what the instance refers
 * to, or a channel is not there. References may dangle, but not unseen (decisions D-UNIT-02). '' when there is nothing.
 */
export function danglingOf(read: StoreReader, { spec, metadata }: Pick<ModuleResource, 'spec' | 'metadata'>): string {
  const known = mergedOf(read, spec);
  if (!known) return `template ${spec.templateRef} does not exist`;
  known.unfit ??= unfitReasonOf(spec, known.template, read);
  return known.unfit || [...channelsAmiss(read, metadata, spec, known.resolved), ...openChannels(known.resolved)].join('; ');
}

/** What of a module has no channel yet, in a sentence for each block. */
export function openChannels({ blocks }: Pick<ResolvedModule, 'blocks'>): readonly string[] {
  return openChannelsOf(blocks, 'give a tag on the block its channel, <ioModule>:<address>, or override the parameter addr of the block');
}

function unfitReasonOf(spec: ControlModuleSpec, template: ControlModuleTemplateSpec, read: StoreReader): string {
  if (spec.tags.length + spec.paramOverrides.length + spec.inputBindings.length === 0) return '';
  try {
    checkInstance(spec, template, read);
    return '';
  } catch (refusal) {
    return `the module no longer fits its template ${spec.templateRef}: ${(refusal as Error).message}`;
  }
}

export const templateRules = ruled(ControlModuleTemplate, {
  refuses: { write: { 400: ['invalid_network', 'out_of_range'], 409: ['active_batch', 'profile_limit'], 422: ['unprocessable'] } },
  // a text says what its inputs lead to
  warnings: (spec) => (spec.structuredText === undefined ? unfedOf(spec) : []),
  admit: admitTemplate,
});
export const moduleRules = ruled(ControlModule, {
  refuses: {
    write: { 400: ['inherited_tag', 'invalid_network', 'out_of_range'], 409: ['already_exists', 'active_batch', 'output_claimed', 'profile_limit'] },
    remove: { 409: ['active_batch'] },
  },
  admit: admitModule,
  judgedAgainst: ['ControlModuleTemplate'],
  refuseDelete: refuseModuleDelete,
});
