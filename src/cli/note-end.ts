/**
 * What systemd says of an end of the service (`$SERVICE_RESULT`, `$EXIT_STATUS` of systemd.exec(5)), as a fault of the program: an end of which
 * the program itself could not tell counts as one that nobody caught, so that an appliance which is ended again and again stays in rescue.
 *
 * Not counted: whatever it ended with by itself (70 has been counted by then, 2 and 3 are no faults), and a signal that somebody sent.
 */

/** Signals that a process gets for what it has done; a KILL or TERM is somebody's. */
const OWN_SIGNALS: readonly string[] = ['ABRT', 'BUS', 'FPE', 'ILL', 'SEGV', 'SYS', 'TRAP', 'XCPU'];

export function noteEnd(environment: NodeJS.ProcessEnv, note: (fault: Error) => void): void {
  const fault = faultOf(environment);
  if (fault !== undefined) note(new Error(fault));
}

/** Undefined: it is no fault of the program, or the program has counted it itself. */
export function faultOf({ SERVICE_RESULT: result, EXIT_STATUS: status = '' }: NodeJS.ProcessEnv): string | undefined {
  if (result === 'watchdog') return 'the watchdog of the service ended it: its main thread, or one that could not be ended, did not answer in time';
  if (result === 'oom-kill') return 'the machine ended it for want of memory';
  if (result === 'core-dump' || (result === 'signal' && OWN_SIGNALS.includes(status))) return `it ended by the signal ${status}`;
  return undefined;
}
