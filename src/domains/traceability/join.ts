/** Which lots went where: read from what the batches have recorded. */
import { Turnstile } from '../../platform/base/turnstile.js';
import { routeSet } from '../../platform/http/route.js';
import { type TraceDeps, traceRoutes } from './routes.js';

const AT_ONCE = 2;
const WAITING_MAX = 20;
const WAIT_MAX_MS = 10_000;

export function joinTraceability(parts: Omit<TraceDeps, 'turns'>) {
  const turns = new Turnstile({ what: 'traces', atOnce: AT_ONCE, waitingMax: WAITING_MAX, waitMaxMs: WAIT_MAX_MS });
  return { routes: [routeSet(traceRoutes, { ...parts, turns })] };
}
