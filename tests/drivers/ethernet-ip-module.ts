/** I/O modules of the EtherNet/IP device of the tests, and the waits that ask it. */
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';

/** A port on which nobody listens (tcpmux). One that was free a moment ago may be that of another test's server now. */
export const DEAD_PORT = 1;

export function moduleOf(port: number, channels: readonly ProbeChannel[] = [], options: ProbeModule['options'] = {}, name = 'io'): ProbeModule {
  const given = { pollInterval: '50ms', timeout: '1s', retries: 1, ...options };
  return { site: 'north', module: name, protocol: 'ethernetip', address: `127.0.0.1:${port}`, options: given, channels, image: new ProcessImage(channels.length).buffer };
}

/** Waits for something that has to be asked; fails with its name. */
export async function untilTrue(what: string, holds: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) if (performance.now() - started > 30_000) throw new Error(`never: ${what}`);
}
