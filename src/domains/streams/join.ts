/** The live streams: one hub that all who have something to tell publish to, and its two transports. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { SessionWatch } from '../../platform/http/stream-port.js';
import type { Store } from '../../platform/store/store.js';
import { Hub, type Publish } from '../../platform/stream/hub.js';
import type { ClientFrames } from '../../platform/stream/websocket.js';
import { Site, Unit } from '../plant/kind.js';
import { streamRoutes } from './live-transports.js';
import type { Places } from '../../platform/stream/filter.js';

export interface StreamParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessions: SessionWatch;
  /** What clients send. */
  readonly frames: ClientFrames;
  /** All who tell something. */
  readonly publishers: readonly Publish[];
}

export function joinStreams({ store, clock, log, sessions, frames, publishers }: StreamParts) {
  const places: Places = {
    hasSite: (site) => store.get(Site, '', site) !== undefined,
    hasUnit: (site, unit) => (site === undefined ? store.list(Unit).some((candidate) => candidate.metadata.name === unit) : store.get(Unit, site, unit) !== undefined),
  };
  const hub = new Hub({ clock, sessions, places, recorded: () => store.recorded });
  for (const publish of publishers) publish(hub);
  const onFault = (err: unknown): void => log.error({ err }, 'a stream met a fault of ours');
  return {
    /** For the gateway, which counts and ends its connections. */
    hub,
    streamsOf: (sessionId: string): number => hub.streamsOfSession(sessionId),
    routes: [routeSet(streamRoutes, { webSocket: { hub, clock, sessions, frames, onFault }, sse: { hub, clock, places }, places })],
    start: (): void => hub.start(),
    stop: (): void => hub.stop(),
  };
}
