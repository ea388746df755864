/** Every remote command, in the order of its help. */
import type { CommandRow } from './command.js';
import { LOGIN_COMMANDS } from './login.js';
import { PLANT_COMMANDS } from './plant.js';
import { RESOURCE_COMMANDS } from './resources.js';

export const COMMANDS: readonly CommandRow[] = [...LOGIN_COMMANDS, ...RESOURCE_COMMANDS, ...PLANT_COMMANDS];
