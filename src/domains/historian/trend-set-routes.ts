/** Sets of curves: read by everybody, written by whoever operates (ADR 0140). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { crudRoutes } from '../../platform/http/crud.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { ruled } from '../../platform/store/kind.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import { TrendSet, TrendSetSpec } from './trend-set-kind.js';

export const TrendSetBody = v.strictObject({ name: v.string(), ...TrendSetSpec.entries, ...SITE_METADATA });
export type TrendSetBody = ToldBy<typeof TrendSetBody>;

nameSchemas({ TrendSetBody });

export const trendSetRules = ruled(TrendSet, {});

export const trendSetRoutes = crudRoutes(trendSetRules, {
  read: 'read',
  write: 'operate',
  reply: TrendSetBody,
  dto: (resource): TrendSetBody => ({ name: resource.metadata.name, ...resource.spec, ...metadataBody(resource) }),
});
