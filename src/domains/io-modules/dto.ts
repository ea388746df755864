/** Read bodies of I/O modules and simulation presets (contract 3, I/O module read body; decisions Q-IO-03, Q-IO-05, D-IO-01). */
import { isSimulated } from '../../../runtime/catalog.js';
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import type { WallMs } from '../../platform/base/times.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Condition, type ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { secretNames } from './credentials.js';
import {
  Channel,
  CONNECTIVITY,
  IO_MODULE_STATES,
  IOModuleSpec,
  type IOModuleStatus,
  POSTURES,
  PROBE_BUILDS,
  SimulationPresetSpec,
  OUTPUT_STATES,
  type OutputsStatus,
} from './kind.js';
import { isEnabled, outputsStatus, servedConditions } from './outputs.js';
import { isDistinct } from './distinct.js';
import { emptyTrust, UNSET } from './rules.js';
import type { Secrets } from './secret-kind.js';

export const PresetBody = v.strictObject({ name: v.string(), ...SimulationPresetSpec.entries, ...SITE_METADATA });
export type PresetBody = ToldBy<typeof PresetBody>;

const ConditionOfType = v.omit(Condition, ['type']);

const { simulation, security, failSafe, probePlacement, services, ...memberEntries } = IOModuleSpec.entries;

export const IOModuleBody = v.strictObject({
  name: v.string(),
  ...memberEntries,
  channels: v.array(v.strictObject({ ...Channel.entries, discoveredReadbackAddress: v.optional(v.string()) })),
  simulation: simulation.wrapped,
  security: security.wrapped,
  failSafe: failSafe.wrapped,
  probePlacement: probePlacement.wrapped,
  services: services.wrapped,
  state: v.picklist(IO_MODULE_STATES),
  message: v.string(),
  connectivity: v.strictObject({
    verdict: v.picklist(CONNECTIVITY),
    summary: v.string(),
    condition: ConditionOfType,
    /** When a device that is away is tried again; absent: it is not away, or is being tried now (ADR 0091). */
    nextAttemptAt: v.optional(v.string()),
  }),
  probe: v.strictObject({ podName: v.string(), verdict: v.picklist(PROBE_BUILDS), summary: v.string(), condition: ConditionOfType }),
  conditions: v.array(Condition),
  outputs: v.strictObject({ state: v.picklist(OUTPUT_STATES), reason: v.string() }),
  /** No device is behind it: nothing real is driven. */
  simulated: v.boolean(),
  writePosture: v.strictObject({ verdict: v.picklist([...POSTURES, 'undeclared']), summary: v.string() }),
  distinctAssetRecord: v.boolean(),
  credentials: v.picklist(['none', 'plaintext', 'secret', 'unresolved', 'unknown']),
  validated: v.boolean(),
  ...SITE_METADATA,
});
export type IOModuleBody = ToldBy<typeof IOModuleBody>;

nameSchemas({ SimulationPresetBody: PresetBody, IOModuleBody });

export function presetBody(resource: Resource<SimulationPresetSpec>): PresetBody {
  return { name: resource.metadata.name, ...resource.spec, ...metadataBody(resource) };
}

/** `nextAttemptMs`: wall time, of a device that is away; no status has it, since it changes with each attempt. */
export function ioModuleBody(resource: Resource<IOModuleSpec, IOModuleStatus>, read: StoreReader, secrets: Secrets, nextAttemptMs: WallMs | undefined): IOModuleBody {
  const { metadata, spec, status } = resource;
  const { password: _password, ...options } = spec.options;
  const { simulation, security, failSafe, probePlacement } = spec;
  const outputs = status.outputs ?? outputsStatus(spec, 'live');
  return {
    name: metadata.name,
    controllerRef: spec.controllerRef,
    protocol: spec.protocol,
    address: spec.address,
    enabled: isEnabled(spec),
    options,
    channels: spec.channels.map((channel) => channelBody(channel, status)),
    simulation: simulation ?? UNSET.simulation,
    security: security ?? UNSET.security,
    failSafe: failSafe ?? UNSET.failSafe,
    probePlacement: probePlacement ?? UNSET.probePlacement,
    services: spec.services ?? [],
    description: spec.description,
    state: status.state,
    message: status.message,
    connectivity: { ...status.connectivity, condition: condition(status, 'Connected'), ...(nextAttemptMs === undefined ? {} : { nextAttemptAt: timestamp(nextAttemptMs) }) },
    probe: { podName: status.probePodName, ...status.probe, condition: condition(status, 'ProbeBuild') },
    conditions: [...servedConditions(status.conditions), ...trustConditions(spec)],
    outputs: { state: outputs.state, reason: outputs.reason },
    simulated: isSimulated(spec.protocol),
    writePosture: writePosture(spec, outputs),
    distinctAssetRecord: isDistinct(resource, read),
    credentials: credentials(resource, secrets),
    validated: status.validated,
    ...metadataBody(resource),
  };
}

/** `discoveredReadbackAddress` is there only when discovery disagrees with the configuration. */
function channelBody(channel: IOModuleSpec['channels'][number], status: IOModuleStatus): IOModuleBody['channels'][number] {
  const found = status.discoveredReadbacks[channel.address];
  const body = { ...channel, name: channel.name || channel.address };
  return found === undefined || found === channel.readbackAddress ? body : { ...body, discoveredReadbackAddress: found };
}

/** Only of a module whose declared trust proves nothing. */
function trustConditions(spec: IOModuleSpec): IOModuleBody['conditions'] {
  const message = emptyTrust(spec);
  return message === '' ? [] : [{ type: 'ServerVerified', status: 'False', reason: 'NobodyLooks', message }];
}

function condition(status: IOModuleStatus, type: string): IOModuleBody['probe']['condition'] {
  const found = status.conditions.find((candidate) => candidate.type === type);
  return found ? { status: found.status, reason: found.reason, message: found.message } : { status: 'Unknown', reason: 'NotReported', message: '' };
}

const POSTURE_SUMMARY = {
  observed: 'nothing is written to the device',
  supervisory: 'set-points are written; the device controls',
  regulating: 'closed loops run here and write the outputs',
  undeclared: 'no posture is declared',
};

function writePosture({ failSafe }: IOModuleSpec, { state, reason }: OutputsStatus): IOModuleBody['writePosture'] {
  const verdict = failSafe?.posture || 'undeclared';
  const declared = POSTURE_SUMMARY[verdict];
  return { verdict, summary: state === 'live' ? declared : `${declared}; at present ${state}: ${reason}` };
}

/** Decisions Q-IO-05; a client certificate is judged as what it signs in with. */
function credentials({ metadata, spec }: Resource<IOModuleSpec, IOModuleStatus>, secrets: Secrets): IOModuleBody['credentials'] {
  const names = secretNames(spec);
  if (names.length === 0) return spec.options.password === undefined ? 'none' : 'plaintext';
  const found = names.map((name) => secrets.exists(metadata.site, name));
  if (found.includes(undefined)) return 'unknown';
  return found.every((isThere) => isThere === true) ? 'secret' : 'unresolved';
}
