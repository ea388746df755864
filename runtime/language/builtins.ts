/**
 * Builtins of step actions and conditions (contract 3, Structured-text language; decisions 4.5), as data. The chart engine
 * gives them their effect, the checker and the documentation read this table.
 */
import { MODES } from '../vocabulary/modes.js';
import { COMMANDS } from '../vocabulary/states.js';
import type { StType } from './types.js';

export interface BuiltinParameter {
  readonly name: string;
  /** `number` takes INT, REAL or TIME and decides the type of the result. */
  readonly type: StType | 'number';
  readonly optional?: boolean;
  /** The words a literal may have. */
  readonly words?: readonly string[];
}

export interface Builtin {
  readonly name: string;
  readonly parameters: readonly BuiltinParameter[];
  /** More arguments of this type may follow, this many at most. */
  readonly rest?: { readonly type: StType; readonly max: number };
  /** The one argument that is given by name. */
  readonly named?: string;
  readonly result: StType | 'number';
  /** The action waits for an answer (decisions 2.6). */
  readonly suspends?: boolean;
  /** The result must be assigned by a statement of its own. */
  readonly prompting?: boolean;
  /** Changes something outside the phase. */
  readonly sideEffect?: boolean;
  /** What to use instead. */
  readonly deprecated?: string;
}

const TEXT = { name: 'text', type: 'STRING' } as const;
const ADDRESS = { name: 'address', type: 'STRING' } as const;
const SERVICE = { name: 'service', type: 'STRING' } as const;
const BOUNDS = [
  { name: 'min', type: 'REAL' },
  { name: 'max', type: 'REAL' },
  { name: 'unit', type: 'STRING' },
] as const;

const MTP_COMMANDS = ['Reset', 'Start', 'Stop', 'Hold', 'Unhold', 'Pause', 'Resume', 'Abort', 'Restart', 'Complete'] as const;

/** Commands after which `procedure := <id or name>` may stand. */
export const PROCEDURE_COMMANDS: readonly string[] = ['Start', 'Restart'];
/** Options of PROMPT_CHOICE, the two required ones included. */
export const CHOICES_MAX = 16;
const SERVICE_ARGUMENTS_MAX = 16;

const ROWS: readonly Builtin[] = [
  { name: 'READ', parameters: [ADDRESS], result: 'ANY' },
  { name: 'WRITE', parameters: [ADDRESS, { name: 'value', type: 'ANY' }], result: 'BOOL', sideEffect: true },
  { name: 'MESSAGE', parameters: [TEXT, { name: 'severity', type: 'STRING', optional: true, words: ['Info', 'Warning', 'Error'] }], result: 'BOOL', sideEffect: true },
  { name: 'PROMPT', parameters: [TEXT], result: 'STRING', suspends: true, prompting: true, sideEffect: true },
  {
    name: 'PROMPT_CHOICE',
    parameters: [TEXT, { name: 'opt1', type: 'STRING' }, { name: 'opt2', type: 'STRING' }],
    rest: { type: 'STRING', max: CHOICES_MAX - 2 },
    result: 'STRING',
    suspends: true,
    prompting: true,
    sideEffect: true,
  },
  { name: 'PROMPT_VALUE', parameters: [TEXT, ...BOUNDS], result: 'REAL', suspends: true, prompting: true, sideEffect: true },
  { name: 'AWAIT_RESULT', parameters: [{ name: 'resultKey', type: 'STRING' }, ...BOUNDS], result: 'REAL', suspends: true, prompting: true, sideEffect: true },
  {
    name: 'COMMAND',
    parameters: [
      { name: 'target', type: 'STRING' },
      { name: 'command', type: 'STRING', words: COMMANDS },
      { name: 'reason', type: 'STRING', optional: true },
    ],
    result: 'BOOL',
    sideEffect: true,
  },
  {
    name: 'MODE',
    parameters: [
      { name: 'module', type: 'STRING' },
      { name: 'mode', type: 'STRING', words: MODES },
    ],
    result: 'BOOL',
    sideEffect: true,
  },
  {
    name: 'CALL_SERVICE',
    parameters: [
      { name: 'ioModule', type: 'STRING' },
      { name: 'objectId', type: 'STRING' },
      { name: 'methodId', type: 'STRING' },
    ],
    rest: { type: 'ANY', max: SERVICE_ARGUMENTS_MAX },
    result: 'ANY',
    suspends: true,
    sideEffect: true,
  },
  { name: 'MTP_COMMAND', parameters: [SERVICE, { name: 'command', type: 'STRING', words: MTP_COMMANDS }], named: 'procedure', result: 'BOOL', suspends: true, sideEffect: true },
  { name: 'MTP_STATE', parameters: [SERVICE], result: 'STRING' },
  { name: 'MTP_COMMAND_ENABLED', parameters: [SERVICE, { name: 'command', type: 'STRING', words: MTP_COMMANDS }], result: 'BOOL' },
  { name: 'ABS', parameters: [{ name: 'x', type: 'number' }], result: 'number' },
  { name: 'WAIT', parameters: [{ name: 't', type: 'TIME' }], result: 'BOOL', suspends: true, deprecated: '<step>.T in the transition' },
  { name: 'WaitSeconds', parameters: [{ name: 'n', type: 'REAL' }], result: 'BOOL', suspends: true, deprecated: '<step>.T in the transition' },
];

/** By name in upper case. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map(ROWS.map((row) => [row.name.toUpperCase(), row]));

/** A builtin by its name in any case. */
export function builtin(name: string): Builtin | undefined {
  return BUILTINS.get(name.toUpperCase());
}
