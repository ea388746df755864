/** Admission of alarm definitions (decisions Q-ALARM-10): what each condition needs, and that its source has the tag. */
import { iecType } from '../../../runtime/vocabulary/data-types.js';
import { conflict, forAll, invalid, together } from '../../platform/base/refusal.js';
import { LABEL_TEXT } from '../../platform/store/fields.js';
import { type Admission, type StoreReader, ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { AlarmDefinition, type AlarmDefinitionSpec, type AlarmDefinitionStatus, Alarm } from './kind.js';

/** Members a condition cannot do without. */
const NEEDS: Readonly<Record<string, readonly (keyof AlarmDefinitionSpec)[]>> = {
  StateEquals: ['stateValue'],
  TagHigh: ['tagName', 'threshold'],
  TagHighHigh: ['tagName', 'threshold'],
  TagLow: ['tagName', 'threshold'],
  TagLowLow: ['tagName', 'threshold'],
  TagDeviation: ['tagName', 'setpoint'],
  TagTrue: ['tagName'],
  TagFalse: ['tagName'],
};

/** Not in the contract: as long as a reason. The text stands in every frame, message and history row of its alarms. */
const MESSAGE_LENGTH_MAX = 1024;

/** What was stored before there was a bound stays as it is until somebody changes it. */
function checkMessage(message: string, before: string | undefined): void {
  if (message === before) return;
  if (message.length > MESSAGE_LENGTH_MAX) throw invalid('invalid_field', 'message', `message must have at most ${MESSAGE_LENGTH_MAX} characters; it has ${message.length}`);
  if (!LABEL_TEXT.test(message)) throw invalid('invalid_field', 'message', 'message must not have control characters');
}

export function admitDefinition(spec: AlarmDefinitionSpec, { read, site, before }: Admission<AlarmDefinitionSpec, AlarmDefinitionStatus>): AlarmDefinitionSpec {
  const { conditionType, sourceKind, deadband, message } = spec;
  const onTag = conditionType.startsWith('Tag');
  together(
    () => checkMessage(message, before?.spec.message),
    () =>
      forAll(NEEDS[conditionType] ?? [], (field) => {
        if (spec[field] === '') throw invalid('missing_field', field, `condition ${conditionType} needs ${field}`);
      }),
    () => {
      if (onTag && sourceKind !== 'ControlModule')
        throw invalid('invalid_field', 'sourceKind', `condition ${conditionType} needs sourceKind ControlModule, because only control modules have tags`);
    },
    () => {
      if (Number(deadband) < 0) throw invalid('invalid_field', 'deadband', 'deadband must be 0 or more');
    },
    () => {
      if (onTag && sourceKind === 'ControlModule' && spec.tagName !== '') mustHaveTag(spec, site, read);
    },
  );
  return spec;
}

function mustHaveTag(spec: AlarmDefinitionSpec, site: string, read: Admission<AlarmDefinitionSpec, AlarmDefinitionStatus>['read']): void {
  const module = read.get(ControlModule, site, spec.sourceName);
  if (!module) return;
  const template = read.get(ControlModuleTemplate, '', module.spec.templateRef);
  // the tag of the instance says what it changes of the one of the template
  const tags = [...module.spec.tags, ...(template?.spec.tags ?? [])].filter((tag) => tag.name === spec.tagName);
  const address = `${spec.sourceName}.${spec.tagName}`;
  if (tags.length === 0) throw invalid('unknown_reference', 'tagName', `control module ${spec.sourceName} has no tag ${spec.tagName}`, { kind: 'Tag', name: address });
  const dataType = tags.find((tag) => tag.dataType !== undefined)?.dataType;
  if (dataType === undefined || iecType(dataType) !== 'STRING') return;
  // no condition of the contract compares texts (contract 2, Alarm definition): it would never come
  throw invalid(
    'invalid_field',
    'tagName',
    `tag ${address} is a text; ${spec.conditionType} compares numbers and truth values: name a tag of type Boolean, Integer, Float or Time`,
    {
      dataType,
    },
  );
}

/** An alarm that nobody has acknowledged keeps its definition (contract 2, Alarms). */
function refuseUnacknowledged({ metadata: { name, site } }: Resource<AlarmDefinitionSpec, AlarmDefinitionStatus>, read: StoreReader): void {
  const alarm = read.list(Alarm, site).find(({ spec, status }) => spec.definitionRef === name && status.state.endsWith('Unacknowledged'));
  if (alarm)
    throw conflict('alarm_unacknowledged', `alarm ${alarm.metadata.name} of this definition is ${alarm.status.state}; acknowledge it first`, { alarm: alarm.metadata.name });
}

export const alarmDefinitionRules = ruled(AlarmDefinition, {
  refuses: { remove: { 409: ['alarm_unacknowledged'] } },
  admit: admitDefinition,
  judgedAgainst: ['ControlModule'],
  refuseDelete: refuseUnacknowledged,
});
export const alarmRules = ruled(Alarm, {});
