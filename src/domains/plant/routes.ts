/** Routes of the physical hierarchy (contract 3, Physical hierarchy request shapes): read for everybody, write for engineers. */
import { crudRoutes } from '../../platform/http/crud.js';
import { areaBody, enterpriseBody, processCellBody, siteBody } from './dto.js';
import { siteRules, enterpriseRules, areaRules, processCellRules } from './rules.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

export const plantRoutes = [
  ...crudRoutes(enterpriseRules, { ...TIERS, dto: enterpriseBody, derives: true }),
  ...crudRoutes(siteRules, { ...TIERS, dto: siteBody, derives: true }),
  ...crudRoutes(areaRules, { ...TIERS, dto: areaBody, derives: true }),
  ...crudRoutes(processCellRules, { ...TIERS, dto: processCellBody, derives: true }),
];
