/** Routes of control modules and their templates (contract 3, Control module, Control-module template). */
import { crudRoutes } from '../../platform/http/crud.js';
import type { Route } from '../../platform/http/route.js';
import { bypassRoutes } from './bypass-routes.js';
import { moduleBody, templateBody } from './dto.js';
import { ControlModule, ControlModuleTemplate } from './kind.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

/** Needs BypassDeps. */
export const controlModuleRoutes: readonly Route[] = [
  ...crudRoutes(ControlModuleTemplate, { ...TIERS, dto: templateBody }),
  ...crudRoutes(ControlModule, { ...TIERS, dto: moduleBody, derives: true }),
  ...bypassRoutes,
];
