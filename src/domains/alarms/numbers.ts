/**
 * The numbers in the names of alarms (decisions Q-ALARM-02): they count on and are never used again, also by a definition of a name
 * that was there before. The history has the names of alarms that are gone.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Put } from '../../platform/store/store.js';
import { AlarmCounter, type AlarmDefinitionStatus } from './kind.js';

const COUNTER = 'system'; // name of the one counter of a site

/** How many alarms of each topic of system alarms, and of each definition that was deleted, there were. */
export function countsOf(read: StoreReader, site: string): Readonly<Record<string, number>> {
  return read.get(AlarmCounter, site, COUNTER)?.spec.raised ?? {};
}

export function countPut(site: string, counts: Readonly<Record<string, number>>): Put {
  return { kind: AlarmCounter, site, name: COUNTER, spec: { raised: counts } } as Put;
}

interface Counting {
  readonly metadata: { readonly site: string; readonly name: string };
  readonly status: AlarmDefinitionStatus;
}

/** How many alarms a definition, and those that had its name, have raised. */
export function raisedBy(read: StoreReader, { metadata: { site, name }, status }: Counting): number {
  return Math.max(status.raised ?? 0, countsOf(read, site)[keyOf(name)] ?? 0);
}

/** What is kept of a definition that goes; nothing of one that has raised none. */
export function lastNumber(read: StoreReader, definition: Counting): readonly Put[] {
  const { site, name } = definition.metadata;
  const raised = raisedBy(read, definition);
  return raised === 0 ? [] : [countPut(site, { ...countsOf(read, site), [keyOf(name)]: raised })];
}

/** No topic has a slash. */
function keyOf(definition: string): string {
  return `definition/${definition}`;
}
