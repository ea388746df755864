/** EtherNet/IP channel addresses (decisions 7.4): `["Program:" name "."] tag {"." member | "[" index {"," index} "]"} ["." bit] ["#" ciptype]`. */
import { type ChannelType, type Parsed, parsed, refused } from '../description.js';
import { type Cell, whole, within } from '../place.js';
import { CIP_TYPE_NAMES, type CipType, cipTypeNamed } from './types.js';

export interface TagAddress {
  /** The tag, without bit and type: what is asked of the device. */
  readonly text: string;
  /** Names and indices of the tag; a program is one name. */
  readonly segments: readonly (string | number)[];
  /** A bit of a whole number. */
  readonly bit: number | undefined;
  /** Undefined: the device knows it. */
  readonly type: CipType | undefined;
  readonly dataType: ChannelType | undefined;
}

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,39}';
const TAG = new RegExp(`^(?<tag>(?:Program:${NAME}\\.)?${NAME}(?:\\.${NAME}|\\[\\d{1,10}(?:,\\d{1,10}){0,2}\\])*)(?:\\.(?<bit>\\d{1,2}))?$`);
const SEGMENT = /Program:[A-Za-z0-9_]+|[A-Za-z_][A-Za-z0-9_]*|\d+/g;
const INDEX_MAX = 2 ** 32 - 1;
const BIT_MAX = 63;
/** A request has at most 255 words of path (CIP Volume 1, 2-4). */
const TEXT_MAX = 400;

const segmentOf = (text: string): string | number => (/^\d/.test(text) ? Number(text) : text);

export function parseTagAddress(text: string): Parsed<TagAddress> {
  const [path = '', word, ...more] = text.split('#');
  const found = text.length > TEXT_MAX || more.length > 0 ? undefined : TAG.exec(path)?.groups;
  if (found?.tag === undefined) return refused(`${text.slice(0, 80)} is not a tag such as Program:Main.Tank[2].Level#REAL`);
  const segments = (found.tag.match(SEGMENT) ?? []).map(segmentOf);
  const index = segments.find((segment) => typeof segment === 'number' && segment > INDEX_MAX);
  if (index !== undefined) return refused(`index ${index} is outside 0 to ${INDEX_MAX}`);
  const bit = found.bit === undefined ? undefined : Number(found.bit);
  if (bit !== undefined && bit > BIT_MAX) return refused(`bit ${bit} is outside 0 to ${BIT_MAX}`);
  if (word === undefined) return parsed({ text: found.tag, segments, bit, type: undefined, dataType: bit === undefined ? undefined : 'bool' });
  const type = cipTypeNamed(word);
  if (!type) return refused(`type ${word} is not known; known are ${CIP_TYPE_NAMES.join(', ')}`);
  if (bit === undefined) return parsed({ text: found.tag, segments, bit, type, dataType: type.dataType });
  if (type.dataType === 'bool') return parsed({ text: found.tag, segments, bit, type: undefined, dataType: 'bool' });
  if (!type.bounds) return refused(`${word} has no bits: a bit is one of a whole number`);
  if (bit >= 8 * type.bytes) return refused(`bit ${bit} is outside 0 to ${8 * type.bytes - 1} of ${word}`);
  return parsed({ text: found.tag, segments, bit, type, dataType: 'bool' });
}

/** The index of an element of an array of one dimension; undefined for everything else. */
export function lastIndex({ segments }: TagAddress): number | undefined {
  const last = segments.at(-1);
  return typeof last === 'number' && typeof segments.at(-2) === 'string' ? last : undefined;
}

/** The tag and what it is in: a member of a structure, an element of an array, a bit of a word. A name alone is the first element of an array; names have no case. */
export function cellsOf(text: string, controller: string): readonly Cell[] {
  const address = parseTagAddress(text);
  if (!address.ok) return [];
  const steps = [...stepsOf(address.value.segments), ...(address.value.bit === undefined ? [] : [`.${address.value.bit}`])];
  let path = controller;
  return steps.map((step, at) => {
    path += step;
    // an element is no part of the first one, which has the name of the array
    return at === steps.length - 1 ? whole(path) : within(path);
  });
}

/** Indices stand with the name before them; those of a first element are left out. */
function stepsOf(segments: TagAddress['segments']): readonly string[] {
  const steps: string[] = [];
  let indices: number[] = [];
  const close = (): void => {
    if (indices.some((index) => index !== 0)) steps.push(`${steps.pop() ?? ''}[${indices.join(',')}]`);
    indices = [];
  };
  for (const segment of segments) {
    if (typeof segment === 'number') indices.push(segment);
    else {
      close();
      steps.push(` ${segment.toLowerCase()}`);
    }
  }
  close();
  return steps;
}
