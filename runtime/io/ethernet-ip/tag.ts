/**
 * What is known of the tags of one device, for as long as the connection lasts: how each is asked, and what the device said that it is. A read
 * reply names its type, so nothing here is believed without being looked at again.
 */
import type { MonoMs } from '../../vocabulary/times.js';
import { type ChannelType, type Parsed, parsed, refused } from '../description.js';
import { lastIndex, type TagAddress } from './address.js';
import type { TextShape, TypedData } from './codec.js';
import { readRequest, tagPath } from './request.js';
import { BOOL_CODE, type CipType, cipTypeOf, DWORD_CODE, holds, LOGIX_STRING_HANDLE, STRING_CODE, STRUCTURE_CODE, typeText } from './types.js';

/** Something that is read by one request. */
export interface Tag {
  readonly text: string;
  readonly segments: readonly (string | number)[];
  readonly path: Buffer;
  readonly readRequest: Buffer;
  /** Type and value of the answer, in bytes; what is not known is guessed. */
  replyBytes: number;
  /** What the device said last when it was asked for this tag alone, or in a range that had been so before. */
  code: number | undefined;
  handle: number | undefined;
  /** Of an element of an array: the array, equal for its neighbours in the last dimension; '' of everything else. */
  readonly array: string;
  /** Of an element of an array in the last dimension. */
  readonly index: number;
}

/** A channel address as it is asked: the tag, and the bit of it. */
export interface Target {
  readonly tag: Tag;
  readonly bit: number | undefined;
  /** The tag is a word of an array of BOOL, and the bit an element of it. */
  readonly isElementOfBits: boolean;
}

/** Bits of one word of an array of BOOL in a Logix controller: it is read and written by words. */
export const BITS_PER_WORD = 32;
const GUESSED_BYTES = 8;
const TYPE_BYTES = 2;
const STRUCTURE_TYPE_BYTES = 4;
const LOGIX_STRING: TextShape = { handle: LOGIX_STRING_HANDLE, bytes: 88, capacity: 82 };
/** An array that was not there, or of another type, when it was looked at may be after a download. */
const LOOK_AGAIN_MS = 10_000;
const REFUSALS_MAX = 2;

function guess(type: CipType | undefined): number {
  if (type?.dataType === 'string') return STRUCTURE_TYPE_BYTES + LOGIX_STRING.bytes;
  return TYPE_BYTES + (type?.bytes ?? GUESSED_BYTES);
}

export class TagRegister {
  readonly #tags = new Map<string, Tag>();
  /** By array: what its first word was when somebody looked whether it is one of BOOL; undefined: it is not there. */
  readonly #arrays = new Map<string, { readonly code: number | undefined; readonly atMonoMs: MonoMs }>();
  /** By array: how often a range of it was refused. */
  readonly #refusals = new Map<string, number>();
  readonly #texts = new Map<number, TextShape>([[LOGIX_STRING.handle, LOGIX_STRING]]);
  /** Handles of structures that were looked at and are no text. */
  readonly #noTexts = new Set<number>();
  /** Grows when something was learned that changes how tags are asked. */
  revision = 0;

  tag(text: string, segments: readonly (string | number)[], type: CipType | undefined): Tag {
    const known = this.#tags.get(text);
    if (known) return known;
    const path = tagPath(segments);
    const index = segments.at(-1);
    const array = typeof index === 'number' ? text.slice(0, text.lastIndexOf(`${index}`)) : '';
    const tag: Tag = { text, segments, path, readRequest: readRequest(path, 1), replyBytes: guess(type), code: undefined, handle: undefined, array, index: Number(index ?? 0) };
    this.#tags.set(text, tag);
    return tag;
  }

  target(address: TagAddress, dataType: ChannelType): Target {
    if (mayBeElementOfBits(address, dataType) && this.#isOfBits(address)) {
      const index = lastIndex(address) ?? 0;
      return { tag: this.wordOf(address, Math.floor(index / BITS_PER_WORD)), bit: index % BITS_PER_WORD, isElementOfBits: true };
    }
    return { tag: this.tag(address.text, address.segments, address.type), bit: address.bit, isElementOfBits: false };
  }

  #isOfBits(address: TagAddress): boolean {
    return this.#arrays.get(arrayOf(address))?.code === DWORD_CODE;
  }

  /** Whether an address may be an element of an array of BOOL, and it is not known that its array is one. */
  isSuspect(address: TagAddress, dataType: ChannelType): boolean {
    return mayBeElementOfBits(address, dataType) && !this.#isOfBits(address);
  }

  /** Of a suspect: whether somebody is to look at its array now. */
  isToBeLookedAt(address: TagAddress, nowMonoMs: MonoMs): boolean {
    const looked = this.#arrays.get(arrayOf(address));
    if (looked === undefined) return true;
    if (looked.code === DWORD_CODE || nowMonoMs - looked.atMonoMs < LOOK_AGAIN_MS) return false;
    const { code } = this.tag(address.text, address.segments, address.type);
    return code === undefined || code === DWORD_CODE;
  }

  /** The word at a place of the array that the address is an element of, if its array is one of BOOL. */
  wordOf(address: TagAddress, place: number): Tag {
    return this.tag(`${arrayOf(address)}[${place}]`, [...address.segments.slice(0, -1), place], undefined);
  }

  /** What the first word turned out to be; `code` undefined: it is not there. */
  lookedAt(address: TagAddress, code: number | undefined, nowMonoMs: MonoMs): void {
    this.#arrays.set(arrayOf(address), { code, atMonoMs: nowMonoMs });
    if (code === DWORD_CODE) this.revision += 1;
  }

  textShape(handle: number | undefined): TextShape | undefined {
    return handle === undefined ? undefined : this.#texts.get(handle);
  }

  isUnknownStructure({ code, handle }: Pick<TypedData, 'code' | 'handle'>): boolean {
    return code === STRUCTURE_CODE && handle !== undefined && !this.#texts.has(handle) && !this.#noTexts.has(handle);
  }

  learnText(shape: TextShape): void {
    this.#texts.set(shape.handle, shape);
  }

  learnNoText(handle: number): void {
    this.#noTexts.add(handle);
  }

  /** Keeps what the answer says of the tag: its type, and how many bytes one value of it takes. */
  note(tag: Tag, code: number, handle: number | undefined, valueBytes: number): void {
    const replyBytes = (handle === undefined ? TYPE_BYTES : STRUCTURE_TYPE_BYTES) + valueBytes + (valueBytes % 2);
    const isOther = tag.code !== code || tag.handle !== handle;
    if (tag.replyBytes < replyBytes || (isOther && tag.array !== '')) this.revision += 1;
    tag.replyBytes = isOther ? replyBytes : Math.max(tag.replyBytes, replyBytes);
    tag.code = code;
    tag.handle = handle;
  }

  /** What was known of an element does not hold any more: it is asked for alone until it has answered again. */
  forget(tag: Tag): void {
    tag.code = undefined;
    tag.handle = undefined;
    this.revision += 1;
  }

  /** Elements of its array were refused together. Once that may be because one of them is gone; then the device does not read them so. */
  refuseRange({ array }: Tag): void {
    this.#refusals.set(array, (this.#refusals.get(array) ?? 0) + 1);
  }

  /** Bytes of one element of an array whose elements may be read by one request; undefined: each is asked for alone. */
  elementBytes({ array, code, handle }: Tag): number | undefined {
    if (array === '' || code === undefined || code === STRING_CODE || (this.#refusals.get(array) ?? 0) >= REFUSALS_MAX) return undefined;
    if (code === STRUCTURE_CODE) return this.textShape(handle)?.bytes;
    const type = cipTypeOf(code);
    return type === undefined || type.code === BOOL_CODE ? undefined : type.bytes;
  }

  /** The type that serves a channel: what the device has, where it does not contradict what is configured. Both are named where it does. */
  typeFor(address: TagAddress, dataType: ChannelType, { code, handle }: Pick<TypedData, 'code' | 'handle'>, target: Target): Parsed<CipType | TextShape> {
    const said = typeText(code);
    if (code === STRUCTURE_CODE) return this.#textFor(address, dataType, handle);
    const type = cipTypeOf(code);
    if (!type) return refused(`the device has ${said}, which no channel holds`);
    if (target.bit !== undefined) {
      if (target.isElementOfBits && code !== DWORD_CODE) return refused(`the channel is an element of an array of BOOL, the device has ${said}`);
      if (!type.bounds) return refused(`the channel is bit ${target.bit} of a whole number, the device has ${said}`);
      if (target.bit >= 8 * type.bytes) return refused(`the channel is bit ${target.bit}, the device has ${said} with the bits 0 to ${8 * type.bytes - 1}`);
    }
    if (address.type && !target.isElementOfBits && address.type.code !== type.code) return refused(`the channel says ${address.type.name}, the device has ${said}`);
    const served = target.bit === undefined ? type : cipTypeOf(BOOL_CODE);
    if (served && !holds(dataType, served)) return refused(`the channel is ${dataType}, the device has ${served.name}`);
    return parsed(type);
  }

  #textFor(address: TagAddress, dataType: ChannelType, handle: number | undefined): Parsed<TextShape> {
    if (address.bit !== undefined) return refused(`the channel is bit ${address.bit} of a whole number, the device has a structure`);
    if (address.type && address.type.dataType !== 'string') return refused(`the channel says ${address.type.name}, the device has a structure`);
    const shape = this.textShape(handle);
    if (!shape) return refused(`the channel is ${address.type?.name ?? dataType}, the device has a structure that is no text: name a member of it`);
    return dataType === 'string' ? parsed(shape) : refused(`the channel is ${dataType}, the device has STRING`);
  }
}

export function mayBeElementOfBits(address: TagAddress, dataType: ChannelType): boolean {
  return address.bit === undefined && lastIndex(address) !== undefined && (address.type ? address.type.code === BOOL_CODE : dataType === 'bool');
}

const arrayOf = ({ text }: TagAddress): string => text.slice(0, text.lastIndexOf('['));

export const isTextShape = (type: CipType | TextShape): type is TextShape => 'capacity' in type;
