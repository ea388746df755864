/** Routes of the physical hierarchy (contract 3, Physical hierarchy request shapes): read for everybody, write for engineers. */
import { crudRoutes } from '../../platform/http/crud.js';
import { AreaBody, areaBody, EnterpriseBody, enterpriseBody, ProcessCellBody, processCellBody, SiteBody, siteBody } from './dto.js';
import { siteRules, enterpriseRules, areaRules, processCellRules } from './rules.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

export const plantRoutes = [
  ...crudRoutes(enterpriseRules, { ...TIERS, reply: EnterpriseBody, dto: enterpriseBody, derives: true }),
  ...crudRoutes(siteRules, { ...TIERS, reply: SiteBody, dto: siteBody, derives: true }),
  ...crudRoutes(areaRules, { ...TIERS, reply: AreaBody, dto: areaBody, derives: true }),
  ...crudRoutes(processCellRules, { ...TIERS, reply: ProcessCellBody, dto: processCellBody, derives: true }),
];
