/**
 * The messages that read a set of points: each tag once, neighbours of an array together, as many in one message as request and answer leave room for
 * (decisions 7.3, `maxPacket`; ADR 0081). All that does not change from one poll to the next is made here.
 */
import type { Point } from '../driver.js';
import type { Parsed } from '../description.js';
import { coalesce } from '../request-plan.js';
import { parseTagAddress, type TagAddress } from './address.js';
import type { NumberReader, TextShape } from './codec.js';
import { type LongRead, longRead } from './long-read.js';
import { MULTIPLE_EACH_BYTES, MULTIPLE_REPLY_BYTES, MULTIPLE_REQUEST_BYTES, multipleRequest, readRequest, SERVICE } from './request.js';
import type { Prepared } from './session.js';
import type { Tag, TagRegister, Target } from './tag.js';
import { BOOL_CODE, type CipType, STRUCTURE_CODE } from './types.js';

export interface Member {
  readonly position: number;
  readonly point: Point;
  readonly address: TagAddress;
  readonly target: Target;
  /** The element of its entry that it is. */
  place: number;
  /** What serves it, by the type that the device said last, or why nothing does; undefined: the device said nothing yet. */
  served: Parsed<CipType | TextShape> | undefined;
  /** Of a number. */
  reader: NumberReader | undefined;
}

/** What is read by one request, and the points it feeds: a tag, or elements of an array from that tag on. */
export interface Entry {
  readonly tag: Tag;
  readonly count: number;
  readonly members: readonly Member[];
  readonly request: Buffer;
  /** Type and values of the answer, in bytes. */
  readonly replyBytes: number;
  /** The type by which the members are served; undefined: none yet. */
  code: number | undefined;
  handle: number | undefined;
  /** Of one element; 0: it varies. */
  valueBytes: number;
}

export interface Message {
  readonly entries: readonly Entry[];
  readonly prepared: Prepared;
}

/** A tag that does not fit into one answer. */
export interface LongEntry {
  readonly entry: Entry;
  readonly read: LongRead;
}

export interface ReadPlan {
  readonly revision: number;
  readonly messages: readonly Message[];
  readonly long: readonly LongEntry[];
  /** Points that may be elements of an array of BOOL, and are not known to be. */
  readonly suspects: readonly Member[];
  readonly unreadable: readonly { readonly position: number; readonly message: string }[];
}

export interface PlanLimits {
  /** Of a request without what a route adds. */
  readonly requestBytesMax: number;
  readonly replyBytesMax: number;
  /** The device takes messages of several services. */
  readonly hasMultiple: boolean;
}

export type Prepare = (message: Buffer, service: number) => Prepared;

const REPLY_HEAD_BYTES = 4;
const ELEMENTS_MAX = 0xffff;
/** What one service more costs in the answer alone: elements that nobody asked for are read along where they are less. */
const GAP_BYTES_MAX = 16;
const UNIT_TYPE_BYTES = 2;
const STRUCTURE_TYPE_BYTES = 4;

function singleEntry(tag: Tag, members: readonly Member[]): Entry {
  for (const member of members) member.place = 0;
  return { tag, count: 1, members, request: tag.readRequest, replyBytes: tag.replyBytes, code: undefined, handle: undefined, valueBytes: 0 };
}

function byTag(members: readonly Member[]): Map<Tag, Member[]> {
  const found = new Map<Tag, Member[]>();
  for (const member of members) {
    const { tag } = member.target;
    const known = found.get(tag);
    if (known) known.push(member);
    else found.set(tag, [member]);
  }
  return found;
}

/** Each tag by itself. */
export function singleEntries(members: readonly Member[]): Entry[] {
  return [...byTag(members)].map(([tag, of]) => singleEntry(tag, of));
}

const typeBytesOf = ({ code }: Tag): number => (code === STRUCTURE_CODE ? STRUCTURE_TYPE_BYTES : UNIT_TYPE_BYTES);

/** Elements of one array that have answered alone, as ranges. */
function rangesOf(tags: readonly Tag[], elementBytes: number, members: ReadonlyMap<Tag, readonly Member[]>, limits: PlanLimits): Entry[] {
  const [first] = tags;
  if (!first) return [];
  const room = limits.replyBytesMax - MULTIPLE_REPLY_BYTES - MULTIPLE_EACH_BYTES - REPLY_HEAD_BYTES - typeBytesOf(first);
  const most = Math.min(Math.max(1, Math.floor(room / elementBytes)), ELEMENTS_MAX);
  const spans = tags.map(({ index }, position) => ({ start: index, length: 1, position }));
  return coalesce(spans, most, Math.floor(GAP_BYTES_MAX / elementBytes)).map(({ start, length, spans: within }): Entry => {
    const of = within.map(({ position }) => tags[position] ?? first);
    const tag = of[0] ?? first;
    if (of.length === 1) return singleEntry(tag, members.get(tag) ?? []);
    const fed = of.flatMap((each) => members.get(each) ?? []);
    for (const member of fed) member.place = member.target.tag.index - start;
    const bytes = length * elementBytes;
    return {
      tag,
      count: length,
      members: fed,
      request: readRequest(tag.path, length),
      replyBytes: typeBytesOf(tag) + bytes + (bytes % 2),
      code: undefined,
      handle: undefined,
      valueBytes: 0,
    };
  });
}

function entriesOf(members: readonly Member[], register: TagRegister, limits: PlanLimits): Entry[] {
  const fed = byTag(members);
  const entries: Entry[] = [];
  const arrays = new Map<string, { readonly elementBytes: number; readonly tags: Tag[] }>();
  for (const [tag, of] of fed) {
    const elementBytes = register.elementBytes(tag);
    if (elementBytes === undefined) {
      entries.push(singleEntry(tag, of));
      continue;
    }
    const key = `${tag.array} ${tag.code} ${tag.handle}`;
    const known = arrays.get(key);
    if (known) known.tags.push(tag);
    else arrays.set(key, { elementBytes, tags: [tag] });
  }
  for (const { tags, elementBytes } of arrays.values()) entries.push(...rangesOf(tags, elementBytes, fed, limits));
  return entries;
}

/** Whether it is known that the answer does not fit into one message. */
const isLong = ({ tag, replyBytes }: Entry, { replyBytesMax }: PlanLimits): boolean => tag.code !== undefined && REPLY_HEAD_BYTES + replyBytes > replyBytesMax;

function pack(entries: readonly Entry[], limits: PlanLimits): Entry[][] {
  if (!limits.hasMultiple) return entries.map((entry) => [entry]);
  const packs: Entry[][] = [];
  let [requestBytes, replyBytes] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const entry of entries) {
    const asks = MULTIPLE_EACH_BYTES + entry.request.length;
    const answers = MULTIPLE_EACH_BYTES + REPLY_HEAD_BYTES + entry.replyBytes;
    if (requestBytes + asks > limits.requestBytesMax || replyBytes + answers > limits.replyBytesMax) {
      packs.push([]);
      [requestBytes, replyBytes] = [MULTIPLE_REQUEST_BYTES, MULTIPLE_REPLY_BYTES];
    }
    packs.at(-1)?.push(entry);
    requestBytes += asks;
    replyBytes += answers;
  }
  return packs;
}

/** The entries in as few messages as they fit into. */
export function messagesOf(entries: readonly Entry[], limits: PlanLimits, prepare: Prepare): Message[] {
  return pack(entries, limits).map((within): Message => {
    const requests = within.map(({ request }) => request);
    const [only = Buffer.alloc(0)] = requests;
    return { entries: within, prepared: requests.length === 1 ? prepare(only, SERVICE.readTag) : prepare(multipleRequest(requests), SERVICE.multiple) };
  });
}

function membersOf(points: readonly Point[], register: TagRegister, limits: PlanLimits): Pick<ReadPlan, 'unreadable'> & { readonly members: readonly Member[] } {
  const members: Member[] = [];
  const unreadable: { position: number; message: string }[] = [];
  points.forEach((point, position) => {
    const address = parseTagAddress(point.address);
    if (!address.ok) {
      unreadable.push({ position, message: address.message });
      return;
    }
    const target = register.target(address.value, point.dataType);
    if (target.tag.readRequest.length > limits.requestBytesMax)
      unreadable.push({ position, message: `the tag does not fit into a message of ${limits.requestBytesMax} bytes: raise maxPacket` });
    else members.push({ position, point, address: address.value, target, place: 0, served: undefined, reader: undefined });
  });
  return { members, unreadable };
}

export function planReads(points: readonly Point[], register: TagRegister, limits: PlanLimits, prepare: Prepare): ReadPlan {
  const { members, unreadable } = membersOf(points, register, limits);
  const entries = entriesOf(members, register, limits);
  return {
    revision: register.revision,
    messages: messagesOf(
      entries.filter((entry) => !isLong(entry, limits)),
      limits,
      prepare,
    ),
    long: entries.filter((entry) => isLong(entry, limits)).map((entry) => ({ entry, read: longRead(entry.tag.path) })),
    suspects: members.filter(({ address, point, target }) => register.isSuspect(address, point.dataType) && target.tag.code !== BOOL_CODE),
    unreadable,
  };
}
