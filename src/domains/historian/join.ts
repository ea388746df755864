/** The historian: what it records of the units, the states and the alarms, and what is asked of it. Without it nothing is recorded, and everything else goes on. */
import type { WallMs } from '../../platform/base/times.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { History } from '../../platform/history/history.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingsOf } from '../../settings.js';
import type { Troubles } from '../alarms/system-conditions.js';
import { Unit } from '../plant/kind.js';
import { alarmRecorder, openHistorian, type SampledUnits, sampleTags, stateRecorder } from './sampling.js';
import { HISTORIAN_ROUTES } from './routes.js';
import { trendSetRoutes } from './trend-set-routes.js';

export interface HistorianParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly settings: SettingsOf<'historian'>;
  readonly runtimes: SampledUnits;
  /** When this appliance started, by the wall clock. */
  readonly startedAtMs: WallMs;
  /** Told of a thread that ended by itself. */
  readonly died: (thread: string, fault: string) => void;
}

export async function joinHistorian(parts: HistorianParts) {
  const { store, clock, log, settings, runtimes, startedAtMs } = parts;
  const { history, fault } = settings.historianEnabled ? await opened(parts) : {};
  const lost = [...(fault === undefined ? [] : [fault]), ...(history?.partsLost ?? [])].join('; ');
  if (lost !== '') log.error(lost);
  const troubles: Pick<Troubles, 'historian'> = { historian: () => (lost === '' ? undefined : { severity: 'Medium', message: lost }) };
  let stopSampling = (): void => undefined;
  return {
    history,
    troubles,
    /** Keeps the events of the alarms. */
    recordAlarm: history && alarmRecorder(history),
    /** Keeps the changes of state, as their channel tells them. */
    recordState: history && stateRecorder(history, store, startedAtMs),
    routes: [routeSet(HISTORIAN_ROUTES, { history, store }), routeSet(trendSetRoutes, { store })],
    start(): void {
      if (history) stopSampling = sampleTags({ history, runtimes, clock, intervalMinMs: settings.historianIntervalMinMs });
    },
    async stop(): Promise<void> {
      stopSampling();
      await store.recorded.catch(() => undefined); // it is told of what is on disk
      await history?.close();
    },
  };
}

/** A history that cannot be opened, or was begun anew, keeps nothing from being controlled: it is told in a sentence. */
async function opened({ dataDir, settings, died, store, startedAtMs }: HistorianParts): Promise<{ readonly history?: History; readonly fault?: string }> {
  let history: History;
  try {
    history = await openHistorian(dataDir, settings, died, store);
  } catch (fault) {
    return { fault: `historian.db cannot be opened (${(fault as Error).message}): nothing is recorded by it until the next start` };
  }
  if (!history.aside) return { history };
  const { name, fault } = history.aside;
  const lost = name === '' ? 'is missing and was begun anew' : `could not be opened (${fault}): it is kept as ${name}, recording goes on in a new one`;
  for (const { metadata } of store.list(Unit)) {
    history.recordGap({
      site: metadata.site,
      unit: metadata.name,
      address: '',
      fromMs: Date.parse(metadata.createdAt),
      toMs: startedAtMs,
      cause: 'HistoryLost',
      bounds: 'Containing',
    });
  }
  return { history, fault: `historian.db ${lost}, and what it held is not served` };
}
