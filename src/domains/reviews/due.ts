/**
 * When the next review is due (settings `reviews.…Interval`; 0: nobody is reminded). Of the trail each site has its own date: a review of the whole
 * appliance counts for all of them, and each begins where the ones before have ended (coverage.ts). Time that elapses is not asked of the wall
 * clock; where nobody knows it, a review is due.
 */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Store } from '../../platform/store/store.js';
import type { Trouble } from '../alarms/system-conditions.js';
import { Site } from '../plant/kind.js';
import { coverageOf } from './coverage.js';
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
  /** Of the trail: up to when reviews that join each other have looked at it from its first record on; '' where none begins there. */
  reviewedTo: v.string(),
  /** Whether a later review does not begin there: nobody has looked at what lies between. */
  gap: v.boolean(),
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
      const { joined, reviewedTo, gap } = coverageOf(reviews, site);
      const last = joined.find((review) => isOfLately(review, trailReviewIntervalMs));
      due.push({ ...dueOf(store, 'audit-trail', site, trailReviewIntervalMs, last), reviewedTo, gap });
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

/**
 * Whether it was a review of the trail up to the time at which it was signed: one of a time that was over for longer than the interval says nothing
 * of what has happened since. Both instants are of one clock at one moment, whatever that is set to later.
 */
function isOfLately({ spec: { content, record } }: ReviewResource, intervalMs: number): boolean {
  return content.trail !== undefined && new Date(content.trail.to).getTime() + intervalMs > new Date(record.signedAt).getTime();
}

function dueOf({ terms }: Pick<Store, 'terms'>, type: ReviewType, site: string, intervalMs: number, last: ReviewResource | undefined): DueReview {
  if (!last) return { type, site, intervalMs, last: '', lastAt: '', dueAt: '', overdue: true, ...NO_COVERAGE };
  const elapsedMs = terms.elapsedMs(last.status.from);
  const lastAt = last.spec.record.signedAt;
  const dueAt = timestamp(Date.parse(lastAt) + intervalMs);
  return { type, site, intervalMs, last: last.metadata.name, lastAt, dueAt, overdue: elapsedMs === undefined || elapsedMs >= intervalMs, ...NO_COVERAGE };
}

const NO_COVERAGE = { reviewedTo: '', gap: false } as const;

const WHAT: Readonly<Record<ReviewType, string>> = { 'audit-trail': 'audit trail', 'user-access': 'access of users' };

function gapWords({ gap, reviewedTo }: DueReview): string {
  if (!gap) return '';
  return reviewedTo === '' ? ', no review begins with its first record' : `, nothing was reviewed from ${reviewedTo} on up to where a later review begins`;
}

export function overdueTrouble(due: readonly DueReview[]): Trouble | undefined {
  const overdue = due.filter((each) => each.overdue);
  if (overdue.length === 0) return undefined;
  const words = overdue.map((each) => {
    const { type, site, lastAt, dueAt } = each;
    const of = `the periodic review of the ${WHAT[type]}${site === '' ? '' : ` of site ${site}`}`;
    return `${lastAt === '' ? `${of} was never done` : `${of} was due at ${dueAt} (last: ${lastAt})`}${gapWords(each)}`;
  });
  return { severity: 'Medium', message: `${words.join('; ')}: review it and sign that with lineside review sign (POST /api/v1/reviews/…)` };
}
