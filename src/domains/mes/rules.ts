/** Decisions of the MES interface that need nothing but values (contract 1, MES; decisions Q-MES-03 to Q-MES-05, Q-MES-19, Q-MES-20). */
import type { BatchSpec } from '../batches/kind.js';
import { identifierKey } from '../batches/creation/parameters.js';
import { isNumberText } from '../../platform/store/fields.js';

export const AVAILABILITIES = ['available', 'inUse', 'unavailable'] as const;
export type Availability = (typeof AVAILABILITIES)[number];

/** Contract 1, Equipment availability derivation. An empty state is that of a unit whose runtime was never seen: Idle. */
const AVAILABILITY_OF_STATE: ReadonlyMap<string, Availability> = new Map(
  Object.entries({
    '': 'available',
    Idle: 'available',
    Complete: 'available',
    Stopped: 'available',
    Aborted: 'available',
    Running: 'inUse',
    Holding: 'inUse',
    Held: 'inUse',
    Pausing: 'inUse',
    Paused: 'inUse',
    Restarting: 'inUse',
    Resetting: 'inUse',
  } as const),
);

export function availabilityOf(state: string, allocatedTo: string): Availability {
  if (allocatedTo !== '') return 'inUse';
  return AVAILABILITY_OF_STATE.get(state) ?? 'unavailable';
}

/** A work order request after parsing; what was left out is undefined. */
export interface OrderRequest {
  readonly workOrderID: string;
  readonly productDefinition: string;
  readonly quantity?: string | undefined;
  readonly engineeringUnit?: string | undefined;
  readonly priority?: number | undefined;
  readonly parameters?: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly requestedEquipment?: Readonly<Record<string, string>> | undefined;
  readonly description?: string | undefined;
  /** RFC 3339 with any offset. */
  readonly scheduledStartTime?: string | undefined;
}

/** The request with the values that omitted fields stand for, and which fields those were. */
export type CompleteRequest = { readonly [Field in keyof OrderRequest]-?: NonNullable<OrderRequest[Field]> } & {
  readonly omitted: readonly string[];
};

export interface RequestDefaults {
  readonly quantity: string;
  readonly engineeringUnit: string;
}

export const PRIORITY_DEFAULT = 100; // decisions Q-MES-30

export function completeRequest(given: OrderRequest, defaults: RequestDefaults): CompleteRequest {
  const request = {
    workOrderID: given.workOrderID,
    productDefinition: given.productDefinition,
    quantity: given.quantity || defaults.quantity,
    engineeringUnit: given.engineeringUnit || defaults.engineeringUnit,
    priority: given.priority ?? PRIORITY_DEFAULT,
    parameters: given.parameters ?? [],
    requestedEquipment: given.requestedEquipment ?? {},
    description: given.description ?? '',
    scheduledStartTime: given.scheduledStartTime ? new Date(given.scheduledStartTime).toISOString() : '',
  };
  return { ...request, omitted: (['quantity', 'engineeringUnit'] as const).filter((field) => !given[field]) };
}

type Compared = Exclude<keyof CompleteRequest, 'workOrderID' | 'omitted'>;

/** In the order in which a difference is named (decisions Q-MES-05). */
const COMPARED: readonly { readonly field: Compared; readonly same: (a: CompleteRequest, b: CompleteRequest) => boolean }[] = [
  { field: 'productDefinition', same: (a, b) => a.productDefinition === b.productDefinition },
  { field: 'parameters', same: (a, b) => sameMap(byName(a.parameters), byName(b.parameters), sameValue) },
  { field: 'requestedEquipment', same: (a, b) => sameMap(a.requestedEquipment, b.requestedEquipment, (x, y) => x === y) },
  { field: 'priority', same: (a, b) => a.priority === b.priority },
  { field: 'description', same: (a, b) => a.description === b.description },
  { field: 'scheduledStartTime', same: (a, b) => a.scheduledStartTime === b.scheduledStartTime },
  { field: 'quantity', same: (a, b) => sameOmission(a, b, 'quantity') || sameValue(a.quantity, b.quantity) },
  { field: 'engineeringUnit', same: (a, b) => sameOmission(a, b, 'engineeringUnit') || a.engineeringUnit === b.engineeringUnit },
];

/** Fields in which a resubmission differs from the request as first submitted; empty when it is identical. */
export function differingFields(first: CompleteRequest, again: CompleteRequest): Compared[] {
  return COMPARED.filter(({ same }) => !same(first, again)).map(({ field }) => field);
}

/** Left out both times it means the same, whatever has become of the recipe in between. */
function sameOmission(a: CompleteRequest, b: CompleteRequest, field: string): boolean {
  return a.omitted.includes(field) && b.omitted.includes(field);
}

/** Numbers as decimals, so that `10` equals `10.0`; other text exactly. */
function sameValue(a: string, b: string): boolean {
  return a === b || (isNumberText(a) && isNumberText(b) && decimalOf(a) === decimalOf(b));
}

/** Sign, digits without leading and trailing zeros, exponent: exact where binary numbers would round. */
function decimalOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${mantissa.startsWith('-') ? '-' : ''}${trimmed}e${scale}`;
}

function byName(parameters: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(parameters.map(({ name, value }) => [identifierKey(name), value]));
}

function sameMap(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>, same: (x: string, y: string) => boolean): boolean {
  const others = new Map(Object.entries(b));
  return (
    Object.keys(a).length === others.size &&
    Object.entries(a).every(([name, value]) => {
      const other = others.get(name);
      return other !== undefined && same(value, other);
    })
  );
}

/** What a work order asks of its batch. */
export function batchSpecOf(request: CompleteRequest): BatchSpec {
  return {
    batchID: request.workOrderID,
    masterRecipeRef: request.productDefinition,
    formulaName: '',
    quantity: request.quantity,
    engineeringUnit: request.engineeringUnit,
    priority: request.priority,
    parameters: request.parameters.map(({ name, value }) => ({ name, value })),
    equipment: { ...request.requestedEquipment },
    description: request.description,
    scheduledStartTime: request.scheduledStartTime,
    workOrderID: request.workOrderID,
    lotID: request.workOrderID,
    mode: '',
  };
}
