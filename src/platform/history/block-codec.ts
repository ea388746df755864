/**
 * The bytes of one sample block: what the historian keeps of one tag for 600 samples or 10 minutes. Lossless, bit for bit.
 *
 * Process values are mostly numbers that somebody rounded: raw counts through a linear scaling, or a few decimals. A block
 * whose values are exactly that is kept as differences of whole numbers (measured 1.05 bytes per sample for a 12-bit
 * converter, 1.76 for two decimals); anything else is byte-shuffled and deflated.
 *
 * Layout: format, sample count, times, codes, values. Times are differences of differences from the t0 beside the block,
 * codes (quality, and whether there is a value) run lengths.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { assert } from '../base/assert.js';
import { ByteReader, ByteWriter } from './byte-buffer.js';

const FORMAT = 1;
const TIME = { runs: 0, nibbles: 1, varints: 2 } as const;
const VALUE = { decimals: 0, scaled: 1, bits: 2, shuffled: 3 } as const;
const DECIMALS_MAX = 6;
const WHOLE_MAX = 2 ** 51; // differences stay exact and fit the zigzag form
const VARINT_BYTES_MAX = 8; // of a whole number to 2^53
const ONE_BYTE = 64; // whole numbers from -64 to below 64 are a varint of one byte
const NIBBLE_ESCAPE = 15;
const NIBBLE_OFFSET = 7;

/** value = offset + raw * slope, as the AI block computes it; `raw` is a whole number. */
export interface Scaling {
  readonly offset: number;
  readonly slope: number;
}

/** Samples in the order they were recorded. Times are whole ms; a code is quality * 2, plus 1 when there is no value. */
export interface Samples {
  readonly count: number;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly codes: Uint16Array;
}

/** Whether a sample with this code has a value. */
export function hasValue(code: number): boolean {
  return (code & 1) === 0;
}

const writer = new ByteWriter(16384);
let wholes = new Float64Array(1024);

/** Encodes `samples` (at least one); `scaling` is tried first. */
export function encodeBlock(samples: Samples, scaling?: Scaling): Buffer {
  assert(samples.count > 0, 'a block has samples');
  writer.reset();
  writer.byte(FORMAT);
  writer.varint(samples.count);
  encodeTimes(samples);
  encodeCodes(samples);
  encodeValues(samples, scaling);
  return writer.take();
}

/** Where decoded samples are put. */
interface Columns {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly codes: Uint16Array;
}

/** @throws DamagedBlock, or another error that says what is wrong with the bytes. */
export function decodeBlock(bytes: Uint8Array, t0: number): Samples {
  const reader = new ByteReader(bytes);
  const samples = columnsOf(countIn(reader));
  decodeColumns(reader, t0, samples, 0, samples.count);
  return samples;
}

/** Puts the samples of a block from an index on; the columns have room for the count of it. */
export function decodeBlockInto(columns: Columns, from: number, bytes: Uint8Array, t0: number): void {
  const reader = new ByteReader(bytes);
  const to = from + countIn(reader);
  assert(to <= columns.times.length, 'there is room for each sample of a block');
  decodeColumns(reader, t0, columns, from, to);
}

export function columnsOf(count: number): Samples {
  return { count, times: new Float64Array(count), values: new Float64Array(count), codes: new Uint16Array(count) };
}

/** How many samples a block holds. */
export function countOf(bytes: Uint8Array): number {
  return countIn(new ByteReader(bytes));
}

function countIn(reader: ByteReader): number {
  const format = reader.byte();
  assert(format === FORMAT, `sample block of unknown format ${format}`);
  return reader.varint();
}

function decodeColumns(reader: ByteReader, t0: number, { times, values, codes }: Columns, from: number, to: number): void {
  decodeTimes(reader, t0, times, from, to);
  decodeCodes(reader, codes, from, to);
  decodeValues(reader, values, from, to);
}

// ---------------------------------------------------------------- times

function encodeTimes({ count, times }: Samples): void {
  assert(count <= times.length, 'a block has a time for each of its samples');
  let runs = 0;
  let escapes = 0;
  let delta = 0;
  for (let index = 1; index < count; index += 1) {
    const next = (times[index] as number) - (times[index - 1] as number);
    if (next === delta && index > 1) continue;
    runs += 1;
    if (isEscape(next - delta)) escapes += 1;
    delta = next;
  }
  const nibbleBytes = count / 2 + escapes * 2;
  if (runs * 3 <= nibbleBytes) encodeTimeRuns(times, count);
  else if (escapes * 4 <= count) encodeTimeNibbles(times, count);
  else encodeTimeVarints(times, count);
}

function isEscape(change: number): boolean {
  return change < -NIBBLE_OFFSET || change > NIBBLE_ESCAPE - 1 - NIBBLE_OFFSET;
}

function encodeTimeRuns(times: Float64Array, count: number): void {
  writer.byte(TIME.runs);
  for (let index = 1; index < count; ) {
    const delta = (times[index] as number) - (times[index - 1] as number);
    let end = index + 1;
    while (end < count && (times[end] as number) - (times[end - 1] as number) === delta) end += 1;
    writer.signed(delta);
    writer.varint(end - index);
    index = end;
  }
}

function encodeTimeNibbles(times: Float64Array, count: number): void {
  writer.byte(TIME.nibbles);
  let delta = 0;
  let high = -1;
  const escaped: number[] = [];
  for (let index = 1; index < count; index += 1) {
    const next = (times[index] as number) - (times[index - 1] as number);
    const change = next - delta;
    const nibble = isEscape(change) ? NIBBLE_ESCAPE : change + NIBBLE_OFFSET;
    if (nibble === NIBBLE_ESCAPE) escaped.push(change);
    if (high < 0) high = nibble;
    else {
      writer.byte((high << 4) | nibble);
      high = -1;
    }
    delta = next;
  }
  if (high >= 0) writer.byte(high << 4);
  for (const change of escaped) writer.signed(change);
}

function encodeTimeVarints(times: Float64Array, count: number): void {
  writer.byte(TIME.varints);
  let delta = 0;
  for (let index = 1; index < count; index += 1) {
    const next = (times[index] as number) - (times[index - 1] as number);
    writer.signed(next - delta);
    delta = next;
  }
}

function decodeTimes(reader: ByteReader, t0: number, times: Float64Array, from: number, to: number): void {
  times[from] = t0;
  const mode = reader.byte();
  let time = t0;
  if (mode === TIME.runs) {
    for (let index = from + 1; index < to; ) {
      const delta = reader.signed();
      for (const end = index + reader.run(to - index); index < end; index += 1) times[index] = time += delta;
    }
    return;
  }
  let delta = 0;
  if (mode === TIME.varints) {
    for (let index = from + 1; index < to; index += 1) {
      delta += reader.signed();
      times[index] = time += delta;
    }
    return;
  }
  const gaps = to - from - 1;
  const nibbles = reader.rest(Math.ceil(gaps / 2));
  assert(nibbles.length * 2 >= gaps, 'a block has a nibble for each of its times');
  for (let gap = 0; gap < gaps; gap += 1) {
    const pair = nibbles[gap >> 1] as number;
    const nibble = gap % 2 === 0 ? pair >> 4 : pair & 15;
    delta += nibble === NIBBLE_ESCAPE ? reader.signed() : nibble - NIBBLE_OFFSET;
    times[from + 1 + gap] = time += delta;
  }
}

// ---------------------------------------------------------------- codes

function encodeCodes({ count, codes }: Samples): void {
  assert(count <= codes.length, 'a block has a code for each of its samples');
  for (let index = 0; index < count; ) {
    let end = index + 1;
    while (end < count && codes[end] === codes[index]) end += 1;
    writer.varint(codes[index] as number);
    writer.varint(end - index);
    index = end;
  }
}

function decodeCodes(reader: ByteReader, codes: Uint16Array, from: number, to: number): void {
  for (let index = from; index < to; ) {
    const code = reader.varint();
    const end = index + reader.run(to - index);
    codes.fill(code, index, end);
    index = end;
  }
}

// ---------------------------------------------------------------- values

function encodeValues({ count, values }: Samples, scaling: Scaling | undefined): void {
  const whole = wholeNumbers(count);
  if (areBits(values, count)) return encodeBits(values, count);
  if (scaling && wholeByScaling(values, count, scaling, whole)) {
    writer.byte(VALUE.scaled);
    writer.float(scaling.offset);
    writer.float(scaling.slope);
    return encodeWhole(whole, count);
  }
  const decimals = wholeByDecimals(values, count, whole);
  if (decimals < 0) return encodeShuffled(values, count);
  writer.byte(VALUE.decimals);
  writer.byte(decimals);
  encodeWhole(whole, count);
}

/** Room for whole numbers, used again by each block. */
function wholeNumbers(count: number): Float64Array {
  if (wholes.length < count) wholes = new Float64Array(count * 2);
  return wholes;
}

function areBits(values: Float64Array, count: number): boolean {
  for (let index = 0; index < count; index += 1) {
    const value = values[index] as number;
    if ((value !== 0 && value !== 1) || Object.is(value, -0)) return false;
  }
  return true;
}

function encodeBits(values: Float64Array, count: number): void {
  writer.byte(VALUE.bits);
  for (let index = 0; index < count; index += 8) {
    let byte = 0;
    for (let bit = 0; bit < 8 && index + bit < count; bit += 1) byte |= (values[index + bit] as number) << bit;
    writer.byte(byte);
  }
}

/** Fills `whole` with raw counts; false when a value is not exactly what the scaling makes of one. */
function wholeByScaling(values: Float64Array, count: number, { offset, slope }: Scaling, whole: Float64Array): boolean {
  for (let index = 0; index < count; index += 1) {
    const value = values[index] as number;
    const raw = Math.round((value - offset) / slope);
    const again = offset + raw * slope;
    if (again !== value || Math.abs(raw) > WHOLE_MAX || (value === 0 && !Object.is(again, value))) return false;
    whole[index] = raw;
  }
  return true;
}

/** Fills `whole` with value * 10^decimals for the fewest decimals that are exact; -1 when six are not enough. */
function wholeByDecimals(values: Float64Array, count: number, whole: Float64Array): number {
  let decimals = 0;
  let factor = 1;
  let again = 0; // values before this one were taken with fewer decimals
  for (let index = 0; index < count; index += 1) {
    const value = values[index] as number;
    let scaled = Math.round(value * factor);
    while (scaled / factor !== value) {
      decimals += 1;
      factor *= 10;
      if (decimals > DECIMALS_MAX) return -1;
      scaled = Math.round(value * factor);
      again = index;
    }
    if (!isWhole(scaled, value)) return -1;
    whole[index] = scaled;
  }
  for (let index = 0; index < again; index += 1) {
    const value = values[index] as number;
    const scaled = Math.round(value * factor);
    // a value that was exact with fewer decimals must be exact with these
    if (scaled / factor !== value || !isWhole(scaled, value)) return -1;
    whole[index] = scaled;
  }
  return decimals;
}

/** Whether differences of it are exact; minus zero has no whole number. */
function isWhole(scaled: number, value: number): boolean {
  return Math.abs(scaled) <= WHOLE_MAX && !Object.is(value, -0);
}

/** Differences of whole numbers; a run of 1 or more unchanged values is one zero and its length. */
function encodeWhole(whole: Float64Array, count: number): void {
  const bytes = writer.room(count * VARINT_BYTES_MAX);
  let at = writer.length;
  let previous = 0;
  for (let index = 0; index < count; index += 1) {
    const current = whole[index] as number;
    const change = current - previous;
    previous = current;
    if (change !== 0 && change >= -ONE_BYTE && change < ONE_BYTE) {
      bytes[at++] = (change << 1) ^ (change >> 31); // most differences of process values
      continue;
    }
    writer.length = at;
    writer.signed(change);
    if (change === 0) {
      let end = index + 1;
      while (end < count && whole[end] === previous) end += 1;
      writer.varint(end - index - 1);
      index = end - 1;
    }
    at = writer.length;
  }
  writer.length = at;
}

/** Fills `values` with whole numbers. */
function decodeWhole(reader: ByteReader, values: Float64Array, from: number, to: number): void {
  const { bytes } = reader;
  let at = reader.position;
  let current = 0;
  for (let index = from; index < to; ) {
    const byte = at < bytes.length ? (bytes[at] as number) : 0;
    if (byte > 0 && byte < 128) {
      current += (byte >> 1) ^ -(byte & 1); // most differences of process values
      values[index++] = current;
      at += 1;
      continue;
    }
    reader.position = at;
    const change = reader.signed();
    current += change;
    const end = index + 1 + (change === 0 ? reader.run(to - index - 1) : 0);
    values.fill(current, index, end);
    index = end;
    at = reader.position;
  }
  reader.position = at;
}

/** Byte 0 of every value, then byte 1 of every value, ...: like bytes stand together and deflate well. */
function encodeShuffled(values: Float64Array, count: number): void {
  writer.byte(VALUE.shuffled);
  const bytes = new Uint8Array(values.buffer, values.byteOffset, count * 8);
  const planes = new Uint8Array(count * 8);
  for (let index = 0; index < count; index += 1) for (let plane = 0; plane < 8; plane += 1) planes[plane * count + index] = bytes[index * 8 + plane] as number;
  writer.append(deflateRawSync(planes, { level: 1 }));
}

function decodeValues(reader: ByteReader, values: Float64Array, from: number, to: number): void {
  const mode = reader.byte();
  if (mode === VALUE.decimals) {
    const factor = 10 ** reader.byte();
    decodeWhole(reader, values, from, to);
    if (factor !== 1) for (let index = from; index < to; index += 1) values[index] = (values[index] as number) / factor;
    return;
  }
  if (mode === VALUE.scaled) {
    const offset = reader.float();
    const slope = reader.float();
    decodeWhole(reader, values, from, to);
    for (let index = from; index < to; index += 1) values[index] = offset + (values[index] as number) * slope;
    return;
  }
  const count = to - from;
  if (mode === VALUE.bits) {
    const bits = reader.rest();
    assert(bits.length * 8 >= count, 'a block has a bit for each of its values');
    for (let index = 0; index < count; index += 1) values[from + index] = ((bits[index >> 3] as number) >> (index & 7)) & 1;
    return;
  }
  const planes = inflateRawSync(reader.rest());
  assert(planes.length >= count * 8, 'a block has eight bytes for each of its values');
  const bytes = new Uint8Array(values.buffer, values.byteOffset + from * 8, count * 8);
  for (let index = 0; index < count; index += 1) for (let plane = 0; plane < 8; plane += 1) bytes[index * 8 + plane] = planes[plane * count + index] as number;
}
