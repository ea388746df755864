/** What a service of a process module says of itself, from samples of its channels. Pure: what is not known is undefined, with the reason. */
import type { ChannelSample } from '../../../runtime/port.js';
import type { Quality } from '../../../runtime/vocabulary/quality.js';
import type { Service } from '../io-modules/kind.js';
import { commandsIn, type ServiceCommand, type ServiceState, type ServiceVariable, stateOf } from '../io-modules/service-words.js';

export type SeenSample = Pick<ChannelSample, 'value'> & { readonly quality: Quality; readonly message?: string };

/** By variable; one without a channel has none. */
export type Seen = ReadonlyMap<ServiceVariable, SeenSample>;

/** A value, or why there is none. */
export type Known<Value> = { readonly value: Value } | { readonly unknown: string };

/** Uncertain is not known: a command rests on what the module says now. */
function good(seen: Seen, variable: ServiceVariable): Known<number | string | boolean> {
  const sample = seen.get(variable);
  if (!sample) return { unknown: `it has no channel for ${variable}` };
  if (sample.quality === 'Good' && sample.value !== null) return { value: sample.value };
  return { unknown: `${variable} is ${sample.quality}${sample.message ? `: ${sample.message}` : ''}` };
}

export function wordIn(seen: Seen, variable: ServiceVariable): Known<number> {
  const found = good(seen, variable);
  if ('unknown' in found) return found;
  const number = Number(found.value);
  return Number.isSafeInteger(number) && number >= 0 ? { value: number } : { unknown: `${variable} is ${String(found.value)}, which is no word` };
}

/** Undefined where it is not known. A service without a channel for it does not show it, which is as if it never stood. */
function flag(seen: Seen, variable: ServiceVariable): boolean | undefined {
  if (!seen.has(variable)) return false;
  const found = good(seen, variable);
  if ('unknown' in found) return undefined;
  const number = Number(found.value);
  return number === 1 || number === 0 ? number === 1 : undefined;
}

export function stateIn(seen: Seen): Known<ServiceState> {
  const found = wordIn(seen, 'StateCur');
  if ('unknown' in found) return found;
  const state = stateOf(found.value);
  return state ? { value: state } : { unknown: `StateCur is ${found.value}, which is no state of VDI/VDE/NAMUR 2658-4` };
}

export function enabledIn(seen: Seen): Known<readonly ServiceCommand[]> {
  const found = wordIn(seen, 'CommandEn');
  return 'unknown' in found ? found : { value: commandsIn(found.value) };
}

export const OPERATION_MODES = ['Offline', 'Operator', 'Automatic'] as const;
export const SOURCE_MODES = ['Internal', 'External'] as const;
export type OperationMode = (typeof OPERATION_MODES)[number];
export type SourceMode = (typeof SOURCE_MODES)[number];

/** Exactly one of several flags; undefined where none or several stand, or one is not known. */
function oneOf<Word>(...flags: readonly (readonly [Word, boolean | undefined])[]): Word | undefined {
  if (flags.some(([, isSet]) => isSet === undefined)) return undefined;
  const set = flags.filter(([, isSet]) => isSet === true);
  return set.length === 1 ? set[0]?.[0] : undefined;
}

export function operationModeIn(seen: Seen): OperationMode | undefined {
  return oneOf<OperationMode>(['Offline', flag(seen, 'StateOffAct')], ['Operator', flag(seen, 'StateOpAct')], ['Automatic', flag(seen, 'StateAutAct')]);
}

/** Of a service in Automatic. */
export function sourceModeIn(seen: Seen): SourceMode | undefined {
  return oneOf<SourceMode>(['Internal', flag(seen, 'SrcIntAct')], ['External', flag(seen, 'SrcExtAct')]);
}

/** The words that a command goes to in the mode that the service is in, or why none does. */
export function wordsFor(seen: Seen): { readonly command: ServiceVariable; readonly procedure: ServiceVariable } | { readonly refused: string } {
  const mode = operationModeIn(seen);
  if (mode === 'Operator') return { command: 'CommandOp', procedure: 'ProcedureOp' };
  if (mode === 'Offline') return { refused: 'it is in operation mode Offline, in which it takes no command: set Automatic or Operator at the module' };
  if (mode === undefined) return { refused: 'its operation mode is not known (StateOffAct, StateOpAct, StateAutAct)' };
  const source = sourceModeIn(seen);
  if (source === 'External') return { command: 'CommandExt', procedure: 'ProcedureExt' };
  if (source === 'Internal') return { refused: 'it is in source mode Internal, in which the module commands it by itself: set External at the module' };
  return { refused: 'its source mode is not known (SrcIntAct, SrcExtAct)' };
}

/** The number of a procedure by that number or by its name, however its letters are written. */
export function procedureOf({ procedures }: Service, asked: string | number): number | undefined {
  const text = String(asked).trim();
  const byId = procedures.find(({ id }) => String(id) === text);
  return (byId ?? procedures.find(({ name }) => name === text) ?? procedures.find(({ name }) => name.toLowerCase() === text.toLowerCase()))?.id;
}

export function nameOfProcedure({ procedures }: Service, seen: Seen): string {
  const found = wordIn(seen, 'ProcedureCur');
  if ('unknown' in found || found.value === 0) return '';
  return procedures.find(({ id }) => id === found.value)?.name ?? String(found.value);
}
