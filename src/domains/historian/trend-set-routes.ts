/** Sets of curves: read by everybody, written by whoever operates (ADR 0140). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict } from '../../platform/base/refusal.js';
import { crudRoutes } from '../../platform/http/crud.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { ruled } from '../../platform/store/kind.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import { TrendSet, TrendSetSpec } from './trend-set-kind.js';

export const TrendSetBody = v.strictObject({ name: v.string(), ...TrendSetSpec.entries, ...SITE_METADATA });
export type TrendSetBody = ToldBy<typeof TrendSetBody>;

nameSchemas({ TrendSetBody });

/** Everybody on a site sees all of them in one list. */
const SETS_MAX = 200;

export const trendSetRules = ruled(TrendSet, {
  refuses: { write: { 409: ['too_many_sets'] } },
  admit(spec, { site, before, read }) {
    if (!before && read.list(TrendSet, site).length >= SETS_MAX)
      throw conflict('too_many_sets', `site ${site} keeps ${SETS_MAX} saved sets of curves, which is all that it may; delete one that nobody needs`, { limit: SETS_MAX });
    return spec;
  },
});

export const trendSetRoutes = crudRoutes(trendSetRules, {
  read: 'read',
  write: 'operate',
  reply: TrendSetBody,
  dto: (resource): TrendSetBody => ({ name: resource.metadata.name, ...resource.spec, ...metadataBody(resource) }),
});
