/** What a start refuses of the role table and of the settings that name its groups, for who asks before it. */
import { Roles } from '../domains/access/roles.js';
import type { Settings } from '../settings.js';
import { everyRow } from './reference.js';

/** @throws RoleTableError naming an unknown action, tier or group. */
export function checkRoles({ groupPrefix, roles, rolesMode, secondFactorRequiredFor }: Settings): void {
  const table = new Roles(groupPrefix, roles, rolesMode, everyRow(), { exists: () => false, names: () => [], groupRequired: false });
  table.checkRequiring(secondFactorRequiredFor);
}
