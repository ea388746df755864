/** Why a command to a service of a process module failed (decisions 3.5, 4.5; ADR 0074): the rule of the failure that holds the phase. */

/** The service does not enable it, or is in a mode that takes none: nothing has gone out. */
export const COMMAND_DISABLED = 'mtp-command-disabled';
/** Whoever asked was held, stopped or aborted, or waits no more. */
export const COMMAND_WITHDRAWN = 'mtp-command-withdrawn';
/** It went out, and the service did something that the command does not lead to. */
export const COMMAND_FAILED = 'mtp-command-failed';
/** It went out, and nothing shows that the service has accepted it. */
export const COMMAND_TIMEOUT = 'mtp-command-timeout';
