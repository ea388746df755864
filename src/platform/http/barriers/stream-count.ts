/** Step 1, second half: open streams per source, before the upgrade or stream starts (decisions Q-STREAM-10). */
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const streamCount: Barrier = (exchange, { streams }) => {
  if (exchange.row.bound.row.stream === undefined || !streams.connections) return undefined;
  if (streams.connections.streamCount(exchange.sourceIP) < streams.perSourceMax) return undefined;
  throw new Refusal('limited', `at most ${streams.perSourceMax} live streams per source address`, { code: 'too_many_streams', limit: streams.perSourceMax });
};
