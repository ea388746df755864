/** Step 1, second half: open streams per source and of the box, before the upgrade or stream starts (decisions Q-STREAM-10). */
import { isLoopback } from '../../base/ip-address.js';
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const streamCount: Barrier = ({ row, sourceIP }, { streams: { connections, perSourceMax, max } }) => {
  if (row.bound.row.stream === undefined || !connections) return undefined;
  if (connections.streamCount(sourceIP) >= perSourceMax) throw tooMany(`at most ${perSourceMax} live streams per source address`, perSourceMax);
  // the panel at the box shows the plant however many look at it from elsewhere
  if (max && connections.streamsOpen >= max.count && !isLoopback(sourceIP))
    throw tooMany(`at most ${max.count} live streams (${max.because}): close one that nobody looks at`, max.count);
  return undefined;
};

function tooMany(message: string, limit: number): Refusal {
  return new Refusal('limited', message, { code: 'too_many_streams', limit });
}
