/** Admission of I/O modules and simulation presets (contract 3, I/O module and Simulation; decisions 7, 6, Q-IO-04..08). */
import { isDeepStrictEqual } from 'node:util';
import {
  channelValue,
  checkAddress,
  checkBehavior,
  checkChannelAddress,
  checkFault,
  checkOptions,
  deviceAt,
  hasOwnership,
  isSimulated,
  missingAddresses,
  overlaps,
  ownershipPoint,
  problemOfValue,
  securityMembers,
  unitOf,
} from '../../../runtime/catalog.js';
import { forAll, invalid, Refusal, together } from '../../platform/base/refusal.js';
import { type Admission, type Dependent, type StoreReader, ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { refuseWhileActive } from '../logic/active-work.js';
import { channelsOf } from './channels.js';
import { driverOptions, ownershipOf } from './ownership.js';
import { checkFailSafe, checkNames, checkPlaces, checkWatched, refuseOwnClaims } from './channel-rules.js';
import { isCommandWord, isServiceVariable, SERVICE_VARIABLES } from './service-words.js';
import { type Behavior, IOModule, type IOModuleSpec, type IOModuleStatus, SimulationPreset, type SimulationPresetSpec } from './kind.js';
import { emptyParams, faultsOf, memberOf, OWN_MEMBERS, type Problem, saidProblem, simulationNotes } from './simulation-notes.js';
import { ControlModule } from '../control-modules/kind.js';
import { ControlProgram, CHANNEL_BLOCKS, ioModuleOf } from '../logic/kind.js';

type PresetAdmission = Admission<SimulationPresetSpec, Readonly<Record<string, never>>>;
type ModuleAdmission = Admission<IOModuleSpec, IOModuleStatus>;

/** Unknown types are refused everywhere; params that do not parse by REST only (contract 3, Simulation). */
export function admitPreset(spec: SimulationPresetSpec, { via, before }: PresetAdmission): SimulationPresetSpec {
  if (!before || !isDeepStrictEqual(spec.behaviors, before.spec.behaviors)) checkBehaviors(spec.behaviors, 'behaviors', via);
  return spec;
}

function checkBehaviors(behaviors: readonly Behavior[], field: string, via: PresetAdmission['via']): void {
  forAll(behaviors, (behavior, index) => refuseParam([...emptyParams(behavior.params), ...checkBehavior(behavior)], `${field}[${index}]`, via));
}

function refuseParam(problems: readonly Problem[], field: string, via: PresetAdmission['via']): void {
  forAll(problems, (problem) => {
    const own = OWN_MEMBERS.includes(problem.param);
    if (!own && via !== 'rest') return;
    throw invalid('invalid_field', `${field}.${memberOf(problem)}`, saidProblem(problem));
  });
}

export function admitModule(given: IOModuleSpec, context: ModuleAdmission): IOModuleSpec {
  const spec = withoutUnset(given);
  together(
    () => checkPlacement(spec),
    () => checkSecurity(spec),
    () => checkFailSafe(spec),
    () => checkNames(spec, context.before?.spec),
    () => checkServices(spec),
    () => {
      if (spec.simulation && !isSimulated(spec.protocol)) throw invalid('invalid_field', 'simulation', `simulation is only for protocol simulation, not ${spec.protocol}`);
    },
    () => checkDevice(spec),
    () => checkPlaces(spec, context.before?.spec),
    () => checkWatched(spec, context),
  );
  // apply judges it of all manifests together
  if (context.via === 'rest') refuseOwnClaims(spec, context);
  // what cannot be read of a channel has no values
  together(
    () => checkChannelValues(spec),
    () => checkSimulation(spec, context),
  );
  return keepPassword(spec, context.before?.spec);
}

/** What a member reads as while it was never set (decisions 1.4). */
export const UNSET = {
  simulation: { preset: '', seed: 0, addressMap: {}, behaviors: [], faults: [] },
  security: {},
  failSafe: { posture: '', timeout: '', heartbeatChannel: '', outputs: [] },
  probePlacement: { nodeSelector: {} },
  services: [],
} as const;

/** A member that says no more than its default is not set, so that what was read can be sent back: an empty `security` drops no password. */
function withoutUnset(spec: IOModuleSpec): IOModuleSpec {
  return Object.fromEntries(Object.entries(spec).filter(([member, value]) => !isDeepStrictEqual(value, (UNSET as Readonly<Record<string, unknown>>)[member]))) as IOModuleSpec;
}

/** Who serves it: a controller, or a shared network probe that may be pinned to nodes (contract 3, I/O module). */
function checkPlacement(spec: IOModuleSpec): void {
  if (isSimulated(spec.protocol)) {
    if (spec.controllerRef === '') throw invalid('missing_field', 'controllerRef', `protocol ${spec.protocol} needs controllerRef: the controller that runs the simulation`);
  } else if (spec.address === '') {
    throw invalid('missing_field', 'address', `protocol ${spec.protocol} needs the address of the device`);
  }
  if (spec.controllerRef !== '' && spec.probePlacement) {
    throw invalid('invalid_field', 'probePlacement', 'probePlacement is only for a module without controllerRef; the controller decides where its probe runs');
  }
}

/** Address, options and channel addresses in the grammar of the protocol (decisions 7.2 to 7.4). */
function checkDevice(spec: IOModuleSpec): void {
  // that there is none is refused where it is asked who serves the module
  const address = spec.address === '' ? undefined : checkAddress(spec.protocol, spec.address);
  together(
    () => {
      if (address && 'error' in address) throw invalid('invalid_field', 'address', address.error);
    },
    () =>
      forAll(checkOptions(spec.protocol, driverOptions(spec.options)), ({ option, message }) => {
        throw invalid('invalid_field', `options.${option}`, message);
      }),
    () => checkOwnership(spec),
    () =>
      forAll(spec.channels, (channel, index) => {
        const name = channel.name || channel.address;
        forAll(['address', 'readbackAddress'] as const, (member) => {
          if (member === 'readbackAddress' && channel.readbackAddress === '') return;
          const checked = checkChannelAddress(spec.protocol, member === 'readbackAddress' ? 'input' : channel.direction, channel[member]);
          if ('error' in checked) throw invalid('invalid_field', `channels[${index}].${member}`, `channel ${name}: ${checked.error}`);
        });
      }),
  );
}

/** Params parse (400), preset addresses are all mapped (422), references lead somewhere (decisions 6.5, Q-IO-08, Q-IO-10). */
function checkSimulation(spec: IOModuleSpec, { read, site, via, name }: ModuleAdmission): void {
  const { simulation } = spec;
  if (!simulation) return;
  checkBehaviors(simulation.behaviors, 'simulation.behaviors', via);
  forAll(faultsOf(simulation), (fault, index) => refuseParam([...emptyParams(fault.params), ...checkFault(fault)], `simulation.faults[${index}]`, via));
  if (via !== 'rest') return;
  const preset = read.get(SimulationPreset, site, simulation.preset)?.spec.behaviors ?? [];
  const missing = missingAddresses(preset, simulation.addressMap);
  if (missing.length > 0) {
    throw new Refusal('unprocessable', `addressMap must map every address of preset ${simulation.preset}; missing: ${missing.join(', ')}`, {
      code: 'address_map_incomplete',
      missing,
      diagnostics: [],
    });
  }
  forAll(simulationNotes(read, site, name, spec), ({ path, text }) => {
    throw invalid('invalid_field', path, text);
  });
}

/** The register holds mark and counter as one value, so that nobody ever reads one of them alone. */
function checkOwnership({ protocol, options, channels }: IOModuleSpec): void {
  const ownership = ownershipOf(options);
  if (!ownership) return;
  const problem = ownershipPoint(protocol, ownership.address);
  if ('error' in problem) throw invalid('invalid_field', hasOwnership(protocol) ? 'options.ownership.address' : 'options.ownership', problem.error);
  const covered = channels.find(({ address, direction }) => direction === 'output' && overlaps(protocol, problem.address, address, driverOptions(options)));
  if (!covered) return;
  const message = `the mark and the counter of ${ownership.address} take four registers and would be written over channel ${covered.name || covered.address} (${covered.address}); name four that are free`;
  throw invalid('invalid_field', 'options.ownership.address', message);
}

/** Equal for equal devices (decisions Q-IO-03). */
export function normalAddress(spec: IOModuleSpec): string {
  const checked = checkAddress(spec.protocol, spec.address);
  return 'normalized' in checked ? checked.normalized : spec.address;
}

/** Equal for modules of one device: protocol, endpoint in one spelling and unit behind it (decisions Q-IO-03, ADR 0085). */
export function assetKey({ protocol, address, options }: IOModuleSpec): string {
  return `${deviceAt(protocol, address) ?? `${protocol} ${address}`} ${unitOf(protocol, driverOptions(options))}`;
}

export function checkSecurity({ protocol, security }: { readonly protocol: string; readonly security?: IOModuleSpec['security'] }): void {
  if (!security) return;
  const taken = securityMembers(protocol);
  forAll(Object.keys(security), (key) => {
    if (!taken.includes(key)) throw invalid('invalid_field', `security.${key}`, `protocol ${protocol} accepts only ${taken.map((member) => `security.${member}`).join(', ')}`);
  });
  const policy = security.securityPolicy ?? 'None';
  const mode = security.securityMode ?? 'None';
  if ((policy === 'None') !== (mode === 'None')) throw invalid('invalid_field', 'security.securityMode', `securityPolicy ${policy} does not go with securityMode ${mode}`);
  checkTrust(security);
}

/** As people write a fingerprint: with colons or blanks, in either case. */
const FINGERPRINT = /^(?:[0-9a-f][\s:]*){64}$/i;

/** What a person has said about trust is checked, or it is refused: a pin that nobody looks at is believed. */
function checkTrust(security: NonNullable<IOModuleSpec['security']>): void {
  const { serverCertificateSha256 = '' } = security;
  const pin = 'security.serverCertificateSha256';
  if (serverCertificateSha256 !== '' && !FINGERPRINT.test(serverCertificateSha256.trim()))
    throw invalid('invalid_field', pin, 'must be the SHA-256 of the certificate: 64 hexadecimal digits, with colons or blanks between them or without');
  const [field] = lookedAtByNobody(security);
  if (field !== undefined) throw invalid('invalid_field', field, notVerified(field));
}

/** Members that say whom to trust, and that nobody looks at: with policy None there is nobody to verify. Empty where all of them count. */
function lookedAtByNobody({ securityPolicy = 'None', serverTrust = 'any', serverCertificateSha256 = '' }: NonNullable<IOModuleSpec['security']>): readonly string[] {
  if (securityPolicy !== 'None') return [];
  return [...(serverCertificateSha256 === '' ? [] : ['security.serverCertificateSha256']), ...(serverTrust === 'any' ? [] : ['security.serverTrust'])];
}

const notVerified = (field: string): string =>
  `with securityPolicy None the server is not verified: name a securityPolicy and a securityMode that it offers, or leave ${field} out`;

/** Why the trust that a module declares proves nothing, as a sentence for the operator; '' where it does, or declares none. Earlier releases took such modules. */
export function emptyTrust({ security = {} }: Pick<IOModuleSpec, 'security'>): string {
  const fields = lookedAtByNobody(security);
  return fields.length === 0 ? '' : notVerified(fields.join(' and '));
}

/** A value that its channel cannot take would be left out without a word in the moment it is needed. */
function checkChannelValues(spec: IOModuleSpec): void {
  const channels = channelsOf(spec);
  forAll(spec.failSafe?.outputs ?? [], ({ channel, value }, index) => {
    const found = channels.find(({ name, address }) => name === channel || address === channel);
    if (found && channelValue(spec.protocol, value, found.dataType) === undefined)
      throw invalid('invalid_field', `failSafe.outputs[${index}].value`, `fail-safe value ${JSON.stringify(value)} of ${channel} is no ${found.dataType}`);
    const problem = found ? problemOfValue(spec.protocol, found.address, value) : '';
    if (problem !== '') throw invalid('invalid_field', `failSafe.outputs[${index}].value`, `fail-safe value of ${channel}: ${problem}`);
  });
  forAll(channels, ({ name, dataType, initial }, index) => {
    if (initial !== undefined && channelValue(spec.protocol, initial, dataType) === undefined)
      throw invalid('invalid_field', `channels[${index}].initial`, `start value ${JSON.stringify(initial)} of channel ${name} is no ${dataType}`);
  });
}

/** Services and procedures are told apart, and what a service is looked at and commanded by is there. */
function checkServices({ services = [], channels }: IOModuleSpec): void {
  const known = new Map(channels.map((channel) => [channel.name || channel.address, channel.direction]));
  const names = new Set<string>();
  forAll(services, ({ name, variables, procedures }, index) => {
    const field = `services[${index}]`;
    if (names.has(name)) throw invalid('invalid_field', `${field}.name`, `service ${name} is configured twice`);
    names.add(name);
    const ids = new Set<number>();
    forAll(procedures, ({ id }, at) => {
      if (ids.has(id)) throw invalid('invalid_field', `${field}.procedures[${at}].id`, `two procedures of service ${name} have the number ${id}`);
      ids.add(id);
    });
    forAll(Object.entries(variables), ([variable, channel]) => {
      const at = `${field}.variables.${variable}`;
      if (!isServiceVariable(variable)) throw invalid('invalid_field', at, `${variable} is no variable of a service; known are ${SERVICE_VARIABLES.join(', ')}`);
      const direction = known.get(channel);
      if (direction === undefined) throw invalid('invalid_field', at, `${variable} of service ${name} stands on channel ${channel}, which the module does not have`);
      if (isCommandWord(variable) && direction === 'input') throw invalid('invalid_field', at, `${variable} of service ${name} is written, and channel ${channel} is an input`);
    });
  });
}

/**
 * A stored password survives a write that leaves it out, and is dropped by one that adds a security block (contract 3,
 * I/O module). It is never served, so a client cannot send it back.
 */
function keepPassword(spec: IOModuleSpec, before: IOModuleSpec | undefined): IOModuleSpec {
  const { password, ...options } = spec.options;
  if (spec.security && !before?.security) return { ...spec, options };
  const kept = password ?? before?.options.password;
  return kept === undefined ? spec : { ...spec, options: { ...options, password: kept } };
}

type ModuleResource = Resource<IOModuleSpec, IOModuleStatus>;

/** Control modules with a tag or block on one of its channels, as template and instance say together (decisions Q-ERR-11). */
function modulesWiredTo({ metadata }: ModuleResource, read: StoreReader): Dependent[] {
  return read
    .list(ControlModule, metadata.site)
    .filter((candidate) => resolvedModuleOf(read, candidate)?.ioModules.includes(metadata.name))
    .map(({ kind, metadata }) => ({ kind, name: metadata.name }));
}

/** A program may dangle (decisions D-UNIT-02), but not while its unit works. @throws Refusal 409 `active_batch`. */
export function refuseModuleDelete({ metadata: { site, name } }: Resource<IOModuleSpec, IOModuleStatus>, read: StoreReader): void {
  for (const { spec } of read.list(ControlProgram, site)) {
    const isWired = spec.blocks.some(({ type, params }) => CHANNEL_BLOCKS.includes(type) && ioModuleOf(String(params.addr ?? '')) === name);
    if (isWired) refuseWhileActive(site, spec.unitRef, read, 'end that work before the I/O module is deleted');
  }
}

export const presetRules = ruled(SimulationPreset, { admit: admitPreset });
export const ioModuleRules = ruled(IOModule, {
  refuses: { write: { 409: ['active_batch', 'output_claimed'], 422: ['address_map_incomplete'] }, remove: { 409: ['active_batch'] } },
  admit: admitModule,
  dependents: modulesWiredTo,
  refuseDelete: refuseModuleDelete,
});
