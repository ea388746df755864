/** A disk that takes nothing more, for one process: the limit of the length of its files (`prlimit` of util-linux). */
import { execFileSync } from 'node:child_process';
import type { Test } from 'tap';

/** @returns false where the machine lacks `prlimit`: the test is said not to have been tried. */
export function canLimitFiles(t: Test): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    t.pass('prlimit is not installed: not tried here');
    return false;
  }
}

/**
 * Files of a process take no byte behind this length; undefined gives the space back. It is the soft limit, so that a process can lift its own.
 * A process of the test itself has to ignore SIGXFSZ, as the command line of the appliance does: then the write fails with EFBIG.
 */
export function limitFiles(pid: number, bytes: number | undefined): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`]);
}
