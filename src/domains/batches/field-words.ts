/** What the fields of a batch mean (contract 3, Batches; decisions 1.7). */
import { DESCRIPTION } from '../../platform/store/field-words.js';

export const BATCH_PARAMETER_WORDS = {
  name: ['Parameter of the formula.', 'monomer'],
  value: ['Its value in this batch, as text.', '260'],
} as const;

export const BATCH_WORDS = {
  ...DESCRIPTION,
  batchID: ['Number of the batch, once in the site, at most 128 characters.', 'B-2041'],
  masterRecipeRef: ['Name of the master recipe. It must be Effective when the batch starts.', 'resin-a'],
  formulaName: ['Formula of the recipe. Empty: its default one.', 'standard'],
  quantity: ['How much is made, a number in text. Empty: the nominal batch size of the recipe.', '1000'],
  engineeringUnit: ['Engineering unit of the quantity. Empty: that of the recipe.', 'kg'],
  priority: 'Which batch comes first where several wait for a unit, 0 to 1000; a larger one is more urgent.',
  parameters: 'Values of the formula that differ in this batch.',
  equipment: ['Units by the capabilities that the recipe names. Left out: as the recipe says.', { reactor: 'reactor-1' }],
  scheduledStartTime: ['When the batch should start, a time with its zone. Nothing starts by itself. Empty: nothing is said.', '2026-01-31T09:05:07Z'],
  workOrderID: 'Work order that it belongs to. The MES sets it.',
  lotID: ['Lot that the batch makes. Empty: the batch ID.', 'L-2041'],
  mode: 'Mode in which the batch begins. Empty: Automatic.',
} as const;
