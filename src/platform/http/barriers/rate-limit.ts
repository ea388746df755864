/** Step 1: rate limit, before everything else; the probes are exempt (decisions Q-ERR-05). */
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const rateLimit: Barrier = ({ incoming }, { rateLimiter }) => {
  if (incoming.path === '/healthz' || incoming.path === '/readyz') return undefined;
  const waitSeconds = rateLimiter.take(incoming.sourceIP);
  if (waitSeconds === 0) return undefined;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitSeconds));
  throw new Refusal('limited', `too many requests; try again in ${retryAfterSeconds} s`, { code: 'rate_limited', retryAfterSeconds });
};
