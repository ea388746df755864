/** Routes of controllers (contract 3, Controller; rules CTRL, HIER): writes need admin, a create answers the name alone. */
import { crudRoutes } from '../../platform/http/crud.js';
import { controllerBody } from './dto.js';
import { controllerRules } from './rules.js';

export const controllerRoutes = crudRoutes(controllerRules, {
  read: 'read',
  write: 'admin',
  dto: controllerBody,
  derives: true,
  createdBody: ({ metadata }) => ({ name: metadata.name }),
});
