/** What a shift sees ahead and leaves behind: expected durations, the next hours, notes. */
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on } from '../../platform/reconcile/wakes.js';
import { Batch } from '../batches/kind.js';
import { ExperienceReconciler } from './experience.js';
import { type ShiftDeps, shiftRoutes } from './routes.js';

export function joinShift({ store, clock, facts, log }: ShiftDeps & { readonly log: Log }) {
  const loop = new ReconcileLoop(new ExperienceReconciler(store), clock, log, [
    on(Batch, ({ type, resource, before }) => type === 'put' && resource.status.phase === 'Complete' && before?.status.phase !== 'Complete'),
  ]);
  return { routes: [routeSet(shiftRoutes, { store, clock, facts })], reconcilers: [loop] };
}
