/** The metrics of the alarm system (ISA-18.2-2016, clause 16) over a window of the history. Not shown in the contract; an added route. */
import type { WallMs } from '../../platform/base/times.js';
import type { Clock } from '../../platform/base/clock.js';
import { invalid } from '../../platform/base/refusal.js';
import { readTime } from '../../platform/http/log-query.js';
import { instant, parameters, text } from '../../platform/http/parameters.js';
import { type Query, type Route, routesFor } from '../../platform/http/route.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Store } from '../../platform/store/store.js';
import { type AlarmEvent, alarmStream } from './alarm-event.js';
import { AlarmMetrics, AlarmReport, type MetricsWindow, STALE_MS } from './metrics.js';
import { StandingThen } from './standing-then.js';
import { unstoredAlarms } from './unstored-alarms.js';
import type { AlarmResource } from './kind.js';

export interface MetricsRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly facts: Pick<LedgerQueries, 'timedFacts'>;
}

const DAY_MS = 86_400_000;
/** ISA-18.2 judges 30 days; a quarter may be compared with them. */
const WINDOW_MAX_MS = 92 * DAY_MS;
/** A site with more in one window is beyond what averages say anything about; a shorter window says it. */
const EVENTS_MAX = 200_000;

const route = routesFor<MetricsRouteDeps>();

export const metricsRoutes: readonly Route<MetricsRouteDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/alarmmetrics',
    action: 'alarm:history',
    tier: 'read',
    query: parameters({ from: instant('a day before the end unless given'), to: instant(), unit: text() }),
    reply: AlarmReport,
    summary: 'Performance of the alarm system (ISA-18.2), activations under a shelf apart, what stood at the end; query from, to (default the last 24 h, at most 92 days), unit',
    async handle({ params: { site }, query }, { store, clock, facts }) {
      const nowMs = clock.wallMs();
      const window = readWindow(query, nowMs);
      const unit = query.get('unit') ?? '';
      const equals: Readonly<Record<string, string>> = unit === '' ? {} : { unit };
      const read = (fromMs: WallMs, toMs: WallMs) => facts.timedFacts<AlarmEvent>(alarmStream(site), { fromMs, toMs, equals });
      const metrics = new AlarmMetrics(window);
      let count = 0;
      for await (const events of read(window.fromMs, window.toMs)) {
        count += events.length;
        if (count > EVENTS_MAX) throw invalid('invalid_query', 'from', `there are more than ${EVENTS_MAX} alarm events from then on; choose a shorter window`, { max: EVENTS_MAX });
        for (const event of events) metrics.take(event);
      }
      const alarms = (): readonly AlarmResource[] =>
        unstoredAlarms(store)
          .list(site)
          .filter(({ status }) => unit === '' || status.unit === unit);
      if (window.toMs >= nowMs) return metrics.report(alarms(), store.terms);
      const then = await takeBack(window, read, nowMs);
      return metrics.report(alarms(), store.terms, then && then.standing(alarms()));
    },
  }),
];

type Read = (fromMs: WallMs, toMs: WallMs) => AsyncIterable<readonly AlarmEvent[]>;

/** Null when more has come since the end of the window than can be looked at. */
async function takeBack({ fromMs, toMs }: MetricsWindow, read: Read, nowMs: WallMs): Promise<StandingThen | null> {
  const then = new StandingThen(toMs);
  let count = 0;
  // an alarm whose activation is not found in this time was stale
  for await (const events of read(Math.min(fromMs, toMs - STALE_MS), nowMs + 1)) {
    for (const event of events) then.take(event);
    const last = events.at(-1);
    if (last && Date.parse(last.timestamp) >= toMs) count += events.length;
    if (count > EVENTS_MAX) return null;
  }
  return then;
}

/** What has not happened yet is no part of the window. @throws Refusal `invalid_query` naming the parameter. */
function readWindow(query: Query<'from' | 'to'>, nowMs: WallMs): MetricsWindow {
  const toMs = Math.min(readTime(query, 'to') ?? nowMs, nowMs);
  const fromMs = readTime(query, 'from') ?? toMs - DAY_MS;
  if (fromMs >= toMs) throw invalid('invalid_query', 'from', 'from must be earlier than to, and than now');
  if (toMs - fromMs > WINDOW_MAX_MS) throw invalid('invalid_query', 'from', 'from and to must be at most 92 days apart', { max: '92d' });
  return { fromMs, toMs };
}
