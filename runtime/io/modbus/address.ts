/** Modbus channel addresses (decisions 7.4): `table ":" offset [ ":" type [ ":" order ] ] [ "@" unit ]`. */
import type { Value } from '../../vocabulary/data-types.js';
import { type ChannelType, type Direction, type Parsed, parsed, refused } from '../description.js';
import { type IntegerBounds, outsideFloat, outsideInteger } from '../number-bounds.js';
import { type Cell, whole, within } from '../place.js';

export const MODBUS_TABLES = ['coil', 'discrete', 'holding', 'input'] as const;
export type ModbusTable = (typeof MODBUS_TABLES)[number];

/** ABCD, DCBA, BADC, CDAB. */
export const BYTE_ORDERS = ['be', 'le', 'bes', 'les'] as const;
export type ByteOrder = (typeof BYTE_ORDERS)[number];

/** Registers and data type of the fixed types. */
const NUMBER_TYPES = {
  int16: { registers: 1, dataType: 'int' },
  uint16: { registers: 1, dataType: 'int' },
  int32: { registers: 2, dataType: 'int' },
  uint32: { registers: 2, dataType: 'int' },
  int64: { registers: 4, dataType: 'int' },
  uint64: { registers: 4, dataType: 'int' },
  float32: { registers: 2, dataType: 'float' },
  float64: { registers: 4, dataType: 'float' },
} as const;

export type NumberType = keyof typeof NUMBER_TYPES;

/** Bounds of the whole-number types. */
export const INTEGER_BOUNDS: Readonly<Partial<Record<NumberType, IntegerBounds>>> = {
  int16: [-32768n, 32767n],
  uint16: [0n, 65535n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

export interface ModbusAddress {
  readonly table: ModbusTable;
  readonly offset: number;
  readonly type: NumberType | 'bool' | 'string' | 'bit';
  /** Registers, or one bit of coil and discrete. */
  readonly length: number;
  /** Bit number of `bit<n>`. */
  readonly bit: number;
  /** Undefined: the default of the module for numbers, `be` for text. */
  readonly order: ByteOrder | undefined;
  /** Undefined: option `unitId`. */
  readonly unit: number | undefined;
  readonly dataType: ChannelType;
}

type TypePart = Pick<ModbusAddress, 'type' | 'length' | 'bit' | 'dataType'>;

const SHAPE = /^(?<table>[a-z]+):(?<offset>\d{1,5})(?::(?<type>[a-z0-9]+)(?::(?<order>[a-z]+))?)?(?:@(?<unit>\d{1,3}))?$/;

export const isBitTable = (table: ModbusTable): boolean => table === 'coil' || table === 'discrete';

function registerType(word: string): Parsed<TypePart> {
  if (Object.hasOwn(NUMBER_TYPES, word)) {
    const { registers, dataType } = NUMBER_TYPES[word as NumberType];
    return parsed({ type: word as NumberType, length: registers, bit: 0, dataType });
  }
  const [, kind, digits] = /^(string|bit)(\d{1,2})$/.exec(word) ?? [];
  const count = Number(digits);
  if (kind === 'string') {
    if (count < 1 || count > 64) return refused(`${word}: a text has 1 to 64 registers`);
    return parsed({ type: 'string', length: count, bit: 0, dataType: 'string' });
  }
  if (kind === 'bit') {
    if (count > 15) return refused(`${word}: a register has the bits 0 to 15`);
    return parsed({ type: 'bit', length: 1, bit: count, dataType: 'bool' });
  }
  return refused(`type ${word} is not known for a register; known are ${Object.keys(NUMBER_TYPES).join(', ')}, string<n>, bit<n>`);
}

function typeOf(table: ModbusTable, word: string | undefined): Parsed<TypePart> {
  if (!isBitTable(table)) return registerType(word ?? 'uint16');
  if (word !== undefined && word !== 'bool') return refused(`${table} holds bool only, not ${word}`);
  return parsed({ type: 'bool', length: 1, bit: 0, dataType: 'bool' });
}

/** Reads an address, whatever its direction. */
export function parseModbusAddress(text: string): Parsed<ModbusAddress> {
  const part = SHAPE.exec(text)?.groups;
  if (!part) return refused(`${text} is not of the form table:offset[:type[:order]][@unit], for example holding:100:float32:be`);
  const table = MODBUS_TABLES.find((word) => word === part.table);
  if (!table) return refused(`table ${part.table} is not known; known are ${MODBUS_TABLES.join(', ')}`);
  const offset = Number(part.offset);
  const type = typeOf(table, part.type);
  if (!type.ok) return type;
  const span = isBitTable(table) ? 1 : type.value.length;
  if (offset + span > 65536) return refused(`${text} ends behind offset 65535`);
  const order = BYTE_ORDERS.find((word) => word === part.order);
  if (part.order !== undefined && !order) return refused(`order ${part.order} is not known; known are ${BYTE_ORDERS.join(', ')}`);
  if (order && type.value.length < 2) return refused(`${part.type} has one register and takes no order`);
  const unit = part.unit === undefined ? undefined : Number(part.unit);
  if (unit !== undefined && unit > 247) return refused(`unit ${unit} is outside 0 to 247`);
  return parsed({ table, offset, ...type.value, order, unit });
}

/** As `parseModbusAddress`, and an output must stand in a table that can be written. */
export function parseModbusChannel(text: string, direction: Direction): Parsed<ModbusAddress> {
  const address = parseModbusAddress(text);
  if (!address.ok || direction === 'input' || address.value.table === 'coil' || address.value.table === 'holding') return address;
  return refused(`an output needs coil or holding, not ${address.value.table}`);
}

/** The register that says which box drives a device: four holding registers as one whole number. */
export function ownershipPoint(address: string): Parsed<{ readonly address: string; readonly dataType: ChannelType }> {
  const parts = /^(holding:\d{1,5})(?::uint64)?(@\d{1,3})?$/.exec(address);
  if (!parts) return refused(`${address} is no ownership register: name the first of four holding registers, such as holding:900 or holding:900@2`);
  return parsed({ address: `${parts[1]}:uint64${parts[2] ?? ''}`, dataType: 'int' });
}

/** Whether two addresses have a register in common; one that names no unit stands in `unitId`. */
export function overlaps(a: string, b: string, unitId: number): boolean {
  const [one, other] = [parseModbusAddress(a), parseModbusAddress(b)];
  if (!one.ok || !other.ok || one.value.table !== other.value.table || (one.value.unit ?? unitId) !== (other.value.unit ?? unitId)) return false;
  return one.value.offset < other.value.offset + other.value.length && other.value.offset < one.value.offset + one.value.length;
}

/** Why the registers of a channel do not hold the value; '' where they do. */
export function problemOfValue(text: string, value: Value): string {
  const address = parseModbusAddress(text);
  if (!address.ok) return '';
  const { type, length } = address.value;
  if (type === 'float32' || type === 'float64') return outsideFloat(value, type, 2 * length);
  if (type === 'string') return String(value ?? '').length > 2 * length ? `the text has ${String(value).length} characters, ${2 * length} fit` : '';
  const bounds = type === 'bool' || type === 'bit' ? undefined : INTEGER_BOUNDS[type];
  return bounds ? outsideInteger(value, type, bounds) : '';
}

const ALL_UNITS = 0;

/**
 * Its coil, or each of its registers; a bit is a part of its register. One that names no unit stands in `unitId`. On a line that units share, unit 0
 * is a place of each of them (Modbus over Serial Line V1.02, 2.2).
 */
export function cellsOf(text: string, unitId: number, isLine = false): readonly Cell[] {
  const address = parseModbusAddress(text);
  if (!address.ok) return [];
  const { table, offset, length, type, bit, unit = unitId } = address.value;
  const at = (register: number, of: number | string = unit): string => `${table}@${of}:${register}`;
  const own = type === 'bit' ? [within(at(offset)), whole(`${at(offset)}.${bit}`)] : Array.from({ length }, (_, index) => whole(at(offset + index)));
  if (!isLine) return own;
  const ofAll = Array.from({ length }, (_, index) => at(offset + index, 'all'));
  return unit === ALL_UNITS ? [...own, ...ofAll.map((cell) => whole(cell))] : [...own, ...ofAll.map((cell) => within(cell))];
}
