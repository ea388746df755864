/** A batch by what a person calls it: its batchID, the name of its resource, or the work order that it was made for. */
import type { Answered, Call } from '../../client/typed.js';
import type { Box } from './box.js';
import { CommandError, EXIT } from './outcome.js';

export type BatchItem = Answered<'/api/v1/sites/{site}/batches', 'get'>[number];

type ListQuery = NonNullable<Call<'/api/v1/sites/{site}/batches', 'get'>['query']>;

export interface NamedBatch {
  readonly site: string;
  /** Of the resource. */
  readonly name: string;
}

const NEAR_MAX = 5;

/** @throws CommandError where there is none, or several. */
export async function findBatch(box: Box, id: string): Promise<NamedBatch> {
  const site = await box.site();
  const ask = (query: ListQuery) => box.typed.get('/api/v1/sites/{site}/batches', { path: { site }, query });
  // a batchID is given once, the name of a resource too; a work order may have been made into several batches
  for (const [query, says] of [
    [{ batchID: id }, ({ batchID }: BatchItem) => batchID],
    [{ name: [id] as string[] }, ({ name }: BatchItem) => name],
    [{ workOrderID: id }, ({ workOrderID }: BatchItem) => workOrderID],
  ] as const) {
    if (id === '') break;
    const [only, ...others] = (await ask(query)).filter((batch) => says(batch) === id);
    if (only && others.length === 0) return { site, name: only.name };
    if (only) {
      const names = [only, ...others].map(({ name, phase }) => `${name} (${phase})`);
      throw new CommandError(EXIT.usage, 'ambiguous', `${id} means ${names.length} batches: name one of ${names.join(', ')}`, {
        batches: [only, ...others].map(({ name }) => name),
      });
    }
  }
  const found = await ask({ search: id, order: 'recent', limit: NEAR_MAX });
  const near = found.map((batch) => batch.batchID);
  const hint = near.length === 0 ? 'lineside batch list tells which there are' : `did you mean ${near.join(' or ')}?`;
  throw new CommandError(EXIT.refused, 'not_found', `there is no batch ${id} in ${site}; ${hint}`, { status: 404 });
}

/** For the completion of a shell: those that have not ended, or all. */
export async function batchIDs(box: Box, { onlyOpen }: { readonly onlyOpen: boolean }): Promise<readonly string[]> {
  const site = await box.site();
  const found = await box.typed.get('/api/v1/sites/{site}/batches', { path: { site }, query: { order: 'recent', limit: COMPLETED_MAX } });
  return found.filter(({ endedAt }) => !onlyOpen || endedAt === '').map((batch) => batch.batchID);
}

const COMPLETED_MAX = 100;
