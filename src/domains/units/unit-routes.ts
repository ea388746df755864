/** Routes of units (contract 3, Physical hierarchy request shapes): read for everybody, write for engineers. */
import { crudRoutes } from '../../platform/http/crud.js';
import type { BlockedWorld } from '../batches/reading/blocked-by.js';
import { refuseUnitEdit, unitRules } from '../plant/rules.js';
import { UnitBody, unitBody } from './unit-dto.js';

export const unitRoutes = [
  ...crudRoutes(unitRules, {
    read: 'read',
    write: 'engineer',
    reply: UnitBody,
    dto: (unit, read, deps: BlockedWorld) => unitBody(unit, read, deps),
    derives: true,
    refuse({ before, spec }) {
      if (before && spec) refuseUnitEdit(before, spec);
    },
  }),
];
