/**
 * A barrier looks at one exchange and throws a Refusal when it may not go on. Two of them wait: authentication for a signature that was not
 * seen before, after which the barriers are passed again from the count of streams on, and the last one (the body). Everything else runs in one turn, on the
 * request line and headers alone.
 */
import type { Clock } from '../../base/clock.js';
import type { PastRows } from '../../store/past-rows.js';
import type { Store } from '../../store/store.js';
import type { Authenticator } from '../authenticator.js';
import type { BodyRoom } from '../body-room.js';
import type { BodyTurns } from '../body-turns.js';
import type { Exchange } from '../exchange.js';
import type { YamlBodies } from '../yaml-body.js';
import type { Nonces } from '../nonces.js';
import type { RateLimiter } from '../rate-limit.js';
import type { StreamConnections, StreamsMax } from '../stream-port.js';
import type { RouteTable } from '../route-table.js';

/** What the barriers look at besides the exchange. */
export interface Guard {
  readonly clock: Clock;
  readonly rows: RouteTable;
  readonly rateLimiter: RateLimiter;
  readonly streams: {
    readonly connections: StreamConnections | undefined;
    readonly perSourceMax: number;
    /** Of all sources together; absent where nothing bounds them. */
    readonly max?: StreamsMax | undefined;
    readonly tokenInQuery: boolean;
  };
  readonly allowedOrigins: readonly string[];
  readonly authenticator: Authenticator;
  /** Undefined while `gateway.antiReplay.enabled` is false. */
  readonly nonces: Nonces | undefined;
  readonly store: Pick<Store, 'admit' | 'write' | 'writeOrKeep' | 'recorded' | 'accepting'>;
  readonly siteExists: (site: string) => boolean;
  /** Absent where nothing becomes past. */
  readonly past?: Pick<PastRows, 'hold' | 'borrow'>;
  /** False until storage is open and recovery is done: everything but probes and pages answers 503 `starting`. */
  readonly ready: () => boolean;
  readonly bodyBytesMax: number;
  readonly reasonLengthMin: number;
  readonly yaml: YamlBodies;
  readonly bodyRoom: BodyRoom;
  readonly bodyTurns: BodyTurns;
}

export type Barrier = (exchange: Exchange, guard: Guard) => undefined | Promise<void>;
