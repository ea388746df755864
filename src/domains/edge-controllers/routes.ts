/** Routes of controllers (contract 3, Controller; rules CTRL, HIER): writes need admin, a create answers the name alone. */
import * as v from 'valibot';
import { crudRoutes } from '../../platform/http/crud.js';
import { ControllerBody, controllerBody } from './dto.js';
import { controllerRules } from './rules.js';

export const controllerRoutes = crudRoutes(controllerRules, {
  read: 'read',
  write: 'admin',
  dto: controllerBody,
  reply: ControllerBody,
  derives: true,
  createdBody: ({ metadata }) => ({ name: metadata.name }),
  createdReply: v.strictObject({ name: v.string() }),
});
