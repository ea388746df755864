/**
 * When the next review is due (settings `reviews.…Interval`; 0: nobody is reminded). Of the trail each site has its own date: a review of the whole
 * appliance counts for all of them. Time that elapses is not asked of the wall clock; where nobody knows it, a review is due.
 */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Store } from '../../platform/store/store.js';
import type { Trouble } from '../alarms/system-conditions.js';
import { Site } from '../plant/kind.js';
import { PeriodicReview, REVIEW_TYPES, type ReviewResource, type ReviewType } from './kind.js';

export interface ReviewIntervals {
  readonly trailReviewIntervalMs: number;
  readonly accessReviewIntervalMs: number;
}

export const DueReview = v.strictObject({
  type: v.picklist(REVIEW_TYPES),
  /** '' of the whole appliance. */
  site: v.string(),
  intervalMs: v.number(),
  /** Id of the last one; '' where there was none. */
  last: v.string(),
  lastAt: v.string(),
  dueAt: v.string(),
  overdue: v.boolean(),
});
export type DueReview = ToldBy<typeof DueReview>;

nameSchemas({ DueReview });

/** Those that somebody is reminded of. */
export function dueReviews(store: Pick<Store, 'list' | 'terms'>, intervals: ReviewIntervals): DueReview[] {
  const { trailReviewIntervalMs, accessReviewIntervalMs } = intervals;
  const reviews = [...store.list(PeriodicReview)].sort((a, b) => b.metadata.resourceVersion - a.metadata.resourceVersion); // written once: the newest first, whatever the clock said
  const due: DueReview[] = [];
  if (trailReviewIntervalMs > 0) {
    const sites = store.list(Site).map(({ metadata }) => metadata.name);
    for (const site of sites.length === 0 ? [''] : sites) {
      const last = reviews.find(({ spec: { content } }) => content.trail && (content.trail.site === '' || content.trail.site === site));
      due.push(dueOf(store, 'audit-trail', site, trailReviewIntervalMs, last));
    }
  }
  if (accessReviewIntervalMs > 0) {
    due.push(
      dueOf(
        store,
        'user-access',
        '',
        accessReviewIntervalMs,
        reviews.find(({ spec }) => spec.content.access),
      ),
    );
  }
  return due;
}

function dueOf({ terms }: Pick<Store, 'terms'>, type: ReviewType, site: string, intervalMs: number, last: ReviewResource | undefined): DueReview {
  if (!last) return { type, site, intervalMs, last: '', lastAt: '', dueAt: '', overdue: true };
  const elapsedMs = terms.elapsedMs(last.status.from);
  const lastAt = last.spec.record.signedAt;
  const dueAt = timestamp(Date.parse(lastAt) + intervalMs);
  return { type, site, intervalMs, last: last.metadata.name, lastAt, dueAt, overdue: elapsedMs === undefined || elapsedMs >= intervalMs };
}

const WHAT: Readonly<Record<ReviewType, string>> = { 'audit-trail': 'audit trail', 'user-access': 'access of users' };

export function overdueTrouble(due: readonly DueReview[]): Trouble | undefined {
  const overdue = due.filter((each) => each.overdue);
  if (overdue.length === 0) return undefined;
  const words = overdue.map(({ type, site, lastAt, dueAt }) => {
    const of = `the periodic review of the ${WHAT[type]}${site === '' ? '' : ` of site ${site}`}`;
    return lastAt === '' ? `${of} was never done` : `${of} was due at ${dueAt} (last: ${lastAt})`;
  });
  return { severity: 'Medium', message: `${words.join('; ')}: review and sign it with POST /api/v1/reviews/…` };
}
