/**
 * Whether this box writes the outputs of a module (ADR 0015): what its configuration says, and what the probe has found.
 * Pure; whoever serves or stores it asks here.
 */
import { hasOwnership, isSimulated } from '../../../runtime/catalog.js';
import type { ProbeOutbound } from '../../../runtime/port.js';
import type { Condition } from '../../platform/store/resource.js';
import type { IOModuleSpec, IOModuleState, OutputsStatus } from './kind.js';
import { ownershipOf } from './ownership.js';

export type ToldOutputs = Extract<ProbeOutbound, { type: 'module' }>['outputs'];

const NOTHING_TOLD: ToldOutputs = { withheld: '', secondMaster: false, mismatched: [], failSafeTaken: false };

/** What this box does with outputs: as setting `io.outputs` says, or nothing until somebody has confirmed its restore (D-C-06). */
export type OutputsOfBox = 'live' | 'withheld' | 'restored';

export const WITHHELD_BY_BOX = 'this box withholds its outputs (setting io.outputs): inputs are read, nothing is written to the device';
/** Who ends it, and how. */
export const CONFIRM_WAY =
  'a supervisor or administrator confirms that the other box is off: in the banner of the operator console, or with lineside restored confirm (POST system/restore/confirm)';
const WITHHELD_RESTORED = `this box was restored from a backup: inputs are read, and nothing is written to the device until ${CONFIRM_WAY}`;
const DISABLED = 'the module is disabled: no connection is made; enabled true connects it';
const SIMULATED = 'simulated: nothing real is driven';
const UNSEEN = 'no ownership register is configured: a second master cannot be seen';
const NO_REGISTER = 'devices of this protocol have no ownership register: a second master cannot be seen';
const UNREAD = 'the ownership register has not been read yet';
const OWNED = 'the ownership register says that this box drives the device';

/** Modules of release 0.1.0 have no such member. */
export function isEnabled(spec: IOModuleSpec): boolean {
  return (spec as { readonly enabled?: boolean }).enabled !== false;
}

/** Why nothing is written, whatever the device says; empty where it is. A simulated device is nobody's plant. */
export function withheldByBox({ protocol }: Pick<IOModuleSpec, 'protocol'>, setting: OutputsOfBox): string {
  if (setting === 'live' || isSimulated(protocol)) return '';
  return setting === 'restored' ? WITHHELD_RESTORED : WITHHELD_BY_BOX;
}

/** Whether the reason is one of the box, which no probe tells. */
export function isWithheldByBox(reason: string | undefined): boolean {
  return reason === WITHHELD_BY_BOX || reason === WITHHELD_RESTORED;
}

/** Without what the probe has told, the least that can be: a register that was not read yet may say anything. */
export function outputsStatus(spec: IOModuleSpec, setting: OutputsOfBox, told?: ToldOutputs): OutputsStatus {
  if (!isEnabled(spec)) return { state: 'disabled', reason: DISABLED, secondMaster: false };
  const isOwned = ownershipOf(spec.options) !== undefined;
  const withheld = withheldByBox(spec, setting) || (told ? told.withheld : isOwned ? UNREAD : '');
  if (withheld !== '') return { state: 'withheld', reason: withheld, secondMaster: told?.secondMaster ?? false };
  const reason = isSimulated(spec.protocol) ? SIMULATED : isOwned ? OWNED : hasOwnership(spec.protocol) ? UNSEEN : NO_REGISTER;
  return { state: 'live', reason, secondMaster: false };
}

const TYPES = ['Connected', 'ConfigurationValid', 'ReadbackConsistent', 'FailSafeArmed', 'Simulated'] as const;

/** Outputs that a loop check may have left as it had stepped them (ADR 0104); of no probe, and there only while it is so. */
export const AS_STEPPED = 'OutputsAsStepped';

/** What a probe tells does not touch what others have told. */
export function conditionsBeside(known: readonly Condition[]): Condition[] {
  return known.filter(({ type }) => type === AS_STEPPED);
}

/** Decisions Q-IO-03: the five conditions of a module, in this order. */
export function moduleConditions(
  spec: IOModuleSpec,
  { state, message }: { readonly state: IOModuleState; readonly message: string },
  told: ToldOutputs = NOTHING_TOLD,
): Condition[] {
  const row = (type: (typeof TYPES)[number], holds: boolean, reason: string, text = ''): Condition => ({ type, status: holds ? 'True' : 'False', reason, message: text });
  const { mismatched, failSafeTaken } = told;
  const hasReadback = spec.channels.some((channel) => channel.direction === 'output' && channel.readbackAddress !== '');
  const isArmed = (spec.failSafe?.timeout ?? '') !== '';
  return [
    row('Connected', state === 'Connected', state, message),
    row('ConfigurationValid', state !== 'Failed', state === 'Failed' ? 'Failed' : 'Valid', state === 'Failed' ? message : ''),
    mismatched.length > 0
      ? row('ReadbackConsistent', false, 'Mismatch', `read back differently than written: ${mismatched.join(', ')}`)
      : row('ReadbackConsistent', true, hasReadback ? 'Consistent' : 'NoReadback'),
    failSafeTaken
      ? row('FailSafeArmed', true, 'Taken', 'the unit runtime is silent: fail-safe values are written')
      : row('FailSafeArmed', isArmed, isArmed ? 'Armed' : 'NoTimeout', isArmed ? `after ${spec.failSafe?.timeout}` : ''),
    row('Simulated', isSimulated(spec.protocol), isSimulated(spec.protocol) ? 'Simulation' : 'Device'),
  ];
}

/** As they are served: what no probe has reported yet is Unknown. */
export function servedConditions(known: readonly Condition[]): Condition[] {
  const found = (type: string): Condition | undefined => known.find((condition) => condition.type === type);
  return [
    ...TYPES.map((type): Condition => found(type) ?? { type, status: 'Unknown', reason: 'NotReported', message: '' }),
    ...known.filter(({ type }) => !(TYPES as readonly string[]).includes(type)),
  ];
}
