/** Routes of the physical hierarchy (contract 3, Physical hierarchy request shapes): read for everybody, write for engineers. */
import { crudRoutes } from '../../platform/http/crud.js';
import type { BlockedWorld } from '../batches/reading/blocked-by.js';
import { areaBody, enterpriseBody, processCellBody, siteBody, unitBody } from './dto.js';
import { refuseUnitEdit, siteRules, unitRules, enterpriseRules, areaRules, processCellRules } from './rules.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

export const plantRoutes = [
  ...crudRoutes(enterpriseRules, { ...TIERS, dto: enterpriseBody, derives: true }),
  ...crudRoutes(siteRules, { ...TIERS, dto: siteBody, derives: true }),
  ...crudRoutes(areaRules, { ...TIERS, dto: areaBody, derives: true }),
  ...crudRoutes(processCellRules, { ...TIERS, dto: processCellBody, derives: true }),
  ...crudRoutes(unitRules, {
    ...TIERS,
    dto: (unit, read, deps: BlockedWorld) => unitBody(unit, read, deps),
    derives: true,
    refuse({ before, spec }) {
      if (before && spec) refuseUnitEdit(before, spec);
    },
  }),
];
