/** A batch that is made at the panel, and a pending one that is changed or withdrawn. */
import { compute, getAll, post, put, remove } from './api.js';
import { select } from './batch.js';
import { atSite, readBatchesSoon } from './plant.js';
import type { BatchDetail, MasterRecipe, PreflightAnswer } from './types.js';

export interface NewBatch {
  readonly batchID: string;
  readonly masterRecipeRef: string;
  readonly formulaName: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  readonly priority: number;
  readonly lotID: string;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  readonly equipment: Readonly<Record<string, string>>;
}

/** Only what is effective makes batches. */
export async function readRecipes(): Promise<readonly MasterRecipe[]> {
  const all = await getAll<MasterRecipe>(atSite('recipes/master?limit=200'), { background: true });
  return all.filter(({ phase }) => phase === 'Effective');
}

export function preflightOfNew(batch: NewBatch): Promise<PreflightAnswer> {
  return compute<PreflightAnswer>(atSite('batches/preflight'), batch, { background: true });
}

export async function createBatch(batch: NewBatch): Promise<void> {
  const { name } = await post<BatchDetail>(atSite('batches'), batch);
  readBatchesSoon();
  select(name);
}

export async function setPriority(name: string, priority: number): Promise<void> {
  await put(atSite(`batches/${encodeURIComponent(name)}`), { priority });
  readBatchesSoon();
}

export async function withdrawBatch(name: string): Promise<void> {
  await remove(atSite(`batches/${encodeURIComponent(name)}`));
  readBatchesSoon();
}
