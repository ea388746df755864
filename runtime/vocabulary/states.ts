/** States and commands of ISA-88 procedural elements (contract 3, States and transitions; decisions 3.1). */
export const STATES = ['Idle', 'Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting', 'Stopping', 'Stopped', 'Aborting', 'Aborted', 'Complete', 'Resetting'] as const;
export type State = (typeof STATES)[number];

/** In the order in which `validCommands` lists them. */
export const COMMANDS = ['Start', 'Pause', 'Resume', 'Hold', 'Restart', 'Stop', 'Abort', 'Reset'] as const;
export type Command = (typeof COMMANDS)[number];

export type Progression = 'waiting' | 'acting' | 'final';

/** Pending precedes the ISA-88 states and exists on batches only, as does Failed. */
export type BatchState = 'Pending' | Exclude<State, 'Idle' | 'Resetting'> | 'Failed';
