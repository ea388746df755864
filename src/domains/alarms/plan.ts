/** The alarm definitions that the scan of a unit evaluates (decisions Q-ALARM-09): those on tags of its modules. */
import type { AlarmCondition, AlarmPlan, TagPlan } from '../../../runtime/port.js';
import { inside } from '../../platform/base/assert.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { AlarmDefinition, type AlarmDefinitionSpec, CONDITION_TYPES } from './kind.js';

const MS_PER_S = 1000;

export type TagDefinition = AlarmDefinitionSpec & { readonly conditionType: AlarmCondition };

/**
 * In the order of their names. Whether a definition is armed is told to the scan while it runs, so a definition that is
 * taken out of service or renamed in its message leaves the plan as it is. Texts cannot be compared with limits, and a word
 * that is no condition any more (D-C-02) must not keep the unit from its scan.
 */
export function alarmPlans(read: StoreReader, site: string, tags: readonly TagPlan[]): AlarmPlan[] {
  const slots = new Map(tags.map((tag, slot) => [tag.address, slot]));
  return read.list(AlarmDefinition, site).flatMap(({ metadata, spec }) => {
    if (!isOnTag(spec) || !isKnownCondition(spec)) return [];
    const tag = slots.get(addressOf(spec));
    if (tag === undefined || inside(tags, tag, 'a slot is that of a tag of the plan').type === 'STRING') return [];
    return [alarmPlan(metadata.name, spec, tag)];
  });
}

/** `tag`: index of the tag in what the scan publishes. */
export function alarmPlan(definition: string, spec: TagDefinition, tag: number): AlarmPlan {
  return {
    definition,
    address: addressOf(spec),
    tag,
    condition: spec.conditionType,
    ...(spec.threshold === '' ? {} : { threshold: Number(spec.threshold) }),
    ...(spec.setpoint === '' ? {} : { setpoint: Number(spec.setpoint) }),
    deadband: Number(spec.deadband),
    debounceMs: spec.debounceSeconds * MS_PER_S,
  };
}

export function addressOf({ sourceName, tagName }: AlarmDefinitionSpec): string {
  return `${sourceName}.${tagName}`;
}

/** Of what was stored and is not as it was written, or by another version. */
export function isKnownCondition({ conditionType }: AlarmDefinitionSpec): boolean {
  return CONDITION_TYPES.includes(conditionType);
}

/** Evaluated by the scan; the other conditions look at states, which the gateway sees. */
export function isOnTag(spec: AlarmDefinitionSpec): spec is TagDefinition {
  return spec.conditionType !== 'StateEquals';
}
