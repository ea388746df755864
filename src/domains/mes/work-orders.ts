/**
 * Work orders (contract 1, Rules 1 to 4; decisions Q-MES-01 to Q-MES-13): a batch that waits for an operator. An order needs
 * no resource of its own: it is the batch, with the request as first submitted in its status.
 */
import * as v from 'valibot';
import { nearest } from '../../platform/base/nearest.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import { isInstantText } from '../../platform/base/instant.js';
import { isNumberText, LABEL_TEXT } from '../../platform/store/fields.js';
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { checkBatch, checkEquipment } from '../batches/creation/creation.js';
import { type Allocation, Batch, type BatchSpec, type BatchStatus, type ListedBatch } from '../batches/kind.js';
import { listedBatch, pastBatchesOfOrder } from '../batches/reading/list.js';
import { batchParameters, checkQuantity, identifierKey } from '../batches/creation/parameters.js';
import { resolveEquipment } from '../batches/start/equipment.js';
import { MasterRecipe } from '../recipes/kind.js';
import { batchSpecOf, type CompleteRequest, completeRequest, differingFields, type OrderRequest } from './rules.js';
import { freeMap } from '../../platform/store/free-map.js';

export type BatchResource = Resource<BatchSpec, BatchStatus>;

const Instant = v.pipe(
  v.string(),
  v.check((text) => text === '' || isInstantText(text), 'must be a time such as 2026-01-31T09:05:07Z'),
);
const Given = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

export const OrderBody = v.strictObject({
  workOrderID: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(128, 'must be at most 128 characters'),
    v.regex(LABEL_TEXT, 'must not contain control characters'),
  ),
  productDefinition: Given,
  quantity: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text === '' || (isNumberText(text) && Number(text) > 0), 'must be a decimal number greater than 0'),
    ),
  ),
  engineeringUnit: v.optional(v.string()),
  priority: v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be at least 0'), v.maxValue(1000, 'must be at most 1000'))),
  parameters: v.optional(v.array(v.strictObject({ name: v.pipe(v.string(), v.minLength(1, 'must not be empty')), value: v.string() }))),
  requestedEquipment: v.optional(freeMap(v.string())),
  description: v.optional(v.string()),
  scheduledStartTime: v.optional(v.nullable(Instant)),
});

nameSchemas({ WorkOrderBody: OrderBody });

/** @throws Refusal 400 for a parameter that is named twice. */
export function orderRequest(body: v.InferOutput<typeof OrderBody>): OrderRequest {
  const { scheduledStartTime, ...request } = body;
  const names = new Set<string>();
  (body.parameters ?? []).forEach(({ name }, at) => {
    if (names.has(identifierKey(name))) throw invalid('invalid_field', `parameters[${at}].name`, `parameter ${name} is given twice`);
    names.add(identifierKey(name));
  });
  return { ...request, ...(scheduledStartTime ? { scheduledStartTime } : {}) };
}

/** The batches of an order's ID, a work order before a local batch, the older first (decisions Q-MES-11, Q-MES-12). */
export function findOrder(read: StoreReader, site: string, id: string): ListedBatch | undefined {
  const [found] = [...read.list(Batch, site).filter((batch) => orderIdOf(batch) === id), ...pastBatchesOfOrder(read, site, id)].sort(
    (a, b) => Number(isLocal(a)) - Number(isLocal(b)) || older(a, b),
  );
  return found;
}

/** @throws Refusal 404. */
export function requireOrder(read: StoreReader, site: string, id: string): ListedBatch {
  const order = findOrder(read, site, id);
  if (!order) throw missing('work order', id);
  return order;
}

export function isLocal(batch: ListedBatch): boolean {
  return batch.status.workOrder === undefined;
}

export function orderIdOf({ spec, metadata, status }: ListedBatch): string {
  if (status.workOrder) return String(status.workOrder.request.workOrderID);
  return spec.batchID || metadata.name;
}

function older(a: ListedBatch, b: ListedBatch): number {
  if (a.metadata.createdAt !== b.metadata.createdAt) return a.metadata.createdAt < b.metadata.createdAt ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Quantity and unit that a request leaves to the recipe (decisions Q-MES-01). */
export function completed(read: StoreReader, site: string, request: OrderRequest): CompleteRequest {
  const size = read.get(MasterRecipe, site, request.productDefinition)?.spec.batchSize;
  return completeRequest(request, { quantity: size?.nominal ?? '', engineeringUnit: size?.engineeringUnit ?? '' });
}

/** @throws Refusal 409 `work_order_mismatch` naming the fields that differ. */
export function refuseDifferent(order: BatchResource, again: CompleteRequest): void {
  // a batch keeps it and does not know its form, which is ours
  const fields = differingFields(order.status.workOrder?.request as unknown as CompleteRequest, again);
  const [field] = fields;
  if (field === undefined) return;
  throw conflict('work_order_mismatch', `work order ${again.workOrderID} exists with a different ${field}`, { field, fields });
}

const NAMED_MAX = 10;

/** Which one was probably meant, and which there are. */
function othersThan(read: StoreReader, site: string, given: string): string {
  const names = read.list(MasterRecipe, site).flatMap(({ metadata, status }) => (status.phase === 'Effective' ? [metadata.name] : []));
  if (names.length === 0) return '; no recipe of the site is Effective';
  const near = nearest(given, names);
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `; ${near === undefined ? '' : `did you mean ${near}? `}Effective are ${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}

/** @throws Refusal 400 for what does not fit the recipe or the plant, 409 for a batchID in use. */
export function checkOrder(read: StoreReader, site: string, name: string, request: CompleteRequest, production: boolean): void {
  const recipe = read.get(MasterRecipe, site, request.productDefinition);
  if (recipe?.status.phase !== 'Effective') {
    throw invalid(
      'unknown_reference',
      'productDefinition',
      `there is no effective product definition ${request.productDefinition}${recipe ? `; the recipe is ${recipe.status.phase}` : othersThan(read, site, request.productDefinition)}`,
    );
  }
  const spec = batchSpecOf(request);
  checkQuantity(recipe.spec, spec.quantity);
  batchParameters(recipe.spec, spec);
  checkEquipment(read, site, recipe.spec, spec.equipment, 'requestedEquipment');
  if (listedBatch(read, site, name)) throw conflict('already_exists', `batch ${name} exists already`, { kind: 'Batch', name });
  checkBatch(read, site, name, spec, production);
}

/** Status of a new order's batch: Pending, holding its equipment allocation request (contract 1, Work order). */
export function orderStatus(store: Store, site: string, request: CompleteRequest, createdBy: string, at: string): BatchStatus {
  const spec = batchSpecOf(request);
  const recipe = store.get(MasterRecipe, site, request.productDefinition);
  const equipment = recipe ? resolveEquipment(store, site, recipe.spec, spec.equipment) : {};
  const allocations = Object.entries(equipment).map(([capability, unit]): Allocation => ({ capability, unit, state: 'Requested', since: at }));
  return { ...Batch.initialStatus(spec), allocations, workOrder: { request: { ...request }, createdBy } };
}
