/** The end of the appliance, when all that has to be is on disk. */
import { stuckThreads } from '../platform/base/stuck-threads.js';

/**
 * With a thread that hangs in a share an exit would wait for it for ever, and the plant for whoever kills the process: it does so itself. Its manager
 * starts it again as after an exit that is not 0.
 */
export function endProcess(code: number, say: (text: string) => void): void {
  const stuck = stuckThreads();
  if (stuck.length > 0) {
    say(`lineside ends by SIGKILL: ${stuck.join(', ')} hangs in the kernel`);
    process.kill(process.pid, 'SIGKILL');
  }
  process.exit(code);
}
