/**
 * Control modules and their templates (contract 3, Control module and Control-module template; decisions 1.5, 1.6). An
 * instance stores only what differs from its template; the merged view is computed in merge.ts.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import type { ParamValue } from '../../../runtime/vocabulary/network.js';
import type { Term } from '../../platform/base/term.js';
import { Condition } from '../../platform/http/replies.js';
import {
  Block,
  BlockConnection,
  BlockVariableBinding,
  ControlDataType,
  HOT_SWAP_OVERRIDE,
  type HotSwapOverride,
  ioModuleOf,
  moduleOf,
  neededBlockTypes,
  TEXT_NAMES,
  WIRING_NAMES,
} from '../logic/kind.js';
import { DurationText, Identifier, Required, Scalar, StoredTerm, TagName, Text } from '../../platform/store/fields.js';
import { type Kind, named, type Reference, type StatusMembers } from '../../platform/store/kind.js';
import type { Condition as StoredCondition } from '../../platform/store/resource.js';
import {
  INPUT_BINDING_WORDS,
  INSTANCE_TAG_WORDS,
  MODULE_WORDS,
  PARAM_OVERRIDE_WORDS,
  TEMPLATE_INPUT_WORDS,
  TEMPLATE_PARAMETER_WORDS,
  TEMPLATE_TAG_WORDS,
  TEMPLATE_WORDS,
} from './field-words.js';

export const DEVICE_CLASSES = ['valve', 'actuator', 'sensor', 'controller', 'other'] as const;
export const MEASURED_VARIABLES = ['Temperature', 'Pressure', 'Flow', 'Level', 'Analytical', 'Speed', 'Weight'] as const;
export const TAG_ROLES = ['state', 'setpoint', 'command', 'feedback', 'alarm', 'interlock'] as const;
export const PUBLISH_MODES = ['cyclic', 'onChange'] as const;
export const ACCESS_LEVELS = ['read', 'readwrite'] as const;
const AccessLevel = v.picklist(ACCESS_LEVELS);
const TagRole = v.picklist(['', ...TAG_ROLES]);
const PublishMode = v.picklist(['', ...PUBLISH_MODES]);
const MaxAge = v.optional(DurationText.wrapped);
export const MeasuredVariable = v.optional(v.picklist(['', ...MEASURED_VARIABLES]), '');

/** A tag of a template: complete, with defaults. */
export const TemplateTag = v.strictObject({
  name: TagName,
  dataType: ControlDataType,
  accessLevel: v.optional(AccessLevel, 'read'),
  blockRef: Text,
  portRef: Text,
  channel: Text,
  engMin: Text,
  engMax: Text,
  engUnits: Text,
  role: v.optional(TagRole, ''),
  publishMode: v.optional(PublishMode, ''),
  /** Absent and not empty where none was given, as in templates of release 0.1.1. */
  maxAge: MaxAge,
  trueLabel: Text,
  falseLabel: Text,
  stateWords: v.optional(v.array(v.string()), []),
});
export type TemplateTag = v.InferOutput<typeof TemplateTag>;

/** A tag of an instance: overrides its template's tag field by field, so that only what was given is stored. */
export const InstanceTag = v.strictObject({
  name: TagName,
  dataType: v.optional(ControlDataType),
  accessLevel: v.optional(AccessLevel),
  blockRef: v.optional(v.string()),
  portRef: v.optional(v.string()),
  channel: v.optional(v.string()),
  engMin: v.optional(v.string()),
  engMax: v.optional(v.string()),
  engUnits: v.optional(v.string()),
  role: v.optional(TagRole),
  publishMode: v.optional(PublishMode),
  /** Empty: none, also where the template has one. */
  maxAge: MaxAge,
  trueLabel: v.optional(v.string()),
  falseLabel: v.optional(v.string()),
  stateWords: v.optional(v.array(v.string())),
  /** Served on entries that came from the template; sending one back is refused by name (contract 3, Control module). */
  inherited: v.optional(v.boolean()),
});
export type InstanceTag = v.InferOutput<typeof InstanceTag>;

export const TemplateInput = v.strictObject({ name: Identifier, dataType: ControlDataType, defaultValue: Text, description: Text });

/** A block parameter that has a name outside its block; a tunable one is a tag `<module>.par.<name>` (D-C-13). */
export const TemplateParameter = v.strictObject({
  name: TagName,
  blockRef: Required,
  param: Required,
  tunable: v.optional(v.boolean(), false),
  /** That of the block; stored with the template. */
  dataType: v.optional(ControlDataType),
  engMin: Text,
  engMax: Text,
  engUnits: Text,
  description: Text,
});
export type TemplateParameter = v.InferOutput<typeof TemplateParameter>;

export const ControlModuleTemplateSpec = v.strictObject({
  moduleType: Text,
  deviceClass: v.optional(v.picklist(['', ...DEVICE_CLASSES]), ''),
  symbolId: Text,
  measuredVariable: MeasuredVariable,
  /** Empty: that of the unit. */
  scanInterval: DurationText,
  inputs: v.optional(v.array(TemplateInput), []),
  tags: v.optional(v.array(TemplateTag), []),
  blocks: v.optional(v.array(Block), []),
  dataConnections: v.optional(v.array(BlockConnection), []),
  variableBindings: v.optional(v.array(BlockVariableBinding), []),
  /** Absent and not empty where none was given, as in templates of release 0.1.0. */
  parameters: v.optional(v.array(TemplateParameter)),
  /** Compile input only: never stored (contract 3, Control-module template). */
  structuredText: v.optional(v.string()),
  description: Text,
});
export type ControlModuleTemplateSpec = v.InferOutput<typeof ControlModuleTemplateSpec>;

export const ControlModuleTemplate: Kind<ControlModuleTemplateSpec, Readonly<Record<string, never>>> = {
  kind: 'ControlModuleTemplate',
  group: 'physical',
  scope: 'cluster',
  action: 'controlmoduletemplate',
  path: 'controlmoduletemplates',
  spec: ControlModuleTemplateSpec,
  body: 'flat',
  otherNames: { ...TEXT_NAMES, ...WIRING_NAMES },
  apply: { how: 'yes' },
  controlled: true,
  initialStatus: () => ({}),
  references: (spec) => neededBlockTypes(spec.blocks),
};

export const PARENT_KINDS = ['Unit', 'ControlModule'] as const; // decisions Q-PROG-10

export const InputBinding = v.strictObject({ name: Identifier, source: v.optional(v.string()), value: v.optional(Scalar) });
export const ParamOverride = v.strictObject({ blockRef: Required, param: Required, value: Scalar });

nameSchemas({ TemplateTag, InstanceTag, TemplateInputSpec: TemplateInput, TemplateParameter, InputBinding, ParamOverride });

export const ControlModuleSpec = v.strictObject({
  parentName: Text,
  parentKind: v.optional(v.picklist(PARENT_KINDS), 'Unit'),
  templateRef: Required,
  symbolId: Text,
  measuredVariable: MeasuredVariable,
  description: Text,
  tags: v.optional(v.array(InstanceTag), []),
  inputBindings: v.optional(v.array(InputBinding), []),
  paramOverrides: v.optional(v.array(ParamOverride), []),
  /** Written by POST mode; empty reads as Automatic. */
  mode: v.optional(v.picklist(['', ...MODES]), ''),
});
export type ControlModuleSpec = v.InferOutput<typeof ControlModuleSpec>;

describeFields(TemplateTag, TEMPLATE_TAG_WORDS);
describeFields(InstanceTag, INSTANCE_TAG_WORDS);
describeFields(TemplateInput, TEMPLATE_INPUT_WORDS);
describeFields(TemplateParameter, TEMPLATE_PARAMETER_WORDS);
describeFields(ControlModuleTemplateSpec, TEMPLATE_WORDS);
describeFields(InputBinding, INPUT_BINDING_WORDS);
describeFields(ParamOverride, PARAM_OVERRIDE_WORDS);
describeFields(ControlModuleSpec, MODULE_WORDS);

export interface InterlockBypass {
  readonly active: boolean;
  readonly until: string;
  readonly by: string;
  readonly reason: string;
  readonly interlocks: readonly string[];
  readonly term?: Term | undefined;
}

/** The last change of a parameter by its route; its value is a parameter override of the spec. */
export interface Tuning {
  readonly name: string;
  readonly value: ParamValue;
  readonly previous: ParamValue;
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

export interface ControlModuleStatus {
  readonly message: string;
  /** Where it is reported it takes precedence over the one of the spec (contract 2, Equipment mode). */
  readonly mode?: Mode | '';
  readonly interlockBypass?: InterlockBypass;
  /** One edit of its logic may pass while its unit works. */
  readonly hotSwapOverride?: HotSwapOverride;
  readonly tuning?: readonly Tuning[];
  readonly overrides: readonly { readonly tag: string; readonly value: string; readonly by: string; readonly at: string }[];
  readonly conditions: readonly StoredCondition[];
}

const CONTROL_MODULE_STATUS: StatusMembers<ControlModuleStatus> = {
  message: v.string(),
  mode: v.picklist(['', ...MODES]),
  interlockBypass: v.object({
    active: v.boolean(),
    until: v.string(),
    by: v.string(),
    reason: v.string(),
    interlocks: v.array(v.string()),
    term: v.optional(StoredTerm),
  }),
  hotSwapOverride: HOT_SWAP_OVERRIDE,
  tuning: v.array(v.object({ name: v.string(), value: Scalar, previous: Scalar, by: v.string(), at: v.string(), reason: v.string() })),
  overrides: v.array(v.object({ tag: v.string(), value: v.string(), by: v.string(), at: v.string() })),
  conditions: v.array(Condition),
};

export const ControlModule: Kind<ControlModuleSpec, ControlModuleStatus> = {
  kind: 'ControlModule',
  group: 'physical',
  scope: 'site',
  action: 'controlmodule',
  path: 'controlmodules',
  spec: ControlModuleSpec,
  body: 'flat',
  writtenElsewhere: ['mode'],
  apply: { how: 'yes' },
  required: ['templateRef'],
  openKeys: ['lineside.io/equipment-module'], // decisions Q-TAG-11
  initialStatus: () => ({ message: '', overrides: [], conditions: [] }),
  status: CONTROL_MODULE_STATUS,
  mendsStatus: true,
  references: (spec, site) =>
    named(
      { path: 'templateRef', kind: 'ControlModuleTemplate', site: '', name: spec.templateRef, when: 'write', holds: true },
      { path: 'parentName', kind: spec.parentKind, site, name: spec.parentName, when: 'write', holds: true },
      ...spec.inputBindings.map(
        ({ source }, index): Reference => ({ path: `inputBindings[${index}].source`, kind: 'ControlModule', site, name: moduleOf(source ?? ''), when: 'run', holds: true }),
      ),
      ...spec.tags.map(({ channel }, index): Reference => ({ path: `tags[${index}].channel`, kind: 'IOModule', site, name: ioModuleOf(channel ?? ''), when: 'run' })),
    ),
};

/** Label that names the equipment module a control module belongs to (decisions Q-TAG-11). */
export const EQUIPMENT_MODULE_LABEL = 'lineside.io/equipment-module';
