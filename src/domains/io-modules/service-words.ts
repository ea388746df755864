/** What a service of a process module is looked at and commanded by: VDI/VDE/NAMUR 2658-4, ServiceControl. */

/** States by the value of `StateCur`. */
const STATES = [
  ['Stopped', 4],
  ['Starting', 8],
  ['Idle', 16],
  ['Paused', 32],
  ['Execute', 64],
  ['Stopping', 128],
  ['Aborting', 256],
  ['Aborted', 512],
  ['Holding', 1024],
  ['Held', 2048],
  ['Unholding', 4096],
  ['Pausing', 8192],
  ['Resuming', 16_384],
  ['Resetting', 32_768],
  ['Completing', 65_536],
  ['Completed', 131_072],
] as const;

/** Commands by their bit, the same in `CommandEn` and in the command words. */
const COMMANDS = [
  ['Reset', 2],
  ['Start', 4],
  ['Stop', 8],
  ['Hold', 16],
  ['Unhold', 32],
  ['Pause', 64],
  ['Resume', 128],
  ['Abort', 256],
  ['Restart', 512],
  ['Complete', 1024],
] as const;

export type ServiceState = (typeof STATES)[number][0];
export type ServiceCommand = (typeof COMMANDS)[number][0];

export const SERVICE_STATES: readonly ServiceState[] = STATES.map(([word]) => word);
export const SERVICE_COMMANDS: readonly ServiceCommand[] = COMMANDS.map(([word]) => word);

const STATE_OF = new Map<number, ServiceState>(STATES.map(([word, value]) => [value, word]));
const BIT_OF = new Map<string, number>(COMMANDS);

/** Undefined for a value that is no state of the standard. */
export function stateOf(value: number): ServiceState | undefined {
  return STATE_OF.get(value);
}

/** Undefined for a word that is no command. */
export function bitOf(command: string): number | undefined {
  return BIT_OF.get(command);
}

/** Undefined for a word that is no command. */
export function commandOf(word: string): { readonly command: ServiceCommand; readonly bit: number } | undefined {
  const found = COMMANDS.find(([command]) => command === word);
  return found && { command: found[0], bit: found[1] };
}

export function commandsIn(commandEnable: number): readonly ServiceCommand[] {
  return COMMANDS.filter(([, bit]) => (commandEnable & bit) !== 0).map(([word]) => word);
}

/** Words that are written from here, as an operator or as the system above the module; what the module commands by itself is only looked at. */
const COMMAND_WORDS = ['CommandOp', 'CommandExt', 'ProcedureOp', 'ProcedureExt'] as const;

export const SERVICE_VARIABLES = [
  ...COMMAND_WORDS,
  'CommandInt',
  'ProcedureInt',
  'StateCur',
  'CommandEn',
  'ProcedureCur',
  'ProcedureReq',
  'StateOffAct',
  'StateOpAct',
  'StateAutAct',
  'SrcIntAct',
  'SrcExtAct',
] as const;
export type ServiceVariable = (typeof SERVICE_VARIABLES)[number];

export function isServiceVariable(word: string): word is ServiceVariable {
  return SERVICE_VARIABLES.some((variable) => variable === word);
}

export function isCommandWord(word: string): boolean {
  return COMMAND_WORDS.some((variable) => variable === word);
}
