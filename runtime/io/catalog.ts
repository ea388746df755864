/**
 * What exists on the I/O side: protocols, options, address grammars, simulation behaviours and faults. Metadata and
 * pure checks only, no Node API and no device library, so that the gateway may import it through runtime/catalog.ts.
 */
import type { ChannelType, Direction, DriverDescription } from './description.js';
import { opcuaDescription } from './opcua/description.js';
import { deviceKey } from './device-key.js';
import { type Cell, whole } from './place.js';
import { PROTOCOL_DESCRIPTIONS, type Protocol } from './protocols.js';
import { optionProblems, type OptionValue, resolveOptions } from './options.js';
import { simulationDescription } from './simulation/description.js';
import { BEHAVIOR_TYPES } from './simulation/behavior-types.js';
import { EXPRESSION_FUNCTIONS, EXPRESSION_VARIABLES, type FunctionName } from './simulation/expression-parser.js';
import { FAULT_TRIGGER_MODES, FAULT_TYPES } from './simulation/faults.js';
import type { ParamSpec } from './simulation/params.js';
import { exactValue, simulatedValue } from './values.js';
import type { Value } from '../vocabulary/data-types.js';

export type { ChannelType, Direction, FunctionName, OptionValue, ParamSpec, Protocol };
export { type Cell, isShared } from './place.js';
export type { OptionSpec } from './options.js';
export { parseExpression } from './simulation/expression-parser.js';
export { checkBehavior, checkFault, type SimulationProblem, simulationProblems } from './simulation/checks.js';
export { type AddressMap, behaviorReferences, mergeBehaviors, missingAddresses, renamedIn } from './simulation/merge.js';
export { ERROR_KINDS, ROUND_TRIP_UP_TO_MS } from './statistics-words.js';
export { type ParamProblem, SIMULATED_ADDRESS, type UnknownWord } from './simulation/params.js';

export const PROTOCOLS: readonly Protocol[] = PROTOCOL_DESCRIPTIONS.map(({ protocol }) => protocol);

/** A simulation behaviour (decisions 6.2) or fault (6.3): its name, its params, and what it makes of them. */
export interface SimulationType {
  readonly type: string;
  readonly meaning: string;
  readonly params: readonly ParamSpec[];
}

export const SIMULATION_BEHAVIORS: readonly SimulationType[] = BEHAVIOR_TYPES.map(({ type, meaning, params }) => ({ type, meaning, params }));
export const SIMULATION_FAULTS: readonly SimulationType[] = FAULT_TYPES.map(({ type, meaning, params }) => ({ type, meaning, params }));
export const SIMULATION_EXPRESSIONS = { functions: Object.keys(EXPRESSION_FUNCTIONS) as FunctionName[], variables: EXPRESSION_VARIABLES };
export const TRIGGER_MODES = FAULT_TRIGGER_MODES;

export function protocolDescription(protocol: string): DriverDescription | undefined {
  return PROTOCOL_DESCRIPTIONS.find((row: DriverDescription) => row.protocol === protocol);
}

const unknownProtocol = (protocol: string): string => `protocol ${protocol} is not known; known are ${PROTOCOLS.join(', ')}`;

/** The endpoint of a module in the spelling of its protocol, every default written out. */
export function checkAddress(protocol: string, text: string): { readonly normalized: string } | { readonly error: string } {
  const description = protocolDescription(protocol);
  if (!description) return { error: unknownProtocol(protocol) };
  const address = description.parseAddress(text);
  return address.ok ? { normalized: address.value } : { error: address.message };
}

/** Equal for equal devices, as far as their addresses tell (ADR 0085); undefined for an address that does not read. */
export function deviceAt(protocol: string, text: string): string | undefined {
  const checked = checkAddress(protocol, text);
  return 'normalized' in checked ? `${protocol} ${deviceKey(checked.normalized)}` : undefined;
}

/** Where a channel address stands behind its endpoint: addresses with a cell in common are one place, or overlap (ADR 0085). */
export function placeOf(protocol: string, address: string, options: Readonly<Record<string, OptionValue>>, endpoint = ''): readonly Cell[] {
  return protocolDescription(protocol)?.placeOf?.(address, options, endpoint) ?? [whole(address)];
}

/** A channel or readback address; `dataType` is undefined when only the device knows it. */
export function checkChannelAddress(protocol: string, direction: Direction, text: string): { readonly dataType: ChannelType | undefined } | { readonly error: string } {
  const description = protocolDescription(protocol);
  if (!description) return { error: unknownProtocol(protocol) };
  const channel = description.parseChannel(text, direction);
  return channel.ok ? { dataType: channel.value.dataType } : { error: channel.message };
}

// ---------------------------------------------------------------- traits of protocols

/** No device is behind a module of this protocol. */
export function isSimulated(protocol: string): boolean {
  return protocolDescription(protocol)?.isSimulated ?? false;
}

/** The protocol of what is simulated, for whoever makes a simulation of a device. */
export const SIMULATED_PROTOCOL = simulationDescription.protocol;

/** The protocol whose servers can be looked through without a module (decisions Q-IO-06). */
export const EXPLORED_PROTOCOL = opcuaDescription.protocol;

/** Its modules are served by a probe thread of their own. */
export function hasOwnThread(protocol: string): boolean {
  return protocolDescription(protocol)?.hasOwnThread ?? false;
}

/** Its devices have methods or services. */
export function hasServices(protocol: string): boolean {
  return protocolDescription(protocol)?.hasServices ?? false;
}

/** Which of the devices behind one endpoint; empty where an endpoint is one device. */
export function unitOf(protocol: string, options: Readonly<Record<string, OptionValue>>): string {
  return protocolDescription(protocol)?.unitOf?.(options) ?? '';
}

const SECURITY_MEMBERS = ['secretRef'];

/** Members of `security` that the protocol takes (decisions 7.5). */
export function securityMembers(protocol: string): readonly string[] {
  return protocolDescription(protocol)?.securityMembers ?? SECURITY_MEMBERS;
}

/** The register that says which box drives a device. */
export function ownershipPoint(protocol: string, address: string): { readonly address: string } | { readonly error: string } {
  const point = protocolDescription(protocol)?.registers?.ownershipPoint(address);
  if (!point)
    return {
      error: `an ownership register is for ${PROTOCOL_DESCRIPTIONS.filter(hasRegisters)
        .map((row) => `protocol ${row.protocol}`)
        .join(', ')}, not ${protocol}`,
    };
  return point.ok ? { address: point.value.address } : { error: point.message };
}

/** Whether devices of the protocol have registers, and with them one that says which box drives it. */
export function hasOwnership(protocol: string): boolean {
  return protocolDescription(protocol)?.registers !== undefined;
}

function hasRegisters({ registers }: DriverDescription): boolean {
  return registers !== undefined;
}

/** Whether two channel addresses of a module have a register in common. */
export function overlaps(protocol: string, a: string, b: string, options: Readonly<Record<string, OptionValue>>): boolean {
  return protocolDescription(protocol)?.registers?.overlaps(a, b, options) ?? false;
}

/** Whether two channel addresses lead to the same place of a device, or one to a part of the other. */
export function compareChannels(protocol: string, a: string, b: string): 'same' | 'part' | 'other' {
  return protocolDescription(protocol)?.compareChannels?.(a, b) ?? (a === b ? 'same' : 'other');
}

// ---------------------------------------------------------------- values and options

/** What a channel of the type takes of a value, as it is or as text that converts; undefined where it cannot take it. Text: a text, or a whole number beyond 2^53. */
export function channelValue(protocol: string, value: Value, dataType: ChannelType): number | string | undefined {
  return isSimulated(protocol) ? simulatedValue(value, dataType) : exactValue(value, dataType);
}

/** Why the place of a channel does not hold a value that its type takes; '' where it does, or where only the device knows. */
export function problemOfValue(protocol: string, address: string, value: Value): string {
  return protocolDescription(protocol)?.problemOfValue?.(address, value) ?? '';
}

/** One problem per option that is unknown, does not read or is out of bounds. */
export function checkOptions(protocol: string, options: Readonly<Record<string, OptionValue>>): { readonly option: string; readonly message: string }[] {
  const description = protocolDescription(protocol);
  return description ? optionProblems(description.options, options) : [{ option: 'protocol', message: unknownProtocol(protocol) }];
}

/** Options in working form: durations in ms, defaults filled in. */
export function readOptions(protocol: string, options: Readonly<Record<string, OptionValue>>): Readonly<Record<string, OptionValue>> {
  const description = protocolDescription(protocol);
  return description ? resolveOptions(description.options, options) : {};
}

/** Names of options that are never served. */
export function secretOptions(protocol: string): readonly string[] {
  return (protocolDescription(protocol)?.options ?? []).filter((row) => row.secret).map((row) => row.name);
}

const STALE_PERIODS = 3; // decisions 7.2
const STALE_MS_MIN = 2000;

/** Age at which a cyclic sample of a channel becomes Uncertain; at twice that it is Bad (decisions 7.2). */
export function staleAfterMs(protocol: string, options: Readonly<Record<string, OptionValue>>, channelPollIntervalMs = 0): number {
  const resolved = readOptions(protocol, options);
  const given = Number(resolved.staleAfter ?? 0);
  if (given > 0) return given;
  const arrivalMs = protocolDescription(protocol)?.arrivalMs?.(resolved) ?? 0;
  const pollMs = arrivalMs || channelPollIntervalMs || Number(resolved.tick ?? resolved.pollInterval ?? 0);
  return Math.max(STALE_PERIODS * pollMs, STALE_MS_MIN);
}
