/** Query parameters of growing logs (decisions Q-ERR-15, conventions): from, to, order, limit, cursor. */
import type { WallMs } from '../base/times.js';
import { parseInstant } from '../base/instant.js';
import { invalid } from '../base/refusal.js';
import type { Query } from './route.js';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

type LogParameter = 'from' | 'to' | 'order' | 'limit' | 'cursor';

export interface LogQuery {
  /** Inclusive. */
  readonly fromMs?: WallMs;
  /** Exclusive. */
  readonly toMs?: WallMs;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly cursor?: string;
}

/** @throws Refusal `invalid_query` naming the parameter. */
export function readLogQuery(query: Query<LogParameter>, limitMax = LIMIT_MAX): LogQuery {
  const fromMs = readTime(query, 'from');
  const toMs = readTime(query, 'to');
  // an empty list would be read as: nothing has happened
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) throw invalid('invalid_query', 'from', 'from must not be later than to');
  const cursor = query.get('cursor');
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    order: readChoice(query, 'order', ['desc', 'asc'] as const),
    limit: readLimit(query, limitMax),
    ...(cursor === undefined || cursor === '' ? {} : { cursor }),
  };
}

/** Wall ms of a timestamp parameter with any offset (decisions Q-ALARM-15); undefined when it is absent. */
export function readTime<Name extends string>(query: Query<Name>, name: Name): number | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  const atMs = parseInstant(text);
  if (Number.isNaN(atMs)) throw invalid('invalid_query', name, `${name} must be a time such as 2026-01-31T09:05:07.123Z`);
  return atMs;
}

/** One of the words; the first when the parameter is absent. */
export function readChoice<const Word extends string, Name extends string>(query: Query<Name>, name: Name, words: readonly [Word, ...Word[]]): Word {
  return readWord(query, name, words) ?? words[0];
}

/** One of the words; undefined when the parameter is absent or empty. */
export function readWord<const Word extends string, Name extends string>(query: Query<Name>, name: Name, words: readonly Word[]): Word | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  const word = words.find((each) => each === text);
  if (word === undefined) throw invalid('invalid_query', name, `${name} must be one of ${words.join(', ')}`, { allowed: words });
  return word;
}

/** The words of a comma list, which a client may also send one by one; undefined when the parameter is absent. */
export function wordsOf<Name extends string>(query: Query<Name>, name: Name): string | undefined {
  const given = query.all(name);
  return given.length === 0 ? undefined : given.join(',');
}

/** The words of a comma list; undefined when the parameter is absent or empty. */
export function readChoices<const Word extends string, Name extends string>(query: Query<Name>, name: Name, words: readonly Word[]): readonly Word[] | undefined {
  const text = wordsOf(query, name);
  if (text === undefined || text === '') return undefined;
  const given = text.split(',');
  const known = words.filter((word) => given.includes(word));
  if (given.some((each) => !words.includes(each as Word)))
    throw invalid('invalid_query', name, `${name} must be of ${words.join(', ')}; several are separated by commas`, { allowed: words });
  return known;
}

export function readFlag<Name extends string>(query: Query<Name>, name: Name): boolean | undefined {
  const word = query.get(name) ?? '';
  if (word === '') return undefined;
  if (word !== 'true' && word !== 'false') throw invalid('invalid_query', name, `${name} must be true or false`, { allowed: ['true', 'false'] });
  return word === 'true';
}

export function readLimit(query: Query<'limit'>, limitMax: number, standard = LIMIT_DEFAULT): number {
  const text = query.get('limit');
  if (text === undefined || text === '') return standard;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax) throw invalid('invalid_query', 'limit', `limit must be a whole number from 1 to ${limitMax}`);
  return limit;
}
