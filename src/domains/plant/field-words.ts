/** What the fields of the physical hierarchy mean (contract 3, Physical hierarchy; decisions 1.5). */
import { DESCRIPTION, SCAN_INTERVAL_EXAMPLES } from '../../platform/store/field-words.js';

export const ENTERPRISE_WORDS = DESCRIPTION;

export const SITE_WORDS = {
  ...DESCRIPTION,
  enterpriseName: ['Name of the enterprise that the site belongs to. Empty: none.', 'acme'],
  location: ['Where the site is, for people.', 'Hall 3, Leuna'],
} as const;

export const AREA_WORDS = DESCRIPTION;

export const PROCESS_CELL_WORDS = { ...DESCRIPTION, areaName: ['Name of the area that the process cell stands in. Empty: none.', 'hall-3'] } as const;

export const AVAILABILITY_WORDS = {
  mode: 'Whether another box may take the unit over: None never, Manual when a person asks for it, Automatic by itself. A box that stands alone has no other to go to.',
  failoverTargets: 'The boxes that may take the unit over: those named and those that the selector finds.',
} as const;

export const FAILOVER_TARGETS_WORDS = {
  nodes: 'Names of boxes that may take the unit over.',
  selector: 'Finds further boxes by their labels.',
} as const;

export const NODE_SELECTOR_WORDS = { matchLabels: ['Labels that a box must have, all of them.', { line: 'a' }] } as const;

export const UNIT_PROPERTY_WORDS = {
  name: ['Name of the property, an identifier. Recipes ask for it by this name.', 'volume', 'material'],
  value: ['Its value as text. A number is compared as a number.', '6.3', 'stainless'],
  engineeringUnit: ['Engineering unit of a value that is a number.', 'm3'],
} as const;

export const PERMISSIVE_WORDS = {
  name: ['Name of the permissive, an identifier. A refused start names the rule permissive-<name>.', 'lid_closed'],
  conditionST: ['Condition in structured text over tags of the unit. Work starts only while it is TRUE.', "READ('lid.closed')"],
  message: ['What the operator is told when it is not met.', 'The lid is open.'],
} as const;

export const ROLE_BINDING_WORDS = {
  role: ['Role that phase templates name, an identifier. Each role once.', 'inlet'],
  controlModule: ['Name of the control module of this unit that plays the role.', 'xv-101'],
} as const;

export const CONNECTION_END_WORDS = {
  unit: ['Name of another unit.', 'tk-201'],
  utility: ['Something outside the units, by the words that the picture shows.', 'Cooling water', 'Drain'],
  part: ['Part of this unit.', 'body', 'jacket'],
  junction: ['Where pipes of this unit meet, an identifier. It needs a connection that leads to it and one that leads from it.', 'header'],
} as const;

export const CONNECTION_WORDS = {
  from: 'Where the pipe comes from: one of unit, utility, part and junction.',
  to: 'Where it leads to: one of unit, utility, part and junction.',
  via: ['Control modules of this unit that stand in the pipe, in the direction of the flow. Each stands in one connection.', ['xv-101', 'fi-101']],
  medium: ['What flows in it.', 'Monomer'],
} as const;

export const LAYOUT_PLACE_WORDS = {
  item: [
    'A control module by its name, vessel, or an end of the connections: from <end>, to <end>, junction <name>. A second one of the same name ends with 2.',
    'xv-101',
    'from Monomer',
  ],
  column: ['Column of the grid, from 0 at the left. A column is 20 pixels of the picture.', 12],
  row: ['Row of the grid, from 0 at the top. A row is 20 pixels of the picture.', 4],
} as const;

export const UNIT_WORDS = {
  ...DESCRIPTION,
  processCellName: ['Name of the process cell that the unit stands in. Empty: none.', 'cell-1'],
  symbolId: ['Vessel that the console draws. Another word, or none, gives the default one; skid draws none.', 'vessel', 'vessel-jacketed', 'kettle'],
  controllerRef: ['Name of the controller that runs the unit. Empty: this box runs it.', 'cabinet-1'],
  mode: 'Mode in which work on the unit begins. Empty: Automatic. Operators change it by the mode route, and a PUT does not.',
  capabilities: ['What the unit can do. Recipes ask for units by these words.', ['reactor', 'mix']],
  roleBindings: 'Which control module plays which role of the phase templates. A role that exactly one module fits needs no entry.',
  scanInterval: ['How often the charts of phases on the unit are scanned: a duration from 10ms to 10s. Empty: 100ms.', ...SCAN_INTERVAL_EXAMPLES],
  availability: 'What happens to the unit when its box fails.',
  runtimeImage: 'Image that runs the unit in a cluster. A box that stands alone does not use it.',
  permissives: 'Conditions that must be TRUE before work on the unit starts.',
  properties: 'What the unit is, for recipes that ask for it: volume, material and the like.',
  connections: 'Pipes of the unit with what stands in them. The picture of the unit is drawn from them.',
  layout: 'Where things stand on the picture. What is not named stands where the console puts it.',
} as const;
