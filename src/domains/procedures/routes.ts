/** Routes of procedural templates, and of the transforms between text and networks (contract 3; decisions Q-TIER-01). */
import { crudRoutes } from '../../platform/http/crud.js';
import { templateBody } from './dto.js';
import { phaseTemplateRules, operationTemplateRules, unitProcedureTemplateRules, procedureTemplateRules } from './rules.js';
import { transformRoutes } from './transform-routes.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

export const procedureRoutes = [
  ...crudRoutes(phaseTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(operationTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(unitProcedureTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(procedureTemplateRules, { ...TIERS, dto: templateBody }),
  ...transformRoutes,
];
