/**
 * Whether a service has accepted a command: by the states that it leads to (VDI/VDE/NAMUR 2658-4; decisions 3.10; ADR 0074). Pure. That something
 * has changed proves nothing: a module that trips on its way changes as well.
 */
import { type ServiceCommand, type ServiceState, type ServiceVariable } from '../io-modules/service-words.js';
import { operationModeIn, type Seen, sourceModeIn, stateIn, wordIn } from './live-service.js';

const RUNS: readonly ServiceState[] = ['Execute', 'Completing', 'Completed'];

/** States that a command leads to, the last of them by itself. */
const LEADS_TO: Readonly<Record<ServiceCommand, readonly ServiceState[]>> = {
  Reset: ['Resetting', 'Idle'],
  Start: ['Starting', ...RUNS],
  Stop: ['Stopping', 'Stopped'],
  Hold: ['Holding', 'Held'],
  Unhold: ['Unholding', ...RUNS],
  Pause: ['Pausing', 'Paused'],
  Resume: ['Resuming', ...RUNS],
  Abort: ['Aborting', 'Aborted'],
  Restart: ['Starting', ...RUNS],
  Complete: ['Completing', 'Completed'],
};

/** Where a state goes to without a command. */
const GOES_TO: Readonly<Partial<Record<ServiceState, ServiceState>>> = {
  Starting: 'Execute',
  Unholding: 'Execute',
  Resuming: 'Execute',
  Execute: 'Completing',
  Completing: 'Completed',
  Pausing: 'Paused',
  Holding: 'Held',
  Stopping: 'Stopped',
  Aborting: 'Aborted',
  Resetting: 'Idle',
};

/** A command that has gone out. */
export interface Given {
  readonly command: ServiceCommand;
  readonly bit: number;
  readonly word: ServiceVariable;
  /** In which it was given. */
  readonly state: ServiceState;
  readonly procedure: number | undefined;
  /** What the service ran before; undefined where it is not known. */
  readonly procedureBefore: number | undefined;
}

/** `waits`: what it shows meanwhile; `failed`: what it did instead. */
export type Verdict = { readonly accepted: true } | { readonly waits: string } | { readonly failed: string };

/** Why nothing would show that the service has accepted the command in this state; '' where something does. */
export function unprovable(command: ServiceCommand, state: ServiceState): string {
  if (command === 'Restart' && state === 'Execute') return '';
  return LEADS_TO[command].includes(state) ? `it is ${state} already, and nothing would show that it has accepted ${command}` : '';
}

/** @param isTakenBack the command word was seen standing at the device, and is 0 again. */
export function judge(now: Seen, given: Given, isTakenBack: boolean): Verdict {
  const { command, state: before } = given;
  const cur = now.get('StateCur');
  const found = stateIn(now);
  if ('unknown' in found) return cur?.quality === 'Good' && cur.value !== null ? { failed: `after ${command} ${found.unknown}` } : { waits: found.unknown };
  const { value: state } = found;
  if (operationModeIn(now) === 'Offline') return { failed: `after ${command} it is in operation mode Offline and ${state}` };
  if (LEADS_TO[command].includes(state) && (state !== before || isTakenBack) && (command !== 'Restart' || before !== 'Execute' || state === 'Starting' || isTakenBack))
    return procedureJudged(now, given);
  if (state !== before && !isOnItsWay(before, state)) return { failed: `after ${command} it is ${state}, to which ${command} does not lead from ${before}` };
  const word = listenedTo(now);
  if (word !== undefined && word !== given.word) return { failed: `its mode has changed before it accepted ${command}: it does not listen to ${given.word} any more` };
  return { waits: `it is ${state}` };
}

/** A service that runs another procedure than it was told has not done what was asked. */
function procedureJudged(now: Seen, { command, procedure, procedureBefore }: Given): Verdict {
  if (procedure === undefined || !now.has('ProcedureCur')) return { accepted: true };
  const found = wordIn(now, 'ProcedureCur');
  if ('unknown' in found) return { waits: `it has accepted ${command}, and which procedure it runs is not known: ${found.unknown}` };
  if (found.value === procedure) return { accepted: true };
  const runs = `it has accepted ${command} and shows procedure ${found.value}, not ${procedure}`;
  return found.value === procedureBefore || found.value === 0 ? { waits: runs } : { failed: runs };
}

function isOnItsWay(from: ServiceState, to: ServiceState): boolean {
  for (let state = GOES_TO[from]; state; state = GOES_TO[state]) if (state === to) return true;
  return false;
}

/** The word that the service listens to now, 'CommandInt' for what it commands by itself; undefined where that is not known. */
function listenedTo(now: Seen): ServiceVariable | undefined {
  const mode = operationModeIn(now);
  if (mode === 'Operator') return 'CommandOp';
  const source = mode === 'Automatic' ? sourceModeIn(now) : undefined;
  return source === 'External' ? 'CommandExt' : source === 'Internal' ? 'CommandInt' : undefined;
}
