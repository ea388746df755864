/** Admission of the channels of an I/O module: their names, the places of their outputs, and what goes on writing one without any logic (ADR 0071, ADR 0085). */
import { deviceAt, isSimulated, unitOf } from '../../../runtime/catalog.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { forAll, invalid, refuseAll } from '../../platform/base/refusal.js';
import type { Admission } from '../../platform/store/kind.js';
import { othersIn } from '../control-modules/output-owners.js';
import { claimsOfIOModule, refusedClaims } from '../logic/output-claims.js';
import { outputPlacesWith, overlappingOutputs } from '../logic/output-places.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { driverOptions, ownershipOf } from './ownership.js';

/** @param before what stands is left as it is: data of an earlier release can be edited, and mended. */
export function checkNames({ channels, simulation }: IOModuleSpec, before?: IOModuleSpec): void {
  const byAddress = new Map(channels.map((channel) => [channel.address, channel]));
  const stood = new Set(before?.channels.map(({ name, address }) => `${name} ${address}`));
  const names = new Set<string>();
  const addresses = new Set<string>();
  forAll(channels, (channel, index) => {
    const name = channel.name || channel.address;
    if (names.has(name)) throw invalid('invalid_field', `channels[${index}].name`, `channel name ${name} is used twice`);
    if (addresses.has(channel.address)) throw invalid('invalid_field', `channels[${index}].address`, `channel address ${channel.address} is used twice`);
    const other = byAddress.get(name);
    if (other && other !== channel && other.address !== channel.address && !(stood.has(`${channel.name} ${channel.address}`) && stood.has(`${other.name} ${other.address}`))) {
      const message = `channel ${channel.address} has the name ${name}, which is the address of channel ${other.name || other.address}: a channel is found by either, so give it another name`;
      throw invalid('invalid_field', `channels[${index}].name`, message);
    }
    if (channel.readbackAddress !== '' && channel.direction !== 'output')
      throw invalid('invalid_field', `channels[${index}].readbackAddress`, `channel ${name} is an input, so it has nothing to read back`);
    if (channel.pollInterval !== '') checkPollInterval(channel.pollInterval, `channels[${index}].pollInterval`);
    names.add(name);
    addresses.add(channel.address);
  });
  const faults = new Set<string>();
  forAll(simulation?.faults ?? [], (fault, index) => {
    if (faults.has(fault.name)) throw invalid('invalid_field', `simulation.faults[${index}].name`, `fault ${fault.name} is configured twice`);
    faults.add(fault.name);
  });
}

const POLL_MIN_MS = 10; // decisions 7.2
const POLL_MAX_MS = 3_600_000;

function checkPollInterval(text: string, field: string): void {
  const ms = parseDuration(text);
  if (ms === null || ms < POLL_MIN_MS || ms > POLL_MAX_MS) throw invalid('invalid_field', field, `${field} ${text} is outside 10ms to 1h`);
}

export function checkFailSafe({ failSafe, channels }: IOModuleSpec): void {
  if (!failSafe) return;
  const outputs = channels.filter((channel) => channel.direction === 'output');
  const [output] = outputs;
  if (failSafe.posture === 'observed' && output) {
    throw invalid('invalid_field', 'failSafe.posture', `posture observed writes nothing, but channel ${output.name || output.address} is an output`);
  }
  const outputOf = (word: string): (typeof outputs)[number] | undefined => outputs.find(({ name, address }) => name === word || address === word);
  if (failSafe.heartbeatChannel !== '' && !outputOf(failSafe.heartbeatChannel))
    throw invalid('invalid_field', 'failSafe.heartbeatChannel', `the heartbeat names ${failSafe.heartbeatChannel}, which is no output channel of the module`);
  const named = new Map<object, string>();
  forAll(failSafe.outputs, ({ channel }, index) => {
    const field = `failSafe.outputs[${index}].channel`;
    const output = outputOf(channel);
    if (!output) throw invalid('invalid_field', field, `fail-safe value names ${channel}, which is no output channel of the module`);
    const before = named.get(output);
    named.set(output, channel);
    if (before === undefined) return;
    const also = before === channel ? '' : `, by name and by address (${before})`;
    throw invalid('invalid_field', field, `fail-safe value of ${channel} is given twice${also}`);
  });
}

/** Two outputs of one place have two values in one image, and each write of the one changes the other. @param before what stands is left as it is. */
export function checkPlaces(spec: IOModuleSpec, before?: IOModuleSpec): void {
  const wordsOf = (of: IOModuleSpec, index: number): string => of.channels[index]?.address ?? '';
  const stood = new Set((before ? overlappingOutputs(before) : []).map(([later, first]) => [wordsOf(before ?? spec, later), wordsOf(before ?? spec, first)].sort().join('\n')));
  forAll(overlappingOutputs(spec), ([later, first]) => {
    const [address, other] = [wordsOf(spec, later), wordsOf(spec, first)];
    if (stood.has([address, other].sort().join('\n'))) return;
    const message = `output ${spec.channels[later]?.name || address} (${address}) is written where output ${spec.channels[first]?.name || other} (${other}) is, or in a part of it: one place of a device is one output`;
    throw invalid('invalid_field', `channels[${later}].address`, message);
  });
}

/**
 * A register that says which box drives a device says so to the module that reads it alone, so whoever writes the device reads one (ADR 0015).
 * @throws Refusal 400 where the outputs of a device come to stand beside its register; what stands is left as it is.
 */
export function checkWatched(spec: IOModuleSpec, { read, site, name, before }: Admission<IOModuleSpec, IOModuleStatus>): void {
  const isWatching = ownershipOf(spec.options) !== undefined;
  const unwatched = isUnwatched(spec);
  if (!isWatching && !unwatched) return;
  const device = watchedDevice(spec);
  const had = before && watchedDevice(before.spec) === device ? before.spec : undefined;
  if (device === '' || (had && (ownershipOf(had.options) !== undefined) === isWatching && isUnwatched(had) === unwatched)) return;
  // whether it has a register is cheaper to tell than which device it is for
  const other = read
    .list(IOModule, site)
    .find(({ metadata, spec: of }) => metadata.name !== name && (isWatching ? isUnwatched(of) : ownershipOf(of.options) !== undefined) && watchedDevice(of) === device);
  if (!other) return;
  const words = isWatching
    ? `I/O module ${other.metadata.name} writes this device without reading a register: another box that drives it would not be seen there; give that module options.ownership with a register of its own first`
    : `I/O module ${other.metadata.name} reads the register that says which box drives this device, and this module writes the device without: give it options.ownership with a register of its own, or put its outputs there`;
  throw invalid('invalid_field', 'options.ownership', words);
}

/** The device with its unit; '' for what has none. */
function watchedDevice({ protocol, address, options }: IOModuleSpec): string {
  const device = isSimulated(protocol) ? undefined : deviceAt(protocol, address);
  return device === undefined ? '' : `${device} ${unitOf(protocol, driverOptions(options))}`;
}

function isUnwatched({ channels, options }: IOModuleSpec): boolean {
  return ownershipOf(options) === undefined && channels.some(({ direction }) => direction === 'output');
}

/** @throws Refusal 409 `output_claimed`: a heartbeat is written every second, and a fail-safe value whenever no logic writes this module, whatever others write there. */
export function refuseOwnClaims(spec: IOModuleSpec, { read, site, name, before }: Admission<IOModuleSpec, IOModuleStatus>): void {
  const claims = claimsOfIOModule(name, spec);
  if (claims.length === 0) return;
  const reached = outputPlacesWith(read, site, name, spec);
  const had = before ? claimsOfIOModule(name, before.spec) : [];
  const others = othersIn(read, site, { kind: IOModule.kind, name }, undefined, reached);
  refuseAll(refusedClaims(claims, had, reached, others, 'name an output that nothing else writes'));
}
