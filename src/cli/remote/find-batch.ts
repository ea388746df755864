/** A batch by what a person calls it: its batchID, the name of its resource, or the work order that it was made for. */
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { CommandError, EXIT } from './outcome.js';

export type BatchItem = Answered<'/api/v1/sites/{site}/batches', 'get'>[number];

export interface NamedBatch {
  readonly site: string;
  /** Of the resource. */
  readonly name: string;
}

const NEAR_MAX = 5;

/** @throws CommandError where there is none, or several. */
export async function findBatch(box: Box, id: string): Promise<NamedBatch> {
  const site = await box.site();
  const found = await box.typed.all('/api/v1/sites/{site}/batches', { path: { site }, query: { search: id } });
  // a batchID is given once, the name of a resource too; a work order may have been made into several batches
  for (const says of [batchID, resourceName, workOrder]) {
    const [only, ...others] = found.filter((batch) => says(batch) === id);
    if (only && others.length === 0) return { site, name: only.name };
    if (only) {
      const names = [only, ...others].map(({ name, phase }) => `${name} (${phase})`);
      throw new CommandError(EXIT.usage, 'ambiguous', `${id} means ${names.length} batches: name one of ${names.join(', ')}`, {
        batches: [only, ...others].map(({ name }) => name),
      });
    }
  }
  const near = found.slice(0, NEAR_MAX).map((batch) => batch.batchID);
  const hint = near.length === 0 ? 'lineside batch list tells which there are' : `did you mean ${near.join(' or ')}?`;
  throw new CommandError(EXIT.refused, 'not_found', `there is no batch ${id} in ${site}; ${hint}`, { status: 404 });
}

const batchID = (batch: BatchItem): string => batch.batchID;
const resourceName = (batch: BatchItem): string => batch.name;
const workOrder = (batch: BatchItem): string => batch.workOrderID;

/** For the completion of a shell: those that have not ended, or all. */
export async function batchIDs(box: Box, { onlyOpen }: { readonly onlyOpen: boolean }): Promise<readonly string[]> {
  const site = await box.site();
  const found = await box.typed.get('/api/v1/sites/{site}/batches', { path: { site }, query: { order: 'recent', limit: COMPLETED_MAX } });
  return found.filter(({ endedAt }) => !onlyOpen || endedAt === '').map((batch) => batch.batchID);
}

const COMPLETED_MAX = 100;
