/** Periodic reviews: signed, listed, and told of when they are overdue. */
import { routeSet } from '../../platform/http/route.js';
import type { Troubles } from '../alarms/system-conditions.js';
import { dueReviews, overdueTrouble } from './due.js';
import { type ReviewDeps, reviewRoutes } from './routes.js';

export function joinReviews(parts: ReviewDeps) {
  const troubles: Pick<Troubles, 'review'> = { review: () => overdueTrouble(dueReviews(parts.store, parts.settings)) };
  return { routes: [routeSet(reviewRoutes, parts)], troubles };
}
