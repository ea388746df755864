/**
 * Up to where the audit trail of a site was reviewed: by reviews of which each begins where those before have ended, from the first record on. They
 * are joined by the numbers of the records, since the clock of a box may have been set. Pure.
 */
import type { ReviewResource, TrailScope } from './kind.js';

export interface Coverage {
  /** The reviews that join, the one that reaches furthest first. */
  readonly joined: readonly ReviewResource[];
  /** `to` of the first of them; '' where there is none. */
  readonly reviewedTo: string;
  /** A review reaches further than what is joined. */
  readonly gap: boolean;
}

export function coverageOf(reviews: readonly ReviewResource[], site: string): Coverage {
  const ofSite = reviews.filter(({ spec: { content } }) => content.trail && (content.trail.site === '' || content.trail.site === site));
  const joined: ReviewResource[] = [];
  let end: number | undefined;
  for (const review of ofSite.sort((a, b) => beginOf(a) - beginOf(b))) {
    const { fromBegin, firstSequence, lastSequence } = trailOf(review);
    const joins = fromBegin || (end !== undefined && firstSequence > 0 && firstSequence <= end + 1);
    if (!joins) continue;
    joined.push(review);
    end = Math.max(end ?? 0, lastSequence);
  }
  joined.sort((a, b) => trailOf(b).lastSequence - trailOf(a).lastSequence || b.metadata.resourceVersion - a.metadata.resourceVersion);
  const [furthest] = joined;
  return { joined, reviewedTo: furthest ? trailOf(furthest).to : '', gap: ofSite.some((review) => trailOf(review).lastSequence > (end ?? 0)) };
}

/** Those of the begin first: of a site that is younger than the box it is not record 1. */
function beginOf(review: ReviewResource): number {
  const { fromBegin, firstSequence } = trailOf(review);
  return fromBegin ? 0 : firstSequence;
}

function trailOf({ spec: { content } }: ReviewResource): TrailScope {
  return content.trail as TrailScope;
}
