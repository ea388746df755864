/** Routes of procedural templates, and of the transforms between text and networks (contract 3; decisions Q-TIER-01). */
import { crudRoutes } from '../../platform/http/crud.js';
import { PhaseTemplateBody, ProcedureTemplateBody, SequenceTemplateBody, templateBody } from './dto.js';
import { phaseTemplateRules, operationTemplateRules, unitProcedureTemplateRules, procedureTemplateRules } from './rules.js';
import { transformRoutes } from './transform-routes.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

export const procedureRoutes = [
  ...crudRoutes(phaseTemplateRules, { ...TIERS, reply: PhaseTemplateBody, dto: templateBody }),
  ...crudRoutes(operationTemplateRules, { ...TIERS, reply: SequenceTemplateBody, dto: templateBody }),
  ...crudRoutes(unitProcedureTemplateRules, { ...TIERS, reply: SequenceTemplateBody, dto: templateBody }),
  ...crudRoutes(procedureTemplateRules, { ...TIERS, reply: ProcedureTemplateBody, dto: templateBody }),
  ...transformRoutes,
];
