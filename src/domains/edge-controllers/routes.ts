/** Routes of controllers (contract 3, Controller; rules CTRL, HIER): writes need admin, a create answers the name alone. */
import { crudRoutes } from '../../platform/http/crud.js';
import type { Route } from '../../platform/http/route.js';
import { controllerBody } from './dto.js';
import { Controller } from './kind.js';

/** Needs `{ store }`. */
export const controllerRoutes: readonly Route[] = crudRoutes(Controller, {
  read: 'read',
  write: 'admin',
  dto: controllerBody,
  derives: true,
  createdBody: ({ metadata }) => ({ name: metadata.name }),
});
