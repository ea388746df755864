/** The alarm definitions that the scan of a unit evaluates (decisions Q-ALARM-09): those on tags of its modules. */
import type { AlarmCondition, AlarmPlan, TagPlan } from '../../../runtime/port.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { AlarmDefinition, type AlarmDefinitionSpec } from './kind.js';

const MS_PER_S = 1000;

/**
 * In the order of their names. Whether a definition is armed is told to the scan while it runs, so a definition that is
 * taken out of service or renamed in its message leaves the plan as it is. Texts cannot be compared with limits.
 */
export function alarmPlans(read: StoreReader, site: string, tags: readonly TagPlan[]): AlarmPlan[] {
  const slots = new Map(tags.map((tag, slot) => [tag.address, slot]));
  return read.list(AlarmDefinition, site).flatMap(({ metadata, spec }) => {
    if (!isOnTag(spec)) return [];
    const address = `${spec.sourceName}.${spec.tagName}`;
    const tag = slots.get(address);
    if (tag === undefined || tags[tag].type === 'STRING') return [];
    return [
      {
        definition: metadata.name,
        address,
        tag,
        condition: spec.conditionType,
        ...(spec.threshold === '' ? {} : { threshold: Number(spec.threshold) }),
        ...(spec.setpoint === '' ? {} : { setpoint: Number(spec.setpoint) }),
        deadband: Number(spec.deadband),
        debounceMs: spec.debounceSeconds * MS_PER_S,
      },
    ];
  });
}

/** Evaluated by the scan; the other conditions look at states, which the gateway sees. */
export function isOnTag(spec: AlarmDefinitionSpec): spec is AlarmDefinitionSpec & { readonly conditionType: AlarmCondition } {
  return spec.conditionType !== 'StateEquals';
}
