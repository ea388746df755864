/** What the fields of a master recipe mean (contract 3, Recipes; decisions 1.7). */
import { DESCRIPTION } from '../../platform/store/field-words.js';

const UNIT = { engineeringUnit: ['Engineering unit.', 'kg'] } as const;

export const FORMULA_PARAMETER_WORDS = {
  ...UNIT,
  name: ['Name of the parameter. Steps of the recipe take it by this name.', 'monomer'],
  value: ['Its value as text.', '250', 'TRUE'],
  description: 'What the parameter is, for people.',
  lowValueLimit: ['Lowest value that a batch may ask for, a number in text. Empty: no limit.', '200'],
  highValueLimit: ['Highest value that a batch may ask for, a number in text. Empty: no limit.', '300'],
  lowTolerance: ['How far below it the measured value may be, a number in text, for people. Nothing is checked by it.', '2'],
  highTolerance: ['How far above it the measured value may be, a number in text, for people. Nothing is checked by it.', '2'],
  scaled: 'True: the value is multiplied with the quantity of the batch over the nominal batch size.',
} as const;

export const FORMULA_WORDS = {
  ...DESCRIPTION,
  name: ['Name of the formula, once in the recipe.', 'standard'],
  default: 'True: a batch that names no formula takes this one.',
  parameters: 'The values of the formula.',
} as const;

export const DOCUMENT_WORDS = {
  name: 'Title of the document.',
  type: 'SDS: safety data sheet; SOP: operating procedure; Specification; Diagram.',
  url: ['Where it stands.', 'https://docs.example/sop-12'],
  id: ['Number of the document.', 'SOP-12'],
} as const;

export const PROPERTY_REQUIREMENT_WORDS = {
  ...UNIT,
  name: ['Name of the property of the unit.', 'material'],
  value: ['Text that the property must be. Left out: any.', 'stainless'],
  min: ['Lowest value that the property may have, a number in text.', '2'],
  max: ['Highest value that the property may have, a number in text.', '10'],
} as const;

export const EQUIPMENT_REQUIREMENT_WORDS = {
  ...DESCRIPTION,
  capability: ['Capability that the chart names.', 'reactor'],
  defaultUnit: ['Unit that is taken where the batch names none. Empty: any of the class.', 'reactor-1'],
  defaultUnitOnly: 'True: no other unit than the default unit is taken.',
  candidates: ['Units that may be taken. Left out: all that have the capability.', ['reactor-1', 'reactor-2']],
  candidatePolicy: 'In which order the units are tried. Left out: least-recently-used.',
  volumeMin: ['Least value of the property volume, a number in text in the engineering unit that the unit has there.', '6'],
  properties: 'What the unit must say of itself.',
} as const;

export const SUPERSEDES_WORDS = {
  name: ['Name of the recipe.', 'resin-a'],
  version: ['Its version.', '1.4.0'],
} as const;

export const BATCH_SIZE_WORDS = {
  ...UNIT,
  nominal: ['Quantity that the formulas are written for, a number in text. Empty: nothing is scaled.', '1000'],
  min: ['Least quantity of a batch, a number in text. Empty: no limit.', '500'],
  max: ['Greatest quantity of a batch, a number in text. Empty: no limit.', '1200'],
} as const;

export const OLD_FORMULA_WORDS = { parameters: 'The values of the formula.' } as const;
export const RECIPE_PROCEDURE_WORDS = { chart: 'The unit procedures of the recipe, and how they follow each other.' } as const;

export const COORDINATION_REF_WORDS = { kind: 'Kind of the pattern.', name: 'Name of the pattern.' } as const;

export const OTHER_INFORMATION_WORDS = {
  safetyNotes: 'What to mind for safety.',
  regulatoryNotes: 'What authorities ask for.',
  operatorInstructions: 'What operators should know before they begin.',
  documentReferences: 'Documents that belong to the recipe.',
} as const;

export const MASTER_RECIPE_WORDS = {
  ...DESCRIPTION,
  productID: ['Product that the recipe makes. Product and version are unique in the site.', 'RES-A'],
  productName: ['Name of the product, for people.', 'Resin A'],
  version: ['Version, major.minor.patch.', '1.0.0'],
  supersedes: 'Version in whose place this one was made. It has no effect.',
  batchSize: 'Quantity that the recipe makes.',
  equipmentRequirements: 'What is asked of the units, by the capabilities that the chart names.',
  formulas: 'Sets of values, of which a batch takes one.',
  formula: 'Taken in the place of formulas, as one default formula named standard.',
  procedure: 'What is done. A recipe without steps cannot be started.',
  coordinationRefs: 'Patterns of coordination of which each batch gets copies.',
  allocation: 'AtStart: the batch takes all its units when it starts. OnDemand: it takes a unit when its unit procedure begins.',
  holdPropagation: 'How far the hold of a failed phase reaches. Left out: the setting batch.holdPropagation.',
  onPhaseFailure: 'Hold: work around an aborted phase is held. Fail: the batch is aborted and Failed.',
  otherInformation: 'What people should know of the recipe.',
} as const;
