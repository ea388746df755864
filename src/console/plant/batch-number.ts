import { batches } from '../data/plant.js';

/** The number people know a batch by; the name itself of what is no batch, or of one that this page has not read. */
export function batchNumber(name: string): string {
  return batches.value.find((batch) => batch.name === name)?.batchID ?? name;
}
