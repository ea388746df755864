/**
 * The tags that a Logix controller tells of itself: symbol object (class 0x6B) and templates of structures (class 0x6C), as Rockwell's 1756-PM020
 * describes them. Whatever arrives is bounded: tags, members, bytes.
 */
import { type Device, MALFORMED, PART_BYTES_MIN, PARTIAL, refusal, tooSmall, type Whole } from './device.js';
import { CLASS, objectPath, SERVICE } from './request.js';

export interface Symbol {
  /** '' in the controller. */
  readonly program: string;
  readonly name: string;
  /** Of an atomic type; 0 of a structure. */
  readonly code: number;
  /** Instance of the template of a structure; 0: none. */
  readonly template: number;
  /** Elements of each dimension; one of 0 where the device does not say. */
  readonly dimensions: readonly number[];
  readonly isWritable: boolean;
}

export interface TemplateMember {
  readonly name: string;
  readonly code: number;
  readonly template: number;
  /** Of an array; 0: none. */
  readonly count: number;
}

export interface Template {
  readonly name: string;
  readonly handle: number;
  readonly bytes: number;
  readonly members: readonly TemplateMember[];
}

const NAME = 1;
const TYPE = 2;
const DIMENSIONS = 8;
const EXTERNAL_ACCESS = 10;
const READ_WRITE = 0;
/** What is asked of each tag, and what of a device that does not know the rest. */
const ATTRIBUTES: readonly (readonly number[])[] = [
  [NAME, TYPE, DIMENSIONS, EXTERNAL_ACCESS],
  [NAME, TYPE, DIMENSIONS],
  [NAME, TYPE],
];
/** Of the controller and all its programs together. */
const SYMBOLS_MAX = 50_000;
const PROGRAMS_MAX = 1000;
/** A name of a controller has 40 characters, and those that it makes itself a few more. */
const NAME_BYTES_MAX = 255;
const DEFINITION_BYTES_MAX = 0x1_0000;
const STRUCTURE = 0x8000;
const SYSTEM = 0x1000;
const TYPE_MASK = 0x0fff;
const BOOL = 0xc1;
const PROGRAM = 'Program:';

interface Row extends Symbol {
  readonly instance: number;
  readonly isSystem: boolean;
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, at) => void bytes.writeUInt16LE(value, 2 * at));
  return bytes;
}

const codeOf = (type: number): number => ((type & 0xff) === BOOL ? BOOL : type & TYPE_MASK);

/** The rows of one answer; undefined when they do not fill it. */
function parseRows(data: Buffer, attributes: readonly number[], program: string): Row[] | undefined {
  const rows: Row[] = [];
  const tailBytes = 2 + (attributes.includes(DIMENSIONS) ? 12 : 0) + (attributes.includes(EXTERNAL_ACCESS) ? 1 : 0);
  for (let at = 0; at < data.length; ) {
    if (at + 6 > data.length) return undefined;
    const instance = data.readUInt32LE(at);
    const nameBytes = data.readUInt16LE(at + 4);
    const typeAt = at + 6 + nameBytes;
    if (typeAt + tailBytes > data.length || nameBytes > NAME_BYTES_MAX) return undefined;
    const type = data.readUInt16LE(typeAt);
    const dimensionCount = (type >> 13) & 3;
    const known = attributes.includes(DIMENSIONS) ? [0, 1, 2].map((each) => data.readUInt32LE(typeAt + 2 + 4 * each)) : [0, 0, 0];
    const isStructure = (type & STRUCTURE) !== 0;
    rows.push({
      instance,
      program,
      name: data.toString('latin1', at + 6, typeAt),
      code: isStructure ? 0 : codeOf(type),
      template: isStructure ? type & TYPE_MASK : 0,
      dimensions: known.slice(0, dimensionCount),
      isWritable: !attributes.includes(EXTERNAL_ACCESS) || data.readUInt8(typeAt + tailBytes - 1) === READ_WRITE,
      isSystem: (type & SYSTEM) !== 0,
    });
    at = typeAt + tailBytes;
  }
  return rows;
}

/** How far a walk through a device goes. */
export interface Walk {
  readonly isTimeLeft: () => boolean;
  /** It has ended before it was through. */
  isTruncated: boolean;
}

async function listScope(device: Device, program: string, attributes: readonly number[], walk: Walk, rowsMax: number): Promise<Whole<Row[]>> {
  const rows: Row[] = [];
  for (let from = 0; ; ) {
    if (rows.length >= rowsMax || !walk.isTimeLeft()) {
      walk.isTruncated = true;
      break;
    }
    const path = objectPath(CLASS.symbol, from, program === '' ? [] : [PROGRAM + program]);
    const answer = await device.ask(SERVICE.instanceAttributes, path, numbers([attributes.length, ...attributes]));
    if (!answer.ok) return answer;
    const { reply } = answer;
    if (reply.status !== 0 && reply.status !== PARTIAL) return refusal(reply);
    const part = parseRows(reply.data, attributes, program);
    const last = part?.at(-1);
    if (!part || (last && last.instance < from)) return MALFORMED;
    rows.push(...part);
    if (reply.status === 0 || !last) break;
    from = last.instance + 1;
  }
  return { ok: true, value: rows };
}

const isForPeople = ({ isSystem, name }: Row): boolean => !isSystem && !name.startsWith('__') && !name.includes(':');

/** All tags of the controller and of its programs, as far as the walk goes. */
export async function listSymbols(device: Device, walk: Walk): Promise<Whole<Symbol[]>> {
  let found: Whole<Row[]> = MALFORMED;
  let attributes: readonly number[] = [];
  for (attributes of ATTRIBUTES) {
    found = await listScope(device, '', attributes, walk, SYMBOLS_MAX);
    if (found.ok || found.reason !== 'refused') break;
  }
  if (!found.ok) return found;
  const rows = [...found.value];
  const programs = found.value.filter(({ name }) => name.startsWith(PROGRAM)).map(({ name }) => name.slice(PROGRAM.length));
  if (programs.length > PROGRAMS_MAX) walk.isTruncated = true;
  for (const program of programs.slice(0, PROGRAMS_MAX)) {
    const within = await listScope(device, program, attributes, walk, SYMBOLS_MAX - rows.length);
    if (within.ok) rows.push(...within.value);
    else if (within.reason !== 'refused') return within;
  }
  return { ok: true, value: rows.filter(isForPeople) };
}

const HANDLE_ATTRIBUTE = 1;
const COUNT_ATTRIBUTE = 2;
const WORDS_ATTRIBUTE = 4;
const BYTES_ATTRIBUTE = 5;
const MEMBER_BYTES = 8;
/** Of the size that a template tells in words, so much is no definition (1756-PM020). */
const DEFINITION_OVERHEAD = 23;

interface Shape {
  readonly definitionBytes: number;
  readonly bytes: number;
  readonly count: number;
  readonly handle: number;
}

/** Attributes 4, 5, 2 and 1, each with its number and status; undefined when they are not these. */
function parseShape(data: Buffer): Shape | undefined {
  if (data.length < 30 || data.readUInt16LE(0) !== 4) return undefined;
  const isWhole = [
    [2, WORDS_ATTRIBUTE],
    [10, BYTES_ATTRIBUTE],
    [18, COUNT_ATTRIBUTE],
    [24, HANDLE_ATTRIBUTE],
  ].every(([at = 0, attribute]) => data.readUInt16LE(at) === attribute && data.readUInt16LE(at + 2) === 0);
  if (!isWhole) return undefined;
  return { definitionBytes: 4 * data.readUInt32LE(6) - DEFINITION_OVERHEAD, bytes: data.readUInt32LE(14), count: data.readUInt16LE(22), handle: data.readUInt16LE(28) };
}

function parseDefinition(definition: Buffer, { count, handle, bytes }: Shape): Template | undefined {
  if (count * MEMBER_BYTES > definition.length) return undefined;
  const names = definition
    .subarray(count * MEMBER_BYTES)
    .toString('latin1')
    .split('\0');
  if (names.length < count + 1) return undefined;
  const members = Array.from({ length: count }, (_, at): TemplateMember => {
    const [info, type] = [definition.readUInt16LE(at * MEMBER_BYTES), definition.readUInt16LE(at * MEMBER_BYTES + 2)];
    const isStructure = (type & STRUCTURE) !== 0;
    const isArray = ((type >> 13) & 3) > 0;
    return { name: names[at + 1] ?? '', code: isStructure ? 0 : codeOf(type), template: isStructure ? type & TYPE_MASK : 0, count: isArray ? info : 0 };
  });
  return { name: (names[0] ?? '').split(';')[0] ?? '', handle, bytes, members };
}

export async function readTemplate(device: Device, instance: number): Promise<Whole<Template>> {
  const path = objectPath(CLASS.template, instance);
  const asked = await device.ask(SERVICE.getAttributeList, path, numbers([4, WORDS_ATTRIBUTE, BYTES_ATTRIBUTE, COUNT_ATTRIBUTE, HANDLE_ATTRIBUTE]));
  if (!asked.ok) return asked;
  if (asked.reply.status !== 0) return refusal(asked.reply);
  const shape = parseShape(asked.reply.data);
  if (!shape || shape.definitionBytes < 0 || shape.definitionBytes > DEFINITION_BYTES_MAX) return MALFORMED;
  const parts: Buffer[] = [];
  for (let offset = 0; offset < shape.definitionBytes; ) {
    const data = Buffer.alloc(6);
    data.writeUInt32LE(offset, 0);
    data.writeUInt16LE(Math.min(shape.definitionBytes - offset, 0xffff), 4);
    const answer = await device.ask(SERVICE.readTag, path, data);
    if (!answer.ok) return answer;
    if (answer.reply.status !== 0 && answer.reply.status !== PARTIAL) return refusal(answer.reply);
    parts.push(Buffer.from(answer.reply.data)); // a copy: what was received with it is not kept
    offset += answer.reply.data.length;
    if (answer.reply.status === 0) break;
    if (answer.reply.data.length < PART_BYTES_MIN) return tooSmall(answer.reply.data.length);
  }
  const template = parseDefinition(Buffer.concat(parts), shape);
  return template ? { ok: true, value: template } : MALFORMED;
}
