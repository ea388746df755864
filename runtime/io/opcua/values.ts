/** Values of OPC UA (OPC 10000-6, 5.1.2) to and from channels: what the server says its type is, not what we would like. */
import type { DataType as DataTypes, DataValue, Variant as OpcVariant } from 'node-opcua-client';
import type { Value } from '../../vocabulary/data-types.js';
import type { ChannelType } from '../description.js';
import { DataType, Variant, VariantArrayType } from './library.js';
import { severityOf, statusText } from './status.js';

export type OpcDataType = DataTypes;

/** A decoded value, or the sentence why there is none. */
export type Decoded =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bad'; readonly message: string };

const bad = (message: string): Decoded => ({ kind: 'bad', message });
const number = (value: number): Decoded => ({ kind: 'number', value });

const WIDTHS: Readonly<Record<number, readonly [min: bigint, max: bigint]>> = {
  2: [-128n, 127n],
  3: [0n, 255n],
  4: [-32_768n, 32_767n],
  5: [0n, 65_535n],
  6: [-2_147_483_648n, 2_147_483_647n],
  7: [0n, 4_294_967_295n],
  8: [-(2n ** 63n), 2n ** 63n - 1n],
  9: [0n, 2n ** 64n - 1n],
};
const INT64 = 8;
const UINT64 = 9;
const FIRST_INTEGER = 2;
const LAST_INTEGER = 9;

/** The library holds 64 bits as two words, the high one first. */
function wide(words: unknown, isSigned: boolean): bigint {
  const [high, low] = words as readonly [number, number];
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  return isSigned ? BigInt.asIntN(64, bits) : bits;
}

function words(value: bigint): [number, number] {
  const bits = BigInt.asUintN(64, value);
  return [Number(bits >> 32n), Number(bits & 0xffffffffn)];
}

/** The one element that an index range names arrives as an array of it. */
function scalarOf({ arrayType, value }: OpcVariant, isElement: boolean): { readonly value: unknown } | string {
  if (arrayType === VariantArrayType.Scalar) return { value };
  const { length } = value as ArrayLike<unknown>;
  if (isElement && length === 1) return { value: (value as ArrayLike<unknown>)[0] };
  return isElement ? `the server delivers ${length} elements for one` : `the value is an array of ${length}; one element is addressed with |<index>`;
}

const wrongType = (channel: ChannelType, delivered: DataTypes, fit: string): Decoded =>
  bad(`the channel is ${channel}, but the server delivers ${DataType[delivered]}${fit === '' ? '' : `; dataType ${fit} fits it`}`);

/** The channel type that carries a data type of the server; undefined where none does. */
export function channelTypeOf(dataType: DataTypes): ChannelType | undefined {
  if (dataType === DataType.Boolean) return 'bool';
  if (dataType >= FIRST_INTEGER && dataType <= LAST_INTEGER) return 'int';
  if (dataType === DataType.Float || dataType === DataType.Double) return 'float';
  return TEXT_TYPES.has(dataType) ? 'string' : undefined;
}

const TEXT_TYPES: ReadonlySet<DataTypes> = new Set([
  DataType.String,
  DataType.DateTime,
  DataType.Guid,
  DataType.XmlElement,
  DataType.NodeId,
  DataType.QualifiedName,
  DataType.LocalizedText,
  DataType.StatusCode,
]);

function textOf(value: unknown, dataType: DataTypes): string {
  if (value === null || value === undefined) return '';
  if (dataType === DataType.DateTime) return (value as Date).toISOString();
  if (dataType === DataType.LocalizedText) return String((value as { text?: string | null }).text ?? '');
  if (dataType === DataType.QualifiedName) return String((value as { name?: string | null }).name ?? '');
  return String(value);
}

/** A value as a channel of the type takes it. Its status is somebody else's business. */
export function decode({ value: variant }: Pick<DataValue, 'value'>, channel: ChannelType, isElement: boolean): Decoded {
  if (!variant || variant.dataType === DataType.Null || variant.value === null || variant.value === undefined) return bad('the server has no value');
  const scalar = scalarOf(variant, isElement);
  if (typeof scalar === 'string') return bad(scalar);
  const { dataType } = variant;
  const fit = channelTypeOf(dataType);
  if (fit === undefined) return bad(`the server delivers ${DataType[dataType]}, which no channel type carries`);
  if (channel === 'float' && fit === 'int') return number(dataType === INT64 || dataType === UINT64 ? Number(wide(scalar.value, dataType === INT64)) : Number(scalar.value));
  if (channel !== fit) return wrongType(channel, dataType, fit);
  switch (fit) {
    case 'bool':
      return number(scalar.value ? 1 : 0);
    case 'float':
      return Number.isFinite(scalar.value) ? number(scalar.value as number) : bad('the server delivers a number that is not finite');
    case 'int': {
      if (dataType !== INT64 && dataType !== UINT64) return number(scalar.value as number);
      const whole = wide(scalar.value, dataType === INT64);
      const plain = Number(whole);
      return Number.isSafeInteger(plain) ? number(plain) : { kind: 'integer', value: whole };
    }
    case 'string':
      return { kind: 'text', value: textOf(scalar.value, dataType) };
  }
}

/** What of a status code stands beside a value: '' when it is Good. */
export function reservation({ statusCode }: Pick<DataValue, 'statusCode'>): { readonly isBad: boolean; readonly message: string } {
  const severity = severityOf(statusCode);
  return { isBad: severity === 'Bad', message: severity === 'Good' ? '' : statusText(statusCode) };
}

// ---------------------------------------------------------------- writing

function bigOf(value: Value): bigint | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  const text = String(value ?? '').trim();
  if (/^[+-]?\d{1,25}$/.test(text)) return BigInt(text.replace(/^\+/, ''));
  const plain = text === '' ? Number.NaN : Number(text);
  return Number.isSafeInteger(plain) ? BigInt(plain) : undefined;
}

function boolOf(value: Value): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value === 0 ? false : value === 1 ? true : undefined;
  const word = String(value ?? '')
    .trim()
    .toLowerCase();
  return word === 'true' || word === '1' ? true : word === 'false' || word === '0' ? false : undefined;
}

function floatOf(value: Value): number | undefined {
  const plain = typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : typeof value === 'boolean' ? Number(value) : Number.NaN;
  return Number.isFinite(plain) ? plain : undefined;
}

const FLOAT_MAX = 3.4028234663852886e38;

/** The value in the server's own type, as the library takes it; undefined when it does not convert. */
function scalarFor(value: Value, dataType: DataTypes): unknown {
  if (dataType >= FIRST_INTEGER && dataType <= LAST_INTEGER) {
    const whole = bigOf(value);
    const [min, max] = WIDTHS[dataType] ?? [0n, -1n];
    if (whole === undefined || whole < min || whole > max) return undefined;
    return dataType === INT64 || dataType === UINT64 ? words(whole) : Number(whole);
  }
  switch (dataType) {
    case DataType.Boolean:
      return boolOf(value);
    case DataType.Float: {
      const plain = floatOf(value);
      return plain !== undefined && Math.abs(plain) <= FLOAT_MAX ? plain : undefined;
    }
    case DataType.Double:
      return floatOf(value);
    case DataType.String:
      return value === null ? undefined : String(value);
    case DataType.LocalizedText:
      return value === null ? undefined : { text: String(value) };
    case DataType.DateTime: {
      const date = new Date(String(value));
      return Number.isNaN(date.getTime()) ? undefined : date;
    }
    case DataType.Guid:
      return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(value)) ? String(value) : undefined;
    default:
      return undefined;
  }
}

/** @returns the sentence instead when the value does not convert. */
export function encode(value: Value, dataType: DataTypes, isElement: boolean): OpcVariant | string {
  const scalar = scalarFor(value, dataType);
  if (scalar === undefined) return `${JSON.stringify(value)} is no ${DataType[dataType] ?? 'value'} of the server`;
  return isElement ? new Variant({ dataType, arrayType: VariantArrayType.Array, value: [scalar] }) : new Variant({ dataType, arrayType: VariantArrayType.Scalar, value: scalar });
}

/** For an argument whose type nobody tells. */
export function encodeFreely(value: Value): OpcVariant {
  if (value === null) return new Variant({ dataType: DataType.Null });
  if (typeof value === 'boolean') return new Variant({ dataType: DataType.Boolean, value });
  if (typeof value === 'string') return new Variant({ dataType: DataType.String, value });
  return new Variant({ dataType: DataType.Double, value });
}

// ---------------------------------------------------------------- showing

const ELEMENTS_MAX = 1000;

function shownScalar(value: unknown, dataType: DataTypes): unknown {
  if (value === null || value === undefined) return null;
  if (dataType === INT64 || dataType === UINT64) {
    const whole = wide(value, dataType === INT64);
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole.toString();
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (TEXT_TYPES.has(dataType)) return textOf(value, dataType);
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** A value of any type as JSON carries it: 64 bits beyond 2^53 and what is no JSON as text, long arrays cut. */
export function shown(variant: OpcVariant | null | undefined): unknown {
  if (!variant || variant.dataType === DataType.Null) return null;
  const { arrayType, dataType, value } = variant;
  if (arrayType === VariantArrayType.Scalar) return shownScalar(value, dataType);
  return Array.from((value ?? []) as ArrayLike<unknown>)
    .slice(0, ELEMENTS_MAX)
    .map((element) => shownScalar(element, dataType));
}

/** A value as a message of the port carries it: what is no scalar as JSON text. */
export function plainValue(variant: OpcVariant | null | undefined): Value {
  const value = shown(variant);
  return value === null || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? value : JSON.stringify(value);
}
