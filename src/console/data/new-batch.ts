/** A batch that is made at the panel, and a pending one that is changed or withdrawn. */
import { compute, get, getAll, post, put, remove } from './api.js';
import { select } from './batch.js';
import { atSite, readBatchesSoon, site } from './plant.js';
import { can } from './session.js';
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

/** Of a batch that waits, and of one that is held its units, with the reason. */
export type BatchChange = Partial<Pick<NewBatch, 'quantity' | 'lotID' | 'parameters' | 'equipment'>> & { readonly reason?: string };

export function readRecipe(name: string): Promise<MasterRecipe> {
  return get<MasterRecipe>(atSite(`recipes/master/${encodeURIComponent(name)}`), { background: true });
}

export async function changeBatch(name: string, change: BatchChange): Promise<void> {
  await put(atSite(`batches/${encodeURIComponent(name)}`), change);
  readBatchesSoon();
}

export async function setPriority(name: string, priority: number): Promise<void> {
  await put(atSite(`batches/${encodeURIComponent(name)}`), { priority });
  readBatchesSoon();
}

type Withdrawn = Pick<BatchDetail, 'name' | 'workOrderID'>;

/** An operator withdraws what the MES has ordered; what was made at the plant whoever may delete batches. */
export function mayWithdraw({ workOrderID }: Withdrawn): boolean {
  return can('batch:delete') || (workOrderID !== '' && can('mes:delete-work-order'));
}

export async function withdrawBatch({ name, workOrderID }: Withdrawn): Promise<void> {
  const order = `/api/v1/mes/sites/${encodeURIComponent(site.peek())}/work-orders/${encodeURIComponent(workOrderID)}`;
  await remove(can('batch:delete') ? atSite(`batches/${encodeURIComponent(name)}`) : order);
  readBatchesSoon();
}
