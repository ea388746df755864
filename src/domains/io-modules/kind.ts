/** I/O modules and simulation presets (contract 3, I/O module and Simulation; decisions 7, 6). */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { PROTOCOLS } from '../../../runtime/catalog.js';
import { Condition } from '../../platform/http/replies.js';
import { DurationText, Flag, Required, Scalar, ScalarMap, Text } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import { type Kind, named, type StatusMembers } from '../../platform/store/kind.js';
import { Options } from './ownership.js';
import type { Condition as StoredCondition } from '../../platform/store/resource.js';
import {
  BEHAVIOR_WORDS,
  CHANNEL_WORDS,
  FAIL_SAFE_OUTPUT_WORDS,
  FAIL_SAFE_WORDS,
  FAULT_WORDS,
  IO_MODULE_WORDS,
  PRESET_WORDS,
  PROBE_PLACEMENT_WORDS,
  SECRET_REF_WORDS,
  SECURITY_WORDS,
  SERVICE_PROCEDURE_WORDS,
  SERVICE_WORDS,
  SIMULATION_WORDS,
} from './field-words.js';

export const Behavior = v.strictObject({ address: Required, type: Required, params: v.optional(ScalarMap, {}) });
export type Behavior = v.InferOutput<typeof Behavior>;

export const SimulationPresetSpec = v.strictObject({ description: Text, behaviors: v.optional(v.array(Behavior), []) });
export type SimulationPresetSpec = v.InferOutput<typeof SimulationPresetSpec>;

export const SimulationPreset: Kind<SimulationPresetSpec, Readonly<Record<string, never>>> = {
  kind: 'SimulationPreset',
  group: 'physical',
  scope: 'site',
  action: 'simulationpreset',
  path: 'simulationpresets',
  spec: SimulationPresetSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => ({}),
};

export const CHANNEL_TYPES = ['bool', 'int', 'float', 'string'] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

export const Channel = v.strictObject({
  /** Empty: the address. */
  name: Text,
  address: Required,
  direction: v.optional(v.picklist(['input', 'output']), 'input'),
  /** Empty: the default of the address grammar. */
  dataType: v.optional(v.picklist(['', ...CHANNEL_TYPES]), ''),
  readbackAddress: Text,
  pollInterval: DurationText,
  initial: v.optional(Scalar),
  description: Text,
});
export type Channel = v.InferOutput<typeof Channel>;

export const Fault = v.strictObject({
  name: Required,
  address: Required,
  type: Required,
  params: v.optional(ScalarMap, {}),
  triggerMode: v.optional(v.picklist(['Manual', 'Timed']), 'Manual'),
  triggerAfter: DurationText,
});

export const Simulation = v.strictObject({
  preset: Text,
  /** Start of the pseudo-random streams (decisions 6.6). */
  seed: v.optional(v.pipe(v.number(), v.integer()), 0),
  /** Generic address of the preset to real address of this module. */
  addressMap: v.optional(freeMap(v.string()), {}),
  behaviors: v.optional(v.array(Behavior), []),
  faults: v.optional(v.array(Fault), []),
});

const SecretRef = v.strictObject({ name: Required });

/** Decisions 7.5: any other member, so also an inline secret, is refused. */
export const Security = v.strictObject({
  securityPolicy: v.optional(v.picklist(['None', 'Basic256Sha256', 'Aes128_Sha256_RsaOaep', 'Aes256_Sha256_RsaPss'])),
  securityMode: v.optional(v.picklist(['None', 'Sign', 'SignAndEncrypt'])),
  authType: v.optional(v.picklist(['Anonymous', 'UserName', 'Certificate'])),
  secretRef: v.optional(SecretRef),
  clientCertificateRef: v.optional(SecretRef),
  serverTrust: v.optional(v.picklist(['pinned', 'ca', 'any'])),
  serverCertificateSha256: v.optional(v.string()),
});

/** Said in `'<ioModule>/<service>'`, and shown to people. */
const ServiceName = v.pipe(v.string(), v.regex(/^[^/\u0000-\u001f\u007f]{1,120}$/u, 'must have 1 to 120 characters, no slash and no control character'));

export const POSTURES = ['observed', 'supervisory', 'regulating'] as const;

const FailSafeOutput = v.strictObject({ channel: Required, value: Scalar });

export const FailSafe = v.strictObject({
  posture: v.optional(v.picklist(['', ...POSTURES]), ''),
  /** Empty: none. */
  timeout: DurationText,
  heartbeatChannel: Text,
  outputs: v.optional(v.array(FailSafeOutput), []),
});

/** A procedure of a service (VDI 2658-4). Parameters and report values are names of elements of the module. */
export const ServiceProcedure = v.strictObject({
  id: v.pipe(v.number(), v.integer(), v.minValue(0)),
  name: Required,
  isDefault: Flag,
  isSelfCompleting: Flag,
  parameters: v.optional(v.array(v.string()), []),
  reportValues: v.optional(v.array(v.string()), []),
});

/** A service of a process module: what it can do, and the channels by which it is looked at and commanded. */
export const Service = v.strictObject({
  name: ServiceName,
  /** Variable of the standard, such as `StateCur`, to the name of a channel of the module. */
  variables: v.optional(freeMap(v.string()), {}),
  procedures: v.optional(v.array(ServiceProcedure), []),
  parameters: v.optional(v.array(v.string()), []),
});
export type Service = v.InferOutput<typeof Service>;

const ProbePlacement = v.strictObject({ nodeSelector: v.optional(freeMap(v.string()), {}) });

nameSchemas({
  ModuleService: Service,
  ServiceProcedure,
  SimulationBehavior: Behavior,
  IOChannel: Channel,
  SimulationFault: Fault,
  IOSimulation: Simulation,
  SecretRef,
  IOSecurity: Security,
  FailSafe,
});

export const IOModuleSpec = v.strictObject({
  controllerRef: Text,
  protocol: v.picklist(PROTOCOLS),
  address: Text,
  /** False: no connection at all. */
  enabled: v.optional(v.boolean(), true),
  options: v.optional(Options, {}),
  channels: v.optional(v.array(Channel), []),
  simulation: v.optional(Simulation),
  security: v.optional(Security),
  failSafe: v.optional(FailSafe),
  probePlacement: v.optional(ProbePlacement),
  /** Absent in modules of earlier releases, and where there are none (ADR 0072). */
  services: v.optional(v.array(Service)),
  description: Text,
});
export type IOModuleSpec = v.InferOutput<typeof IOModuleSpec>;

describeFields(Behavior, BEHAVIOR_WORDS);
describeFields(SimulationPresetSpec, PRESET_WORDS);
describeFields(Channel, CHANNEL_WORDS);
describeFields(Fault, FAULT_WORDS);
describeFields(Simulation, SIMULATION_WORDS);
describeFields(SecretRef, SECRET_REF_WORDS);
describeFields(Security, SECURITY_WORDS);
describeFields(FailSafeOutput, FAIL_SAFE_OUTPUT_WORDS);
describeFields(FailSafe, FAIL_SAFE_WORDS);
describeFields(ProbePlacement, PROBE_PLACEMENT_WORDS);
describeFields(ServiceProcedure, SERVICE_PROCEDURE_WORDS);
describeFields(Service, SERVICE_WORDS);
describeFields(IOModuleSpec, IO_MODULE_WORDS);

export const IO_MODULE_STATES = ['Pending', 'Connected', 'Degraded', 'Disconnected', 'Failed'] as const;
export type IOModuleState = (typeof IO_MODULE_STATES)[number];
/** How well its values are known. */
export const CONNECTIVITY = ['measured', 'reported', 'lost', 'none'] as const;
/** Whether the probe runs what is configured now. */
export const PROBE_BUILDS = ['current', 'superseded', 'unread'] as const;

/** Whether this box writes the outputs of a module (ADR 0015). */
export const OUTPUT_STATES = ['live', 'withheld', 'disabled'] as const;

export interface OutputsStatus {
  readonly state: (typeof OUTPUT_STATES)[number];
  /** A sentence for people, in every state. */
  readonly reason: string;
  /** Another box drives the device. */
  readonly secondMaster: boolean;
}

export interface IOModuleStatus {
  readonly state: IOModuleState;
  readonly message: string;
  readonly connectivity: { readonly verdict: (typeof CONNECTIVITY)[number]; readonly summary: string };
  /** Absent in what release 0.1.0 has stored. */
  readonly outputs?: OutputsStatus;
  readonly probe: { readonly verdict: (typeof PROBE_BUILDS)[number]; readonly summary: string };
  /** Name of the serving probe: written by placement, never derived (contract 3, I/O module). */
  readonly probePodName: string;
  readonly lastSampleAt: string;
  /** Whether the last discovery found every channel and readback as configured. */
  readonly validated: boolean;
  /** Readback address found by discovery, by channel address, where it differs from the configured one. */
  readonly discoveredReadbacks: Readonly<Record<string, string>>;
  /** Digest of the device and channels that were discovered; absent: never. */
  readonly discoveredFor?: string;
  /** Simulated channels that are held at a value until they are released, over every restart (ADR 0087). Absent: none, and in what 0.3.0 and before have stored. */
  readonly forces?: readonly Force[];
  readonly conditions: readonly StoredCondition[];
}

/** `by`: display name; `at`: timestamp. */
export interface Force {
  readonly address: string;
  readonly value: string | number | boolean;
  readonly by: string;
  readonly at: string;
}

const IO_MODULE_STATUS: StatusMembers<IOModuleStatus> = {
  state: v.picklist(IO_MODULE_STATES),
  message: v.string(),
  connectivity: v.object({ verdict: v.picklist(CONNECTIVITY), summary: v.string() }),
  outputs: v.object({ state: v.picklist(OUTPUT_STATES), reason: v.string(), secondMaster: v.boolean() }),
  probe: v.object({ verdict: v.picklist(PROBE_BUILDS), summary: v.string() }),
  probePodName: v.string(),
  lastSampleAt: v.string(),
  validated: v.boolean(),
  discoveredReadbacks: v.record(v.string(), v.string()),
  discoveredFor: v.string(),
  forces: v.array(v.object({ address: v.string(), value: Scalar, by: v.string(), at: v.string() })),
  conditions: v.array(Condition),
};

/** Names the simulation preset of a network module for rehearsals (ADR 0006); channel names are its addresses. */
export const REHEARSAL_PRESET_LABEL = 'lineside.io/rehearsal-preset';

export const IOModule: Kind<IOModuleSpec, IOModuleStatus> = {
  kind: 'IOModule',
  group: 'physical',
  scope: 'site',
  action: 'iomodule',
  path: 'iomodules',
  spec: IOModuleSpec,
  body: 'flat',
  apply: { how: 'yes' },
  required: ['protocol'],
  openKeys: [REHEARSAL_PRESET_LABEL],
  initialStatus: () => ({
    state: 'Pending',
    message: 'not served yet',
    connectivity: { verdict: 'none', summary: 'no probe serves this module yet' },
    probe: { verdict: 'unread', summary: 'no probe serves this module yet' },
    probePodName: '',
    lastSampleAt: '',
    validated: false,
    discoveredReadbacks: {},
    conditions: [],
  }),
  status: IO_MODULE_STATUS,
  mendsStatus: true,
  redact: withoutPassword,
  references: (spec, site) =>
    named(
      { path: 'controllerRef', kind: 'Controller', site, name: spec.controllerRef, when: 'write', holds: true },
      { path: 'simulation.preset', kind: 'SimulationPreset', site, name: spec.simulation?.preset ?? '', when: 'write', holds: true },
    ),
};

/** The spec as it may be shown: `options.password` is never served, audited or exported (contract 3, I/O module). */
export function withoutPassword(spec: IOModuleSpec): IOModuleSpec {
  const { password: _password, ...options } = spec.options;
  return { ...spec, options };
}
