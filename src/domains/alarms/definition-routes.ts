/** Routes of alarm definitions (contract 2, Alarm definition; decisions Q-ALARM-11..13). The arming gate is written by apply only. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict } from '../../platform/base/refusal.js';
import { type CrudEvent, crudRoutes } from '../../platform/http/crud.js';
import { readChoices } from '../../platform/http/log-query.js';
import { text, words } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { Unit } from '../plant/kind.js';
import { AlarmDefinitionSpec, type AlarmDefinitionStatus, SOURCE_KINDS, SUPPRESSIONS } from './kind.js';
import { lastNumber } from './numbers.js';
import { alarmDefinitionRules } from './rules.js';
import { suppressionOf, unitsConcerned } from './sources.js';

export const DefinitionBody = v.strictObject({
  name: v.string(),
  ...AlarmDefinitionSpec.entries,
  armed: v.boolean(),
  gatedBy: v.string(),
  suppressedBy: v.picklist(SUPPRESSIONS),
  activeAlarmRef: v.string(),
  ...SITE_METADATA,
});
export type DefinitionBody = ToldBy<typeof DefinitionBody>;

nameSchemas({ AlarmDefinitionBody: DefinitionBody });

/** The gate is watched; the rest of `armed` is in the definition, so the answer to a change never tells the state before it. */
export function definitionBody(resource: Resource<AlarmDefinitionSpec, AlarmDefinitionStatus>): DefinitionBody {
  const { metadata, spec, status } = resource;
  const armed = spec.enabled && (spec.armingGate === null || status.armed);
  return {
    name: metadata.name,
    ...spec,
    armed,
    gatedBy: spec.armingGate ? `PhaseTemplate/${spec.armingGate.phaseTemplateRef}` : '',
    suppressedBy: armed ? '' : suppressionOf(spec),
    activeAlarmRef: status.activeAlarmRef,
    ...metadataBody(resource),
  };
}

const AT_REST: readonly string[] = ['', 'Idle', 'Complete', 'Stopped', 'Aborted'];

/** While the equipment executes only the message may change (decisions Q-ALARM-12). */
function refuseWhileExecuting({ verb, before, spec, read, site, name }: CrudEvent<AlarmDefinitionSpec, AlarmDefinitionStatus>): void {
  if (verb !== 'update' || !before || !spec) return;
  const changed = Object.keys(spec).filter(
    (key) => key !== 'message' && JSON.stringify(spec[key as keyof AlarmDefinitionSpec]) !== JSON.stringify(before.spec[key as keyof AlarmDefinitionSpec]),
  );
  if (changed.length === 0) return;
  const units = [...new Set([...unitsConcerned(before.spec, read, site), ...unitsConcerned(spec, read, site)])].filter(
    (unit) => !AT_REST.includes(read.get(Unit, site, unit)?.status.state ?? ''),
  );
  if (units.length > 0) throw conflict('equipment_executing', `unit ${units.join(', ')} is executing; only the message of alarm definition ${name} can change now`, { units });
}

export const alarmDefinitionRoutes = crudRoutes(alarmDefinitionRules, {
  read: 'read',
  write: 'engineer',
  dto: definitionBody,
  reply: DefinitionBody,
  rows: {
    update: { errors: { 409: ['equipment_executing'] } },
  },
  refuse: refuseWhileExecuting,
  also: ({ verb, before, read }) => (verb === 'delete' && before ? { puts: lastNumber(read, before) } : {}),
  filter: {
    query: { source_kind: words(SOURCE_KINDS), source_name: text('definitions of this source') },
    reads(query) {
      const kinds = readChoices(query, 'source_kind', SOURCE_KINDS);
      const name = query.get('source_name') || undefined;
      return ({ spec }) => (kinds === undefined || kinds.includes(spec.sourceKind)) && (name === undefined || spec.sourceName === name);
    },
  },
});
