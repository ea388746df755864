/** Where units and I/O modules are executed: in threads of this box. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { SettingValues } from '../../settings.js';
import { LocalProbes } from './local-probes.js';
import { LocalRuntimes } from './local-runtimes.js';

export interface PlacementParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<SettingValues, 'runtimeHeapMaxMb' | 'scanThreadsMax' | 'realtimePriority' | 'ioReconnectMinMs' | 'ioReconnectMaxMs' | 'readbackTimeoutMs'>;
  /** Told of a thread that ended by itself. */
  readonly died: (thread: string, fault: string) => void;
}

/** No thread is started before somebody gives it something to do. Two parts: the probes outlive the units whose outputs they drive. */
export function placeHere({ clock, log, settings, died }: PlacementParts) {
  const { runtimeHeapMaxMb, scanThreadsMax, realtimePriority, ioReconnectMinMs, ioReconnectMaxMs, readbackTimeoutMs } = settings;
  return {
    runtimes: new LocalRuntimes({ clock, log, heapMb: runtimeHeapMaxMb, threadsMax: scanThreadsMax, realtime: realtimePriority }),
    probes: new LocalProbes({
      clock,
      log,
      goAhead: realtimePriority,
      settings: { reconnectMinMs: ioReconnectMinMs, reconnectMaxMs: ioReconnectMaxMs, readbackTimeoutMs },
      died,
    }),
  };
}
