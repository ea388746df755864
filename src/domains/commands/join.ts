/** Commands, modes and answers to prompts: of people, of alarms and of charts, all by the same rules. */
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { ClientFrames } from '../../platform/stream/websocket.js';
import type { SettingValues } from '../../settings.js';
import type { DryRunFacts } from '../batches/reading/dry-run.js';
import type { PromptDeps } from './prompt-routes.js';
import { alarmCommands, watchSuperseded } from './alarm-commands.js';
import type { CommandDeps } from './command.js';
import { commandFrame } from './command-frame.js';
import { phaseRequests } from './phase-requests.js';
import { commandRoutes } from './routes.js';

export interface CommandParts extends Omit<CommandDeps, 'reasonLengthMin'> {
  readonly log: Log;
  readonly settings: Pick<SettingValues, 'reasonLengthMin'>;
}

/** The ways of those who command by themselves; batches and alarms are given them. */
export function commandWays({ store, runtimes, probes, clock, log, phases, services, settings }: CommandParts) {
  const deps: CommandDeps = { store, runtimes, probes, clock, phases, services, reasonLengthMin: settings.reasonLengthMin };
  return { ofCharts: phaseRequests(deps), ofAlarms: alarmCommands({ ...deps, log }) };
}

export interface CommandJoinParts extends CommandParts, Pick<PromptDeps, 'keys' | 'wake' | 'beside'>, Pick<DryRunFacts, 'production' | 'storageLow'> {
  readonly settings: Pick<SettingValues, 'reasonLengthMin' | 'holdPropagation' | 'resumeCancelsPause' | 'settleDeadlineMs'>;
  readonly again: Parameters<typeof watchSuperseded>[0]['again'];
}

export function joinCommands({ settings, again, ...parts }: CommandJoinParts) {
  const { reasonLengthMin, holdPropagation, resumeCancelsPause, settleDeadlineMs } = settings;
  const deps = { ...parts, reasonLengthMin, holdPropagation, resumeCancelsPause, settleDeadlineMs };
  watchSuperseded({ store: parts.store, again });
  const command: ClientFrames['command'] = (frame, caller, sourceIP) => commandFrame(deps, frame, caller, sourceIP);
  return {
    routes: [routeSet(commandRoutes, deps)],
    /** The frame with which a stream commands. */
    command,
  };
}
