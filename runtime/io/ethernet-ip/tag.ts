/**
 * What is known of the tags of one device, for as long as the connection lasts: how each is asked, and what the device said that it is. A read
 * reply names its type, so nothing here is believed without being looked at again.
 */
import type { MonoMs } from '../../vocabulary/times.js';
import { type ChannelType, type Parsed, parsed, refused } from '../description.js';
import { lastIndex, type TagAddress } from './address.js';
import type { TextShape, TypedData } from './codec.js';
import { readRequest, tagPath } from './request.js';
import { BOOL_CODE, type CipType, cipTypeOf, DWORD_CODE, holds, LOGIX_STRING_HANDLE, STRUCTURE_CODE, typeText } from './types.js';

/** Something that is read by one request. */
export interface Tag {
  readonly text: string;
  readonly segments: readonly (string | number)[];
  readonly path: Buffer;
  readonly readRequest: Buffer;
  /** Type and value of the answer, in bytes; what is not known is guessed. */
  replyBytes: number;
  /** What the device said last. */
  code: number | undefined;
  handle: number | undefined;
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
/** A tag that was not there when it was looked at may be after a download. */
const LOOK_AGAIN_MS = 10_000;

function guess(type: CipType | undefined): number {
  if (type?.dataType === 'string') return STRUCTURE_TYPE_BYTES + LOGIX_STRING.bytes;
  return TYPE_BYTES + (type?.bytes ?? GUESSED_BYTES);
}

export class TagRegister {
  readonly #tags = new Map<string, Tag>();
  readonly #bits = new Map<string, { readonly target: Target | undefined; readonly atMonoMs: MonoMs }>();
  readonly #texts = new Map<number, TextShape>([[LOGIX_STRING.handle, LOGIX_STRING]]);
  /** Handles of structures that were looked at and are no text. */
  readonly #noTexts = new Set<number>();
  /** Grows when something was learned that changes how tags are asked. */
  revision = 0;

  tag(text: string, segments: readonly (string | number)[], type: CipType | undefined): Tag {
    const known = this.#tags.get(text);
    if (known) return known;
    const path = tagPath(segments);
    const tag: Tag = { text, segments, path, readRequest: readRequest(path), replyBytes: guess(type), code: undefined, handle: undefined };
    this.#tags.set(text, tag);
    return tag;
  }

  target(address: TagAddress): Target {
    const found = this.#bits.get(address.text)?.target;
    if (found && address.bit === undefined) return found;
    return { tag: this.tag(address.text, address.segments, address.type), bit: address.bit, isElementOfBits: false };
  }

  /** Whether an address may be an element of an array of BOOL, and nobody has looked yet. */
  isToBeLookedAt(address: TagAddress, dataType: ChannelType, nowMonoMs: MonoMs): boolean {
    if (!mayBeElementOfBits(address, dataType)) return false;
    const looked = this.#bits.get(address.text);
    return !looked || (!looked.target && this.tag(address.text, address.segments, address.type).code === undefined && nowMonoMs - looked.atMonoMs >= LOOK_AGAIN_MS);
  }

  /** The word that holds the element, if its array is one of BOOL. */
  wordOf(address: TagAddress): Tag {
    const index = lastIndex(address) ?? 0;
    const segments = [...address.segments.slice(0, -1), Math.floor(index / BITS_PER_WORD)];
    return this.tag(`${address.text.slice(0, address.text.lastIndexOf('['))}[${segments.at(-1)}]`, segments, undefined);
  }

  /** What the word turned out to be; `code` undefined: it is not there. */
  lookedAt(address: TagAddress, code: number | undefined, nowMonoMs: MonoMs): void {
    const target = code === DWORD_CODE ? { tag: this.wordOf(address), bit: (lastIndex(address) ?? 0) % BITS_PER_WORD, isElementOfBits: true } : undefined;
    this.#bits.set(address.text, { target, atMonoMs: nowMonoMs });
    if (target) this.revision += 1;
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

  /** Keeps what the answer says of the tag. */
  note(tag: Tag, { code, handle, value }: TypedData): void {
    const replyBytes = (handle === undefined ? TYPE_BYTES : STRUCTURE_TYPE_BYTES) + value.length + (value.length % 2);
    if (tag.replyBytes < replyBytes) this.revision += 1;
    tag.replyBytes = Math.max(tag.replyBytes, replyBytes);
    tag.code = code;
    tag.handle = handle;
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

export const isTextShape = (type: CipType | TextShape): type is TextShape => 'capacity' in type;
